"""The report of a tuning job: best jobs first, savings, reasons of ends, one small curve per job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bandstand.report.page import Page, sparkline
from bandstand.report.quantities import count, metric
from bandstand.report.savings import savings_lines
from bandstand.report.table import Column, facts, table
from bandstand.report.training import end_sentence, metric_curve, objective_values
from bandstand.report.tuning import best_lines, definitions_lines, ended_word, objective_title, ranked, tally

Document = Mapping[str, Any]


def report_document(job: Document, points: Mapping[str, Sequence[Document]]) -> dict[str, Any]:
    """Give the report of a tuning job as a JSON-ready document.

    Args:
        job: The tuning job as `bandstand show --json` gives it.
        points: The `metrics` of each training job, by its name.

    Returns:
        What `show` gives of the whole job, `ends` (how many jobs ended in which way) and `jobs`, best first,
        each with its `curve`: pairs of iteration and objective value.
    """
    return {
        "name": job["name"],
        "kind": job["kind"],
        "status": job["status"],
        "objective": job["objective"],
        "definitions": job["definitions"],
        "best": job.get("best"),
        "savings": job.get("savings"),
        "billable_seconds": job.get("billable_seconds"),
        "instance_seconds": job.get("instance_seconds"),
        "ends": dict(_ends(job)),
        "jobs": [
            {
                **{key: row.get(key) for key in _KEPT},
                "why": end_sentence(row) or None,
                "curve": [[*pair] for pair in metric_curve(points.get(row["name"], ()), row["objective"])],
            }
            for row in ranked(job)
        ],
    }


_LENGTH = 30
"""Most characters of a curve."""
_OTHERS = 64
"""Characters of the other columns."""

_KEPT = (
    "name",
    "number",
    "definition",
    "objective",
    "status",
    "hyperparameters",
    "iterations",
    "final_objective",
    "billable_seconds",
    "instance_seconds",
    "stop",
    "model",
)


def report_text(page: Page, job: Document, points: Mapping[str, Sequence[Document]]) -> list[str]:
    """Give the report of a tuning job as text.

    Args:
        page: What the text is laid out on.
        job: The tuning job as `bandstand show --json` gives it.
        points: The `metrics` of each training job, by its name.
    """
    lines = [
        f"{page.paint(job['name'], 'bold')}  {page.status(job['status'])}  {tally(job['training_jobs'])}",
        "",
        *best_lines(page, job),
    ]
    for part in (definitions_lines(page, job), savings_lines(page, job)):
        lines += ["", *part] if part else []
    ends = _ends(job)
    if ends:
        lines += ["", page.paint("how jobs ended", "bold")]
        lines += facts(page, [(how, count(number, "job")) for how, number in ends.items()])
    if job["training_jobs"]:
        title = f"jobs, best first, with {objective_title(job)} by iteration"
        lines += ["", page.paint(title, "bold"), *_curves(page, job, points)]
    return lines


def _curves(page: Page, job: Document, points: Mapping[str, Sequence[Document]]) -> list[str]:
    columns = [
        Column("place", right=True, drop=1),
        Column("no.", right=True),
        Column("definition", drop=5),
        Column("state", least=10, paint=page.status, drop=3),
        Column("iterations", right=True, drop=2),
        Column("objective", right=True),
        Column("by iteration"),
        Column("ended", drop=4),
    ]
    found = [
        objective_values(points.get(row["name"], ()), row["objective"]).get(row["objective"], [])
        for row in ranked(job)
    ]
    values = [value for curve in found for value in curve]
    # One scale for all, so that curves can be compared: as high as the values, as long as the iterations.
    scale = (min(values), max(values)) if values else None
    longest = max(map(len, found), default=0)
    room = _LENGTH if page.width is None else max(8, min(_LENGTH, page.width - _OTHERS))
    rows = []
    for place, (row, curve) in enumerate(zip(ranked(job), found, strict=True), start=1):
        width = len(curve) if longest <= room else max(1, room * len(curve) // longest)
        rows.append(
            (
                str(place) if row["final_objective"] is not None else "-",
                str(row["number"]),
                row["definition"] or "",
                row["status"],
                f"{row['iterations']:,}",
                metric(row["final_objective"]),
                sparkline(curve, page, width, scale=scale),
                ended_word(row),
            )
        )
    return table(page, columns, rows)


def _ends(job: Document) -> Counter[str]:
    """Count jobs by how they ended, in this order: `completed`, `stopped at rung 3`, `failed`, ..."""
    order = ("Completed", "Stopped", "Failed")
    ends: Counter[str] = Counter()
    for row in sorted(
        job["training_jobs"],
        key=lambda row: (
            order.index(row["status"]) if row["status"] in order else len(order),
            (row.get("stop") or {}).get("rung") or 0,
        ),
    ):
        word = ended_word(row)
        if row["status"] in ("InProgress", "Stopping"):
            ends["still running"] += 1
        elif row["status"] == "Stopped":
            ends[f"stopped {word}".strip()] += 1
        else:
            ends[row["status"].lower()] += 1
    return ends
