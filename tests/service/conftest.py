from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .served import Server, lay_out


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program and some data."""
    return lay_out(tmp_path_factory.mktemp("place"))


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    """A service that the tests of a file share."""
    running = Server(place / "home", cwd=place)
    yield running
    running.end()


@pytest.fixture(scope="module")
def sagemaker(server: Server) -> Any:
    return server.client()
