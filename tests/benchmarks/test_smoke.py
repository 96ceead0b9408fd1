"""Every benchmark runs to its end at a tiny scale, without peers; what it measures is not looked at."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "data").mkdir(exist_ok=True)
    places = ("--cache", folder / "cache", "--results", folder / "results", "--data", folder / "data")
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.run", *words, *places, "--no-peers", "--repeat", "1"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


@pytest.mark.parametrize("name", ["start_up", "stop_latency", "hyperband_quality", "hyperband_curves"])
def test_a_benchmark_measures_prints_and_writes_its_result(name: str, tmp_path: Path) -> None:
    done = run(tmp_path, name, "--scale", "0.05")

    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (tmp_path / "results").iterdir()
    (found,) = json.loads(path.read_text())["benchmarks"]
    assert found["name"] == name
    assert found["sides"]
    assert all(side["min"] <= side["median"] <= side["max"] for side in found["sides"])
    for text in (*(side["name"] for side in found["sides"]), *(aim["what"] for aim in found["aims"])):
        assert text in done.stdout


def test_benchmarks_of_the_built_in_xgboost_measure_all_their_sides(tmp_path: Path) -> None:
    done = run(tmp_path, "round_overhead", "memory_and_bytes", "--scale", "0.0005")

    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (tmp_path / "results").iterdir()
    found = json.loads(path.read_text())["benchmarks"]
    assert [each["name"] for each in found] == ["round_overhead", "memory_and_bytes"]
    assert all(each["sides"] and each["aims"] for each in found)


def test_a_peer_that_is_not_there_is_told_and_the_others_are_measured(tmp_path: Path) -> None:
    done = run(tmp_path, "trivial_jobs", "--scale", "0.05")

    assert "Syne Tune was left out" in done.stdout
    assert "bandstand tune / bare processes" in done.stdout


def test_a_drill_kills_and_resumes_and_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.drills", "--kills", "2", "--seed", "3"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 kills (" in done.stdout.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
