"""A job file from TOML to its schema, with every fault in the user's words (rules 101 to 107)."""

from __future__ import annotations

import copy
import difflib
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from bandstand.hyperparameters import nearest
from bandstand.request.findings import Findings, listed, shown
from bandstand.request.job_schema import JobFile, WrittenFloat

_EXPECTED = {
    "string_type": "a text in quotes",
    "string_too_short": "a text that is not empty",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_FILLERS = {"path": ".", "metric": "unknown"}
_WHERE = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


def parse_toml(text: str, where: str, findings: Findings) -> dict[str, Any] | None:
    """Read a job file's TOML; None where it is none, with the problem told.

    Args:
        text: The file's text.
        where: The file, as problems name it.
        findings: Takes the problem.
    """
    try:
        data = tomllib.loads(text, parse_float=WrittenFloat)
        repr(data)  # where a whole number in hexadecimal digits is refused as one in decimal digits is above
        return data
    except tomllib.TOMLDecodeError as error:
        match = _WHERE.fullmatch(str(error))
        reason = match[1] if match else str(error)
        line = int(match[2]) if match and match[2] else len(text.splitlines())
        column = int(match[3]) if match and match[3] else len((text.splitlines() or [""])[-1]) + 1
        lines = text.splitlines()
        found = f"{reason[:1].lower()}{reason[1:]}"
        if 1 <= line <= len(lines):
            found += f", at: {shown(lines[line - 1].strip())}"
        findings.refuse(
            102, f"{where}, line {line}, column {column}", found, "TOML", _toml_fix(reason, lines, line)
        )
    except ValueError:  # Python reads and writes no whole number of more than 4300 digits
        fix = "Shorten it, or write it in quotes."
        findings.refuse(102, where, "a whole number of thousands of digits", "TOML", fix)
    except RecursionError:
        findings.refuse(102, where, "brackets within brackets, too deep to read", "TOML", "Flatten it.")
    return None


def read_job(data: Mapping[str, Any], findings: Findings) -> JobFile:
    """Check a job file's keys and types, with every problem told.

    Args:
        data: What the TOML holds.
        findings: Takes the problems, and the keys that they were found with.

    Returns:
        The job file without its faulty keys, so that the rules can be checked on the rest.
    """
    sound = copy.deepcopy(dict(data))
    seen: set[tuple[str | int, ...]] = set()
    while True:
        try:
            return JobFile.model_validate(sound)
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                location = tuple(fault["loc"])
                if location not in seen:
                    _tell(fault, findings)
                seen.add(location)
                _mend(sound, location, fault["type"] == "missing")


def _mend(sound: dict[str, Any], location: tuple[str | int, ...], missing: bool) -> None:
    """Take a faulty key out, or fill a missing one in, so that the rest can be read."""
    table: Any = sound
    for part, after in itertools.pairwise(location):
        inner = table.get(part)
        if after == "[key]" or not isinstance(inner, dict):
            location = (part,)
            break
        table, location = inner, (after,)
    if missing:
        table[location[-1]] = _FILLERS[str(location[-1])]
    else:
        table.pop(location[-1], None)


def keys(model: type[BaseModel] = JobFile, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key of a job file with its dotted path; keys that the user names are left out."""
    for name, field in model.model_fields.items():
        yield name, f"{prefix}{name}"
        table = _table(field.annotation)
        if table is not None and "dict" not in str(field.annotation):
            yield from keys(table, f"{prefix}{name}.")


def _tell(fault: Mapping[str, Any], findings: Findings) -> None:
    location = [str(part) for part in fault["loc"]]
    findings.doubt(dotted([part for part in location if not part.isdigit()]))
    where, kind, value = dotted(location), fault["type"], fault["input"]
    if location[-1] == "[key]":
        findings.refuse(106, dotted(location[:-1]), f"the key {value!r}", "a text", "Write the key as text.")
    elif kind == "extra_forbidden":
        known = _keys_at(location[:-1])
        meant, fix = _meant(location, known)
        findings.refuse(105, where, "an unknown key", listed(known, 30), fix)
        if meant is not None:
            findings.doubt(meant)
    elif kind == "missing":
        findings.refuse(107, where, "nothing", "a value", f"Add {where}.")
    elif kind == "literal_error":
        words = [word.strip("'") for word in re.findall(r"'[^']*'", fault["ctx"]["expected"])]
        close = nearest(str(value), words)
        fix = f'Did you mean "{close}"?' if close else "Take one of those."
        findings.refuse(106, where, shown(value), listed(words), fix)
    else:
        allowed = _EXPECTED.get(kind, fault["msg"])
        findings.refuse(106, where, _typed(value), allowed, _retype(allowed, value))


def _typed(value: object) -> str:
    kinds = {bool: "", int: "the number ", str: "the text ", list: "the list ", dict: "a table "}
    if isinstance(value, WrittenFloat):
        return f"the number {value.text}"
    return kinds.get(type(value), f"a {type(value).__name__} ") + shown(value)


def _retype(allowed: str, value: object) -> str:
    if value == "":
        return "Fill it in, or leave it out."
    if allowed.startswith("a text") and not isinstance(value, list | dict):
        text = value.text if isinstance(value, WrittenFloat) else str(value)
        return f'Write it in quotes: "{text}".'
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", value) and "number" in allowed:
        return f"Write it without quotes: {value}."
    if isinstance(value, str) and value.lower() in ("true", "false", "yes", "no") and "true" in allowed:
        return f"Write it without quotes: {'true' if value.lower() in ('true', 'yes') else 'false'}."
    return f"Write {allowed}."


def _meant(location: list[str], known: list[str]) -> tuple[str | None, str]:
    """Return the key that was most likely meant, here or elsewhere, and the advice."""
    name = location[-1]
    close = nearest(name, known)
    elsewhere = next((path for key, path in keys() if key == name), None)
    if elsewhere and (close is None or difflib.SequenceMatcher(None, name, close).ratio() < 0.9):
        if "." in elsewhere:
            return elsewhere, f"Did you mean {elsewhere}?"
        return elsewhere, f"{elsewhere} belongs at the top of the file, before the first [table]."
    if close is None:
        return None, "Take it out."
    meant = dotted([*location[:-1], close])
    return meant, f"Did you mean {meant}?"


def _keys_at(location: list[str]) -> list[str]:
    model: type[BaseModel] = JobFile
    for part in location:
        field = model.model_fields.get(part)
        table = None if field is None else _table(field.annotation)
        model = table or model
    return list(model.model_fields)


def _table(annotation: Any) -> type[BaseModel] | None:
    """Return the table's schema in an annotation: as it is, of an optional one, or of a dict's values."""
    for each in (annotation, *get_args(annotation)):
        candidate = getattr(each, "__origin__", each)
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def dotted(location: list[str]) -> str:
    """Return a key's path with dots, as TOML writes it; parts that need quotes are quoted."""
    plain = [part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"' for part in location]
    return ".".join(plain)


def _toml_fix(reason: str, lines: list[str], line: int) -> str:
    text = lines[line - 1] if 1 <= line <= len(lines) else ""
    if "Invalid value" in reason:
        return "Put text into quotes; numbers, true, false and lists need none."
    if "overwrite" in reason or "Cannot declare" in reason:
        return "Keep each key and each table once."
    if ":" in text and "=" not in text:
        return "Write key = value."
    return "Mend the syntax at that place."
