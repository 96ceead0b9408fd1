"""What the container engine's refusals mean for a job, and what to do about them."""

from __future__ import annotations

from typing import NamedTuple

from bandstand.backends.engine import EngineError


class _Meaning(NamedTuple):
    """What the engine says, in lower case, and what is told instead."""

    signs: tuple[str, ...]
    text: str


_MEANINGS = (
    _Meaning(
        ("no such image",),
        "The image {image} is not in the container engine. Build it (bandstand build) or pull it "
        "(docker pull {image}).",
    ),
    _Meaning(
        ("exec format error",),
        "The image {image} is for another kind of processor than this machine's. Build it for this one, or "
        "set up emulation (docker run --privileged --rm tonistiigi/binfmt --install all).",
    ),
    _Meaning(
        ("executable file not found", "no such file or directory: unknown", "permission denied: unknown"),
        "The image {image} cannot start: {said}. SageMaker runs an image with the one word train: its "
        "ENTRYPOINT must take it, or a program named train must be on its PATH and executable.",
    ),
    _Meaning(
        ("no command specified",),
        "The image {image} names nothing to run. Give it an ENTRYPOINT that takes the word train.",
    ),
    _Meaning(
        ("no space left on device", "disk quota exceeded"),
        "The disk of the container engine is full: {said}. Make room (docker system df, docker system "
        "prune).",
    ),
    _Meaning(
        ("non-overlapping ipv4 address pool", "no available network", "could not find an available"),
        "The container engine has no addresses left for another network, of which each job has one. Remove "
        "those that nobody uses (bandstand clean --all, docker network prune), or run fewer jobs at once.",
    ),
    _Meaning(
        ("could not select device driver",),
        "The container engine cannot hand out GPUs: {said}. Install nvidia-container-toolkit and restart "
        "the engine, or leave BANDSTAND_HOST_GPUS out.",
    ),
    _Meaning(
        ("is already in use by container", "network with name"),
        "A container or network of the same name is there already: {said}. Run: bandstand clean --all",
    ),
    _Meaning(
        ("mounts denied", "is not shared from the host"),
        "The container engine may not show a folder to containers: {said}. Share the folder in its settings.",
    ),
    _Meaning(
        ("minimum memory limit", "range of cpus"),
        "The limits of a host do not fit this machine: {said}. Change BANDSTAND_HOST_MEMORY or "
        "BANDSTAND_HOST_CPUS.",
    ),
)


def explained(error: EngineError, image: str) -> str:
    """Return what a refusal means; the engine's own words where it is none of the known ones.

    Args:
        error: The refusal.
        image: The job's image.
    """
    said = error.message.strip().rstrip(".")
    words = said.lower()
    for meaning in _MEANINGS:
        if any(sign in words for sign in meaning.signs):
            return meaning.text.format(image=image, said=said)
    return f"The container engine refused: {said}."


def cannot_lay_over(error: EngineError) -> bool:
    """Whether a container did not start because its code's folder could not be laid over."""
    words = error.message.lower()
    return "failed to mount local volume" in words or "error while mounting volume" in words
