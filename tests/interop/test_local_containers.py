"""Clients of a service whose hosts are containers: what they bring as an entry point is what runs."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.docker.images import IMAGE
from tests.interop.client import Program
from tests.service.served import Server

Begin = Callable[..., Program]


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    """A service with containers as hosts."""
    running = Server(place / "home", "--port", "0", "--hosts", "containers", cwd=place)
    yield running
    running.end()


def test_a_script_of_sdk_3_runs_under_torchrun_on_two_hosts(begin: Begin, place: Path) -> None:
    facts = begin("v3", "v3_script.py", IMAGE).facts()
    assert facts["status"] == "Completed"
    with tarfile.open(place / "v3-model" / "model.tar.gz") as archive:
        found = archive.extractfile("found.json")
        assert found is not None
        assert json.load(found) == {"ranks": 2, "sum": 3.0}
