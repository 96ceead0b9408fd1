"""A failing rank ends its job on all hosts, and every host tells the first, real reason."""

from __future__ import annotations

import os
import signal

import pytest

from .conftest import DEADLINE, Launcher, alive

LOOP = """
    import os, signal, sys, time
    import bandstand
    run = bandstand.start()
    run.note_rows(1200 + run.rank)
    for iteration in run.iterations(1000000):
        if run.rank == 1 and iteration == 3:
            {fault}
        bandstand.mean(1.0)
"""


def job_with(cluster: Launcher, fault: str, count: int = 3, **more):
    return cluster(count, LOOP.format(fault=fault), **more)


def test_an_exception_is_told_with_its_file_line_host_and_rank_on_every_host(cluster: Launcher):
    job = job_with(cluster, 'raise ValueError("no good: 7")')
    assert job.wait() == [1, 1, 1], job.log
    for host in job:
        assert host.failure == "ValueError: no good: 7 (train.py, line 8) on algo-2, rank 1"
        assert f"failed: {host.failure}" in host.err
    assert "Traceback" in job[1].err
    assert "Traceback" not in job[0].err


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGBUS"])
def test_a_signal_is_told_with_peak_memory_rows_and_a_hint(cluster: Launcher, name: str):
    job = job_with(cluster, f"os.kill(os.getpid(), signal.{name})")
    assert job.wait() == [1, 128 + getattr(signal, name), 1], job.log
    for host in job:
        assert host.failure.startswith(f"train.py was ended by {name}; peak memory ")
        assert "1201 rows" in host.failure
        assert host.failure.endswith("(algo-2, rank 1)")
    hint = {"SIGKILL": "ran out of memory", "SIGSEGV": "native library", "SIGBUS": "/dev/shm"}
    assert hint[name] in job[0].failure


def test_a_failure_file_of_the_script_is_kept_and_told_everywhere(cluster: Launcher):
    fault = 'open(os.environ["SM_OUTPUT_DIR"] + "/failure", "w").write("my own words"); sys.exit(4)'
    job = job_with(cluster, fault)
    assert job.wait() == [1, 4, 1], job.log
    for host in job:
        assert host.failure == "my own words"


def test_an_exit_code_without_words_is_told(cluster: Launcher):
    job = cluster(1, "import sys; sys.exit(3)")
    assert job.wait() == [3]
    assert job[0].failure == "train.py ended with exit code 3 and wrote nothing on stderr (algo-1, rank 0)"


def test_last_words_on_stderr_are_told_with_the_exit_code(cluster: Launcher):
    job = cluster(1, 'import sys; sys.exit("the file is missing")')
    assert job.wait() == [1]
    assert job[0].failure == "the file is missing (train.py, exit code 1) on algo-1, rank 0"


def test_a_script_that_leaves_a_failure_file_but_ends_well_has_not_failed(cluster: Launcher):
    job = cluster(1, 'import os; open(os.environ["SM_OUTPUT_DIR"] + "/failure", "w").write("x")')
    assert job.wait() == [0]


def test_the_failure_file_of_an_earlier_attempt_is_not_this_ones_reason(cluster: Launcher):
    def leave(folders):
        folders.failure.write_text("an old reason")

    job = cluster(1, 'raise KeyError("new")', prepare=leave)
    assert job.wait() == [1]
    assert job[0].failure.startswith("KeyError: 'new' (train.py, line 1)")


def test_the_cause_is_told_even_if_a_consequence_ends_sooner(cluster: Launcher, tmp_path):
    # Rank 1 prints its traceback, and then takes its time to end, as frameworks do; rank 0 ends meanwhile.
    script = f"""
    import atexit, os, time
    import bandstand
    run = bandstand.start()
    mark = {str(tmp_path / "mark")!r}
    other = run.broadcast(os.getpid())
    if run.rank == 1:
        def slow_end():
            open(mark, "w").close()
            while True:
                try:
                    os.kill(other, 0)
                except ProcessLookupError:
                    return
                time.sleep(0.01)
        atexit.register(slow_end)
        raise ValueError("the cause")
    while not os.path.exists(mark):
        time.sleep(0.01)
    raise RuntimeError("a consequence that does not look like one")
    """
    job = cluster(2, script)
    assert 0 not in job.wait()
    for host in job:
        assert "ValueError: the cause" in host.failure


