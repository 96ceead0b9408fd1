"""Signals on a real process: a program that waits until it is asked to stop, as the live loop does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

PROGRAM = """
import sys, time
from bandstand.cli.signals import stop_on_signals
from bandstand.runs.snapshot import StopFlag

stop = StopFlag()

def say(text):
    print(text, flush=True)

wanted = sys.argv[1]
try:
    with stop_on_signals(stop, say, grace=120.0):
        say("ready")
        while not getattr(stop, wanted, False):
            time.sleep(0.01)
    say(f"asked {stop.asked} killed {stop.killed}")
except KeyboardInterrupt:
    say("left")
"""


class Run:
    def __init__(self, wanted: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, wanted], stdout=subprocess.PIPE, text=True
        )
        assert self.line() == "ready"

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def send(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)


@pytest.fixture
def runs() -> Iterator[list[Run]]:
    started: list[Run] = []
    yield started
    for run in started:
        run.process.kill()
        run.process.communicate()


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM"), (signal.SIGHUP, "SIGHUP")]
)
def test_the_first_signal_asks_for_a_clean_stop_and_says_so(
    runs: list[Run], number: signal.Signals, name: str
) -> None:
    run = Run("asked")
    runs.append(run)
    run.send(number)
    assert run.line() == (
        f"{name}: stopping all jobs cleanly; each has 120 s to save its model. Ctrl-C once more kills them."
    )
    assert run.line() == "asked True killed False"
    assert run.process.wait() == 0


def test_a_second_ctrl_c_kills(runs: list[Run]) -> None:
    run = Run("killed")
    runs.append(run)
    run.send(signal.SIGINT)
    assert run.line().startswith("Ctrl-C: stopping")
    run.send(signal.SIGINT)
    assert run.line() == "Killing all jobs."
    assert run.line() == "asked True killed True"


def test_no_number_of_sigterm_kills_and_ctrl_c_after_it_counts_as_the_first(runs: list[Run]) -> None:
    run = Run("killed")
    runs.append(run)
    run.send(signal.SIGTERM)
    assert run.line().startswith("SIGTERM: stopping")
    run.send(signal.SIGHUP)
    run.send(signal.SIGTERM)
    run.send(signal.SIGINT)
    assert run.line().startswith("Ctrl-C: stopping")
    run.send(signal.SIGINT)
    assert run.line() == "Killing all jobs."


def test_a_third_ctrl_c_leaves_even_if_the_loop_is_stuck(runs: list[Run]) -> None:
    run = Run("never")
    runs.append(run)
    for begin in ("Ctrl-C: stopping", "Killing", "Leaving at once"):
        run.send(signal.SIGINT)
        assert run.line().startswith(begin)
    assert run.line() == "left"
    assert run.process.wait() == 0
