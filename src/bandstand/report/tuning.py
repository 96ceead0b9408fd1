"""One tuning job, told to a person: its facts, its best job, its training jobs, why each was stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandstand.report.page import Page, plain
from bandstand.report.quantities import count, duration, metric, moment
from bandstand.report.savings import savings_lines
from bandstand.report.table import Column, facts, table
from bandstand.report.training import end_sentence, paragraph, settings_lines

Document = Mapping[str, Any]

_ENDS = {
    "max_resource": "at MaxResource",
    "user": "on request",
    "runtime": "at its time limit",
    "wait": "at its waiting limit",
    "owner": "without a launcher",
    "failures": "as none succeeded",
    "target": "at the target",
    "not_improving": "as nothing improved",
    "converged": "at convergence",
    "amt": "by AMT",
}


def tuning_text(page: Page, job: Document) -> list[str]:
    """Tell what a tuning job is, how far it has come, and what became of every training job.

    Args:
        page: What the text is laid out on.
        job: The tuning job as `bandstand show --json` gives it.

    Returns:
        Lines of text.
    """
    lines = [
        f"{page.paint(job['name'], 'bold')}  {page.status(job['status'])}",
        *facts(page, tuning_facts(job)),
    ]
    lines += ["", *best_lines(page, job)]
    for part in (definitions_lines(page, job), savings_lines(page, job)):
        lines += ["", *part] if part else []
    rows = job["training_jobs"]
    if rows:
        lines += ["", page.paint("training jobs", "bold"), *jobs_table(page, job, rows)]
    ends = [(row, end_sentence(row)) for row in rows]
    if any(sentence for _, sentence in ends):
        lines += ["", page.paint("why jobs ended early", "bold")]
        lines += facts(page, [(f"{row['number']:>3}", sentence) for row, sentence in ends])
    return lines


def summary_text(page: Page, job: Document) -> list[str]:
    """Tell in a few lines how a tuning job ended: its jobs, the best one, what early stopping saved.

    Args:
        page: What the text is laid out on.
        job: The tuning job as `bandstand show --json` gives it.
    """
    lines = [
        f"{page.paint(job['name'], 'bold')}  {page.status(job['status'])}  {tally(job['training_jobs'])}",
        *facts(page, _end(job)),
    ]
    lines += ["", *best_lines(page, job)]
    for part in (definitions_lines(page, job), savings_lines(page, job)):
        lines += ["", *part] if part else []
    return lines


def best_lines(page: Page, job: Document) -> list[str]:
    """Tell the best job, its hyperparameters and its model file; or that there is none yet, and why."""
    best = job.get("best")
    if not best:
        sentence = "No job has reported a finite value of the objective" + (
            " yet." if job["status"] in ("InProgress", "Stopping") else "; there is no best job."
        )
        return [page.paint("best job", "bold"), *paragraph(page, sentence)]
    head = f"{page.paint('best job', 'bold')}  {page.paint(best['name'], 'green')}"
    known = [
        ("definition", best.get("definition") or ""),
        (best["objective"] or job["objective"]["name"], metric(best["final_objective"])),
        ("iterations", f"{best['iterations']:,}"),
        ("model", best.get("model") or ("not written yet" if not _over(best) else "none was written")),
    ]
    settings = [f"  {line}" for line in settings_lines(page, best["hyperparameters"])]
    return [
        head,
        *facts(page, known),
        *([page.paint("  hyperparameters", "dim"), *settings] if settings else []),
    ]


def definitions_lines(page: Page, job: Document) -> list[str]:
    """Tell what became of each definition, of several; nothing where there is one."""
    told = definition_facts(job)
    return [page.paint("definitions", "bold"), *facts(page, told)] if told else []


def definition_facts(job: Document) -> list[tuple[str, str]]:
    """Tell the same in facts of a name and a value each.

    Args:
        job: The tuning job as `bandstand show --json` gives it.
    """
    told = []
    for each in job["definitions"] if len(job["definitions"]) > 1 else ():
        rows = [row for row in ranked(job) if row["definition"] == each["name"]]
        words = [states(rows) or "none started"]
        best = next((row for row in rows if row["status"] in ("Completed", "Stopped")), None)
        if best is not None and best["final_objective"] is not None:
            words.append(
                f"best {each['objective']} {metric(best['final_objective'])}, of job {best['number']}"
            )
        told.append((str(each["name"]), "; ".join(words)))
    return told


def ranked(job: Document) -> list[Document]:
    """Order a tuning job's training jobs: best objective first, then those without one, by number."""
    sign = -1.0 if job["objective"]["goal"].lower() == "maximize" else 1.0
    rows: Sequence[Document] = job["training_jobs"]
    return sorted(
        rows,
        key=lambda row: (
            row["final_objective"] is None,
            sign * (row["final_objective"] or 0.0),
            row["number"],
        ),
    )


