"""Frames: sealed, bounded, in order, whatever the chunks."""

from __future__ import annotations

import json
import os

import pytest

from bandstand.training.meet import wire
from bandstand.training.meet.wire import MAGIC, Session, WireError, check_greeting, greeting

KEY = b"a key"


def pair(leader_key: bytes = KEY, member_key: bytes = KEY) -> tuple[Session, Session]:
    leader, member = greeting(), greeting()
    return (
        Session(leader_key, leader, member, is_leader=True),
        Session(member_key, leader, member, is_leader=False),
    )


def test_messages_arrive_however_they_are_cut():
    leader, member = pair()
    messages = [
        {"kind": "a", "value": [1, 2.5, None, "ü"]},
        {"kind": "b"},
        {"kind": "c", "value": "x" * 5000},
    ]
    data = b"".join(member.pack(message) for message in messages)
    found = []
    for position in range(0, len(data), 7):
        found += leader.feed(data[position : position + 7])
    assert found == messages


def test_numbers_that_are_not_finite_survive():
    leader, member = pair()
    (found,) = leader.feed(member.pack({"kind": "a", "value": [float("inf"), float("nan")]}))
    assert found["value"][0] == float("inf")
    assert found["value"][1] != found["value"][1]


def test_another_key_is_noticed():
    leader, member = pair(member_key=b"another")
    with pytest.raises(WireError, match="does not have this job's key"):
        leader.feed(member.pack({"kind": "join"}))


def test_a_recorded_frame_fits_no_other_session_place_or_direction():
    leader, member = pair()
    frame = member.pack({"kind": "stop"})
    with pytest.raises(WireError):
        pair()[0].feed(frame)  # another session
    with pytest.raises(WireError):
        member.feed(frame)  # another direction
    leader.feed(frame)
    with pytest.raises(WireError):
        leader.feed(frame)  # a second time


def test_a_changed_byte_is_noticed():
    leader, member = pair()
    frame = bytearray(member.pack({"kind": "stop"}))
    frame[-2] ^= 1
    with pytest.raises(WireError):
        leader.feed(bytes(frame))


def test_a_stranger_cannot_announce_a_large_message():
    leader, _ = pair()
    with pytest.raises(WireError, match="larger than"):
        leader.feed((wire.MAX_FIRST_MESSAGE + 1).to_bytes(4, "big") + bytes(16))


def test_a_message_that_would_be_refused_is_not_sent():
    _, member = pair()
    with pytest.raises(WireError, match="larger than"):
        member.pack({"kind": "a", "value": "x" * (wire.MAX_MESSAGE + 1)})


@pytest.mark.parametrize("payload", [b"", b"{", b"[1]", b'{"kind": 3}', b"\xff", b"[" * 100_000], ids=repr)
def test_a_sealed_payload_that_is_no_message_is_refused(payload: bytes, monkeypatch: pytest.MonkeyPatch):
    leader, member = pair()
    leader.limit = wire.MAX_MESSAGE

    class Payload(str):
        def encode(self, *_: object) -> bytes:
            return payload

    monkeypatch.setattr(json, "dumps", lambda *_, **__: Payload())
    with pytest.raises(WireError):
        leader.feed(member.pack({"kind": "any"}))


@pytest.mark.parametrize("length", [1, 5, len(MAGIC), 44])
def test_the_beginning_of_a_greeting_is_accepted(length: int):
    check_greeting(greeting()[:length])


@pytest.mark.parametrize(
    "data", [b"G", b"bandstand/2\n", b"\0\0", os.urandom(64)], ids=["http", "version", "zero", "random"]
)
def test_other_programs_first_bytes_are_refused_at_once(data: bytes):
    with pytest.raises(WireError, match="no rendezvous"):
        check_greeting(data)
