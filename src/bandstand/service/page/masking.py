"""Hiding secrets in what jobs were given and what they print, before any of it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

HIDDEN = "[hidden]"
"""What stands in the place of a secret."""

_NAME = r"(?:secret|password|passwd|token|credentials?|access_?key|secret_?key|api_?key|private_?key)"
_IS_SECRET = re.compile(rf"{_NAME}$", re.IGNORECASE)
_SAID = re.compile(rf"({_NAME}[\"']?\s?[=:]\s?[\"']?)(?!\d+\b)[^\s\"',;&]{{8,}}", re.IGNORECASE)
_KNOWN = re.compile(
    r"bandstand-job\.[\w.-]+"  # what the service itself gives to jobs
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}\b|\bhf_[A-Za-z0-9]{20,}\b|\bsk-[A-Za-z0-9_-]{20,}\b"
)
_SHORTEST = 6


@dataclass(frozen=True)
class Mask:
    """Hides secrets in texts of a job.

    Args:
        values: Texts that are secrets, longest first.
    """

    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Mask:
        """The mask for a job that was given these names and values."""
        values = {value.strip('"') for name, value in pairs if is_secret(name)}
        return cls(tuple(sorted((each for each in values if len(each) >= _SHORTEST), key=len, reverse=True)))

    def text(self, text: str) -> str:
        """A text without its secrets."""
        for value in self.values:
            text = text.replace(value, HIDDEN)
        return _SAID.sub(rf"\1{HIDDEN}", _KNOWN.sub(HIDDEN, text))

    def document(self, value: Any, name: str = "") -> Any:
        """A JSON-ready document without its secrets.

        Args:
            value: The document, or a part of it.
            name: The name that the part has; texts under a secret's name are hidden whole.
        """
        if isinstance(value, str):
            return HIDDEN if value and is_secret(name) else self.text(value)
        if isinstance(value, dict):
            return {key: self.document(each, str(key)) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.document(each) for each in value]
        return value


def is_secret(name: str) -> bool:
    """Whether what has this name is not to be shown."""
    return _IS_SECRET.search(name.replace("-", "_")) is not None
