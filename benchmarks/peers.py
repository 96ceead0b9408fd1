"""Peers, each in a virtual environment of its own below the cache folder."""

from __future__ import annotations

import shutil
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Bench, NotHereError
from benchmarks.children import run_child


@dataclass(frozen=True)
class Peer:
    """Packages to measure beside.

    Args:
        name: Its name, for people.
        packages: What pip installs, with versions.
    """

    name: str
    packages: tuple[str, ...]

    def python(self, bench: Bench) -> Path:
        """The Python of its environment, which is made at the first call.

        Raises:
            NotHereError: It cannot be installed, or no peers are wanted.
        """
        if not bench.peers:
            raise NotHereError(f"{self.name} was left out, as --no-peers asks.")
        key = "_".join([*(package.replace("==", "-") for package in self.packages), _own_version()])
        folder = bench.cache / "peers" / key
        python, ready = folder / "bin" / "python", folder / "ready"
        if not ready.exists():
            bench.tell(f"installing {', '.join(self.packages)} into {folder} (once)")
            shutil.rmtree(folder, ignore_errors=True)
            try:
                venv.create(folder, with_pip=True)
                pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
                run_child([*pip, *self.packages])
            except (OSError, NotHereError) as error:
                shutil.rmtree(folder, ignore_errors=True)
                raise NotHereError(f"{self.name} cannot be installed: {error}") from None
            ready.touch()
        return python


def _own_version() -> str:
    return f"py{sys.version_info.major}.{sys.version_info.minor}"


SYNE_TUNE = Peer("Syne Tune", ("syne-tune==0.16.0",))
OPTUNA = Peer("Optuna", ("optuna==5.0.0", "xgboost-cpu==3.2.0"))
