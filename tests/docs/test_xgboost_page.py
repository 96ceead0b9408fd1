"""The example of the page on the built-in XGBoost runs: as a tuning job, and in a script of one's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "xgboost.md").read_text("utf-8")
SECTION = PAGE.split("\n## A metric of your own\n")[1].split("\n## ")[0]
FUNCTION, SCRIPT = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
(JOB,) = re.findall(r"```toml\n(.*?)```", SECTION, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the data and the code of the example."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(300, 3)).round(2)
    rows = np.column_stack([features[:, 0] + rng.normal(size=300) > 0.8, features])
    for name, part in (("train", rows[::2]), ("validation", rows[1::2])):
        (tmp_path / "data" / name).mkdir(parents=True)
        np.savetxt(tmp_path / "data" / name / "rows.csv", part, "%g", ",")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "profit.py").write_text(FUNCTION, "utf-8")
    (tmp_path / "src" / "train.py").write_text(SCRIPT, "utf-8")
    return tmp_path


def command(folder: Path, *words: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "bandstand.cli", *words, "--json", "--home", "home"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_metric_of_ones_own_is_tuned(folder: Path) -> None:
    (folder / "job.toml").write_text(JOB, "utf-8")
    facts = command(folder, "tune", "job.toml")
    jobs = facts["training_jobs"]
    assert [job["status"] for job in jobs] == ["Completed", "Completed"]
    assert facts["best"]["final_objective"] == max(job["final_objective"] for job in jobs)
    names = {point["name"] for point in facts["metrics"]}
    assert "validation:profit" in names


def test_the_script_reports_the_same_metric(folder: Path) -> None:
    static = JOB.split("[tuning]")[0]
    (folder / "built-in.toml").write_text(static, "utf-8")
    lines = static.replace('"profit"', '"own"', 1).replace(
        "[hyperparameters]", "program = 'train.py'\n[hyperparameters]"
    )
    script = re.sub(r"(?m)^(algorithm|objective|num_round|custom_metric) = .*\n", "", lines)
    metrics = "[metrics]\n\"validation:profit\" = ' validation:profit=([-+.0-9eE]+)'\n"
    (folder / "own.toml").write_text(script + metrics, "utf-8")
    found = []
    for name in ("built-in.toml", "own.toml"):
        points = command(folder, "train", name)["metrics"]
        found.append([point["value"] for point in points if point["name"] == "validation:profit"])
    assert len(found[0]) == 10
    assert found[0] == found[1]
