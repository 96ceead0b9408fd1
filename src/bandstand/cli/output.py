"""Where words go: facts to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from bandstand.cli.patient import PatientStream
    from bandstand.report import Page


def page(stream: TextIO | PatientStream | None = None) -> Page:
    """Describe what a text for this stream may be made of.

    Args:
        stream: Where the text goes; by default standard output. Only on a terminal is text cut to the width
            and coloured; `NO_COLOR` (https://no-color.org) is heeded.
    """
    from bandstand.report import Page

    stream = sys.stdout if stream is None else stream
    terminal = stream.isatty()
    return Page(
        width=shutil.get_terminal_size().columns if terminal else None,
        unicode=has_unicode(stream),
        colour=terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
    )


def has_unicode(stream: TextIO | PatientStream) -> bool:
    """Tell whether this stream's encoding has more than ASCII."""
    try:
        "█…".encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def put_json(document: Any) -> None:
    """Print a document as JSON on standard output, in ASCII, so that every reader gets it whole."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def put_lines(lines: Iterable[str]) -> None:
    """Print lines of text on standard output."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def tell(text: str) -> None:
    """Print what is no fact (a note, a question, an error) on standard error."""
    click.echo(text, err=True, color=None)
