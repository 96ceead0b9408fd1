"""`bandstand logs`: what the hosts of a job printed."""

from __future__ import annotations

import heapq
import json
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import click

from bandstand.cli.pick import JobName, kind_option, pick
from bandstand.cli.place import home_option, json_option, place

if TYPE_CHECKING:
    from bandstand.backends.backend import LogLine
    from bandstand.runs.jobs import Kind
    from bandstand.runs.record import Record

Line = tuple[str, "LogLine"]
"""A training job's name and a line of one of its hosts."""

_LOOK_SECONDS = 0.5
_OVER = ("Completed", "Failed", "Stopped")


@click.command("logs", short_help="Print what the hosts of a job printed.")
@click.argument("job", metavar="[JOB]", required=False, type=JobName())
@kind_option
@click.option("-f", "--follow", is_flag=True, help="Go on until the job has ended.")
@click.option("--host", metavar="HOST", help="Only the lines of this host, as they are: algo-1, algo-2, ...")
@json_option
@home_option
def command(job: str | None, kind: Kind | None, follow: bool, host: str | None, as_json: bool) -> int:
    """Print the log lines of a job by its name, in order of time; without JOB, of the newest one.

    Lines of a job with several hosts start with the host; those of a tuning job start with the training
    job, too. With --json each line is one JSON object: job, host, time (epoch seconds) and text.

    \b
    Examples:
      bandstand logs direct-marketing --follow
      bandstand logs direct-marketing-007-ab2e9b77 --host algo-2
    """
    from bandstand.runs.record import Record
    from bandstand.runs.views import show

    with Record.open_to_read(place().folder) as record:
        name, kind = pick(record, job, kind)
        document = show(record, name, kind)
        tuning = kind == "tuning"
        if not tuning:
            several = host is None and len(document["hosts"]) > 1
            lines = _lines_of(record, name, host, follow)
        else:
            several = host is None
            lines = _followed(record, name, host) if follow else _merged(record, name, host)
        _print(lines, tuning=tuning, several=several, as_json=as_json)
    return 0


def _print(lines: Iterable[Line], *, tuning: bool, several: bool, as_json: bool) -> None:
    from bandstand.report import plain

    terminal = sys.stdout.isatty()
    for job, line in lines:
        if as_json:
            fact = {"job": job, "host": line.host, "time": line.time, "text": line.text}
            sys.stdout.write(json.dumps(fact) + "\n")
        else:
            origin = " ".join([job] * tuning + [line.host] * several)
            # A pipe gets what the job printed; a terminal is kept from what would move its cursor.
            text = plain(line.text) if terminal else line.text
            sys.stdout.write(f"{origin} | {text}\n" if origin else f"{text}\n")
        sys.stdout.flush()


def _lines_of(record: Record, name: str, host: str | None, follow: bool) -> Iterator[Line]:
    from bandstand.runs.views import log_lines

    return ((name, line) for line in log_lines(record, name, host, follow=follow))


def _merged(record: Record, name: str, host: str | None) -> Iterator[Line]:
    """Give the lines of all training jobs of a tuning job, in order of time."""
    from bandstand.runs.views import show

    jobs = [row["name"] for row in show(record, name, "tuning")["training_jobs"]]
    return heapq.merge(*(_lines_of(record, job, host, False) for job in jobs), key=lambda item: item[1].time)


def _followed(record: Record, name: str, host: str | None) -> Iterator[Line]:
    """Give the lines of all training jobs of a tuning job as they come, until it has ended."""
    from bandstand.runs.views import show

    lines: SimpleQueue[Line | Exception] = SimpleQueue()
    readers: dict[str, threading.Thread] = {}
    stopped = threading.Event()
    try:
        over = False
        while not over or any(reader.is_alive() for reader in readers.values()) or not lines.empty():
            document = show(record, name, "tuning")
            over = document["status"] in _OVER
            for job in (row["name"] for row in document["training_jobs"]):
                if job not in readers:
                    words = (record.home, job, host, lines, stopped)
                    readers[job] = threading.Thread(target=_read, args=words, name=f"logs-{job}", daemon=True)
                    readers[job].start()
            yield from _drain(lines)
    finally:
        stopped.set()


def _drain(lines: SimpleQueue[Line | Exception]) -> Iterator[Line]:
    """Give what is there, and what comes until nothing has come for a moment."""
    while True:
        try:
            line = lines.get(timeout=_LOOK_SECONDS)
        except Empty:
            return
        if isinstance(line, Exception):
            raise line
        yield line


def _read(
    home: Path, job: str, host: str | None, lines: SimpleQueue[Line | Exception], stopped: threading.Event
) -> None:
    """Follow one training job; a record is for one thread only, so this opens its own."""
    from bandstand.runs.record import Record
    from bandstand.runs.views import log_lines

    try:
        with Record.open_to_read(home) as record:
            for line in log_lines(record, job, host, follow=True, stopped=stopped.is_set):
                lines.put((job, line))
    except Exception as error:  # noqa: BLE001 - raised by the thread that prints
        lines.put(error)
