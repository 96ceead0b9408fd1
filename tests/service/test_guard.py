"""Who may talk to the service: its own user's programs, and no web page of somebody else's."""

from __future__ import annotations

import http.client
import json
import os
import socket

import pytest

from bandstand.service import guard
from bandstand.service.protocol import ServiceError

from .served import refusal


def asked(server, **headers: str) -> tuple[int, dict]:
    """Ask for the list of jobs as a program with these headers would."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    try:
        usual = {"X-Amz-Target": "SageMaker.ListTrainingJobs", "Content-Type": "application/x-amz-json-1.1"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", "/", "{}", usual | named)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_a_program_of_this_machine_is_answered(server):
    assert asked(server)[0] == 200


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:80", "bucket.localhost:9", "LOCALHOST"])
def test_this_machine_has_several_names(server, host):
    assert asked(server, Host=host)[0] == 200


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1.example.com", "localhost.example.com:80", ""])
def test_a_request_for_another_host_is_refused(server, host):
    status, answer = asked(server, Host=host)
    assert status == 403
    assert answer["__type"] == "AccessDeniedException"
    assert "expected 127.0.0.1 or localhost" in answer["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://example.com"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_a_page_of_another_site_is_refused(server, headers):
    status, answer = asked(server, **headers)
    assert status == 403
    assert "only pages of this service" in answer["message"]


def test_a_page_of_the_service_itself_is_answered(server):
    assert asked(server, Origin=server.url, Sec_Fetch_Site="same-origin")[0] == 200


def test_a_body_without_bound_is_cut_off(server):
    with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as connection:
        connection.sendall(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: SageMaker.ListTrainingJobs\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        try:
            for _ in range(32):
                connection.sendall(chunk)
        except OSError:  # the service has closed the connection
            return
        assert b"413" in connection.recv(100)


@pytest.mark.parametrize(
    ("body", "code"),
    [("{", "SerializationException"), ("[]", "SerializationException"), ('{"A": 1}', "ValidationException")],
)
def test_what_is_no_request_is_refused_as_the_service_does(server, body, code):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    connection.request("POST", "/", body, {"X-Amz-Target": "SageMaker.ListTrainingJobs"})
    answer = connection.getresponse()
    assert answer.status == 400
    assert json.loads(answer.read())["__type"] == code
    connection.close()


def test_an_operation_that_is_not_answered_says_what_is(sagemaker):
    code, message = refusal(sagemaker.create_model, ModelName="m")
    assert code == "UnknownOperationException"
    assert "CreateModel of sagemaker is not answered" in message
    assert "CreateTrainingJob" in message


@pytest.fixture
def connection():
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        taken, _ = listener.accept()
        with taken:
            yield client.getsockname(), listener.getsockname()


def test_a_connection_of_this_user_is_its_own(connection):
    assert guard.is_own(*connection)


def test_a_connection_from_ipv6_is_known_too():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.socket(socket.AF_INET6) as client:
            client.connect(("::ffff:127.0.0.1", port))
            taken, peer = listener.accept()
            with taken:
                assert guard.is_own(peer, listener.getsockname())


def test_a_connection_of_another_user_is_not(connection, tmp_path, monkeypatch):
    tables = []
    for table in guard.TABLES:
        copy = tmp_path / table.name
        lines = [line.split() for line in table.read_text().splitlines()]
        for fields in lines[1:]:
            fields[7] = str(os.getuid() + 1)
        copy.write_text("\n".join(" ".join(fields) for fields in lines))
        tables.append(copy)
    monkeypatch.setattr(guard, "TABLES", tuple(tables))
    assert not guard.is_own(*connection)


def test_a_connection_that_nobody_has_is_not():
    assert not guard.is_own(("127.0.0.1", 1), ("127.0.0.1", 2))


def test_headers_may_say_nothing_of_where_a_request_comes_from():
    guard.check_local([(b"accept", b"*/*")], 80)
    with pytest.raises(ServiceError):
        guard.check_local([(b"host", b"evil")], 80)
