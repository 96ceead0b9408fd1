"""What early stopping saved: jobs stopped at each rung, iterations run against iterations asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandstand.report.page import Page
from bandstand.report.quantities import count, duration, share
from bandstand.report.table import facts

Document = Mapping[str, Any]


def savings_lines(page: Page, job: Document) -> list[str]:
    """Tell what a tuning job ran, and what MaxResource and stopping early saved, each apart.

    The iterations run, saved and not run for another reason add up to those asked for.

    Args:
        page: What the text is laid out on.
        job: The tuning job as `bandstand show --json` gives it.

    Returns:
        Lines of text; none before the first report.
    """
    title, told = savings_facts(job)
    return [page.paint(title, "bold"), *facts(page, told)] if told else []


def savings_facts(job: Document) -> tuple[str, list[tuple[str, str]]]:
    """Tell the same as a title, and facts of a name and a value each; none before the first report.

    Args:
        job: The tuning job as `bandstand show --json` gives it.
    """
    savings = job.get("savings") or {}
    if not job["training_jobs"] or not savings.get("run"):
        return "", []
    if _hyperband(job):
        stops, by = _rungs(job, savings), "saved_by_rungs"
    elif job.get("early_stopping") == "Auto":
        number = savings.get("stopped_by_median") or 0
        stops, by = [("stopped early", count(number, "job") if number else "no job")], "saved_by_median"
    else:
        stops, by = [], ""
    iterations = [*stops, *_iterations(job, savings, by)] if by else [("iterations", _run(savings))]
    cost = [
        ("billable time", duration(job.get("billable_seconds"))),
        ("instance time", _instances(job)),
    ]
    return "early stopping" if by else "cost", [*iterations, *cost]


def _hyperband(job: Document) -> bool:
    return job.get("strategy") in ("Hyperband", "Hyperband-TPE")


def _rungs(job: Document, savings: Document) -> list[tuple[str, str]]:
    rungs = {int(rung): number for rung, number in (savings.get("stopped_at") or {}).items()}
    places = ", ".join(f"{number} at rung {rung}" for rung, number in sorted(rungs.items()))
    most = {each.get("max_resource") for each in job["definitions"]}
    after = f", after {most.pop()} iterations" if len(most) == 1 else ""
    reached = savings.get("reached_max_resource") or 0
    return [
        ("stopped early", f"{count(sum(rungs.values()), 'job')}: {places}" if rungs else "no job"),
        ("at MaxResource", f"{count(reached, 'job')}{after}" if reached else "no job"),
    ]


def _iterations(job: Document, savings: Document, by: str) -> list[tuple[str, str]]:
    asked, by_max, by_stops = (savings.get(name) for name in ("asked", "saved_by_max_resource", by))
    late = sum(_late(row) for row in job["training_jobs"])
    after = f", {late:,} of them while a stop was on its way" if late else ""
    lines = [("iterations", _run(savings) + after)]
    if not asked or by_max is None or by_stops is None:
        return lines
    if _hyperband(job):
        lines.append(("MaxResource saved", _part(by_max, asked)))
    lines.append(("stopping early saved", _part(by_stops, asked)))
    rest = asked - savings["run"] - by_max - by_stops
    if rest > 0 and not savings.get("not_known"):
        under_way = job["status"] in ("InProgress", "Stopping")
        lines.append(("not run yet" if under_way else "not run otherwise", _part(rest, asked)))
    return lines


def _late(row: Document) -> int:
    """How many iterations a job ran after it was decided to stop it."""
    stop = row.get("stop") or {}
    decided = stop.get("reports") or stop.get("rung")
    return max(0, row["iterations"] - decided) if decided else 0


def _run(savings: Document) -> str:
    run, asked = savings.get("run") or 0, savings.get("asked")
    if not asked:
        return f"{run:,} run"
    unknown = savings.get("not_known")
    rest = f"; {count(unknown, 'job')} did not say how many" if unknown else ""
    return f"{run:,} run of {asked:,} asked for ({share(run, asked)}){rest}"


def _part(number: int, asked: int) -> str:
    part = share(number, asked)
    return f"{count(number, 'iteration')} ({part})" if number else "nothing"


def _instances(job: Document) -> str:
    billable, instances = job.get("billable_seconds"), job.get("instance_seconds")
    # Training jobs of one definition have the same number of hosts; those of several need not.
    one = len(job["definitions"]) == 1
    if one and billable and instances and instances > billable:
        return f"{duration(instances)} ({instances // billable} hosts)"
    return duration(instances)
