"""The `bandstand` command: finds the verb, runs it, and turns every way to end into an exit code."""

from __future__ import annotations

import os
import sys

import click

from bandstand.cli.faults import report_error
from bandstand.cli.place import Place
from bandstand.cli.verbs import bandstand

STOPPED = 3


def run(arguments: list[str]) -> int:
    """Run the command.

    Args:
        arguments: The words after `bandstand`.

    Returns:
        The exit code: 0 done, 1 the requested job failed, 2 the request is wrong, 3 stopped.
    """
    for stream in (sys.stdout, sys.stderr):
        # A job's words must never end the command because this terminal's encoding lacks a character.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    place = Place(json="--json" in arguments)  # until the words are understood, if they are
    code = 0
    try:
        code = _run(arguments, place)
        sys.stdout.flush()
    except BrokenPipeError:
        # `bandstand show JOB | head`: the reader had what it wanted.
        _drop_output()
    except OSError as error:
        code = code or report_error(error, place)
        _drop_output()
    return code


def _run(arguments: list[str], place: Place) -> int:
    # Not Group.main(): it answers a broken pipe with exit code 1, in which a script would see a failed job.
    try:
        with bandstand.make_context("bandstand", arguments, obj=place) as context:
            code = bandstand.invoke(context)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, EOFError, click.Abort):
        return STOPPED
    except Exception as error:  # noqa: BLE001 - no user sees a traceback; it is saved in a file
        return report_error(error, place)
    return code if isinstance(code, int) else 0


def _drop_output() -> None:
    """Send what is still unwritten nowhere, so that the interpreter does not complain of it while it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
