"""Bandstand's own image."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.docker.contract import ImageContract, Start
from tests.docker.images import IMAGE, docker

SIZES = {"xgboost": 650e6, "horovod": 1.8e9, "all": 1.8e9}
"""Bytes that the README promises to stay below."""


def stages() -> list[tuple[str, str]]:
    """The stages that are here, with the image of each."""
    return [
        (stage, f"bandstand:{stage}") for stage in SIZES if docker("images", "--quiet", f"bandstand:{stage}")
    ]


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


@pytest.mark.parametrize(("stage", "image"), stages())
def test_each_stage_keeps_the_size_that_the_readme_states(stage: str, image: str) -> None:
    facts: dict[str, Any] = json.loads(docker("image", "inspect", image))[0]
    assert facts["Size"] < SIZES[stage]
