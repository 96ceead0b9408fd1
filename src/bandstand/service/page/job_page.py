"""The page of one job: of a tuning job with its training jobs, or of a training job with its logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bandstand.backends.job_folder import JobFolder
from bandstand.errors import InputError
from bandstand.report.page import Page
from bandstand.report.savings import savings_facts
from bandstand.report.training import end_sentence, training_facts
from bandstand.report.tuning import definition_facts, ended_word, objective_title, tally, tuning_facts
from bandstand.runs.finding import find
from bandstand.runs.jobs import KINDS, TrainingJob
from bandstand.runs.record import Record
from bandstand.runs.views import show
from bandstand.service.page.log_pages import page_before
from bandstand.service.page.masking import Mask

ROWS = 50
"""Training jobs of a table."""

MOST_SETTINGS = 12
"""Tuned hyperparameters that have a column each."""

_KEYS: Mapping[str, Any] = {
    "number": lambda row: row["number"],
    "definition": lambda row: row["definition"],
    "state": lambda row: row["status"],
    "iterations": lambda row: row["iterations"],
    "objective": lambda row: row["final_objective"],
    "billable": lambda row: row["billable_seconds"],
    "instances": lambda row: row["instance_seconds"],
    "ended": lambda row: ended_word(row) or None,
}
_PAGE = Page()


def document_of(record: Record, kind: str, name: str) -> tuple[dict[str, Any], Mask]:
    """A job as `bandstand show` has it, without points and secrets, and what hides its secrets.

    Args:
        record: The store.
        kind: `tuning` or `training`, as an address has it.
        name: The job.

    Raises:
        InputError: There is no such job.
    """
    asked = next((each for each in KINDS if each == kind), None)
    if asked is None:
        raise InputError(f"There are no {kind} jobs; a job is a tuning job or a training job.")
    document = show(record, name, asked, points=False)
    job = find(record, name, asked)
    plans = [job.plan] if isinstance(job, TrainingJob) else [each.training for each in job.plan.definitions]
    mask = Mask.of([pair for plan in plans for pair in (*plan.hyperparameters, *plan.environment)])
    return mask.document(document), mask


def logs_of(record: Record, job: Mapping[str, Any], host: str = "") -> dict[str, Path]:
    """The logs of a training job by its hosts; of one host only, if that is one of them."""
    names = [each["name"] for each in job["hosts"]]
    folder = JobFolder(Path(job["folder"]))
    return {name: folder.log(name) for name in ([host] if host in names else names)}


def job_page(record: Record, kind: str, name: str, query: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """What the page of a job shows.

    Args:
        record: The store.
        kind: `tuning` or `training`, as an address has it.
        name: The job.
        query: How a table of training jobs is sorted: `sort`, `order` and `page`.

    Returns:
        The template and its values.

    Raises:
        InputError: There is no such job.
    """
    job, mask = document_of(record, kind, name)
    if job["kind"] == "tuning":
        return "tuning.html", _tuning(job, query)
    logs = page_before(logs_of(record, job), mask)
    return "training.html", {
        "job": job,
        "facts": [fact for fact in training_facts(_PAGE, job) if fact[1] and fact[0] not in _ELSEWHERE],
        "why": end_sentence(job),
        "lines": logs["lines"],
    }


_ELSEWHERE = ("tuning job", "stopped because", "failed because")
"""Facts that have a place of their own on the page."""


def _tuning(job: dict[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
    rows = job["training_jobs"]
    settings = sorted({name for row in rows for name in row["hyperparameters"]})[:MOST_SETTINGS]
    sort, descending = query.get("sort", "number"), query.get("order") == "desc"
    if sort not in _KEYS and sort not in [f"={name}" for name in settings]:
        sort = "number"
    pages = max(1, -(-len(rows) // ROWS))
    page = int(text) if (text := query.get("page", "1")).isdigit() and 1 <= int(text[:6]) <= pages else 1
    title, savings = savings_facts(job)
    return {
        "job": job,
        "facts": [fact for fact in tuning_facts(job) if fact[1]],
        "definitions": definition_facts(job),
        "tally": tally(rows),
        "savings_title": title,
        "savings": [fact for fact in savings if fact[1]],
        "settings": settings,
        "defined": any(row["definition"] for row in rows),
        "objective": objective_title(job),
        "columns": [_column(title, key, sort, descending) for title, key in _titles(job, settings)],
        "rows": [
            {**row, "word": ended_word(row), "why": end_sentence(row)}
            for row in _sorted(rows, sort, descending)[(page - 1) * ROWS : page * ROWS]
        ],
        "page": page,
        "pages": pages,
        "sorted": urlencode({"sort": sort, "order": "desc" if descending else "asc"}),
    }


def _titles(job: Mapping[str, Any], settings: Sequence[str]) -> list[tuple[str, str]]:
    return [
        ("no.", "number"),
        *([("definition", "definition")] if any(row["definition"] for row in job["training_jobs"]) else []),
        ("state", "state"),
        ("iterations", "iterations"),
        (objective_title(job), "objective"),
        ("ended", "ended"),
        *((name, f"={name}") for name in settings),
        ("billable", "billable"),
        ("instances", "instances"),
    ]


def _column(title: str, key: str, sort: str, descending: bool) -> dict[str, str]:
    """A column's title, the query that sorts by it, and how it is sorted now."""
    now = ("descending" if descending else "ascending") if key == sort else ""
    order = "desc" if now == "ascending" else "asc"
    return {
        "title": title,
        "query": urlencode({"sort": key, "order": order}),
        "now": now,
        "number": "" if key in ("definition", "state", "ended") else "number",
    }


def _sorted(rows: Sequence[dict[str, Any]], sort: str, descending: bool) -> list[dict[str, Any]]:
    """Rows in order; those without a value come last whichever way they are sorted."""

    def key(row: dict[str, Any]) -> Any:
        return _KEYS[sort](row) if sort in _KEYS else _setting(row["hyperparameters"].get(sort[1:]))

    valued = [row for row in rows if key(row) is not None]
    valued.sort(key=key, reverse=descending)
    return valued + [row for row in rows if key(row) is None]


def _setting(text: str | None) -> tuple[int, float, str] | None:
    """What a hyperparameter is sorted by: numbers come before words."""
    if text is None:
        return None
    try:
        return (0, float(text.strip('"')), "")
    except ValueError:
        return (1, 0.0, text)
