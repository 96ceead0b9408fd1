"""What Describe tells where a request is silent: members that the service fills in, and clients count on.

SDK 2 reads each of these without asking whether it is there when it attaches to a job by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bandstand.service.protocol import Document


def output(asked: Mapping[str, Any]) -> Document:
    """The OutputDataConfig of a training job's answer; no key is told as an empty one."""
    return {"KmsKeyId": "", **asked}


def channels(asked: list[Document]) -> list[Document]:
    """The InputDataConfig of a training job's answer."""
    return [{**channel, **_source(channel), **_packing(channel)} for channel in asked]


def _packing(channel: Document) -> Document:
    return {name: channel.get(name, "None") for name in ("CompressionType", "RecordWrapperType")}


def _source(channel: Document) -> Document:
    objects = channel.get("DataSource", {}).get("S3DataSource")
    if objects is None:
        return {}
    objects = {"S3DataDistributionType": "FullyReplicated", **objects}
    return {"DataSource": {**channel["DataSource"], "S3DataSource": objects}}


def tuning(asked: Mapping[str, Any]) -> Document:
    """The HyperParameterTuningJobConfig of a tuning job's answer."""
    found = {name: ranges(asked[name]) for name in ("ParameterRanges",) if name in asked}
    return {"TrainingJobEarlyStoppingType": "Off", **asked, **found}


def ranges(asked: Mapping[str, Any]) -> Document:
    """Ranges with every kind of them, if only empty."""
    kinds = ("IntegerParameterRanges", "ContinuousParameterRanges", "CategoricalParameterRanges")
    return {kind: [] for kind in kinds} | {**asked}


def stopping(asked: Mapping[str, Any], max_runtime: int | None) -> Document:
    """The StoppingCondition of an answer.

    Args:
        asked: The request's.
        max_runtime: The limit that holds, in seconds, or None where there is none.
    """
    return ({} if max_runtime is None else {"MaxRuntimeInSeconds": max_runtime}) | {**asked}
