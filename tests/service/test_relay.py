"""The way from a job's containers to the service: for its network and its credentials only."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bandstand.backends.relay import PREFACE, Neighbourhood, Relay
from bandstand.service.credentials import Credentials

from .served import Server, until

PLACE = Neighbourhood("127.0.0.1", ipaddress.IPv4Network("127.0.0.0/8"))
"""A network in which this machine is 127.0.0.1 and every other address of it is a container's."""
CONTAINER = "127.0.0.2"


@pytest.fixture
def relay(server) -> Iterator[Relay]:
    made = Relay(PLACE, server.url, "mine")
    yield made
    made.close()


def said(url: str, text: bytes, source: str = CONTAINER, *, no_more: bool = False) -> bytes:
    """What is answered to some bytes that come from an address; empty where the connection is closed.

    With `no_more` nothing is to follow, and the service is told so before it answers.
    """
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as connection:
        connection.settimeout(60)
        connection.bind((source, 0))
        try:
            connection.connect((host, int(port)))
            connection.sendall(text)
            if no_more:
                connection.shutdown(socket.SHUT_WR)
            answer = b""
            while part := connection.recv(1 << 16):
                answer += part
        except ConnectionError:
            return b""
    return answer


def request(
    token: str = "", *, method: str = "GET", path: str = "/", target: str = "", body: str = ""
) -> bytes:
    """A request as a client in a container makes it; with a token it is signed for S3, or has a target."""
    words = [f"{method} {path} HTTP/1.1", "Host: 172.18.0.1:4711", f"Content-Length: {len(body)}"]
    if token and not target:
        scope = "Credential=ASIA/20260101/eu-west-1/s3/aws4_request"
        words.append(f"Authorization: AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0")
    words += [f"X-Amz-Security-Token: {token}"] if token else []
    words += [f"X-Amz-Target: SageMaker.{target}"] if target else []
    return "\r\n".join([*words, "Connection: close", "", body]).encode()


def token_of(home: Path, job: str, seconds: float = 600) -> str:
    return Credentials.of(home).issue(job, seconds)["AWS_SESSION_TOKEN"]


def status(answer: bytes) -> int:
    return int(answer.split(b" ")[1])


