"""What ECR, the registry and the network say when they refuse, and what to do about each."""

from __future__ import annotations

from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOTokenLoadError,
    TokenRetrievalError,
    UnauthorizedSSOTokenError,
)
from botocore.exceptions import (
    ConnectionError as AwsConnectionError,
)

from bandstand.errors import InputError, PlatformError
from bandstand.image.docker_command import CommandError
from bandstand.image.push_plan import PushPlan

NO_REGION = "No region is set: --region eu-central-1, AWS_REGION, or 'aws configure set region eu-central-1'."
_NO_CREDENTIALS = (
    "No AWS credentials are found. Log in (aws sso login, aws configure), or set AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY; --profile names one of several."
)
_EXPIRED = "The AWS session has expired. Log in again (aws sso login), or renew the temporary credentials."
_NETWORK = "Look at the connection, a proxy (HTTPS_PROXY), a VPN, and whether {region} is the right region."

_BY_CODE = {
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "RequestExpired": f"{_EXPIRED} If they are new, this machine's clock is wrong.",
    "UnrecognizedClientException": "AWS does not know these credentials: they are mistyped, deleted, or of "
    "another partition than the region {region}.",
    "InvalidClientTokenId": "AWS does not know these credentials: they are mistyped or deleted.",
    "InvalidSignatureException": "AWS refuses the signature: the secret key is mistyped, or this clock is "
    "wrong.",
    "SignatureDoesNotMatch": "AWS refuses the signature: the secret key is mistyped, or this clock is wrong.",
    "LimitExceededException": "The account's quota of ECR is used up. Push to a repository that is there "
    "(--repository NAME), remove what nobody needs, or ask for more in Service Quotas.",
    "ThrottlingException": "AWS asks to slow down; try again in a minute.",
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
        + _NETWORK
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
    lost = (TokenRetrievalError, SSOTokenLoadError, UnauthorizedSSOTokenError, CredentialRetrievalError)
    if isinstance(error, ClientError):
        return PlatformError(_from_client(error, plan, doing))
    if isinstance(error, NoRegionError):
        return InputError(NO_REGION)
    if isinstance(error, ProfileNotFound):
        return InputError(f"{error}. 'aws configure list-profiles' lists those that there are.")
    if isinstance(error, PartialCredentialsError):
        return InputError(f"{error}. {_NO_CREDENTIALS}")
    if isinstance(error, NoCredentialsError):
        return InputError(_NO_CREDENTIALS)
    if isinstance(error, lost):
        return InputError(f"{error}. {_EXPIRED}")
    if isinstance(error, HTTPClientError | AwsConnectionError):
        return PlatformError(f"ECR cannot be reached ({error}). {_NETWORK.format(region=plan.region)}")
    return PlatformError(f"{doing} failed: {error}")


def _from_client(error: ClientError, plan: PushPlan, doing: str) -> str:
    code, said = error.response["Error"].get("Code", ""), error.response["Error"].get("Message", "")
    advice = _BY_CODE.get(code, "")
    if "AccessDenied" in code or code in ("UnauthorizedOperation", "403"):
        advice = f"The user or role needs {doing} on {plan.repository} in {plan.region}."
    text = f"AWS refused {doing}: {said or 'no reason given'} ({code})."
    return f"{text} {advice.replace('{region}', plan.region)}".strip()


def from_docker(error: CommandError, plan: PushPlan) -> PlatformError:
    """Turn a refusal of the registry, as the docker command tells it, into one that a person can act on."""
    words = error.said.lower()
    advice = next((text for signs, text in _BY_WORDS if any(sign in words for sign in signs)), "")
    last = next(
        (line.strip() for line in reversed(error.said.splitlines()) if line.strip()), "it gave no reason"
    )
    told = advice.format(repository=plan.repository, tag=plan.tag, region=plan.region)
    return PlatformError(f"The registry refused {plan.repository}:{plan.tag}: {last}. {told}".strip())
