"""The leader's decisions, with an injected clock and no sockets."""

from __future__ import annotations

import pytest

from bandstand.training.meet.meeting import LINGER, REMIND, SETTLE, STOP_LINGER, Meeting, RefusedError

HOSTS = ("algo-1", "algo-2", "algo-3")


class Scene:
    def __init__(self, ranks_per_host: int = 1, joined: int = 3) -> None:
        self.said: list[str] = []
        self.meeting = Meeting(HOSTS, ranks_per_host, 600.0, 0.0, self.said.append)
        self.sent: list[tuple[object, dict]] = []
        for host in HOSTS[:joined]:
            self.join(host)
        for rank in range(3 * ranks_per_host if joined == 3 else 0):
            self.meeting.join({"kind": "join", "rank": rank}, 0.0)

    def join(self, host: str, now: float = 0.0, ranks_per_host: int | None = None):
        message = {"kind": "join", "host": host, "hosts": list(HOSTS), "ranks_per_host": ranks_per_host or 1}
        _, sends = self.meeting.join(message, now)
        self.sent += sends
        return sends

    def tell(self, member, now: float = 1.0, **message):
        sends = self.meeting.receive(member, message, now)
        self.sent += sends
        return sends

    def kinds(self, sends) -> dict:
        return {member: message["kind"] for member, message in sends}


def failed(reason: str, *ranks: int, age: float = 0.0, secondary: bool = False) -> dict:
    return {"kind": "failed", "reason": reason, "age": age, "secondary": secondary, "ranks": list(ranks)}


def test_all_begin_when_the_last_host_has_joined():
    scene = Scene(joined=2)
    assert scene.sent == []
    assert scene.kinds(scene.join("algo-3")) == dict.fromkeys(HOSTS, "begin")
    assert scene.said == [
        "1 of 3 hosts joined; waiting for algo-2, algo-3.",
        "2 of 3 hosts joined; waiting for algo-3.",
        "3 of 3 hosts joined.",
    ]


def test_strangers_and_doubles_are_refused():
    scene = Scene(joined=1)
    with pytest.raises(RefusedError, match="none of the hosts"):
        scene.join("algo-9")
    with pytest.raises(RefusedError, match="has joined already"):
        scene.join("algo-1")
    with pytest.raises(RefusedError, match="no rank 3"):
        scene.meeting.join({"kind": "join", "rank": 3}, 0.0)


def test_the_missing_are_named_again_and_again_and_at_the_start_timeout():
    scene = Scene(joined=2)
    assert scene.meeting.wake_at() == REMIND
    assert scene.meeting.tick(REMIND) == []
    assert scene.said[-1] == "2 of 3 hosts joined; waiting for algo-3."
    assert scene.meeting.tick(599.9) == []
    sends = scene.meeting.tick(600.0)
    assert scene.kinds(sends) == {"algo-1": "failed", "algo-2": "failed"}
    assert sends[0][1]["reason"].startswith("algo-3 did not join within 600 s; algo-1, algo-2 did.")
    assert scene.meeting.is_over(600.0)


def test_a_host_that_comes_after_an_early_failure_hears_it():
    scene = Scene(joined=2)
    scene.tell("algo-2", 1.0, **failed("no program"))
    assert not scene.meeting.is_over(1.0)
    assert scene.join("algo-3", 2.0)[0][1]["reason"] == "no program"
    assert scene.meeting.is_over(2.0)


def test_nobody_waits_for_ever_for_a_host_that_is_late_for_a_failure():
    scene = Scene(joined=2)
    scene.tell("algo-2", 1.0, **failed("no program"))
    assert scene.meeting.wake_at() == 1.0 + LINGER
    assert scene.meeting.is_over(1.0 + LINGER)


def test_the_stop_comes_after_the_greatest_iteration_that_any_rank_was_let_into():
    scene = Scene()
    assert scene.tell(0, kind="enter", step=[1, 1], stop=False)[-1][1]["value"] is True
    assert scene.tell(0, kind="enter", step=[1, 2], stop=False)[-1][1]["granted"] == (1, 2)
    assert scene.kinds(scene.tell("algo-3", kind="stop")) == dict.fromkeys(HOSTS, "stop")
    assert scene.tell(0, kind="enter", step=[1, 3], stop=False)[-1][1]["value"] is False
    assert scene.tell(1, kind="enter", step=[1, 2], stop=False)[-1][1]["value"] is True
    assert scene.tell(2, kind="enter", step=[2, 1], stop=False)[-1][1]["value"] is False


def test_a_rank_that_hears_the_stop_itself_stops_all():
    scene = Scene()
    sends = scene.tell(1, kind="enter", step=[1, 1], stop=True)
    assert scene.kinds(sends[:-1]) == dict.fromkeys(HOSTS, "stop")
    assert sends[-1] == (1, {"kind": "entered", "value": False, "granted": (0, 0)})


def test_the_first_failure_counts_and_is_told_to_everybody_who_waits():
    scene = Scene()
    scene.tell(0, kind="call", operation="mean", root=None, step=[1, 1], value=[1, 1])
    assert scene.tell("algo-2", 1.0, **failed("the cause", 1)) == []
    assert scene.meeting.wake_at() == 1.0 + SETTLE
    scene.tell("algo-3", 1.1, **failed("a later one", 2))
    sends = scene.meeting.tick(1.0 + SETTLE)
    assert scene.kinds(sends) == {0: "failed", **dict.fromkeys(HOSTS, "failed")}
    assert sends[-1][1]["reason"] == "the cause"


