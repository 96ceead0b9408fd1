"""Where the data of a request is: `s3://` is in this home, `file://` names files below allowed folders."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bandstand.errors import BandstandError
from bandstand.hyperparameters import decode
from bandstand.request.findings import dotted
from bandstand.request.plan import local_path
from bandstand.service.protocol import Document, ServiceError
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.keys import split_uri

CODE_VARIABLE = "SAGEMAKER_SUBMIT_DIRECTORY"
CODE_HYPERPARAMETER = "sagemaker_submit_directory"

Where = tuple[str | int, ...]


def localized(document: Mapping[str, Any], buckets: Buckets, roots: tuple[Path, ...]) -> Document:
    """Return a request whose locations are all files of this machine, or channels out of its buckets.

    Args:
        document: The request.
        buckets: The S3 of this home.
        roots: The folders that `file://` may reach, resolved.

    Raises:
        ServiceError: A location is outside the roots; with every one that is.
    """
    local: Document = json.loads(json.dumps(document))
    problems, advice = [], ""
    for where, text in list(_locations(local, ())):
        uri = decode(text)
        if not isinstance(uri, str):
            continue
        if uri.startswith("s3://"):
            try:
                if "InputDataConfig" in where:  # not a file or folder, but all that begins with it
                    buckets.require(*split_uri(uri))
                else:
                    _put(local, where, buckets.locate(uri).as_uri())
            except BandstandError as error:
                problems.append(f"{dotted(where)}: {error}")
        elif uri.startswith("file:///") and not _is_below(uri, roots):
            problems.append(f"{dotted(where)}: {uri} is not below {', '.join(map(str, roots))}.")
            advice = " The service reaches what is below the folders that it was started with: --allow DIR."
    if problems:
        raise ServiceError("ValidationException", f"{' '.join(problems)}{advice}")
    return local


def _is_below(uri: str, roots: tuple[Path, ...]) -> bool:
    try:
        path = local_path(uri).resolve()
    except (OSError, ValueError, RuntimeError):
        return False
    return any(path.is_relative_to(root) for root in roots)


def _locations(value: Any, place: Where) -> Iterator[tuple[Where, str]]:
    """Find every location that a job reads from or writes to, in a request or in a definition of one."""
    for name, item in value.items():
        where = (*place, name)
        if name == "TrainingJobDefinition":
            yield from _locations(item, where)
        elif name == "TrainingJobDefinitions":
            for at, definition in enumerate(item):
                yield from _locations(definition, (*where, at))
        elif name in ("HyperParameters", "StaticHyperParameters") and CODE_HYPERPARAMETER in item:
            yield (*where, CODE_HYPERPARAMETER), item[CODE_HYPERPARAMETER]
        elif name == "Environment" and CODE_VARIABLE in item:
            yield (*where, CODE_VARIABLE), item[CODE_VARIABLE]
        elif name == "InputDataConfig":
            for at, channel in enumerate(item):
                uri = channel.get("DataSource", {}).get("S3DataSource", {}).get("S3Uri")
                if uri is not None:
                    yield (*where, at, "DataSource", "S3DataSource", "S3Uri"), uri
        elif name == "OutputDataConfig" and "S3OutputPath" in item:
            yield (*where, "S3OutputPath"), item["S3OutputPath"]
        elif name == "CheckpointConfig" and "S3Uri" in item:
            yield (*where, "S3Uri"), item["S3Uri"]


def _put(document: Any, where: Where, text: str) -> None:
    *above, last = where
    for part in above:
        document = document[part]
    document[last] = text
