"""What a host finds of a channel whose prefix is no folder, and of one with a manifest."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from .served import Server, ended, refusal, training_request, tuned, tuning_request, until

SCRIPT = """
import json, os, pathlib, time
import bandstand

run = bandstand.start()
channels = pathlib.Path("/opt/ml/input/data")
if "SAGEMAKER_BASE_DIR" in os.environ:
    channels = pathlib.Path(os.environ["SAGEMAKER_BASE_DIR"], "input", "data")
files = {
    path.relative_to(channels).as_posix(): path.read_text()
    for path in sorted(channels.rglob("*"))
    if path.is_file()
}
print("FOUND", json.dumps(files, sort_keys=True), flush=True)
config = json.loads((channels.parent / "config" / "inputdataconfig.json").read_text())
print("CONFIG", json.dumps(config, sort_keys=True), flush=True)
hold = pathlib.Path(os.environ.get("HOLD", "/nonexistent"))
while hold.exists():
    hold.with_name("here").touch()
    time.sleep(0.01)
for iteration in run.iterations(1):
    run.report(iteration, {"score": float(len(files))})
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program that prints what it finds, and some data."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "code").mkdir()
    (folder / "code" / "train.py").write_text(SCRIPT)
    (folder / "data").mkdir()
    (folder / "data" / "a.csv").write_text("file a")
    return folder


