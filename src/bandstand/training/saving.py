"""Files that appear whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from bandstand.atomic_files import UNFINISHED
from bandstand.errors import JobError


def save_atomically(target: Path, save: Callable[[Path], object]) -> None:
    """Let a function write a file or folder, and put it in place by rename once it is complete.

    Args:
        target: Where it shall stand; missing folders are made, what stands there is replaced.
        save: Called with a path that has the target's name, in a temporary folder beside the target.

    Raises:
        JobError: If the function wrote nothing at the path that it was given.
    """
    import tempfile

    target.parent.mkdir(parents=True, exist_ok=True)
    workspace = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=target.parent))
    try:
        written = workspace / "new" / target.name
        written.parent.mkdir()
        save(written)
        if not written.exists():
            others = ", ".join(sorted(entry.name for entry in written.parent.iterdir())) or "nothing"
            raise JobError(
                f"The function that saves {target.name!r} wrote {others} instead of {target.name!r}; it "
                "must write to the path that it is given. If a library adds an ending, put it in the name."
            )
        if target.is_dir():
            target.rename(workspace / "old")
        written.replace(target)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)  # what is left over is swept when the job ends


def sweep(folder: Path) -> None:
    """Remove what a killed process left unfinished in a folder."""
    if folder.is_dir():
        for entry in folder.iterdir():
            if entry.name.startswith(UNFINISHED):
                shutil.rmtree(entry, ignore_errors=True)
