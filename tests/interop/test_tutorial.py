"""The code of the tutorial for SageMaker's SDKs runs on the local service, as it stands on the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.service.served import Server, tuned

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tutorial" / "your-tuning-code-on-your-laptop.md").read_text("utf-8")
FILES = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
SDKS = Path(os.environ.get("BANDSTAND_SDKS", Path.home() / ".cache" / "bandstand"))

Run = Callable[[Path, str], str]

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("tutorial")
    running = Server(folder / "home", "--port", "0", cwd=folder)
    yield running
    running.end()


@pytest.fixture(scope="module")
def run(server: Server) -> Run:
    """Runs a file of the page with a Python that has what it imports; the data are in their bucket."""
    folder = server.home.parent
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment |= {
        "HOME": str(folder),
        "AWS_ENDPOINT_URL": server.url,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
    }

    def ran(python: Path, name: str) -> str:
        done = subprocess.run(
            [python, "-c", FILES[name]],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    ran(Path(sys.executable), "data.py")
    return ran


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_the_code_for_an_sdk_tunes_here_with_nothing_changed_but_its_session(
    version: str, run: Run, server: Server
) -> None:
    best = run(SDKS / f"sdk-{version}" / "bin" / "python", f"tune_{version}.py")
    (job,) = (
        each["HyperParameterTuningJobName"]
        for each in server.client().list_hyper_parameter_tuning_jobs(NameContains=f"churn-{version}")[
            "HyperParameterTuningJobSummaries"
        ]
    )
    answer = tuned(server.client(), job)
    assert answer["HyperParameterTuningJobStatus"] == "Completed"
    assert sum(answer["TrainingJobStatusCounters"].values()) == 6
    assert answer["BestTrainingJob"]["TrainingJobName"] in best
