"""Whether Horovod can be built here, found out in seconds rather than at the end of a build."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BUILT_FOR = "2.13.0"
"""The torch that this recipe is tried with; others may do, and are tried with a small program first."""

INSTEAD = "Or train with the hyperparameter ring=torch, which needs no Horovod and gives the same weights."

_ASK = """
import json, sysconfig, torch, torch.utils.cpp_extension as cpp
print(json.dumps({"version": torch.__version__, "cuda": torch.version.cuda,
                  "include": [*cpp.include_paths(), sysconfig.get_paths()["include"]]}))
"""

_PROGRAM = """
#include <torch/extension.h>
#include <torch/torch.h>
#include <ATen/ATen.h>
// What Horovod 0.28.1 uses of torch's C++ interface.
at::Tensor horovod_needs(at::Tensor tensor) {
  static_assert(std::is_same<decltype(tensor.scalar_type()), ::torch::ScalarType>::value, "scalar types");
  void* place = tensor.data_ptr();
  return place ? ::torch::empty(tensor.sizes(), tensor.options()) : ::torch::zeros({1}, ::torch::kByte);
}
"""


class AdviceError(Exception):
    """Why the wheel cannot be built, and what to do."""


@dataclass(frozen=True)
class Torch:
    """The torch of this interpreter.

    Args:
        version: Such as `2.13.0+cpu`.
        include: Folders of its headers and Python's.
    """

    version: str
    include: tuple[str, ...]


def find_torch(*, nccl: bool) -> Torch:
    """Ask torch for its version and headers, in a process of its own.

    Raises:
        AdviceError: If there is none, or none for GPUs where NCCL is asked for.
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", _ASK], capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise AdviceError(
            f"torch cannot be imported by {sys.executable} ({last}). Install the one that this recipe is "
            f"tried with: {sys.executable} -m pip install torch=={BUILT_FOR}"
        )
    found = json.loads(done.stdout.splitlines()[-1])
    if nccl and not found["cuda"]:
        raise AdviceError(
            f"NCCL is asked for, but torch {found['version']} is built without CUDA. Leave --nccl out, or "
            "install a torch for CUDA."
        )
    return Torch(found["version"], tuple(found["include"]))


def check_tools() -> None:
    """Look for the compiler and its tools.

    Raises:
        AdviceError: With everything that is missing.
    """
    missing = [name for name in ("c++", "cmake", "make") if not shutil.which(name)]
    if missing:
        raise AdviceError(
            f"not found: {', '.join(missing)}. On Debian and Ubuntu: apt-get install g++ cmake make "
            f"python3-dev. {INSTEAD}"
        )


def check_headers(torch: Torch, standard: int) -> None:
    """Compile a small program against torch's headers, with the standard that Horovod is built with.

    Raises:
        AdviceError: With the compiler's first error.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "needs.cc"
        path.write_text(_PROGRAM)
        includes = [f"-I{place}" for place in torch.include]
        done = subprocess.run(
            ["c++", f"-std=c++{standard}", "-fsyntax-only", "-w", *includes, str(path)],
            capture_output=True,
            text=True,
        )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or [
            done.stderr.strip()[-300:]
        ]
        raise AdviceError(
            f"the headers of torch {torch.version} do not compile as C++{standard} with this compiler: "
            f"{errors[0]}. This recipe is tried with torch {BUILT_FOR} and GCC 12. {INSTEAD}"
        )
