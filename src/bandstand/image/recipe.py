"""What is built: a folder's Dockerfile, a stage of it, and what the image is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bandstand.errors import InputError
from bandstand.hyperparameters import nearest
from bandstand.image.revision import UNKNOWN, Revision

PLATFORM = "linux/amd64"
"""What SageMaker's training instances run."""
BASE = "bandstand-base:bookworm"
"""The base that docker/base.sh makes."""

_STAGE = re.compile(r"^\s*FROM\s+.*?\sAS\s+(\S+)\s*$", re.IGNORECASE | re.MULTILINE)
_ARGUMENT = re.compile(r"^\s*ARG\s+([A-Za-z_][A-Za-z0-9_]*)", re.IGNORECASE | re.MULTILINE)
_PREDEFINED = re.compile(r"(?:https?|ftp|no|all)_proxy|BUILDKIT_\w+|SOURCE_DATE_EPOCH", re.IGNORECASE)
"""Arguments that the engine knows without a declaration."""
_REFERENCE = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
)


@dataclass(frozen=True)
class Recipe:
    """One build.

    Args:
        folder: The build's context.
        dockerfile: Its Dockerfile.
        stage: The stage to build; None for the last one.
        platform: Such as `linux/amd64`.
        arguments: Names and values of build arguments.
        tags: What the image is called; never empty.
    """

    folder: Path
    dockerfile: Path
    stage: str | None
    platform: str
    arguments: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of the docker command that builds it."""
        return (
            "build",
            *("--platform", self.platform),
            *("--file", str(self.dockerfile)),
            *(("--target", self.stage) if self.stage else ()),
            *(word for name, value in self.arguments for word in ("--build-arg", f"{name}={value}")),
            *(word for tag in self.tags for word in ("--tag", tag)),
            str(self.folder),
        )


@dataclass(frozen=True)
class Wish:
    """What a person asked for.

    Args:
        folder: The build's context.
        dockerfile: Its Dockerfile; None for the one in the folder.
        stage: The stage to build; None for the last one.
        platform: Such as `linux/amd64`.
        arguments: `NAME=VALUE`, or `NAME` to set it to nothing.
        tags: What the image shall be called; empty for names made of the folder, version and revision.
        registry: Whether an image registry and a package index are at hand.
    """

    folder: Path
    dockerfile: Path | None = None
    stage: str | None = None
    platform: str = PLATFORM
    arguments: Sequence[str] = ()
    tags: Sequence[str] = ()
    registry: bool = True


def make_recipe(wish: Wish, revision: Revision) -> Recipe:
    """Check a wish against its Dockerfile.

    Raises:
        InputError: With everything that is wrong with it.
    """
    dockerfile = wish.dockerfile or wish.folder / "Dockerfile"
    try:
        text = dockerfile.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(
            f"The Dockerfile {dockerfile} cannot be read: {reason}. Name the folder that holds one, or the "
            "file with --file; docs/how-to/build-and-push.md has the smallest one."
        ) from None
    declared = _ARGUMENT.findall(text)
    problems = [*_stage_problems(wish.stage, _STAGE.findall(text))]
    given: dict[str, str] = {}
    for word in wish.arguments:
        name, _, value = word.partition("=")
        given[name] = value
    problems += _argument_problems(given, declared)
    problems += [
        f"The tag {tag!r} is no image reference; expected NAME or NAME:TAG in lower case, such as mine:1.0."
        for tag in wish.tags
        if not _REFERENCE.fullmatch(tag)
    ]
    if not wish.registry and not (wish.folder / "docker" / "base.sh").is_file():
        problems.append(
            f"--no-registry makes the base with docker/base.sh, which is not in {wish.folder}: it is for "
            f"Bandstand's own repository. Elsewhere name a local base: --build-arg BASE_IMAGE={BASE}"
        )
    if problems:
        raise InputError("\n".join(problems))
    facts = {"VERSION": revision.version, "REVISION": revision.commit, "SOURCE": revision.source}
    own = {name: value or UNKNOWN for name, value in facts.items() if name in declared}
    if not wish.registry:
        own |= {"BASE_IMAGE": BASE, "PIP_NO_INDEX": "1"}
    tags = tuple(wish.tags) or _tags(wish, revision)
    return Recipe(wish.folder, dockerfile, wish.stage, wish.platform, tuple({**own, **given}.items()), tags)


def _stage_problems(stage: str | None, stages: Sequence[str]) -> Iterable[str]:
    if stage is not None and stage not in stages:
        near = nearest(stage, stages)
        hint = f" Did you mean {near!r}?" if near else ""
        yield f"The Dockerfile has no stage {stage!r}; it has: {', '.join(stages) or 'none'}.{hint}"


def _argument_problems(given: Iterable[str], declared: Sequence[str]) -> Iterable[str]:
    for name in given:
        if name not in declared and not _PREDEFINED.fullmatch(name):
            near = nearest(name, declared)
            hint = f" Did you mean {near!r}?" if near else ""
            known = ", ".join(dict.fromkeys(declared)) or "none"
            yield f"The Dockerfile has no argument {name!r}; it has: {known}.{hint}"


def _tags(wish: Wish, revision: Revision) -> tuple[str, ...]:
    called = revision.name or wish.folder.resolve().name
    name = "-".join(re.findall(r"[a-z0-9]+", called.lower())) or "image"
    stage = f"-{wish.stage}" if wish.stage else ""
    return tuple(dict.fromkeys((f"{name}:{revision.tag}{stage}"[:128], f"{name}:{wish.stage or 'latest'}")))
