"""Small images for the tests, made of one that is there already."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager

IMAGE = os.environ.get("BANDSTAND_TEST_IMAGE", "bandstand:latest")
"""The image that is tested."""
BASE = os.environ.get("BANDSTAND_TEST_BASE", "bandstand-base:bookworm")
"""The base on which tests build images."""


def docker(*words: str, check: bool = True) -> str:
    """Run the docker command; return what it printed."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout.strip()


def idle_volumes() -> set[str]:
    """Volumes that no container has: those of other people's containers are theirs."""
    return set(docker("volume", "ls", "--quiet", "--filter", "dangling=true").split())


@contextmanager
def changed_image(name: str, *changes: str) -> Iterator[str]:
    """An image like the tested one, with another configuration.

    Args:
        name: Its name.
        changes: Instructions of a Dockerfile, such as `USER 1000` or `ENTRYPOINT []`.
    """
    recipe = "\n".join([f"FROM {IMAGE}", *changes, ""])
    subprocess.run(
        ("docker", "build", "-t", name, "-"), input=recipe.encode(), check=True, capture_output=True
    )
    try:
        yield name
    finally:
        docker("rmi", "--force", name)


@contextmanager
def foreign_image(name: str, architecture: str) -> Iterator[str]:
    """An image with nothing in it, for another kind of processor; see `docker save` for its form."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w"):
        pass
    digest = hashlib.sha256(layer.getvalue()).hexdigest()
    config = {
        "architecture": architecture,
        "os": "linux",
        "config": {"Cmd": ["train"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, content in (
            ("layer.tar", layer.getvalue()),
            ("config.json", json.dumps(config).encode()),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    subprocess.run(("docker", "load"), input=packed.getvalue(), check=True, capture_output=True, timeout=60)
    try:
        yield name
    finally:
        docker("rmi", "--force", name)