@pytest.fixture(scope="module")
def s3(server: Server) -> Any:
    """A client of S3, with a bucket in which some objects are."""
    client = server.plain("s3")
    client.create_bucket(Bucket="bkt", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    keys = ("data/x", "da.csv", "day/1", "p/a.csv", "p/b/c.csv", "p/b/d.csv", "train", "train/x", "train/y/z")
    for key in keys:
        client.put_object(Bucket="bkt", Key=key, Body=key)
    return client


def channel(uri: str, kind: str = "S3Prefix", *, sharded: bool = False) -> list[dict[str, Any]]:
    data = {"S3DataType": kind, "S3Uri": uri}
    if sharded:
        data["S3DataDistributionType"] = "ShardedByS3Key"
    return [{"ChannelName": "train", "ContentType": "text/csv", "DataSource": {"S3DataSource": data}}]


def request(place: Path, name: str, uri: str, kind: str = "S3Prefix", **more: Any) -> dict[str, Any]:
    hosts, sharded = more.pop("hosts", 1), more.pop("sharded", False)
    resources = {"InstanceType": "ml.m5.large", "InstanceCount": hosts, "VolumeSizeInGB": 1}
    channels = channel(uri, kind, sharded=sharded)
    return training_request(place, name, InputDataConfig=channels, ResourceConfig=resources)


def put_manifest(s3: Any, key: str, *entries: Any) -> str:
    s3.put_object(Bucket="bkt", Key=key, Body=json.dumps(entries))
    return f"s3://bkt/{key}"


def told(server: Server, name: str, word: str = "FOUND") -> dict[str, Any]:
    """What the script printed on each host, by its log stream's host."""
    logs = server.client("logs")
    group = "/aws/sagemaker/TrainingJobs"
    found = {}
    for stream in logs.describe_log_streams(logGroupName=group, logStreamNamePrefix=f"{name}/")["logStreams"]:
        events = logs.get_log_events(logGroupName=group, logStreamName=stream["logStreamName"])["events"]
        lines = [event["message"] for event in events if event["message"].startswith(word)]
        host = stream["logStreamName"].split("/")[1].rsplit("-", 1)[0]
        found[host] = json.loads(lines[0][lines[0].index("{") :])
    return found


def run(server: Server, sagemaker: Any, asked: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Run a job to its end; what each host found, with names below its channel's folder."""
    sagemaker.create_training_job(**asked)
    name = asked["TrainingJobName"]
    job = ended(sagemaker, name)
    assert job["TrainingJobStatus"] == "Completed", job.get("FailureReason")
    assert job["InputDataConfig"][0]["DataSource"] == {
        "S3DataSource": {
            "S3DataDistributionType": "FullyReplicated",
            **asked["InputDataConfig"][0]["DataSource"]["S3DataSource"],
        }
    }
    return {
        host: {name.removeprefix("train/"): text for name, text in files.items()}
        for host, files in told(server, name).items()
    }


@pytest.mark.parametrize(
    ("prefix", "files"),
    [
        ("da", {"data/x": "data/x", "da.csv": "da.csv", "day/1": "day/1"}),
        ("data", {"x": "data/x"}),
        ("train", {"train": "train", "x": "train/x", "y/z": "train/y/z"}),
        ("train/", {"x": "train/x", "y/z": "train/y/z"}),
        ("da.csv", {"da.csv": "da.csv"}),
    ],
)
def test_a_prefix_brings_every_object_that_begins_with_it(server, sagemaker, s3, place, prefix, files):
    name = f"prefix-{prefix.replace('/', '-folder').replace('.', '-')}"
    assert run(server, sagemaker, request(place, name, f"s3://bkt/{prefix}")) == {"algo-1": files}


def test_shares_of_a_prefix_are_apart(server, sagemaker, s3, place):
    found = run(server, sagemaker, request(place, "prefix-shares", "s3://bkt/da", hosts=2, sharded=True))
    assert found == {"algo-1": {"da.csv": "da.csv", "day/1": "day/1"}, "algo-2": {"data/x": "data/x"}}


def test_a_manifest_brings_what_it_lists(server, sagemaker, s3, place):
    uri = put_manifest(s3, "lists/one", {"prefix": "s3://bkt/p/"}, "b/d.csv", "a.csv")
    files = {"a.csv": "p/a.csv", "b/d.csv": "p/b/d.csv"}
    found = run(server, sagemaker, request(place, "listed", uri, "ManifestFile", hosts=2))
    assert found == {"algo-1": files, "algo-2": files}
    config = told(server, "listed", "CONFIG")["algo-1"]
    assert config["train"]["ContentType"] == "text/csv"
    assert config["train"]["S3DistributionType"] == "FullyReplicated"


def test_shares_of_a_manifest_are_apart(server, sagemaker, s3, place):
    names = ("b/d.csv", "a.csv", "b/c.csv")
    uri = put_manifest(s3, "lists/shares", {"prefix": "s3://bkt/p/"}, *names)
    asked = request(place, "listed-shares", uri, "ManifestFile", hosts=4, sharded=True)
    found = run(server, sagemaker, asked)
    shares = [("a.csv",), ("b/c.csv",), ("b/d.csv",), ()]
    assert found == {
        f"algo-{number}": {name: f"p/{name}" for name in share} for number, share in enumerate(shares, 1)
    }
    assert (
        told(server, "listed-shares", "CONFIG")["algo-1"]["train"]["S3DistributionType"] == "ShardedByS3Key"
    )


def test_each_training_job_of_a_tuning_job_trains_on_the_files_of_its_manifest(server, sagemaker, s3, place):
    uri = put_manifest(s3, "lists/tuned", {"prefix": "s3://bkt/p/"}, "a.csv", "b/c.csv")
    asked = tuning_request(place, "tuned-list", jobs=2, parallel=1)
    asked["TrainingJobDefinition"]["InputDataConfig"] = channel(uri, "ManifestFile")
    sagemaker.create_hyper_parameter_tuning_job(**asked)
    job = tuned(sagemaker, "tuned-list")
    assert job["HyperParameterTuningJobStatus"] == "Completed"
    assert job["BestTrainingJob"]["FinalHyperParameterTuningJobObjectiveMetric"]["Value"] == 2
    assert job["TrainingJobStatusCounters"]["Completed"] == 2


def test_a_manifest_that_is_a_file_lists_files(server, sagemaker, place):
    listing = place / "list.json"
    listing.write_text(json.dumps([{"prefix": f"{(place / 'data').as_uri()}/"}, "a.csv"]))
    found = run(server, sagemaker, request(place, "files-listed", listing.as_uri(), "ManifestFile"))
    assert found == {"algo-1": {"a.csv": "file a"}}


def test_a_manifest_reaches_no_file_that_the_service_may_not(sagemaker, place):
    listing = place / "outside.json"
    listing.write_text(json.dumps([{"prefix": "file:///usr/share/"}, "dict/words"]))
    asked = request(place, "out-of-reach", listing.as_uri(), "ManifestFile")
    code, message = refusal(sagemaker.create_training_job, **asked)
    assert code == "ValidationException"
    assert "--allow DIR" in message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "an empty manifest"),
        ("a,b\n", "no JSON"),
        ('{"prefix": "s3://bkt/p/"}', "expected"),
        ('["a.csv"]', "as its first entry"),
        ("\ufeff[]", "byte order mark"),
        ('[{"prefix": "s3://bkt/p/"}, "../da.csv"]', "lead out of the channel's folder"),
        ('[{"prefix": "s3://none/p/"}, "a.csv"]', "s3://none/p/a.csv"),
        ('[{"prefix": "file:///etc/"}, "passwd"]', "as the manifest itself is in S3"),
        ('[{"prefix": "s3://bkt/p/"}, "a.csv", "a.csv", "b/", "gone"]', '"a.csv"; allowed: each once'),
    ],
)
def test_a_manifest_that_is_none_is_refused(sagemaker, s3, place, content, words):
    s3.put_object(Bucket="bkt", Key="lists/bad", Body=content.encode())
    code, message = refusal(
        sagemaker.create_training_job, **request(place, "bad-list", "s3://bkt/lists/bad", "ManifestFile")
    )
    assert code == "ValidationException"
    assert "[rule 427] InputDataConfig[0].DataSource.S3DataSource.S3Uri" in message
    assert words in message or "as manifest; allowed: a list" in message


