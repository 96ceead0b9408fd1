"""How a program refuses what it was given: as the job's failure reason, with no traceback."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from bandstand.errors import InputError
from bandstand.sagemaker_files import MAX_FAILURE, Folders, write_failure
from bandstand.training.output import note


@contextlib.contextmanager
def plain_refusals() -> Iterator[None]:
    """End the program, for an InputError in the `with` block, with its text as the failure reason.

    The text is in the failure file before the process ends, where process 1 of the host looks first.
    """
    try:
        yield
    except InputError as error:
        write_failure(Folders.from_environment(os.environ), str(error))
        if len(str(error)) > MAX_FAILURE:
            note(f"refused, in full: {error}")
        raise SystemExit(error.exit_code) from None
