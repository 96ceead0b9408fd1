"""Names of jobs: made legal, and short without becoming equal."""

from __future__ import annotations

import hashlib
import re

TUNING_NAME = 32
"""Longest name of a tuning job (HyperParameterTuningJobName in the service model)."""
TRAINING_NAME = 63
"""Longest name of a training job (TrainingJobName in the service model)."""

_DIGITS = 6
_TIME = re.compile(r"(?:-[0-9]+)+\Z", re.ASCII)


def legal_name(name: str, limit: int) -> str:
    """Return a name that SageMaker takes, the name itself where it is one.

    Other characters than letters, digits and hyphens become hyphens. A name that is too long loses its
    middle: a hash of all of it takes the place, and the numbers at its end, often a time, are kept.

    Args:
        name: What the job is called.
        limit: How many characters are allowed.
    """
    clean = re.sub(r"[^a-zA-Z0-9-]+", "-", name).strip("-")
    if clean and len(clean) <= limit:
        return clean
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    found = _TIME.search(clean)
    tail = found.group() if found and len(found.group()) <= limit // 2 else ""
    head = clean[: limit - len(tail) - _DIGITS - 1].rstrip("-")
    return f"{head}-{digest}{tail}" if head else f"job-{digest}{tail}"
