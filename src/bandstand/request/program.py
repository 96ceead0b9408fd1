"""Which program a training job runs: found in this order, as inside the image."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bandstand.errors import InputError
from bandstand.metrics import metric_definitions
from bandstand.request.documents import Definition

BUILT_INS = ("xgboost", "horovod")
"""The names that the hyperparameter `algorithm` may have."""

HOROVOD_METRICS = ("train:loss", "validation:loss", "validation:accuracy")
"""What the built-in Horovod classifier reports; the last two with a channel `validation` only."""

_AWS_XGBOOST = re.compile(r"(?:^|/)sagemaker-xgboost(?:[:@].*)?$")
_OURS = re.compile(r"(?:^|/)bandstand(?:[:@].*)?$")


@dataclass(frozen=True)
class Program:
    """What runs.

    Args:
        kind: `script`, `built-in`, or `image` for a built-in that the image's name stands for.
        name: The script, or the built-in.
        folder: Where the user's code is, a URI or a path inside the image; None for the usual place.
    """

    kind: Literal["script", "built-in", "image"]
    name: str
    folder: str | None = None


def program_of(definition: Definition) -> Program | None:
    """Return the program of a definition, or None if nothing names one.

    The order is that of the image's start-up: the environment's `SAGEMAKER_PROGRAM`, the hyperparameter
    `sagemaker_program`, the hyperparameter `algorithm`, and then what the image's name stands for.
    """
    environment = definition.body.get("Environment", {})
    script = environment.get("SAGEMAKER_PROGRAM") or definition.setting("sagemaker_program")
    folder = environment.get("SAGEMAKER_SUBMIT_DIRECTORY") or definition.setting("sagemaker_submit_directory")
    if script:
        return Program("script", script, folder)
    algorithm = definition.setting("algorithm")
    if algorithm:
        return Program("built-in", algorithm, folder)
    if is_aws_xgboost(image_of(definition)):
        return Program("image", "xgboost", folder)
    return None


def image_of(definition: Definition) -> str:
    """Return the training image, or an empty text."""
    image = definition.body.get("AlgorithmSpecification", {}).get("TrainingImage", "")
    return str(image)


def is_aws_xgboost(image: str) -> bool:
    """Whether an image is AWS's own XGBoost, for which the built-in stands in."""
    return _AWS_XGBOOST.search(image) is not None


def is_ours(image: str) -> bool:
    """Whether an image is one of Bandstand's: its repository's last part is `bandstand`."""
    return _OURS.search(image) is not None


def has_metric(definition: Definition, name: str) -> bool:
    """Whether the algorithm brings a metric's definition, so that a request needs none."""
    if "AlgorithmName" in definition.body.get("AlgorithmSpecification", {}):
        return True
    return is_aws_xgboost(image_of(definition)) and line_pattern(name) is not None


def line_pattern(name: str) -> str | None:
    """Return the pattern that reads a metric from a metric line, or None if it cannot hold the name."""
    try:
        return metric_definitions([name])[0]["Regex"]
    except InputError:
        return None
