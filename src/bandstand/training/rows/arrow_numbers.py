"""Numbers of Arrow arrays, read from their buffers.

`Array.to_numpy` and Arrow's own casts load pandas and all of `pyarrow.compute` when they are first called,
which takes 45 MB and a third of a second that a worker needs for nothing else. How the buffers are laid out
is fixed by the Arrow Columnar Format.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_NAMES = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Arrow's names of types that numpy names otherwise."""


def is_number(kind: Any) -> bool:
    """Whether values of an Arrow type are numbers, true or false, or nothing.

    Args:
        kind: A `pyarrow.DataType`; a dictionary's counts as that of its values.
    """
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def numbers(array: Any) -> NDArray[np.float64]:
    """The values of an array, nan where there is none.

    Args:
        array: A `pyarrow.Array` of a type that `is_number`.
    """
    from pyarrow import types

    kind = array.type
    if types.is_null(kind):
        return np.full(len(array), np.nan)
    if types.is_decimal(kind):
        return np.array([np.nan if value is None else float(value) for value in array.to_pylist()])
    if types.is_dictionary(kind):
        codes = numbers(array.indices)
        values = np.append(numbers(array.dictionary), np.nan)
        return values[np.where(np.isnan(codes), -1, codes).astype(np.int64)]
    valid, data = array.buffers()
    span = slice(array.offset, array.offset + len(array))
    if types.is_boolean(kind):
        found = _bits(data, span).astype(np.float64)
    else:
        found = np.frombuffer(data, _NAMES.get(str(kind), str(kind)))[span].astype(np.float64)
    if valid is not None:
        found[~_bits(valid, span)] = np.nan
    return found


def _bits(data: Any, span: slice) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[span].astype(bool)
