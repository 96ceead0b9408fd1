"""Puts content on S3 that is not there yet."""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bandstand.backends.sagemaker.contents import Content
from bandstand.backends.sagemaker.placing import Upload
from bandstand.backends.sagemaker.refusals import AwsError, code_of, from_aws
from bandstand.backends.sagemaker.region import Region
from bandstand.errors import InputError

AT_ONCE = 8
"""Files that are uploaded at a time."""


def upload(region: Region, uploads: tuple[Upload, ...], said: Callable[[str], None]) -> None:
    """Upload what is not there yet.

    An object is there whole or not at all, and its address has a hash of its content: so one with the right
    name and size is the right one, and an upload that was broken off goes on where it ended.

    Args:
        region: The region.
        uploads: What has to be there.
        said: Told what is uploaded.

    Raises:
        InputError: The rights are missing.
        PlatformError: AWS cannot be reached.
    """
    for each in uploads:
        if each.packed:
            _upload_archive(region, each, said)
        else:
            _upload_folder(region, each, said)


def split(uri: str) -> tuple[str, str]:
    """Bucket and key of an `s3://` address."""
    parts = urlsplit(uri, allow_fragments=False)
    return parts.netloc, uri.removeprefix(f"{parts.scheme}://{parts.netloc}").removeprefix("/")


def list_objects(region: Region, uri: str) -> dict[str, int]:
    """Key and bytes of each object whose key begins with that of an address."""
    bucket, prefix = split(uri)
    found: dict[str, int] = {}
    token: dict[str, str] = {}
    while True:
        answer = region.ask(
            "s3:ListBucket",
            lambda: region.client("s3").list_objects_v2(Bucket=bucket, Prefix=prefix, **token),  # noqa: B023
        )
        found.update({item["Key"]: item["Size"] for item in answer.get("Contents", [])})
        if not answer.get("IsTruncated"):
            return found
        token = {"ContinuationToken": answer["NextContinuationToken"]}


def _upload_folder(region: Region, each: Upload, said: Callable[[str], None]) -> None:
    bucket, prefix = split(each.uri)
    there = list_objects(region, each.uri)
    missing = [
        (prefix + name, path) for name, path, size in each.content.files if there.get(prefix + name) != size
    ]
    if not missing:
        said(f"{each.what} is on S3 already: {each.uri}")
        return
    size = sum(path.stat().st_size for _, path in missing)
    said(f"{each.what}: uploading {_amount(len(missing), size)} to {each.uri}")
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="upload") as pool:
        for done in [pool.submit(_put, region, bucket, key, path) for key, path in missing]:
            done.result()


def _upload_archive(region: Region, each: Upload, said: Callable[[str], None]) -> None:
    bucket, key = split(each.uri)
    if key in list_objects(region, each.uri):
        said(f"{each.what} is on S3 already: {each.uri}")
        return
    said(f"{each.what}: uploading {_amount(len(each.content.files), each.content.size)} to {each.uri}")
    with tempfile.TemporaryDirectory(prefix="bandstand-code-") as folder:
        archive = Path(folder) / "sourcedir.tar.gz"
        pack_code(each.content, archive)
        _put(region, bucket, key, archive)


def _put(region: Region, bucket: str, key: str, path: Path) -> None:
    from boto3.exceptions import S3UploadFailedError

    def put() -> Any:
        try:
            return region.client("s3").upload_file(str(path), bucket, key)
        except S3UploadFailedError as error:
            if isinstance(error.__context__, AwsError):
                raise error.__context__ from None
            raise

    region.ask("s3:PutObject", put)


def pack_code(content: Content, archive: Path) -> None:
    """Pack files into a tar.gz, the same bytes for the same files.

    A single file that is an archive already is taken as it is.

    Args:
        content: The files.
        archive: The archive.
    """
    if content.single and tarfile.is_tarfile(content.files[0][1]):
        archive.write_bytes(content.files[0][1].read_bytes())
        return
    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, path, _ in content.files:
            entry = tarfile.TarInfo(name)
            with path.open("rb") as source:
                state = os.fstat(source.fileno())
                entry.size = state.st_size
                entry.mode = 0o755 if state.st_mode & stat.S_IXUSR else 0o644
                tar.addfile(entry, source)


def _amount(files: int, size: int) -> str:
    number = "1 file" if files == 1 else f"{files} files"
    return f"{number} ({size / 1e6:.1f} MB)" if size >= 100_000 else f"{number} ({size} bytes)"


def fetch(region: Region, uri: str, target: Path) -> None:
    """Download an object; the file is there whole or not at all.

    Args:
        region: The region.
        uri: `s3://BUCKET/KEY`.
        target: The file; its folder is made.

    Raises:
        InputError: There is no such object, or the rights are missing.
        PlatformError: AWS cannot be reached.
    """
    bucket, key = split(uri)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        region.bear(lambda: region.client("s3").download_file(bucket, key, str(partial)))
        partial.replace(target)
    except AwsError as error:
        if code_of(error) in ("404", "NoSuchKey"):
            raise InputError(f"There is nothing at {uri}: the job saved no model.") from None
        raise from_aws(error, "s3:GetObject", region.name) from None
    finally:
        partial.unlink(missing_ok=True)
