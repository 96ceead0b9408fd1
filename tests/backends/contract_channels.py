"""A part of the contract of backends: channels out of this machine's S3, and those that a manifest lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bandstand.request.plan import ChannelPlan

from .jobs import Job, unpacked

LOOK = """
    import json, os
    base = os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
    found = {}
    for channel in sorted(os.listdir(base + "/input/data")):
        root = base + "/input/data/" + channel
        paths = [os.path.join(path, name) for path, _, files in os.walk(root) for name in files]
        found[channel] = {os.path.relpath(path, root): open(path).read() for path in paths}
        for path in [*paths[:1], root + "/new"] if base == "/opt/ml" else ():
            try:
                open(path, "a").close()
            except OSError as error:
                assert error.errno in (30, 13), error
            else:
                raise SystemExit("can be written: " + path)
    host = json.load(open(base + "/input/config/resourceconfig.json"))["current_host"]
    json.dump(found, open(base + "/model/" + host, "w"))
"""
"""Leaves what each channel holds in the model, and finds out that none of it can be changed."""


class ChannelsContract:
    """A host finds of a channel what SageMaker brings, and cannot change it."""

    @pytest.fixture
    def buckets(self, tmp_path: Path) -> Path:
        """A folder of buckets, one of which has some objects and a manifest that lists some of them."""
        bucket = tmp_path / "s3" / "bucket"
        for key in ("da.csv", "data/a, with: signs.csv", "data/b.csv", "deep/er/c.csv", "outside.csv"):
            (bucket / key).parent.mkdir(parents=True, exist_ok=True)
            (bucket / key).write_text(key)
        (tmp_path / "elsewhere.csv").write_text("elsewhere")
        (bucket / "deep" / "link.csv").symlink_to("../../../elsewhere.csv")
        names = ["deep/er/c.csv", "deep/link.csv", "data/a, with: signs.csv"]
        (bucket / "list").write_text(json.dumps([{"prefix": "s3://bucket/"}, *names]))
        return bucket.parent

    def test_a_host_finds_all_that_begins_with_a_prefix_and_all_that_a_manifest_lists(
        self, submit: Callable[..., Job], buckets: Path
    ) -> None:
        def channel(name: str, key: str, kind: str, spread: str) -> ChannelPlan:
            return ChannelPlan(
                name,
                f"s3://bucket/{key}",
                distribution=spread,  # type: ignore[arg-type]
                data_type=kind,
                buckets=str(buckets),
            )

        channels = (
            channel("folder", "data", "S3Prefix", "FullyReplicated"),
            channel("prefix", "da", "S3Prefix", "FullyReplicated"),
            channel("prefix-share", "da", "S3Prefix", "ShardedByS3Key"),
            channel("list", "list", "ManifestFile", "FullyReplicated"),
            channel("list-share", "list", "ManifestFile", "ShardedByS3Key"),
        )
        job = submit(LOOK, hosts=2, channels=channels)
        state = job.ends()
        assert state.status == "Completed", job.report()
        found = {host: json.loads(text) for host, text in unpacked(state.model).items()}
        odd = "a, with: signs.csv"
        everything = {f"data/{odd}": f"data/{odd}", "data/b.csv": "data/b.csv", "da.csv": "da.csv"}
        listed = {
            f"data/{odd}": f"data/{odd}",
            "deep/er/c.csv": "deep/er/c.csv",
            "deep/link.csv": "elsewhere",
        }
        for host in ("algo-1", "algo-2"):
            assert found[host]["folder"] == {odd: f"data/{odd}", "b.csv": "data/b.csv"}
            assert found[host]["prefix"] == everything
            assert found[host]["list"] == listed
        shares = [sorted(found[host]["prefix-share"]) for host in ("algo-1", "algo-2")]
        assert shares == [["da.csv", "data/b.csv"], [f"data/{odd}"]]
        shares = [sorted(found[host]["list-share"]) for host in ("algo-1", "algo-2")]
        assert shares == [[f"data/{odd}", "deep/link.csv"], ["deep/er/c.csv"]]

    def test_a_manifest_that_went_bad_fails_the_job_with_every_fault(
        self, submit: Callable[..., Job], buckets: Path
    ) -> None:
        entries = [{"prefix": "s3://bucket/"}, "da.csv", "da.csv", "../x"]
        (buckets / "bucket" / "list").write_text(json.dumps(entries))
        uri = "s3://bucket/list"
        channel = ChannelPlan("train", uri, data_type="ManifestFile", buckets=str(buckets))
        gone = ChannelPlan("test", "s3://bucket/gone", buckets=str(buckets))
        state = submit(LOOK, channels=(channel, gone)).ends()
        assert state.status == "Failed"
        assert state.failure_reason is not None
        for words in (
            "'train': found names that stand there more than once",
            '"../x"',
            "'test': found no S3",
        ):
            assert words in state.failure_reason
