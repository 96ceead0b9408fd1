"""CUDA's compiler and NCCL out of Python packages, laid out as Horovod's build looks for them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from torch_headers import AdviceError

LOCK = "docker/lock/cuda/nvcc.txt"
"""The pins of what the compiler consists of; NCCL and CUDA's runtime come with torch."""

CAPABILITIES = "75,80,86,89,90,100"
"""Compute capabilities of the GPUs in SageMaker's instances: g4dn, p4, g5, g6, p5, p6."""


def lay_out(folder: Path) -> Mapping[str, str]:
    """Make a CUDA toolkit of links to the files of Python packages; without them the machine's own is taken.

    Args:
        folder: An empty folder, which the build needs to its end.

    Returns:
        Variables for Horovod's build.

    Raises:
        AdviceError: The machine has none either.
    """
    chosen = {"HOROVOD_BUILD_CUDA_CC_LIST": CAPABILITIES}
    compilers = [place for root in _packages() for place in root.glob("cu*/bin/nvcc")]
    nccl = [place for root in _packages() for place in root.glob("nccl/include/nccl.h")]
    if not compilers and shutil.which("nvcc"):
        return chosen
    if not compilers or not nccl:
        missing = [name for name, found in (("nvcc", compilers), ("NCCL's headers", nccl)) if not found]
        raise AdviceError(
            f"not found: {' and '.join(missing)}. Install the compiler's packages beside a torch for CUDA: "
            f"python -m pip install --no-deps --require-hashes -r {LOCK}"
        )
    cuda = compilers[0].parents[1]
    toolkit = folder / "toolkit"
    for name in ("bin", "lib64"):
        (toolkit / name).mkdir(parents=True)
    for name in ("include", "nvvm"):
        (toolkit / name).symlink_to(cuda / name)
    (toolkit / "lib").symlink_to("lib64")
    for path in (cuda / "bin").iterdir():
        (toolkit / "bin" / path.name).symlink_to(path)
    for library in (cuda / "lib", nccl[0].parents[1] / "lib"):
        _link_libraries(library, toolkit / "lib64")
    (folder / "nccl").mkdir()
    (folder / "nccl" / "include").symlink_to(nccl[0].parent)
    (folder / "nccl" / "lib").symlink_to(toolkit / "lib64")
    return chosen | {
        "HOROVOD_CUDA_HOME": str(toolkit),
        "CUDAToolkit_ROOT": str(toolkit),
        "HOROVOD_NCCL_HOME": str(folder / "nccl"),
    }


def _link_libraries(source: Path, target: Path) -> None:
    """Link libraries under their own names and, for the linker, without the version."""
    for path in source.iterdir():
        (target / path.name).symlink_to(path)
        plain = target / f"{path.name.partition('.so')[0]}.so"
        if ".so." in path.name and not plain.is_symlink():
            plain.symlink_to(path)


def _packages() -> list[Path]:
    """Where NVIDIA's Python packages are."""
    found = find_spec("nvidia")
    return [] if found is None else [Path(place) for place in found.submodule_search_locations or ()]
