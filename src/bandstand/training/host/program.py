"""Which program trains, and the command that starts it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bandstand.errors import InputError
from bandstand.hyperparameters import Hyperparameters, decode, nearest
from bandstand.sagemaker_files import Folders

BUILT_IN = {
    "xgboost": "bandstand_container.xgboost_rowsplit",
    "horovod": "bandstand_container.horovod_ring",
}
"""The hyperparameter `algorithm` to the module that trains it."""


@dataclass(frozen=True)
class Program:
    """The program of a training job.

    Args:
        name: For people and for SM_USER_ENTRY_POINT: `train.py`, or the algorithm's name.
        command: The words that start it, without the user's arguments; the first is an absolute path.
        folder: Its working folder; None to stay where process 1 is.
        takes_arguments: Whether hyperparameters are given as arguments as well.
    """

    name: str
    command: tuple[str, ...]
    folder: Path | None
    takes_arguments: bool

    @property
    def requirements(self) -> Path | None:
        """The packages it asks for in a requirements.txt beside it, if it does."""
        path = None if self.folder is None else self.folder / "requirements.txt"
        return path if path is not None and path.is_file() else None


def find_program(environ: Mapping[str, str], hyperparameters: Hyperparameters, folders: Folders) -> Program:
    """Find the program: SAGEMAKER_PROGRAM, then sagemaker_program, then the built-in named by `algorithm`.

    Raises:
        InputError: If there is none, or it cannot be started; says what was looked for and what to do.
    """
    reserved = hyperparameters.reserved
    name = environ.get("SAGEMAKER_PROGRAM") or _word(reserved.get("sagemaker_program"))
    submitted = _word(reserved.get("sagemaker_submit_directory")) or environ.get("SAGEMAKER_SUBMIT_DIRECTORY")
    if name:
        return _user_program(name, _code_folder(submitted, folders))
    algorithm = hyperparameters.text("algorithm", None)
    if algorithm:
        # A built-in may be given code as well, such as a metric of the user's own.
        return _built_in(algorithm, _code_folder(submitted, folders) if submitted else None)
    raise InputError(
        "There is nothing to train with: neither the environment variable SAGEMAKER_PROGRAM nor the "
        "hyperparameter sagemaker_program names a program, and the hyperparameter algorithm names no "
        f"built-in one ({', '.join(BUILT_IN)}). Set one of them."
    )


def _code_folder(submitted: str | None, folders: Folders) -> Path:
    from bandstand.training.host.source import code_folder

    return code_folder(submitted, folders.code).absolute()


def _word(text: str | None) -> str:
    found = decode(text) if text else ""
    return found if isinstance(found, str) else str(text)


def _built_in(algorithm: str, folder: Path | None) -> Program:
    if algorithm in BUILT_IN:
        command = (sys.executable, "-u", "-P", "-m", BUILT_IN[algorithm])
        return Program(algorithm, command, folder, takes_arguments=False)
    near = nearest(algorithm, BUILT_IN)
    hint = f" Did you mean {near!r}?" if near else ""
    raise InputError(
        f"The hyperparameter algorithm is {algorithm!r}; built in are: {', '.join(BUILT_IN)}.{hint}"
    )


def _user_program(name: str, folder: Path) -> Program:
    relative = Path(name)
    if relative.is_absolute() or ".." in relative.parts or not relative.name:
        raise InputError(f"The program is {name!r}; expected a path within the code folder {folder}.")
    path = folder / relative
    if not path.is_file():
        raise InputError(f"The program {name!r} is not in {folder}, which holds: {_listing(folder)}.")
    if not os.access(path, os.R_OK):
        raise InputError(
            f"The program {path} may not be read by this user (id {os.getuid()}): chmod a+r {name}."
        )
    return Program(name, _command(path, name), folder, takes_arguments=True)


def _command(path: Path, name: str) -> tuple[str, ...]:
    if path.suffix == ".py":
        return (sys.executable, "-u", str(path))
    with path.open("rb") as file:
        first = file.read(512)
    interpreter = _interpreter(first, name) if first.startswith(b"#!") else ()
    if path.suffix == ".sh":
        return (*(interpreter or ("/bin/sh",)), str(path))
    if not os.access(path, os.X_OK):
        raise InputError(f"The program {name!r} is not executable: chmod +x {name}, also in version control.")
    if not first:
        raise InputError(f"The program {name!r} is empty.")
    if (
        not interpreter
        and not first.startswith(b"\x7fELF")
        and b"\0" not in first
        and sys.platform == "linux"
    ):
        raise InputError(
            f"The program {name!r} is text without a first line that says what runs it; begin it with one "
            "such as #!/bin/sh, or name it *.py or *.sh."
        )
    return (str(path),)


def _interpreter(first: bytes, name: str) -> tuple[str, ...]:
    line, newline, _ = first.partition(b"\n")
    if newline and line.endswith(b"\r"):
        raise InputError(
            f"The program {name!r} has Windows line endings, so the system would look for an interpreter "
            f"{line[2:].decode(errors='replace')!r}. Save it with LF line endings (dos2unix {name})."
        )
    words = line[2:].strip().decode(errors="replace").split(maxsplit=1)
    if not words:
        raise InputError(f"The first line of {name!r} is '#!' and names no interpreter.")
    if shutil.which(words[0]) is None:
        raise InputError(f"The program {name!r} wants the interpreter {words[0]!r}, which is not here.")
    if Path(words[0]).name == "env" and len(words) == 2:
        wanted = next(
            (word for word in words[1].split() if not word.startswith("-") and "=" not in word), None
        )
        if wanted and shutil.which(wanted) is None:
            raise InputError(
                f"The program {name!r} wants the interpreter {wanted!r}, which is not on the PATH."
            )
    return tuple(words)


def _listing(folder: Path) -> str:
    if not folder.is_dir():
        return "nothing: there is no such folder"
    names = sorted(entry.name for entry in folder.iterdir())
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "") if names else "nothing"
