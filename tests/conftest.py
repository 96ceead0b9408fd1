"""Which suites a run has, and that in CI no test gives up: what a machine lacks there is a fault of CI."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# The parts of contract suites are no test modules, and their assertions explain themselves all the same.
pytest.register_assert_rewrite("tests.backends")

HERE = Path(__file__).parent

SUITES = {
    "horovod": "'make test-horovod' runs it with PyTorch and Horovod.",
    "docker": "'make test-docker' runs it with a container engine.",
    "interop": "'make test-interop' runs it with SageMaker's SDKs.",
    "rough": "'make test-rough' runs it over a network that refuses most calls, which takes its time.",
    "aws": "'make test-aws' runs it on an account of yours, and costs money.",
}
"""What runs each suite that needs more than Python; without being named it is left out."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the suites that are not named."""
    return True if collection_path in _left_out(config) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in one line for each what was left out."""
    for folder in _left_out(config):
        terminalreporter.write_line(f"tests/{folder.name} was left out; {SUITES[folder.name]}")


def _left_out(config: pytest.Config) -> list[Path]:
    """The suites that belong to what is run and are not named themselves."""
    named = [config.invocation_params.dir / word.partition("::")[0] for word in config.args]
    return [folder for name in SUITES if set((folder := HERE / name).parents).intersection(named)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that skips itself while the variable CI is set; what its marks say still holds."""
    report = yield
    marked = any(mark.args and mark.args[0] is True for mark in item.iter_markers("skipif"))
    if os.environ.get("CI") and report.skipped and not marked and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = (
            f"In CI nothing is skipped, but this test was: {call.excinfo and call.excinfo.value}"
        )
    return report
