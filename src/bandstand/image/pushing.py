"""A push as it goes: login, push, digest. The login is kept in a folder of its own that ends with the "
"push."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bandstand.errors import PlatformError
from bandstand.image.docker_command import CommandError, Docker
from bandstand.image.ecr import Login, Repository
from bandstand.image.push_plan import PushPlan
from bandstand.image.refusals import from_docker

_DIGEST = re.compile(r"digest: (sha256:[0-9a-f]{64}) size: [0-9]+")
_CREDENTIALS = ("auths", "credsStore", "credHelpers", "HttpHeaders")
_LINKED = ("contexts", "cli-plugins")


@dataclass(frozen=True)
class Pushed:
    """An image in ECR.

    Args:
        uri: Registry, repository and digest: what an estimator takes, and what cannot move.
        tagged: Registry, repository and tag.
        digest: `sha256:...` of its manifest.
    """

    uri: str
    tagged: str
    digest: str


def push(
    plan: PushPlan, repository: Repository, login: Login, docker: Docker, told: Callable[[str], None]
) -> Pushed:
    """Push the plan's image.

    Args:
        plan: What is pushed.
        repository: Where to.
        login: To its registry.
        docker: The docker command.
        told: Called with each line that the docker command prints.

    Raises:
        PlatformError: The registry refused; with what to do.
    """
    registry = repository.uri.partition("/")[0]
    tagged = f"{repository.uri}:{plan.tag}"
    digest = None
    with _own_configuration() as folder:
        private = Docker(docker.program, {**docker.environ, "DOCKER_CONFIG": str(folder)})
        try:
            private.ask("login", "--username", login.user, "--password-stdin", registry, given=login.password)
            private.ask("tag", plan.image, tagged)
            for line in private.lines("push", tagged):
                told(line)
                found = _DIGEST.search(line)
                digest = found[1] if found else digest
        except CommandError as error:
            raise from_docker(error, plan) from None
    if digest is None:
        raise PlatformError(f"{tagged} was pushed, but the docker command told no digest.")
    return Pushed(f"{repository.uri}@{digest}", tagged, digest)


@contextmanager
def _own_configuration() -> Iterator[Path]:
    """A folder for the docker command's settings: the user's, without any login.

    The login of a push thus stands in no file that outlives it, and no helper of the user's is asked for one.
    """
    named = os.environ.get("DOCKER_CONFIG")
    users = Path(named) if named else Path("~/.docker").expanduser()
    with tempfile.TemporaryDirectory(prefix="bandstand-push-") as name:  # mode 0700
        folder = Path(name)
        try:
            settings = json.loads((users / "config.json").read_text())
        except (OSError, ValueError):
            settings = {}
        kept = {key: value for key, value in settings.items() if key not in _CREDENTIALS}
        (folder / "config.json").write_text(json.dumps(kept))
        for part in _LINKED:
            if (users / part).is_dir():
                (folder / part).symlink_to((users / part).resolve())
        yield folder
