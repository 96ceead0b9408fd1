"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

PART = ".part"
"""End of the name of a file that is still being written."""
UNFINISHED = ".bandstand-unfinished-"
"""Start of the name of a folder in which a training script still saves something."""


def write_atomically(path: Path, content: bytes | str) -> None:
    """Put a file in place by rename, so that a reader sees the old content or the new, never a part.

    A process that is killed on the way leaves a hidden file whose name ends in `PART`.

    Args:
        path: The file; its folder must exist.
        content: Bytes, or text that is written as UTF-8.
    """
    data = content.encode("utf-8", errors="backslashreplace") if isinstance(content, str) else content
    # Not by tempfile, whose import every start of a host would pay.
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}{PART}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
