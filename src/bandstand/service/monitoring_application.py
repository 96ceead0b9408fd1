"""CloudWatch for clients that speak the query protocol; those of today send JSON with a target."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bandstand.service.application import Application, Receive, Scope, Send, read_body, signature
from bandstand.service.context import Context
from bandstand.service.monitoring import OPERATIONS
from bandstand.service.protocol import ServiceError
from bandstand.service.query_protocol import CONTENT_TYPE, answer_of, error_of, fields_of, parameters_of

SERVICE = "cloudwatch"


def monitoring_application(context: Context) -> Application:
    """Make the application.

    Args:
        context: The service's context.
    """

    def answer(region: str, body: bytes) -> bytes:
        fields = fields_of(body)
        action = fields.get("Action", "")
        operation = OPERATIONS.get(action)
        if operation is None:
            known = ", ".join(sorted(OPERATIONS))
            raise ServiceError(
                "InvalidAction",
                f"{action or 'A request without an action'} is not answered by this local service, which has:"
                f" {known}. Requests in CBOR are not read: take JSON, or the query protocol.",
            )
        parameters = parameters_of(SERVICE, action, fields)
        return answer_of(SERVICE, action, operation(replace(context, region=region), parameters))

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        region = signature(dict(scope["headers"]), scope.get("query_string", b"")).region
        status = 200
        more: list[tuple[bytes, bytes]] = [(b"connection", b"close")]  # until the body is read
        try:
            body = await read_body(receive)
            more = []
            document = await asyncio.to_thread(answer, region, body)
        except ServiceError as error:
            status, document = error.status, error_of(error)
        length = str(len(document)).encode()
        headers = [(b"content-type", CONTENT_TYPE.encode()), (b"content-length", length), *more]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": document})

    return application
