"""The verbs and the group they stand in; a verb's own code is loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from bandstand.cli.place import Folder, Place

VERBS = (
    *("build", "push", "plan", "train", "tune", "local"),
    *("list", "show", "logs", "stop", "interrupt", "report", "clean"),
)
"""Names of the verbs, in the order in which a user meets them; each is the module of that name."""


class Verbs(click.Group):
    """A group whose verbs live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names of the verbs, in the order in which a user meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb; None where there is none of this name."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"bandstand.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that the words ask for.

        Raises:
            click.UsageError: There is no such verb; the message names the nearest.
        """
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from bandstand.hyperparameters import nearest

            near = nearest(args[0], VERBS)
            hint = f"Did you mean '{near}'?" if near else f"There are: {', '.join(VERBS)}."
            raise click.UsageError(f"There is no verb '{args[0]}'. {hint}", ctx)
        return super().resolve_command(ctx, args)


def _version(context: click.Context, _option: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"bandstand {version('bandstand')}")
        context.exit()


@click.group(
    cls=Verbs,
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 the requested job failed, 2 the request is wrong, 3 stopped.",
)
@click.option(
    "--home",
    type=Folder(),
    metavar="DIR",
    envvar="BANDSTAND_HOME",
    help="Folder that holds all state; also after the verb, or BANDSTAND_HOME.  [default: ~/.bandstand]",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
)
@click.pass_obj
def bandstand(place: Place, home: Path | None) -> None:
    """Try out, tune and stop custom SageMaker training jobs on this machine first.

    \b
      bandstand plan job.toml      check a job file; print the request it makes
      bandstand tune job.toml      run its tuning job, with a live table
      bandstand show               what became of the newest job, and why
    """
    place.home = home
    source = click.get_current_context().get_parameter_source("home")
    place.said = source is click.core.ParameterSource.COMMANDLINE
