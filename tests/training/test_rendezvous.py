"""Hosts of one job find each other, whatever else comes to the port."""

from __future__ import annotations

import os
import socket

from .conftest import Launcher

HELLO = """
    import bandstand
    run = bandstand.start()
    print(f"rank {run.rank} sees {run.gather(run.rank)}", flush=True)
"""
SECONDS = {"BANDSTAND_START_TIMEOUT": "1.5"}


def test_a_host_that_never_arrives_is_named_on_every_host_that_did(cluster: Launcher):
    job = cluster(3, HELLO, start=lambda host: host != "algo-3", environment=SECONDS)
    assert job.wait() == [1, 1], job.log
    for host in job:
        assert "algo-3 did not join within 1.5 s; algo-1, algo-2 did" in host.failure
    assert "2 of 3 hosts joined; waiting for algo-3." in job[0].err


def test_a_missing_leader_is_told_by_the_hosts_that_looked_for_it(cluster: Launcher):
    job = cluster(2, HELLO, start=lambda host: host == "algo-2", environment=SECONDS)
    assert job.wait() == [1]
    assert "The leader could not be reached at 127.0.1.1" in job[0].failure
    assert "within 1.5 s" in job[0].failure
    assert job[0].failure.endswith("(on algo-2)")


def test_a_host_with_another_key_takes_no_place(cluster: Launcher):
    def key(host: str) -> dict[str, str]:
        return {"BANDSTAND_KEY": "ab" * 16} if host == "algo-2" else {}

    job = cluster(2, HELLO, per_host=key, environment=SECONDS)
    codes = job.wait()
    assert 0 not in codes
    assert "it does not have this job's key" in job[0].err
    assert "algo-2 did not join" in job[0].failure
    assert "BANDSTAND_KEY" in job[1].failure


def test_strangers_garbage_and_slow_ones_at_the_port_take_nobodys_place(cluster: Launcher):
    job = cluster(3, HELLO, start=lambda host: host == "algo-1")
    job[0].wait_for("1 of 3 hosts joined")
    address = cluster.address
    held = []
    for kind in range(90):
        stranger = socket.create_connection(address)
        if kind % 3 == 1:
            stranger.sendall(os.urandom(300))
        elif kind % 3 == 2:
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: algo-1\r\n\r\n")
        else:
            stranger.sendall(b"band")  # and then nothing, as a slow one does
        held.append(stranger)
    rest = [cluster.start_host("algo-2"), cluster.start_host("algo-3")]
    assert [host.wait() for host in [*job, *rest]] == [0, 0, 0], job.log
    assert "rank 0 sees [0, 1, 2]" in job[0].out
    assert "it is no rendezvous: it begins with" in job[0].err
    for stranger in held:
        stranger.close()


def test_hosts_that_differ_in_ranks_per_host_are_told_so(cluster: Launcher):
    def ranks(host: str) -> dict[str, str]:
        return {"BANDSTAND_RANKS_PER_HOST": "2" if host == "algo-2" else "1"}

    job = cluster(2, HELLO, per_host=ranks)
    assert job.wait() == [1, 1]
    for host in job:
        assert "BANDSTAND_RANKS_PER_HOST is 2 on algo-2 and 1 on algo-1" in host.failure


def test_a_job_without_a_key_derives_one_from_its_documents(cluster: Launcher):
    job = cluster(2, HELLO, environment={"BANDSTAND_KEY": ""})
    assert job.wait() == [0, 0], job.log


def test_a_host_whose_program_is_missing_ends_the_job_before_the_start_timeout(cluster: Launcher):
    def lose(folders):
        if "algo-2" in str(folders.base):
            (folders.code / "train.py").unlink()

    job = cluster(2, HELLO, prepare=lose, environment={"BANDSTAND_START_TIMEOUT": "600"})
    assert job.wait() == [1, 2]
    for host in job:
        assert "The program 'train.py' is not in" in host.failure
        assert "(on algo-2)" in host.failure


def test_the_early_finisher_waits_for_the_others(cluster: Launcher, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    job = cluster(
        2,
        f"""
        import os, sys
        if os.environ["BANDSTAND_RANK"] == "1":
            print("waiting", flush=True)
            open({str(gate)!r}).read()
        print("done", flush=True)
        """,
    )
    job[0].wait_for("done")
    job[1].wait_for("waiting")
    assert job[0].process.poll() is None
    gate.write_text("go")
    assert job.wait() == [0, 0]


def test_a_busy_port_is_a_clear_message(cluster: Launcher):
    with socket.create_server(("127.0.1.1", 0)) as taken:
        environment = {"BANDSTAND_PORT": str(taken.getsockname()[1]), "BANDSTAND_START_TIMEOUT": "1"}
        job = cluster(
            2,
            HELLO,
            start=lambda host: host == "algo-1",
            environment=environment,
            per_host=lambda host: {"BANDSTAND_LISTEN_FD": ""},
        )
        assert job.wait() == [1]
    assert "Set BANDSTAND_PORT to a port that is free" in job[0].failure
