"""Build Horovod's wheel for the torch of this interpreter, once, and print where it lies.

    python docker/horovod/build_wheel.py                 prints the path of the wheel in the cache
    python docker/horovod/build_wheel.py --into wheels   also copies it to a folder, for an image

The interpreter needs torch and what `build-requirements.txt` lists. The wheel is kept in
`~/.cache/bandstand/horovod`, or `BANDSTAND_CACHE`, by everything that it depends on; the image, process hosts
and CI all take it from there. Only the standard library is used.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cuda_packages import lay_out
from torch_headers import AdviceError, check_headers, check_tools, find_torch

VERSION = "0.28.1"
SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"
"""Of the source archive of that version, `horovod-0.28.1.tar.gz`."""

RECIPE = 1
"""Counts changes of this recipe that change the wheel."""

STANDARD = 20
"""The C++ standard that torch's headers want."""

PATCHES = {
    "CMakeLists.txt": ("set(CMAKE_CXX_STANDARD 14)", f"set(CMAKE_CXX_STANDARD {STANDARD})"),
    "horovod/torch/CMakeLists.txt": ("set(CMAKE_CXX_STANDARD 14)", f"set(CMAKE_CXX_STANDARD {STANDARD})"),
}

FLAGS = {
    "HOROVOD_WITH_PYTORCH": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITHOUT_MPI": "1",
    "HOROVOD_WITHOUT_TENSORFLOW": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
    "CMAKE_POLICY_VERSION_MINIMUM": "3.5",  # CMake 4 refuses what Gloo's own file asks for
}
NCCL_FLAGS = {"HOROVOD_GPU": "CUDA", "HOROVOD_GPU_OPERATIONS": "NCCL"}


def main(words: Sequence[str] | None = None) -> int:
    """Build the wheel unless it is there, and print its path."""
    parser = argparse.ArgumentParser(
        description="Build Horovod's wheel for the torch of this interpreter, once."
    )
    parser.add_argument("--into", type=Path, metavar="DIR", help="copy the wheel to this folder as well")
    parser.add_argument("--nccl", action="store_true", help="with NCCL, for GPUs")
    parser.add_argument(
        "--sdist", type=Path, metavar="FILE", help="the source archive, instead of a download"
    )
    chosen = parser.parse_args(words)
    try:
        wheel = wheel_in_cache(nccl=chosen.nccl, sdist=chosen.sdist)
        if chosen.into:
            chosen.into.mkdir(parents=True, exist_ok=True)
            wheel = Path(shutil.copy2(wheel, chosen.into / wheel.name))
    except AdviceError as advice:
        print(f"Horovod {VERSION} is not built: {advice}", file=sys.stderr)
        return 2
    print(wheel)
    return 0


def wheel_in_cache(*, nccl: bool, sdist: Path | None) -> Path:
    """The wheel, built if it is not in the cache; one builder at a time, the others wait for it.

    Raises:
        AdviceError: If it cannot be built here.
    """
    torch = find_torch(nccl=nccl)
    folder = cache() / key(torch.version, nccl=nccl)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = sorted(folder.glob("*.whl"))
        if found:
            return found[0]
        check_tools()
        check_requirements()
        check_headers(torch, STANDARD)
        # Horovod's CMake files use the path as a pattern: a name with "+" would put the library elsewhere.
        with tempfile.TemporaryDirectory(prefix="horovod-") as work:
            source = unpack(sdist or download(Path(work)), Path(work) / "source")
            patch(source)
            cuda = {**NCCL_FLAGS, **lay_out(Path(work))} if nccl else {}
            built = build(source, Path(work), torch.version, cuda)
            check_wheel(built)
            part = folder / f"{built.name}.part"
            shutil.copyfile(built, part)
            return part.rename(folder / built.name)


def cache() -> Path:
    """Where wheels are kept."""
    named = os.environ.get("BANDSTAND_CACHE")
    return (Path(named) if named else Path.home() / ".cache" / "bandstand") / "horovod"


