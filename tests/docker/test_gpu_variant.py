"""The image for GPUs, as far as a machine without one can tell: built for real, it trains on the CPU."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docker.containers import run_image
from tests.docker.images import docker

ROOT = Path(__file__).parents[2]
IMAGE = "bandstand-test-gpu:1"
SENT = ("Dockerfile", ".dockerignore", "pyproject.toml", "README.md", "LICENSE", "src", "container", "docker")

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The stage xgboost with ACCELERATOR=cuda, built in a copy, so that docker/wheels stays as it is."""
    folder = tmp_path_factory.mktemp("source")
    for name in SENT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name, **({"ignore": ignored} if (ROOT / name).is_dir() else {}))
    words = ["--target", "xgboost", "--build-arg", "ACCELERATOR=cuda", "--no-registry", "--tag", IMAGE]
    built = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "build", folder, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    yield IMAGE
    docker("rmi", "--force", IMAGE)


def ignored(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "__pycache__" or name.endswith(".whl")}


def test_xgboost_is_the_one_with_gpus_and_finds_its_nccl(image: str) -> None:
    program = (
        "import ctypes, glob, sysconfig, xgboost; "
        "print(xgboost.build_info()['USE_CUDA'], xgboost.build_info()['USE_NCCL']); "
        "path, = glob.glob(sysconfig.get_path('purelib') + '/nvidia/nccl/lib/libnccl.so.2'); "
        "ctypes.CDLL(path)"
    )
    words = ("run", "--rm", "--network", "none", "--entrypoint", "python", image)
    assert docker(*words, "-c", program) == "True True"
    assert docker(*words, "-m", "pip", "check") == "No broken requirements found."


def test_it_trains_where_there_is_no_gpu(image: str, tmp_path: Path) -> None:
    rows = "".join(f"{n % 2},{n % 7},{n % 2 + n % 3}\n" for n in range(200))
    container = run_image(
        image,
        ("train",),
        folder=tmp_path,
        hyperparameters={"algorithm": "xgboost", "num_round": "3", "objective": "binary:logistic"},
        data={"train/a.csv": rows, "validation/a.csv": rows},
    )
    try:
        assert container.wait() == 0, container.output()
        assert "iteration=3 " in container.output()
    finally:
        container.remove()
