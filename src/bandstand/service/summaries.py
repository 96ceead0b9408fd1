"""What clients see of a job's status, and the training jobs of a tuning job in brief."""

from __future__ import annotations

import json
import math
import sqlite3
import struct

from bandstand.request.plan import TuningPlan
from bandstand.service.context import Context
from bandstand.service.protocol import Document
from bandstand.study.rungs import LARGEST, usable

BRIEF = (
    "name, tuning_job, definition, created, started, ended, shown, settings, failure_reason, objective,"
    " transitions"
)
"""Columns of a training job that a summary is made of; its plan, which is large, is not among them."""

USABLE = f"(objective IS NOT NULL AND ABS(objective) < {LARGEST!r})"
"""The condition in SQL for an objective that can be compared."""

OPEN = ("InProgress", "Stopping")
"""Statuses, as clients see them, of jobs that are not over."""

_LARGEST_SINGLE = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def summary(context: Context, row: sqlite3.Row, plan: TuningPlan) -> Document:
    """Tell of a training job of a tuning job.

    Args:
        context: Names the region and the account.
        row: The job, with the columns of `BRIEF`.
        plan: The tuning job's.
    """
    answer: Document = {
        "TrainingJobName": row["name"],
        "TrainingJobArn": context.arn("training-job", row["name"]),
        "TuningJobName": row["tuning_job"],
        "CreationTime": row["created"],
        "TrainingJobStatus": row["shown"],
        "TunedHyperParameters": json.loads(row["settings"]),
        "ObjectiveStatus": objective_status(row["shown"], usable(row["objective"])),
    }
    if row["definition"]:
        answer["TrainingJobDefinitionName"] = row["definition"]
    begin = first_download(row)
    if begin is not None:
        answer["TrainingStartTime"] = begin
    if row["shown"] == "Failed" and row["failure_reason"]:
        answer["FailureReason"] = row["failure_reason"]
    if row["shown"] not in OPEN and row["objective"] is not None and math.isfinite(row["objective"]):
        answer["FinalHyperParameterTuningJobObjectiveMetric"] = {
            "Type": plan.goal.capitalize(),
            "MetricName": plan.definition(row["definition"]).objective,
            "Value": float32(row["objective"]),
        }
    return answer | ended(row["shown"], row["ended"], "TrainingEndTime")


def first_download(row: sqlite3.Row) -> float | None:
    """When the first attempt at a job was started, in epoch seconds; None before that."""
    steps = json.loads(row["transitions"])
    started: float | None = row["started"]
    return next((moment for status, moment, _ in steps if status == "Downloading"), started)


def ended(shown: str, moment: float | None, member: str) -> Document:
    """The member that says when a job was over; empty while it is not."""
    return {} if shown in OPEN or moment is None else {member: moment}


def objective_status(shown: str, is_usable: bool) -> str:
    """What became of a training job's objective: `Succeeded`, `Pending` or `Failed`."""
    if shown in OPEN:
        return "Pending"
    return "Succeeded" if is_usable and shown != "Failed" else "Failed"


def secondary_status(shown: str, recorded: str, interrupted: bool) -> str:
    """The finer word for a status: a job that has lost its owner and is about to go on is `Interrupted`."""
    if interrupted and shown == "InProgress":
        return "Interrupted"
    return "Stopping" if shown == "Stopping" else recorded


def float32(value: float) -> float:
    """A number of single precision, as the API keeps metrics, in its shortest decimal form."""
    single = _single(value)
    for digits in range(6, 10):
        short = float(f"{value:.{digits}g}")
        if _single(short) == single:
            return short
    return float(struct.unpack("<f", single)[0])


def _single(value: float) -> bytes:
    return struct.pack("<f", max(-_LARGEST_SINGLE, min(_LARGEST_SINGLE, value)))
