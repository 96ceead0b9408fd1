"""Nothing is lost and nothing is half when the service is killed, and large objects need little memory."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from ..served import Server
from .conftest import s3_client

MIB = 1 << 20
KILLS = 8


def content(seed: int) -> bytes:
    return random.Random(seed).randbytes(seed % 300_000 + 100)


class Writer(threading.Thread):
    """Puts objects until its server is gone; knows what was acknowledged and what was under way."""

    def __init__(self, url: str, number: int, seeds: Any) -> None:
        super().__init__()
        self.s3 = s3_client(url)
        self.key = f"dir/{number}"
        self.seeds = seeds
        self.acknowledged: int | None = None
        self.under_way: int | None = None
        self.began = threading.Event()

    def run(self) -> None:
        for seed in self.seeds:
            self.under_way = seed
            try:
                self.put(seed)
            except (BotoCoreError, ClientError, KeyError):  # of an answer whose document did not arrive
                return
            self.acknowledged = seed
            self.began.set()

    def put(self, seed: int) -> None:
        where = {"Bucket": "abc", "Key": self.key}
        metadata = {"seed": str(seed)}
        if seed % 3:
            self.s3.put_object(**where, Body=content(seed), Metadata=metadata)
            return
        upload = self.s3.create_multipart_upload(**where, Metadata=metadata)["UploadId"]
        part = self.s3.upload_part(**where, UploadId=upload, PartNumber=1, Body=content(seed))
        parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
        self.s3.complete_multipart_upload(**where, UploadId=upload, MultipartUpload=parts)


def test_a_kill_at_any_moment_leaves_the_old_object_or_the_new_one(tmp_path: Path) -> None:
    seeds = itertools.count(random.Random(7).randrange(1000))
    dice = random.Random(8)
    for round_number in range(KILLS):
        server = Server(tmp_path / "home", "--port", "0", cwd=tmp_path)
        if round_number == 0:
            s3_client(server.url).create_bucket(Bucket="abc")
        writers = [Writer(server.url, number, seeds) for number in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            assert writer.began.wait(60)
        threading.Event().wait(dice.random() * 0.3)
        server.end(signal.SIGKILL)
        for writer in writers:
            writer.join()
        server = Server(tmp_path / "home", "--port", "0", cwd=tmp_path)
        s3 = s3_client(server.url)
        for writer in writers:
            found = s3.get_object(Bucket="abc", Key=writer.key)
            body, seed = found["Body"].read(), int(found["Metadata"]["seed"])
            assert seed in (writer.acknowledged, writer.under_way)
            assert body == content(seed)
            md5 = hashlib.md5(body, usedforsecurity=False)
            parted = hashlib.md5(md5.digest(), usedforsecurity=False).hexdigest() + "-1"
            assert found["ETag"].strip('"') == (md5.hexdigest() if seed % 3 else parted)
        hidden = tmp_path / "home/s3/.bandstand"
        assert list((hidden / "staging").iterdir()) == []
        server.end()


def test_a_large_object_needs_little_memory(server: Server, s3: Any, bucket: str, tmp_path: Path) -> None:
    path = tmp_path / "large"
    block = os.urandom(MIB)
    with path.open("wb") as file:
        for _ in range(300):
            file.write(block)
    before = peak(server.process.pid)
    with path.open("rb") as body:
        s3.put_object(Bucket=bucket, Key="large", Body=body)
    answer = s3.get_object(Bucket=bucket, Key="large")["Body"]
    size = sum(len(piece) for piece in answer.iter_chunks(MIB))
    assert size == 300 * MIB
    s3.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": "large"})
    assert peak(server.process.pid) - before < 60 * MIB


def peak(process: int) -> int:
    """The most memory that a process has ever had, in bytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def test_of_many_clients_that_may_create_an_object_one_does(server: Server, bucket: str) -> None:
    outcomes: list[str] = []

    def create(number: int) -> None:
        try:
            s3_client(server.url).put_object(Bucket=bucket, Key="once", Body=b"%d" % number, IfNoneMatch="*")
            outcomes.append("made")
        except ClientError as error:
            outcomes.append(error.response["Error"]["Code"])

    clients = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert sorted(outcomes) == ["PreconditionFailed"] * 7 + ["made"]


def test_an_upload_whose_client_goes_away_leaves_nothing(server: Server, s3: Any, bucket: str) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"PUT /{bucket}/k HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 5000000\r\n"
        scope = "Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request\r\n\r\n"
        connection.sendall((head + scope).encode() + b"x" * 1_000_000)
    with pytest.raises(ClientError):
        s3.head_object(Bucket=bucket, Key="k")
    staging = server.home / "s3/.bandstand/staging"
    for _ in range(1000):
        if not list(staging.iterdir()):
            break
        s3.list_buckets()
    assert list(staging.iterdir()) == []
