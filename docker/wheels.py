"""Fill docker/wheels with what an image installs, for a build with no package index.

    python docker/wheels.py STAGE [--toolkit]

Wheels are kept in `~/.cache/bandstand/wheels`, or `BANDSTAND_CACHE`. The build's context holds a folder for
each extra, with exactly its wheels, so that a change of one extra builds only its own layers anew. Only the
standard library and pip are used; `make horovod-wheel` compiles Horovod.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lock import PLATFORMS, PYTHON

HERE = Path(__file__).resolve().parent
LOCKS = HERE / "lock" / "cpu"
STAGES = {
    "xgboost": ("build", "xgboost", "parquet"),
    "horovod": ("build", "horovod"),
    "all": ("build", "xgboost", "parquet", "horovod"),
}
"""What each stage of the Dockerfile installs, as names of the files in docker/lock/cpu."""


def main(words: Sequence[str] | None = None) -> int:
    """Fill the folder."""
    parser = argparse.ArgumentParser(description="Fill docker/wheels for a build with no package index.")
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("--toolkit", action="store_true", help="with the sagemaker-training toolkit")
    chosen = parser.parse_args(words)
    extras = [*STAGES[chosen.stage], *(["toolkit"] if chosen.toolkit else [])]
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:  # one at a time, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            wheels = {extra: [locked(line) for line in lines(LOCKS / f"{extra}.txt")] for extra in extras}
            if "toolkit" in wheels:
                wheels["toolkit"] += [compiled(line) for line in lines(HERE / "lock" / "built.txt")]
            if "horovod" in wheels:
                wheels["horovod"].append(horovod())
        except LookupError as error:
            print(f"docker/wheels is not filled: {error}", file=sys.stderr)
            return 1
        except subprocess.CalledProcessError as error:
            command = " ".join(map(str, error.cmd))
            print(f"docker/wheels is not filled: {command[:200]} ... failed, see above.", file=sys.stderr)
            return 1
    for extra, files in wheels.items():
        fill(HERE / "wheels" / extra, files)
    print(f"docker/wheels holds what stage {chosen.stage} installs: {', '.join(wheels)}")
    return 0


def cache() -> Path:
    """Where wheels are kept."""
    named = os.environ.get("BANDSTAND_CACHE")
    return (Path(named) if named else Path.home() / ".cache" / "bandstand") / "wheels"


def lines(path: Path) -> list[str]:
    """The pins of one lock file."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def locked(line: str) -> Path:
    """The wheel of a pin, downloaded if it is not in the cache."""
    target = (
        *("--only-binary", ":all:", "--python-version", PYTHON),
        *(word for platform in PLATFORMS for word in ("--platform", platform)),
    )
    return kept(line, "download", "-d", *target)


def compiled(line: str) -> Path:
    """The wheel of a pin that only has a source, compiled if it is not in the cache."""
    return kept(line, "wheel", "-w", "--no-binary", ":all:")


def kept(line: str, verb: str, into: str, *options: str) -> Path:
    """The wheel of a pin in the cache, brought there by pip if need be; its folder is the pin's hash."""
    folder = cache() / line.rpartition(":")[2][:16]
    found = sorted(folder.glob("*.whl"))
    if found:
        return found[0]
    with tempfile.TemporaryDirectory(dir=cache()) as work:
        wanted = Path(work, "wanted.txt")
        wanted.write_text(line + "\n")
        print(f"fetching {line.split()[0]}", flush=True)
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", verb, "--quiet", "--no-deps", "--require-hashes"),
                *(into, work, *options, "-r", str(wanted)),
            ],
            check=True,
        )
        wheel = next(Path(work).glob("*.whl"))
        folder.mkdir(exist_ok=True)
        return wheel.rename(folder / wheel.name)


def horovod() -> Path:
    """Horovod's wheel, compiled if it is not in its own cache.

    Raises:
        LookupError: If it is for another Python than the image's.
    """
    done = subprocess.run(
        ["make", "--silent", "-C", str(HERE.parent), "horovod-wheel"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    wheel = Path(done.stdout.split("\n")[-2])
    if f"cp{PYTHON.replace('.', '')}" not in wheel.name:
        raise LookupError(
            f"{wheel.name} is not for Python {PYTHON}; run: make clean, then with PYTHON=python{PYTHON}"
        )
    return wheel


def fill(folder: Path, wheels: Iterable[Path]) -> None:
    """Make the folder hold exactly these wheels, as links where that can be."""
    wanted = {wheel.name: wheel for wheel in wheels}
    for there in folder.glob("*.whl"):
        if there.name not in wanted or there.stat().st_size != wanted[there.name].stat().st_size:
            there.unlink()
    for name, wheel in wanted.items():
        place = folder / name
        if place.exists():
            continue
        try:
            place.hardlink_to(wheel)
        except OSError:
            shutil.copy2(wheel, place)


if __name__ == "__main__":
    sys.exit(main())
