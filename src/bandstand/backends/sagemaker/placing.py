"""Where what lies on this machine goes on S3: a plan with `s3://` addresses, and what is to be uploaded."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bandstand.backends.sagemaker.contents import Content, read_content
from bandstand.errors import InputError
from bandstand.hyperparameter_text import unquoted
from bandstand.request.plan import ChannelPlan, TrainingPlan, TuningPlan, local_path, written

CODE_CHANNEL = "code"
"""The channel that brings a job its code: any image finds it on its disk, without a network or rights."""

CODE_ARCHIVE = "sourcedir.tar.gz"
CODE_PATH = f"/opt/ml/input/data/{CODE_CHANNEL}/{CODE_ARCHIVE}"
"""What `sagemaker_submit_directory` says in the job; Bandstand and SageMaker's toolkit unpack it."""

MOST_CODE_BYTES = 200 << 20
"""More code than this is taken for data that lies among it."""

_SUBMIT = "sagemaker_submit_directory"
_SUBMIT_VARIABLE = "SAGEMAKER_SUBMIT_DIRECTORY"
_NEVER_CODE = ("__pycache__", "node_modules")


@dataclass(frozen=True)
class Upload:
    """What is to be on S3 before a job starts.

    Args:
        what: For people: `channel train`, `the code`.
        content: The files.
        uri: Where they go: the address of a folder, or of the archive that they are packed into.
        packed: Whether they are packed into one archive.
    """

    what: str
    content: Content
    uri: str
    packed: bool = False


@dataclass(frozen=True)
class Placement:
    """A plan as SageMaker gets it.

    Args:
        plan: The plan; all its addresses are on S3.
        uploads: What has to be there.
        fetch: The folder of this machine that models are fetched into, or None where they stay on S3.
        notes: What a person should know, one sentence each.
    """

    plan: TrainingPlan | TuningPlan
    uploads: tuple[Upload, ...]
    fetch: Path | None
    notes: tuple[str, ...] = ()


def place(plan: TrainingPlan | TuningPlan, root: str) -> Placement:
    """Give everything of a plan that lies on this machine an address on S3; uploads nothing.

    Channels and code are named by what they hold, so that the same content is uploaded once. A document of
    the API has only addresses of S3, and stays as it is.

    Args:
        plan: The plan of a job file or a document.
        root: `s3://BUCKET/PREFIX`, below which everything goes.

    Raises:
        InputError: A file cannot be read, the code is too large, or a channel has the name that the code's
            channel has to have.
    """
    # Several definitions come in a document, of which nothing moves.
    definition = plan.definitions[0].training if isinstance(plan, TuningPlan) else plan
    uploads: list[Upload] = []
    moved: dict[str, str] = {}
    notes: list[str] = []
    for channel in definition.channels:
        if channel.uri.startswith("file://") and channel.uri not in moved:
            content = read_content(channel.path)
            folder = f"{root}/channels/{content.name}/"
            moved[channel.uri] = folder + (content.files[0][0] if content.single else "")
            uploads.append(Upload(f"channel {channel.name}", content, folder))
    fetch = None
    if definition.output.startswith("file://"):
        fetch = definition.output_path
        moved[definition.output] = f"{root}/output"
    if definition.checkpoints is not None and definition.checkpoints.startswith("file://"):
        moved[definition.checkpoints] = f"{root}/checkpoints/{plan.name}"
        notes.append(
            f"checkpoints: they are kept at {moved[definition.checkpoints]}; what is in"
            f" {definition.checkpoint_path} is not uploaded."
        )
    code = _code(definition)
    if code is not None:
        upload, note = _place_code(definition, local_path(code), root)
        uploads.append(upload)
        notes += [note] if note else []
    rewrite = _Rewrite(moved, code, f"{root}/code/{uploads[-1].content.name}/" if code else "")
    if isinstance(plan, TuningPlan):
        document = rewrite.tuning(json.loads(plan.document))
        definitions = tuple(replace(each, training=rewrite.plan(each.training)) for each in plan.definitions)
        changed = replace(plan, definitions=definitions, document=written(document))
        return Placement(changed, tuple(uploads), fetch, tuple(notes))
    return Placement(rewrite.plan(plan), tuple(uploads), fetch, tuple(notes))


def _code(plan: TrainingPlan) -> str | None:
    """The address of a job's code on this machine, or None."""
    named = dict(plan.hyperparameters).get(_SUBMIT) or dict(plan.environment).get(_SUBMIT_VARIABLE, "")
    code = unquoted(named)
    return code if code.startswith("file:///") else None