def test_a_failure_that_began_earlier_but_was_told_later_counts():
    scene = Scene()
    scene.tell("algo-2", 1.0, **failed("a consequence", 1))
    scene.tell("algo-3", 1.3, **failed("the cause", 2, age=0.9))
    assert scene.meeting.tick(1.0 + SETTLE)[-1][1]["reason"] == "the cause"


def test_a_broken_connection_counts_only_if_there_is_no_other_reason():
    scene = Scene()
    scene.tell("algo-2", 1.0, **failed("ConnectionResetError", 1, secondary=True))
    scene.meeting.lose("algo-3", 1.2)
    assert "algo-3 was lost" in scene.meeting.tick(1.0 + SETTLE)[-1][1]["reason"]


def test_nobody_waits_for_more_reasons_when_all_ranks_have_ended():
    scene = Scene()
    scene.tell("algo-1", 1.0, kind="left", rank=0)
    scene.tell("algo-2", 1.0, kind="left", rank=1)
    assert scene.kinds(scene.tell("algo-3", 1.0, **failed("late", 2))) == dict.fromkeys(HOSTS, "failed")


def test_a_rank_that_asks_after_the_verdict_hears_it():
    scene = Scene()
    scene.tell("algo-2", 1.0, **failed("the cause", 0, 1, 2))
    assert scene.tell(0, kind="enter", step=[1, 1], stop=False) == [
        (0, {"kind": "failed", "value": "the cause"})
    ]


def test_all_leave_together():
    scene = Scene()
    for host in HOSTS[:2]:
        assert scene.tell(host, kind="ended") == []
        assert not scene.meeting.is_over(1.0)
    assert scene.kinds(scene.tell("algo-3", kind="ended")) == dict.fromkeys(HOSTS, "end")
    assert scene.meeting.is_over(1.0)


def test_a_host_that_goes_after_its_end_is_no_failure():
    scene = Scene()
    scene.tell("algo-2", kind="ended")
    assert scene.meeting.lose("algo-2", 2.0) == []


def test_a_stop_before_all_have_joined_ends_those_that_are_here_and_those_that_come():
    scene = Scene(joined=2)
    assert scene.kinds(scene.tell("algo-2", kind="stop")) == {"algo-1": "stop", "algo-2": "stop"}
    assert scene.kinds(scene.join("algo-3")) == {"algo-3": "stop"}
    for host in HOSTS:
        scene.tell(host, kind="ended")
    assert scene.meeting.is_over(1.0)


def test_a_stop_before_all_have_joined_gives_the_late_a_moment_to_come_and_hear_it():
    scene = Scene(joined=1)
    scene.tell("algo-1", 1.0, kind="stop")
    assert scene.tell("algo-1", 1.1, kind="ended") == []
    assert not scene.meeting.is_over(1.1)
    assert scene.kinds(scene.join("algo-2", 1.2)) == {"algo-2": "stop"}
    assert scene.tell("algo-2", 1.3, kind="ended") == []
    assert scene.meeting.wake_at() == 1.0 + STOP_LINGER
    assert scene.kinds(scene.meeting.tick(1.0 + STOP_LINGER)) == {"algo-1": "end", "algo-2": "end"}
    assert scene.meeting.is_over(1.0 + STOP_LINGER)


def test_a_host_that_tells_its_end_before_the_stop_that_caused_it_is_let_go():
    scene = Scene(joined=1)
    assert scene.tell("algo-1", kind="ended") == []
    assert scene.kinds(scene.tell("algo-1", kind="stop")) == {"algo-1": "stop"}
    for host in HOSTS[1:]:
        scene.join(host, 1.5)
        sends = scene.tell(host, 1.5, kind="ended")
    assert scene.kinds(sends) == dict.fromkeys(HOSTS, "end")


def test_nothing_is_due_for_the_start_timeout_once_the_job_shall_stop():
    scene = Scene(joined=2)
    scene.tell("algo-1", 599.0, kind="stop")
    assert scene.meeting.tick(601.0) == []
    assert scene.meeting.wake_at() > 601.0


def test_hosts_that_know_other_hosts_are_told_so():
    scene = Scene(joined=1)
    message = {"kind": "join", "host": "algo-2", "hosts": ["algo-1", "algo-2"], "ranks_per_host": 1}
    _, sends = scene.meeting.join(message, 0.0)
    assert "algo-2 knows the hosts ['algo-1', 'algo-2']" in sends[-1][1]["reason"]


def test_a_stall_is_said():
    scene = Scene()
    scene.tell(0, 5.0, kind="call", operation="barrier", root=None, step=[0, 0], value=None)
    assert scene.meeting.wake_at() == 5.0 + REMIND
    scene.meeting.tick(5.0 + REMIND)
    assert (
        scene.said[-1]
        == "rank 0 on algo-1 has waited 30 s in barrier() for rank 1 on algo-2, rank 2 on algo-3."
    )
