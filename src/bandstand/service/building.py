"""Puts the service together: its state, its operations and its applications."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bandstand.backends.containers import ContainerBackend
from bandstand.backends.processes import ProcessBackend
from bandstand.backends.supervised import SupervisedBackend
from bandstand.service import logs, monitoring
from bandstand.service.application import Application, Door, Receive, Scope, Send, refuse
from bandstand.service.context import ACCOUNT, Context, Records
from bandstand.service.coverage import MEMBERS
from bandstand.service.credentials import Credentials
from bandstand.service.data_coverage import LOGS, METRICS
from bandstand.service.job_environment import JobEnvironment
from bandstand.service.monitoring_application import monitoring_application
from bandstand.service.neighbours import SERVICES, Neighbours
from bandstand.service.page.application import BELOW, PageApplication
from bandstand.service.protocol import Group, ServiceError
from bandstand.service.sagemaker import OPERATIONS
from bandstand.service.store.asking import names_bucket
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.s3_application import s3_application
from bandstand.service.work import Work

BACKENDS: Mapping[str, Callable[..., SupervisedBackend]] = {
    "processes": ProcessBackend,
    "containers": ContainerBackend,
}
"""Where the training jobs of a service can run."""


@dataclass(frozen=True)
class Service:
    """A service that is ready to answer.

    Args:
        application: Answers requests (ASGI).
        jobs: The running work.
        buckets: The S3 of the home.
        page: What a browser sees.
    """

    application: Door
    jobs: Work
    buckets: Buckets
    page: PageApplication

    def close(self) -> None:
        """Let go what it holds in this process."""
        self.application.close()
        self.page.close()
        self.buckets.close()


def build(home: Path, *, hosts: str, allowed: Sequence[Path], url: str) -> Service:
    """Put a service together.

    Args:
        home: The folder that holds all state.
        hosts: Where training jobs run.
        allowed: The folders that `file://` may reach; empty for the usual ones.
        url: Where it listens.
    """
    credentials = Credentials.of(home)
    environment = JobEnvironment(os.environ, credentials, url, hosts)
    jobs = Work(home, lambda: BACKENDS[hosts](environ=environment))
    roots = tuple(allowed) or (Path.cwd(), home, Path(tempfile.gettempdir()))
    buckets = Buckets(home / "s3", account=ACCOUNT)
    context = Context(
        home=home,
        hosts=hosts,
        roots=tuple(root.expanduser().resolve() for root in roots),
        jobs=jobs,
        buckets=buckets,
        records=Records(home),
    )
    targets = {
        "SageMaker": Group("sagemaker", OPERATIONS, MEMBERS),
        "Logs_20140328": Group("logs", logs.OPERATIONS, LOGS),
        "GraniteServiceVersion20100801": Group("cloudwatch", monitoring.OPERATIONS, METRICS),
    }
    s3 = powerless(s3_application(buckets))
    page = PageApplication(context, url)
    neighbours = Neighbours(ACCOUNT)
    services = {name: neighbours.application(name) for name in SERVICES}
    services |= {"s3": s3, "monitoring": monitoring_application(context)}
    door = Door(context, credentials, targets, services, unsigned(buckets, s3, page))
    return Service(door, jobs, buckets, page)


def unsigned(buckets: Buckets, s3: Application, page: Application) -> Application:
    """Make the application for requests that no signature tells the service of.

    Args:
        buckets: The S3 of the home.
        s3: Answers what a bucket is asked for.
        page: Answers a browser that asks for no bucket.
    """

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if names_bucket(scope, buckets):
            await s3(scope, receive, send)
        else:
            await (page if for_page(scope) else nothing)(scope, receive, send)

    return application


def for_page(scope: Scope) -> bool:
    """Whether a request that nobody signed, and that names no bucket, is a browser's for the page."""
    if scope["method"] not in ("GET", "HEAD"):
        return False
    asks = any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
    return scope["path"].startswith(BELOW) or (scope["path"] == "/" and asks)


def powerless(s3: Application) -> Application:
    """Let objects run nothing where a browser shows them: a job wrote them, and the page has their origin.

    Args:
        s3: Answers with objects.
    """

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_sandboxed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                policy = (b"content-security-policy", b"sandbox; default-src 'none'")
                message = {**message, "headers": [*message["headers"], policy]}
            await send(message)

        await s3(scope, receive, send_sandboxed)

    return application


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that is for none of the services (ASGI)."""
    known = "SageMaker, CloudWatch Logs, CloudWatch metrics, S3, STS, IAM and ECR"
    error = ServiceError("UnknownOperationException", f"This service answers {known}.", 404)
    await refuse(send, error, unread=True)
