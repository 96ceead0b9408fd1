"""What a rank does whose framework's own collective has failed, since another rank is gone or missing."""

from __future__ import annotations

from bandstand.training.run import Run


def await_reason(run: Run, how: str) -> None:
    """Wait until the leader tells why the job has failed.

    A rank that has ended is known at once, by its host. If none has, the ranks that do not come here within
    some seconds are those that were missing, and the job fails with their names. Ranks come here in different
    iterations, so that this is no call of any one of them.

    Args:
        run: This rank; `JobOver` ends it once the reason is known. If all ranks come here, or there is only
            one, it goes on.
        how: How the rank's collective ended: `the connection was lost`.
    """
    run._team.gather("reason", how, run._step)
