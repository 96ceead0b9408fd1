"""Bandstand as plug-in of an image whose process 1 is the training toolkit's own `train`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docker.contract import ImageContract, Start
from tests.docker.images import docker

RECIPE = Path(__file__).parents[2] / "docker" / "toolkit.Dockerfile"
WITH_TOOLKIT = "bandstand:toolkit"


@pytest.fixture(scope="module")
def plugged_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    name = "bandstand-test-toolkit"
    empty = tmp_path_factory.mktemp("empty")
    docker("build", "--file", str(RECIPE), "--build-arg", f"IMAGE={WITH_TOOLKIT}", "--tag", name, str(empty))
    yield name
    docker("rmi", "--force", name)


class TestToolkitImage(ImageContract):
    # What other words mean is the toolkit's business.
    test_other_words_are_refused_with_exit_code_2 = None  # type: ignore[assignment]

    @pytest.fixture(autouse=True)
    def name(self, plugged_in: str) -> None:
        self.image = plugged_in

    def test_process_1_is_ours_and_no_shell_stands_before_it(self, start: Start) -> None:
        """Process 1 is the toolkit's; ours runs within it."""
        container = start(program="print(open('/proc/1/cmdline').read().split(chr(0))[:-1])")
        assert container.wait() == 0
        assert "/opt/venv/bin/train" in container.output()
