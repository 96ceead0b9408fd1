"""Arrays that grow in place, so that no row is held twice in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_SPARE = 1.02
"""How much more room than expected is made: the lengths of rows vary."""


class Growing:
    """An array that grows along its first axis.

    Args:
        kind: What it holds, such as `np.float32`.
    """

    def __init__(self, kind: type[np.generic]) -> None:
        self.filled = 0
        self._array: NDArray[Any] = np.empty(0, kind)

    def extend(self, values: NDArray[Any], share_left: float) -> None:
        """Append values.

        Args:
            values: Array of any number of axes, of the same widths each time.
            share_left: How much will come, as a multiple of `values`.
        """
        need = self.filled + len(values)
        if need > len(self._array):
            room = need + int(max(share_left, 0.0) * len(values) * _SPARE)
            if not self.filled:
                self._array = np.empty((0, *values.shape[1:]), self._array.dtype)
            # In place: a copy would need the memory twice. Nothing else refers to this array.
            self._array.resize((room, *values.shape[1:]), refcheck=False)
        self._array[self.filled : need] = values
        self.filled = need

    def finish(self) -> NDArray[Any]:
        """The array, with what has been appended."""
        self._array.resize((self.filled, *self._array.shape[1:]), refcheck=False)
        return self._array