def test_a_job_writes_and_reads_objects_and_asks_about_jobs_through_its_relay(server, relay):
    server.plain("s3").create_bucket(
        Bucket="relayed", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    token = token_of(server.home, "mine")
    put = request(token, method="PUT", path="/relayed/a/key", body="of a container")
    assert status(said(relay.url, put)) == 200
    assert said(relay.url, request(token, path="/relayed/a/key")).endswith(b"of a container")
    found = server.plain("s3").get_object(Bucket="relayed", Key="a/key")["Body"].read()
    assert found == b"of a container"
    lists = request(token, method="POST", target="ListTrainingJobs", body="{}")
    assert b"TrainingJobSummaries" in said(relay.url, lists)


@pytest.mark.parametrize(
    ("job", "seconds", "told"),
    [
        (None, 0, "comes from training job mine without its credentials"),
        ("another", 600, "comes from training job mine with the credentials of another"),
        ("mine", -1, "The security token is expired."),
    ],
)
@pytest.mark.parametrize("target", ["", "ListTrainingJobs", "CreateTrainingJob"])
def test_what_comes_through_a_relay_without_the_jobs_own_credentials_is_refused(
    server, relay, job, seconds, told, target
):
    token = "" if job is None else token_of(server.home, job, seconds)
    answer = said(relay.url, request(token, method="POST", target=target, body="{}"))
    assert status(answer) == 403
    assert told in answer.decode()


def test_the_credentials_of_a_job_start_nothing_through_its_relay(server, relay):
    token = token_of(server.home, "mine")
    answer = said(relay.url, request(token, method="POST", target="CreateTrainingJob", body="{}"))
    assert "do not allow CreateTrainingJob" in answer.decode()


@pytest.mark.parametrize("path", ["/", "/-/jobs"])
def test_the_page_is_not_for_a_relay(relay, path):
    answer = said(relay.url, b"GET %s HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n" % path.encode())
    assert status(answer) == 403


def test_this_machine_itself_and_addresses_of_elsewhere_are_turned_away(server, relay):
    token = token_of(server.home, "mine")
    assert said(relay.url, request(token), source="127.0.0.1") == b""
    assert not PLACE.holds("10.0.0.1")
    narrow = Neighbourhood("127.0.0.1", ipaddress.IPv4Network("127.0.1.0/24"))
    elsewhere = Relay(narrow, server.url, "mine")
    try:
        assert said(elsewhere.url, request(token)) == b""
        assert status(said(elsewhere.url, request(token), source="127.0.1.7")) == 200
    finally:
        elsewhere.close()


@pytest.mark.parametrize("way", ["relay", "service"])
def test_who_asks_and_says_no_more_gets_the_answer(server, relay, way):
    """As programs do that close their side after a request, some netcats and shell scripts among them."""
    url, source = (relay.url, CONTAINER) if way == "relay" else (server.url, "127.0.0.1")
    text = request(token_of(server.home, "mine")).replace(b"Connection: close\r\n", b"")
    text = text if way == "relay" else text.replace(b"172.18.0.1:4711", b"127.0.0.1")
    for _ in range(20):  # the end may come before the answer has begun, or after
        assert status(said(url, text, source, no_more=True)) == 200


@pytest.mark.parametrize("way", ["relay", "service"])
def test_who_says_no_more_within_a_request_is_not_waited_for(server, relay, way):
    url, source = (relay.url, CONTAINER) if way == "relay" else (server.url, "127.0.0.1")
    half = b"PUT /some/key HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf"
    answer = said(url, half, source, no_more=True)
    assert b"200 OK" not in answer


def test_without_a_relay_the_same_request_is_for_another_host_and_refused(server):
    answer = said(server.url, request(token_of(server.home, "mine")))
    assert status(answer) == 403
    assert "expected 127.0.0.1 or localhost" in answer.decode()


def test_the_preface_may_come_in_pieces_and_is_no_way_to_more(server):
    port = int(server.url.rsplit(":", 1)[1])
    token = token_of(server.home, "mine")
    for job, code in ((b"mine", 200), (b"another", 403)):
        whole = PREFACE + job + b"\r\n" + request(token)
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(whole), 5):
                connection.sendall(whole[at : at + 5])
            assert status(connection.recv(1 << 16)) == code


def test_a_preface_without_an_end_is_no_request(server):
    assert said(server.url, PREFACE + b"x" * 1000, source="127.0.0.1") == b""


def test_a_relay_outlives_its_service_and_finds_the_next_one(place):
    home = place / "home-relay"
    with socket.socket() as kept:  # bound, not listening: the service may have the port, and nobody else
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        port = ("--port", str(kept.getsockname()[1]))
        first = Server(home, *port, cwd=place)
        relay = Relay(PLACE, first.url, "mine")
        try:
            token = token_of(home, "mine")
            assert status(said(relay.url, request(token))) == 200
            first.end()
            assert said(relay.url, request(token)) == b""
            second = Server(home, *port, cwd=place)
            assert status(said(relay.url, request(token))) == 200
            second.end()
        finally:
            relay.close()


def test_a_relay_that_is_let_go_is_gone_and_so_is_its_port(server):
    relay = Relay(PLACE, server.url, "mine")
    host, port = relay.url.removeprefix("http://").split(":")
    relay.close()

    def refused() -> bool:
        with socket.socket() as connection:
            return connection.connect_ex((host, int(port))) != 0

    until(refused, "the end of the relay")


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ([{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}], ("172.18.0.1", "172.18.0.0/16")),
        (
            [
                {"Subnet": "fd00::/64", "Gateway": "fd00::1"},
                {"Subnet": "10.1.0.0/24", "Gateway": "10.1.0.1/24"},
            ],
            ("10.1.0.1", "10.1.0.0/24"),
        ),
    ],
)
def test_the_network_is_read_as_engines_tell_it(config, found):
    place = Neighbourhood.of({"IPAM": {"Config": config}})
    assert (place.gateway, str(place.subnet)) == found
    assert not place.holds(place.gateway)


@pytest.mark.parametrize(
    "network", [{}, {"IPAM": {"Config": None}}, {"IPAM": {"Config": [{"Subnet": "10.0.0.0/8"}]}}]
)
def test_a_network_without_a_gateway_gives_no_way(network):
    with pytest.raises(OSError, match="no gateway"):
        Neighbourhood.of(network)
