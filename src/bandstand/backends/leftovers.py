"""Everything at the container engine that belongs to a job or a home, found by its labels and removed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bandstand.backends.container_network import FOLDER, HOME
from bandstand.backends.engine import Engine, EngineError, Exchange
from bandstand.backends.engine_address import find_engine
from bandstand.backends.job_folder import JobFolder
from bandstand.errors import PlatformError

_GONE = 404
_BUSY = (403, 409)
_LEAVING = (_GONE, 409)
"""Gone, or being removed by somebody else."""
_ATTEMPTS = 50
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class Leftovers:
    """Containers and networks of one job.

    Args:
        folder: The job's folder.
        containers: Their identifiers.
        networks: Their identifiers.
    """

    folder: Path
    containers: tuple[str, ...]
    networks: tuple[str, ...]

    def __str__(self) -> str:
        """What it is, for people."""
        parts = (_counted(len(self.containers), "container"), _counted(len(self.networks), "network"))
        return f"{' and '.join(part for part in parts if part)} of {self.folder.name}, which nobody owns"


def of_job(engine: Engine, folder: Path) -> Leftovers:
    """Return what a job has at the engine, dead or alive."""
    labels = [f"{FOLDER}={folder}"]
    found = _find(engine, labels)
    return found[0] if found else Leftovers(folder, (), ())


def of_home(engine: Engine, home: Path) -> list[Leftovers]:
    """Return what jobs of a home have at the engine that nobody supervises any more."""
    found = _find(engine, [f"{HOME}={home}"])
    return [each for each in found if not JobFolder(each.folder).is_supervised()]


def left_behind(environ: Mapping[str, str], home: Path) -> list[Leftovers]:
    """Return what jobs of a home left at the engine; nothing where there is no engine to ask.

    Args:
        environ: Says where the engine is.
        home: The folder of all state, absolute.
    """
    try:
        return of_home(find_engine(environ), home)
    except PlatformError:
        return []


def remove(engine: Engine, leftovers: Leftovers) -> None:
    """End and remove containers, their unnamed volumes, and networks; those that are gone are fine.

    Raises:
        EngineError: The engine refuses.
        EngineLostError: The engine does not answer.
    """
    removal = Removal(engine, leftovers.containers, leftovers.networks)
    removal.see_containers_off()
    removal.see_networks_off()


class Removal:
    """Containers and networks on their way out, with the containers' unnamed volumes; see `remove`.

    Args:
        engine: The engine.
        containers: Their identifiers; ended by force if they run.
        networks: The identifiers of networks that nothing else is in.

    Raises:
        EngineLostError: The engine does not answer.
    """

    def __init__(self, engine: Engine, containers: Iterable[str], networks: Iterable[str] = ()) -> None:
        self._engine = engine
        self._sent = [
            engine.send("DELETE", f"/containers/{identifier}", force=1, v=1) for identifier in containers
        ]
        # Containers that have ended are in no network: one need not wait for the other's end.
        self._networks = [
            (identifier, engine.send("DELETE", f"/networks/{identifier}")) for identifier in networks
        ]

    def see_containers_off(self) -> None:
        """Wait until the containers are gone; raises as `remove` does."""
        while self._sent:
            try:
                self._sent.pop().answer()
            except EngineError as error:
                if error.status not in _LEAVING:
                    raise

    def see_networks_off(self) -> None:
        """Wait until the networks are gone as well; raises as `remove` does."""
        while self._networks:
            identifier, sent = self._networks.pop()
            _remove_network(self._engine, identifier, sent)


def _remove_network(engine: Engine, identifier: str, sent: Exchange) -> None:
    """Remove a network as soon as the last container has left it, which may be a moment after its end."""
    for attempt in range(_ATTEMPTS):
        try:
            sent.answer()
        except EngineError as error:
            if error.status == _GONE:
                return
            if error.status not in _BUSY or attempt == _ATTEMPTS - 1:
                raise
            if attempt:  # else the containers were there when it was asked, and are gone now
                time.sleep(_PAUSE_SECONDS)
            sent = engine.send("DELETE", f"/networks/{identifier}")
        else:
            return


def _find(engine: Engine, labels: Iterable[str]) -> list[Leftovers]:
    filters = {"label": list(labels)}
    containers = engine.ask("GET", "/containers/json", all=1, filters=filters)
    networks = engine.ask("GET", "/networks", filters=filters)
    folders = sorted({_folder(each) for each in (*containers, *networks)})
    return [
        Leftovers(Path(folder), _of(containers, folder), _of(networks, folder))
        for folder in folders
        if folder
    ]


def _of(things: Iterable[Mapping[str, Any]], folder: str) -> tuple[str, ...]:
    return tuple(each["Id"] for each in things if _folder(each) == folder)


def _folder(thing: Mapping[str, Any]) -> str:
    return str((thing.get("Labels") or {}).get(FOLDER, ""))


def _counted(number: int, thing: str) -> str:
    return "" if number == 0 else f"1 {thing}" if number == 1 else f"{number} {thing}s"
