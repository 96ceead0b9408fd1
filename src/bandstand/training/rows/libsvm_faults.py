"""What is wrong with rows of libsvm files, and where: slow and exact, run only when something is."""

from __future__ import annotations

import math

from bandstand.training.rows.csv_faults import binary_fault, narrow, shown
from bandstand.training.rows.csv_parsing import MOST_QUERIES
from bandstand.training.rows.libsvm_parsing import MOST_FEATURES, parse_sparse, tidy_sparse
from bandstand.training.rows.places import Fault
from bandstand.training.rows.ranges import Block, count_lines

_GREATEST = 3.4028235677973366e38
"""From here on a number is infinite in single precision."""


def find_sparse_faults(block: Block, base: int | None, queries: bool | None) -> list[Fault]:
    """Explain why a block of lines cannot be used.

    Args:
        block: The lines.
        base: The index of the first feature, if it is known.
        queries: Whether rows have queries; None if it is not known yet.

    Returns:
        One fault for each line that is no row, in order; empty if all are rows.
    """
    binary = binary_fault(block, "libsvm")
    if binary:
        return [binary]
    lines = tidy_sparse(block.data, at_start=block.offset == 0).split(b"\n")
    filled = [number for number, line in enumerate(lines) if line]
    if queries is None:
        queries = sum(b" qid:" in lines[number] for number in filled) * 2 > len(filled)
    wrong = narrow(lines, filled, lambda text: _usable(text, base, queries))
    if not wrong:
        return []
    before = count_lines(block.file, block.offset)
    name = str(block.file.path)
    return [Fault(name, before + number + 1, _explain(lines[number], base, queries)) for number in wrong]


def _usable(text: bytes, base: int | None, queries: bool) -> bool:
    try:
        return (parse_sparse(text, base).queries is not None) == queries
    except ValueError:
        return False


def _explain(line: bytes, base: int | None, queries: bool) -> str:
    label, *fields = line.split(b" ")
    if not fields and (b"," in line or b";" in line):
        return "it looks like CSV; expected label index:value index:value. Give the channel the right type."
    fault = _label_fault(label)
    if fault:
        return fault
    has_query = bool(fields) and fields[0].startswith(b"qid:")
    if has_query != queries:
        return (
            "it has no qid, but other rows have one. Give every row its query."
            if queries
            else "it has a qid, but other rows have none. Give every row its query, or none."
        )
    if has_query:
        query = _number(fields.pop(0)[len(b"qid:") :])
        if not (0 <= query < MOST_QUERIES and query.is_integer()):
            return "its qid is no whole number from 0 on."
    seen: set[float] = set()
    for field in fields:
        fault = _field_fault(field, base or 0, seen)
        if fault:
            return fault
    return "it is no row: expected label index:value index:value, with one blank between."


def _label_fault(label: bytes) -> str | None:
    text, colon, weight = label.partition(b":")
    value = _number(text)
    if math.isnan(value) or abs(value) >= _GREATEST:
        return f"the label is {shown(text)!r}; expected a finite number in single precision."
    if colon and not 0 <= _number(weight) < _GREATEST:
        return f"the weight is {shown(weight)!r}; expected a finite number from 0 on."
    return None


def _field_fault(field: bytes, base: int, seen: set[float]) -> str | None:
    text, colon, value = field.partition(b":")
    if not colon:
        return f"{shown(field)!r} is no feature; expected index:value."
    index = _number(text)
    if text == b"qid":
        return "its qid does not follow the label. Write label qid:query index:value."
    if text[:1] in (b"+", b"-") or not (0 <= index <= MOST_FEATURES and index.is_integer()):
        return f"the index {shown(text)!r} is no whole number from {base} to {MOST_FEATURES}."
    if index < base:
        return f"it has the index {shown(text)}, but indices start at {base}. Check index_base."
    if index in seen:
        return f"it has the index {shown(text)} twice. Keep one of the values."
    seen.add(index)
    if math.isnan(_number(value)) and value.lower() not in (b"nan", b"-nan"):
        return (
            f"the value of feature {shown(text)} is {shown(value)!r}, which is no number. Leave the feature "
            "out if it is missing."
        )
    if abs(_number(value)) >= _GREATEST:
        return (
            f"the value of feature {shown(text)} is {shown(value)}, which is infinite or beyond single "
            "precision (3.4e38). Cap the value."
        )
    return None


def _number(text: bytes) -> float:
    """A number; nan if it is none."""
    try:
        return math.nan if b"_" in text else float(text)
    except ValueError:
        return math.nan
