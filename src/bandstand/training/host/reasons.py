"""The reason of a failure on its way: from a rank's end to the hub, and to the failure file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bandstand.sagemaker_files import MAX_FAILURE, Folders, write_failure
from bandstand.training.host.job import Job
from bandstand.training.host.program import Program
from bandstand.training.host.ranks import Ended, Rank
from bandstand.training.host.relay import Stream


def reason_of(job: Job, program: Program, rank: Rank, ended: Ended) -> str:
    """Why a rank has failed: what the script itself has left as the reason, else what its end shows."""
    from bandstand.training.host.failure import failure_reason

    words = rank.last_words()
    where = f"{job.cluster.current_host}, rank {rank.number}"
    return _written(job.folders) or failure_reason(program.name, ended, words, where, program.folder)


def failed_message(reason: str, *, age: float, ranks: Sequence[int]) -> dict[str, Any]:
    """What the hub is told of a failure.

    Args:
        reason: For a person.
        age: Seconds since it began, which may be long before the process ended.
        ranks: This host's ranks that have ended with it.
    """
    from bandstand.training.host.failure import is_consequence

    secondary = is_consequence(reason)
    return {"kind": "failed", "reason": reason, "age": age, "secondary": secondary, "ranks": list(ranks)}


def leave_reason(folders: Folders, reason: str, err: Stream) -> None:
    """Tell why the job failed on stderr, and in the failure file unless the script has left its own there."""
    err.say(f"failed: {reason}")
    try:
        write_failure(folders, reason)
    except OSError as error:
        err.say(f"the reason could not be left in {folders.failure}: {error}")


def _written(folders: Folders) -> str:
    try:
        return folders.failure.read_text(encoding="utf-8", errors="replace")[:MAX_FAILURE].strip()
    except OSError:
        return ""
