"""Operations of tags: AddTags, ListTags, DeleteTags."""

from __future__ import annotations

from collections.abc import Mapping

from bandstand.runs.jobs import Kind
from bandstand.runs.record import Record
from bandstand.service.context import Context
from bandstand.service.protocol import Document, Operation, ServiceError

MOST = 50
"""Tags of one resource."""

_KINDS: Mapping[str, Kind] = {"training-job": "training", "hyper-parameter-tuning-job": "tuning"}
"""Kinds of jobs, by what an ARN calls them."""

_OF = "kind = ? AND job = ?"
"""The condition in SQL for the tags of one job."""


def add_tags(context: Context, parameters: Document) -> Document:
    """AddTags: add or replace; training jobs that a tuning job launches from then on get them too."""
    record = context.record()
    job = _job(context, record, parameters["ResourceArn"])
    tags = [(tag["Key"], tag["Value"]) for tag in parameters["Tags"]]
    _check(tags)
    with record.transaction() as connection:
        connection.executemany(
            "INSERT OR REPLACE INTO tags (kind, job, key, value) VALUES (?, ?, ?, ?)",
            [(*job, key, value) for key, value in tags],
        )
        (number,) = connection.execute(f"SELECT COUNT(*) FROM tags WHERE {_OF}", job).fetchone()  # noqa: S608
        if number > MOST:
            raise ServiceError(
                "ResourceLimitExceeded", f"{job[1]} would have {number} tags; a resource has at most {MOST}."
            )
    return {"Tags": parameters["Tags"]}


def list_tags(context: Context, parameters: Document) -> Document:
    """ListTags: all of them, which fit into the smallest page, in order of their keys."""
    record = context.record()
    job = _job(context, record, parameters["ResourceArn"])
    if "NextToken" in parameters:
        raise ServiceError("ValidationException", "NextToken is invalid: all tags are on the first page.")
    rows = record.read(f"SELECT key, value FROM tags WHERE {_OF} ORDER BY key", job)  # noqa: S608
    return {"Tags": [{"Key": row["key"], "Value": row["value"]} for row in rows]}


def delete_tags(context: Context, parameters: Document) -> Document:
    """DeleteTags: take tags away; keys that there are none of are passed over."""
    record = context.record()
    job = _job(context, record, parameters["ResourceArn"])
    with record.transaction() as connection:
        connection.executemany(
            f"DELETE FROM tags WHERE {_OF} AND key = ?",  # noqa: S608 - the condition is a constant
            [(*job, key) for key in parameters["TagKeys"]],
        )
    return {}


def _job(context: Context, record: Record, arn: str) -> tuple[Kind, str]:
    """The kind and the name of the job of an ARN.

    Raises:
        ServiceError: There is no such job, or the ARN is of another account or kind.
    """
    _, _, _, _, account, resource = arn.split(":", 5)
    kind, _, name = resource.partition("/")
    if kind not in _KINDS:
        known = " and ".join(_KINDS)
        raise ServiceError("ValidationException", f"{arn} is a {kind}; this service has {known}.")
    rows = record.read(f"SELECT name FROM {_KINDS[kind]}_jobs WHERE name = ?", (name,))  # noqa: S608
    if account != context.account or not rows:
        raise ServiceError("ResourceNotFound", f"Requested resource not found: {arn}.")
    return _KINDS[kind], str(rows[0]["name"])


def _check(tags: list[tuple[str, str]]) -> None:
    keys = [key for key, _ in tags]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    reserved = [key for key in keys if key.lower().startswith("aws:")]
    problems = [f"the key {key!r} is given more than once" for key in twice]
    problems += [f"the key {key!r} begins with aws:, which is AWS's own" for key in reserved]
    if problems:
        raise ServiceError("ValidationException", f"The tags cannot be added: {'; '.join(problems)}.")


OPERATIONS: Mapping[str, Operation] = {
    "AddTags": add_tags,
    "ListTags": list_tags,
    "DeleteTags": delete_tags,
}
"""The operations of this file, by name."""
