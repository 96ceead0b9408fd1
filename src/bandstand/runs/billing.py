"""For how many seconds a training job is billed."""

from __future__ import annotations

import math

from bandstand.runs.jobs import TrainingJob


def billable_seconds(job: TrainingJob, now: float) -> int:
    """Whole seconds from the begin of Downloading to the end of Uploading, rounded up.

    `BillableTimeInSeconds` of DescribeTrainingJob, which is the time of one instance; for a job
    that runs, up to now. The attempts of a job that was restarted add up, as those of managed spot training.

    Args:
        job: The job.
        now: Epoch seconds.
    """
    return billed_seconds(job.started, job.ended, job.spent, now)


def billed_seconds(started: float | None, ended: float | None, spent: float, now: float) -> int:
    """The same, of what is kept of a job.

    Args:
        started: When the hosts of its present attempt were started, in epoch seconds, or None.
        ended: When it was over, or None.
        spent: Seconds for which its earlier attempts are billed.
        now: Epoch seconds.
    """
    if started is None and not spent:
        return 0
    present = 0.0 if started is None else (now if ended is None else ended) - started
    return max(1, math.ceil(spent + present))
