"""The command as a user runs it: in a process of its own, in a pipe or on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.backends.sagemaker.region import served
from tests.service.served import Server

DEADLINE_SECONDS = 60.0
_CONTROL = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")


class Screen:
    """A small terminal: what is on it, and what has scrolled off its top."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.lines = [""] * height
        self.scrolled: list[str] = []
        self.row = self.column = 0
        self.wrapped = 0
        self._rest = ""

    def feed(self, text: str) -> None:
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = _CONTROL.match(text, at)
                if match is None:
                    if len(text) - at < 20:
                        self._rest = text[at:]
                        return
                    raise AssertionError(f"unknown control {text[at : at + 20]!r}")
                self._control(match[1], match[2])
                at = match.end()
                continue
            self._put(text[at])
            at += 1

    def _put(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self._down()
        elif character >= " ":
            if self.column == self.width:
                self.wrapped += 1
                self.column = 0
                self._down()
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + character + line[self.column + 1 :]
            self.column += 1
        else:
            raise AssertionError(f"unknown character {character!r}")

    def _down(self) -> None:
        if self.row == self.height - 1:
            self.scrolled.append(self.lines.pop(0).rstrip())
            self.lines.append("")
        else:
            self.row += 1

    def _control(self, parameters: str, letter: str) -> None:
        number = int(parameters) if parameters.isdigit() else 1
        if letter == "A":
            self.row = max(0, self.row - number)
        elif letter == "K":
            self.lines[self.row] = "" if parameters == "2" else self.lines[self.row][: self.column]
        elif letter not in "mhl":
            raise AssertionError(f"unknown control {parameters}{letter}")

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines).rstrip()

    @property
    def everything(self) -> list[str]:
        return [*self.scrolled, *self.text.splitlines()]


class Terminal:
    """A program on a terminal of its own."""

    def __init__(
        self, words: Sequence[str], env: dict[str, str], cwd: Path, *, width: int, height: int
    ) -> None:
        self.screen = Screen(width, height)
        self.raw = ""
        parent, child = pty.openpty()
        self._terminal = parent
        self.resize(width, height)
        self.process = subprocess.Popen(
            words, stdin=child, stdout=child, stderr=child, env=env, cwd=cwd, start_new_session=True,
            preexec_fn=_take_terminal,
        )  # fmt: skip
        os.close(child)

    def resize(self, width: int, height: int) -> None:
        self.screen.width = width
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self, seconds: float = 0.1) -> bool:
        """Take what the program has written; False once it has closed the terminal."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._terminal, 65536)
        except OSError:
            return False
        text = data.decode("utf-8", "replace")
        self.raw += text
        self.screen.feed(text)
        return bool(data)

    def wait_for(self, seen: str | Callable[[Screen], bool]) -> None:
        """Read until a text (or something else) is on the screen."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not (seen in self.screen.text if isinstance(seen, str) else seen(self.screen)):
            if time.monotonic() > deadline or not self.read():
                raise AssertionError(f"never seen: {seen}\n" + "\n".join(self.screen.everything))

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def end(self) -> int:
        """Read to the end and give the exit code."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self.read():
            assert time.monotonic() < deadline, "\n".join(self.screen.everything)
        return self.process.wait(DEADLINE_SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self._terminal >= 0:
            os.close(self._terminal)
            self._terminal = -1


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that stands in for a region of SageMaker, for all tests of a file."""
    with served(tmp_path_factory.mktemp("aws")) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def env(home: Path, tmp_path: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("BANDSTAND_", "LC_"))}
    unwanted = ("NO_COLOR", "COLUMNS", "LINES", "PYTHONIOENCODING", "FORCE_COLOR")
    kept = {key: value for key, value in kept.items() if key not in unwanted}
    return {
        **kept,
        "HOME": str(tmp_path),
        "BANDSTAND_HOME": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def bandstand(env: dict[str, str], tmp_path: Path) -> Command:
    """Run the command in a pipe, to its end."""

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bandstand.cli", *words],
            env={**env, **more},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=DEADLINE_SECONDS,
            check=False,
        )

    return run


Open = Callable[..., Terminal]


@pytest.fixture
def terminal(env: dict[str, str], tmp_path: Path) -> Iterator[Open]:
    """Start a Python program (or the command, by `-m bandstand.cli`) on a terminal."""
    opened: list[Terminal] = []

    def start(*words: str, width: int = 80, height: int = 24, **more: str) -> Terminal:
        opened.append(
            Terminal([sys.executable, *words], {**env, **more}, tmp_path, width=width, height=height)
        )
        return opened[-1]

    yield start
    for one in opened:
        one.close()
