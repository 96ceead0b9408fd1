"""Which job a verb is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bandstand.errors import InputError

if TYPE_CHECKING:
    from bandstand.runs.jobs import Kind
    from bandstand.runs.record import Record

Function = TypeVar("Function", bound=Callable[..., Any])


class JobName(click.types.StringParamType):
    """The name of a job, as far as a word of the command line can be one."""

    name = "job"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the name; of a byte that is no UTF-8 Python makes half a character."""
        if not value:
            self.fail("the name is empty. Name a job; `bandstand list` shows them.", param, ctx)
        if not value.isprintable():
            self.fail(
                f"{value!a} holds a control character, or a byte that is no UTF-8; expected letters,"
                " digits and hyphens. `bandstand list` shows the jobs there are.",
                param,
                ctx,
            )
        return value


def kind_option(function: Function) -> Function:
    """Add `--kind` to a verb that takes the name of a job."""
    return click.option(
        "--kind",
        type=click.Choice(["training", "tuning"]),
        help="Which job is meant, where a training job and a tuning job have the same name.",
    )(function)


def pick(record: Record, job: str | None, kind: Kind | None) -> tuple[str, Kind]:
    """Give name and kind of the job that a verb is about.

    Args:
        record: The store.
        job: Its name; None for the job that was created last.
        kind: Of which kind it is; None where nobody has said.

    Raises:
        InputError: There is no such job, or one of each kind; or there is no job at all.
    """
    from bandstand.runs.finding import find
    from bandstand.runs.views import jobs

    if job is not None:
        named = find(record, job, kind)
        return named.name, named.kind
    found = [each for each in jobs(record) if kind in (None, each["kind"])]
    if not found:
        what = f"{kind} jobs" if kind else "jobs"
        raise InputError(f"There are no {what} in {record.home} yet. Start one with: bandstand tune job.toml")
    newest = max(enumerate(found), key=lambda item: (item[1]["created"] or "", item[0]))[1]
    return newest["name"], newest["kind"]
