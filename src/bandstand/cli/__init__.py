"""The command line, one file per verb."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the `bandstand` command and leave the process with its exit code.

    Args:
        arguments: The words after `bandstand`; by default those of the process.
    """
    from bandstand.cli.streams import open_closed

    open_closed()
    try:
        import click  # noqa: F401 - only looks whether it is installed
    except ModuleNotFoundError:
        print("The command line needs more packages; run: pip install 'bandstand[launch]'", file=sys.stderr)
        sys.exit(1)
    from bandstand.cli.entry import run

    # Not list(...): the verb of that name is an attribute of this package once it is loaded.
    sys.exit(run(sys.argv[1:] if arguments is None else [*arguments]))
