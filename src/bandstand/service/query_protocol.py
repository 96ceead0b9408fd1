"""AWS's query protocol, which older clients speak to CloudWatch and all to STS and IAM: forms in, XML out."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from bandstand.request.findings import Findings
from bandstand.request.shapes import check_shape
from bandstand.service.protocol import Document, ServiceError

CONTENT_TYPE = "text/xml"
MOST_FIELDS = 10_000


def fields_of(body: bytes) -> dict[str, str]:
    """Read a form.

    Raises:
        ServiceError: It is none.
    """
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise ServiceError("MalformedQueryString", f"The request's body is no form: {error}.") from None


def parameters_of(service: str, action: str, fields: Mapping[str, str]) -> Document:
    """Read an operation's parameters out of a form, and check them against the model.

    Args:
        service: The service's name, as botocore has it.
        action: The operation.
        fields: The form.

    Raises:
        ServiceError: They are malformed.
    """
    from botocore.utils import parse_timestamp
    from moto.core.parse import QueryParser

    operation = _model(service).operation_model(action)
    parser = QueryParser(operation, timestamp_parser=lambda text: parse_timestamp(text).timestamp())
    try:
        parameters = dict(parser.parse({"values": fields}))
    except ValueError as error:
        raise ServiceError("InvalidParameterValue", f"A parameter is malformed: {error}.") from None
    findings = Findings(exact=True)
    check_shape(operation.input_shape, parameters, (), findings)
    if findings.problems:
        told = "; ".join(str(problem) for problem in findings.problems)
        raise ServiceError(
            "ValidationError", f"{len(findings.problems)} validation error(s) detected: {told}"
        )
    return parameters


def answer_of(service: str, action: str, document: Mapping[str, Any]) -> bytes:
    """Write an operation's answer.

    Args:
        service: The service's name, as botocore has it.
        action: The operation.
        document: The members of its output; times are epoch seconds.
    """
    from moto.core.serialize import QuerySerializer, SerializationContext

    operation = _model(service).operation_model(action)
    serializer = QuerySerializer(operation, SerializationContext(str(uuid.uuid4())))
    body = serializer.serialize(document)["body"]
    return body if isinstance(body, bytes) else body.encode()


def error_of(error: ServiceError) -> bytes:
    """Write a refusal."""
    kind = "Sender" if error.status < 500 else "Receiver"
    return (
        f"<ErrorResponse><Error><Type>{kind}</Type><Code>{escape(error.code)}</Code>"
        f"<Message>{escape(error.message)}</Message></Error><RequestId>{uuid.uuid4()}</RequestId></ErrorResponse>"
    ).encode()


@lru_cache(maxsize=4)
def _model(service: str) -> Any:
    from botocore.loaders import Loader
    from moto.core.model import ServiceModel

    return ServiceModel(Loader().load_service_model(service, "service-2"), service)
