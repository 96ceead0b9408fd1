"""What early stopping saved: jobs stopped at each rung, iterations run against iterations asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandstand.report.page import Page
from bandstand.report.quantities import count, duration, share
from bandstand.report.table import facts


def savings_lines(page: Page, job: Mapping[str, Any]) -> list[str]:
    """Tell what a tuning job ran, what MaxResource saved and what the rungs saved, kept apart.

    Args:
        page: What the text is laid out on.
        job: The tuning job as `bandstand show --json` gives it.

    Returns:
        Lines of text; none before the first job.
    """
    savings = job.get("savings") or {}
    if not job["training_jobs"] or not savings:
        return []
    stops: list[tuple[str, str]] = []
    saved: list[tuple[str, str]] = []
    if job.get("strategy") == "Hyperband":
        stops = [
            ("stopped at rungs", _rungs(page, savings.get("stopped_at") or {})),
            ("at MaxResource", _jobs(savings.get("reached_max_resource"))),
        ]
        saved = [
            ("MaxResource saved", _saved(savings.get("saved_by_max_resource"), savings.get("asked"))),
            ("the rungs saved", _saved(savings.get("saved_by_rungs"), savings.get("asked"))),
        ]
    cost = [
        ("billable time", duration(job.get("billable_seconds"))),
        ("instance time", duration(job.get("instance_seconds"))),
    ]
    title = "early stopping" if stops else "cost"
    return [
        page.paint(title, "bold"),
        *facts(page, [*stops, ("iterations", _iterations(savings)), *saved, *cost]),
    ]


def _rungs(page: Page, stopped_at: Mapping[str, int]) -> str:
    if not stopped_at:
        return "no job"
    parts = [
        f"{count(number, 'job')} at {rung}"
        for rung, number in sorted(
            stopped_at.items(), key=lambda item: (not item[0].isdigit(), _order(item[0]))
        )
    ]
    return f" {page.dot} ".join(parts)


def _jobs(number: int | None) -> str:
    return count(number, "job") if number else "no job"


def _order(rung: str) -> tuple[int, str]:
    return (int(rung), "") if rung.isdigit() else (0, rung)


def _iterations(savings: Mapping[str, Any]) -> str:
    run, asked = savings.get("run") or 0, savings.get("asked")
    if not asked:
        return f"{run:,} run"
    part = share(run, asked)
    unknown = savings.get("not_known")
    rest = f"; {count(unknown, 'job')} did not say how many" if unknown else ""
    return f"{run:,} run of {asked:,} asked for" + (f" ({part})" if part else "") + rest


def _saved(saved: int | None, asked: int | None) -> str:
    if saved is None:
        return ""
    part = share(saved, asked or 0)
    return count(saved, "iteration") + (f" ({part})" if part else "")
