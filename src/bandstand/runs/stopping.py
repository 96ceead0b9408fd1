"""Stopping a job from any terminal, whether its launcher lives or not."""

from __future__ import annotations

from bandstand.runs.record import Record


def request_stop(record: Record, name: str, grace: float | None = None) -> str:
    """Stop a tuning job or a training job; returns one sentence that says what was done."""
    raise NotImplementedError
