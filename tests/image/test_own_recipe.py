"""Bandstand's own Dockerfile and its pins, as far as they can be checked without an engine."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
PIN = re.compile(r"[a-z0-9_.-]+==[a-z0-9.+]+ --hash=sha256:[0-9a-f]{64}")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docker" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lock() -> ModuleType:
    return load("lock")


@pytest.mark.parametrize("accelerator", ["cpu", "cuda"])
def test_the_pins_are_those_of_the_extras_as_they_stand_in_pyproject(lock: ModuleType, accelerator: str):
    for extra, names in lock.extras(accelerator).items():
        head, *pins = (ROOT / "docker" / "lock" / accelerator / f"{extra}.txt").read_text().splitlines()
        assert head.endswith(f"for: {', '.join(names)}"), "run: make lock"
        assert pins
        assert [pin for pin in pins if not PIN.fullmatch(pin)] == []


@pytest.mark.parametrize("accelerator", ["cpu", "cuda"])
def test_a_package_has_one_pin_in_all_extras(accelerator: str):
    pins: dict[str, set[str]] = {}
    for path in (ROOT / "docker" / "lock" / accelerator).glob("*.txt"):
        for line in path.read_text().splitlines()[1:]:
            pins.setdefault(line.partition("==")[0], set()).add(line)
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


def test_the_gpu_variant_has_xgboost_with_nccl_and_the_cpu_variant_has_none():
    read = {each: (ROOT / "docker" / "lock" / each / "xgboost.txt").read_text() for each in ("cpu", "cuda")}
    assert "\nxgboost==" in read["cuda"]
    assert "nvidia-nccl" in read["cuda"]
    assert "\nxgboost-cpu==" in read["cpu"]
    assert "nvidia" not in read["cpu"]


def test_the_gpu_variant_has_pytorch_with_nccl_and_the_cpu_variant_has_none():
    read = {each: (ROOT / "docker" / "lock" / each / "horovod.txt").read_text() for each in ("cpu", "cuda")}
    assert "\ntorch==2.13.0 " in read["cuda"]
    assert "\nnvidia-nccl-cu13==" in read["cuda"]
    assert "\ntorch==2.13.0+cpu " in read["cpu"]
    assert "nvidia" not in read["cpu"]


@pytest.mark.parametrize(
    ("given", "wheel", "goes_on"),
    [
        ({}, None, False),
        ({}, "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", True),
        ({"PIP_EXTRA_INDEX_URL": "https://index.example/cpu"}, None, True),
        ({"PIP_INDEX_URL": "https://mirror.example"}, None, True),
        ({"PIP_NO_INDEX": "1"}, None, True),
        ({"ACCELERATOR": "cuda"}, None, True),
    ],
)
def test_a_build_that_lacks_pytorchs_own_index_says_where_its_address_stands(
    given: dict[str, str], wheel: str | None, goes_on: bool, tmp_path: Path
):
    if wheel:
        (tmp_path / wheel).touch()
    done = subprocess.run(
        ["sh", ROOT / "docker" / "horovod" / "check_index.sh", tmp_path],
        env={"ACCELERATOR": "cpu", **given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is goes_on
    assert goes_on or "pytorch.org/get-started/locally" in done.stderr
    assert goes_on or "--build-arg PIP_EXTRA_INDEX_URL=ADDRESS" in done.stderr


def test_everything_that_the_recipe_copies_is_there_and_is_sent_to_the_engine():
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    sent = [rule[1:] for rule in rules]
    for words in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        for source in words.split()[:-1]:
            path = source.replace("${ACCELERATOR}", "cpu")
            assert (ROOT / path).exists(), path
            assert any(path == rule or fnmatch(path, f"{rule}/*") for rule in sent), path


@pytest.mark.parametrize("stage", ["xgboost", "horovod", "all"])
def test_a_build_with_no_index_has_the_wheels_of_every_stage_up_to_its_own(stage: str):
    """Without BuildKit the engine's builder makes them all."""
    before, own = DOCKERFILE.split(f" AS {stage}\n")
    copied = set(re.findall(r"docker/wheels/(\w+)", before + own.partition("\nFROM ")[0]))
    assert copied - {"toolkit"} == set(load("wheels").STAGES[stage])  # the toolkit is an option


def test_no_argument_of_the_packages_index_is_known_to_an_image_that_is_kept():
    """What a stage declares stands in its history, and an index's address may hold a password."""
    for stage in re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]:
        name = stage.splitlines()[0].rpartition(" AS ")[2]
        if name in ("runtime", "xgboost", "horovod", "all"):
            assert "PIP_INDEX_URL" not in stage
            assert "\nRUN " not in stage


def test_a_dry_run_prints_the_commands_of_the_gpu_variant():
    words = ["--target", "xgboost", "--build-arg", "ACCELERATOR=cuda", "--dry-run"]
    done = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "build", str(ROOT), *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "--target xgboost" in done.stdout
    assert "--build-arg ACCELERATOR=cuda" in done.stdout
