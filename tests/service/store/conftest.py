from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from ..served import Server


def s3_client(url: str, **options: Any) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=Config(retries={"total_max_attempts": 1}, **options),
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("s3")
    running = Server(folder / "home", "--port", "0", cwd=folder)
    yield running
    running.end()


@pytest.fixture(scope="module")
def s3(server: Server) -> Any:
    return s3_client(server.url)


@pytest.fixture
def bucket(s3: Any, request: pytest.FixtureRequest) -> str:
    """A new bucket for each test."""
    name = f"b-{abs(hash(request.node.nodeid)):x}"
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture
def folder(server: Server, bucket: str) -> Path:
    """The bucket's folder."""
    return server.home / "s3" / bucket
