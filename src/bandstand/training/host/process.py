"""The process around an agent: words, descriptors, signals, exit code."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import NoReturn

from bandstand.errors import BandstandError
from bandstand.sagemaker_files import Folders
from bandstand.training.host.agent import Agent
from bandstand.training.host.events import Events
from bandstand.training.host.job import read_job
from bandstand.training.host.reasons import leave_reason
from bandstand.training.host.relay import Stream
from bandstand.training.host.supervision import end_with_supervisor, leave_peak


def run(words: Sequence[str]) -> NoReturn:
    """Do what the container's arguments say, and end this process with the exit code."""
    _open_standard_descriptors()
    events = Events()
    stops = [(number, lambda number: ("signal", number)) for number in (signal.SIGTERM, signal.SIGINT)]
    events.listen([*stops, (signal.SIGCHLD, lambda number: ("child", None))])
    err = Stream(2)
    try:
        code = _train(err, events) if list(words) in ([], ["train"]) else _refuse(words, err)
    except BaseException as error:
        reason = f"A fault in Bandstand itself: {type(error).__name__}: {error}"
        leave_reason(Folders.from_environment(os.environ), reason, err)
        raise
    os._exit(code)  # threads that wait for a lost host or a full pipe must not hold the process


def _train(err: Stream, events: Events) -> int:
    end_with_supervisor(os.environ)
    try:
        job = read_job(os.environ)
    except BandstandError as error:
        leave_reason(Folders.from_environment(os.environ), str(error), err)
        return error.exit_code
    code = Agent(job, Stream(1), err, events).run()
    try:
        leave_peak(os.environ)
    except OSError as error:
        err.say(f"{error}; going on.")
    return code


def _refuse(words: Sequence[str], err: Stream) -> int:
    if list(words) == ["serve"]:
        err.say(
            "'serve' is not part of this version: the image trains and does not serve. Run it with 'train'."
        )
    else:
        err.say(f"found the arguments {' '.join(words)!r}; expected 'train' or none.")
    return 2


def _open_standard_descriptors() -> None:
    """Open what the parent has closed, so that no socket gets the number of a standard stream."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
