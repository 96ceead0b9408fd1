"""Bandstand's own image."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
from pathlib import Path

import pytest
from tests.docker.contract import ImageContract, Start
from tests.docker.images import BASE, IMAGE, docker

ROOT = Path(__file__).parents[2]

SIZES = {"xgboost": 650e6, "horovod": 1.8e9, "all": 1.8e9}
"""Bytes that the README promises to stay below."""


class TestImage(ImageContract):
    image = IMAGE

    def test_the_built_in_algorithm_trains_on_csv(self, start: Start) -> None:
        rows = "".join(f"{n % 2},{n % 7},{n % 2 + n % 3}\n" for n in range(200))
        container = start(
            hyperparameters={"algorithm": "xgboost", "num_round": "3", "objective": "binary:logistic"},
            data={"train/a.csv": rows, "validation/a.csv": rows},
        )
        assert container.wait() == 0, container.output()
        assert "iteration=3 " in container.output()

    def test_its_packages_fit_one_another(self) -> None:
        assert self.sh("python -m pip check") == "No broken requirements found."

    def test_nothing_of_the_build_stays(self) -> None:
        assert self.sh("ls -d /build /image 2>/dev/null; true") == ""
        assert self.sh("find /opt/venv -name '*.whl' | head") == ""

    def test_a_start_compiles_nothing(self) -> None:
        code = (
            "import bandstand.training.host.process, os, sys; "
            "kept = [m.__cached__ for m in sys.modules.values() if getattr(m, '__cached__', None)]; "
            "print(len(kept) > 50, [path for path in kept if not os.path.exists(path)])"
        )
        assert self.sh(f'python -B -c "{code}"') == "True []"

    def test_horovod_trains_as_any_user(self, start: Start) -> None:
        rows = "".join(f"{n % 2},{n % 2 * 9},{n % 3}\n" for n in range(200))
        settings = {"algorithm": "horovod", "epochs": "2", "hidden": "8", "batch_size": "32"}
        data = {"train/a.csv": rows, "validation/a.csv": rows}
        container = start(hyperparameters=settings, data=data, user="12345:54321")
        assert container.wait() == 0, container.output()
        assert "iteration=2 " in container.output()


@pytest.mark.parametrize("stage", SIZES)
def test_each_stage_keeps_the_size_that_the_readme_states(stage: str) -> None:
    assert size_of(f"bandstand:{'latest' if stage == 'all' else stage}") < SIZES[stage]


def test_what_is_left_out_takes_no_room() -> None:
    assert size_of("bandstand:no-parquet") < size_of("bandstand:xgboost") - 100e6
    assert size_of("bandstand:xgboost") < size_of("bandstand:toolkit")


@pytest.mark.timeout(900)
def test_two_builds_have_the_same_files() -> None:
    """One of them takes nothing from the engine's cache; modes and owners are compared as well."""
    name = "bandstand-test-again"
    arguments = ("--build-arg", f"BASE_IMAGE={BASE}", "--build-arg", "PIP_NO_INDEX=1")
    made = ("build", "--target", "xgboost", *arguments)
    docker(*made, "--tag", "bandstand-test-once", str(ROOT))
    docker(*made, "--no-cache", "--tag", name, str(ROOT))
    try:
        once, again = files_of("bandstand-test-once"), files_of(name)
        assert len(once) > 3000
        assert {path for path in once.keys() | again.keys() if once.get(path) != again.get(path)} == set()
    finally:
        docker("rmi", "--force", "bandstand-test-once", name)


def size_of(image: str) -> int:
    """Bytes on this machine's disk."""
    return int(json.loads(docker("image", "inspect", image))[0]["Size"])


def files_of(image: str) -> dict[str, tuple[object, ...]]:
    """Every file of an image: kind, mode, owner, target and digest."""
    container = docker("create", image)
    found = {}
    try:
        with subprocess.Popen(["docker", "export", container], stdout=subprocess.PIPE) as process:
            with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
                for member in tar:
                    file = tar.extractfile(member) if member.isreg() else None
                    digest = hashlib.file_digest(file, "sha256").hexdigest() if file else None
                    facts = (member.type, member.mode, member.uid, member.gid, member.linkname, digest)
                    found[member.name] = facts
            assert process.stdout is not None
            process.stdout.read()
    finally:
        docker("rm", container)
    return found
