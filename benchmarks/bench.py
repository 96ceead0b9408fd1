"""What every benchmark is given: how much to do, where data lies, where to write."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The repository."""


class NotHereError(Exception):
    """Something that a benchmark needs is not on this machine; the text says what."""


@dataclass(frozen=True)
class Bench:
    """How to measure.

    Args:
        scale: How many times the usual work; below 1 for a quick look.
        repeat: How often each side is measured; None for as often as the benchmark thinks right.
        data: A folder with `bank-marketing` and `flights-3m`; what it lacks is made.
        cache: Where peers, prepared data and curves are kept from run to run.
        peers: Whether peers are installed and measured.
        tell: Takes a line of progress.
        sides: What is measured of a benchmark that can leave sides out: those with one of these texts in
            their names; all of them if there is none.
    """

    scale: float
    repeat: int | None
    data: Path
    cache: Path
    peers: bool
    tell: Callable[[str], None]
    sides: tuple[str, ...] = ()

    def times(self, usual: int, least: int = 1) -> int:
        """Return an amount of work at this scale.

        Args:
            usual: The amount at scale 1.
            least: What it never falls below.
        """
        return max(least, round(usual * self.scale))

    def repeats(self, usual: int) -> int:
        """How often to measure, where it is usually this often."""
        return self.repeat if self.repeat is not None else usual

    def wants(self, side: str) -> bool:
        """Whether a side of this name is to be measured."""
        return not self.sides or any(text in side for text in self.sides)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder that is removed after the block."""
        folder = Path(tempfile.mkdtemp(prefix="bandstand-bench-"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def cache_folder() -> Path:
    """Where things are kept from run to run: bandstand/bench in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "bandstand" / "bench"


def data_folder() -> Path:
    """Where public data may lie: BANDSTAND_TEST_DATA, else shared/data beside the repository."""
    return Path(os.environ.get("BANDSTAND_TEST_DATA") or ROOT.parent / "shared" / "data")
