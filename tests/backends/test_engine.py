"""What is told where a container engine, or an image at it, is named wrongly; no engine is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bandstand.backends.containers import find_image
from bandstand.backends.engine import EngineError, EngineLostError
from bandstand.backends.engine_address import find_engine
from bandstand.errors import PlatformError

from .engine_server import EngineServer


@pytest.fixture
def refusing(tmp_path: Path) -> Iterator[EngineServer]:
    """An engine that has no image."""
    body = b'{"message": "no such image"}'
    head = b"HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\n\r\n" % len(body)
    with closing(EngineServer(tmp_path / "engine.sock", head + body)) as server:
        yield server


@pytest.mark.parametrize(
    "name",
    ["bänd:latest", "a b", "a?b=c", "a%zz", "../../version", "a/../version", "a//b", "/a", "a/", "ä", ""],
)
def test_an_image_that_no_engine_can_have_is_told_before_it_is_asked(
    refusing: EngineServer, name: str
) -> None:
    with pytest.raises(PlatformError) as caught:
        find_image(refusing.engine, name)
    assert str(caught.value).startswith(f"{name!r} is no name that a container engine has for an image")
    assert "bandstand:latest" in str(caught.value)
    assert refusing.asked == []


@pytest.mark.parametrize(
    "name",
    [
        "bandstand",
        "bandstand:latest",
        "localhost:5000/a/b_c--d:V1.0_x",
        "[::1]:5000/a:1",
        "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-xgboost:1.7-1",
        f"a.example/b@sha256:{'0a' * 32}",
        f"sha256:{'0a' * 32}",
        "e038e987c59d",
    ],
)
def test_an_engine_is_asked_for_every_name_that_an_image_can_have(refusing: EngineServer, name: str) -> None:
    with pytest.raises(PlatformError, match="is not in the container engine"):
        find_image(refusing.engine, name)
    assert len(refusing.asked) == 1


def test_a_path_is_sent_so_that_an_engine_reads_it_as_it_was_meant(refusing: EngineServer) -> None:
    with pytest.raises(EngineError):
        refusing.engine.ask("GET", "/containers/ä b?c/json", all=1)
    assert refusing.asked == ["GET /v1.41/containers/%C3%A4%20b%3Fc/json?all=1 HTTP/1.1"]


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
        b"HTTP/1.1 301 Moved\r\nContent-Length: 6\r\n\r\n<a hre",
    ],
)
def test_what_is_no_engine_is_told_so(tmp_path: Path, answer: bytes) -> None:
    with (
        closing(EngineServer(tmp_path / "other.sock", answer)) as server,
        pytest.raises(EngineLostError, match=r"other\.sock is no container engine.*Set DOCKER_HOST"),
    ):
        server.engine.ask("GET", "/version")


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:abc", "tcp://127.0.0.1:99999", "tcp://[::1", "tcp://127.0.0.1:0", "junk"]
)
def test_an_address_that_is_none_is_told_with_what_to_set(address: str) -> None:
    with pytest.raises(PlatformError) as caught:
        find_engine({"DOCKER_HOST": address})
    assert address in str(caught.value)
    assert "Set DOCKER_HOST=unix://" in str(caught.value)
