"""`bandstand build`: an image from a folder's Dockerfile, checked to start as SageMaker starts it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bandstand.cli.faults import FAILED
from bandstand.cli.place import json_option

if TYPE_CHECKING:
    from bandstand.image.building import Built
    from bandstand.image.recipe import Recipe
    from bandstand.image.starting import Check


@click.command("build", short_help="Build an image, and check that it starts in every form.")
@click.argument(
    "folder", metavar="[FOLDER]", type=click.Path(path_type=Path, file_okay=False, exists=True), default="."
)
@click.option(
    "-f",
    "--file",
    "dockerfile",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The Dockerfile, if it is not the folder's own.",
)
@click.option("--target", "stage", metavar="STAGE", help="Build this stage rather than the last one.")
@click.option(
    "-t",
    "--tag",
    "tags",
    multiple=True,
    metavar="NAME:TAG",
    help="What to call it; may be repeated.  [default: NAME:VERSION-REVISION and NAME:latest]",
)
@click.option(
    "--platform", default="linux/amd64", show_default=True, metavar="PLATFORM", help="Where it will run."
)
@click.option(
    "--build-arg",
    "arguments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A build argument of the Dockerfile; may be repeated.",
)
@click.option(
    "--no-registry",
    is_flag=True,
    help="In Bandstand's own repository: a base from Debian's packages, and wheels from a folder.",
)
@click.option("--check/--no-check", default=True, show_default=True, help="Try out that the image starts.")
@click.option("--dry-run", is_flag=True, help="Only print the commands.")
@json_option
def command(
    folder: Path,
    dockerfile: Path | None,
    stage: str | None,
    tags: tuple[str, ...],
    platform: str,
    arguments: tuple[str, ...],
    no_registry: bool,
    check: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Build the image of a folder's Dockerfile, for the processors that SageMaker has.

    Its tag names the version in pyproject.toml and the git revision, with -dirty where the folder differs
    from it. Afterwards the image is started in every form in which SageMaker and its SDKs start it, with a
    program of one line.

    \b
    Examples:
      bandstand build
      bandstand build --target xgboost --build-arg PARQUET=
      bandstand build my-folder -t mine:1.0
    """
    from bandstand.cli.output import put_json, put_lines
    from bandstand.image.building import commands
    from bandstand.image.recipe import Wish, make_recipe
    from bandstand.image.revision import read_revision

    wish = Wish(folder, dockerfile, stage, platform, arguments, tags, registry=not no_registry)
    recipe = make_recipe(wish, read_revision(folder))
    if dry_run:
        words = commands(recipe, registry=wish.registry)
        if as_json:
            put_json({"commands": [list(each) for each in words], "tags": list(recipe.tags)})
        else:
            import shlex

            put_lines(shlex.join(each) for each in words)
        return 0
    return _build(recipe, registry=wish.registry, check=check, as_json=as_json)


def _build(recipe: Recipe, *, registry: bool, check: bool, as_json: bool) -> int:
    from bandstand.cli.output import put_json, put_lines
    from bandstand.cli.steps import Steps
    from bandstand.image.building import build, prepare
    from bandstand.image.docker_command import find_docker
    from bandstand.image.starting import check_image

    docker = find_docker()
    with Steps() as steps:
        if not registry:
            prepare(recipe, docker, steps.told)
        built = build(recipe, docker, steps.told)

        def said(done: Check) -> None:
            steps.said(f"{'ok' if done.passed else 'NOT SO'}  {done.name}{_because(done)}")

        checks = check_image(docker, built.tags[0], said) if check else []
    if as_json:
        put_json(_facts(built, checks))
    else:
        put_lines(
            [*(f"built {tag}" for tag in built.tags), f"{built.size / 1e6:,.0f} MB for {built.platform}"]
        )
    return 0 if all(each.passed for each in checks) else FAILED


def _because(check: Check) -> str:
    return f": {check.detail}" if check.detail else ""


def _facts(built: Built, checks: list[Check]) -> dict[str, Any]:
    return {
        "image": built.identifier,
        "tags": list(built.tags),
        "bytes": built.size,
        "platform": built.platform,
        "checks": [
            {"name": each.name, "passed": each.passed, "detail": each.detail or None} for each in checks
        ],
    }
