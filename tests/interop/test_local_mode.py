"""Local mode of SageMaker's own SDKs trains the image on two hosts, as examples/estimators ask for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.backends.jobs import unpacked

IMAGE = os.environ.get("BANDSTAND_TEST_IMAGE", "bandstand:latest")
SDKS = Path(os.environ.get("BANDSTAND_SDKS", Path.home() / ".cache" / "bandstand"))
ROOT = Path(__file__).parents[2]
SECONDS = 600
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

Train = Callable[..., str]

pytestmark = pytest.mark.timeout(2 * SECONDS)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder with data, for all that local mode leaves; its containers and networks are removed then."""
    rows = [
        f"{number % 2},{number % 7},{(number * 5) % 11},{number % 2 + number % 3}" for number in range(400)
    ]
    for channel, part in (("train", rows[:300]), ("validation", rows[300:])):
        folder = tmp_path / "data" / channel
        folder.mkdir(parents=True)
        (folder / "part-0.csv").write_text("\n".join(part) + "\n")
    yield tmp_path
    compose = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
    for file in tmp_path.rglob("docker-compose.yaml"):
        subprocess.run([*compose, "-f", str(file), "down"], check=False, capture_output=True, timeout=60)


@pytest.fixture
def train(place: Path) -> Train:
    def trained(sdk: str, *words: str) -> str:
        environment = {
            **os.environ,
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "PYTHONPATH": str(ROOT / "src"),
            "TMPDIR": str(place),
            "IMAGE": IMAGE,
            "ROLE": "arn:aws:iam::111122223333:role/Training",
            "BUCKET": "a-bucket",
        }
        script = ROOT / "examples" / "estimators" / f"sdk_{sdk}.py"
        done = subprocess.run(
            [SDKS / f"sdk-{sdk}" / "bin" / "python", script, "train", *words],
            env=environment,
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stdout
        return ESCAPES.sub("", done.stdout)

    return trained


def iterations(output: str) -> list[int]:
    return [int(number) for number in re.findall(r"iteration=(\d+) validation:auc=", output)]


def test_model_trainer_of_sdk_3_in_local_container_mode(train: Train, place: Path) -> None:
    """It gives no command, names an interface that is not there, and ends all hosts with the first."""
    output = train("v3", "--instance-type", "local_cpu", "--place", str(place))
    assert iterations(output) == list(range(1, 31)), output
    assert "2 of 2 hosts joined" in output
    assert "exited with code 0" in output, output
    assert not re.search(r"exited with code [1-9]", output), output
    assert unpacked(place / "out" / "compressed_artifacts" / "model.tar.gz")["xgboost-model"]


def test_estimator_of_sdk_2_on_local_instances(train: Train, place: Path) -> None:
    output = train("v2", "--instance-type", "local", "--place", place.as_uri())
    assert iterations(output) == list(range(1, 31)), output
    assert "2 of 2 hosts joined" in output
    assert unpacked(place / "out" / "model.tar.gz")["xgboost-model"]
