"""The hyperparameters that a job's program declares, from the file beside it; the program does not run."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bandstand.errors import InputError
from bandstand.hyperparameter_file import ENDING, SPECIFICATIONS, digest, file_of, from_document, stamped
from bandstand.hyperparameter_schema import Schema
from bandstand.request.documents import Definition
from bandstand.request.findings import Findings, listed, shown
from bandstand.request.plan import local_path
from bandstand.request.program import BUILT_INS, Program, program_of
from bandstand.request.service_model import specifications_shape
from bandstand.request.shapes import check_shape

MAX_BYTES = 1_000_000
"""Largest file that is read; a hundred hyperparameters with the longest help stay below."""


@dataclass(frozen=True)
class Declared:
    """What a program declares.

    Args:
        schema: The declarations.
        program: The built-in's name, or the script's.
        outdated: What to do in case the script has changed since its file was written; empty if it has not.
    """

    schema: Schema
    program: str
    outdated: str = ""


def declared_by(definition: Definition, findings: Findings) -> Declared | None:
    """Return what the program of a definition declares; None if it declares nothing, or no file says it.

    Args:
        definition: The definition.
        findings: Takes what is wrong with the file, and a note if the script has changed since.
    """
    program = program_of(definition)
    if program is None:
        return None
    if program.kind != "script":
        return built_in(program.name, findings)
    found = _beside(program)
    if found is None:
        return None
    path, text, script = found
    document = _document(path, text, f"python {program.name} --export-hyperparameters", findings)
    schema = None if document is None else _schema(path, document, findings)
    if document is None or schema is None:
        return None
    outdated = ""
    if _is_outdated(document, script):
        export = f"python {program.name} --export-hyperparameters"
        outdated = f" If {program.name} has changed since it was exported, run: {export}"
        findings.note(
            f"{path.name}: exported from another version of {program.name}. If its hyperparameters have "
            f"changed since, run: {export}"
        )
    return Declared(schema, program.name, outdated)


def built_in(name: str, findings: Findings) -> Declared | None:
    """Return what a built-in algorithm declares, or None if this installation has none of that name."""
    spec = find_spec("bandstand_container") if name in BUILT_INS else None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / f"{name}{ENDING}"
        if path.is_file():
            document = _document(path, _beginning(path), "Install Bandstand again", findings)
            schema = None if document is None else _schema(path, document, findings)
            return None if schema is None else Declared(schema, name)
    return None


def of_script(script: Path, findings: Findings) -> Declared | None:
    """Return what a script declares, or None if no file beside it says so."""
    definition = Definition(
        {},
        (),
        {"sagemaker_program": script.name, "sagemaker_submit_directory": str(script.parent)},
        (),
        {},
        (),
    )
    return declared_by(definition, findings)


def _beside(program: Program) -> tuple[Path, bytes, bytes | None] | None:
    """The file beside a script: its path, its content, and the script's."""
    folder = program.folder or ""
    if folder.startswith("/opt/ml/") or ("://" in folder and not folder.startswith("file:///")) or not folder:
        return None
    try:
        source = local_path(folder) if folder.startswith("file:///") else Path(folder)
        if source.is_file():
            return _packed(source, program.name)
        script = source / program.name
        path = file_of(script)
        if not path.is_file():
            return None
        return path, _beginning(path), script.read_bytes() if script.is_file() else None
    except (OSError, ValueError):
        return None  # the rules of the code tell what is wrong with its folder


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _packed(archive: Path, name: str) -> tuple[Path, bytes, bytes | None] | None:
    """The same out of an archive of the code."""
    wanted = file_of(Path(name))
    contents: dict[str, bytes] = {}
    try:
        with tarfile.open(archive) as packed:
            for member in packed:
                plain = member.name.removeprefix("./")
                file = packed.extractfile(member) if plain in (str(wanted), name) else None
                if file is not None:
                    contents[plain] = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, tarfile.TarError):
        return None
    text = contents.get(str(wanted))
    return None if text is None else (archive / wanted, text, contents.get(name))


def _is_outdated(document: Mapping[str, Any], script: bytes | None) -> bool:
    written = stamped(document)
    return script is not None and written is not None and written != digest(script)


def _document(path: Path, text: bytes, remedy: str, findings: Findings) -> dict[str, Any] | None:
    """Read the JSON, and check it against SageMaker's own model of it."""
    fix = f"Mend it, or run: {remedy}"
    try:
        if len(text) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
        document = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        findings.refuse(438, str(path), str(error), "JSON in UTF-8", fix)
        return None
    if not isinstance(document, dict) or SPECIFICATIONS not in document:
        what = listed([str(name) for name in document]) if isinstance(document, dict) else shown(document)
        findings.refuse(438, str(path), what or "no members", f"an object with {SPECIFICATIONS}", fix)
        return None
    inner = Findings(exact=True)
    check_shape(specifications_shape(), document[SPECIFICATIONS], (SPECIFICATIONS,), inner)
    for problem in inner.problems:
        findings.refuse(438, f"{path}: {problem.where}", problem.found, problem.allowed, problem.fix)
    return None if inner.problems else document


def _schema(path: Path, document: Mapping[str, Any], findings: Findings) -> Schema | None:
    try:
        return from_document(document)
    except InputError as error:
        for line in str(error).splitlines():
            findings.refuse(438, str(path), line.rstrip("."), "declarations that fit together", "Mend it.")
        return None
