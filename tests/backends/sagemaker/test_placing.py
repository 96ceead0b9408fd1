"""What lies on this machine gets an address from what it holds; all else of a request stays as it is."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from bandstand.backends.sagemaker.contents import read_content
from bandstand.backends.sagemaker.placing import CODE_PATH, Placement, place
from bandstand.backends.sagemaker.uploading import pack_code, split
from bandstand.errors import InputError, PlanError
from bandstand.request import TuningPlan, load

from .region import ROLE

ROOT = "s3://kept/bandstand"
IMAGE = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/bandstand:latest"


@pytest.fixture
def job(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("print('loss=1')\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")
    return {
        "name": "placed",
        "image": IMAGE,
        "role": ROLE,
        "program": "train.py",
        "code": str(tmp_path / "src"),
        "output": str(tmp_path / "out"),
        "checkpoints": str(tmp_path / "checkpoints"),
        "hyperparameters": {"rate": 0.5},
        "channels": {"train": {"path": str(tmp_path / "data"), "type": "csv"}},
        "cluster": {"instance_type": "ml.m5.xlarge", "hosts": 2},
        "environment": {"GREETING": "good day"},
        "tags": {"team": "band"},
    }


def placed(job: dict[str, Any]) -> Placement:
    return place(load(job, on="sagemaker"), ROOT)


def test_only_addresses_of_this_machine_change_in_the_request(job: dict[str, Any], tmp_path: Path) -> None:
    before = json.loads(load(job, on="sagemaker").document)
    placement = placed(job)
    after = json.loads(placement.plan.document)
    data, code = placement.uploads
    channel = before["InputDataConfig"][0]
    channel["DataSource"]["S3DataSource"]["S3Uri"] = f"{ROOT}/channels/{data.content.name}/"
    folder = f"{ROOT}/code/{code.content.name}/"
    source = {"S3DataType": "S3Prefix", "S3Uri": folder, "S3DataDistributionType": "FullyReplicated"}
    before["InputDataConfig"].append({"ChannelName": "code", "DataSource": {"S3DataSource": source}})
    before["HyperParameters"]["sagemaker_submit_directory"] = CODE_PATH
    before["OutputDataConfig"]["S3OutputPath"] = f"{ROOT}/output"
    before["CheckpointConfig"]["S3Uri"] = f"{ROOT}/checkpoints/placed"
    assert after == before
    assert placement.fetch == tmp_path / "out"
    assert "file:" not in json.dumps(placement.plan.to_dict())


def test_the_plan_says_what_its_document_says(job: dict[str, Any]) -> None:
    job |= {
        "tuning": {"metric": "loss", "goal": "minimize", "strategy": "random", "jobs": 2, "parallel": 1},
        "ranges": {"rate": {"continuous": [0.1, 1.0]}},
    }
    del job["hyperparameters"]
    plan = placed(job).plan
    assert isinstance(plan, TuningPlan)
    body = json.loads(plan.document)["TrainingJobDefinition"]
    inner = json.loads(plan.definitions[0].training.document)
    assert inner["InputDataConfig"] == body["InputDataConfig"]
    assert [channel.uri for channel in plan.definitions[0].training.channels] == [
        each["DataSource"]["S3DataSource"]["S3Uri"] for each in body["InputDataConfig"]
    ]
    assert dict(plan.definitions[0].training.hyperparameters)["sagemaker_submit_directory"] == CODE_PATH
    assert body["StaticHyperParameters"] == inner["HyperParameters"]


def test_the_same_content_has_the_same_address_wherever_it_lies(job: dict[str, Any], tmp_path: Path) -> None:
    first = placed(job).uploads
    (tmp_path / "data").rename(tmp_path / "moved")
    os.utime(tmp_path / "moved" / "a.csv", (1, 1))
    job["channels"]["train"]["path"] = str(tmp_path / "moved")
    assert [each.uri for each in placed(job).uploads] == [each.uri for each in first]
    (tmp_path / "moved" / "a.csv").write_text("2\n")
    assert placed(job).uploads[0].uri != first[0].uri
    assert placed(job).uploads[1].uri == first[1].uri


def test_a_file_as_a_channel_keeps_its_name(job: dict[str, Any], tmp_path: Path) -> None:
    job["channels"]["train"]["path"] = str(tmp_path / "data" / "a.csv")
    placement = placed(job)
    uri = placement.plan.channels[0].uri  # type: ignore[union-attr]
    assert uri == f"{ROOT}/channels/{placement.uploads[0].content.name}/a.csv"


def test_code_leaves_out_what_is_no_code_and_says_so(job: dict[str, Any], tmp_path: Path) -> None:
    code = tmp_path / "src"
    for name in (".git/config", "__pycache__/train.pyc", "out/model", "deep/part.py"):
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text("x")
    job["output"] = str(code / "out")
    placement = placed(job)
    assert [name for name, _, _ in placement.uploads[1].content.files] == ["deep/part.py", "train.py"]
    assert "code: not sent along: .git, out." in placement.notes


def test_the_archive_of_the_code_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "run.sh").write_text("echo\n")
    (tmp_path / "code" / "run.sh").chmod(0o755)
    archives = []
    for name in ("one", "two"):
        pack_code(read_content(tmp_path / "code"), tmp_path / name)
        os.utime(tmp_path / "code" / "run.sh", (5, 5))
        archives.append((tmp_path / name).read_bytes())
    assert archives[0] == archives[1]
    with tarfile.open(tmp_path / "one") as tar:
        (member,) = tar.getmembers()
        assert (member.name, member.mode) == ("run.sh", 0o755)


def test_links_are_followed_and_a_link_to_a_folder_above_ends(tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere.csv").write_text("1")
    (tmp_path / "data" / "a.csv").symlink_to(tmp_path / "elsewhere.csv")
    (tmp_path / "data" / "deep" / "up").symlink_to(tmp_path / "data")
    assert [name for name, _, _ in read_content(tmp_path / "data").files] == ["a.csv"]


def test_a_channel_named_code_and_an_unreadable_name_are_refused(job: dict[str, Any], tmp_path: Path) -> None:
    job["channels"]["code"] = job["channels"]["train"]
    with pytest.raises(InputError, match="a channel named code"):
        placed(job)
    Path(os.fsdecode(os.fsencode(tmp_path / "data") + b"/\xff.csv")).write_text("1")
    with pytest.raises(InputError, match="no UTF-8"):
        read_content(tmp_path / "data")


def test_a_document_is_handed_in_as_it_is(job: dict[str, Any]) -> None:
    document = json.loads(placed(job).plan.document)
    plan = load(document, on="sagemaker")
    assert json.loads(place(plan, ROOT).plan.document) == document
    assert place(plan, ROOT).uploads == ()


def test_what_sagemaker_needs_is_asked_for_all_at_once(job: dict[str, Any]) -> None:
    del job["role"]
    job["image"] = "bandstand:latest"
    with pytest.raises(PlanError) as caught:
        load(job, on="sagemaker")
    assert [problem.number for problem in caught.value.problems] == [701, 702]


def test_a_document_with_addresses_of_this_machine_is_refused(job: dict[str, Any], tmp_path: Path) -> None:
    document = json.loads(placed(job).plan.document)
    document["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] = (tmp_path / "data").as_uri()
    document["OutputDataConfig"]["S3OutputPath"] = (tmp_path / "out").as_uri()
    with pytest.raises(PlanError) as caught:
        load(document, on="sagemaker")
    assert [problem.number for problem in caught.value.problems] == [703, 703]


def test_an_address_is_split_at_the_bucket() -> None:
    assert split("s3://kept/a/b%20c#d") == ("kept", "a/b%20c#d")
    assert split("s3://kept") == ("kept", "")
