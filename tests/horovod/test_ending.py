"""Ranks that die, stay away, are stopped, or go on from a checkpoint."""

from __future__ import annotations

import os
import re
import signal
import time

import pytest

from .conftest import SETTINGS, as_files, difference, images

RINGS = ["horovod", "torch"]
LONG = {**SETTINGS, "epochs": 400, "batch_size": 8}


def pid_of(job, rank: int) -> int:
    """The process of a rank, as its log says."""
    host = job.hosts[rank]
    host.stderr.wait_for(f"bandstand: rank {rank} of ")
    found = re.search(rf"rank {rank} of \d+ runs as process (\d+)", host.err)
    assert found
    return int(found[1])


@pytest.mark.parametrize("ring", RINGS)
def test_a_rank_that_is_killed_ends_the_job_within_seconds_with_its_name(jobs, channels, ring):
    job = jobs.start({**LONG, "ring": ring}, 3, replicated=channels, content_type=None)
    job.leader.stdout.wait_for("iteration=2 ")
    os.kill(pid_of(job, 1), signal.SIGKILL)
    killed = time.monotonic()
    codes = job.wait()
    assert time.monotonic() - killed < 30
    assert 0 not in codes
    for host in job.hosts:
        assert "horovod was ended by SIGKILL" in host.failure
        assert host.failure.endswith("(algo-2, rank 1)")


STALLED = """
import threading
import bandstand
import torch
from bandstand.training.gradient_ring import join_gradient_ring

run = bandstand.start()
with join_gradient_ring(run, {ring!r}, stall_seconds=4) as ring:
    for iteration in run.iterations(3):
        ring.sum(torch.ones(3))
        if iteration == 2 and run.rank == 1:
            threading.Event().wait()
"""


@pytest.mark.parametrize("ring", RINGS)
def test_a_collective_that_only_some_ranks_enter_ends_the_job_with_the_names_of_the_others(cluster, ring):
    job = cluster(3, STALLED.format(ring=ring))
    codes = job.wait()
    assert 0 not in codes
    for host in job:
        assert host.failure.startswith(
            "rank 0 on algo-1, rank 2 on algo-3 waited in a collective in iteration 3 for rank 1 on algo-2, "
            "which did not come (no answer within 4 s)."
        ), job.log


@pytest.mark.parametrize("ring", RINGS)
def test_a_stop_lets_all_ranks_leave_after_the_same_step_and_a_restart_ends_with_the_same_weights(
    jobs, channels, tmp_path, ring
):
    settings = {**SETTINGS, "epochs": 60, "momentum": 0.9, "dropout": 0.1, "batch_size": 16, "ring": ring}
    undisturbed = jobs.run(settings, 2, replicated=channels, content_type=None)
    kept = tmp_path / "kept"
    first = jobs.start(settings, 2, replicated=channels, content_type=None, checkpoints=kept)
    first.leader.stdout.wait_for("iteration=3 ")
    first.hosts[1].process.send_signal(signal.SIGTERM)
    assert first.wait() == [0, 0], first.log
    assert "every rank leaves after" in first.leader.err
    assert (first.leader.folders.model / "model.pt").is_file()
    done = len(first.reports)
    assert 3 <= done < 60
    second = jobs.run(settings, 2, replicated=channels, content_type=None, checkpoints=kept)
    assert f"goes on after iteration {done}" in second.leader.err
    told = [line for line in second.leader.out.splitlines() if line.startswith("iteration=")]
    assert told[0].startswith(f"iteration={done + 1} ")
    assert told[-1].startswith("iteration=60 ")
    assert difference(undisturbed, second) == 0


def test_a_stop_within_the_first_epoch_loses_no_step(jobs, tmp_path):
    channels = {"train": as_files(*images(3000), tmp_path / "made")}
    settings = {**SETTINGS, "epochs": 1, "momentum": 0.9, "batch_size": 1}
    undisturbed = jobs.run(settings, 2, replicated=channels, content_type=None)
    kept = tmp_path / "kept"
    first = jobs.start(settings, 2, replicated=channels, content_type=None, checkpoints=kept)
    first.leader.stderr.wait_for("an epoch has 3000 steps of 1 rows")
    first.hosts[1].process.send_signal(signal.SIGTERM)
    assert first.wait() == [0, 0], first.log
    assert first.reports == []
    assert re.search(r"every rank leaves after step [0-9]+ of 3000 of epoch 1", first.leader.err), first.log
    second = jobs.run(settings, 2, replicated=channels, content_type=None, checkpoints=kept)
    assert "goes on after iteration 0" in second.leader.err
    assert second.reports == undisturbed.reports
    assert difference(undisturbed, second) == 0
