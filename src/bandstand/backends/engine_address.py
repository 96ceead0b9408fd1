"""Which container engine is meant: the one that the user's own `docker` command speaks to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bandstand.backends.engine import Engine
from bandstand.errors import PlatformError

DEFAULT_SOCKET = "unix:///var/run/docker.sock"


def find_engine(environ: Mapping[str, str]) -> Engine:
    """Find the engine that the user's own `docker` command speaks to.

    Args:
        environ: May have DOCKER_HOST, DOCKER_CONTEXT and DOCKER_CONFIG; else the current context counts.

    Raises:
        PlatformError: It is one that cannot be used from here.
    """
    address = environ.get("DOCKER_HOST") or _of_context(environ) or DEFAULT_SOCKET
    scheme = _scheme(address)
    if scheme == "unix" or (scheme == "tcp" and not environ.get("DOCKER_TLS_VERIFY")):
        return Engine(address)
    raise PlatformError(
        f"The container engine is at {address}; expected one on this machine, at unix:// or plain tcp://, "
        "since hosts mount folders of this machine. Set DOCKER_HOST=unix:///var/run/docker.sock, or run "
        "--on processes."
    )


def _scheme(address: str) -> str:
    """Return an address's scheme; empty where the address is none."""
    try:
        parts = urlsplit(address)
        return parts.scheme if parts.port is None or parts.port > 0 else ""
    except ValueError:
        return ""


def _of_context(environ: Mapping[str, str]) -> str:
    folder = Path(environ.get("DOCKER_CONFIG") or Path(environ.get("HOME", "/"), ".docker"))
    name = environ.get("DOCKER_CONTEXT") or _read(folder / "config.json").get("currentContext", "")
    if name in ("", "default"):
        return ""
    import hashlib

    meta = folder / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest() / "meta.json"
    return str(_read(meta).get("Endpoints", {}).get("docker", {}).get("Host", ""))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
