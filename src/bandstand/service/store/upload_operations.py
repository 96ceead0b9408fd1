"""Operations on uploads in parts."""

from __future__ import annotations

from functools import partial

from bandstand.service.store.about import Checksum
from bandstand.service.store.answering import Answer, document, encryption_headers
from bandstand.service.store.arriving import LARGEST, PREFIX, Claims
from bandstand.service.store.asking import Asked
from bandstand.service.store.bucket_operations import owner
from bandstand.service.store.buckets import Buckets
from bandstand.service.store.checksums import digest, kind_for_parts
from bandstand.service.store.completing import Named, complete
from bandstand.service.store.conditions import check_reading, check_writing
from bandstand.service.store.faults import StoreError
from bandstand.service.store.objects import opened
from bandstand.service.store.ranges import Range, copied_range
from bandstand.service.store.staging import Staged
from bandstand.service.store.uploads import MOST_PARTS, Upload, abort, add, begin, get, parts, running
from bandstand.service.store.writing_operations import about_of, copy_source
from bandstand.service.store.xml_documents import read


def create_multipart_upload(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """CreateMultipartUpload: parts are kept aside until it is completed."""
    algorithm = asked.headers.get("x-amz-checksum-algorithm", "").upper() or None
    kind = asked.headers.get("x-amz-checksum-type", "").upper() or None
    if algorithm is not None:
        digest(algorithm)
        kind = kind_for_parts(algorithm, kind)
    elif kind is not None:
        raise StoreError(
            "InvalidRequest", "The x-amz-checksum-type header can only be used with an algorithm."
        )
    about = about_of(asked.headers)
    upload = begin(buckets, asked.bucket, asked.key, about, algorithm, kind)
    headers = encryption_headers(about.headers)
    if algorithm is not None and kind is not None:
        headers |= {"x-amz-checksum-algorithm": algorithm, "x-amz-checksum-type": kind}
    answer = {"Bucket": asked.bucket, "Key": asked.key, "UploadId": upload.id}
    return document("CreateMultipartUpload", answer, headers)


def upload_of(buckets: Buckets, asked: Asked) -> tuple[Upload, int]:
    """The upload that a part belongs to, and the part's number.

    Raises:
        StoreError: There is no such upload, or a part cannot have the number.
    """
    number = part_number(asked)
    return running(buckets, asked.bucket, asked.key, asked.query["uploadId"]), number


def part_number(asked: Asked) -> int:
    """The number of a part.

    Raises:
        StoreError: It is no number that a part can have.
    """
    text = asked.query.get("partNumber", "")
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not 1 <= int(text) <= MOST_PARTS:
        raise StoreError(
            "InvalidArgument",
            f"Part number must be an integer between 1 and {MOST_PARTS}, inclusive",
            ArgumentName="partNumber",
            ArgumentValue=text,
        )
    return int(text)


def check_algorithm(upload: Upload, claims: Claims) -> None:
    """Refuse a part whose checksum is of another kind than the upload's.

    Raises:
        StoreError: It is.
    """
    if claims.is_asked and upload.algorithm not in (None, claims.algorithm):
        raise StoreError(
            "InvalidRequest",
            f"Checksum Type mismatch occurred, expected checksum Type: {str(upload.algorithm).lower()},"
            f" actual checksum Type: {claims.algorithm.lower()}",
        )


def upload_part(buckets: Buckets, asked: Asked, staged: Staged, claims: Claims) -> Answer:
    """UploadPart: up to 5 GiB, in place of an earlier one of its number."""
    upload, number = upload_of(buckets, asked)
    part = add(buckets, upload, number, staged)
    headers = {"ETag": f'"{part.etag}"', **encryption_headers(upload.about.headers)}
    algorithm = upload.algorithm or (claims.algorithm if claims.is_asked else None)
    if algorithm is not None:
        headers[f"{PREFIX}{algorithm.lower()}"] = staged.checksums[algorithm]
    return Answer(200, headers)


def upload_part_copy(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """UploadPartCopy: a part out of another object."""
    upload, number = upload_of(buckets, asked)
    bucket, key = copy_source(asked)
    with opened(buckets, bucket, key) as (source, descriptor):
        check_reading(asked.headers, source, "x-amz-copy-source-")
        wished = asked.headers.get("x-amz-copy-source-range")
        wanted = Range(0, source.size) if wished is None else copied_range(wished, source.size)
        if wanted.length > LARGEST:
            raise StoreError("EntityTooLarge", ProposedSize=wanted.length, MaxSizeAllowed=LARGEST)
        with Staged(buckets.staging, [upload.algorithm] if upload.algorithm else []) as staged:
            staged.copy(descriptor, wanted.begin, wanted.length)
            staged.finish()
            part = add(buckets, upload, number, staged)
    answer = {"ETag": f'"{part.etag}"', "LastModified": part.changed}
    if upload.algorithm:
        answer[f"Checksum{upload.algorithm}"] = part.checksum or ""
    return document("UploadPartCopy", answer)


def list_parts(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """ListParts: the parts that are there."""
    upload = running(buckets, asked.bucket, asked.key, asked.query["uploadId"])
    most = min(asked.number("max-parts", 1000), 1000)
    marker = asked.number("part-number-marker", 0)
    left = [part for part in parts(buckets, upload) if part.number > marker]
    shown = left[:most]
    entries = [
        {"PartNumber": part.number, "LastModified": part.changed, "ETag": f'"{part.etag}"', "Size": part.size}
        | ({f"Checksum{upload.algorithm}": part.checksum} if upload.algorithm else {})
        for part in shown
    ]
    answer = {
        "Bucket": asked.bucket,
        "Key": asked.key,
        "UploadId": upload.id,
        "PartNumberMarker": marker,
        "NextPartNumberMarker": shown[-1].number if shown else 0,
        "MaxParts": most,
        "IsTruncated": len(left) > most,
        "Parts": entries,
        "Initiator": owner(buckets),
        "Owner": owner(buckets),
        "StorageClass": upload.about.headers.get("x-amz-storage-class", "STANDARD"),
        "ChecksumAlgorithm": upload.algorithm,
        "ChecksumType": upload.kind,
    }
    return document("ListParts", answer)


def complete_multipart_upload(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """CompleteMultipartUpload: one object out of the parts; asked again, the same answer."""
    upload = get(buckets, asked.bucket, asked.key, asked.query["uploadId"])
    listed = read("CompleteMultipartUpload", body).get("Parts", [])
    if any("PartNumber" not in part or "ETag" not in part for part in listed):
        raise StoreError("MalformedXML")
    checksum = f"Checksum{upload.algorithm}"
    named = [Named(part["PartNumber"], part["ETag"].strip('"'), part.get(checksum)) for part in listed]
    stored = complete(
        buckets,
        upload,
        named,
        partial(check_writing, asked.headers),
        partial(_check_whole, asked),
    )
    answer = {
        "Location": f"http://{asked.headers.get('host', 'localhost')}/{asked.bucket}/{asked.key}",
        "Bucket": asked.bucket,
        "Key": asked.key,
        "ETag": f'"{stored.etag}"',
    }
    if stored.about.checksum is not None:
        answer[f"Checksum{stored.about.checksum.algorithm}"] = stored.about.checksum.value
        answer["ChecksumType"] = stored.about.checksum.kind
    return document("CompleteMultipartUpload", answer, encryption_headers(stored.about.headers))


def abort_multipart_upload(buckets: Buckets, asked: Asked, body: bytes) -> Answer:
    """AbortMultipartUpload: the parts are removed."""
    abort(buckets, running(buckets, asked.bucket, asked.key, asked.query["uploadId"]))
    return Answer(204)


def _check_whole(asked: Asked, size: int, checksum: Checksum | None) -> None:
    """Check what was put together against what the client says of it."""
    told = asked.headers.get("x-amz-mp-object-size")
    if told is not None and told != str(size):
        raise StoreError(
            "InvalidRequest",
            f"The provided 'x-amz-mp-object-size' header value {told} does not match what was computed:"
            f" {size}",
        )
    kind = asked.headers.get("x-amz-checksum-type", "").upper()
    if kind and (checksum is None or kind != checksum.kind):
        raise StoreError(
            "InvalidRequest",
            f"The upload was created with the checksum type {checksum.kind if checksum else 'null'}, the"
            f" complete request must include the same checksum type, not {kind}.",
        )
    if checksum is None:
        return
    value = asked.headers.get(f"{PREFIX}{checksum.algorithm.lower()}")
    if value is not None and value not in (checksum.value, checksum.value.rpartition("-")[0]):
        raise StoreError("BadDigest", "The checksum you specified did not match the calculated checksum.")
