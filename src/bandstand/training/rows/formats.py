"""What kind of data a channel holds: its content type tells, else the names of its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from bandstand.errors import InputError
from bandstand.sagemaker_files import Channel

Kind = Literal["csv", "libsvm", "parquet"]
KINDS: tuple[Kind, ...] = get_args(Kind)

TITLES: dict[Kind, str] = {"csv": "CSV", "libsvm": "libsvm", "parquet": "Parquet"}
"""What a kind is called in messages."""

CONTENT_TYPES: dict[str, Kind] = {
    "text/csv": "csv",
    "csv": "csv",
    "text/libsvm": "libsvm",
    "text/x-libsvm": "libsvm",
    "libsvm": "libsvm",
    "application/x-parquet": "parquet",
    "parquet": "parquet",
}
"""The content types of SageMaker's XGBoost."""

_ENDINGS: dict[str, Kind] = {
    ".csv": "csv",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".parquet": "parquet",
    ".pq": "parquet",
}

_PARAMETERS = {
    "csv": ("label_size=1", "charset=utf-8", "header=absent", "header=present"),
    "libsvm": ("charset=utf-8",),
    "parquet": (),
}
"""Parameters of a content type that say nothing else than how rows are read anyway, or that are read."""

ZIPPED = ".gz"
"""The ending of a file that is unpacked while it is read."""


@dataclass(frozen=True)
class Declared:
    """What a content type says.

    Args:
        kind: The kind of data.
        header: Whether files of CSV start with a line of names; None if nothing is said.
    """

    kind: Kind
    header: bool | None


def read_content_type(channel: Channel) -> Declared | None:
    """What a channel's content type says; None if it has none.

    Args:
        channel: The channel.

    Raises:
        InputError: If the type or one of its parameters is not known.
    """
    if channel.content_type is None:
        return None
    name, *parameters = (part.strip().lower() for part in channel.content_type.split(";"))
    kind = CONTENT_TYPES.get(name)
    if kind is None:
        raise InputError(
            f"Channel {channel.name!r} has the content type {channel.content_type!r}; expected one of "
            f"{', '.join(CONTENT_TYPES)}."
        )
    wrong = [text for text in parameters if text and text not in _PARAMETERS[kind]]
    if wrong:
        known = ", ".join(_PARAMETERS[kind]) or "none"
        raise InputError(
            f"Channel {channel.name!r} has the content type {channel.content_type!r}; {', '.join(wrong)} is "
            f"not supported. Parameters that are: {known}."
        )
    header = None
    if "header=present" in parameters or "header=absent" in parameters:
        header = "header=present" in parameters
    return Declared(kind, header)


def kind_of_name(name: str) -> Kind | None:
    """The kind of data that a file's name tells, `.gz` aside; None if it tells none.

    Args:
        name: The file's name.
    """
    plain = name.lower().removesuffix(ZIPPED)
    return next((kind for ending, kind in _ENDINGS.items() if plain.endswith(ending)), None)


def endings() -> str:
    """The endings that tell a kind, for messages."""
    return ", ".join(_ENDINGS)
