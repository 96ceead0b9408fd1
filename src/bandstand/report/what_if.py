"""What other terms would have cost and found, beside what the recorded ones did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandstand.report.page import Page
from bandstand.report.quantities import count, duration, metric
from bandstand.report.table import Column, table
from bandstand.report.training import paragraph

Document = Mapping[str, Any]

_KINDS = {
    "rung": "stopped at rungs",
    "max_resource": "stopped at MaxResource",
    "median": "stopped by the median rule",
}
_NAMED = 8


def what_if_text(page: Page, comparison: Document) -> list[str]:
    """Tell a tuning job under its own terms and under changed ones, side by side.

    Args:
        page: What the text is laid out on.
        comparison: What `bandstand.runs.what_if.what_if` gives.

    Returns:
        Lines of text.
    """
    changes = ", ".join(f"{term} {_word(values['is'])}" for term, values in comparison["changes"].items())
    title = f"{page.paint(comparison['name'], 'bold')}  {f'if it had {changes}' if changes else 'unchanged'}"
    columns = [Column(""), Column("as recorded", right=True), Column("what if", right=True)]
    sides = (comparison["recorded"], comparison["what_if"])
    lines = [title, "", *table(page, columns, _rows(comparison["objective"]["name"], sides))]
    unknown = comparison["what_if"]["unknown"]
    if unknown:
        lines += ["", *paragraph(page, _unknown(unknown))]
    for note in comparison["notes"]:
        lines += ["", *paragraph(page, note)]
    return lines


def _rows(objective: str, sides: tuple[Document, Document]) -> list[tuple[str, str, str]]:
    def row(title: str, cells: list[str]) -> tuple[str, str, str]:
        return (title, cells[0], cells[1])

    kinds = [kind for kind in _KINDS if any(side["stops"].get(kind) for side in sides)]
    return [
        row("iterations", [f"{_least(side)}{side['iterations']:,}" for side in sides]),
        row(
            f"best {objective}", [metric(side["best"]["value"]) if side["best"] else "none" for side in sides]
        ),
        row("best job", [str(side["best"]["number"]) if side["best"] else "" for side in sides]),
        *(row(_KINDS[kind], [str(side["stops"].get(kind, 0)) for side in sides]) for kind in kinds),
        row("jobs with an unknown end", [str(len(side["unknown"])) for side in sides]),
        row("time", [f"{_least(side)}{duration(round(side['seconds']))}" for side in sides]),
    ]


def _least(side: Document) -> str:
    return "at least " if side["unknown"] else ""


def _unknown(unknown: list[Document]) -> str:
    named = ", ".join(f"{each['number']} (after {each['reports']})" for each in unknown[:_NAMED])
    more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
    return (
        f"{count(len(unknown), 'job')} would have gone on beyond what was recorded: {named}{more}. What "
        "they would have found is not known: they are left out of the best, and iterations and time are "
        "lower bounds."
    )


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "auto" if value else "off"
    return "none" if value is None else str(value)
