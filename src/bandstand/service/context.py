"""Where and for whom a call is answered."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bandstand.runs.record import Record
from bandstand.service.work import Work

if TYPE_CHECKING:
    from bandstand.service.store.buckets import Buckets

ACCOUNT = "123456789012"
"""The account of every ARN; the one that STS answers with as well."""

REGION = "us-east-1"
"""The region of a request that names none."""


class Records:
    """The record of a home, opened once for each thread that asks.

    Args:
        home: The folder that holds all state.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._own = threading.local()

    def open(self) -> Record:
        """The calling thread's own connection."""
        record: Record | None = getattr(self._own, "record", None)
        if record is None:
            record = self._own.record = Record.open(self._home)
        return record


@dataclass(frozen=True)
class Context:
    """What an operation works with.

    Args:
        home: The folder that holds all state.
        hosts: Where training jobs run: `processes` or `containers`.
        roots: The folders that `file://` may reach, resolved.
        jobs: The running work.
        buckets: The S3 of this home.
        records: Gives each thread its connection to the record.
        region: The region of the request, by its credentials.
        account: The account of all ARNs.
        told: What people were told about requests.
    """

    home: Path
    hosts: str
    roots: tuple[Path, ...]
    jobs: Work
    buckets: Buckets
    records: Records = field(repr=False)
    region: str = REGION
    account: str = ACCOUNT
    told: set[str] = field(default_factory=set, repr=False)

    def record(self) -> Record:
        """The record; one connection for each thread."""
        return self.records.open()

    def arn(self, kind: str, name: str) -> str:
        """The ARN of a resource of SageMaker's.

        Args:
            kind: `training-job` or `hyper-parameter-tuning-job`.
            name: The job's name.
        """
        return f"arn:aws:sagemaker:{self.region}:{self.account}:{kind}/{name}"
