"""`make test` runs without SageMaker's SDKs; `make test-interop` installs them and is for these."""

from __future__ import annotations

import os

import pytest

WANTED = os.environ.get("BANDSTAND_TEST_INTEROP") == "1"

collect_ignore_glob = [] if WANTED else ["test_*.py"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line that these tests were left out."""
    if not WANTED:
        terminalreporter.write_line(
            "tests/interop was left out; 'make test-interop' runs it with SageMaker's SDKs."
        )
