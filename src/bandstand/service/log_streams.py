"""The streams of the training jobs' log group: one for each host that has written a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bandstand.backends.job_folder import JobFolder
from bandstand.runs.record import Record
from bandstand.service.context import Context
from bandstand.service.log_events import first_time
from bandstand.service.protocol import Document, ServiceError

GROUP = "/aws/sagemaker/TrainingJobs"
"""The log group of all training jobs."""

_ROWS = 100
_NAME = re.compile(r"(?P<job>[^/]+)/(?P<host>[^/]+)-(?P<seconds>\d{1,12})", re.ASCII)


@dataclass(frozen=True)
class Stream:
    """What a host of a training job writes.

    Args:
        name: `<job>/algo-N-<epoch seconds of the first line>`.
        log: The host's log.
        begun: When its first line was complete, in milliseconds since the epoch.
    """

    name: str
    log: Path
    begun: int

    @property
    def written(self) -> float:
        """When the log was last written to, in epoch seconds; 0 where its job has been deleted meanwhile."""
        try:
            return self.log.stat().st_mtime
        except FileNotFoundError:
            return 0.0


def group_arn(context: Context) -> str:
    """The ARN of the log group."""
    return f"arn:aws:logs:{context.region}:{context.account}:log-group:{GROUP}"


def check_group(context: Context, record: Record, parameters: Document) -> None:
    """Check that a request is for the group of training jobs, which is there once there is a job.

    Raises:
        ServiceError: It is for another group.
    """
    name, identifier = parameters.get("logGroupName"), parameters.get("logGroupIdentifier")
    if (name is None) == (identifier is None):
        raise ServiceError(
            "InvalidParameterException", "Exactly one of logGroupName and logGroupIdentifier has to be given."
        )
    right = name == GROUP or identifier in (GROUP, group_arn(context))
    if not right or created(record) is None:
        raise ServiceError("ResourceNotFoundException", "The specified log group does not exist.")


def created(record: Record) -> float | None:
    """When the first training job was created, in epoch seconds; None before there is one."""
    found: float | None = record.read("SELECT MIN(created) AS begun FROM training_jobs")[0]["begun"]
    return found


def stream(record: Record, name: str) -> Stream:
    """The stream of this name.

    Raises:
        ServiceError: There is none.
    """
    parts = _NAME.fullmatch(name)
    if parts is not None:
        rows = record.read("SELECT name FROM training_jobs WHERE name = ?", (parts["job"],))
        for row in rows:
            if row["name"] == parts["job"]:
                log = JobFolder(record.folder(row["name"])).log(parts["host"])
                found = _stream(row["name"], log)
                if found is not None and found.name == name:
                    return found
    raise ServiceError("ResourceNotFoundException", "The specified log stream does not exist.")


def streams(record: Record, prefix: str = "", after: str = "") -> Iterator[Stream]:
    """Give streams by their names, in the order in which the record has their jobs.

    Args:
        record: The store.
        prefix: What their names begin with.
        after: Only streams that follow the one of this name.
    """
    job, slash, _ = prefix.partition("/")
    last = after.partition("/")[0]
    begin, strict = (last, False) if last else (job, False)
    while True:
        rows = record.read(
            f"SELECT name FROM training_jobs WHERE name {'>' if strict else '>='} ?"  # noqa: S608 - a sign of ours
            " ORDER BY name LIMIT ?",
            (begin, _ROWS),
        )
        for row in rows:
            name = row["name"]
            if not name.casefold().startswith(job.casefold()):
                return
            if slash and name.casefold() != job.casefold():
                return
            for found in _of_job(name, record.folder(name)):
                passed = name == last and found.name <= after
                if found.name.startswith(prefix) and not passed:
                    yield found
        if len(rows) < _ROWS:
            return
        begin, strict = rows[-1]["name"], True


def _of_job(job: str, folder: Path) -> list[Stream]:
    logs = JobFolder(folder).logs.glob("*.log")
    found = (_stream(job, log) for log in logs)
    return sorted((each for each in found if each is not None), key=lambda each: each.name)


def _stream(job: str, log: Path) -> Stream | None:
    begun = first_time(log)
    return None if begun is None else Stream(f"{job}/{log.stem}-{begun // 1000}", log, begun)