def key(torch: str, *, nccl: bool) -> str:
    """All that the wheel depends on, as the name of a folder."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    libc = "-".join(platform.libc_ver()) or platform.system()
    operations = "nccl" if nccl else "gloo"
    place = f"{python}-{sysconfig.get_platform()}-{libc}"
    return f"horovod-{VERSION}-torch-{torch}-{place}-{operations}-recipe{RECIPE}".replace("+", "-")


def check_requirements() -> None:
    """Make sure that Horovod's setup.py finds what it would fetch otherwise, unpinned."""
    listed = Path(__file__).with_name("build-requirements.txt")
    names = [line.partition(">=")[0] for line in listed.read_text().splitlines() if line[:1].isalpha()]
    missing = []
    for name in names:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        raise AdviceError(
            f"this Python ({sys.executable}) lacks {', '.join(missing)}. Install them first: "
            f"{sys.executable} -m pip install -r {listed}"
        )


def download(folder: Path) -> Path:
    """The source archive, from the package index that pip uses."""
    say(f"downloading horovod {VERSION}")
    wanted = folder / "wanted.txt"
    wanted.write_text(f"horovod=={VERSION} --hash=sha256:{SHA256}\n")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-binary", "horovod", "--require-hashes"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, "-r", str(wanted), "-d", str(folder)],
        stdout=sys.stderr,
    )
    archive = folder / f"horovod-{VERSION}.tar.gz"
    if done.returncode or not archive.is_file():
        raise AdviceError(
            "its source could not be downloaded (see above). Give the archive with --sdist FILE."
        )
    return archive


def unpack(archive: Path, to: Path) -> Path:
    """Check the archive's hash and unpack it."""
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        raise AdviceError(f"{archive} has the SHA-256 {found}; expected {SHA256}.")
    with tarfile.open(archive) as tar:
        tar.extractall(to, filter="data")
    return to / f"horovod-{VERSION}"


def patch(source: Path) -> None:
    """Set the C++ standard, which torch's headers refuse as Horovod has it."""
    for name, (before, after) in PATCHES.items():
        path = source / name
        text = path.read_text()
        if text.count(before) != 1:
            raise AdviceError(f"{name} has {before!r} {text.count(before)} times; expected once.")
        path.write_text(text.replace(before, after))


def build(source: Path, work: Path, torch: str, cuda: Mapping[str, str]) -> Path:
    """Compile, for GPUs with the variables given; the log goes to stderr only if that fails."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    say(f"compiling for torch {torch} on {cores} cores; about 12 minutes of one core")
    label = torch.replace("+", ".")
    environ = {"MAKEFLAGS": f"-j{cores}", **os.environ, **FLAGS, **cuda}
    if "HOROVOD_CUDA_HOME" in cuda:  # Horovod asks nvcc for its targets before it looks there
        environ["PATH"] = f"{cuda['HOROVOD_CUDA_HOME']}/bin:{environ['PATH']}"
    environ["HOROVOD_LOCAL_VERSION"] = f"torch{label}"
    log = work / "build.log"
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index"]
    with log.open("wb") as out:
        done = subprocess.run(
            [*command, "-w", str(work), str(source)], env=environ, stdout=out, stderr=subprocess.STDOUT
        )
    built = sorted(work.glob("*.whl"))
    if done.returncode or not built:
        kept = cache() / "failed-build.log"
        shutil.copyfile(log, kept)
        say("\n".join(log.read_text(errors="replace").splitlines()[-40:]))
        raise AdviceError(f"the compiler failed; its last lines are above, all of them in {kept}.")
    return built[0]


def check_wheel(wheel: Path) -> None:
    """Make sure that the library is where Python looks for it: setup.py ends well without it, too."""
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
    if not any(name.startswith("horovod/torch/mpi_lib_v2") for name in names):
        found = [name for name in names if name.endswith(".so")] or "no library"
        raise AdviceError(f"the wheel lacks horovod/torch/mpi_lib_v2; it holds {found}.")


def say(text: str) -> None:
    """One line for people."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
