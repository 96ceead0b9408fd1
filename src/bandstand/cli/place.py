"""Options that every verb shares: where the state is kept, and whether facts are printed as JSON."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from bandstand.errors import InputError

Function = TypeVar("Function", bound=Callable[..., Any])


class Folder(click.Path):
    """A folder that an option names; the empty text, as of an unset variable, is none."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the folder's path; the empty text would else stand for the working folder."""
        if value == "":
            self.fail("it is empty. Name a folder, or leave the option out.", param, ctx)
        return super().convert(value, param, ctx)


@dataclass
class Place:
    """What was said about one call of the command, wherever on the line it was said.

    Args:
        home: The folder that holds all state, or None for the default.
        json: Whether facts are printed as JSON.
        said: Whether the home stood on the command line, so that the next command has to say it again.
    """

    home: Path | None = None
    json: bool = False
    said: bool = False

    @property
    def folder(self) -> Path:
        """The folder that holds all state, as an absolute path.

        Raises:
            InputError: Its path is no text.
        """
        folder = Path("~/.bandstand" if self.home is None else self.home).expanduser().absolute()
        if not is_unicode(str(folder)):
            raise InputError(
                f"The home {str(folder)!a} holds a byte that is no UTF-8 in its path, which no record can"
                " name. Name another folder with --home or BANDSTAND_HOME."
            )
        return folder

    def advice(self, words: str) -> str:
        """Give a command to try next, which finds the same home.

        Args:
            words: The command without `bandstand`, such as `show digits`.
        """
        home = f" --home {shlex.quote(str(self.home))}" if self.said else ""
        return f"{_program()} {words}{home}"


def is_unicode(text: str) -> bool:
    """Tell whether a path or word is text: Python has half a character for each byte that is no UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _program() -> str:
    """The command's name, or its path where a shell finds no command of this name, or another one."""
    own = Path(sys.argv[0])
    if own.name != "bandstand" or not own.is_file():
        return "bandstand"
    found = shutil.which("bandstand")
    if found is not None and Path(found).samefile(own):
        return "bandstand"
    path = own.absolute()
    return shlex.quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def place() -> Place:
    """Give the place of the call that is running."""
    found = click.get_current_context().find_object(Place)
    if found is None:
        raise RuntimeError("no Place was given to the command")
    return found


def home_option(function: Function) -> Function:
    """Add `--home` to a verb."""

    def keep(_context: click.Context, _option: click.Parameter, value: Path | None) -> None:
        if value is not None:
            place().home = value
            place().said = True

    return click.option(
        "--home",
        type=Folder(),
        metavar="DIR",
        expose_value=False,
        callback=keep,
        help="Folder that holds all state; also before the verb, or BANDSTAND_HOME.  [default: ~/.bandstand]",
    )(function)


def json_option(function: Function) -> Function:
    """Add `--json` to a verb; it comes as the argument `as_json`."""

    def keep(_context: click.Context, _option: click.Parameter, value: bool) -> bool:
        place().json = value
        return value

    return click.option(
        "--json",
        "as_json",
        is_flag=True,
        callback=keep,
        # Known before the other words are read, so that mistakes in them are told the right way too.
        is_eager=True,
        help="Print the facts as JSON on standard output, and nothing else there.",
    )(function)
