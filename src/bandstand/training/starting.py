"""How a script becomes a rank of its job."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from typing import cast

from bandstand.errors import JobError
from bandstand.host_variables import REPORTED
from bandstand.hyperparameter_declaration import Hyperparameter
from bandstand.rank_notes import resumed_note, started_note
from bandstand.training.checkpoints import Checkpoints
from bandstand.training.output import note, print_line
from bandstand.training.resuming import Offer, newest_common, offer_of
from bandstand.training.run import Run
from bandstand.training.stopping import StopFlag
from bandstand.training.surroundings import Surroundings, look_around
from bandstand.training.team import Alone, Team

_current: Run | None = None


def start(schema: Iterable[Hyperparameter] | None = None) -> Run:
    """This process's rank of the training job; the same object however often it is called.

    From here on SIGTERM asks the training loop to stop instead of ending the process. With several ranks, all
    of them are here before one goes on. Outside a job it is one host with one rank, the settings of the
    command line if hyperparameters are declared, and the working folder.

    Args:
        schema: The program's hyperparameters, at the first call; None if it declares none.

    Raises:
        JobError: If hyperparameters are declared at a later call.
        SystemExit: If the command line asks for help, or a hyperparameter is wrong.
    """
    global _current
    if _current is None:
        _current = _start(schema)
    elif schema is not None:
        raise JobError("The run has begun: give schema to the first call of bandstand.start().")
    return _current


def current() -> Run:
    """The run of this process.

    Raises:
        JobError: If there is none yet.
    """
    if _current is None:
        raise JobError("There is no run yet: call bandstand.start() first.")
    return _current


def _start(schema: Iterable[Hyperparameter] | None) -> Run:
    if schema is None:
        at = look_around(os.environ)
    else:
        from bandstand.training.declaring import look_around_declared

        at = look_around_declared(schema)
    stop = StopFlag()
    stop.listen()
    folder = at.folders.checkpoints / at.job_name if at.inside else at.folders.checkpoints
    checkpoints = Checkpoints(folder, at.job_name, at.cluster.current_host, at.hyperparameters)
    if not at.inside:
        settings = ", ".join(f"{name}={value}" for name, value in vars(at.settings).items()) or "no settings"
        note(f"no training job here: one host, one rank, {settings}; the model goes to {at.folders.model}.")
        return Run(at, Alone(), stop, checkpoints)
    note(started_note(at.rank, at.world_size, os.getpid()))
    team = _team(at)
    return Run(at, team, stop, checkpoints, _agree(at, team, checkpoints))


def _team(at: Surroundings) -> Team:
    if at.world_size == 1 or at.meet is None:
        return Alone()
    from bandstand.training.linked_team import link_up

    return link_up(at, at.meet)


def _agree(at: Surroundings, team: Team, checkpoints: Checkpoints) -> int:
    """The newest iteration from which every host can go on, 0 if there is none."""
    mine = offer_of(checkpoints.find(), secrets.token_hex(8)) if at.local_rank == 0 else None
    gathered = cast("list[Offer | None]", team.gather("start", mine, (0, 0)))
    offers = [offer for offer in gathered if offer is not None]
    newest = newest_common(offers)
    if at.local_rank:  # the first rank of the host has looked, and nobody has written since
        checkpoints.find_one(newest)
    checkpoints.go_on(newest, offers[0]["attempt"])
    if at.rank == 0 and checkpoints.path(newest) is not None:
        note(resumed_note(newest))
        changed = checkpoints.changed_settings(newest)
        if changed:
            note(f"differs from what the checkpoint was trained with: {', '.join(changed)}.")
        arrived = os.environ.get(REPORTED.name)
        for line in checkpoints.reports_after(newest, newest if arrived is None else REPORTED.read(arrived)):
            print_line(line)
    elif at.rank == 0 and any(offer["checkpoints"] for offer in offers):
        note("starts anew: no iteration has a checkpoint that all hosts can use.")
    return newest
