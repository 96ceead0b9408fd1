"""The live loop: joins the study's decisions and a backend's jobs, and writes both into the record."""

from __future__ import annotations

from bandstand.backends.backend import Backend
from bandstand.request.plan import TrainingPlan, TuningPlan
from bandstand.runs.record import Record
from bandstand.runs.snapshot import JobRow, Observer, Outcome, Snapshot, StopFlag

__all__ = ["JobRow", "Observer", "Outcome", "Snapshot", "StopFlag", "train", "tune"]


def tune(
    plan: TuningPlan, record: Record, backend: Backend, observer: Observer, stop: StopFlag, *, grace: float = 120.0
) -> Outcome:
    """Run a tuning job to its end."""
    raise NotImplementedError


def train(
    plan: TrainingPlan, record: Record, backend: Backend, observer: Observer, stop: StopFlag, *, grace: float = 120.0
) -> Outcome:
    """Run one training job to its end."""
    raise NotImplementedError
