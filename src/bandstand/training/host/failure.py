"""Why a rank failed, in the 1,024 characters that become the failure reason."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from bandstand.rank_notes import noted_rows
from bandstand.sagemaker_files import MAX_FAILURE
from bandstand.training.host.ranks import Ended
from bandstand.training.host.tracebacks import NOISE, Frames, last_exception

_LEFT = "bandstand: this rank leaves"
_LAST_LINES = 5
_CONSEQUENCE = re.compile(
    r"connection (?:reset|refused|closed|aborted|lost|timed out)|broken ?pipe|connection to the leader|"
    r"this rank leaves|HorovodInternalError|Horovod has been shut down|"
    r"(?:peer|remote|socket|collective|rabit|gloo|nccl|mpi)\b.*\b(?:error|closed|failed|reset|timed out)|"
    r"\b(?:ConnectionError|ConnectionResetError|ConnectionAbortedError|BrokenPipeError|EOFError)\b",
    re.IGNORECASE,
)
_HINTS = {
    signal.SIGKILL: (
        "nobody here sent it; most often the system ran out of memory: use fewer rows or threads per host, "
        "or a larger instance type"
    ),
    signal.SIGBUS: (
        "often the shared memory of the container (/dev/shm) is full: use fewer data-loader workers, or more "
        "of it"
    ),
    signal.SIGILL: "a library was built for another processor: install one that suits this machine",
    signal.SIGSEGV: "a native library crashed: PYTHONFAULTHANDLER=1 tells where",
    signal.SIGABRT: "a native library gave up: its last lines are in the log",
}


def failure_reason(program: str, ended: Ended, stderr: str, where: str, folder: Path | None) -> str:
    """Say why a rank failed: its exception with file and line, its signal with memory and rows, or its last
    words.

    Args:
        program: The program's name.
        ended: How the process ended; not with exit code 0.
        stderr: The end of what it wrote there.
        where: `algo-2, rank 1`.
        folder: Where the user's code lives; a line there tells more than one in a library.

    Returns:
        One paragraph of at most 1,024 characters, the place at its end.
    """
    lines = stderr.splitlines()
    if ended.signal is not None:
        return _fit(_of_signal(program, ended, lines), f" ({where})")
    exception = last_exception(lines)
    if exception is not None:
        text, frames = exception
        facts = _place(frames, folder)
        if ended.exit_code != 1:  # which Python gives for an exception
            facts.append(f"exit code {ended.exit_code}")
        return _fit(text, (f" ({'; '.join(facts)})" if facts else "") + f" on {where}")
    code = f"exit code {ended.exit_code}"
    if ended.code > 128 and ended.code - 128 in set(signal.Signals):
        code += f", as after {signal.Signals(ended.code - 128).name}"
    said = [line.strip() for line in lines if line.strip() and not line.startswith(NOISE)][-_LAST_LINES:]
    if not said:
        said = [line.removeprefix("bandstand: ") for line in lines if line.startswith(_LEFT)][-1:]
    if not said:
        return _fit(f"{program} ended with {code} and wrote nothing on stderr", f" ({where})")
    return _fit(" | ".join(said), f" ({program}, {code}) on {where}", keep_end=True)


def is_consequence(reason: str) -> bool:
    """Whether a failure reads like the consequence of another rank's end: a connection to it broke."""
    return _CONSEQUENCE.search(reason) is not None


def _of_signal(program: str, ended: Ended, lines: list[str]) -> str:
    number = ended.signal or 0
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    facts = [f"peak memory {ended.peak_bytes / 2**20:.0f} MiB"]
    rows = next((found for line in reversed(lines) if (found := noted_rows(line)) is not None), None)
    if rows is not None:
        facts.append(f"{rows} rows")
    text = f"{program} was ended by {name}; {', '.join(facts)}"
    hint = _HINTS.get(signal.Signals(number)) if number in set(signal.Signals) else None
    if hint:
        text += f"; {hint}"
    said = [line.strip() for line in lines if line.strip() and not line.startswith("bandstand: ")]
    return f"{text}. Its last line: {said[-1][:300]}" if said else text


def _place(frames: Frames, folder: Path | None) -> list[str]:
    if not frames:
        return []
    own = [(file, line) for file, line in frames if folder is not None and Path(file).is_relative_to(folder)]
    file, line = (own or frames)[-1]
    return [f"{Path(file).name}, line {line}"]


def _fit(text: str, place: str, *, keep_end: bool = False) -> str:
    room = MAX_FAILURE - len(place)
    if len(text) > room:
        text = "…" + text[-room + 1 :] if keep_end else text[: room - 1] + "…"
    return text + place
