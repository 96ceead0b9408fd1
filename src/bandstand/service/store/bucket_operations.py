"""Operations on buckets."""

from __future__ import annotations

import hashlib

from bandstand.service.store.answering import Answer, document
from bandstand.service.store.asking import Asked
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.faults import StoreError
from bandstand.service.store.xml_documents import read, write_location

MOST_BUCKETS = 10_000
_LEGACY_REGION = "us-east-1"


def owner(buckets: Buckets) -> dict[str, str]:
    """The owner of all buckets, as documents name it: a canonical user id, made of the account's."""
    return {"ID": hashlib.sha256(buckets.account.encode()).hexdigest()}


def list_buckets(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """ListBuckets: every folder below `HOME/s3` with the name of one."""
    prefix, region = asked.query.get("prefix", ""), asked.query.get("bucket-region")
    after = asked.query.get("continuation-token", "")
    most = asked.number("max-buckets", MOST_BUCKETS, 1, MOST_BUCKETS)
    named = [
        bucket
        for name, bucket in sorted(buckets.all().items())
        if name.startswith(prefix) and name > after and region in (None, bucket.region)
    ]
    shown = named[:most]
    paged = "max-buckets" in asked.query
    answer = {
        "Owner": owner(buckets),
        "Buckets": [
            {"Name": each.name, "CreationDate": each.created}
            | ({"BucketRegion": each.region} if paged else {})
            for each in shown
        ],
        "Prefix": prefix or None,
        "ContinuationToken": shown[-1].name if len(named) > most else None,
    }
    return document("ListBuckets", answer)


def create_bucket(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """CreateBucket: a folder, in the region that the request is signed for."""
    wish = read("CreateBucket", body) if body.strip() else {}
    others = [name for name in wish if name != "LocationConstraint"]
    if others:
        raise StoreError(
            "NotImplemented", f"{', '.join(others)} of CreateBucketConfiguration is not implemented."
        )
    wished = wish.get("LocationConstraint", "")
    home = asked.region or wished or buckets.region
    region = "eu-west-1" if wished == "EU" else wished or _LEGACY_REGION
    if home not in (_LEGACY_REGION, "aws-global") and region != home:
        raise StoreError(
            "IllegalLocationConstraintException",
            f"The {wished or 'unspecified'} location constraint is incompatible for the region specific"
            " endpoint this request was sent to.",
        )
    made = buckets.create(asked.bucket, region)
    if not made and not (home == region == _LEGACY_REGION):
        raise StoreError("BucketAlreadyOwnedByYou", BucketName=asked.bucket)
    return Answer(200, {"Location": f"/{asked.bucket}"})


def head_bucket(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """HeadBucket: whether it is there."""
    region = buckets.get(asked.bucket).region
    return Answer(
        200,
        {
            "x-amz-bucket-region": region,
            "x-amz-access-point-alias": "false",
            "Content-Type": "application/xml",
        },
    )


def delete_bucket(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """DeleteBucket: one with nothing in its folder."""
    buckets.delete(asked.bucket)
    return Answer(204)


def get_bucket_location(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """GetBucketLocation: where the bucket was made."""
    region = buckets.get(asked.bucket).region
    return Answer(200, {"Content-Type": "application/xml"}, write_location(region))


def get_bucket_versioning(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """GetBucketVersioning: no bucket keeps versions."""
    buckets.get(asked.bucket)
    return document("GetBucketVersioning", {})


def get_bucket_policy(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """GetBucketPolicy: no bucket has one."""
    buckets.get(asked.bucket)
    raise StoreError("NoSuchBucketPolicy", BucketName=asked.bucket)


def get_bucket_tagging(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """GetBucketTagging: no bucket has tags."""
    buckets.get(asked.bucket)
    raise StoreError("NoSuchTagSet", BucketName=asked.bucket)


def get_acl(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """GetBucketAcl and GetObjectAcl: all is the owner's."""
    buckets.get(asked.bucket)
    grantee = {**owner(buckets), "Type": "CanonicalUser"}
    answer = {"Owner": owner(buckets), "Grants": [{"Grantee": grantee, "Permission": "FULL_CONTROL"}]}
    return document("GetObjectAcl" if asked.key else "GetBucketAcl", answer)
