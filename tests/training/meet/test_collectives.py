"""Collective calls: complete, mismatched, missing, stalled."""

from __future__ import annotations

from bandstand.training.meet.collectives import Call, Collectives


def name(rank: int) -> str:
    return f"rank {rank}"


def call(value: object, operation: str = "gather", root: int | None = None, step=(1, 1), since=0.0) -> Call:
    return Call(operation, root, step, value, since)


def test_every_rank_gets_all_values_in_rank_order():
    ranks = Collectives(3, name)
    assert ranks.call(2, call("c")) == []
    assert ranks.call(0, call("a")) == []
    replies = dict(ranks.call(1, call("b")))
    assert replies == {rank: {"kind": "result", "value": ["a", "b", "c"]} for rank in range(3)}
    assert ranks.waiting == ()


def test_a_broadcast_gives_the_roots_value_only():
    ranks = Collectives(2, name)
    ranks.call(0, call("mine", "broadcast", root=1))
    replies = dict(ranks.call(1, call("yours", "broadcast", root=1)))
    assert replies[0]["value"] == replies[1]["value"] == "yours"


def test_different_calls_fail_for_all_who_made_them():
    ranks = Collectives(2, name)
    ranks.call(0, call(1, "mean", step=(1, 3)))
    replies = dict(ranks.call(1, call(None, "barrier", step=(1, 4))))
    assert {reply["kind"] for reply in replies.values()} == {"error"}
    assert "rank 0 calls mean() in iteration 3, rank 1 calls barrier() in iteration 4" in replies[0]["value"]


def test_the_same_call_in_different_iterations_is_a_mismatch():
    ranks = Collectives(2, name)
    ranks.call(0, call(1, "mean", step=(1, 3)))
    assert dict(ranks.call(1, call(1, "mean", step=(1, 4))))[0]["kind"] == "error"


def test_a_rank_outside_the_loop_may_take_part():
    ranks = Collectives(2, name)
    ranks.call(0, call(1, step=(1, 3)))
    assert dict(ranks.call(1, call(2, step=(0, 0))))[0]["value"] == [1, 2]


def test_a_rank_that_has_left_fails_those_that_wait_and_those_that_come():
    ranks = Collectives(3, name)
    ranks.call(0, call(1))
    assert dict(ranks.leave(1, stopped=False))[0]["kind"] == "error"
    replies = dict(ranks.call(2, call(1)))
    assert "waits for rank 1, which has ended" in replies[2]["value"]


def test_a_rank_that_left_for_the_stop_takes_the_others_along():
    ranks = Collectives(2, name)
    ranks.call(0, call(1))
    assert dict(ranks.leave(1, stopped=True))[0]["kind"] == "stopped"


def test_a_stall_names_who_is_missing():
    ranks = Collectives(3, name)
    assert ranks.stalled(100.0, 30.0) is None
    ranks.call(0, call(1, "mean", step=(1, 7), since=10.0))
    ranks.call(2, call(1, "mean", step=(1, 7), since=20.0))
    assert ranks.stalled(39.0, 30.0) is None
    assert ranks.stalled(70.0, 30.0) == "rank 0 has waited 60 s in mean() in iteration 7 for rank 1."
