"""What errors of XGBoost say to a person, and which of them mean that another rank is gone."""

from __future__ import annotations

import pytest

from bandstand.training.ring import is_lost_peer, plain_message


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        (
            "value -1 for Parameter learning_rate should be greater equal to 0\nlearning_rate: Rate.",
            "value -1 for Parameter learning_rate should be greater equal to 0",
        ),
        (
            "[14:20:38] /src/metric/metric.cc:49: Unknown metric function foo\nStack trace:\n  x",
            "Unknown metric function foo",
        ),
        (
            "[14:20:38] /src/obj.cu:114: Check failed: is_valid: base_score must be in (0,1)\nStack trace:",
            "base_score must be in (0,1)",
        ),
        (
            "[14:20:38] /src/aft_obj.cu:71: Check failed: a.Size() == n (0 vs. 2) : \nStack trace:\n",
            "check failed: a.Size() == n (0 vs. 2)",
        ),
        (
            "Invalid Input: 'foo', valid values are: {'a', 'b'}",
            "Invalid Input: 'foo', valid values are: {'a', 'b'}",
        ),
        ("std::bad_alloc", "std::bad_alloc"),
    ],
)
def test_messages_lose_time_source_place_and_stack_trace(raw: str, plain: str) -> None:
    assert plain_message(ValueError(raw)) == plain


def test_a_broken_collective_means_that_another_rank_is_gone() -> None:
    lost = "[14:19:37] /src/collective/result.cc:83: [histogram.h:197]:\n- Ring Allreduce failed."
    assert is_lost_peer(ValueError(lost))
    assert not is_lost_peer(ValueError("[14:20:38] /src/metric/metric.cc:49: Unknown metric function"))
