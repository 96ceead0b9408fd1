"""Who forms the ring, and which rows move for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bandstand.training.ring_members import LineUp, Move, line_up

COUNTS = st.integers(1, 8).flatmap(
    lambda ranks: st.tuples(
        st.lists(st.integers(0, 3), min_size=ranks, max_size=ranks).filter(any),
        st.lists(st.integers(0, 3), min_size=ranks, max_size=ranks),
    )
)


def test_all_ranks_with_rows_to_train_on_take_part_and_nothing_moves() -> None:
    assert line_up({"train": [3, 4, 5], "validation": [1, 0, 0]}) == LineUp((0, 1, 2), ())


def test_a_leader_without_rows_gets_all_those_of_the_first_rank_that_has_some() -> None:
    plan = line_up({"train": [0, 0, 4, 5], "validation": [0, 2, 3, 4]})
    assert plan.members == (0, 3)
    assert plan.moves == (Move("train", 2, 0), Move("validation", 1, 0), Move("validation", 2, 0))


@given(COUNTS)
def test_in_the_end_all_rows_are_in_the_ring_in_the_same_order_and_all_members_have_some(
    counts: tuple[list[int], list[int]],
) -> None:
    train, validation = counts
    plan = line_up({"train": train, "validation": validation})
    held = {"train": list(train), "validation": list(validation)}
    for move in plan.moves:
        held[move.channel][move.target] += held[move.channel][move.source]
        held[move.channel][move.source] = 0
    assert plan.members[0] == 0
    assert [held["train"][rank] for rank in plan.members] == [count for count in train if count]
    assert sum(held["validation"][rank] for rank in plan.members) == sum(validation)
