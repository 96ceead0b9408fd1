"""STS, IAM and ECR, as far as clients of SageMaker ask for them: moto's, in this process.

Nothing of theirs means anything on this machine: whoever asks is the account's one user, every role is there
and may do everything, and repositories are names. What is made by their calls is kept as long as the service
runs.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bandstand.service.application import Application, Receive, Scope, Send, read_body
from bandstand.service.protocol import ServiceError
from bandstand.service.query_protocol import CONTENT_TYPE, answer_of, error_of, fields_of, parameters_of

SERVICES = ("sts", "iam", "ecr")

TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
"""Who may take on a role that nobody made: SageMaker, as clients expect of a role for training."""

Answered = tuple[int, list[tuple[bytes, bytes]], bytes]


class Neighbours:
    """Answers for the services beside SageMaker.

    Args:
        account: The account of all roles.
    """

    def __init__(self, account: str) -> None:
        self._account = account
        self._pool = ThreadPoolExecutor(1, "neighbours")  # moto's state is not made for several threads
        self._applications: dict[str, Callable[..., Any]] = {}
        self._lock = threading.Lock()

    def application(self, service: str) -> Application:
        """Make the application for one of them.

        Args:
            service: Its signing name.
        """

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            loop = asyncio.get_running_loop()
            try:
                body = await read_body(receive)
                status, headers, answer = await loop.run_in_executor(
                    self._pool, self._answer, service, scope, body
                )
            except ServiceError as error:
                # The connection ends, since the body may not have been read to its end.
                status, headers = (
                    error.status,
                    [(b"content-type", CONTENT_TYPE.encode()), (b"connection", b"close")],
                )
                answer = error_of(error)
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": answer})

        return application

    def close(self) -> None:
        """Let the thread go."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, service: str, scope: Scope, body: bytes) -> Answered:
        if service == "iam":
            fields = fields_of(body)
            action = fields.get("Action", "")
            if action == "SimulatePrincipalPolicy":
                return _simulated(fields)
            if action == "GetRole" and fields.get("RoleName"):
                self._make_role(fields["RoleName"])
        return self._asked_of_moto(service, scope, body)

    def _make_role(self, name: str) -> None:
        """Make a role that nobody has made, so that a client finds the one it was given."""
        from moto.backends import get_backend
        from moto.iam.exceptions import NotFoundException

        backend = get_backend("iam")[self._account]["aws"]
        try:
            backend.get_role(name)
        except NotFoundException:
            backend.create_role(name, json.dumps(TRUST), "/", None, "", [], 3600)

    def _asked_of_moto(self, service: str, scope: Scope, body: bytes) -> Answered:
        from werkzeug.test import EnvironBuilder, run_wsgi_app

        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        builder = EnvironBuilder(
            path=scope["path"],
            method=scope["method"],
            query_string=scope.get("query_string", b"").decode("latin-1"),
            headers=headers,
            data=body,
            base_url="http://localhost/",
        )
        parts, status, answered = run_wsgi_app(self._moto(service), builder.get_environ(), buffered=True)
        kept = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in answered
            if not name.lower().startswith("access-control-")  # no other site's page may read an answer
        ]
        return int(status.split()[0]), kept, b"".join(parts)

    def _moto(self, service: str) -> Callable[..., Any]:
        with self._lock:
            if service not in self._applications:
                from moto.moto_server.werkzeug_app import create_backend_app

                self._applications[service] = create_backend_app(service)
            return self._applications[service]


def _simulated(fields: Mapping[str, str]) -> Answered:
    """SimulatePrincipalPolicy: everything is allowed, since nothing on this machine asks for rights."""
    action = "SimulatePrincipalPolicy"
    parameters = parameters_of("iam", action, fields)
    resources = parameters.get("ResourceArns", ["*"])
    results = [
        {
            "EvalActionName": name,
            "EvalResourceName": resource,
            "EvalDecision": "allowed",
            "MatchedStatements": [],
            "MissingContextValues": [],
        }
        for name in parameters["ActionNames"]
        for resource in resources
    ]
    body = answer_of("iam", action, {"EvaluationResults": results, "IsTruncated": False})
    return 200, [(b"content-type", CONTENT_TYPE.encode())], body
