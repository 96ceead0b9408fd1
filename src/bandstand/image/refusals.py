"""What ECR, the registry and the network say when they refuse, and what to do about each."""

from __future__ import annotations

from bandstand.backends.sagemaker import refusals
from bandstand.backends.sagemaker.refusals import NETWORK, code_of, words_of
from bandstand.errors import InputError, PlatformError
from bandstand.image.docker_command import CommandError
from bandstand.image.push_plan import PushPlan

_BY_CODE = {
    "LimitExceededException": "The account's quota of ECR is used up. Push to a repository that is there "
    "(--repository NAME), remove what nobody needs, or ask for more in Service Quotas.",
    "KmsException": "The key that encrypts the repository cannot be used; look at its policy in KMS.",
}
_BY_WORDS = (
    (
        ("tag is immutable", "cannot be overwritten"),
        (
            "The repository {repository} has immutable tags, and {tag} is there already. Build anew, so that "
            "the tag names another revision, or give another one with --tag."
        ),
    ),
    (
        ("token has expired", "reauthenticate", "no basic auth credentials", "401 unauthorized"),
        "The registry's login has expired or is not accepted. Run the push again; it asks for a new one.",
    ),
    (
        ("not authorized to perform", "denied", "403 forbidden"),
        (
            "Layers may not be pushed: the user or role needs ecr:InitiateLayerUpload, ecr:UploadLayerPart, "
            "ecr:CompleteLayerUpload, ecr:BatchCheckLayerAvailability and ecr:PutImage on {repository}."
        ),
    ),
    (
        ("quota", "limit exceeded", "too many"),
        (
            "The account's quota of ECR is used up. Remove images that nobody needs, or ask for more in "
            "Service Quotas."
        ),
    ),
    (
        ("no space left on device",),
        "The engine's disk is full, or the registry's: docker system df shows what fills the engine's.",
    ),
    (
        (
            "dial tcp",
            "no such host",
            "timeout",
            "connection re",
            "eof",
            "tls handshake",
            "network is unreachable",
        ),
        "The registry cannot be reached. "
        + NETWORK
        + " What was pushed is kept; the next push goes on from there.",
    ),
    (
        ("cannot connect to the docker daemon",),
        "The container engine has gone away. Start it, and push again.",
    ),
)


def from_aws(error: Exception, plan: PushPlan, doing: str) -> InputError | PlatformError:
    """Turn an error of boto3 into one that a person can act on.

    Args:
        error: The error.
        plan: The push.
        doing: What was asked for, as an IAM action: `ecr:CreateRepository`.

    Returns:
        The error to raise; an InputError where the request lacks something.
    """
    code = code_of(error)
    if code in _BY_CODE:
        return PlatformError(f"AWS refused {doing}: {words_of(error)} ({code}). {_BY_CODE[code]}")
    return refusals.from_aws(error, f"{doing} on {plan.repository}", plan.region)


def from_docker(error: CommandError, plan: PushPlan) -> PlatformError:
    """Turn a refusal of the registry, as the docker command tells it, into one that a person can act on."""
    words = error.said.lower()
    advice = next((text for signs, text in _BY_WORDS if any(sign in words for sign in signs)), "")
    last = next(
        (line.strip() for line in reversed(error.said.splitlines()) if line.strip()), "it gave no reason"
    )
    told = advice.format(repository=plan.repository, tag=plan.tag, region=plan.region)
    return PlatformError(f"The registry refused {plan.repository}:{plan.tag}: {last}. {told}".strip())
