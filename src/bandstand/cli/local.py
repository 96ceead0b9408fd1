"""`bandstand local`: SageMaker's API on this machine, which really runs the jobs it is asked for."""

from __future__ import annotations

from pathlib import Path

import click

from bandstand.cli.place import Folder, home_option, place
from bandstand.request.abilities import LOCAL_PLACES, PROCESSES


@click.command("local", short_help="Serve SageMaker's API on this machine.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    metavar="N",
    help="Port of 127.0.0.1 to listen on; 0 for any free one.",
)
@click.option(
    "--hosts",
    type=click.Choice(list(LOCAL_PLACES)),
    default=PROCESSES.name,
    show_default=True,
    help="What the hosts of training jobs are.",
)
@click.option(
    "--allow",
    "allowed",
    type=Folder(),
    multiple=True,
    metavar="DIR",
    help="A folder that file:// may reach; may be given several times."
    "  [default: the working folder, the home and the temporary folder]",
)
@home_option
def command(port: int, hosts: str, allowed: tuple[Path, ...]) -> int:
    """Answer unmodified clients of SageMaker (boto3, the AWS CLI, the SDKs) until Ctrl-C, and run their jobs.

    Clients find it by AWS_ENDPOINT_URL, with any credentials, as long as they are programs of the same user.
    S3 is kept in files below the home; s3:// and file:// name data alike. Jobs that run when the service ends
    go on for 10 s; the next service on the same home takes them up again. In a browser the same address shows
    all jobs as they run.

    \b
    Examples:
      bandstand local --port 8000
      AWS_ENDPOINT_URL=http://127.0.0.1:8000 python tune_as_ever.py
      bandstand local --home state --allow /data
    """
    from bandstand.cli.output import put_lines, tell

    try:
        from bandstand.service.server import serve
    except ModuleNotFoundError as error:
        from bandstand.errors import PlatformError

        raise PlatformError(
            f"{error.name} is not installed, which the service needs: pip install 'bandstand[local]'."
        ) from error

    def say(text: str) -> None:
        import sys

        put_lines([text])
        sys.stdout.flush()

    serve(
        place().folder,
        port=port,
        hosts=hosts,
        allowed=allowed,
        say=say,
        warn=lambda text: tell(f"note: {text}"),
    )
    return 0
