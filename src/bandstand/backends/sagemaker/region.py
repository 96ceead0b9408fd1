"""One region of AWS: its clients, and calls that bear with throttling and a bad network."""

from __future__ import annotations

import ipaddress
import os
import random
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from bandstand.backends.sagemaker.refusals import NO_REGION, AwsError, from_aws, is_transient
from bandstand.errors import InputError

ROUND_SECONDS = 5.0
"""Time between two rounds of questions to SageMaker; what its own SDK waits between two Describes."""

NEAR_ROUND_SECONDS = 0.5
"""The same for a service on this machine, which nobody else asks."""

ATTEMPTS = 5
"""How often boto3 itself tries a call, in its adaptive mode, before this package waits and calls again."""

PATIENCE_SECONDS = 900.0
"""How long a call is tried again that fails for no fault of its own."""

LONGEST_PAUSE_SECONDS = 20.0

Answer = TypeVar("Answer")


class Region:
    """Clients of one region, made when first asked for; may be used by several threads.

    Args:
        name: The region.
        endpoint: The address of what stands in for AWS, or None for AWS itself.
    """

    def __init__(self, name: str, endpoint: str | None) -> None:
        self.name = name
        self.endpoint = endpoint
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    @property
    def is_near(self) -> bool:
        """Whether a service of this machine stands in for the region."""
        host = urlsplit(self.endpoint or "").hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def round_seconds(self) -> float:
        """Time between two rounds of questions."""
        return NEAR_ROUND_SECONDS if self.is_near else ROUND_SECONDS

    @property
    def settle_seconds(self) -> float:
        """How long after a job's end its last log lines may still be on their way to CloudWatch."""
        return 0.0 if self.is_near else 2 * ROUND_SECONDS

    def client(self, service: str) -> Any:
        """The client of a service: `sagemaker`, `logs`, `s3`, `sts`, `iam`.

        Raises:
            InputError: There is no such profile, or the settings of AWS cannot be read.
        """
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._make(service)
            return self._clients[service]

    def ask(self, action: str, call: Callable[[], Answer], patience: float = PATIENCE_SECONDS) -> Answer:
        """Call AWS, again and again while it is throttled, AWS is at fault or the network is.

        Args:
            action: What is asked for, as an IAM action.
            call: The call; must be harmless when it is made twice.
            patience: Seconds after which no further try is made.

        Raises:
            InputError: The credentials, rights or request are wrong.
            PlatformError: AWS cannot be reached, or refuses.
        """
        try:
            return self.bear(call, patience)
        except AwsError as error:
            raise from_aws(error, action, self.name) from None

    def bear(self, call: Callable[[], Answer], patience: float = PATIENCE_SECONDS) -> Answer:
        """Call AWS as `ask` does, but raise what boto3 raises."""
        deadline = time.monotonic() + patience
        pause = self.round_seconds / 2
        while True:
            try:
                return call()
            except AwsError as error:
                if not is_transient(error) or time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _make(self, service: str) -> Any:
        config = Config(
            retries={"mode": "adaptive", "total_max_attempts": ATTEMPTS},
            connect_timeout=10,
            read_timeout=60,
            max_pool_connections=32,
            user_agent_extra="bandstand",
            # A service of this machine has no host name for each bucket.
            s3={"addressing_style": "path"} if self.is_near else None,
        )
        try:
            session = boto3.session.Session(region_name=self.name)
            # The environment may name an address for each service; boto3 finds those by itself.
            address = None if os.environ.get("AWS_ENDPOINT_URL") else self.endpoint
            return session.client(service, endpoint_url=address, config=config)
        except BotoCoreError as error:
            raise from_aws(error, f"{service}:*", self.name) from None
        except ValueError as error:
            raise InputError(f"The address of AWS cannot be used: {error} Mend AWS_ENDPOINT_URL.") from None


def here() -> Region:
    """The region that the environment and the settings of AWS name.

    Raises:
        InputError: No region is set, or there is no such profile.
    """
    try:
        # boto3 does not read AWS_REGION, which the AWS command and other SDKs do.
        session = boto3.session.Session(region_name=os.environ.get("AWS_REGION") or None)
    except BotoCoreError as error:
        raise from_aws(error, "sts:GetCallerIdentity", "") from None
    if not session.region_name:
        raise InputError(NO_REGION)
    return region_of(session.region_name, None)


def region_of(name: str, endpoint: str | None) -> Region:
    """A region by name; its clients are shared by all of this process.

    Args:
        name: The region.
        endpoint: What stood in for AWS when a job was handed in, or None; the environment's own wins.
    """
    return _region(name, os.environ.get("AWS_ENDPOINT_URL") or endpoint, os.environ.get("AWS_PROFILE"))


@lru_cache(maxsize=16)
def _region(name: str, endpoint: str | None, _profile: str | None) -> Region:
    return Region(name, endpoint)
