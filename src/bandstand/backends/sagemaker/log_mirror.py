"""Log lines of CloudWatch, copied into one file for each host as a job of this machine has them."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bandstand.atomic_files import write_atomically
from bandstand.backends.job_folder import JobFolder
from bandstand.backends.sagemaker.refusals import AwsError, code_of, from_aws
from bandstand.backends.sagemaker.region import Region

GROUP = "/aws/sagemaker/TrainingJobs"

MOST_PAGES = 8
"""Pages of one stream that are read in one go; a page has up to 10,000 lines or 1 MB."""

_STREAM = re.compile(r"(algo-[0-9]+)-([0-9]+)")
_CURSORS = "cursors.json"
_LOCK = "mirror.lock"


@dataclass
class _Cursors:
    """How far the streams are read: written after the lines themselves, so that none is lost.

    Args:
        streams: Stream to the token that its next page is asked for with; empty for its begin.
        bytes: Host to the length of its file with all lines that the tokens stand for.
    """

    streams: dict[str, str] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)


class LogMirror:
    """The log lines of one training job; any process may copy them, one at a time does.

    Args:
        region: Where the job runs.
        name: The training job.
        folder: Its folder.
        hosts: How many hosts it has.
    """

    def __init__(self, region: Region, name: str, folder: Path, hosts: int) -> None:
        self._region = region
        self._name = name
        self._files = JobFolder(folder)
        self._hosts = hosts

    def pull(self, *, search: bool, patience: float) -> bool:
        """Copy what is new.

        Args:
            search: Whether to look for streams of later attempts, too.
            patience: Seconds for which a call is tried again.

        Returns:
            Whether all that CloudWatch has was copied; false also where another process is at it.

        Raises:
            InputError: The rights are missing.
            PlatformError: CloudWatch cannot be reached.
        """
        with self._locked() as mine:
            if not mine:
                return False
            cursors = self._read()
            self._cut(cursors)
            if search or len({_host(stream) for stream in cursors.streams}) < self._hosts:
                for stream in self._find(patience):
                    cursors.streams.setdefault(stream, "")
            whole = True
            for stream in sorted(cursors.streams, key=_order):
                whole = self._copy(stream, cursors, patience) and whole
            return whole

    def _find(self, patience: float) -> Iterator[str]:
        token: dict[str, str] = {}
        while True:
            try:
                answer = self._region.bear(
                    lambda: self._region.client("logs").describe_log_streams(
                        logGroupName=GROUP,
                        logStreamNamePrefix=f"{self._name}/",
                        orderBy="LogStreamName",
                        **token,  # noqa: B023
                    ),
                    patience,
                )
            except AwsError as error:
                if code_of(error) == "ResourceNotFoundException":  # nothing has been logged yet
                    return
                raise from_aws(error, "logs:DescribeLogStreams", self._region.name) from None
            for stream in answer["logStreams"]:
                name = stream["logStreamName"].removeprefix(f"{self._name}/")
                if _STREAM.fullmatch(name):
                    yield name
            if not answer.get("nextToken"):
                return
            token = {"nextToken": answer["nextToken"]}

    def _copy(self, stream: str, cursors: _Cursors, patience: float) -> bool:
        """Copy one stream up to its end, or up to the most that is read in one go."""
        for _ in range(MOST_PAGES):
            token = cursors.streams[stream]
            page = self._page(stream, token, patience)
            reached = page["nextForwardToken"]
            if page["events"]:
                self._append(_host(stream), page["events"], cursors)
            cursors.streams[stream] = reached
            if page["events"] or not token:
                self._write(cursors)
            if reached == token:
                return True
        return False

    def _page(self, stream: str, token: str, patience: float) -> Mapping[str, Any]:
        place: dict[str, Any] = {"nextToken": token} if token else {}
        return self._region.ask(
            "logs:GetLogEvents",
            lambda: self._region.client("logs").get_log_events(
                logGroupName=GROUP, logStreamName=f"{self._name}/{stream}", startFromHead=True, **place
            ),
            patience,
        )

    def _append(self, host: str, events: list[Mapping[str, Any]], cursors: _Cursors) -> None:
        lines = [
            f"{event['timestamp'] / 1000:.6f} {text}\n"
            for event in events
            for text in event["message"].rstrip("\n").split("\n")
        ]
        with self._files.log(host).open("ab") as file:
            file.write("".join(lines).encode("utf-8", "replace"))
            cursors.bytes[host] = file.tell()
            file.flush()
            os.fsync(file.fileno())

    def _cut(self, cursors: _Cursors) -> None:
        """Take away what a process that was killed has written without noting it: it comes again."""
        for log in self._files.logs.glob("*.log"):
            noted = cursors.bytes.get(log.stem, 0)
            if log.stat().st_size > noted:
                os.truncate(log, noted)

    def _read(self) -> _Cursors:
        try:
            return _Cursors(**json.loads((self._files.path / _CURSORS).read_text()))
        except (FileNotFoundError, ValueError):  # a machine that lost its power may have left it empty
            return _Cursors()

    def _write(self, cursors: _Cursors) -> None:
        write_atomically(self._files.path / _CURSORS, json.dumps(vars(cursors)))

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """Give whether this process is the one that copies."""
        self._files.logs.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._files.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)


def _host(stream: str) -> str:
    return stream.rpartition("-")[0]


def _order(stream: str) -> tuple[str, int]:
    """Streams of one host in the order of its attempts."""
    host, _, begin = stream.rpartition("-")
    return host, int(begin)
