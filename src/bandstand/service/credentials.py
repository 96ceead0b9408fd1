"""The credentials that a job gets: its own, of little power, and for a time.

A token says which job holds it and until when, under a code that only the service can make; so nothing has to
be kept, and a service that is started again knows the tokens of the one before.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bandstand.sagemaker_files import write_atomically
from bandstand.service.protocol import ServiceError

PREFIX = "bandstand-job."
"""How the session token of a job's credentials begins."""

FILE = "service.key"
"""The file below the home with the key of all codes; its user's alone."""

MARGIN_SECONDS = 3600
"""Time for which credentials hold beyond a job's run-time limit: for its stop, and for what is saved then."""

_READS = ("Describe", "List", "Get", "Filter")


@dataclass(frozen=True)
class Credentials:
    """Makes and checks the credentials of jobs.

    Args:
        key: What the codes are made with.
    """

    key: bytes

    @classmethod
    def of(cls, home: Path) -> Credentials:
        """The credentials of a home; its key is made where there is none yet."""
        path = home / FILE
        if not path.exists():
            write_atomically(path, os.urandom(32).hex())
            path.chmod(0o600)
        return cls(bytes.fromhex(path.read_text(encoding="ascii")))

    def issue(self, job: str, seconds: float) -> Mapping[str, str]:
        """The variables by which any AWS client of a job finds its credentials.

        Args:
            job: The training job.
            seconds: For how long they hold.
        """
        body = json.dumps({"job": job, "until": int(time.time() + seconds)})
        token = base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")
        code = self._code(token)
        return {
            "AWS_ACCESS_KEY_ID": f"ASIA{code[:16].upper()}",
            "AWS_SECRET_ACCESS_KEY": self._code(f"secret of {token}")[:40],
            "AWS_SESSION_TOKEN": f"{PREFIX}{token}.{code}",
        }

    def check(self, session: str, operation: str, relayed: str | None = None) -> None:
        """Refuse what the credentials of a job do not allow: anything but reading, and S3.

        Args:
            session: The session token of a request; one that is no job's allows everything.
            operation: The operation; empty for S3.
            relayed: The job from whose network the request comes, which has to have that job's token; None
                for a request of this machine's own programs.

        Raises:
            ServiceError: They are expired, made up or another job's, or the operation is not for jobs.
        """
        if not session.startswith(PREFIX):
            if relayed is not None:
                raise _refused(f"comes from training job {relayed} without its credentials")
            return
        token, _, code = session.removeprefix(PREFIX).partition(".")
        if not hmac.compare_digest(code.encode(), self._code(token).encode()):
            raise ServiceError("UnrecognizedClientException", "The security token is invalid.", 403)
        body: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        if body["until"] < time.time():
            raise ServiceError("ExpiredTokenException", "The security token is expired.", 403)
        if relayed not in (None, body["job"]):
            raise _refused(f"comes from training job {relayed} with the credentials of {body['job']}")
        if operation and not operation.startswith(_READS):
            raise ServiceError(
                "AccessDeniedException",
                f"The credentials of training job {body['job']} do not allow {operation}: a job may read and"
                " write objects of S3, and read what the service knows of jobs.",
            )

    def _code(self, text: str) -> str:
        return hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()


def _refused(why: str) -> ServiceError:
    return ServiceError("AccessDeniedException", f"The request {why}.", 403)
