"""Which job a name stands for: both kinds of jobs have names of their own, so it may be two jobs."""

from __future__ import annotations

import difflib
from typing import Literal, overload

from bandstand.errors import InputError
from bandstand.runs.jobs import KINDS, Kind, TrainingJob, TuningJob
from bandstand.runs.record import Record
from bandstand.runs.stored import training_jobs, tuning_jobs


@overload
def find(record: Record, name: str, kind: Literal["tuning"]) -> TuningJob: ...
@overload
def find(record: Record, name: str, kind: Literal["training"]) -> TrainingJob: ...
@overload
def find(record: Record, name: str, kind: Kind | None = None) -> TuningJob | TrainingJob: ...
def find(record: Record, name: str, kind: Kind | None = None) -> TuningJob | TrainingJob:
    """Give the job that a name stands for.

    Args:
        record: The store.
        name: The name, in whatever letter case.
        kind: Which of the two kinds is meant; None where whoever asks has not said.

    Raises:
        InputError: There is no such job; or there is one of each kind, and nothing says which is meant.
    """
    named: list[TuningJob | TrainingJob] = [
        *tuning_jobs(record, "name = ?", (name,)),
        *training_jobs(record, "name = ?", (name,)),
    ]
    found = [job for job in named if kind in (None, job.kind)]
    if len(found) > 1:
        choices = " or ".join(f"--kind {each}" for each in KINDS)
        raise InputError(f"{name} is a tuning job and a training job. Say which is meant: {choices}.")
    if not found:
        raise InputError(unknown(record, name, kind))
    return found[0]


def words_for(record: Record, name: str, kind: Kind) -> str:
    """The words by which a verb finds a job: its name, and its kind where both kinds have the name."""
    namesake = _has(record, name, "training" if kind == "tuning" else "tuning")
    return f"{name} --kind {kind}" if namesake else name


def unknown(record: Record, name: str, kind: Kind | None = None, *, advise: bool = True) -> str:
    """Say that there is no such job, with the nearest name, and where else it may be.

    Args:
        record: The store.
        name: The name.
        kind: Which kind was asked for; None for both.
        advise: Whether to name the commands that help, for those who asked by one.
    """
    other = next((each for each in KINDS if kind not in (None, each) and _has(record, name, each)), None)
    if other is not None:
        return f"There is no {kind} job '{name}' in {record.home}; {name} is a {other} job."
    tables = " UNION ".join(f"SELECT name FROM {each}_jobs" for each in KINDS if kind in (None, each))  # noqa: S608
    near = difflib.get_close_matches(name, [row["name"] for row in record.read(tables)], n=1, cutoff=0.5)
    words = [f"There is no {f'{kind} ' if kind else ''}job '{name}' in {record.home}."]
    if near:
        words.append(f"Did you mean '{near[0]}'?")
    elif advise:
        words.append("`bandstand list` shows the jobs there are.")
    if advise:
        words.append(
            f"`bandstand train --resume {name} --on sagemaker` watches a training job that runs on SageMaker,"
            " and `tune` a tuning job."
        )
    return " ".join(words)


def _has(record: Record, name: str, kind: Kind) -> bool:
    return bool(record.read(f"SELECT 1 FROM {kind}_jobs WHERE name = ?", (name,)))  # noqa: S608 - our tables
