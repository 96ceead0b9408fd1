from __future__ import annotations

from typing import Any

from bandstand.report import Page, what_if_text


def side(**members: Any) -> dict[str, Any]:
    standard = {
        "iterations": 310,
        "seconds": 75.2,
        "best": {"number": 12, "name": "digits-012-0a1b2c3d", "value": 0.7757},
        "stops": {"rung": 24, "max_resource": 6},
        "stopped_at": {"1": 15, "3": 9},
        "unknown": [],
        "ended_because": "All 30 training jobs have ended: 30 stopped.",
    }
    return standard | members


def told(what_if: dict[str, Any], **changes: Any) -> list[str]:
    document = {
        "name": "digits",
        "kind": "what-if",
        "objective": {"name": "validation:auc", "goal": "maximize"},
        "changes": {term: {"was": None, "is": value} for term, value in changes.items()},
        "recorded": side(),
        "what_if": what_if,
        "notes": ["Both sides are simulated."],
    }
    return what_if_text(Page(), document)


def test_both_sides_stand_next_to_each_other() -> None:
    lines = told(side(iterations=1402, best=None), max_resource=20, early_stopping=False)
    assert lines[0] == "digits  if it had max_resource 20, early_stopping off"
    cells = [line.split() for line in lines]
    assert ["iterations", "310", "1,402"] in cells
    assert ["best", "validation:auc", "0.7757", "none"] in cells
    assert lines[-1].strip() == "Both sides are simulated."


def test_jobs_whose_end_nobody_knows_make_lower_bounds() -> None:
    unknown = [{"number": number, "name": None, "reports": 30} for number in range(1, 11)]
    text = "\n".join(told(side(unknown=unknown), max_resource=60))
    assert "at least 310" in text
    assert "10 jobs would have gone on beyond what was recorded: 1 (after 30), 2 (after 30)" in text
    assert "8 (after 30) and 2 more." in text
    assert "lower bounds" in text


def test_terms_that_change_nothing_are_told_as_that() -> None:
    assert told(side())[0] == "digits  unchanged"
    assert "median" not in "\n".join(told(side()))
    assert "stopped by the median rule" in "\n".join(told(side(stops={"median": 3}), max_resource=None))
