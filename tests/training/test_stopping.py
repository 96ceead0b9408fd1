"""Stop means stop: all ranks leave after the same iteration, and the model of that iteration is there."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import textwrap

import pytest

from .conftest import Launcher, alive

LOOP = """
    import bandstand
    run = bandstand.start()
    last = 0
    for iteration in run.iterations(10_000_000):
        last = iteration
        bandstand.mean(iteration, weight=run.rank + 1)
        if iteration == 5:
            print("five", flush=True)
    print(f"last={last}", flush=True)
    run.save_model("model.txt", lambda path: path.write_text(str(last)))
"""


def last_iterations(job) -> set[int]:
    return {int(number) for host in job for number in re.findall(r"last=(\d+)", host.out)}


@pytest.mark.parametrize("targets", [[0, 1, 2], [0], [1]], ids=["all hosts", "the leader", "another host"])
def test_all_ranks_leave_after_the_same_iteration_wherever_the_signal_arrives(cluster: Launcher, targets):
    job = cluster(3, LOOP)
    job.wait_for("five")
    for target in targets:
        job[target].signal()
    assert job.wait() == [0, 0, 0], job.log
    found = last_iterations(job)
    assert len(found) == 1
    assert (job[0].folders.model / "model.txt").read_text() == str(found.pop())
    assert list(job[1].folders.model.iterdir()) == []
    assert [host.failure for host in job] == ["", "", ""]
    assert "asked to stop: every rank leaves after iteration" in job[0].err


def test_two_ranks_on_each_of_two_hosts_leave_together(cluster: Launcher):
    job = cluster(2, LOOP, environment={"BANDSTAND_RANKS_PER_HOST": "2"})
    for host in job:
        host.wait_for("five", times=2)
    job[1].signal()
    assert job.wait() == [0, 0], job.log
    assert sum(host.out.count("last=") for host in job) == 4
    assert len(last_iterations(job)) == 1


def test_ranks_that_exchange_nothing_leave_after_the_same_iteration(cluster: Launcher):
    script = """
    import time
    import bandstand
    run = bandstand.start()
    last = 0
    for iteration in run.iterations(10_000_000):
        last = iteration
        time.sleep(0.001 * (1 + run.rank * 5))
        if iteration == 5:
            print("five", flush=True)
    print(f"last={last}", flush=True)
    """
    job = cluster(3, script)
    job.wait_for("five")
    job[2].signal()
    assert job.wait() == [0, 0, 0], job.log
    assert len(last_iterations(job)) == 1


def test_a_job_of_one_rank_stops_and_keeps_its_model(cluster: Launcher):
    job = cluster(1, LOOP)
    job.wait_for("five")
    job.signal()
    assert job.wait() == [0]
    assert (job[0].folders.model / "model.txt").read_text() == str(last_iterations(job).pop())


@pytest.mark.parametrize("hosts", [1, 3])
def test_a_stop_while_loading_leaves_before_the_first_iteration(cluster: Launcher, tmp_path, hosts: int):
    gate = tmp_path / "gate"
    script = f"""
    import os, time
    import bandstand
    run = bandstand.start()
    print("loading", flush=True)
    while not os.path.exists({str(gate)!r}):
        time.sleep(0.01)
    print("loaded", run.stopping, list(run.iterations(10)), flush=True)
    """
    job = cluster(hosts, script)
    job.wait_for("loading")
    job[hosts - 1].signal()
    job.wait_for("stop")
    gate.touch()
    assert job.wait() == [0] * hosts, job.log
    for host in job:
        assert "loaded True []" in host.out


def test_a_stop_before_all_ranks_have_started_ends_all_of_them(cluster: Launcher):
    script = """
    import os, time
    if os.environ["BANDSTAND_RANK"] == "1":
        print("importing", flush=True)
        time.sleep(600)
    import bandstand
    print("starting", flush=True)
    run = bandstand.start()
    """
    job = cluster(2, script)
    job[1].wait_for("importing")
    job[0].wait_for("starting")
    job.signal()
    assert job.wait() == [0, 0], job.log
    assert [host.failure for host in job] == ["", ""]


def test_a_stop_while_hosts_are_still_missing_ends_those_that_are_here(cluster: Launcher):
    job = cluster(3, LOOP, start=lambda host: host != "algo-3")
    job[0].wait_for("2 of 3 hosts joined")
    job[1].signal()
    assert job.wait() == [0, 0], job.log
    assert "last=" not in job[0].out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_script_that_knows_nothing_of_bandstand_ends_of_the_signal(cluster: Launcher, number: int):
    job = cluster(2, 'import time\nprint("here", flush=True)\ntime.sleep(600)')
    job.wait_for("here")
    job[0].signal(number)
    assert job.wait() == [0, 0], job.log
    assert [host.failure for host in job] == ["", ""]


def test_a_script_that_saves_on_sigterm_has_its_time(cluster: Launcher):
    script = """
    import os, signal, sys, time
    def save(number, frame):
        time.sleep(0.3)
        open(os.environ["SM_MODEL_DIR"] + "/m", "w").write("saved")
        sys.exit(0)
    signal.signal(signal.SIGTERM, save)
    print("here", flush=True)
    time.sleep(600)
    """
    job = cluster(1, script)
    job.wait_for("here")
    job.signal()
    assert job.wait() == [0]
    assert (job[0].folders.model / "m").read_text() == "saved"


def test_a_program_whose_shell_dies_of_the_signal_still_has_its_time(cluster: Launcher):
    def add(folders):
        (folders.code / "work.py").write_text(
            "import os, signal, sys, time\n"
            "def save(number, frame):\n"
            "    time.sleep(0.5)\n"
            "    open(os.environ['SM_MODEL_DIR'] + '/m', 'w').write('saved')\n"
            "    sys.exit(0)\n"
            "signal.signal(signal.SIGTERM, save)\n"
            "print('here', flush=True)\n"
            "time.sleep(600)\n"
        )

    job = cluster(1, f"{shlex.quote(sys.executable)} work.py; echo after\n", name="train.sh", prepare=add)
    job.wait_for("here")
    job.signal()
    assert job.wait() == [0], job.log
    assert (job[0].folders.model / "m").read_text() == "saved"


@pytest.mark.parametrize("shell", [False, True], ids=["script", "script in a shell"])
def test_the_workers_of_a_rank_work_until_it_leaves_its_loop(cluster: Launcher, shell: bool):
    program = """
    import multiprocessing, os, time
    import bandstand

    def work(number):
        time.sleep(0.02)
        return number

    run = bandstand.start()
    with multiprocessing.get_context("fork").Pool(2) as pool:  # which ends its workers with SIGTERM
        for iteration in run.iterations(10_000_000):
            assert pool.map(work, range(4)) == [0, 1, 2, 3]
            if iteration == 5:
                os.write(1, b"five\\n")
    run.save_model("m", lambda path: path.write_text("saved"))
    """

    def add(folders):
        (folders.code / "work.py").write_text(textwrap.dedent(program).replace("\\\\n", "\\n"))

    if shell:
        script = f"sleep 600 &\n{shlex.quote(sys.executable)} work.py\n"
        job = cluster(1, script, name="train.sh", prepare=add)
    else:
        job = cluster(1, program)
    job.wait_for("five")
    job.signal()
    assert job.wait() == [0], job.log
    assert (job[0].folders.model / "m").read_text() == "saved"


def test_a_script_that_ignores_the_signal_is_left_to_the_outside(cluster: Launcher):
    script = """
    import os, signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(f"deaf {os.getpid()} here", flush=True)
    time.sleep(600)
    """
    job = cluster(1, script)
    job.wait_for("here")
    job.signal()
    job[0].wait_for("shall stop")
    pid = int(job[0].out.split()[1])
    assert alive(pid)
    job.signal()  # again: nothing changes
    assert job[0].process.poll() is None
    os.kill(pid, signal.SIGKILL)
    assert job.wait() == [128 + signal.SIGKILL]
    assert "SIGKILL" in job[0].failure


def test_a_second_ctrl_c_kills(cluster: Launcher):
    script = """
    import signal, time
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("deaf", flush=True)
    time.sleep(600)
    """
    job = cluster(1, script)
    job.wait_for("deaf")
    job.signal(signal.SIGINT)
    job[0].wait_for("shall stop")
    job.signal(signal.SIGINT)
    assert job.wait() != [0]


def test_a_failure_after_the_stop_is_still_a_failure(cluster: Launcher):
    script = LOOP + '    raise RuntimeError("while saving")\n'
    job = cluster(1, script)
    job.wait_for("five")
    job.signal()
    assert job.wait() == [1]
    assert "RuntimeError: while saving" in job[0].failure


def test_the_checkpoint_that_was_not_due_is_written_on_the_stop(cluster: Launcher):
    script = """
    import bandstand
    run = bandstand.start()
    last = 0
    for iteration in run.iterations(10_000_000):
        last = iteration
        run.checkpoint(iteration, lambda path: path.write_text(str(last)), every=1_000_000)
        if iteration == 5:
            print("five", flush=True)
    print(f"last={last}", flush=True)
    """
    job = cluster(2, script)
    job.wait_for("five")
    job[1].signal()
    assert job.wait() == [0, 0], job.log
    last = last_iterations(job).pop()
    for host in job:
        folder = host.folders.checkpoints / "a-job"
        assert (folder / f"iteration-{last:08d}.{host.name}").read_text() == str(last)


def test_a_stop_that_was_blocked_until_the_agent_listens_is_not_lost(cluster: Launcher):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        job = cluster(1, LOOP)
        job.signal()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    assert job.wait() == [0], job.log
