"""Which version and revision an image is made of, for its tag and its labels."""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

UNKNOWN = "unknown"
_SHORT = 12


@dataclass(frozen=True)
class Revision:
    """Where an image's files come from.

    Args:
        name: Of the project, from its pyproject.toml; None if it tells none.
        version: Of the project, from its pyproject.toml; None if it tells none.
        commit: The git commit, with `-dirty` where tracked or new files differ from it; None outside of git.
        source: The repository's address, without any credentials in it; None if there is none.
    """

    name: str | None = None
    version: str | None = None
    commit: str | None = None
    source: str | None = None

    @property
    def tag(self) -> str:
        """A tag that names both: `0.1.0-1a2b3c4d5e6f`, `-dirty` included; `latest` where nothing is known."""
        commit = self.commit
        if commit is not None:
            digits, dash, rest = commit.partition("-")
            commit = digits[:_SHORT] + dash + rest
        parts = [part for part in (self.version, commit) if part]
        return re.sub(r"[^A-Za-z0-9_.-]", "_", "-".join(parts))[:128] or "latest"


def read_revision(folder: Path) -> Revision:
    """Look at a folder's pyproject.toml and its git repository, if there are any."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit and _git(folder, "status", "--porcelain", "--", "."):
        commit += "-dirty"
    remote = _git(folder, "remote", "get-url", "origin")
    project = _project(folder)
    return Revision(
        project.get("name"), project.get("version"), commit or None, _public(remote) if remote else None
    )


def _project(folder: Path) -> dict[str, str]:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text()).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}
    told = project if isinstance(project, dict) else {}
    return {name: told[name] for name in ("name", "version") if isinstance(told.get(name), str)}


def _public(remote: str) -> str | None:
    """An address that may be shown to anybody: no user, no password, no folder of this machine."""
    found = re.fullmatch(r"(https?|ssh|git)://(?:[^@/]*@)?(.+)", remote)
    if found:
        return f"{found[1]}://{found[2]}"
    return remote if re.fullmatch(r"[\w.-]+@[\w.-]+:[^:]+", remote) else None


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
