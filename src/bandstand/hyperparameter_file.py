"""Declared hyperparameters as a file, which is read without the program that declares them.

`SupportedHyperParameters` is what CreateAlgorithm takes in its TrainingSpecification. What SageMaker has no
place for stands apart in `Bandstand`, by name; a file that another program has written may leave it out.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bandstand.errors import InputError
from bandstand.hyperparameter_declaration import SCALES, DefaultRange, Hyperparameter
from bandstand.hyperparameter_schema import Schema
from bandstand.hyperparameter_text import as_integer, as_number, decode, encode

SPECIFICATIONS = "SupportedHyperParameters"
OURS = "Bandstand"

ENDING = ".hyperparameters.json"
"""The file of `train.py` is `train.hyperparameters.json`, beside it."""

_TYPES = {"integer": "Integer", "number": "Continuous", "boolean": "Categorical", "choice": "Categorical"}
_KINDS = {"Integer": "integer", "Continuous": "number", "Categorical": "choice", "FreeText": "text"}
_RANGES = {
    "Integer": "IntegerParameterRangeSpecification",
    "Continuous": "ContinuousParameterRangeSpecification",
}
_CATEGORIES = "CategoricalParameterRangeSpecification"
_BOUNDS = {"low": "MinValue", "high": "MaxValue"}
_ADDED: Mapping[str, type] = MappingProxyType(
    {
        "Kind": str,
        "Values": list,
        "MinValue": str,
        "MaxValue": str,
        "Excludes": list,
        "Aliases": list,
        "DefaultRange": dict,
    }
)
_ENDLESS = {"Integer": 2**63 - 1, "Continuous": sys.float_info.max}
"""What stands for no limit, since a range of SageMaker's has two."""

_OF_A_RANGE: Mapping[str, type] = MappingProxyType(
    {"MinValue": str, "MaxValue": str, "ScalingType": str, "Values": list}
)


def file_of(program: Path) -> Path:
    """Where the declared hyperparameters of a program stand."""
    return program.with_name(program.stem + ENDING)


def digest(program: bytes) -> str:
    """What tells one version of a program from another, in hexadecimal digits."""
    return hashlib.sha256(program).hexdigest()


def to_document(schema: Schema, program: Path | None = None) -> dict[str, Any]:
    """Declared hyperparameters as JSON carries them.

    Args:
        schema: The declarations.
        program: The file that holds them, to tell later whether it is still the same.

    Raises:
        OSError: If that cannot be read.
    """
    ours: dict[str, Any] = {}
    if program is not None:
        ours["Program"] = {"Name": program.name, "SHA256": digest(program.read_bytes())}
    ours["HyperParameters"] = {
        each.name: additions for each in schema.declared if (additions := _additions(each))
    }
    return {SPECIFICATIONS: [_specification(each) for each in schema.declared], OURS: ours}


def as_json(document: Mapping[str, Any]) -> str:
    """A document as the file holds it: one line for each hyperparameter, in both parts."""
    ours = dict(document[OURS])
    additions = ours.pop("HyperParameters")
    first = ",\n  ".join(_line(each) for each in document[SPECIFICATIONS])
    second = ",\n   ".join(f"{_line(name)}: {_line(each)}" for name, each in additions.items())
    stamp = "".join(f"  {_line(name)}: {_line(each)},\n" for name, each in ours.items())
    return (
        f'{{\n "{SPECIFICATIONS}": [\n  {first}\n ],\n "{OURS}": {{\n{stamp}'
        f'  "HyperParameters": {{\n   {second}\n  }}\n }}\n}}\n'
    )


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def stamped(document: Mapping[str, Any]) -> str | None:
    """The digest of the program that a document was exported from, or None."""
    written: object = document
    for member in (OURS, "Program", "SHA256"):
        written = written.get(member) if isinstance(written, Mapping) else None
    return written if isinstance(written, str) else None


def is_current(text: str, schema: Schema) -> bool:
    """Whether a file's text holds exactly these declarations, whatever version of a program it is from."""
    try:
        document = json.loads(text)
        document[OURS].pop("Program", None)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False
    return bool(document == to_document(schema))


def from_document(document: Mapping[str, Any]) -> Schema:
    """Declared hyperparameters out of a document.

    Args:
        document: What the file holds; its specifications are of SageMaker's shape.

    Raises:
        InputError: If declarations contradict themselves; with one line for each that does.
    """
    ours = document.get(OURS, {})
    additions = ours.get("HyperParameters", {}) if isinstance(ours, Mapping) else None
    if not isinstance(additions, Mapping):
        raise InputError(f"{OURS} is no object with an object HyperParameters.")
    names = [specification["Name"] for specification in document[SPECIFICATIONS]]
    faults = [
        f"{OURS}.HyperParameters has {name!r}, which {SPECIFICATIONS} has not."
        for name in additions
        if name not in names
    ]
    declared = []
    for specification in document[SPECIFICATIONS]:
        name = specification["Name"]
        try:
            declared.append(_hyperparameter(specification, _known(additions.get(name, {}))))
        except InputError as error:
            faults.append(str(error))
        except ValueError as error:
            faults.append(f"The declaration of hyperparameter {name!r} cannot be read: {error}.")
    if faults:
        raise InputError("\n".join(faults))
    return Schema(declared)


def _known(additions: Any) -> Mapping[str, Any]:
    """A hyperparameter's additions, if they are some."""
    if not isinstance(additions, Mapping):
        raise ValueError(f"{OURS} has {additions!r} for it, which is no object")
    _check_members(additions, _ADDED, f"{OURS} has for it")
    _check_members(additions.get("DefaultRange", {}), _OF_A_RANGE, "its DefaultRange has")
    foreign = [member for member in additions.get("Excludes", []) if member not in _BOUNDS.values()]
    if foreign:
        raise ValueError(f"its Excludes has {foreign}; expected {' and '.join(_BOUNDS.values())}")
    return additions


