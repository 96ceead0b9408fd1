"""One training job, told to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandstand.report.page import Page, plain, sparkline
from bandstand.report.quantities import count, duration, metric, moment
from bandstand.report.table import Column, facts, table, wrap

Document = Mapping[str, Any]


def training_text(page: Page, job: Document) -> list[str]:
    """Tell what a training job is, how it went and why it ended.

    Args:
        page: What the text is laid out on.
        job: The job as `bandstand show --json` gives it.

    Returns:
        Lines of text.
    """
    lines = [
        f"{page.paint(job['name'], 'bold')}  {page.status(job['status'])}",
        *facts(page, training_facts(page, job)),
    ]
    for title, part in (
        ("hosts", _hosts(page, job)),
        ("metrics", _metrics(page, job)),
        ("hyperparameters", settings_lines(page, job.get("hyperparameters") or {})),
    ):
        if part:
            lines += ["", page.paint(title, "bold"), *part]
    return lines


def settings_lines(page: Page, settings: Mapping[str, str]) -> list[str]:
    """List hyperparameters by name, one a line.

    Args:
        page: What the text is laid out on.
        settings: Names and values, as text.
    """
    return facts(page, [(name, plain(str(settings[name])) or '""') for name in sorted(settings)])


def end_sentence(job: Document) -> str:
    """Say why a job ended before it was complete; empty where there is nothing to explain."""
    stop = job.get("stop")
    if stop and stop.get("reason"):
        return plain(str(stop["reason"]))
    if job.get("failure_reason"):
        return " ".join(plain(line) for line in str(job["failure_reason"]).splitlines())
    return ""


def objective_values(points: Sequence[Document], name: str | None = None) -> dict[str, list[float]]:
    """Sort points into one curve per metric, in order of iteration.

    Args:
        points: `metrics` of `bandstand show --json`; points without a finite value are passed over.
        name: The one metric that is wanted, or None for all.
    """
    names = dict.fromkeys(point["name"] for point in points if name in (None, point["name"]))
    curves = {each: [value for _, value in metric_curve(points, each) if value is not None] for each in names}
    return {each: values for each, values in curves.items() if values}


def metric_curve(points: Sequence[Document], name: str) -> list[tuple[int, float | None]]:
    """One metric by iteration: what the first host that prints it said last of each.

    Args:
        points: `metrics` of `bandstand show --json`.
        name: The metric.
    """
    own = [point for point in points if point["name"] == name]
    return sorted(
        {each["iteration"]: each["value"] for each in own if each["host"] == own[0]["host"]}.items()
    )


def training_facts(page: Page, job: Document) -> list[tuple[str, str]]:
    """Tell what became of a training job, in facts of a name and a value each.

    Args:
        page: What the facts are laid out on.
        job: The job as `bandstand show --json` gives it.

    Returns:
        Facts in order; one whose value is empty is not to be shown.
    """
    detail = job.get("secondary_status")
    reason = end_sentence(job)
    return [
        ("tuning job", job.get("tuning_job") or ""),
        ("definition", job.get("definition") or ""),
        ("state", f"{job['status']}, {detail}" if detail and detail != job["status"] else ""),
        ("stopped because" if job.get("stop") else "failed because", reason),
        ("attempts", str(job["attempts"]) if job.get("attempts", 1) > 1 else ""),
        ("iterations", f"{job['iterations']:,}" if job.get("iterations") else ""),
        ("final objective", metric(job["final_objective"]) if job.get("final_objective") is not None else ""),
        ("started", moment(job.get("started"))),
        ("ended", moment(job.get("ended"))),
        ("time", _time(page, job)),
        ("model", job.get("model") or ""),
        ("folder", job.get("folder") or ""),
        *(("warning", plain(str(warning))) for warning in job.get("warnings") or []),
    ]


def _time(page: Page, job: Document) -> str:
    if job.get("billable_seconds") is None:
        return ""
    billable, instances = duration(job["billable_seconds"]), duration(job.get("instance_seconds"))
    hosts = count(len(job.get("hosts") or []), "host")
    return f"{billable} billable {page.dot} {instances} of instances ({hosts})"


def _hosts(page: Page, job: Document) -> list[str]:
    hosts = job.get("hosts") or []
    columns = [Column("  host"), Column("exit code", right=True), Column("peak memory", right=True, drop=1)]
    rows = [
        (
            f"  {host['name']}",
            "-" if host.get("exit_code") is None else str(host["exit_code"]),
            f"{host['peak_memory'] / 2**20:,.0f} MiB" if host.get("peak_memory") else "",
        )
        for host in hosts
    ]
    return table(page, columns, rows)


def _metrics(page: Page, job: Document) -> list[str]:
    points = job.get("metrics") or []
    columns = [
        Column("  metric"),
        Column("points", right=True, drop=3),
        Column("first", right=True, drop=2),
        Column("last", right=True),
        Column("least", right=True, drop=1),
        Column("greatest", right=True, drop=1),
        Column("by iteration", drop=4),
    ]
    rows = []
    for name, values in objective_values(points).items():
        ends = (values[0], values[-1], min(values), max(values))
        rows.append(
            (f"  {name}", f"{len(values):,}", *(metric(end) for end in ends), sparkline(values, page))
        )
    return table(page, columns, rows)


def paragraph(page: Page, text: str) -> list[str]:
    """Lay one sentence out on the page, two columns in."""
    return [f"  {line}" for line in wrap(page, text, indent=2)]
