"""The scripts of examples/estimators: what each sends is what `bandstand plan` accepts, and trains here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.validate import validate_parameters
from tests.docker.images import IMAGE, docker
from tests.interop.endpoint import Endpoint, endpoint

import bandstand

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "estimators"
SDKS = Path(os.environ.get("BANDSTAND_SDKS", Path.home() / ".cache" / "bandstand"))
BIN = Path(sys.executable).parent
PUSHED = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/bandstand@sha256:" + "0" * 64
ROLE = "arn:aws:iam::111122223333:role/Training"
PLACE = "s3://a-bucket/direct-marketing"

Run = Callable[..., str]
Sent = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def marketing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has data/train and data/validation, as the place of the scripts has."""
    folder = tmp_path_factory.mktemp("marketing")
    example = ROOT / "examples" / "direct_marketing"
    subprocess.run([sys.executable, example / "prepare.py", "--to", folder / "data"], check=True)
    (folder / "job.toml").write_bytes((example / "job.toml").read_bytes())
    return folder


@pytest.fixture
def sagemaker() -> Iterator[Endpoint]:
    with endpoint() as server:
        yield server


@pytest.fixture
def run(sagemaker: Endpoint, tmp_path: Path) -> Run:
    """Runs a script with a Python of its own; image, role and bucket are in the environment."""

    def ran(script: str, *words: str, python: Path = Path(sys.executable)) -> str:
        environment = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": sagemaker.url,
            "PYTHONPATH": str(ROOT / "src"),
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "IMAGE": PUSHED,
            "ROLE": ROLE,
            "BUCKET": "a-bucket",
        }
        done = subprocess.run(
            [python, SCRIPTS / script, *words],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return ran


@pytest.fixture
def sent(run: Run, sagemaker: Endpoint) -> Sent:
    """What the script of an SDK sends."""

    def caught(sdk: str, what: str) -> dict[str, Any]:
        run(f"sdk_{sdk}.py", what, "--no-wait", python=SDKS / f"sdk-{sdk}" / "bin" / "python")
        ((operation, document),) = sagemaker.created
        expected = {"train": "CreateTrainingJob", "tune": "CreateHyperParameterTuningJob"}
        assert operation == expected[what]
        return document

    return caught


def bandstand_command(*words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", *map(str, words)],
        env={**os.environ, "AWS_REGION": "eu-central-1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def accepted(document: dict[str, Any], folder: Path, *, on: str = "sagemaker") -> dict[str, Any]:
    """The request that `bandstand plan` makes of a document."""
    path = folder / "request.json"
    path.write_text(json.dumps(document))
    planned: dict[str, Any] = json.loads(bandstand_command("plan", path, "--on", on))
    return planned


def here(document: dict[str, Any], place: Path) -> dict[str, Any]:
    """The request with its data on this machine and the image that is tested."""
    text = json.dumps(document).replace(PLACE, place.as_uri()).replace(PUSHED, IMAGE)
    changed: dict[str, Any] = json.loads(text)
    return changed


def definition(document: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = document.get("TrainingJobDefinition", document)
    return inner


@pytest.mark.parametrize("what", ["train", "tune"])
@pytest.mark.parametrize("sdk", ["v2", "v3"])
def test_what_an_sdk_sends_is_what_the_plan_accepts_field_by_field(
    sdk: str, what: str, sent: Sent, tmp_path: Path
) -> None:
    document = sent(sdk, what)
    assert accepted(document, tmp_path) == document
    inner = definition(document)
    specification = inner["AlgorithmSpecification"]
    assert specification["TrainingImage"] == PUSHED
    assert specification["MetricDefinitions"] == bandstand.metric_definitions(["validation:auc"])
    assert inner["RoleArn"] == ROLE
    assert {
        channel["ChannelName"]: (channel["ContentType"], channel["DataSource"]["S3DataSource"]["S3Uri"])
        for channel in inner["InputDataConfig"]
    } == {name: ("text/csv", f"{PLACE}/data/{name}") for name in ("train", "validation")}
    if what == "tune":
        config = document["HyperParameterTuningJobConfig"]
        assert config["Strategy"] == "Hyperband"
        assert config["StrategyConfig"] == {"HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 30}}
        assert config["TrainingJobEarlyStoppingType"] == "Off"


@pytest.mark.parametrize("sdk", ["v2", "v3"])
def test_the_training_job_that_an_sdk_sends_trains_the_image_here(
    sdk: str, sent: Sent, marketing: Path, tmp_path: Path
) -> None:
    document = here(sent(sdk, "train"), marketing)
    (tmp_path / "request.json").write_text(json.dumps(document))
    words = (tmp_path / "request.json", "--on", "containers", "--home", tmp_path / "home", "--json")
    facts = json.loads(bandstand_command("train", *words))
    assert facts["status"] == "Completed"
    reported = [point["iteration"] for point in facts["metrics"] if point["name"] == "validation:auc"]
    assert reported == list(range(1, 31))


@pytest.mark.parametrize("sdk", ["v2", "v3"])
def test_the_tuning_job_that_an_sdk_sends_tunes_here(
    sdk: str, sent: Sent, marketing: Path, tmp_path: Path
) -> None:
    """Its first four training jobs, on containers of the image."""
    document = here(sent(sdk, "tune"), marketing)
    limits = document["HyperParameterTuningJobConfig"]["ResourceLimits"]
    limits["MaxNumberOfTrainingJobs"] = limits["MaxParallelTrainingJobs"] = 4
    (tmp_path / "request.json").write_text(json.dumps(document))
    words = (tmp_path / "request.json", "--on", "containers", "--home", tmp_path / "home", "--json")
    facts = json.loads(bandstand_command("tune", *words))
    assert len(facts["training_jobs"]) == 4
    assert facts["best"]["final_objective"] > 0.5
    assert all(job["stop"] for job in facts["training_jobs"]), "MaxResource ends all of them"


def test_boto3_sends_the_tuning_job_that_the_plan_prints(
    run: Run, sagemaker: Endpoint, marketing: Path, tmp_path: Path
) -> None:
    name = run("plain_boto3.py", str(marketing / "job.toml")).strip()
    ((operation, document),) = sagemaker.created
    assert operation == "CreateHyperParameterTuningJob"
    assert document["HyperParameterTuningJobName"] == name == "direct-marketing"
    printed = json.loads(bandstand_command("plan", marketing / "job.toml"))
    assert document == moved(printed, marketing)
    assert accepted(document, tmp_path) == document


def test_boto3_sends_the_training_job_that_the_plan_prints(
    run: Run, sagemaker: Endpoint, marketing: Path, tmp_path: Path
) -> None:
    text = (marketing / "job.toml").read_text()
    trained = text[: text.index("[tuning]")].replace("seed = 7", "seed = 7\nnum_round = 20")
    (marketing / "train.toml").write_text(trained)
    run("plain_boto3.py", str(marketing / "train.toml"))
    ((operation, document),) = sagemaker.created
    assert operation == "CreateTrainingJob"
    assert document == moved(json.loads(bandstand_command("plan", marketing / "train.toml")), marketing)
    assert accepted(document, tmp_path) == document
    shape = (
        boto3.client("sagemaker", "eu-central-1").meta.service_model.operation_model(operation).input_shape
    )
    validate_parameters(document, shape)


def moved(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A printed request with only the account's own put in: place, image and role."""
    document: dict[str, Any] = json.loads(json.dumps(request).replace(folder.as_uri(), PLACE))
    inner = definition(document)
    inner["AlgorithmSpecification"]["TrainingImage"] = PUSHED
    inner["RoleArn"] = ROLE
    return document


def test_a_script_that_lacks_arguments_names_them() -> None:
    bare = {name: text for name, text in os.environ.items() if name not in ("IMAGE", "ROLE", "BUCKET")}
    command = [sys.executable, SCRIPTS / "plain_boto3.py"]
    done = subprocess.run(command, env=bare, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "--image, --role, --bucket" in done.stderr


def test_nothing_of_these_jobs_is_left_at_the_engine() -> None:
    assert docker("ps", "--all", "--quiet", "--filter", "label=bandstand.job=direct-marketing") == ""
