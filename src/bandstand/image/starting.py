"""Whether an image starts as SageMaker and its SDKs start it, tried with a program of one line."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bandstand.errors import PlatformError
from bandstand.image.docker_command import CommandError, Docker
from bandstand.image.recipe import PLATFORM

_PROGRAM = "bandstand_probe.sh"
_SAYS = "this image starts programs"
_CODE = 41
_NO_ENTRY_POINT = (
    "nothing in it takes the word train; end the Dockerfile with "
    'ENTRYPOINT ["python", "-m", "bandstand.training"]'
)
_SECRET_NAMES = ("SECRET", "PASSWORD", "TOKEN", "CREDENTIAL", "ACCESS_KEY", "API_KEY")


@dataclass(frozen=True)
class Check:
    """One thing that was tried.

    Args:
        name: What should be so, as a sentence.
        passed: Whether it is.
        detail: What was found instead; empty where it passed.
    """

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True)
class _Ended:
    code: int
    said: str
    failure: str


def check_image(
    docker: Docker, image: str, told: Callable[[Check], None] = lambda check: None
) -> list[Check]:
    """Start an image in every form.

    Args:
        docker: The docker command.
        image: The image.
        told: Called with each check when it is done.

    Returns:
        All checks, in order.
    """
    done = []
    for check in _checks(docker, image):
        told(check)
        done.append(check)
    return done


def _checks(docker: Docker, image: str) -> Iterator[Check]:
    facts = docker.inspect(image)
    yield _platform(facts)
    yield _no_secret(facts)
    if f"{facts['Os']}/{facts['Architecture']}" != _engine_platform(docker):
        return  # what this machine's processor cannot run is tried where it can
    forms = (("docker run IMAGE train trains", ("train",), ()), ("docker run IMAGE trains", (), ()))
    for name, words, options in (*forms, ("any user may run it", ("train",), ("--user", "12345:54321"))):
        ended = _run(docker, image, words, options, f"echo {_SAYS}")
        yield _expect(name, ended, ended.code == 0 and _SAYS in ended.said)
    ended = _run(docker, image, ("train",), (), f"exit {_CODE}")
    yield _expect("the program's exit code is the container's", ended, ended.code == _CODE)
    yield _expect("a failure leaves its reason in /opt/ml/output/failure", ended, bool(ended.failure.strip()))
    if "bandstand.training" in " ".join(facts["Config"].get("Entrypoint") or []):
        for word in ("serve", "nonsense"):
            ended = _run(docker, image, (word,), (), f"echo {_SAYS}")
            yield _expect(
                f"docker run IMAGE {word} is refused", ended, ended.code == 2 and _SAYS not in ended.said
            )


def _platform(facts: dict[str, Any]) -> Check:
    found = f"{facts['Os']}/{facts['Architecture']}"
    detail = f"it is for {found}; build it with --platform {PLATFORM}"
    return Check("it is for SageMaker's processors", found == PLATFORM, "" if found == PLATFORM else detail)


def _no_secret(facts: dict[str, Any]) -> Check:
    names = [each.partition("=") for each in facts["Config"].get("Env") or []]
    found = [
        name for name, _, value in names if value and any(word in name.upper() for word in _SECRET_NAMES)
    ]
    detail = f"its environment sets {', '.join(found)}, which whoever pulls it can read" if found else ""
    return Check("no secret stands in its environment", not found, detail)


def _engine_platform(docker: Docker) -> str:
    return docker.ask("version", "--format", "{{.Server.Os}}/{{.Server.Arch}}").strip()


def _expect(name: str, ended: _Ended, passed: bool) -> Check:
    if not passed and "executable file not found" in ended.said:
        return Check(name, passed, _NO_ENTRY_POINT)
    last = " / ".join(ended.said.strip().splitlines()[-2:]) or "it said nothing"
    return Check(name, passed, "" if passed else f"it ended with code {ended.code}: {last}")


def _run(docker: Docker, image: str, words: tuple[str, ...], options: tuple[str, ...], script: str) -> _Ended:
    """Start the image with a program that is copied into it, which works with an engine far away as well."""
    name = f"SAGEMAKER_PROGRAM={_PROGRAM}"
    created = docker.ask("create", "--network", "none", "--env", name, *options, image, *words)
    container = created.strip().splitlines()[-1]
    try:
        _put_program(docker, container, script)
        try:
            said, code = docker.ask("start", "--attach", container), 0
        except CommandError as error:
            said, code = error.said, -1
        if code:
            said = docker.ask("logs", container) + said
            code = int(docker.ask("inspect", "--format", "{{.State.ExitCode}}", container))
        return _Ended(code, said, _failure_file(docker, container))
    finally:
        docker.ask("rm", "--force", "--volumes", container)


def _put_program(docker: Docker, container: str, script: str) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in ("opt", "opt/ml", "opt/ml/code"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        program = f"#!/bin/sh\n{script}\n".encode()
        file = tarfile.TarInfo(f"opt/ml/code/{_PROGRAM}")
        file.mode, file.size = 0o755, len(program)
        tar.addfile(file, io.BytesIO(program))
    docker.ask("cp", "-", f"{container}:/", given=packed.getvalue().decode("ascii"))


def _failure_file(docker: Docker, container: str) -> str:
    try:
        return docker.ask("cp", f"{container}:/opt/ml/output/failure", "-")
    except PlatformError:
        return ""
