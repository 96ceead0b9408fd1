"""A hyperparameter as a script declares it: in one call, with Python's own types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import GenericAlias, MappingProxyType
from typing import Any

from bandstand.errors import InputError
from bandstand.hyperparameter_declaration import DefaultRange, Hyperparameter, is_number
from bandstand.hyperparameter_text import encode

KINDS: Mapping[object, str] = MappingProxyType(
    {
        int: "integer",
        float: "number",
        bool: "boolean",
        str: "text",
        list[int]: "integers",
        list[float]: "numbers",
        list[str]: "words",
        list: "list",
        dict: "table",
    }
)
"""The type in a declaration to what a value is to be; a sequence of values is a `choice`."""

_REQUIRED: Any = object()


def hyperparameter(
    name: str,
    type: object,  # noqa: A002 - the word that argparse and click have taught
    low: float | None = None,
    high: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    default: object = _REQUIRED,
    tune: Sequence[object] | bool | None = None,
    scale: str | None = None,
    tunable: bool = True,
    aliases: Sequence[str] = (),
    help: str = "",  # noqa: A002
) -> Hyperparameter:
    """Declare a hyperparameter of a script, for `bandstand.start(schema=[...])`.

        hyperparameter("learning_rate", float, above=0, default=0.1, tune=(1e-4, 1), scale="log")

    Args:
        name: Its name; `-` and `_` are the same.
        type: `int`, `float`, `bool`, `str`, `list[int]`, `list[float]`, `list[str]`, `list` or `dict` of
            anything, or a list of the values to choose from.
        low: The smallest number, of each item in a list.
        high: The largest number.
        above: Instead of `low`: all numbers above this one.
        below: Instead of `high`: all numbers below this one.
        default: The value of a job that does not give it, None for no value; without it a job has to.
        tune: The default range, for `name = "default"` in a job file's `[ranges]`: the two ends for numbers;
            else a list of values, or True for all of a choice.
        scale: How tries in that range are spread: `auto`, `linear`, `log`, or `reverse-log`.
        tunable: Whether it may be tuned at all.
        aliases: Other names under which it may be given.
        help: What it does, in one line.

    Raises:
        InputError: If the declaration contradicts itself.
    """
    choice = not isinstance(type, GenericAlias) and isinstance(type, list | tuple)
    kind = "choice" if choice else _kind(name, type)
    doubled = [word for word, both in (("low", (low, above)), ("high", (high, below))) if None not in both]
    if doubled:
        raise InputError(f"The declaration of hyperparameter {name!r} limits it twice: {doubled}.")
    it = Hyperparameter(
        name=name,
        kind=kind,
        help=help,
        required=default is _REQUIRED,
        default=None if default is _REQUIRED else default,
        low=low if above is None else above,
        high=high if below is None else below,
        excludes=tuple(word for word, bound in (("low", above), ("high", below)) if bound is not None),
        choices=tuple(type) if isinstance(type, list | tuple) else (),
        aliases=tuple(aliases) if isinstance(aliases, list | tuple) else (aliases,),  # type: ignore[arg-type]
        tunable=tunable,
        tune=_default_range(name, kind, type, tune, scale),
    )
    return it if it.default is None else replace(it, default=it.read_python(it.default))


def _kind(name: str, type_: object) -> str:
    try:
        return KINDS[type_]
    except (KeyError, TypeError):
        known = ", ".join(str(getattr(each, "__name__", each)) for each in KINDS if not _is_alias(each))
        raise InputError(
            f"The declaration of hyperparameter {name!r} has the type {type_!r}; expected {known}, "
            "list[int], list[float], list[str], or a list of the values to choose from."
        ) from None


def _is_alias(type_: object) -> bool:
    return isinstance(type_, GenericAlias)


def _default_range(
    name: str, kind: str, type_: object, tune: Sequence[object] | bool | None, scale: str | None
) -> DefaultRange | None:
    if tune is None or tune is False:
        if scale is not None:
            raise InputError(
                f"The declaration of hyperparameter {name!r} has a scale, but no range to tune it in: add "
                "tune=(low, high)."
            )
        return None
    if kind in ("integer", "number"):
        bounds = [bound for bound in tune if is_number(bound)] if isinstance(tune, list | tuple) else []
        if not isinstance(tune, list | tuple) or not len(bounds) == len(tune) == 2:
            raise InputError(
                f"The declaration of hyperparameter {name!r} has tune={tune!r}; expected (low, high)."
            )
        low, high = bounds
        return DefaultRange(low, high, "auto" if scale is None else scale)
    if tune is not True and not isinstance(tune, list | tuple):
        raise InputError(
            f"The declaration of hyperparameter {name!r} has tune={tune!r}; expected a list of values, or "
            "True for all of a choice."
        )
    whole: Sequence[Any] = [False, True] if kind == "boolean" else type_ if kind == "choice" else ()  # type: ignore[assignment]
    return DefaultRange(
        scale="auto" if scale is None else scale, values=tuple(map(encode, whole if tune is True else tune))
    )