def test_a_broken_connection_to_a_peer_is_not_the_reason_when_a_rank_has_died(cluster: Launcher, tmp_path):
    script = """
    import os, signal, socket, time
    import bandstand
    run = bandstand.start()
    if run.rank == 0:
        listener = socket.create_server(("127.0.0.1", 0))
        run.broadcast(listener.getsockname()[1])
        peer = listener.accept()[0]
        if not peer.recv(1):
            raise ConnectionResetError("Connection reset by peer")
    peer = socket.create_connection(("127.0.0.1", run.broadcast()))
    peer.shutdown(socket.SHUT_RDWR)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)
    """
    job = cluster(2, script)
    assert 0 not in job.wait()
    for host in job:
        assert "ended by SIGKILL" in host.failure


def test_a_rank_that_does_not_hear_sigterm_is_killed_when_another_fails(cluster: Launcher):
    script = """
    import os, signal, time
    if os.environ["BANDSTAND_RANK"] == "0":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("deaf", flush=True)
        while True:
            time.sleep(60)
    open(os.environ["SAGEMAKER_BASE_DIR"] + "/fifo").read()
    raise ValueError("first")
    """

    def fifo(folders):
        os.mkfifo(folders.base / "fifo")

    job = cluster(2, script, prepare=fifo)
    job[0].wait_for("deaf")
    (job[1].folders.base / "fifo").write_text("go")
    assert job.wait() == [1, 1], job.log
    assert "ValueError: first" in job[0].failure


def test_a_lost_host_fails_the_job_and_is_named(cluster: Launcher):
    job = cluster(2, 'import time\nprint("here", flush=True)\ntime.sleep(600)')
    job[1].wait_for("here")
    job[1].process.kill()
    assert job[0].wait() == 1
    assert job[0].failure == "algo-2 was lost: the connection to it ended without a word."


def test_a_lost_leader_fails_the_others(cluster: Launcher):
    job = cluster(2, 'import time\nprint("here", flush=True)\ntime.sleep(600)')
    job[1].wait_for("here")
    job[0].process.kill()
    assert job[1].wait() == 1
    assert "The connection to the leader has ended" in job[1].failure


def test_ranks_that_wait_for_a_lost_leader_leave(cluster: Launcher):
    script = """
    import time
    import bandstand
    run = bandstand.start()
    print("here", flush=True)
    if run.is_leader:
        time.sleep(600)
    run.barrier()
    """
    job = cluster(2, script)
    job.wait_for("here")
    job[0].process.kill()
    assert job[1].wait() == 1
    assert "connection to the leader has ended" in job[1].failure


def test_one_of_two_ranks_on_a_host_fails(cluster: Launcher):
    job = job_with(
        cluster, 'raise ValueError("mine")', count=1, environment={"BANDSTAND_RANKS_PER_HOST": "2"}
    )
    assert job.wait() == [1]
    assert job[0].failure == "ValueError: mine (train.py, line 8) on algo-1, rank 1"


def test_a_rank_that_ends_while_others_wait_for_it_is_a_failure(cluster: Launcher):
    job = cluster(
        2,
        """
        import bandstand
        run = bandstand.start()
        if run.is_leader:
            run.barrier()
        """,
    )
    assert job.wait() == [1, 1], job.log
    for host in job:
        assert "barrier() waits for rank 1 on algo-2, which has ended" in host.failure


def test_ranks_that_call_different_collectives_are_told_so(cluster: Launcher):
    job = cluster(
        2,
        """
        import bandstand
        run = bandstand.start()
        for iteration in run.iterations(2):
            if run.is_leader:
                bandstand.mean(1)
            else:
                run.barrier()
        """,
    )
    assert 0 not in job.wait()
    assert "mean() in iteration 1" in job[0].failure
    assert "barrier() in iteration 1" in job[0].failure


def test_a_chatty_rank_is_passed_on_whole_and_its_last_words_count(cluster: Launcher):
    job = cluster(
        1,
        """
        import sys
        for number in range(200_000):
            sys.stderr.write(f"line {number} of a very chatty program\\n")
        raise RuntimeError("at last")
        """,
    )
    assert job.wait() == [1]
    lines = job[0].err.splitlines()
    assert "line 0 of a very chatty program" in lines
    assert sum(line.startswith("line ") for line in lines) == 200_000
    assert job[0].failure.startswith("RuntimeError: at last")


@pytest.mark.parametrize("detached", [False, True])
def test_a_background_child_that_holds_stderr_does_not_hold_the_job(cluster: Launcher, detached: bool):
    job = cluster(
        1,
        f"""
        import subprocess, sys
        child = subprocess.Popen(["sleep", "30"], start_new_session={detached})
        print(f"child {{child.pid}} runs", flush=True)
        """,
    )
    assert job[0].process.wait(DEADLINE) == 0
    job[0].wait_for("runs")
    pid = int(job[0].out.split()[1])
    if detached:  # nothing but the end of the container ends a process that has left its group
        os.kill(pid, signal.SIGKILL)
    else:
        assert not alive(pid)
