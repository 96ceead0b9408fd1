"""What is wrong with rows, and where: slow and exact, run only when something is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bandstand.training.rows.columns import Layout
from bandstand.training.rows.csv_parsing import bad_queries, bad_rows, parse, single, tidy
from bandstand.training.rows.places import Fault
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


def usual_width(block: Block) -> int:
    """The number of columns that most lines of a block have.

    Args:
        block: The lines, one of them at least not empty.
    """
    lines = tidy(block.data, at_start=block.offset == 0).split(b"\n")
    return Counter(line.count(b",") + 1 for line in lines if line).most_common(1)[0][0]


def find_faults(block: Block, width: int, layout: Layout | None = None) -> list[Fault]:
    """Explain why a block of lines cannot be used.

    Args:
        block: The lines.
        width: Columns that a row must have.
        layout: Which columns are no features.

    Returns:
        One fault for each line that is no row, in order; empty if all are rows.
    """
    layout = layout or Layout()
    binary = binary_fault(block, "CSV")
    if binary:
        return [binary]
    name = str(block.file.path)
    lines = tidy(block.data, at_start=block.offset == 0).split(b"\n")
    filled = [number for number, line in enumerate(lines) if line]
    wrong = narrow(lines, filled, lambda text: _usable(text, width, layout))
    if not wrong:
        return []
    before = count_lines(block.file, block.offset)
    faults = [Fault(name, before + number + 1, _explain(lines[number], width, layout)) for number in wrong]
    if block.offset == 0 and wrong[0] == filled[0]:
        header = _header(lines[wrong[0]], alone=len(wrong) == 1)
        if header:
            faults[0] = Fault(name, wrong[0] + 1, header)
    return faults


def binary_fault(block: Block, wanted: str) -> Fault | None:
    """What to say if a block begins a file that is no text.

    Args:
        block: The lines.
        wanted: What the file should be.
    """
    if block.offset:
        return None
    kind = next((kind for start, kind in _BINARY.items() if block.data.startswith(start)), None)
    if kind is None:
        return None
    advice = "let its name end in .gz" if kind == "gzip" else "unpack or convert it, or leave it out"
    return Fault(str(block.file.path), 0, f"it is a {kind} file, not {wanted} text; {advice}.")


def narrow(lines: Sequence[bytes], numbers: Sequence[int], usable: Callable[[bytes], bool]) -> list[int]:
    """The lines among `numbers` that are no rows, found by halves.

    Args:
        lines: All lines of a block.
        numbers: Which of them to look at.
        usable: Whether some lines, joined by line ends, are all rows.
    """
    if not numbers or usable(b"\n".join(lines[number] for number in numbers)):
        return []
    if len(numbers) == 1:
        return list(numbers)
    half = len(numbers) // 2
    return narrow(lines, numbers[:half], usable) + narrow(lines, numbers[half:], usable)


def _usable(text: bytes, width: int, layout: Layout) -> bool:
    values = _try(text)
    return values is not None and values.shape[1] == width and not bad_rows(values, layout)


def _try(text: bytes) -> NDArray[np.float64] | None:
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
    names = ", ".join(shown(field) for field in fields[:_NAMES]) + (", ..." if len(fields) > _NAMES else "")
    return f"it is a header line ({names}); declare it (header=true), or delete it."


def _other_separator(fields: list[bytes]) -> bytes | None:
    """What separates the fields of a line that holds no comma, if anything does."""
    return next((sign for sign in _SEPARATORS if len(fields) == 1 and sign in fields[0]), None)


def _explain(line: bytes, width: int, layout: Layout) -> str:
    fields = line.split(b",")
    wrong = [place for place, field in enumerate(fields) if field and _try(field) is None]
    other = _other_separator(fields)
    if other:
        return f"its fields are separated by {shown(other)!r}; expected commas. Write the file with commas."
    if len(fields) != width:
        return (
            f"it has {len(fields)} columns; expected {width}, as the other rows have. "
            "Complete or delete this row."
        )
    if wrong:
        place = wrong[0]
        more = f" (and {len(wrong) - 1} more fields of this line)" if len(wrong) > 1 else ""
        return (
            f"column {place + 1} holds {shown(fields[place])!r}, which is no number{more}; encode words "
            "as numbers, and leave a field empty where a value is missing."
        )
    return _explain_numbers(fields, parse(line)[0], layout)


def _explain_numbers(fields: list[bytes], values: NDArray[np.float64], layout: Layout) -> str:
    kept = single(values)
    label = layout.label
    if np.isnan(kept[label]):
        return (
            f"the label (column {label + 1}) is {_found(fields[label])}; expected a number. Delete the row "
            "or give it a label."
        )
    if np.isinf(kept[label]):
        return (
            f"the label (column {label + 1}) is {shown(fields[label])}; expected a finite number in single "
            "precision."
        )
    if layout.weight is not None and not (np.isfinite(kept[layout.weight]) and kept[layout.weight] >= 0):
        found = _found(fields[layout.weight])
        return f"the weight (column {layout.weight + 1}) is {found}; expected a finite number from 0 on."
    if layout.query is not None and bad_queries(values[[layout.query]]):
        found = _found(fields[layout.query])
        return f"the query (column {layout.query + 1}) is {found}; expected a whole number from 0 on."
    place = int(np.flatnonzero(np.isinf(kept))[0])
    return (
        f"column {place + 1} holds {shown(fields[place])}, which is infinite or beyond single precision "
        "(3.4e38). Cap the value, or leave the field empty if it is missing."
    )


def _found(field: bytes) -> str:
    return shown(field) if field else "empty"


def shown(field: bytes) -> str:
    """A field as messages show it, shortened.

    Args:
        field: The field.
    """
    text = field.decode("utf-8", errors="replace")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
