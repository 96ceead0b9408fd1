"""The operations of SageMaker that are answered here, by name."""

from __future__ import annotations

from collections.abc import Mapping

from bandstand.service import deleting, listing, tags, training_jobs, tuning_jobs, updating
from bandstand.service.protocol import Operation

OPERATIONS: Mapping[str, Operation] = {
    **training_jobs.OPERATIONS,
    **tuning_jobs.OPERATIONS,
    **listing.OPERATIONS,
    **tags.OPERATIONS,
    **updating.OPERATIONS,
    **deleting.OPERATIONS,
}
"""Every operation of SageMaker that this service answers."""
