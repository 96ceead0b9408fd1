"""S3's XML, in and out, shaped by botocore's own model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape

from bandstand.service.store.faults import StoreError

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'

_ROOTS = {
    "ListBuckets": "ListAllMyBucketsResult",
    "ListObjects": "ListBucketResult",
    "ListObjectsV2": "ListBucketResult",
    "ListObjectVersions": "ListVersionsResult",
    "ListMultipartUploads": "ListMultipartUploadsResult",
    "ListParts": "ListPartsResult",
    "CreateMultipartUpload": "InitiateMultipartUploadResult",
    "CompleteMultipartUpload": "CompleteMultipartUploadResult",
    "DeleteObjects": "DeleteResult",
    "GetBucketAcl": "AccessControlPolicy",
    "GetObjectAcl": "AccessControlPolicy",
    "GetBucketVersioning": "VersioningConfiguration",
    "GetObjectTagging": "Tagging",
    "GetObjectAttributes": "GetObjectAttributesResponse",
    "CopyObject": "CopyObjectResult",
    "UploadPartCopy": "CopyPartResult",
}
_ATTRIBUTE_NAMESPACE = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@lru_cache(maxsize=1)
def model() -> Any:
    """Return S3's model, of type `botocore.model.ServiceModel`."""
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    return ServiceModel(Loader().load_service_model("s3", "service-2"), "s3")


def read(operation: str, body: bytes) -> Any:
    """Read the document that a request carries.

    Args:
        operation: The operation.
        body: The document.

    Returns:
        It as botocore's clients know it: the value of the payload's member.

    Raises:
        StoreError: It is no such document.
    """
    from botocore.parsers import ResponseParserError, create_parser

    shape = model().operation_model(operation).input_shape
    payload = shape.serialization["payload"]
    if not body.strip():
        raise StoreError("MissingRequestBodyError")
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise StoreError("MalformedXML")
    response = {"status_code": 200, "headers": {}, "body": body}
    try:
        found = create_parser("rest-xml").parse(response, shape).get(payload, {})
    except (ResponseParserError, ValueError, KeyError, TypeError) as error:
        raise StoreError("MalformedXML") from error
    required = shape.members[payload].required_members
    if not isinstance(found, dict) or any(name not in found for name in required):
        raise StoreError("MalformedXML")
    return found


def write(operation: str, answer: Mapping[str, Any]) -> bytes:
    """Write an operation's answer.

    Args:
        operation: The operation.
        answer: The members of its output that stand in the body; times are nanoseconds since the epoch.
    """
    shape = model().operation_model(operation).output_shape
    payload = shape.serialization.get("payload")
    if payload is not None:
        shape = shape.members[payload]
    inside = "".join(
        _member(name, shape.members[name], answer[name])
        for name in shape.members
        if answer.get(name) is not None
    )
    root = _ROOTS[operation]
    return f'{HEAD}<{root} xmlns="{NAMESPACE}">{inside}</{root}>'.encode("utf-8", "replace")


def write_location(region: str) -> bytes:
    """Write the answer of GetBucketLocation, whose document is a bare word; us-east-1's is empty."""
    word = "" if region == "us-east-1" else escape(region)
    return f'{HEAD}<LocationConstraint xmlns="{NAMESPACE}">{word}</LocationConstraint>'.encode()


def write_error(error: StoreError, resource: str, request: str) -> bytes:
    """Write a refusal.

    What XML 1.0 has no way to write is replaced, since clients read the code of no refusal that they cannot
    parse.

    Args:
        error: The refusal.
        resource: The path of the bucket or object.
        request: The request's id.
    """
    facts = {"Code": error.code, "Message": error.message, **error.details, "Resource": resource}
    facts |= {"RequestId": request, "HostId": "bandstand"}
    texts = {name: _CONTROLS.sub("\ufffd", str(value)) for name, value in facts.items()}
    inside = "".join(f"<{name}>{_text(text)}</{name}>" for name, text in texts.items())
    return f"{HEAD}<Error>{inside}</Error>".encode("utf-8", "replace")


def timestamp(nanoseconds: int) -> str:
    """A time as S3 writes it in documents: with milliseconds, which are always 0."""
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _member(name: str, shape: Any, value: Any) -> str:
    tag = shape.serialization.get("name", name)
    if shape.type_name == "list":
        flat = shape.serialization.get("flattened")
        inner = shape.member.serialization.get("name", tag if flat else "member")
        inside = "".join(_element(inner, shape.member, each) for each in value)
        return inside if flat else f"<{tag}>{inside}</{tag}>"
    return _element(tag, shape, value)


def _element(tag: str, shape: Any, value: Any) -> str:
    if shape.type_name != "structure":
        return f"<{tag}>{_text(_word(shape, value))}</{tag}>"
    attributes, inside = "", ""
    for name, member in shape.members.items():
        if value.get(name) is None:
            continue
        if member.serialization.get("xmlAttribute"):
            attributes += f'{_ATTRIBUTE_NAMESPACE} {member.serialization["name"]}="{escape(value[name])}"'
        else:
            inside += _member(name, member, value[name])
    return f"<{tag}{attributes}>{inside}</{tag}>"


def _word(shape: Any, value: Any) -> str:
    if shape.type_name == "boolean":
        return "true" if value else "false"
    if shape.type_name == "timestamp":
        return timestamp(value)
    return str(value)


def _text(value: str) -> str:
    """Escape a text; characters that XML 1.0 has no way to write are left as references, as S3 does."""
    words = escape(value, {"\r": "&#13;", '"': "&quot;"})
    return _CONTROLS.sub(lambda found: f"&#{ord(found[0])};", words)
