"""Metric lines reach whoever reads, and nobody who does not read ends the training."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .conftest import Launcher, clean_environment

TRAIN = """
    import sys
    import bandstand
    run = bandstand.start()
    for iteration in run.iterations(3):
        print(f"printed before {iteration}")
        run.report(iteration, {"loss": 1.0})
    print("reached the end", file=sys.stderr)
"""


def test_a_metric_line_comes_after_what_was_printed_before_it(cluster: Launcher):
    job = cluster(1, TRAIN, environment={"PYTHONUNBUFFERED": ""})
    assert job.wait() == [0]
    assert job[0].out.splitlines() == [
        line for i in (1, 2, 3) for line in (f"printed before {i}", f"iteration={i} loss=1.0")
    ]


def test_a_reader_of_stdout_that_goes_away_does_not_end_the_job(cluster: Launcher):
    reader, writer = os.pipe()
    os.close(reader)
    script = TRAIN.replace('print(f"printed before {iteration}")', "pass")
    job = cluster(1, script, stdout=writer)
    os.close(writer)
    assert job.wait() == [0], job.log
    assert "reached the end" in job[0].err
    assert job[0].err.count("nobody reads stdout any more") == 1


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_standard_streams_do_not_end_the_job(cluster: Launcher, tmp_path, closed):
    cluster(1, TRAIN, start=lambda host: False)  # only laid out: Popen itself would open the streams
    code = (
        "import os, sys\n"
        f"for descriptor in {closed!r}: os.close(descriptor)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'bandstand.training', 'train'])\n"
    )
    environment = clean_environment(SAGEMAKER_BASE_DIR=str(tmp_path / "algo-1"))
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0
    assert not (tmp_path / "algo-1" / "output" / "failure").exists()
    if 1 not in closed:
        assert done.stdout.count(b"iteration=") == 3


def test_a_pipe_that_is_full_loses_nothing(cluster: Launcher):
    script = """
    import os
    import bandstand
    os.set_blocking(1, False)
    run = bandstand.start()
    for iteration in run.iterations(3000):
        run.report(iteration, {f"metric-{n}": 1.0 for n in range(20)})
    """
    reader, writer = os.pipe()
    job = cluster(1, script, stdout=writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        lines = stream.read().splitlines()
    assert job.wait() == [0], job.log
    assert len(lines) == 3000
    assert all(line.startswith(b"iteration=") and line.endswith(b"metric-19=1.0") for line in lines)


def test_a_report_in_a_process_whose_stdout_is_no_file_is_written_there(capsys, monkeypatch):
    import io

    from bandstand.training.output import print_line

    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    print_line("iteration=1 loss=1.0")
    assert stream.getvalue() == "iteration=1 loss=1.0\n"


def test_no_streams_at_all_are_no_error(monkeypatch):
    from bandstand.training.output import note, print_line

    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    print_line("x")
    note("x")


def test_lines_of_two_ranks_on_a_host_do_not_mix(cluster: Launcher):
    script = """
    import os
    rank = os.environ["BANDSTAND_RANK"]
    for number in range(2000):
        print("rank", rank, "says", number)  # unbuffered: each word is a write of its own
    """
    job = cluster(1, script, environment={"BANDSTAND_RANKS_PER_HOST": "2"})
    assert job.wait() == [0]
    lines = job[0].out.splitlines()
    assert sorted(lines) == sorted(f"rank {rank} says {n}" for rank in (0, 1) for n in range(2000))


def test_a_reader_of_stderr_that_goes_away_does_not_end_the_job(cluster: Launcher, tmp_path):
    cluster(1, TRAIN, start=lambda host: False)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "bandstand.training"],
        env=clean_environment(SAGEMAKER_BASE_DIR=str(tmp_path / "algo-1")),
        stdout=subprocess.PIPE,
        stderr=writer,
        timeout=60,
    )
    os.close(writer)
    assert done.returncode == 0
    assert done.stdout.count(b"iteration=") == 3


def test_a_listening_socket_that_was_inherited_does_not_reach_the_ranks(cluster: Launcher):
    script = """
    import os
    descriptor = int(os.environ.get("DESCRIPTOR"))
    try:
        os.fstat(descriptor)
        print("leaked", flush=True)
    except OSError:
        print("kept", flush=True)
    """
    for hosts in (1, 2):
        cluster.close()
        job = cluster(hosts, script, per_host=lambda host: {"DESCRIPTOR": str(cluster.descriptor)})
        assert job.wait() == [0] * hosts, job.log
        assert "kept" in job[0].out
