"""A build's words and its ends, with a docker command that a test writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.errors import PlatformError
from bandstand.image.building import build, step_of
from bandstand.image.docker_command import Docker, find_docker
from bandstand.image.recipe import Recipe


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("Step 3/9 : RUN  make", "Step 3/9: RUN make"),
        ("#12 [all 3/5] COPY src /src", "[all 3/5]: COPY src /src"),
        ("#12 0.345 Collecting numpy", None),
        (" ---> 0123456789ab", None),
    ],
)
def test_both_builders_tell_their_steps(line: str, step: str | None):
    assert step_of(line) == step


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("write /x: no space left on device", "The engine's disk is full"),
        ("pull access denied for python", "bandstand build --no-registry"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "python docker/lock.py"),
        ("exec format error", "set up emulation"),
    ],
)
def test_a_build_that_fails_shows_its_last_words_and_what_to_do(tmp_path: Path, said: str, advice: str):
    command = tmp_path / "docker"
    command.write_text(f"#!/bin/sh\nfor n in $(seq 100); do echo line $n; done\necho '{said}' >&2\nexit 1\n")
    command.chmod(0o755)
    recipe = Recipe(tmp_path, tmp_path / "Dockerfile", None, "linux/amd64", (), ("a:1",))
    with pytest.raises(PlatformError) as told:
        build(recipe, Docker(str(command)), lambda step: None)
    text = str(told.value)
    assert said in text
    assert advice in text
    assert "line 100" in text
    assert "line 50" not in text


def test_a_machine_without_docker_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PlatformError, match=r"apt-get install docker\.io"):
        find_docker()


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Cannot connect to the Docker daemon at unix:///x", "Start it"),
        ("Got permission denied while trying to connect", "group docker"),
    ],
)
def test_an_engine_that_does_not_answer_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, advice: str
):
    command = tmp_path / "docker"
    command.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(PlatformError, match=advice):
        find_docker()
