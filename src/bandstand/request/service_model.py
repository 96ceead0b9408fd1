"""SageMaker's service model, as the installed botocore has it: shapes, patterns, limits."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

TUNING = "CreateHyperParameterTuningJob"
TRAINING = "CreateTrainingJob"

_LINE_END = r"\n\r\u0085\u2028\u2029"
_LETTER_CLASSES = {
    "L": r"\w",  # as Python has it: with digits and _, which the model always adds
    "N": r"\d",
    "Z": r" \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
    "Alnum": "a-zA-Z0-9",
    "M": r"\u0300-\U0010ffff",  # marks; the model allows them together with letters and symbols only
    "P": r"!-~\u00a1-\U0010ffff",  # everything but control characters, as symbols too
    "S": r"!-~\u00a1-\U0010ffff",
}


@lru_cache(maxsize=2)
def request_shape(operation: str) -> Any:
    """Return the shape of an operation's request, of type `botocore.model.StructureShape`.

    The model is read when it is first asked for, which takes about a quarter of a second.
    """
    return _service().operation_model(operation).input_shape


def specifications_shape() -> Any:
    """Return the shape of CreateAlgorithm's SupportedHyperParameters, of type `botocore.model.ListShape`."""
    return _service().shape_for("HyperParameterSpecifications")


def in_order(shape: Any, value: Any) -> Any:
    """Return a document with its members in the order in which the model lists them.

    Args:
        shape: The shape of the value.
        value: What is written; members that the shape lacks come last.
    """
    if shape.type_name == "structure" and isinstance(value, dict):
        known = {name: in_order(shape.members[name], value[name]) for name in shape.members if name in value}
        return known | {name: item for name, item in value.items() if name not in known}
    if shape.type_name == "list" and isinstance(value, list):
        return [in_order(shape.member, item) for item in value]
    return value


@lru_cache(maxsize=1)
def _service() -> Any:
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    return ServiceModel(Loader().load_service_model("sagemaker", "service-2"), "sagemaker")


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    r"""Return a pattern of the model as Python's, for `fullmatch`.

    The model's patterns are Java's: `.` stops at every line end, `\d` and `\w` are ASCII, and `\p{...}` are
    classes that Python lacks.

    Args:
        pattern: The pattern, as the model writes it.
    """
    pieces: list[str] = []
    in_class = False
    for piece in re.findall(r"\\p\{\w+\}|\\.|.", pattern, re.DOTALL):
        if piece.startswith(r"\p{"):
            inside = _LETTER_CLASSES[piece[3:-1]]
            pieces.append(inside if in_class else f"[{inside}]")
        elif piece == "." and not in_class:
            pieces.append(f"[^{_LINE_END}]")
        else:
            in_class = piece == "[" or (in_class and piece != "]")
            pieces.append(piece)
    flags = re.NOFLAG if r"\p{" in pattern else re.ASCII
    return re.compile("".join(pieces), flags)
