"""`bandstand push` as a user runs it: moto's ECR for the API, Debian's registry for the images."""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.ecr.models import Repository
from tests.docker.images import docker
from tests.image.conftest import REGION, api

__all__ = ["api"]

PASSWORD = "123456789012-auth-token"
"""What moto's GetAuthorizationToken gives."""
HTPASSWD = "AWS:$2b$05$abcdefghijklmnopqrstuu/4ofrUS75HrKu6f.iuRo0I/XlrmpqlC\n"
"""bcrypt of that password."""


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Debian's docker-registry on loopback, which wants a login."""
    program = shutil.which("docker-registry")
    assert program is not None, "apt-get install docker-registry"
    folder = tmp_path_factory.mktemp("registry")
    (folder / "htpasswd").write_text(HTPASSWD)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (folder / "config.yml").write_text(
        json.dumps(
            {
                "version": 0.1,
                "storage": {"filesystem": {"rootdirectory": str(folder / "data")}},
                "http": {"addr": f"127.0.0.1:{port}"},
                "auth": {"htpasswd": {"realm": "test", "path": str(folder / "htpasswd")}},
            }
        )
    )
    with subprocess.Popen(
        [program, "serve", str(folder / "config.yml")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert any("listening on" in line for line in process.stderr or ())
        yield f"127.0.0.1:{port}"
        process.kill()


@pytest.fixture
def image(registry: str) -> Iterator[str]:
    """A small image of the tested one's platform, which no other test names."""
    name = "bandstand-test-push:latest"
    packed = subprocess.run(
        ["tar", "-c", "-C", "/usr/share", "zoneinfo/UTC"], capture_output=True, check=True
    )
    labels = [
        "LABEL org.opencontainers.image.version=1.0",
        "LABEL org.opencontainers.image.revision=abc",
    ]
    changes = [word for label in labels for word in ("--change", label)]
    subprocess.run(
        ["docker", "import", *changes, "-", name], input=packed.stdout, check=True, capture_output=True
    )
    yield name
    for reference in docker("images", "--format", "{{.Repository}}:{{.Tag}}").splitlines():
        if "bandstand-test-push" in reference:
            docker("rmi", "--force", reference)


@pytest.fixture
def ecr(api: str, registry: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """ECR whose repositories lie in the registry on loopback."""
    real = Repository.__init__

    def init(self: Repository, *words: object, **named: object) -> None:
        real(self, *words, **named)
        self.uri = f"{registry}/{self.name}"

    monkeypatch.setattr(Repository, "__init__", init)
    return api


def push(*words: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bandstand.cli", "push", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": str(home)},
        timeout=240,
    )


def digest_in(registry: str, repository: str, tag: str) -> str:
    token = base64.b64encode(f"AWS:{PASSWORD}".encode()).decode()
    headers = {
        "Authorization": f"Basic {token}",
        "Accept": "application/vnd.docker.distribution.manifest.v2+json",
    }
    connection = http.client.HTTPConnection(registry, timeout=30)
    connection.request("HEAD", f"/v2/{repository}/manifests/{tag}", headers=headers)
    digest = connection.getresponse().headers["Docker-Content-Digest"]
    connection.close()
    return str(digest)


@pytest.mark.usefixtures("ecr")
def test_the_image_is_in_the_registry_and_its_uri_is_printed(image: str, registry: str, tmp_path: Path):
    done = push(image, home=tmp_path)
    assert done.returncode == 0, done.stderr
    digest = digest_in(registry, "bandstand-test-push", "1.0-abc")
    assert done.stdout == f"{registry}/bandstand-test-push@{digest}\n"
    assert f"created the repository bandstand-test-push in {REGION}" in done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert not (tmp_path / ".docker").exists()
    made = boto3.client("ecr").describe_repositories()["repositories"][0]
    assert made["imageScanningConfiguration"]["scanOnPush"] is True

    again = push(image, "--json", home=tmp_path)
    assert again.returncode == 0, again.stderr
    facts = json.loads(again.stdout)
    assert facts["uri"] == f"{registry}/bandstand-test-push@{digest}"
    assert facts["repository_created"] is False
    assert "is left as it is" in again.stderr


@pytest.mark.usefixtures("ecr")
def test_a_dry_run_asks_nobody_and_prints_the_plan(image: str, tmp_path: Path):
    done = push(image, "--dry-run", "--repository", "team/mine", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "push bandstand-test-push:latest as team/mine:1.0-abc" in done.stdout
    assert boto3.client("ecr").describe_repositories()["repositories"] == []


@pytest.mark.usefixtures("ecr")
def test_a_registry_that_is_away_is_told_with_what_to_do(
    image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Repository, "__init__", _elsewhere(Repository.__init__))
    done = push(image, home=tmp_path)
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
    assert PASSWORD not in done.stdout + done.stderr


def _elsewhere(real):
    def init(self, *words, **named):
        real(self, *words, **named)
        self.uri = "127.0.0.1:1/bandstand-test-push"

    return init


@pytest.mark.usefixtures("ecr")
def test_a_login_that_is_not_accepted_is_told_without_showing_it(
    image: str, registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("moto.ecr.responses.ECRResponse.get_authorization_token", _other_login)
    done = push(image, home=tmp_path)
    assert done.returncode == 1
    assert "Run the push again" in done.stderr
    assert "wrong-password" not in done.stderr


def _other_login(_self):
    token = base64.b64encode(b"AWS:wrong-password").decode()
    return json.dumps(
        {"authorizationData": [{"authorizationToken": token, "expiresAt": 0, "proxyEndpoint": ""}]}
    )


def test_an_image_that_is_not_here_is_told(api: str, tmp_path: Path):
    done = push("bandstand-test-nonesuch:1", home=tmp_path)
    assert done.returncode == 1
    assert "There is no image bandstand-test-nonesuch:1 here. Build it (bandstand build)" in done.stderr
