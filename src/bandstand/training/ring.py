"""XGBoost's own collective for the ranks of a job: tracker, ring, exact sums, lost ranks."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bandstand.errors import JobError
from bandstand.training.leader_address import leader_address
from bandstand.training.lost_ranks import await_reason
from bandstand.training.output import note
from bandstand.training.run import Run
from bandstand.training.undisturbed import undisturbed

FORM_SECONDS = 300
"""How long the ring may take to form, once every rank has come so far, and to be taken down."""

LONGEST_WAIT_SECONDS = 7 * 86400
"""How long a rank waits for a slower one in a collective. One that has died is noticed at once by its
connection; XGBoost's own limit, half an hour, would end a healthy job whose iterations take longer on one
rank."""

_Scalar = TypeVar("_Scalar", bound=np.generic)


class Ring:
    """The ranks that train one model together, seen from one of them.

    Args:
        members: Their ranks in the job, ascending.
        position: Which of them this one is, from 0.
    """

    def __init__(self, members: Sequence[int], position: int) -> None:
        self.members = tuple(members)
        self.position = position

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return len(self.members)

    def sum(self, values: NDArray[_Scalar]) -> NDArray[_Scalar]:
        """The sum over all ranks, on every rank. Collective.

        Where only one rank gives other values than zero the sum is exact, so this also gathers and
        broadcasts.

        Args:
            values: Array of numbers, of the same shape and type on every rank.

        Returns:
            A new array of the same shape.
        """
        if self.size == 1:
            return values.copy()
        from xgboost import collective

        found: NDArray[_Scalar] = collective.allreduce(values, collective.Op.SUM)
        return found.reshape(values.shape)

    def sums(self, arrays: Sequence[NDArray[_Scalar]]) -> list[NDArray[_Scalar]]:
        """The sums of several arrays, in one exchange. Collective.

        Args:
            arrays: Arrays of one type; each has the same shape on every rank.

        Returns:
            New arrays of the same shapes.
        """
        ends = np.cumsum([values.size for values in arrays])
        parts = np.split(self.sum(np.concatenate([values.ravel() for values in arrays])), ends[:-1])
        return [part.reshape(values.shape) for part, values in zip(parts, arrays, strict=True)]


@contextlib.contextmanager
def join_ring(run: Run, members: Sequence[int] | None = None) -> Iterator[Ring | None]:
    """Form a ring and be in it for a `with` block. Collective: every rank of the job calls it.

    In the block, in this thread, XGBoost trains one model over the rows of all members. Ranks have a fixed
    order, so that sums are made in the same order in every run. If a member dies, the others leave the job;
    the reason of the job's failure is that of the member.

    Args:
        run: This rank.
        members: The ranks that take part; None for all.

    Yields:
        The ring; None for a rank that is no member.

    Raises:
        JobError: If the ring cannot be formed.
    """
    ranks = tuple(range(run.world_size)) if members is None else tuple(members)
    position = ranks.index(run.rank) if run.rank in ranks else None
    if len(ranks) == 1:
        yield None if position is None else Ring(ranks, position)
        return
    import xgboost

    tracker, arguments = _start_tracker(run, len(ranks))
    try:
        if position is None:
            yield None
        else:
            with _connected(arguments, position):
                yield Ring(ranks, position)
        if tracker is not None:
            tracker.wait_for(FORM_SECONDS)
    except xgboost.core.XGBoostError as error:
        if not is_lost_peer(error):
            raise
        # The member that died knows why; the leader hears it from its host and ends this rank, here.
        note("lost the connection to another rank of the ring; waiting for the reason.")
        await_reason(run, "the connection was lost")
        raise JobError(f"XGBoost lost the connection to another rank: {plain_message(error)}") from None
    finally:
        if tracker is not None:
            # After a failure the tracker's thread ends with an error of its own, which tells nothing new.
            with contextlib.suppress(xgboost.core.XGBoostError):
                tracker.free()


def is_lost_peer(error: Exception) -> bool:
    """Whether an error of XGBoost's comes from its collective: another rank is gone.

    Args:
        error: An `xgboost.core.XGBoostError`.
    """
    return "/collective/" in str(error)


def plain_message(error: Exception) -> str:
    """What an error of XGBoost's says, without time, source place and stack trace.

    Args:
        error: An `xgboost.core.XGBoostError`.
    """
    text = str(error).partition("Stack trace:")[0].strip()
    if text.startswith(("value ", "Invalid Parameter ")):  # the second line tells what the parameter means
        return text.partition("\n")[0]
    if text.startswith("["):  # [14:20:38] /src/metric/metric.cc:49: Unknown metric function foo
        text = text.partition("] ")[2]
        place, colon, rest = text.partition(": ")
        text = rest if colon and "/" in place else text
    if text.startswith("Check failed: "):  # Check failed: is_valid: base_score must be in (0,1)
        condition, _, rest = text.removeprefix("Check failed: ").partition(": ")
        text = rest.strip() or f"check failed: {condition.rstrip(' :')}"
    return " ".join(text.split())


def _start_tracker(run: Run, size: int) -> tuple[Any, dict[str, Any]]:
    """The leader's tracker (None on the other ranks), and what members need to reach it."""
    import xgboost
    from xgboost.tracker import RabitTracker

    address = leader_address(run)
    tracker = None
    reply: dict[str, Any] = {}
    if run.is_leader:
        try:
            tracker = RabitTracker(size, address, sortby="task", timeout=FORM_SECONDS)
            with undisturbed():
                tracker.start()
            reply = {"arguments": tracker.worker_args()}
        except xgboost.core.XGBoostError as error:
            reply = {"fault": plain_message(error)}
    reply = run.broadcast(reply)
    if "fault" in reply:
        raise JobError(f"XGBoost's tracker cannot listen at {address}: {reply['fault']}.")
    return tracker, reply["arguments"]


@contextlib.contextmanager
def _connected(arguments: dict[str, Any], position: int) -> Iterator[None]:
    import xgboost
    from xgboost import collective

    # "Task 00000001 got rank 1" is no news.
    with contextlib.redirect_stdout(io.StringIO()), undisturbed():
        collective.init(dmlc_task_id=f"{position:08d}", dmlc_timeout=LONGEST_WAIT_SECONDS, **arguments)
    try:
        yield
    except BaseException:
        with contextlib.suppress(xgboost.core.XGBoostError), undisturbed():
            collective.finalize()
        raise
    with undisturbed():
        collective.finalize()
