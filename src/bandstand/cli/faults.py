"""Errors as people should see them: their mistake in its words, a fault of ours with its traceback kept."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from bandstand.cli.output import put_json, tell
from bandstand.cli.place import Place
from bandstand.errors import BandstandError, InputError, PlanError

FAILED = 1
WRONG = 2

_MACHINE = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EMFILE,
    errno.ENOMEM,
    errno.EIO,
}

_PATHS = {errno.ENAMETOOLONG, errno.ELOOP}
"""What no file system of this machine could have under the path that was given."""

_SHOWN = 60
"""Characters of such a path that are shown."""


def report_error(error: Exception, place: Place) -> int:
    """Tell a person what went wrong.

    Args:
        error: What ended the command.
        place: What was said about the call; decides where a traceback is kept, and whether problems are also
            printed as JSON.

    Returns:
        The exit code.
    """
    if isinstance(error, click.ClickException):
        if place.json:
            put_json({"problems": [_unnumbered(error.format_message())]})
        error.show()
        return WRONG
    if isinstance(error, OSError) and error.errno in _PATHS:
        path = str(error.filename)
        shown = path if len(path) <= _SHOWN else f"{path[:_SHOWN]}..."
        error = InputError(f"The path {shown} ({len(path)} characters): {error.strerror}. Name another path.")
    if isinstance(error, BandstandError):
        if place.json and isinstance(error, InputError):
            put_json({"problems": problems(error)})
        tell(str(error))
        return error.exit_code
    if isinstance(error, OSError) and error.errno in _MACHINE:
        subject = f": {error.filename}" if error.filename else ""
        tell(f"This machine refused: {error.strerror}{subject}.")
        return FAILED
    kept = _keep(error, place)
    summary = " ".join(f"{type(error).__name__}: {error}".split())
    tell(f"This is a fault of Bandstand, not of your request ({summary[:300]}). The traceback is in {kept}")
    return FAILED


def problems(error: InputError) -> list[dict[str, Any]]:
    """Give what is wrong with a request as JSON-ready data.

    Returns:
        One mapping per problem: `number` of the rule (None where no rule speaks of it), `where`, `found`,
        `allowed`, `fix`, and `message`, which says all of it.
    """
    if not isinstance(error, PlanError):
        return [_unnumbered(str(error))]
    return [
        {
            "number": problem.number,
            "where": problem.where,
            "found": problem.found,
            "allowed": problem.allowed,
            "fix": problem.fix,
            "message": str(problem),
        }
        for problem in error.problems
    ]


def _unnumbered(message: str) -> dict[str, Any]:
    """A problem that no rule speaks of."""
    return {**dict.fromkeys(("number", "where", "found", "allowed", "fix")), "message": message}


def _keep(error: Exception, place: Place) -> Path:
    """Save the traceback below the home, or among temporary files where that cannot be written.

    Only this user can read it, since it may show values of a request; and nothing that is there is written
    over or followed.
    """
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    folders = [Path(tempfile.gettempdir())]
    with suppress(InputError):  # a home whose path is no text
        folders.insert(0, place.folder / "errors")
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor, path = tempfile.mkstemp(
                prefix=f"bandstand-{datetime.now(UTC):%Y%m%dT%H%M%S}-", suffix=".txt", dir=folder
            )
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return Path(path)
    return Path("(nowhere: no folder can be written)")
