"""The hub and its links over real sockets."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from bandstand.errors import PlatformError
from bandstand.training.meet import hub as hub_module
from bandstand.training.meet.hub import Hub
from bandstand.training.meet.link import Link, LinkLostError, connect
from bandstand.training.meet.meeting import Meeting
from bandstand.training.meet.sockets import adopt, listen
from bandstand.training.meet.wire import MAGIC, NONCE_BYTES, Session, greeting

KEY = b"key"


class Place:
    def __init__(self, hosts: tuple[str, ...], ranks_per_host: int = 1) -> None:
        self.hosts = hosts
        self.said: list[str] = []
        self.changed = threading.Condition()
        listener = listen("127.0.0.1", 0)
        self.address = listener.getsockname()
        self.hub = Hub(listener, KEY, lambda now: Meeting(hosts, ranks_per_host, 30, now, self.say), self.say)
        self.links: list[Link] = []
        self.joined: list[str] = []
        self.hub.start()

    def say(self, text: str) -> None:
        with self.changed:
            self.said.append(text)
            self.changed.notify_all()

    def wait_for(self, text: str) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: any(text in line for line in self.said), 20), self.said

    def join(self, **who) -> Link:
        if "host" in who:
            self.joined.append(who["host"])
            who |= {"hosts": list(self.hosts), "ranks_per_host": 1}
        link = connect(*self.address, KEY, who, within=20, say=self.say)
        self.links.append(link)
        return link

    def close(self) -> None:
        for host in self.hosts if self.hub.is_alive() else ():
            if host not in self.joined:
                self.join(host=host)
        for link in self.links:
            link.close()
        self.hub.join(20)


@pytest.fixture
def place():
    made = []

    def make(*hosts: str) -> Place:
        made.append(Place(hosts))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_hosts_meet_and_leave_together(place):
    here = place("algo-1", "algo-2")
    one, two = here.join(host="algo-1"), here.join(host="algo-2")
    assert one.receive() == two.receive() == {"kind": "begin", "ports": []}
    one.send({"kind": "ended"})
    two.send({"kind": "ended"})
    assert one.receive() == two.receive() == {"kind": "end"}
    one.close()
    two.close()
    here.hub.join(20)
    assert not here.hub.is_alive()


def test_a_link_whose_hub_is_gone_says_so(place):
    here = place("algo-1")
    link = here.join(host="algo-1")
    link.receive()
    link.send({"kind": "ended"})
    link.receive()
    with pytest.raises(LinkLostError):
        link.receive()


def test_more_strangers_than_there_is_room_for_do_not_keep_a_host_out(place):
    here = place("algo-1", "algo-2")
    strangers = [socket.create_connection(here.address) for _ in range(hub_module.MAX_STRANGERS * 2)]
    one = here.join(host="algo-1")
    two = here.join(host="algo-2")
    assert one.receive() == two.receive() == {"kind": "begin", "ports": []}
    for stranger in strangers:
        stranger.close()


def test_a_slow_stranger_is_closed_after_a_while(place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_module, "GREET_WITHIN", 0.05)
    here = place("algo-1", "algo-2")
    with socket.create_connection(here.address) as stranger:
        stranger.sendall(MAGIC[:3])
        here.wait_for("did not prove within")
        stranger.settimeout(20)
        while stranger.recv(100):
            pass


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00",
        MAGIC + os.urandom(NONCE_BYTES + 500),
        MAGIC + bytes(NONCE_BYTES) + b"\xff" * 40,
    ],
    ids=["tls", "random frames", "a huge frame"],
)
def test_garbage_is_closed_at_once(place, data: bytes):
    here = place("algo-1", "algo-2")
    with socket.create_connection(here.address) as stranger:
        stranger.sendall(data)
        here.wait_for("was closed")
    assert here.join(host="algo-1") is not None


def test_a_member_that_sends_garbage_later_is_lost(place):
    here = place("algo-1", "algo-2")
    one, two = here.join(host="algo-1"), here.join(host="algo-2")
    assert one.receive() == {"kind": "begin", "ports": []}
    two._sock.sendall(b"\xff" * 100)
    assert "algo-2 was lost" in one.receive()["reason"]


def test_something_else_at_the_leaders_port_is_told(place):
    def answer(listener: socket.socket) -> None:
        with listener.accept()[0] as sock:
            sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(100))

    listener = listen("127.0.0.1", 0)
    threading.Thread(target=answer, args=(listener,), daemon=True).start()
    with pytest.raises(LinkLostError, match=r"no rendezvous: it begins with b'HTTP"):
        connect(*listener.getsockname(), KEY, {"host": "algo-2"}, within=0.0, say=print)
    listener.close()


def test_connecting_keeps_trying_quietly_and_says_so_once():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = unused.getsockname()
    now = [0.0]
    said: list[str] = []

    def pause(seconds: float) -> None:
        now[0] += seconds

    with pytest.raises(LinkLostError, match=r"within 60 s: .*refused"):
        connect(*address, KEY, {}, within=60, say=said.append, clock=lambda: now[0], pause=pause)
    assert now[0] == pytest.approx(60)
    assert len(said) == 1


def test_a_large_value_reaches_all_ranks(place):
    here = place("algo-1")
    host, rank = here.join(host="algo-1"), here.join(rank=0)
    host.receive()
    value = "x" * (4 << 20)
    rank.send({"kind": "call", "operation": "gather", "root": None, "step": [0, 0], "value": value})
    assert rank.receive() == {"kind": "result", "value": [value]}


def test_values_that_are_too_large_together_are_an_error_for_the_ranks(
    place, monkeypatch: pytest.MonkeyPatch
):
    here = place("algo-1", "algo-2")
    hosts = [here.join(host="algo-1"), here.join(host="algo-2")]
    ranks = [here.join(rank=0), here.join(rank=1)]
    monkeypatch.setattr("bandstand.training.meet.wire.MAX_MESSAGE", 400)
    for rank in ranks:
        rank.send({"kind": "call", "operation": "gather", "root": None, "step": [0, 0], "value": "x" * 200})
    for rank in ranks:
        reply = rank.receive()
        assert reply["kind"] == "error"
        assert "The values of all ranks together" in reply["value"]
    assert len(hosts) == 2


def test_a_member_that_does_not_read_does_not_hold_the_others(place):
    here = place("algo-1", "algo-2")
    one, two = here.join(host="algo-1"), here.join(host="algo-2")
    zero, first = here.join(rank=0), here.join(rank=1)
    call = {"kind": "call", "operation": "gather", "root": None, "step": [0, 0], "value": "x" * (4 << 20)}
    first.send(call)
    zero.send(call)
    assert len(zero.receive()["value"]) == 2  # rank 1 has not read its 8 MiB
    one.send({"kind": "stop"})
    one.receive()
    assert one.receive() == {"kind": "stop"}
    two.receive()
    assert two.receive() == {"kind": "stop"}


@pytest.mark.parametrize("what", ["file", "closed", "not listening"])
def test_an_inherited_descriptor_that_is_no_listening_socket_is_a_clear_message(tmp_path, what: str):
    sock = socket.socket()
    descriptor = {
        "file": lambda: os.open(tmp_path / "f", os.O_CREAT | os.O_RDWR),
        "closed": lambda: 1_000_000,
        "not listening": sock.fileno,
    }[what]()
    with pytest.raises(PlatformError, match=r"BANDSTAND_LISTEN_FD is .* no listening socket"):
        adopt(descriptor)
    sock.close()
    if what == "file":
        os.close(descriptor)


def test_an_inherited_socket_is_not_passed_on(place):
    listener = socket.create_server(("127.0.0.1", 0))
    descriptor = listener.detach()
    os.set_inheritable(descriptor, True)
    with adopt(descriptor) as sock:
        assert not os.get_inheritable(sock.fileno())


def test_a_session_needs_both_nonces():
    ours, theirs = greeting(), greeting()
    frame = Session(KEY, ours, theirs, is_leader=False).pack({"kind": "join"})
    assert Session(KEY, ours, theirs, is_leader=True).feed(frame) == [{"kind": "join"}]
