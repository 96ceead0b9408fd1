"""A ring whose ranks are threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bandstand.training.ring import Ring

_Found = TypeVar("_Found")


class ThreadRing(Ring):
    """A rank that sums with the others of a `Threads`."""

    def __init__(self, threads: Threads, position: int, size: int) -> None:
        super().__init__(range(size), position)
        self._threads = threads

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        return self._threads.sum(self.position, values)


class Threads:
    """Sums over ranks that are threads of this process."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._barrier = threading.Barrier(size, timeout=60)
        self._given: dict[int, NDArray[Any]] = {}

    def sum(self, position: int, values: NDArray[Any]) -> NDArray[Any]:
        self._given[position] = values
        self._barrier.wait()
        total: NDArray[Any] = np.sum([self._given[rank] for rank in sorted(self._given)], axis=0)
        self._barrier.wait()
        return total.astype(values.dtype)

    def run(self, rank: Callable[[Ring], _Found]) -> list[_Found]:
        """What all ranks return."""

        def call(position: int) -> _Found:
            try:
                return rank(ThreadRing(self, position, self._size))
            except BaseException:
                self._barrier.abort()
                raise

        with ThreadPoolExecutor(self._size) as pool:
            found = [pool.submit(call, position) for position in range(self._size)]
        errors = [error for one in found if (error := one.exception()) is not None]
        first = next((e for e in errors if not isinstance(e, threading.BrokenBarrierError)), None)
        if errors:
            raise first or errors[0]
        return [one.result() for one in found]
