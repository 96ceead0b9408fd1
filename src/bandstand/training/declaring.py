"""What declared hyperparameters do when a program starts: answer questions, check values."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from bandstand import hyperparameter_file, hyperparameter_help
from bandstand.errors import InputError
from bandstand.host_variables import RANK
from bandstand.hyperparameter_declaration import Hyperparameter
from bandstand.hyperparameter_schema import Schema
from bandstand.hyperparameters import Hyperparameters
from bandstand.training.output import note
from bandstand.training.refusals import plain_refusals
from bandstand.training.surroundings import Surroundings, look_around

EXPORT = "--export-hyperparameters"


def answer(schema: Schema, module: str | None = None, file: Path | None = None) -> None:
    """End the program if its command line asks for help, or for the file of its hyperparameters.

    Nothing is asked of a rank, whose command line holds hyperparameters.

    Args:
        schema: The declarations.
        module: The program as `python -m` starts it, which takes no hyperparameters from the command line;
            None for a script.
        file: Where its file is written; None for beside the script.
    """
    words = sys.argv[1:]
    if RANK.name in os.environ or _is_interactive():
        return
    if {"-h", "--help"} & set(words):
        sys.stdout.write(_help(schema, module))
        raise SystemExit(0)
    asked = next((word for word in words if word.partition("=")[0] == EXPORT), None)
    if asked is not None:
        words.remove(asked)
        _export(schema, [*asked.split("=", 1)[1:], *words], file)


def look_around_declared(declared: Iterable[Hyperparameter]) -> Surroundings:
    """A rank's surroundings with the values of its declared hyperparameters.

    Outside of a job they are read from the command line, `--name value`.

    Args:
        declared: The declarations.

    Raises:
        InputError: If two declarations have the same name, or a configuration file cannot be read.
        PlatformError: If the job has several ranks, but this process was not started as one of them.
        SystemExit: If the command line asks for help; or if a hyperparameter is wrong, with all that are in
            the job's failure file or on stderr.
    """
    schema = Schema(declared)
    answer(schema)
    at = look_around(os.environ)
    if at.inside:
        reading = schema.read(at.hyperparameters)
        if reading.problems:
            with plain_refusals():
                raise InputError("\n".join(reading.problems))
        if at.rank == 0:
            _note_stale(schema)
        return replace(at, settings=reading.settings)
    texts, problems = ({}, []) if _is_interactive() else arguments(schema, sys.argv[1:])
    reading = schema.read(texts)
    _refuse_by_hand([*problems, *reading.problems])
    return replace(at, hyperparameters=Hyperparameters(texts), settings=reading.settings)


def arguments(schema: Schema, words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Hyperparameters of a command line: `--name value`, `--name=value`, or `--name` for a truth value.

    Args:
        schema: The declarations.
        words: The command line after the program's name.

    Returns:
        Name to text, and what is wrong.
    """
    texts: dict[str, str] = {}
    problems = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, text = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            problems.append(f"The command line has {word!r}; expected --NAME VALUE.")
            continue
        if not equals:
            declared = schema.find(name)
            if rest and not rest[0].startswith("--"):
                text = rest.pop(0)
            elif declared is not None and declared.kind == "boolean":
                text = "true"
            else:
                problems.append(f"The command line has {word} without a value; expected {word} VALUE.")
                continue
        if name in texts:
            problems.append(f"The command line has --{name} twice. Keep one of them.")
        texts[name] = text
    return texts, problems


def _refuse_by_hand(problems: list[str]) -> None:
    if problems:
        told = "\n".join(f"  {problem}" for problem in problems)
        _end(f"{told}\nTry --help.")


def _end(text: str) -> NoReturn:
    sys.stderr.write(f"{Path(sys.argv[0]).name}:\n{text}\n")
    raise SystemExit(InputError.exit_code)


def _help(schema: Schema, module: str | None) -> str:
    program = f"python -m {module}" if module else f"python {sys.argv[0]}"
    usage = f"usage: {program} {EXPORT} [FILE]"
    source = "Values come from a job file's [hyperparameters], or a request's HyperParameters."
    if module is None:
        usage = f"usage: {program} [--NAME VALUE ...]\n       {program} {EXPORT} [FILE]"
        source = "In a job, values come from its job file; by hand, from the command line."
    told = "\n".join(hyperparameter_help.lines(schema, "" if module else "--"))
    return (
        f"{usage}\n\nHyperparameters:\n{told}\n\n{source}\n{EXPORT} writes them down for `bandstand plan`.\n"
    )


def _export(schema: Schema, words: list[str], file: Path | None) -> NoReturn:
    if len(words) > 1 or any(word.startswith("-") for word in words):
        _end(f"  found {EXPORT} together with {' '.join(words)}; expected {EXPORT} [FILE] and nothing else")
    program = _program()
    path = Path(words[0]) if words else file or (hyperparameter_file.file_of(program) if program else None)
    if path is None:
        _end(f"  expected {EXPORT} FILE")
    try:
        stamp = program if file is None else None
        text = hyperparameter_file.as_json(hyperparameter_file.to_document(schema, stamp))
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        _end(f"  {path}: {error.strerror}")
    sys.stdout.write(f"{path}\n")
    raise SystemExit(0)


def _note_stale(schema: Schema) -> None:
    """Tell if the file that `plan` has read is not what the program declares."""
    program = _program()
    if program is None:
        return
    path = hyperparameter_file.file_of(program)
    try:
        written = path.read_text("utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError):
        written = ""
    if not hyperparameter_file.is_current(written, schema):
        note(
            f"{path.name}, which plan has read, does not hold what {program.name} declares: run "
            f"python {program.name} {EXPORT}"
        )


def _program() -> Path | None:
    """The script that runs, or None: nothing else has a file that says what it declares."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(file) if file else None


def _is_interactive() -> bool:
    """Whether somebody sits before a prompt or a notebook, whose command line is not the script's."""
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules
