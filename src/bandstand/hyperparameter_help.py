"""Declared hyperparameters as people read them: on a terminal, and as a table of the docs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from bandstand.hyperparameter_declaration import Hyperparameter
from bandstand.hyperparameter_schema import Schema
from bandstand.hyperparameter_text import encode

_INDENT = 6


def lines(schema: Schema, dashes: str = "", width: int = 100) -> Iterator[str]:
    """Tell every hyperparameter: its names, what is allowed, its default, its default range, what it does.

    Args:
        schema: The declarations.
        dashes: What stands before a name; `--` on a command line.
        width: Characters in a line.
    """
    for it in schema.declared:
        names = ", ".join(f"{dashes}{name}" for name in it.names)
        yield f"  {names}"
        facts = "; ".join(_facts(it))
        for text in (facts, it.help):
            yield from textwrap.wrap(
                text,
                width,
                initial_indent=" " * _INDENT,
                subsequent_indent=" " * _INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            )


def table(schema: Schema) -> Iterator[str]:
    """Tell every hyperparameter in a table of Markdown."""
    yield "| name | allowed | if not given | default range | meaning |\n|---|---|---|---|---|"
    for it in schema.declared:
        names = ", ".join(f"`{name}`" for name in it.names)
        default = "needed" if it.required else "" if it.default is None else f"`{encode(it.default)}`"
        tuned = str(it.tune) if it.tune is not None else "" if it.tunable else "not tunable"
        cells = (names, it.allowed, default, tuned, it.help)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _facts(it: Hyperparameter) -> Iterator[str]:
    yield it.allowed
    if it.required:
        yield "needed"
    elif it.default is not None:
        yield f"default {encode(it.default)}"
    if it.tune is not None:
        yield f"default range {it.tune}"
    elif not it.tunable:
        yield "not tunable"
