"""What AWS and the network say when they refuse, and what to do about each."""

from __future__ import annotations

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOTokenLoadError,
    TokenRetrievalError,
    UnauthorizedSSOTokenError,
)
from botocore.exceptions import ConnectionError as AwsConnectionError
from botocore.parsers import ResponseParserError

from bandstand.errors import InputError, PlatformError

AwsError = (BotoCoreError, ClientError, ResponseParserError)
"""Everything that a call of boto3 raises when it does not succeed."""

NO_REGION = (
    "No AWS region is set. Set one: AWS_REGION=eu-central-1, or aws configure set region eu-central-1."
)
NO_CREDENTIALS = (
    "No AWS credentials are found. Log in (aws sso login, aws configure), or set AWS_ACCESS_KEY_ID and"
    " AWS_SECRET_ACCESS_KEY; AWS_PROFILE names one of several profiles."
)
EXPIRED = "The AWS session has expired. Log in again (aws sso login), or renew the temporary credentials."
NETWORK = "Look at the connection, a proxy (HTTPS_PROXY), a VPN, and whether {region} is the right region."

_CLOCK = "AWS refuses the signature: the secret key is mistyped, or this machine's clock is wrong."
_UNKNOWN_KEY = "AWS does not know these credentials: they are mistyped or deleted."
_BY_CODE = {
    "ExpiredToken": EXPIRED,
    "ExpiredTokenException": EXPIRED,
    "RequestExpired": f"{EXPIRED} If they are new, this machine's clock is wrong.",
    "UnrecognizedClientException": f"{_UNKNOWN_KEY} Or they are of another partition than {{region}}.",
    "InvalidClientTokenId": _UNKNOWN_KEY,
    "InvalidAccessKeyId": _UNKNOWN_KEY,
    "InvalidSignatureException": _CLOCK,
    "SignatureDoesNotMatch": _CLOCK,
    "ResourceLimitExceeded": (
        "Ask for more in Service Quotas (Amazon SageMaker, 'for training job usage'), wait until other jobs"
        " have ended, or take another instance type, fewer hosts or fewer jobs at a time."
    ),
}
_BY_WORDS = (
    (
        ("iam:passrole",),
        "These credentials may not hand the role to SageMaker: allow iam:PassRole on it.",
    ),
    (
        ("assume role", "assume the role", "assumerole"),
        (
            "SageMaker cannot take on the role: it has to exist, and its trust policy has to allow"
            " sagemaker.amazonaws.com the action sts:AssumeRole."
        ),
    ),
    (
        ("repository", "image"),
        (
            "Look at the image: it has to be in ECR, in the job's region, and the role has to be able to pull"
            " it. `bandstand push` puts it there and prints its name."
        ),
    ),
)
_TRANSIENT_CODES = frozenset(
    {
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "RequestThrottled",
        "RequestThrottledException",
        "TooManyRequestsException",
        "LimitExceededException",
        "SlowDown",
        "RequestLimitExceeded",
        "ProvisionedThroughputExceededException",
        "PriorRequestNotComplete",
        "EC2ThrottledException",
        "RequestTimeout",
        "RequestTimeoutException",
        "InternalFailure",
        "InternalError",
        "InternalServerError",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "ServiceException",
    }
)
_DENIED = ("AccessDenied", "UnauthorizedOperation", "Forbidden", "403")
_LOST_LOGIN = (TokenRetrievalError, SSOTokenLoadError, UnauthorizedSSOTokenError, CredentialRetrievalError)


def code_of(error: Exception) -> str:
    """Return the code of an error of AWS; empty for one that is not AWS's answer."""
    if not isinstance(error, ClientError):
        return ""
    return str(error.response.get("Error", {}).get("Code", ""))


def words_of(error: Exception) -> str:
    """Return the message of an error of AWS."""
    if not isinstance(error, ClientError):
        return str(error)
    return str(error.response.get("Error", {}).get("Message", "") or "no reason given")


def is_transient(error: Exception) -> bool:
    """Whether the same call may succeed in a moment: throttling, a fault inside AWS, or the network."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        return code_of(error) in _TRANSIENT_CODES or status == 429 or status >= 500
    return isinstance(error, HTTPClientError | AwsConnectionError | IncompleteReadError | ResponseParserError)


def is_denied(error: Exception) -> bool:
    """Whether AWS refuses for want of rights."""
    return any(word in code_of(error) for word in _DENIED)


def from_aws(error: Exception, doing: str, region: str) -> InputError | PlatformError:
    """Turn an error of boto3 into one that a person can act on.

    Args:
        error: The error.
        doing: What was asked for, as an IAM action: `sagemaker:CreateTrainingJob`.
        region: The region that was asked.

    Returns:
        The error to raise; an InputError where the request lacks something.
    """
    if isinstance(error, ClientError):
        return _from_client(error, doing, region)
    if isinstance(error, NoRegionError):
        return InputError(NO_REGION)
    if isinstance(error, ProfileNotFound):
        return InputError(f"{error}. 'aws configure list-profiles' lists those that there are.")
    if isinstance(error, PartialCredentialsError):
        return InputError(f"{error}. {NO_CREDENTIALS}")
    if isinstance(error, NoCredentialsError):
        return InputError(NO_CREDENTIALS)
    if isinstance(error, _LOST_LOGIN):
        return InputError(f"{error}. {EXPIRED}")
    if isinstance(error, ParamValidationError):
        return InputError(f"{doing}: {error}")
    if is_transient(error):
        return PlatformError(f"AWS cannot be reached ({error}). {NETWORK.format(region=region)}")
    return PlatformError(f"{doing} failed: {error}")


def _from_client(error: ClientError, doing: str, region: str) -> InputError | PlatformError:
    code, said = code_of(error), words_of(error)
    lowered = said.lower()
    advice = _BY_CODE.get(code, "").replace("{region}", region)
    if not advice:
        advice = next((text for signs, text in _BY_WORDS if any(sign in lowered for sign in signs)), "")
    if is_denied(error) and "passrole" not in lowered:
        advice = f"The user or role whose credentials these are needs {doing} in {region}."
    elif is_transient(error):
        advice = "It was asked again and again. Try once more in a few minutes."
    text = f"AWS refused {doing}: {said} ({code}). {advice}".strip()
    wrong = code in ("ValidationException", "ResourceLimitExceeded") or code in _BY_CODE or is_denied(error)
    return InputError(text) if wrong else PlatformError(text)
