"""Jobs as they stand in the record, and how they are written there."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bandstand.request.plan import OBJECTIVE_HYPERPARAMETER, TrainingPlan, TuningPlan
from bandstand.runs.record import Record, take_name

OVER = ("Completed", "Failed", "Stopped")
"""The statuses that never change again."""

OPEN = "status NOT IN ('Completed', 'Failed', 'Stopped')"
"""The condition in SQL for a job that is not over."""


@dataclass(frozen=True)
class TuningJob:
    """A tuning job in the record.

    Args:
        name: Its name.
        owner: The claim of the launcher that runs it.
        plan: What was asked for.
        seed: The plan's seed, or the one that was drawn.
        grace: Seconds that the launcher gives a training job between SIGTERM and SIGKILL.
        created: When it was asked for, in epoch seconds.
        status: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`.
        failure_reason: Why it failed; None unless it did.
        ended: When it was over, or None.
        stop_asked: When somebody asked for it to stop, or None.
        stop_grace: Seconds that whoever asked gives the training jobs; None leaves it to the launcher.
        warnings: What a person should know, one sentence each.
        backend: The kind of backend that runs its training jobs.
        seen: When its launcher was last known to run, in epoch seconds; None where nobody has said.
        idle: (from, to) of each time for which no launcher ran it, in epoch seconds.
    """

    name: str
    owner: str
    plan: TuningPlan
    seed: int
    grace: float
    created: float
    status: str = "InProgress"
    failure_reason: str | None = None
    ended: float | None = None
    stop_asked: float | None = None
    stop_grace: float | None = None
    warnings: tuple[str, ...] = ()
    backend: str = "processes"
    seen: float | None = None
    idle: tuple[tuple[float, float], ...] = ()

    @property
    def over(self) -> bool:
        """Whether nothing of it is under way: its status is final, unless somebody resumes it."""
        return self.status in OVER

    @property
    def used(self) -> float:
        """Seconds for which launchers have run it, until the last one was seen."""
        until = self.created if self.seen is None else self.seen
        return max(0.0, until - self.created - sum(end - begin for begin, end in self.idle))


@dataclass(frozen=True)
class TrainingJob:
    """A training job in the record.

    Args:
        name: Its name.
        tuning_job: The tuning job it belongs to, or None.
        number: Its 1-based number within the tuning job; 1 for a job of its own.
        owner: The claim of the launcher that started it.
        backend: The kind of backend that runs it.
        folder: Its own folder.
        plan: What was asked for.
        settings: The tuned hyperparameters, as text.
        grace: Seconds that the launcher gives it between SIGTERM and SIGKILL.
        created: When it was asked for, in epoch seconds.
        status: `InProgress`, `Stopping`, `Completed`, `Failed` or `Stopped`.
        secondary_status: SageMaker's finer word.
        failure_reason: Why it failed; None unless it did.
        started: When the hosts of its present attempt were started, or None.
        ended: When it was over, or None.
        model: The path of its model.tar.gz, or None.
        hosts: A document per host.
        transitions: (secondary status, epoch seconds, message) in order.
        reports: Objective reports so far.
        iterations: The greatest iteration number reported.
        objective: The latest objective; NaN where it was no finite number; None before the first report.
        stop: Why and where it was stopped, or None.
        stop_asked: When somebody asked for this very job to stop, or None.
        offsets: Bytes of each log that were read and acknowledged.
        warnings: What a person should know, one sentence each.
        attempt: How often it was begun.
        spent: Seconds for which its earlier attempts are billed.
        interrupted: Whether it has ended only because its owner was lost, so that it may be begun again.
        resume_point: The iteration after which its present attempt goes on; None where that is not known.
    """

    name: str
    tuning_job: str | None
    number: int
    owner: str
    backend: str
    folder: Path
    plan: TrainingPlan
    settings: dict[str, str]
    grace: float
    created: float
    status: str = "InProgress"
    secondary_status: str = "Starting"
    failure_reason: str | None = None
    started: float | None = None
    ended: float | None = None
    model: str | None = None
    hosts: tuple[dict[str, Any], ...] = ()
    transitions: tuple[tuple[str, float, str], ...] = ()
    reports: int = 0
    iterations: int = 0
    objective: float | None = None
    stop: dict[str, Any] | None = None
    stop_asked: float | None = None
    offsets: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    attempt: int = 1
    spent: float = 0.0
    interrupted: bool = False
    resume_point: int | None = None

    @property
    def over(self) -> bool:
        """Whether its status is final."""
        return self.status in OVER

    @property
    def objective_name(self) -> str | None:
        """The metric it is judged by: the tuning objective, else its only metric, else none."""
        return objective_name(self.plan)


def objective_name(plan: TrainingPlan) -> str | None:
    """The metric a training job is judged by: the tuning objective, else its only metric, else None."""
    named = dict(plan.hyperparameters).get(OBJECTIVE_HYPERPARAMETER)
    if named is not None:
        return named.strip('"')
    return plan.metrics[0][0] if len(plan.metrics) == 1 else None


ITERATION_HYPERPARAMETERS = ("num_round", "epochs", "numepochs", "n-epochs", "n_epochs", "num_epochs")
"""Hyperparameters that say how many iterations a job is to run: XGBoost's, and the five that AMT infers
MaxResource from (HyperbandStrategyConfig in SageMaker's API reference)."""


def iterations_asked(plan: TrainingPlan) -> int | None:
    """How many iterations a training job's hyperparameters ask for; None where they do not say."""
    settings = dict(plan.hyperparameters)
    texts = (settings[name].strip('"') for name in ITERATION_HYPERPARAMETERS if name in settings)
    return next((int(text) for text in texts if text.isascii() and text.isdigit()), None)


def add_tuning_job(connection: sqlite3.Connection, job: TuningJob) -> None:
    """Write a new tuning job, within a transaction.

    Raises:
        InputError: Its name is taken.
    """
    take_name(connection, job.name, "tuning")
    _insert(
        connection,
        "tuning_jobs",
        {
            "name": job.name,
            "owner": job.owner,
            "plan": json.dumps(job.plan.to_dict()),
            "seed": job.seed,
            "grace": job.grace,
            "status": job.status,
            "created": job.created,
            "backend": job.backend,
        },
    )


def add_training_job(connection: sqlite3.Connection, job: TrainingJob) -> None:
    """Write a new training job, within a transaction.

    Raises:
        InputError: Its name is taken.
    """
    take_name(connection, job.name, "training")
    _insert(
        connection,
        "training_jobs",
        {
            "name": job.name,
            "tuning_job": job.tuning_job,
            "number": job.number,
            "owner": job.owner,
            "backend": job.backend,
            "folder": str(job.folder),
            "plan": json.dumps(job.plan.to_dict()),
            "settings": json.dumps(job.settings),
            "grace": job.grace,
            "status": job.status,
            "secondary_status": job.secondary_status,
            "created": job.created,
        },
    )


def _insert(connection: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    columns, marks = ", ".join(values), ", ".join("?" for _ in values)
    sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608 - the names are those of our columns
    connection.execute(sql, tuple(values.values()))


def tuning_jobs(record: Record, where: str = "1", parameters: tuple[Any, ...] = ()) -> list[TuningJob]:
    """Tuning jobs, oldest first.

    Args:
        record: The store.
        where: A condition in SQL, written by this package; values stand in `parameters`.
        parameters: A value for each question mark.
    """
    rows = record.read(f"SELECT * FROM tuning_jobs WHERE {where} ORDER BY created, name", parameters)  # noqa: S608 - the condition is ours, values are parameters
    return [_tuning_job(row) for row in rows]


def training_jobs(record: Record, where: str = "1", parameters: tuple[Any, ...] = ()) -> list[TrainingJob]:
    """Training jobs, by tuning job and number, else oldest first.

    Args:
        record: The store.
        where: A condition in SQL, written by this package; values stand in `parameters`.
        parameters: A value for each question mark.
    """
    order = "tuning_job, number, created, name"
    rows = record.read(f"SELECT * FROM training_jobs WHERE {where} ORDER BY {order}", parameters)  # noqa: S608 - the condition is ours, values are parameters
    return [_training_job(row) for row in rows]


def tuning_job(record: Record, name: str) -> TuningJob:
    """The tuning job with this name, which exists."""
    return tuning_jobs(record, "name = ?", (name,))[0]


def training_job(record: Record, name: str) -> TrainingJob:
    """The training job with this name, which exists."""
    return training_jobs(record, "name = ?", (name,))[0]


def _tuning_job(row: sqlite3.Row) -> TuningJob:
    return TuningJob(
        name=row["name"],
        owner=row["owner"],
        plan=TuningPlan.from_dict(json.loads(row["plan"])),
        seed=row["seed"],
        grace=row["grace"],
        status=row["status"],
        failure_reason=row["failure_reason"],
        created=row["created"],
        ended=row["ended"],
        stop_asked=row["stop_asked"],
        stop_grace=row["stop_grace"],
        warnings=tuple(json.loads(row["warnings"])),
        backend=row["backend"],
        seen=row["seen"],
        idle=tuple((begin, end) for begin, end in json.loads(row["idle"])),
    )


def _training_job(row: sqlite3.Row) -> TrainingJob:
    reported = row["objective"] is not None or row["reports"]
    return TrainingJob(
        name=row["name"],
        tuning_job=row["tuning_job"],
        number=row["number"],
        owner=row["owner"],
        backend=row["backend"],
        folder=Path(row["folder"]),
        plan=TrainingPlan.from_dict(json.loads(row["plan"])),
        settings=json.loads(row["settings"]),
        grace=row["grace"],
        status=row["status"],
        secondary_status=row["secondary_status"],
        failure_reason=row["failure_reason"],
        created=row["created"],
        started=row["started"],
        ended=row["ended"],
        model=row["model"],
        hosts=tuple(json.loads(row["hosts"])),
        transitions=tuple((status, time, text) for status, time, text in json.loads(row["transitions"])),
        reports=row["reports"],
        iterations=row["iterations"],
        objective=_number(row["objective"]) if reported else None,
        stop=None if row["stop"] is None else json.loads(row["stop"]),
        stop_asked=row["stop_asked"],
        offsets=json.loads(row["offsets"]),
        warnings=tuple(json.loads(row["warnings"])),
        attempt=row["attempt"],
        spent=row["spent"],
        interrupted=bool(row["interrupted"]),
        resume_point=row["resume_point"],
    )


def _number(stored: float | None) -> float:
    """A stored number; SQLite keeps NaN as NULL."""
    return float("nan") if stored is None else stored
