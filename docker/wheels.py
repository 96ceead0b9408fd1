"""Fill docker/wheels with what an image installs, for a build with no package index.

    python docker/wheels.py STAGE [--toolkit] [--accelerator cuda]

Wheels are kept in `~/.cache/bandstand/wheels`, or `BANDSTAND_CACHE`. The build's context holds a folder for
each extra, with exactly its wheels, so that a change of one extra builds only its own layers anew. Only the
standard library and pip are used; `make horovod-wheel` compiles Horovod, and
`make horovod-wheel-cuda` does so for GPUs.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lock import PLATFORMS, PYTHON

HERE = Path(__file__).resolve().parent
HASH_DIGITS = 16
"""Of a pin's hash, in the name of its folder."""
LOCKS = HERE / "lock"
STAGES = {
    "xgboost": ("build", "xgboost", "parquet"),
    "horovod": ("build", "xgboost", "parquet", "horovod"),
    "all": ("build", "xgboost", "parquet", "horovod"),
}
"""What a build of each stage of the Dockerfile installs, as names of the files in docker/lock/ACCELERATOR.

Without BuildKit the engine's builder makes every stage that stands before it, too.
"""


def main(words: Sequence[str] | None = None) -> int:
    """Fill the folder."""
    parser = argparse.ArgumentParser(description="Fill docker/wheels for a build with no package index.")
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("--toolkit", action="store_true", help="with the sagemaker-training toolkit")
    parser.add_argument("--accelerator", choices=("cpu", "cuda"), default="cpu")
    chosen = parser.parse_args(words)
    locks = LOCKS / chosen.accelerator
    if chosen.accelerator == "cuda" and chosen.stage == "all":
        parser.error("for GPUs there are two images: say --target xgboost or --target horovod")
    extras = [*STAGES[chosen.stage], *(["toolkit"] if chosen.toolkit else [])]
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:  # one at a time, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            wheels = {extra: locked(lines(locks / f"{extra}.txt")) for extra in extras}
            if "toolkit" in wheels:
                wheels["toolkit"] += [compiled(line) for line in lines(HERE / "lock" / "built.txt")]
            if "horovod" in wheels:
                wheels["horovod"].append(horovod(chosen.accelerator))
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


def locked(pins: Sequence[str]) -> list[Path]:
    """The wheels of pins; those that are not in the cache are downloaded together."""
    missing = [pin for pin in pins if not list(place(pin).glob("*.whl"))]
    if missing:
        target = (
            *("--only-binary", ":all:", "--python-version", PYTHON),
            *(word for platform in PLATFORMS for word in ("--platform", platform)),
        )
        by_hash = {place(pin).name: pin for pin in missing}
        with fetched(missing, "download", "-d", *target) as wheels:
            for wheel in wheels:
                with wheel.open("rb") as file:
                    keep(wheel, by_hash[hashlib.file_digest(file, "sha256").hexdigest()[:HASH_DIGITS]])
    return [next(place(pin).glob("*.whl")) for pin in pins]


def compiled(pin: str) -> Path:
    """The wheel of a pin that only has a source, compiled if it is not in the cache."""
    for found in place(pin).glob("*.whl"):
        return found
    with fetched([pin], "wheel", "-w", "--no-binary", ":all:") as wheels:
        return keep(wheels[0], pin)


def place(pin: str) -> Path:
    """A pin's folder in the cache, named after its hash."""
    return cache() / pin.rpartition(":")[2][:HASH_DIGITS]


def keep(wheel: Path, pin: str) -> Path:
    """Put a wheel into its pin's folder."""
    place(pin).mkdir(exist_ok=True)
    return wheel.rename(place(pin) / wheel.name)


@contextmanager
def fetched(pins: Sequence[str], verb: str, into: str, *options: str) -> Iterator[list[Path]]:
    """What pip makes of pins, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=cache()) as work:
        wanted = Path(work, "wanted.txt")
        wanted.write_text("\n".join([*pins, ""]))
        print(f"fetching {', '.join(pin.split()[0] for pin in pins)}", flush=True)
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", verb, "--quiet", "--no-deps", "--require-hashes"),
                *(into, work, *options, "-r", str(wanted)),
            ],
            check=True,
        )
        yield sorted(Path(work).glob("*.whl"))


def horovod(accelerator: str) -> Path:
    """Horovod's wheel, compiled if it is not in its own cache.

    Raises:
        LookupError: If it is for another Python than the image's.
    """
    target = "horovod-wheel" if accelerator == "cpu" else f"horovod-wheel-{accelerator}"
    done = subprocess.run(
        ["make", "--silent", "-C", str(HERE.parent), target],
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
