"""What compiles Horovod for GPUs comes as Python packages: it needs neither a GPU nor CUDA's installer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "docker" / "lock" / "cuda"
LAY_OUT = """
import json, pathlib, sys
from cuda_packages import lay_out
print(json.dumps(lay_out(pathlib.Path(sys.argv[1]))))
"""

KERNEL = """
__global__ void scale(float *values, float factor, int count) {
  int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place < count) values[place] *= factor;
}
"""

PROGRAM = """
#include <cstdio>
#include <cuda_runtime.h>
#include <nccl.h>
int main() {
  int runtime = 0, nccl = 0;
  return cudaRuntimeGetVersion(&runtime) || ncclGetVersion(&nccl) || nccl != NCCL_VERSION_CODE ||
         runtime != CUDART_VERSION;
}
"""


def lay_out(folder: Path, packages: Path) -> subprocess.CompletedProcess[str]:
    """Run the layout with nothing but a folder of packages, and what Debian has."""
    return subprocess.run(
        [sys.executable, "-S", "-c", LAY_OUT, folder],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT / 'docker' / 'horovod'}:{packages}"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pinned compiler, and of what comes with torch NCCL."""
    folder = tmp_path_factory.mktemp("packages")
    nccl = [line for line in (LOCKS / "horovod.txt").read_text().splitlines() if "-nccl-" in line]
    pins = folder / "pins.txt"
    pins.write_text("\n".join([(LOCKS / "nvcc.txt").read_text(), *nccl]))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    subprocess.run([*pip, "--target", folder, "-r", pins], check=True, timeout=280)
    return folder


@pytest.fixture
def toolkit(tmp_path: Path, packages: Path) -> Mapping[str, str]:
    done = lay_out(tmp_path, packages)
    assert done.returncode == 0, done.stderr
    found: Mapping[str, str] = json.loads(done.stdout)
    return found


def test_the_compiler_makes_code_for_every_gpu_that_is_asked_for(toolkit: Mapping[str, str], tmp_path: Path):
    (tmp_path / "kernel.cu").write_text(KERNEL)
    numbers = toolkit["HOROVOD_BUILD_CUDA_CC_LIST"].split(",")
    targets = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in numbers]
    nvcc = f"{toolkit['HOROVOD_CUDA_HOME']}/bin/nvcc"
    command = [nvcc, "-O3", "-std=c++17", *targets, "-fatbin", "-o", "kernel.fatbin", "kernel.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "kernel.fatbin").read_bytes()
    assert [number for number in numbers if f"sm_{number}".encode() not in made] == []


def test_a_program_is_linked_with_cudas_runtime_and_nccl_and_finds_both(
    toolkit: Mapping[str, str], tmp_path: Path
):
    (tmp_path / "program.cc").write_text(PROGRAM)
    places = [Path(toolkit[name]) for name in ("HOROVOD_CUDA_HOME", "HOROVOD_NCCL_HOME")]
    words = [word for place in places for word in (f"-I{place / 'include'}", f"-L{place / 'lib'}")]
    subprocess.run(
        ["c++", "program.cc", *words, "-lcudart", "-lnccl", "-o", "program"], cwd=tmp_path, check=True
    )
    paths = ":".join(str(place / "lib") for place in places)
    subprocess.run([tmp_path / "program"], env={**os.environ, "LD_LIBRARY_PATH": paths}, check=True)


def test_without_the_packages_the_advice_names_their_pins(tmp_path: Path):
    done = lay_out(tmp_path, tmp_path)
    assert "not found: nvcc and NCCL's headers" in done.stderr
    assert f"-r {(LOCKS / 'nvcc.txt').relative_to(ROOT)}" in done.stderr
