"""A build as it goes: a base and wheels where no registry is at hand, then the steps of the Dockerfile."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bandstand.errors import PlatformError
from bandstand.image.docker_command import CommandError, Docker
from bandstand.image.recipe import BASE, Recipe

_CLASSIC = re.compile(r"(Step [0-9]+/[0-9]+) : (.*)")
_BUILDKIT = re.compile(r"#[0-9]+ (\[[^\]]+\]) (.*)")
_SHOWN = 12
"""Lines of a failed build that are shown."""

_ADVICE = (
    (
        ("no space left on device",),
        (
            "The engine's disk is full: docker system df shows what fills it, docker builder prune "
            "and docker image prune free some."
        ),
    ),
    (
        ("pull access denied", "failed to resolve", "dial tcp", "no such host", "i/o timeout", "lookup"),
        (
            "The base image or an index cannot be reached from here. With no registry at hand: "
            "bandstand build --no-registry, or name a base that is here: --build-arg BASE_IMAGE=NAME"
        ),
    ),
    (
        ("do not match the hashes", "hashes are required"),
        "A package is another file than the one that docker/lock pins. Pin anew: python docker/lock.py",
    ),
    (
        ("no matching distribution found", "could not find a version"),
        "A package is not in the index, or not for this Python or platform.",
    ),
    (
        ("exec format error",),
        "This machine cannot run programs of that platform; set up emulation (binfmt_misc).",
    ),
)


@dataclass(frozen=True)
class Built:
    """An image that was built.

    Args:
        identifier: The engine's: `sha256:...`.
        size: Bytes on this machine's disk.
        platform: Such as `linux/amd64`.
        tags: What it is called.
    """

    identifier: str
    size: int
    platform: str
    tags: tuple[str, ...]


def commands(recipe: Recipe, *, registry: bool) -> list[tuple[str, ...]]:
    """The commands of a build, in order, as a dry run prints them."""
    docker = [("docker", *recipe.words)]
    return docker if registry else [*_before(recipe), *docker]


def prepare(recipe: Recipe, docker: Docker, told: Callable[[str], None]) -> None:
    """Make the base and fetch the wheels of a build with no registry.

    Args:
        recipe: The build.
        docker: The docker command.
        told: Called with each line.

    Raises:
        PlatformError: If one of them cannot be made.
    """
    for command in _before(recipe):
        if command[0].endswith("base.sh") and _is_here(docker, BASE):
            continue
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            last = ""
            for line in process.stdout or ():
                last = line.strip() or last
                told(last)
        if process.returncode:
            raise PlatformError(f"{Path(command[0]).name} ended with code {process.returncode}: {last}")


def build(recipe: Recipe, docker: Docker, told: Callable[[str], None]) -> Built:
    """Build an image.

    Args:
        recipe: What.
        docker: The docker command.
        told: Called with each step as it begins.

    Raises:
        PlatformError: If it fails; with the end of what the builder said, and what to do.
    """
    # The same words from both builders, and from BuildKit whole lines rather than a display of its own.
    builder = Docker(docker.program, {**docker.environ, "BUILDKIT_PROGRESS": "plain"})
    try:
        for line in builder.lines(*recipe.words):
            step = step_of(line)
            if step:
                told(step)
    except CommandError as error:
        raise PlatformError(_failed(error.said)) from None
    facts = docker.inspect(recipe.tags[0])
    return Built(facts["Id"], facts["Size"], f"{facts['Os']}/{facts['Architecture']}", recipe.tags)


def step_of(line: str) -> str | None:
    """The step that a line of the builder begins; None for any other line."""
    found = _CLASSIC.match(line) or _BUILDKIT.match(line)
    return " ".join(f"{found[1]}: {found[2]}".split()) if found else None


def _before(recipe: Recipe) -> list[tuple[str, ...]]:
    folder = recipe.folder / "docker"
    arguments = dict(recipe.arguments)
    toolkit = ["--toolkit"] if arguments.get("TOOLKIT") else []
    accelerator = arguments.get("ACCELERATOR")
    kind = ["--accelerator", accelerator] if accelerator else []
    stage = recipe.stage or "all"
    wheels: Sequence[str] = (sys.executable, str(folder / "wheels.py"), stage, *toolkit, *kind)
    return [(str(folder / "base.sh"), BASE), tuple(map(os.fspath, wheels))]


def _is_here(docker: Docker, image: str) -> bool:
    try:
        docker.inspect(image)
    except CommandError:
        raise
    except PlatformError:
        return False
    return True


def _failed(said: str) -> str:
    # The classic builder begins with advice on another one.
    lines = [line for line in said.rpartition("Sending build context")[2].splitlines()[1:] if line.strip()]
    lines = lines or [line for line in said.splitlines() if line.strip()]
    words = said.lower()
    advice = next((text for signs, text in _ADVICE if any(sign in words for sign in signs)), "")
    head = "The image was not built. The builder's last words:"
    return "\n".join([head, *(f"  {line}" for line in lines[-_SHOWN:]), *([advice] if advice else [])])
