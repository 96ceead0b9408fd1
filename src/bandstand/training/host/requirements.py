"""A program's requirements.txt, installed before its ranks start, in an image that asks for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bandstand.errors import InputError
from bandstand.training.host.events import Events
from bandstand.training.host.relay import Relay, Stream

_KILL_AFTER = 5.0


def install(file: Path, environ: Mapping[str, str], events: Events, err: Stream) -> dict[str, str] | None:
    """Install the packages, for the ranks that start afterwards; pip's own words go to stderr.

    Where this user may not write to the environment, they go to a folder of their own, which is put into
    `PYTHONPATH` and its programs into `PATH`.

    Args:
        file: The requirements.txt; paths in it are relative to its folder.
        environ: This process's environment.
        events: Told of signals; one that comes is put back for whoever asks next.
        err: This process's stderr.

    Returns:
        Variables that the ranks need beside or instead of those; None if a signal has asked for a stop.

    Raises:
        InputError: If pip fails; with its last words.
    """
    err.say(f"installing {file}")
    command = [sys.executable, "-m", "pip", "install", "--progress-bar", "off", "--no-input", "-r", file.name]
    added: dict[str, str] = {}
    if not os.access(sysconfig.get_path("purelib"), os.W_OK):
        folder = tempfile.mkdtemp(prefix="bandstand-packages-")
        command += ["--target", folder]
        places = {"PYTHONPATH": folder, "PATH": f"{folder}/bin"}
        added = {name: ":".join(filter(None, (place, environ.get(name)))) for name, place in places.items()}
    reader, writer = os.pipe()
    try:
        pip = subprocess.Popen(
            command,
            cwd=file.parent,
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            start_new_session=True,
            env={**environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        )
    finally:
        os.close(writer)
    relay = Relay(reader, err)
    relay.start()
    stopped = _wait(pip, events)
    relay.finish(1.0, 5.0)
    if stopped is not None:
        events.put("signal", stopped)
        return None
    if pip.returncode:
        raise InputError(
            f"{file} could not be installed (pip ended with code {pip.returncode}): {_reason(relay.tail())} "
            "Correct it, or put the packages into the image."
        )
    return added


def _wait(pip: subprocess.Popen[bytes], events: Events) -> int | None:
    """Wait until pip has ended; a signal ends it.

    Returns:
        The signal's number.
    """
    while pip.poll() is None:
        event = events.get(0.5)
        if event is not None and event[0] == "signal":
            os.killpg(pip.pid, signal.SIGTERM)
            try:
                pip.wait(_KILL_AFTER)
            except subprocess.TimeoutExpired:
                os.killpg(pip.pid, signal.SIGKILL)
                pip.wait()
            return int(event[1])
    return None


def _reason(words: str) -> str:
    """The line that says what went wrong: pip's last error, else its last line."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    reason = (errors or lines or ["it said nothing"])[-1]
    return reason if reason.endswith((".", "!")) else f"{reason}."
