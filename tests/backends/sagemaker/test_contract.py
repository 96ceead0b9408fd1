"""The contract of backends over HTTP, with nothing in between."""

from __future__ import annotations

from .contract import SageMakerContract


class TestSageMaker(SageMakerContract):
    pass
