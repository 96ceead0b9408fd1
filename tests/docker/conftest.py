"""`make test` runs without a container engine; `make test-docker` is for these."""

from __future__ import annotations

import os

import pytest

WANTED = os.environ.get("BANDSTAND_TEST_DOCKER") == "1"

collect_ignore_glob = [] if WANTED else ["test_*.py"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line that these tests were left out."""
    if not WANTED:
        terminalreporter.write_line(
            "tests/docker was left out; 'make test-docker' runs it with a container engine."
        )
