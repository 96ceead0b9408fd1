from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..served import Server, ended, lay_out, training_request, tuned, tuning_request
from .asking import EVIL, SECRET
from .browser import Browser

BAND = {
    "Strategy": "Hyperband",
    "StrategyConfig": {"HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 9}},
}

SCRIPT = f"""
import pathlib, time
import bandstand

run = bandstand.start()
settings = run.hyperparameters
print("{EVIL} & so on", flush=True)
print("it uses", settings.get("api_key", "nothing"), "and password=correct-horse-battery", flush=True)
hold = pathlib.Path(settings.get("hold", "/nonexistent"))
for iteration in run.iterations(int(settings.get("epochs", 9))):
    run.report(iteration, {{"score": iteration * float(settings.get("rate", 1.0))}})
    while hold.exists() and iteration == 2 and not run.stopping:
        time.sleep(0.01)
if "fail" in settings:
    raise ValueError("{EVIL} went wrong")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("page"), SCRIPT)


@pytest.fixture(scope="module")
def jobs(server: Server, sagemaker: Any, place: Path) -> dict[str, Any]:
    """A tuning job that Hyperband has tuned, and a training job of two hosts that has failed."""
    request = tuning_request(
        place, "tuned", jobs=5, Config=BAND, StaticHyperParameters={"epochs": "9", "api_key": SECRET}
    )
    sagemaker.create_hyper_parameter_tuning_job(**request)
    settings = {"epochs": "3", "fail": EVIL, "rate": "0.5"}
    failing = training_request(place, "failed", HyperParameters=settings)
    failing["ResourceConfig"]["InstanceCount"] = 2
    sagemaker.create_training_job(**failing)
    ended(sagemaker, "failed")
    tuned(sagemaker, "tuned")
    found = sagemaker.list_training_jobs_for_hyper_parameter_tuning_job(HyperParameterTuningJobName="tuned")
    return {job["TrainingJobName"]: job for job in found["TrainingJobSummaries"]}


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def browser(tab: Browser) -> Iterator[Browser]:
    """A browser that has nothing to complain of in the end."""
    tab.troubles.clear()
    yield tab
    assert tab.troubles == []


@pytest.fixture(scope="module")
def stopped(jobs: dict[str, Any]) -> str:
    """A training job of the tuning job that was stopped at a rung."""
    return next(name for name, job in jobs.items() if job["TrainingJobStatus"] == "Stopped")
