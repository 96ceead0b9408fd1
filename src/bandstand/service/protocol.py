"""AWS's JSON protocol, by botocore's own models: requests parsed and checked, answers and errors shaped."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bandstand.request.findings import Findings
from bandstand.request.shapes import check_shape, kind_and_value

if TYPE_CHECKING:
    from bandstand.service.context import Context

Document = dict[str, Any]

Operation = Callable[["Context", Document], Document]
"""One operation of a service: takes the parameters, as its input shape has them, and returns the members of
its output shape; times are epoch seconds."""

CONTENT_TYPE = "application/x-amz-json-1.1"


class ServiceError(Exception):
    """A refusal, as the service words it.

    Args:
        code: The error's name in the API, such as `ValidationException`.
        message: One or more sentences for a person.
        status: The HTTP status.
    """

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


@dataclass(frozen=True)
class Group:
    """The operations of one AWS service.

    Args:
        service: The service's name, as botocore has it.
        operations: Its operations that are answered here, by name.
        members: For an operation, the members that are known of its request; all of them where it is none of
            these. Newer models may have more.
    """

    service: str
    operations: Mapping[str, Operation]
    members: Mapping[str, Collection[str]] = field(default_factory=dict)

    def call(self, context: Context, name: str, body: bytes) -> bytes:
        """Answer one call.

        Args:
            context: Where and for whom it is answered.
            name: The operation.
            body: The request's body, JSON.

        Returns:
            The answer's body, JSON.

        Raises:
            ServiceError: The request is refused.
        """
        operation = self.operations.get(name)
        if operation is None:
            raise ServiceError("UnknownOperationException", self._unknown(name))
        return to_json(operation(context, self._parameters(name, body)))

    def _parameters(self, name: str, body: bytes) -> Document:
        parameters = parse(body)
        strange = [member for member in parameters if member not in self.members.get(name, parameters)]
        shape = model(self.service).operation_model(name).input_shape
        if shape is None:
            return {}
        findings = Findings(exact=True)
        check_shape(shape, parameters, (), findings)
        if findings.problems:
            count = len(findings.problems)
            errors = "1 validation error" if count == 1 else f"{count} validation errors"
            told = "; ".join(str(problem) for problem in findings.problems)
            raise ServiceError("ValidationException", f"{errors} detected: {told}")
        if strange:
            raise ServiceError(
                "ValidationException",
                f"{', '.join(strange)} of {name} is not known to this local service. Leave it out, or send"
                " the request to AWS.",
            )
        return parameters

    def _unknown(self, name: str) -> str:
        known = ", ".join(sorted(self.operations))
        if name in model(self.service).operation_names:
            return (
                f"{name} of {self.service} is not answered by this local service, which has: {known}."
                " Send it to AWS."
            )
        return f"{name} is no operation of {self.service}. This local service has: {known}."


def parse(body: bytes) -> Document:
    """Read a request's body.

    Raises:
        ServiceError: It is no JSON object.
    """
    try:
        parameters = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise ServiceError("SerializationException", f"The request's body is no JSON: {error}.") from None
    if not isinstance(parameters, dict):
        found = kind_and_value(parameters)
        raise ServiceError("SerializationException", f"The request's body is {found}; expected an object.")
    return {name: value for name, value in parameters.items() if value is not None}


def to_json(document: Mapping[str, Any]) -> bytes:
    """Write an answer's body; numbers are finite."""
    return json.dumps(document, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")


def error_body(error: ServiceError) -> bytes:
    """Write a refusal's body; some of the API's error shapes have `Message`, clients read either."""
    return to_json({"__type": error.code, "message": error.message, "Message": error.message})


@lru_cache(maxsize=8)
def model(service: str) -> Any:
    """Return a service's model, of type `botocore.model.ServiceModel`.

    Args:
        service: The service's name, as botocore has it.
    """
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    return ServiceModel(Loader().load_service_model(service, "service-2"), service)
