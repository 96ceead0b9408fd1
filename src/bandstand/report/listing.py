"""The table of all jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandstand.report.page import Page
from bandstand.report.quantities import metric, moment
from bandstand.report.table import Column, table


def listing_text(page: Page, jobs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lay jobs out as a table, one line each.

    Args:
        page: What the text is laid out on.
        jobs: The jobs as `bandstand list --json` gives them, in the order in which they are to stand.
    """
    columns = [
        Column("job"),
        Column("kind", drop=3),
        Column("status", least=10, paint=page.status),
        Column("jobs", right=True, drop=1),
        Column("best", right=True, drop=2),
        Column("created", drop=4),
    ]
    rows = [
        (
            job["name"],
            job["kind"],
            job["status"],
            str(job["training_jobs"]) if job.get("training_jobs") is not None else "",
            metric(job["best"]) if job.get("best") is not None else "",
            moment(job.get("created")),
        )
        for job in jobs
    ]
    return table(page, columns, rows)
