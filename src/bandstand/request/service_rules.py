"""Rules of what SageMaker itself needs (701 to 704)."""

from __future__ import annotations

from collections.abc import Sequence

from bandstand.request.channel_rules import channels
from bandstand.request.documents import Definition, dig
from bandstand.request.draft import ROLE
from bandstand.request.findings import Findings, shown
from bandstand.request.program import image_of, is_ours, program_of


def check_service(found: Sequence[Definition], findings: Findings) -> None:
    """Check what a job needs on SageMaker that runs on this machine without it.

    Args:
        found: The definitions of a sound document.
        findings: Takes the problems.
    """
    for definition in found:
        _check_role(definition, findings)
        _check_image(definition, findings)
        _check_code(definition, findings)
        if findings.exact:
            _check_addresses(definition, findings)


def _check_role(definition: Definition, findings: Findings) -> None:
    place = (*definition.place, "RoleArn")
    if definition.body.get("RoleArn") == ROLE and not findings.doubtful(place):
        fix = 'Add role = "arn:aws:iam::ACCOUNT:role/NAME", a role that trusts sagemaker.amazonaws.com.'
        findings.problem(701, place, "none", "the ARN of a role", fix)


def _check_image(definition: Definition, findings: Findings) -> None:
    place = (*definition.place, "AlgorithmSpecification", "TrainingImage")
    image = image_of(definition)
    registry, slash, _ = image.partition("/")
    if image and not (slash and ("." in registry or ":" in registry)) and not findings.doubtful(place):
        fix = f"Push it and name what that prints: bandstand push {image}"
        allowed = "ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME:TAG"
        findings.problem(702, place, f"{shown(image)}, which is on this machine only", allowed, fix)


def _check_addresses(definition: Definition, findings: Findings) -> None:
    """A document is passed on unchanged, so that nothing in it is uploaded."""
    places = [(*place, "DataSource", "S3DataSource", "S3Uri") for _, place in channels(definition)]
    uris = [dig(channel, "DataSource", "S3DataSource", "S3Uri") for channel, _ in channels(definition)]
    for members in (("OutputDataConfig", "S3OutputPath"), ("CheckpointConfig", "S3Uri")):
        places.append((*definition.place, *members))
        uris.append(dig(definition.body, *members))
    for place, uri in zip(places, uris, strict=True):
        if isinstance(uri, str) and uri.startswith("file:") and not findings.doubtful(place):
            fix = "Upload it and name the copy, or write a job file: its folders are uploaded."
            findings.problem(703, place, shown(uri), "s3://BUCKET/PREFIX", fix)
    program = program_of(definition)
    if program is not None and (program.folder or "").startswith("file:"):
        place = (*definition.static_place, "sagemaker_submit_directory")
        fix = "Upload it and name the copy, or write a job file: its code is sent along."
        findings.problem(703, place, shown(program.folder), "a path inside the container", fix)


def _check_code(definition: Definition, findings: Findings) -> None:
    program = program_of(definition)
    if program is None or not (program.folder or "").startswith("s3://"):
        return
    if is_ours(image_of(definition)):
        place = (*definition.static_place, "sagemaker_submit_directory")
        fix = "Name a folder of this machine, which is sent along, or bring the code by a channel."
        findings.problem(704, place, shown(program.folder), "a folder, or a path in the container", fix)
