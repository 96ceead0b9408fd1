"""Ranks whose framework's own collective has failed hear who is to blame."""

from __future__ import annotations

from bandstand.training.meet.bereft import WAIT
from bandstand.training.meet.meeting import SETTLE, Meeting

HOSTS = ("algo-1", "algo-2")


def begun() -> Meeting:
    meeting = Meeting(HOSTS, 2, 600.0, 0.0, lambda text: None)
    for host in HOSTS:
        meeting.join({"kind": "join", "host": host, "hosts": list(HOSTS), "ranks_per_host": 2}, 0.0)
    for rank in range(4):
        meeting.join({"rank": rank}, 0.0)
    return meeting


def lose(meeting: Meeting, rank: int, now: float):
    message = {"kind": "call", "operation": "reason", "root": None, "step": (1, 7), "value": "it broke"}
    return meeting.receive(rank, message, now)


def test_ranks_that_did_not_come_are_named_after_a_while():
    meeting = begun()
    for at, rank in enumerate((3, 0, 2)):
        assert lose(meeting, rank, float(at)) == []
    assert meeting.wake_at() == WAIT
    assert meeting.tick(WAIT - 0.1) == []
    meeting.tick(WAIT)
    told = dict(meeting.tick(WAIT + SETTLE))
    reason = told["algo-2"]["reason"]
    assert reason.startswith(
        "rank 0 on algo-1, rank 2 on algo-2, rank 3 on algo-2 waited in a collective in iteration 7 for "
        "rank 1 on algo-1, which did not come (it broke)."
    )
    assert {rank: told[rank]["value"] for rank in (0, 2, 3)} == dict.fromkeys((0, 2, 3), reason)


def test_the_reason_of_a_rank_that_has_died_comes_before_any_guess():
    meeting = begun()
    lose(meeting, 0, 1.0)
    death = {"kind": "failed", "reason": "killed", "age": 0.0, "secondary": False, "ranks": [2]}
    meeting.receive("algo-2", death, 1.1)
    told = dict(meeting.tick(1.1 + SETTLE))
    assert told[0] == {"kind": "failed", "value": "killed"}


def test_if_all_ranks_have_met_with_it_each_goes_on_with_its_own_error():
    meeting = begun()
    assert [lose(meeting, rank, 1.0) for rank in range(3)] == [[], [], []]
    assert dict(lose(meeting, 3, 2.0)) == {rank: {"kind": "result", "value": None} for rank in range(4)}
    assert meeting.tick(2.0 + WAIT) == []