def _place_code(plan: TrainingPlan, place: Path, root: str) -> tuple[Upload, str]:
    if any(channel.name == CODE_CHANNEL for channel in plan.channels):
        raise InputError(
            f"The job has a channel named {CODE_CHANNEL}, which on SageMaker brings the job its code. Give"
            " the channel another name."
        )
    own = [channel.path for channel in plan.channels if channel.uri.startswith("file://")]
    own += [plan.output_path] if plan.output.startswith("file://") else []
    kept = plan.checkpoints or ""
    own += [local_path(kept)] if kept.startswith("file://") else []
    apart = {os.path.realpath(path) for path in own}  # unlike resolve(), at peace with links in a circle

    def skip(path: Path) -> bool:
        hidden = path.name.startswith(".") and path.is_dir()
        return hidden or path.name in _NEVER_CODE or path.suffix == ".pyc" or os.path.realpath(path) in apart

    content = read_content(place, skip)
    if content.size > MOST_CODE_BYTES:
        largest = max(content.files, key=lambda file: file[2])
        raise InputError(
            f"The code in {place} has {content.size >> 20} MB, of which {largest[0]} has {largest[2] >> 20};"
            f" at most {MOST_CODE_BYTES >> 20} MB are sent along. Put data into a channel, and name the"
            " folder with the program by code."
        )
    note = ""
    left = sorted(name for name in content.left_out if "__pycache__" not in name)
    if left:
        note = f"code: not sent along: {', '.join(left[:6])}{' and more' if len(left) > 6 else ''}."
    return Upload("the code", content, f"{root}/code/{content.name}/{CODE_ARCHIVE}", packed=True), note


class _Rewrite:
    """Puts addresses of S3 in place of this machine's, in plans and documents alike.

    Args:
        moved: Old address to new one, of channels, output and checkpoints.
        code: The old address of the code, or None.
        folder: The address of the folder that holds the code's archive.
    """

    def __init__(self, moved: Mapping[str, str], code: str | None, folder: str) -> None:
        self._moved = moved
        self._code = code
        self._folder = folder

    def plan(self, plan: TrainingPlan) -> TrainingPlan:
        channels = tuple(replace(each, uri=self._to(each.uri)) for each in plan.channels)
        if self._code is not None:
            channels += (ChannelPlan(CODE_CHANNEL, self._folder),)
        return replace(
            plan,
            channels=channels,
            output=self._to(plan.output),
            checkpoints=None if plan.checkpoints is None else self._to(plan.checkpoints),
            hyperparameters=tuple(self._submitted(dict(plan.hyperparameters)).items()),
            environment=tuple(self._submitted(dict(plan.environment)).items()),
            document=written(self.body(json.loads(plan.document), "HyperParameters")),
        )

    def tuning(self, document: dict[str, Any]) -> dict[str, Any]:
        if "TrainingJobDefinition" not in document:
            return document
        body = self.body(document["TrainingJobDefinition"], "StaticHyperParameters")
        return document | {"TrainingJobDefinition": body}

    def body(self, body: Mapping[str, Any], settings: str) -> dict[str, Any]:
        """A training job's request, or a tuning job's definition."""
        new = json.loads(json.dumps(body))
        for channel in new.get("InputDataConfig", []):
            data = channel["DataSource"].get("S3DataSource")
            if data is not None:
                data["S3Uri"] = self._to(data["S3Uri"])
        if self._code is not None:
            new = _with_code(new, self._folder)
        for members in (("OutputDataConfig", "S3OutputPath"), ("CheckpointConfig", "S3Uri")):
            table = new.get(members[0])
            if table is not None and members[1] in table:
                table[members[1]] = self._to(table[members[1]])
        for table_name in (settings, "Environment"):
            if table_name in new:
                new[table_name] = self._submitted(new[table_name])
        return dict(new)

    def _submitted(self, settings: dict[str, str]) -> dict[str, str]:
        if self._code is None:
            return settings
        return {
            name: CODE_PATH if name in (_SUBMIT, _SUBMIT_VARIABLE) else value
            for name, value in settings.items()
        }

    def _to(self, uri: str) -> str:
        return self._moved.get(uri, uri)


def _with_code(body: dict[str, Any], folder: str) -> dict[str, Any]:
    data = {"S3DataType": "S3Prefix", "S3Uri": folder, "S3DataDistributionType": "FullyReplicated"}
    channel: dict[str, Any] = {"ChannelName": CODE_CHANNEL, "DataSource": {"S3DataSource": data}}
    if body.get("AlgorithmSpecification", {}).get("TrainingInputMode", "File") != "File":
        channel["InputMode"] = "File"
    channels = [*body.get("InputDataConfig", []), channel]
    if "InputDataConfig" in body:
        return body | {"InputDataConfig": channels}
    found: dict[str, Any] = {}
    for member, value in body.items():  # where the service's model lists it
        if member == "OutputDataConfig":
            found["InputDataConfig"] = channels
        found[member] = value
    return found
