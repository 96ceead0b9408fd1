"""Gives the files that containers left to whoever ran the job: containers run as root, or as anybody."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bandstand.backends.engine import Engine, EngineError
from bandstand.errors import PlatformError

_PATIENCE = 600.0


def give_back(engine: Engine, image: str, places: Sequence[Path], labels: Mapping[str, str]) -> None:
    """Make everything below some folders the caller's.

    Root does it for itself. For anybody else a container does it, of the image that has just run, since it
    needs no other one: its `chown` runs as root.

    Args:
        engine: The engine.
        image: The job's image.
        places: Folders; those that are not there hold nothing.
        labels: For the container, so that it is found if it is left behind.

    Raises:
        PlatformError: It cannot be done; says what to do.
    """
    user, group = os.geteuid(), os.getegid()
    foreign = [place for place in places if _holds_foreign(place, user)]
    if not foreign:
        return
    if user == 0:
        for place in foreign:
            _own(place, user, group)
        return
    security = engine.ask("GET", "/info").get("SecurityOptions") or ()
    is_rootless = any("name=rootless" in option for option in security)
    owner = "0:0" if is_rootless else f"{user}:{group}"
    try:
        _run(engine, _request(image, foreign, owner, labels, is_rootless=is_rootless))
    except EngineError as error:
        raise PlatformError(_advice(foreign, error.message)) from error
    still = [place for place in foreign if _holds_foreign(place, user)]
    if still:
        raise PlatformError(_advice(still, f"chown of the image {image} did not change it"))


def _holds_foreign(place: Path, user: int) -> bool:
    if not place.is_dir():
        return False
    unseen: list[OSError] = []
    for folder, folders, files in os.walk(place, onerror=unseen.append):
        for name in (*folders, *files, "."):
            if os.lstat(Path(folder, name)).st_uid != user:
                return True
    return bool(unseen)


def _own(place: Path, user: int, group: int) -> None:
    for folder, folders, files in os.walk(place):
        for name in (*folders, *files, "."):
            os.chown(Path(folder, name), user, group, follow_symlinks=False)


def _request(
    image: str, places: Sequence[Path], owner: str, labels: Mapping[str, str], *, is_rootless: bool
) -> dict[str, Any]:
    shown = {f"/given/{number}": str(place) for number, place in enumerate(places)}
    config: dict[str, Any] = {
        "NetworkMode": "none",
        "LogConfig": {"Type": "none"},
        "SecurityOpt": ["label=disable"],
        "Mounts": [{"Type": "bind", "Source": place, "Target": inside} for inside, place in shown.items()],
    }
    if not is_rootless:
        config["UsernsMode"] = "host"
    return {
        "Image": image,
        "Entrypoint": ["chown"],
        "Cmd": ["-R", "-h", owner, *shown],
        "User": "0:0",
        "Labels": dict(labels),
        "HostConfig": config,
    }


def _run(engine: Engine, request: Mapping[str, Any]) -> None:
    container = engine.ask("POST", "/containers/create", request)["Id"]
    try:
        engine.ask("POST", f"/containers/{container}/start")
        engine.ask("POST", f"/containers/{container}/wait", patience=_PATIENCE)
    finally:
        engine.ask("DELETE", f"/containers/{container}", force=1, v=1)


def _advice(places: Sequence[Path], why: str) -> str:
    listed = " ".join(str(place) for place in places)
    return (
        f"Files of the containers belong to another user still ({why}). "
        f"Run: sudo chown -R $(id -u):$(id -g) {listed}"
    )
