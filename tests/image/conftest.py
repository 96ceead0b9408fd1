"""ECR's API on loopback."""

from __future__ import annotations

import http.client
from collections.abc import Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer

from bandstand.image.push_plan import PushPlan

REGION = "eu-central-1"


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """moto's server, to which all AWS clients of this process and its children talk."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    connection = http.client.HTTPConnection(host, port, timeout=30)
    connection.request("POST", "/moto-api/reset")  # all servers of a process share their state
    assert connection.getresponse().status == 200
    connection.close()
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, text in {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    yield url
    server.stop()


@pytest.fixture
def plan() -> PushPlan:
    return PushPlan("mine:1", "team/mine", "1.0-abc", REGION, keep=5, immutable=False, size=10)
