"""`bandstand push`: an image to ECR, and the URI that an estimator takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bandstand.cli.place import json_option

if TYPE_CHECKING:
    from bandstand.image.ecr import Repository
    from bandstand.image.push_plan import PushPlan
    from bandstand.image.pushing import Pushed

KEEP = 20


@click.command("push", short_help="Push an image to ECR; print the URI that an estimator takes.")
@click.argument("image", metavar="[IMAGE]", default="bandstand:latest")
@click.option("--repository", metavar="NAME", help="The repository in ECR.  [default: the image's name]")
@click.option("--tag", metavar="TAG", help="The tag there.  [default: the image's version and revision]")
@click.option("--region", metavar="REGION", help="The region.  [default: AWS's own settings]")
@click.option(
    "--profile", metavar="NAME", help="The profile with the credentials.  [default: AWS's own settings]"
)
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=KEEP,
    show_default=True,
    metavar="N",
    help="How many images a new repository keeps.",
)
@click.option("--immutable", is_flag=True, help="A new repository refuses to move a tag to another image.")
@click.option("--dry-run", is_flag=True, help="Only print what would be done; AWS is not asked.")
@json_option
def command(
    image: str,
    repository: str | None,
    tag: str | None,
    region: str | None,
    profile: str | None,
    keep: int,
    immutable: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Push a local image to ECR, and print its URI with the digest, which estimators and job files take.

    A repository that is not there yet is created, with a scan of each push and a lifecycle policy; one that
    is there is left as it is. The registry's login is never printed, and kept for this push only.

    \b
    Examples:
      bandstand push --dry-run
      bandstand push bandstand:latest --region eu-central-1
      uri=$(bandstand push)
    """
    from bandstand.cli.output import put_json, put_lines
    from bandstand.cli.steps import Steps
    from bandstand.image.docker_command import find_docker
    from bandstand.image.ecr import Ecr, session
    from bandstand.image.push_plan import make_push_plan
    from bandstand.image.pushing import push

    aws = session(profile, region)
    docker = find_docker()
    plan = make_push_plan(
        docker.inspect(image),
        image,
        repository=repository,
        tag=tag,
        region=aws.region_name,
        keep=keep,
        immutable=immutable,
    )
    if dry_run:
        if as_json:
            put_json(_plan_facts(plan))
        else:
            put_lines(f"{number}. {step}" for number, step in enumerate(plan.steps, 1))
        return 0
    with Steps() as steps:
        ecr = Ecr(aws, plan)
        found = ecr.repository()
        for note in _notes(found, plan):
            steps.said(note)
        pushed = push(plan, found, ecr.login(), docker, steps.told)
    if as_json:
        put_json(_facts(plan, found, pushed))
    else:
        put_lines([pushed.uri])
    return 0


def _notes(repository: Repository, plan: PushPlan) -> list[str]:
    if repository.created:
        return [f"created the repository {plan.repository} in {plan.region}"]
    notes = [f"the repository {plan.repository} is there, and is left as it is"]
    if not repository.scans:
        notes.append(
            "note: it does not scan what is pushed (aws ecr put-image-scanning-configuration "
            f"--repository-name {plan.repository} --image-scanning-configuration scanOnPush=true)"
        )
    if plan.immutable and not repository.immutable:
        notes.append("note: its tags may move, although --immutable was given")
    return notes


def _plan_facts(plan: PushPlan) -> dict[str, Any]:
    return {
        "image": plan.image,
        "repository": plan.repository,
        "tag": plan.tag,
        "region": plan.region,
        "bytes": plan.size,
        "steps": list(plan.steps),
    }


def _facts(plan: PushPlan, repository: Repository, pushed: Pushed) -> dict[str, Any]:
    return {
        "uri": pushed.uri,
        "tagged": pushed.tagged,
        "digest": pushed.digest,
        "repository_created": repository.created,
        "region": plan.region,
    }
