"""One container of an image, with what SageMaker would lay out for it."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.docker.images import docker

DEADLINE = 240.0
__all__ = ["Container", "docker", "run_image"]


@dataclass
class Container:
    """A container that runs or has ended."""

    name: str

    def wait(self) -> int:
        """Wait until it has ended; its exit code."""
        done = subprocess.run(
            ["docker", "wait", self.name], capture_output=True, text=True, check=True, timeout=DEADLINE
        )
        return int(done.stdout)

    def output(self) -> str:
        """What it has written on both streams."""
        done = subprocess.run(["docker", "logs", self.name], capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    def says(self, text: str) -> None:
        """Wait until it writes a text, or fail when it ends or the deadline passes without it."""
        with subprocess.Popen(
            ["docker", "logs", "--follow", self.name],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            alarm = threading.Timer(DEADLINE, process.kill)
            alarm.start()
            try:
                assert any(text in line for line in process.stdout or ()), self.output()
            finally:
                alarm.cancel()
                process.kill()

    def read(self, path: str) -> str:
        """A file in it."""
        done = subprocess.run(["docker", "cp", f"{self.name}:{path}", "-"], capture_output=True, check=True)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
            file = tar.extractfile(tar.getmembers()[0])
            assert file is not None
            return file.read().decode()

    def remove(self) -> None:
        """Remove it, whether it runs or not."""
        docker("rm", "--force", "--volumes", self.name)


def run_image(
    image: str,
    words: tuple[str, ...],
    *,
    folder: Path,
    program: str | None = None,
    hyperparameters: Mapping[str, str] | None = None,
    code: Mapping[str, str] | None = None,
    data: Mapping[str, str] | None = None,
    user: str = "0",
    environment: Mapping[str, str] | None = None,
) -> Container:
    """Start an image as SageMaker does, with one host.

    Args:
        image: Its name.
        words: Its arguments.
        folder: Where files are put together.
        program: A Python program, which becomes /opt/ml/code/train.py.
        hyperparameters: As the API has them.
        code: Further files beside the program.
        data: Channel and name to text.
        user: User and group.
        environment: Variables of the container.
    """
    given = dict(hyperparameters or {})
    files = {f"code/{name}": text for name, text in (code or {}).items()}
    files |= {f"input/data/{name}": text for name, text in (data or {}).items()}
    if program is not None:
        given["sagemaker_program"] = '"train.py"'
        files["code/train.py"] = program
    channels = sorted({name.partition("/")[0] for name in data or {}})
    described = {
        "TrainingInputMode": "File",
        "S3DistributionType": "FullyReplicated",
        "RecordWrapperType": "None",
    }
    files |= {
        "input/config/hyperparameters.json": json.dumps(given),
        "input/config/inputdataconfig.json": json.dumps(dict.fromkeys(channels, described)),
        "input/config/resourceconfig.json": json.dumps({"current_host": "algo-1", "hosts": ["algo-1"]}),
    }
    variables = [word for name, text in (environment or {}).items() for word in ("--env", f"{name}={text}")]
    name = docker("create", "--network", "none", "--user", user, *variables, image, *words)
    laid = folder / f"ml-{name[:12]}"
    for path, text in files.items():
        place = laid / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    for place in (laid, *laid.rglob("*")):  # SageMaker's folders are open to any user as well
        place.chmod(0o777 if place.is_dir() else 0o644)
    docker("cp", f"{laid}/.", f"{name}:/opt/ml")
    docker("start", name)
    return Container(name)
