"""The contract of backends over HTTP, on a way that refuses, delays and drops most calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.backends.sagemaker.contract import SageMakerContract, forget_jobs
from tests.backends.sagemaker.region import enter
from tests.backends.sagemaker.rough import RoughWay
from tests.service.served import Server


@pytest.mark.timeout(900)
class TestRoughWay(SageMakerContract):
    """Each test has a way of its own, and so clients that have not learnt to be slow yet."""

    @pytest.fixture(autouse=True)
    def endpoint(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        with closing(RoughWay(server.url)) as way:
            enter(monkeypatch, way.url)
            yield way.url
        forget_jobs(server)

    test_many_jobs_are_followed_with_few_calls = None
    """What was refused is asked again."""