@pytest.mark.parametrize(("uri", "kind"), [("s3://bkt/none", "S3Prefix"), ("s3://bkt/none", "ManifestFile")])
def test_what_is_not_there_is_refused(sagemaker, s3, place, uri, kind):
    code, message = refusal(sagemaker.create_training_job, **request(place, "nothing", uri, kind))
    assert code == "ValidationException"
    assert "s3://bkt/none" in message


def test_a_job_goes_on_with_its_prefix_when_the_service_is_started_again(place, tmp_path):
    first = Server(place / "home-killed", cwd=place)
    client = first.plain("s3")
    client.create_bucket(Bucket="bkt", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    for key in ("da.csv", "data/x"):
        client.put_object(Bucket="bkt", Key=key, Body=key)
    hold = tmp_path / "hold"
    hold.touch()
    asked = request(place, "goes-on", "s3://bkt/da") | {"Environment": {"HOLD": str(hold)}}
    first.client().create_training_job(**asked)
    until((tmp_path / "here").exists, "the job's look at its data")
    first.end(signal.SIGKILL)
    second = Server(place / "home-killed", cwd=place)
    hold.unlink()
    assert ended(second.client(), "goes-on")["TrainingJobStatus"] == "Completed"
    assert sorted(told(second, "goes-on")["algo-1"]) == ["train/da.csv", "train/data/x"]
    second.end()


def test_data_that_goes_between_two_training_jobs_fails_the_second_with_the_reason(
    server, sagemaker, s3, place, tmp_path
):
    hold = tmp_path / "hold"
    hold.touch()
    uri = put_manifest(s3, "lists/short", {"prefix": "s3://bkt/short/"}, "a", "b")
    for key in ("short/a", "short/b"):
        s3.put_object(Bucket="bkt", Key=key, Body=b"1")
    asked = tuning_request(place, "short-lived", jobs=2, parallel=1)
    asked["TrainingJobDefinition"]["InputDataConfig"] = channel(uri, "ManifestFile")
    asked["TrainingJobDefinition"]["Environment"] = {"HOLD": str(hold)}
    sagemaker.create_hyper_parameter_tuning_job(**asked)

    def jobs():
        return sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(
            HyperParameterTuningJobName="short-lived", SortBy="CreationTime"
        )["TrainingJobSummaries"]

    until((tmp_path / "here").exists, "the first training job's look at its data")
    s3.delete_object(Bucket="bkt", Key="short/b")
    hold.unlink()
    tuned(sagemaker, "short-lived")
    assert [job["TrainingJobStatus"] for job in jobs()] == ["Completed", "Failed"]
    reason = ended(sagemaker, jobs()[1]["TrainingJobName"])["FailureReason"]
    assert "Channel 'train': found names of files that are not there" in reason
    assert '"s3://bkt/short/b"' in reason
