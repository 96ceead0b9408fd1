"""Whether this machine's container engine can run an image's kind of processor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bandstand.backends.engine import Engine
from bandstand.errors import PlatformError

_EMULATORS = Path("/proc/sys/fs/binfmt_misc")
_NAMES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}
_EMULATED = {"amd64": "x86_64", "arm64": "aarch64", "386": "i386"}
_WITH_EMULATION = "Docker Desktop"


def check_platform(engine: Engine, name: str, image: Mapping[str, Any]) -> None:
    """Check that an image is for the engine's processor, or that the machine emulates the image's.

    Args:
        engine: The engine.
        name: The image's name.
        image: What the engine says about it.

    Raises:
        PlatformError: Its programs could not be executed.
    """
    wanted = f"{image.get('Os', 'linux')}/{image.get('Architecture', '')}"
    facts = engine.ask("GET", "/version")
    own = f"{facts.get('Os', 'linux')}/{_NAMES.get(facts.get('Arch', ''), facts.get('Arch', ''))}"
    if wanted == own or not image.get("Architecture") or _is_emulated(engine, str(image["Architecture"])):
        return
    raise PlatformError(
        f"The image {name} is for {wanted}; this container engine runs {own}. Build it for this one "
        f"(bandstand build, or docker build --platform {own}), or set up emulation of the other "
        "(docker run --privileged --rm tonistiigi/binfmt --install all)."
    )


def _is_emulated(engine: Engine, architecture: str) -> bool:
    emulator = _EMULATORS / f"qemu-{_EMULATED.get(architecture, architecture)}"
    return emulator.exists() or engine.ask("GET", "/info").get("OperatingSystem") == _WITH_EMULATION
