"""A request whose rest does not come is given up; whoever is served meanwhile is not kept waiting."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .served import Server

IMPATIENT = """
from bandstand.service import server
server.IDLE_SECONDS = {seconds}
from bandstand.cli import main
main()
"""

SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request"}
HEAD = f"Host: 127.0.0.1\r\nAuthorization: {SIGNED['Authorization']}\r\n".encode()


@contextmanager
def waiting(place: Path, seconds: float) -> Iterator[Server]:
    """A service that waits for the rest of a request for so long."""
    home = place / f"home-waiting-{seconds}"
    running = Server(home, cwd=place, program=("-c", IMPATIENT.format(seconds=seconds)))
    try:
        yield running
    finally:
        running.end()


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    with waiting(place, 0.5) as running:
        yield running


def told(server: Server, *parts: bytes) -> bytes:
    """All that is answered, up to the end of the connection, to who sends these parts and nothing more."""
    port = int(server.url.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for part in parts:
            connection.sendall(part)
        answer = b""
        while data := connection.recv(1 << 16):
            answer += data
    return answer


@pytest.mark.parametrize("begun", [b"", b"half of"])
@pytest.mark.parametrize(
    "line",
    [b"PUT /slow/key HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nX-Amz-Target: SageMaker.ListTrainingJobs\r\n"],
)
def test_a_body_that_is_announced_and_not_sent_is_answered_with_408(
    server: Server, line: bytes, begun: bytes
) -> None:
    answer = told(server, line + HEAD + b"Content-Length: 100\r\n\r\n", begun)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nConnection: close\r\n" in answer


def test_who_was_told_to_go_on_and_does_not_is_answered_with_408(server: Server) -> None:
    client = server.plain("s3")
    client.create_bucket(Bucket="slow", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    head = b"PUT /slow/key HTTP/1.1\r\n" + HEAD + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    answer = told(server, head)
    assert answer.startswith(b"HTTP/1.1 100 ")
    assert b"HTTP/1.1 408 " in answer
    assert "Contents" not in client.list_objects_v2(Bucket="slow")


@pytest.mark.parametrize("head", [b"", b"PUT /slow/key HT", b"BANDSTAND-RELAY mi"])
def test_a_head_that_does_not_come_ends_the_connection(server: Server, head: bytes) -> None:
    assert told(server, head) == b""


@pytest.fixture
def patient(place: Path) -> Iterator[Server]:
    """A service that waits long enough for a test whose turn comes late."""
    with waiting(place, 3.0) as running:
        yield running


def test_a_body_that_comes_slowly_and_steadily_is_waited_for(patient: Server) -> None:
    """Each part comes well within the three seconds, all of them together in more."""
    client = patient.plain("s3")
    client.create_bucket(Bucket="steady", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    port = int(patient.url.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"PUT /steady/key HTTP/1.1\r\n" + HEAD + b"Content-Length: 8\r\n\r\n")
        connection.settimeout(0.4)
        for _ in range(8):
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.sendall(b"x")
        connection.settimeout(60)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
    assert client.get_object(Bucket="steady", Key="key")["Body"].read() == b"xxxxxxxx"


def test_a_connection_between_two_requests_is_kept_for_longer(server: Server) -> None:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
    for _ in range(2):
        connection.request("GET", "/", headers=SIGNED)
        response = connection.getresponse()
        assert response.read()
        connection.sock.settimeout(1)
        with pytest.raises(TimeoutError):  # neither bytes nor the end
            connection.sock.recv(1)
        connection.sock.settimeout(60)
    connection.close()