def jobs_table(page: Page, job: Document, rows: Sequence[Document]) -> list[str]:
    """Lay training jobs out as a table.

    Args:
        page: What the text is laid out on.
        job: The tuning job they belong to.
        rows: The training jobs, in the order in which they are to stand.
    """
    best = (job.get("best") or {}).get("name")
    columns = [
        Column("no.", right=True),
        Column("job", drop=2, least=max((len(row["name"]) for row in rows), default=0)),  # to be typed: uncut
        Column("definition", drop=2),
        Column("state", least=10, paint=page.status),
        Column("iterations", right=True, drop=1),
        Column(objective_title(job), right=True),
        Column("billable", right=True, drop=4),
        Column("instances", right=True, drop=5),
        Column("ended", drop=3),
    ]
    cells = [
        (
            str(row["number"]),
            row["name"],
            row["definition"] or "",
            row["status"],
            f"{row['iterations']:,}",
            metric(row["final_objective"]),
            duration(row["billable_seconds"]),
            duration(row["instance_seconds"]),
            ", ".join(filter(None, (ended_word(row), "best" if row["name"] == best else ""))),
        )
        for row in rows
    ]
    return table(page, columns, cells)


def objective_title(job: Document) -> str:
    """What stands above objectives: the metric, or a word for those of several definitions."""
    names = {each["objective"] for each in job["definitions"]}
    return str(job["objective"]["name"]) if len(names) == 1 else "objective"


def ended_word(row: Document) -> str:
    """Say in a few words how a training job ended early: `at rung 9`, `at MaxResource`; empty otherwise."""
    stop = row.get("stop")
    if not stop:
        return "failed" if row["status"] == "Failed" else ""
    if stop["kind"] == "rung":
        word = f"at rung {stop['rung']}"
    elif stop["kind"] == "median":
        word = f"by the median, at {stop['rung']}"
    else:
        word = _ENDS.get(stop["kind"], str(stop["kind"]))
    return f"{word}, inferred" if stop.get("inferred") and stop["kind"] != "amt" else word


def _over(row: Document) -> bool:
    return row["status"] in ("Completed", "Failed", "Stopped")


def states(rows: Sequence[Document]) -> str:
    """Count training jobs by state: `6 completed, 23 stopped, 1 failed`."""
    words = {
        "Completed": "completed",
        "Stopped": "stopped",
        "Failed": "failed",
        "Stopping": "stopping",
        "InProgress": "running",
    }
    tally = {word: sum(row["status"] == status for row in rows) for status, word in words.items()}
    return ", ".join(f"{number} {word}" for word, number in tally.items() if number)


def tuning_facts(job: Document) -> list[tuple[str, str]]:
    """Tell what a tuning job is and how far it has come, in facts of a name and a value each.

    Args:
        job: The tuning job as `bandstand show --json` gives it.

    Returns:
        Facts in order; one whose value is empty is not to be shown.
    """
    rows, limits = job["training_jobs"], job.get("limits") or {}
    objective = job["objective"]
    resource = ""
    if limits.get("max_resource"):
        most = dict.fromkeys(str(each.get("max_resource")) for each in job["definitions"])
        resource = f", resource {limits.get('min_resource') or 1} to {' or '.join(most)}"
    median = ", early stopping by the median rule" if job.get("early_stopping") == "Auto" else ""
    asked = f" of {limits['jobs']}" if limits.get("jobs") else ""
    parallel = f"; {limits['parallel']} in parallel" if limits.get("parallel") else ""
    seed = f", seed {job['seed']}" if job.get("seed") is not None else ""
    return [
        ("objective", f"{objective['goal']} {objective['name']}"),
        ("strategy", f"{job.get('strategy') or ''}{resource}{median}"),
        ("complete when", _criteria(limits)),
        ("warm start", _warm_start(job.get("warm_start"))),
        (
            "jobs",
            f"{len(rows)}{asked} started: {states(rows)}{parallel}{seed}" if rows else f"none started{asked}",
        ),
        ("started", moment(job.get("started") or job.get("created"))),
        ("ended", moment(job.get("ended"))),
        *_end(job),
        *(("warning", plain(str(warning))) for warning in job.get("warnings") or []),
    ]


def _warm_start(start: Document | None) -> str:
    if not start:
        return ""
    best = start.get("best")
    found = f", the best {metric(best['value'])} of {best['name']}" if best else ""
    return f"{count(start['used'], 'training job')} of {', '.join(start['parents'])} ({start['type']}){found}"


def _criteria(limits: Document) -> str:
    """Name the completion criteria beside the number of jobs; empty where there are none."""
    words = []
    if limits.get("target") is not None:
        words.append(f"the objective reaches {metric(limits['target'])}")
    if limits.get("not_improving"):
        words.append(f"{count(limits['not_improving'], 'job')} gain less than 1 %")
    if limits.get("convergence"):
        words.append("the search has converged")
    return " or ".join(words)


def _end(job: Document) -> list[tuple[str, str]]:
    """Why it failed, or why it ended before all its jobs had run."""
    if job.get("failure_reason"):
        return [("failed because", plain(job["failure_reason"]))]
    early = len(job["training_jobs"]) < ((job.get("limits") or {}).get("jobs") or 0)
    return [("ended because", plain(job["ended_because"]))] if early and job.get("ended_because") else []


def tally(rows: Sequence[Document]) -> str:
    """Give the number of jobs and their states: `30 jobs: 6 completed, 24 stopped`."""
    return f"{count(len(rows), 'job')}: {states(rows)}" if rows else "no jobs"
