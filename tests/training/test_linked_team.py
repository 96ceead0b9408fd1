"""Collectives over several ranks of several hosts."""

from __future__ import annotations

from .conftest import Launcher


def test_collectives_give_the_same_on_every_rank(cluster: Launcher):
    script = """
    import bandstand
    run = bandstand.start()
    weights = [0, 10, 0, 3]
    values = [float("nan"), 0.1, float("inf"), 0.7]
    mean = bandstand.mean(values[run.rank], weight=weights[run.rank])
    print("mean", mean == (0.1 * 10 + 0.7 * 3) / 13 or mean, flush=True)
    print("gather", run.gather({"rank": run.rank, "text": "ü" * 100_000})[3]["rank"], flush=True)
    print("broadcast", run.broadcast({"from": run.rank} if run.rank == 2 else object(), root=2), flush=True)
    run.barrier()
    print("channel", run.local_rank, run.local_size, run.host, run.hosts[-1], flush=True)
    """
    job = cluster(2, script, environment={"BANDSTAND_RANKS_PER_HOST": "2"})
    assert job.wait() == [0, 0], job.log
    for host in job:
        assert host.out.count("gather 3") == 2
        assert host.out.count("broadcast {'from': 2}") == 2
        assert len({line for line in host.out.splitlines() if line.startswith("mean")}) == 1
        assert f"channel 1 2 {host.name} algo-2" in host.out


def test_a_rank_that_stands_aside_from_the_loop_takes_part_in_collectives(cluster: Launcher):
    script = """
    import bandstand
    run = bandstand.start()
    if run.rank != 1:
        for iteration in run.iterations(3):
            pass
    print("end", run.gather(run.rank), flush=True)
    """
    job = cluster(3, script)
    assert job.wait() == [0, 0, 0], job.log
    for host in job:
        assert "end [0, 1, 2]" in host.out


def test_no_rows_on_any_rank_is_an_error_on_all_of_them(cluster: Launcher):
    job = cluster(2, "import bandstand\nbandstand.start()\nbandstand.mean(1.0, weight=0)")
    assert job.wait() == [1, 1]
    assert "mean(): all weights are 0" in job[0].failure


def test_a_second_process_cannot_take_a_ranks_place(cluster: Launcher):
    script = """
    import subprocess, sys
    import bandstand
    run = bandstand.start()
    done = subprocess.run([sys.executable, "-c", "import bandstand; bandstand.start()"], capture_output=True)
    print(done.stderr.decode(), flush=True)
    """
    job = cluster(1, script, environment={"BANDSTAND_RANKS_PER_HOST": "2"})
    job[0].wait_for("is here already", times=2)
    assert job.wait() == [0], job.log


def test_a_hundred_iterations_of_exchange_are_in_step(cluster: Launcher):
    script = """
    import bandstand
    run = bandstand.start()
    total = 0
    for iteration in run.iterations(100):
        total += sum(run.gather(run.rank * iteration))
    print(f"total={total}", flush=True)
    """
    job = cluster(3, script)
    assert job.wait() == [0, 0, 0], job.log
    assert {host.out.strip() for host in job} == {f"total={3 * 5050}"}
