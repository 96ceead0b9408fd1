"""Learning curves as numbers: of a tuning job's training jobs, and of one training job's metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandstand.report.training import end_sentence
from bandstand.report.tuning import ended_word, ranked
from bandstand.runs.record import Record
from bandstand.runs.stops import finite
from bandstand.study.rungs import bracket_rungs

MOST_CURVES = 200
"""Curves of one drawing: the best jobs and those that run."""

MOST_POINTS = 300
"""Points of a curve at most; a longer one is cut into so many pieces, of which the last point is kept."""

OPEN = ("InProgress", "Stopping")

Document = Mapping[str, Any]
Curve = list[tuple[int, float | None]]


def tuning_curves(record: Record, job: Document, have: Sequence[str]) -> dict[str, Any]:
    """The objective of each training job by its reports, with what became of it.

    Args:
        record: The store.
        job: The tuning job as `bandstand show --json` gives it.
        have: Versions of curves that the reader has already, which are not told again.

    Returns:
        Objective, rungs, and `jobs`, best first: each with a `version`, and with its `curve` if that is news.
    """
    rows = ranked(job)
    running = [row for row in rows if row["status"] in OPEN]
    others = [row for row in rows if row["status"] not in OPEN][: max(0, MOST_CURVES - len(running))]
    shown = {row["number"] for row in [*running, *others]}
    known, best = set(have), (job.get("best") or {}).get("name")
    return {
        "objective": job["objective"],
        "running": job["status"] in OPEN,
        "rungs": _rungs(job),
        "max_resource": job["limits"]["max_resource"],
        "total": len(rows),
        "jobs": [_job(record, row, known, best == row["name"]) for row in rows if row["number"] in shown],
    }


def metric_curves(record: Record, job: Document, after: int) -> dict[str, Any]:
    """The points of a training job's metrics that a reader does not have yet.

    Args:
        record: The store.
        job: The training job as `bandstand show --json` gives it.
        after: The last point that the reader has, by its place in the record; -1 for none.

    Returns:
        `metrics`: for each name and host its points; `last`, the place to go on from; and `attempt`, with
        whose change the points of earlier ones may be gone.
    """
    rows = record.read(
        "SELECT seq, name, host, iteration, value FROM points WHERE job = ? AND seq > ? ORDER BY seq",
        (job["name"], after),
    )
    curves: dict[str, dict[str, dict[int, float | None]]] = {}
    for row in rows:
        by_host = curves.setdefault(row["name"], {})
        by_host.setdefault(row["host"], {})[row["iteration"]] = finite(row["value"])
    return {
        "attempt": job["attempts"],
        "running": job["status"] in OPEN,
        "last": rows[-1]["seq"] if rows else after,
        "metrics": {
            name: {host: thinned(sorted(points.items())) for host, points in by_host.items()}
            for name, by_host in curves.items()
        },
    }


def thinned(curve: Curve) -> Curve:
    """A curve of a bounded number of points."""
    if len(curve) <= MOST_POINTS:
        return curve
    return [curve[(piece + 1) * len(curve) // MOST_POINTS - 1] for piece in range(MOST_POINTS)]


def _job(record: Record, row: Document, known: set[str], is_best: bool) -> dict[str, Any]:
    version = f"{row['number']}.{row['attempts']}.{row['iterations']}.{row['status'][:4]}"
    told = {
        "number": row["number"],
        "name": row["name"],
        "definition": row["definition"],
        "status": row["status"],
        "final": row["final_objective"],
        "best": is_best,
        "ended": ended_word(row),
        "why": end_sentence(row),
        "version": version,
    }
    if version not in known:
        told["curve"] = _objective_curve(record, row["name"], row["objective"])
    return told


def _objective_curve(record: Record, name: str, objective: str | None) -> Curve:
    """Pairs of a report's ordinal, which rungs count, and its value; of the first host that reports."""
    rows = record.read(
        "SELECT host, iteration, value FROM points WHERE job = ? AND name = ? ORDER BY seq", (name, objective)
    )
    values = {row["iteration"]: row["value"] for row in rows if row["host"] == rows[0]["host"]}
    return thinned([(place, finite(value)) for place, (_, value) in enumerate(sorted(values.items()), 1)])


def _rungs(job: Document) -> list[int]:
    """Where jobs are compared: Hyperband's rungs, of the bracket that has most of them."""
    limits = job["limits"]
    if job["strategy"] not in ("Hyperband", "Hyperband-TPE") or not limits["max_resource"]:
        return []
    return list(bracket_rungs(limits["min_resource"] or 1, limits["max_resource"])[0])
