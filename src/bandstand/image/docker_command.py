"""The docker command, which builds and pushes.

The command rather than the engine's API: it is the command that has the builder (BuildKit where there is one,
the classic one elsewhere), reads .dockerignore, and knows the user's contexts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bandstand.errors import PlatformError

_KEPT = 60
"""Lines of a failed command that are kept to tell why."""


class CommandError(PlatformError):
    """The docker command refused.

    Args:
        words: What it was asked.
        said: The end of what it said.
    """

    def __init__(self, words: Sequence[str], said: str) -> None:
        super().__init__(f"docker {' '.join(words[:2])}: {said.strip() or 'failed and said nothing'}")
        self.said = said


@dataclass(frozen=True)
class Docker:
    """The docker command of this machine.

    Args:
        program: Its path.
        environ: Variables beside this process's own.
    """

    program: str
    environ: Mapping[str, str] = field(default_factory=dict)

    def ask(self, *words: str, given: str | None = None) -> str:
        """Run it and return what it printed.

        Args:
            words: Its arguments.
            given: Its standard input.

        Raises:
            CommandError: It ended with another code than 0.
        """
        done = subprocess.run(
            [self.program, *words],
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, **self.environ},
        )
        if done.returncode:
            raise CommandError(words, done.stderr or done.stdout)
        return done.stdout

    def inspect(self, image: str) -> dict[str, Any]:
        """Describe a local image.

        Raises:
            PlatformError: There is none of this name, with what to do.
        """
        try:
            described: list[dict[str, Any]] = json.loads(self.ask("image", "inspect", image))
        except CommandError as error:
            if "No such image" in error.said:
                raise PlatformError(
                    f"There is no image {image} here. Build it (bandstand build), pull it (docker pull "
                    f"{image}), or name another one; 'docker images' lists what there is."
                ) from None
            raise
        return described[0]

    def lines(self, *words: str) -> Iterator[str]:
        """Run it and give its output, both streams, line by line as it comes.

        Raises:
            CommandError: It ended with another code than 0; with the end of its output.
        """
        kept: list[str] = []
        process = subprocess.Popen(
            [self.program, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **self.environ},
        )
        with process:
            try:
                for line in process.stdout or ():
                    line = line.rstrip("\n")
                    kept = [*kept[-_KEPT:], line]
                    yield line
            except BaseException:
                process.terminate()
                raise
        if process.returncode:
            raise CommandError(words, "\n".join(kept))


def find_docker() -> Docker:
    """Find the docker command and an engine that answers.

    Raises:
        PlatformError: If there is none, with what to do.
    """
    program = shutil.which("docker")
    if program is None:
        raise PlatformError(
            "There is no docker command on this machine, which builds and pushes images. Install one: on "
            "Debian and Ubuntu apt-get install docker.io, elsewhere https://docs.docker.com/get-docker/"
        )
    docker = Docker(program)
    try:
        docker.ask("version", "--format", "{{.Server.Version}}")
    except CommandError as error:
        said = error.said.strip().splitlines()[-1:] or ["no reason given"]
        if "permission denied" in error.said.lower():
            advice = "This user may not use it: add the user to the group docker, or use sudo."
        else:
            advice = "Start it (systemctl start docker, or Docker Desktop), or set DOCKER_HOST."
        raise PlatformError(f"No container engine answers: {said[0]}. {advice}") from None
    return docker
