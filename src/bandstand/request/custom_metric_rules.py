"""Rules of a user's own metrics for the built-in XGBoost: file and function are there (422)."""

from __future__ import annotations

import ast
import tarfile
from collections.abc import Mapping
from pathlib import Path

from bandstand.errors import InputError
from bandstand.hyperparameters import Hyperparameters, nearest
from bandstand.request.documents import Definition
from bandstand.request.findings import Findings, Place, shown
from bandstand.request.plan import local_path

NAME = "custom_metric"
"""The hyperparameter; its value is like `profit.py:profit`, or several of these."""

_DEFINING = frozenset({"exec", "globals", "setattr", "vars"})
"""Functions by which a module can define what its text does not tell."""


def custom_metrics(static: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return file and function of each metric of the user's own.

    Args:
        static: Hyperparameters by name, as text.
    """
    try:
        words = Hyperparameters(dict(static)).words(NAME, [])
    except InputError:
        return []  # what the built-in says of such a value is clearer than what can be said here
    return [(file, function) for file, _, function in (word.partition(":") for word in words)]


def check_custom_metrics(folder: str | None, definition: Definition, findings: Findings) -> None:
    """Check what can be seen from here: nothing is run, and an archive or an image is not opened.

    Args:
        folder: Where the code is, a URI or a path; None if nothing was said.
        definition: A definition whose program is the built-in XGBoost.
        findings: Takes the problems.
    """
    place = (*definition.static_place, NAME)
    for file, function in custom_metrics(definition.static):
        found = shown(f"{file}:{function}" if function else file)
        if not (file.endswith(".py") and function.isidentifier()):
            fix = "Name the file and the function in it, as in profit.py:profit."
            findings.problem(422, place, found, "FILE.py:FUNCTION", fix)
        elif folder is None:
            fix = "Add code, the folder with the file."
            if findings.exact:
                fix = f"Add sagemaker_submit_directory to {findings.words(definition.static_place)}."
            findings.problem(422, place, f"{found}, and no folder with code", "a folder with the file", fix)
        elif folder.startswith("file:///"):
            _check_file(local_path(folder), file, function, place, findings)


def _check_file(source: Path, file: str, function: str, place: Place, findings: Findings) -> None:
    path = source / file
    try:
        if not source.is_dir():
            if not (source.is_file() and tarfile.is_tarfile(source)):
                found = f"{source}, which is no folder or archive"
                findings.problem(422, place, found, "a folder with the file", "Mend the path of the code.")
            return
        if not path.resolve().is_relative_to(source.resolve()):
            fix = "Put it into the folder with the code."
            findings.problem(422, place, f"{file}, outside {source}", "a file below it", fix)
            return
        if not path.is_file():
            here = sorted(other.relative_to(source).as_posix() for other in source.rglob("*.py"))
            close = nearest(file, here)
            fix = f"Did you mean {close}?" if close else "Put it there, or mend the name."
            findings.problem(422, place, f"no {file} in {source}", "a file with the metric", fix)
            return
        names = _names(ast.parse(path.read_bytes(), str(path)))
    except SyntaxError as error:
        line = "" if error.lineno is None else f", line {error.lineno}"
        found = f"{path}{line}: {error.msg}"
        findings.problem(422, place, found, "a file that Python can read", "Mend the file.")
        return
    except (RecursionError, MemoryError):
        found = f"{path}, which is nested too deeply"
        findings.problem(422, place, found, "a file that Python can read", "Mend the file.")
        return
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        findings.problem(422, place, f"{path}: {error}", "a file that can be read", f"Mend {file}.")
        return
    if names is not None and function not in names:
        close = nearest(function, names)
        fix = f"Did you mean {close}?" if close else "Define it there, or mend the name."
        findings.problem(422, place, f"no {function} in {path}", "a function with the metric", fix)


def _names(module: ast.Module) -> list[str] | None:
    """What a module defines at its top, as far as its text tells; None if that may be anything."""
    names: list[str] = []
    pending: list[ast.AST] = list(module.body)
    while pending:
        match pending.pop():
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.append(name)
            case ast.alias(name=name, asname=other):
                names.append(other or name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.MatchAs(name=str(name)):
                names.append(name)
            case node:
                pending += ast.iter_child_nodes(node)
    late = any(isinstance(node, ast.Global) for node in ast.walk(module))
    called = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    return None if late or called & _DEFINING or {"*", "__getattr__"} & set(names) else names
