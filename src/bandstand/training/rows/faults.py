"""What is wrong with rows, and where: slow and exact, run only when something is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.parsing import bad_rows, parse, tidy
from bandstand.training.rows.ranges import Block, count_lines

_SHOWN = 40
"""Characters of a field that a message shows."""

_NAMES = 4
"""Column names of a header line that a message shows."""

_BINARY = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PAR1": "Parquet",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_SEPARATORS = (b";", b"\t", b"|", b" ")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a channel's data.

    Args:
        file: The file's path on the host that found it.
        line: The line in the file, from 1; 0 if the file as a whole is meant.
        text: What was found, what was expected and what to do.
    """

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.text}" if self.line else f"{self.file}: {self.text}"


def usual_width(block: Block) -> int:
    """The number of columns that most lines of a block have.

    Args:
        block: The lines, one of them at least not empty.
    """
    lines = tidy(block.data, at_start=block.offset == 0).split(b"\n")
    return Counter(line.count(b",") + 1 for line in lines if line).most_common(1)[0][0]


def find_faults(block: Block, width: int) -> list[Fault]:
    """Explain why a block of lines cannot be used.

    Args:
        block: The lines.
        width: Columns that a row must have.

    Returns:
        One fault for each line that is no row, in order; empty if all are rows.
    """
    name = str(block.file.path)
    if block.offset == 0:
        kind = next((kind for start, kind in _BINARY.items() if block.data.startswith(start)), None)
        if kind:
            return [
                Fault(name, 0, f"it is a {kind} file, not CSV text; unpack or convert it, or leave it out.")
            ]
    lines = tidy(block.data, at_start=block.offset == 0).split(b"\n")
    filled = [number for number, line in enumerate(lines) if line]
    wrong = _narrow(lines, filled, width)
    if not wrong:
        return []
    before = count_lines(block.file, block.offset)
    faults = [Fault(name, before + number + 1, _explain(lines[number], width)) for number in wrong]
    if block.offset == 0 and wrong[0] == filled[0]:
        header = _header(lines[wrong[0]], alone=len(wrong) == 1)
        if header:
            faults[0] = Fault(name, wrong[0] + 1, header)
    return faults


def _narrow(lines: list[bytes], numbers: list[int], width: int) -> list[int]:
    """The lines among `numbers` that are no rows, found by halves with the quick parser."""
    if not numbers or _usable(b"\n".join(lines[number] for number in numbers), width):
        return []
    if len(numbers) == 1:
        return numbers
    half = len(numbers) // 2
    return _narrow(lines, numbers[:half], width) + _narrow(lines, numbers[half:], width)


def _usable(text: bytes, width: int) -> bool:
    values = _try(text)
    return values is not None and values.shape[1] == width and not bad_rows(values)


def _try(text: bytes) -> NDArray[np.float32] | None:
    try:
        return parse(text)
    except ValueError:
        return None


def _header(line: bytes, *, alone: bool) -> str | None:
    """What to say if a first line that is no row is a header: it has words only, or is the only wrong one."""
    fields = line.split(b",")
    sign = _other_separator(fields)
    if sign and _try(line.replace(sign, b",")) is not None:
        return None
    words = [field for field in fields if field and _try(field) is None]
    if not words or not (
        alone or all(field in words and not field[:1].isdigit() for field in fields if field)
    ):
        return None
    names = ", ".join(_text(field) for field in fields[:_NAMES]) + (", ..." if len(fields) > _NAMES else "")
    return (
        f"it is a header line ({names}); delete it: rows have no header, and their first column is the label."
    )


def _other_separator(fields: list[bytes]) -> bytes | None:
    """What separates the fields of a line that holds no comma, if anything does."""
    return next((sign for sign in _SEPARATORS if len(fields) == 1 and sign in fields[0]), None)


def _explain(line: bytes, width: int) -> str:
    fields = line.split(b",")
    wrong = [place for place, field in enumerate(fields) if field and _try(field) is None]
    other = _other_separator(fields)
    if other:
        return f"its fields are separated by {_text(other)!r}; expected commas. Write the file with commas."
    if len(fields) != width:
        return (
            f"it has {len(fields)} columns; expected {width}, as the other rows have. "
            "Complete or delete this row."
        )
    if wrong:
        place = wrong[0]
        more = f" (and {len(wrong) - 1} more fields of this line)" if len(wrong) > 1 else ""
        return (
            f"column {place + 1} holds {_text(fields[place])!r}, which is no number{more}; encode words "
            "as numbers, and leave a field empty where a value is missing."
        )
    values = parse(line)[0]
    if np.isnan(values[0]):
        found = "empty" if not fields[0] else _text(fields[0])
        return f"the label (column 1) is {found}; expected a number. Delete the row or give it a label."
    if np.isinf(values[0]):
        return f"the label (column 1) is {_text(fields[0])}; expected a finite number in single precision."
    place = int(np.flatnonzero(np.isinf(values))[0])
    return (
        f"column {place + 1} holds {_text(fields[place])}, which is infinite or beyond single precision "
        "(3.4e38). Cap the value, or leave the field empty if it is missing."
    )


def _text(field: bytes) -> str:
    text = field.decode("utf-8", errors="replace")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
