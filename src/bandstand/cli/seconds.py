"""Options that are times: numbers of seconds, none below zero and none without an end."""

from __future__ import annotations

import math
from typing import Any

import click


class Seconds(click.FloatRange):
    """A time in seconds, zero or more; `nan` and `inf`, which Python takes for numbers, are refused."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds, or refuse what is no time; see `click.ParamType.convert`."""
        try:
            seconds = float(value)
        except (TypeError, ValueError):
            seconds = math.nan
        if not math.isfinite(seconds) or seconds < 0:
            self.fail(f"{value!r} is no number of seconds; expected zero or more, such as 30.", param, ctx)
        return seconds
