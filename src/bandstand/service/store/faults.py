"""What S3 refuses, in its own words: codes, statuses and messages."""

from __future__ import annotations

from collections.abc import Mapping

_REFUSALS: Mapping[str, tuple[int, str]] = {
    "AccessControlListNotSupported": (400, "The bucket does not allow ACLs"),
    "AccessDenied": (403, "Access Denied"),
    "BadDigest": (
        400,
        "The Content-MD5 or checksum value that you specified did not match what the server received.",
    ),
    "BucketAlreadyOwnedByYou": (
        409,
        "Your previous request to create the named bucket succeeded and you already own it.",
    ),
    "BucketNotEmpty": (409, "The bucket you tried to delete is not empty"),
    "EntityTooLarge": (400, "Your proposed upload exceeds the maximum allowed size"),
    "EntityTooSmall": (400, "Your proposed upload is smaller than the minimum allowed size"),
    "IllegalLocationConstraintException": (
        400,
        (
            "The unspecified location constraint is incompatible for the region specific endpoint this"
            " request was sent to."
        ),
    ),
    "IncompleteBody": (
        400,
        "You did not provide the number of bytes specified by the Content-Length HTTP header",
    ),
    "InsufficientStorage": (507, "There is no space left on the disk that holds this bucket."),
    "InternalError": (500, "We encountered an internal error. Please try again."),
    "InvalidArgument": (400, "Invalid Argument"),
    "InvalidBucketName": (400, "The specified bucket is not valid."),
    "InvalidDigest": (400, "The Content-MD5 you specified was invalid."),
    "InvalidPart": (
        400,
        (
            "One or more of the specified parts could not be found.  The part may not have been uploaded, or"
            " the specified entity tag may not match the part's entity tag."
        ),
    ),
    "InvalidPartNumber": (416, "The requested partnumber is not satisfiable"),
    "InvalidPartOrder": (
        400,
        "The list of parts was not in ascending order. Parts must be ordered by part number.",
    ),
    "InvalidRange": (416, "The requested range is not satisfiable"),
    "InvalidRequest": (400, "Invalid Request"),
    "InvalidTag": (
        400,
        (
            "The tag provided was not a valid tag. This error can occur if the tag did not pass input"
            " validation."
        ),
    ),
    "InvalidURI": (400, "Couldn't parse the specified URI."),
    "KeyTooLongError": (400, "Your key is too long"),
    "MalformedXML": (
        400,
        "The XML you provided was not well-formed or did not validate against our published schema",
    ),
    "MaxMessageLengthExceeded": (400, "Your request was too big."),
    "MetadataTooLarge": (400, "Your metadata headers exceed the maximum allowed metadata size"),
    "MethodNotAllowed": (405, "The specified method is not allowed against this resource."),
    "MissingContentLength": (411, "You must provide the Content-Length HTTP header."),
    "MissingRequestBodyError": (400, "Request Body is empty"),
    "NoSuchBucket": (404, "The specified bucket does not exist"),
    "NoSuchBucketPolicy": (404, "The bucket policy does not exist"),
    "NoSuchKey": (404, "The specified key does not exist."),
    "NoSuchTagSet": (404, "The TagSet does not exist"),
    "NoSuchUpload": (
        404,
        (
            "The specified upload does not exist. The upload ID may be invalid, or the upload may have been"
            " aborted or completed."
        ),
    ),
    "NoSuchVersion": (404, "The specified version does not exist."),
    "NotImplemented": (501, "A header you provided implies functionality that is not implemented"),
    "NotModified": (304, "Not Modified"),
    "PreconditionFailed": (412, "At least one of the pre-conditions you specified did not hold"),
    "XAmzContentSHA256Mismatch": (
        400,
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
    ),
}


class StoreError(Exception):
    """What is asked of the store cannot be done; clients get it as S3's XML.

    Args:
        code: S3's code for it.
        message: S3's message unless given.
        details: Further elements of the error document, such as `Key`.
    """

    def __init__(self, code: str, message: str | None = None, **details: str | int) -> None:
        self.code = code
        self.status, words = _REFUSALS[code]
        self.message = message or words
        self.details = details
        super().__init__(f"{code}: {self.message}")
