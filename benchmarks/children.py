"""Child processes, and what they used."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import ROOT, NotHereError


@dataclass(frozen=True)
class Used:
    """What a command used.

    Args:
        seconds: From its start to its end.
        cpu: Seconds of processor time, its waited-for children included.
        output: Its standard output.
    """

    seconds: float
    cpu: float
    output: str


def run_child(
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Used:
    """Run a command to its end.

    Args:
        command: Program and arguments.
        folder: Where it starts; the repository by default, so that `-m benchmarks...` is found.
        environment: Variables beside those of this process.

    Raises:
        NotHereError: It failed; the text holds the end of what it said.
    """
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            words,
            cwd=folder or ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    if process.returncode != 0:
        tail = "\n".join((texts[0] + texts[1]).splitlines()[-15:])
        raise NotHereError(f"{' '.join(words[:6])} ... ended with {process.returncode}:\n{tail}")
    return Used(seconds, usage.ru_utime + usage.ru_stime, texts[0])


def bandstand_command() -> list[str]:
    """The command line as users start it: the script beside this Python, else the module."""
    script = Path(sys.executable).with_name("bandstand")
    return [str(script)] if script.exists() else [sys.executable, "-m", "bandstand.cli"]
