"""docker/byo.Dockerfile: an image of one's own does all that the big one does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docker.contract import ImageContract, Start
from tests.docker.images import BASE, docker

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def own_image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A script, and Bandstand's wheel beside it, as the image's recipe makes it."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "train.py").write_text("print('my own script')\n")
    stage = docker(
        *("build", "--quiet", "--target", "bandstand", "--build-arg", f"BASE_IMAGE={BASE}"),
        *("--build-arg", "PIP_NO_INDEX=1", str(ROOT)),
    )
    container = docker("create", stage)
    docker("cp", f"{container}:/build/made/.", str(folder))
    docker("rm", container)
    arguments = {
        "BASE_IMAGE": BASE,
        "PIP_NO_INDEX": "1",
        "VERSION": "1.0",
        "REVISION": "abc",
        "SOURCE": "https://example.org/mine",
    }
    given = [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
    recipe = str(ROOT / "docker" / "byo.Dockerfile")
    docker("build", "--file", recipe, "--tag", "bandstand-test-byo", *given, str(folder))
    yield "bandstand-test-byo"
    docker("rmi", "--force", "bandstand-test-byo")


class TestOwnImage(ImageContract):
    @pytest.fixture(autouse=True)
    def name(self, own_image: str) -> None:
        self.image = own_image

    def test_its_own_script_is_the_program(self, start: Start) -> None:
        container = start()
        assert container.wait() == 0
        assert "my own script" in container.output()
