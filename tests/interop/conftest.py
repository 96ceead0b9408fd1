"""Programs with SageMaker's SDKs, run beside a service; `make test-interop` installs the SDKs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.interop.client import Program, sdk, write_rows
from tests.service.served import Server

Begin = Callable[..., Program]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, in which the programs of a file's tests run."""
    folder = tmp_path_factory.mktemp("place")
    write_rows(folder)
    return folder


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    """A service that the tests of a file share."""
    running = Server(place / "home", "--port", "0", cwd=place)
    yield running
    running.end()


@pytest.fixture(scope="module")
def begin(server: Server, place: Path) -> Iterator[Begin]:
    """Begins a program with an SDK, "v2" or "v3"."""
    begun = []

    def start(version: str, script: str, *words: str) -> Program:
        begun.append(Program(sdk(version), script, *words, url=server.url, place=place))
        return begun[-1]

    yield start
    for program in begun:
        program.end()
