from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.backends.task import ChannelTask, Task, task_from_plan
from bandstand.errors import PlatformError

from .jobs import channel, make_plan

TASK = Task(
    name="job-1",
    arn="arn:aws:sagemaker:local:111122223333:training-job/job-1",
    hosts=("algo-1", "algo-2"),
    instance_type="ml.m5.xlarge",
    hyperparameters=(("eta", "1e-05"), ("name", "ü\udcff")),
    channels=(ChannelTask("train", "/data", "text/csv", "ShardedByS3Key", "File", "None"),),
    code=None,
    output="/out",
    checkpoints=None,
    environment=(("A", "b"),),
    max_runtime=60,
    threads=2,
    command=("python", "-m", "x"),
)


def test_a_task_comes_back_as_it_was_written() -> None:
    assert Task.from_json(TASK.to_json()) == TASK


def test_a_plan_is_found_on_this_machine(tmp_path: Path) -> None:
    plan = make_plan(
        tmp_path / "röot dir",
        hosts=3,
        channels=(channel("train", tmp_path / "my data"),),
        checkpoints=(tmp_path / "kept").as_uri(),
        max_runtime=7,
    )
    task = task_from_plan(plan, threads=4, command=("x",), timing={"peer_grace": 1.0})
    assert task.hosts == ("algo-1", "algo-2", "algo-3")
    assert task.code == str(tmp_path / "röot dir" / "code of job-1")
    assert task.output == str(tmp_path / "röot dir" / "out")
    assert task.channels[0].place == str(tmp_path / "my data")
    assert (task.checkpoints, task.max_runtime, task.threads) == (str(tmp_path / "kept"), 7, 4)
    assert (task.peer_grace, task.grace, task.lease_seconds) == (1.0, 120.0, 10.0)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("file:///a/src", "/a/src"),
        ('"file:///a/s%20rc"', "/a/s rc"),
        ("file:///a/src.tar.gz", None),
        ("/opt/ml/code", None),
        ("s3://bucket/code", None),
        ("", None),
    ],
)
def test_the_code_folder_is_shown_when_it_is_a_folder_of_this_machine(
    tmp_path: Path, told: str, found: str | None
) -> None:
    plan = make_plan(tmp_path, hyperparameters={"sagemaker_submit_directory": told})
    assert task_from_plan(plan, threads=1, command=("x",), timing={}).code == found


@pytest.mark.parametrize(
    ("role", "account"),
    [("arn:aws:iam::111122223333:role/x", "111122223333"), ("local", "000000000000"), ("", "000000000000")],
)
def test_the_arn_has_the_roles_account(tmp_path: Path, role: str, account: str) -> None:
    task = task_from_plan(make_plan(tmp_path, role=role), threads=1, command=("x",), timing={})
    assert task.arn == f"arn:aws:sagemaker:local:{account}:training-job/job-1"


def test_more_hosts_than_one_machine_can_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="asks for 101 hosts"):
        task_from_plan(make_plan(tmp_path, hosts=101), threads=1, command=("x",), timing={})