def _check_members(members: Mapping[str, Any], known: Mapping[str, type], where: str) -> None:
    words: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
    for member, value in members.items():
        if member not in known:
            raise ValueError(f"{where} {member}, which is none of {', '.join(known)}")
        if not isinstance(value, known[member]):
            raise ValueError(f"{where} {member} {value!r}, which is not {words[known[member]]}")


def _specification(it: Hyperparameter) -> dict[str, Any]:
    kind = _TYPES.get(it.kind, "FreeText")
    found: dict[str, Any] = {"Name": it.name}
    if it.help:
        found["Description"] = it.help
    found["Type"] = kind
    if kind in _RANGES:
        low = -_ENDLESS[kind] if it.low is None else it.low
        high = _ENDLESS[kind] if it.high is None else it.high
        found["Range"] = {_RANGES[kind]: {"MinValue": encode(low), "MaxValue": encode(high)}}
    elif kind == "Categorical":
        choices = (False, True) if it.kind == "boolean" else it.choices
        found["Range"] = {_CATEGORIES: {"Values": [encode(choice) for choice in choices]}}
    found |= {"IsTunable": it.tunable, "IsRequired": it.required}
    if it.default is not None:
        found["DefaultValue"] = encode(it.default)
    return found


def _additions(it: Hyperparameter) -> dict[str, Any]:
    """What SageMaker's specification cannot say."""
    found: dict[str, Any] = {}
    usual = _KINDS[_TYPES.get(it.kind, "FreeText")]
    if it.kind != usual:
        found["Kind"] = it.kind
    if it.kind == "choice" and not all(isinstance(choice, str) for choice in it.choices):
        found["Values"] = list(it.choices)
    if it.kind in ("integers", "numbers"):
        limits = {"low": it.low, "high": it.high}
        found |= {_BOUNDS[word]: encode(limit) for word, limit in limits.items() if limit is not None}
    if it.excludes:
        found["Excludes"] = [_BOUNDS[word] for word in it.excludes]
    if it.aliases:
        found["Aliases"] = list(it.aliases)
    if it.tune is not None:
        found["DefaultRange"] = dict(_default_range(it.tune))
    return found


def _default_range(tune: DefaultRange) -> Iterator[tuple[str, Any]]:
    if tune.values:
        yield "Values", list(tune.values)
    else:
        yield "MinValue", encode(tune.low)
        yield "MaxValue", encode(tune.high)
        yield "ScalingType", SCALES[tune.scale]


def _hyperparameter(specification: Mapping[str, Any], ours: Mapping[str, Any]) -> Hyperparameter:
    type_ = specification["Type"]
    kind = ours.get("Kind", _KINDS[type_])
    if _TYPES.get(kind, "FreeText") != type_:
        raise ValueError(f"its Kind is {kind}, its Type {type_}")
    expected = _CATEGORIES if type_ == "Categorical" else _RANGES.get(type_)
    foreign = [name for name in specification.get("Range", {}) if name != expected]
    if foreign:
        raise ValueError(f"its Range has {', '.join(foreign)}, its Type is {type_}")
    bounds = specification.get("Range", {}).get(_RANGES.get(type_, ""), ours)
    low, high = (_bound(bounds.get(member), type_) for member in ("MinValue", "MaxValue"))
    choices = ours.get("Values", specification.get("Range", {}).get(_CATEGORIES, {}).get("Values", []))
    default = specification.get("DefaultValue")
    words = {member: word for word, member in _BOUNDS.items()}
    it = Hyperparameter(
        name=specification["Name"],
        kind=kind,
        help=specification.get("Description", ""),
        required=specification.get("IsRequired", False),
        low=low,
        high=high,
        excludes=tuple(words[member] for member in ours.get("Excludes", [])),
        choices=tuple(choices) if kind == "choice" else (),
        aliases=tuple(ours.get("Aliases", [])),
        tunable=specification.get("IsTunable", True),
        tune=_tuning(ours.get("DefaultRange")),
    )
    return it if default is None else _with_default(it, default)


def _with_default(it: Hyperparameter, text: str) -> Hyperparameter:
    try:
        value = it.read(text)
    except ValueError:
        value = text  # which its declaration refuses, with what is allowed
    return replace(it, default=value)


def _bound(text: str | None, type_: str) -> float | None:
    if text is None:
        return None
    value = as_integer(text) if type_ == "Integer" else _number(text)
    if value is None:
        raise ValueError(f"the limit {text!r} is no {'whole ' if type_ == 'Integer' else ''}number")
    return None if abs(value) >= _ENDLESS.get(type_, sys.float_info.max) else value


def _number(text: str) -> float | None:
    """A number; a whole one as it is written, so that `0` does not become `0.0`."""
    value = decode(text)
    return value if isinstance(value, int) and not isinstance(value, bool) else as_number(text)


def _tuning(written: Mapping[str, Any] | None) -> DefaultRange | None:
    if written is None:
        return None
    if "Values" in written:
        return DefaultRange(values=tuple(written["Values"]))
    scales = {scaling: word for word, scaling in SCALES.items()}
    scaling = written.get("ScalingType", "Auto")
    low, high = (_number(written.get(member, "")) for member in ("MinValue", "MaxValue"))
    if scaling not in scales or low is None or high is None:
        raise ValueError(
            f"its DefaultRange is {dict(written)}; expected Values, or numbers for MinValue and MaxValue, "
            f"and for ScalingType one of {', '.join(scales)}"
        )
    return DefaultRange(low, high, scales[scaling])
