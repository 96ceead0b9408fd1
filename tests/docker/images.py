"""Small images for the tests, made of one that is there already, without a build."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

IMAGE = os.environ.get("BANDSTAND_TEST_IMAGE", "bandstand:latest")
"""The image that is tested."""


def docker(*words: str, check: bool = True) -> str:
    """Run the docker command; return what it printed."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout.strip()


@contextmanager
def changed_image(name: str, *changes: str) -> Iterator[str]:
    """An image like the tested one, with another configuration.

    Args:
        name: Its name.
        changes: Instructions of a Dockerfile, such as `USER 1000` or `ENTRYPOINT []`.
    """
    container = docker("create", IMAGE)
    try:
        docker("commit", *(word for change in changes for word in ("--change", change)), container, name)
    finally:
        docker("rm", container)
    try:
        yield name
    finally:
        docker("rmi", "--force", name)
