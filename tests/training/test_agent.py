"""Whole jobs of one or more hosts: joining, ending together, exit codes."""

from __future__ import annotations

import pytest

from .conftest import Launcher

HELLO = """
    import bandstand
    run = bandstand.start()
    print(run, flush=True)
    for iteration in run.iterations(3):
        value = bandstand.mean(run.rank + iteration, weight=run.rank + 1)
        run.report(iteration, {"validation:loss": value})
    run.save_model("model.txt", lambda path: path.write_text("done"))
"""


@pytest.mark.parametrize(("hosts", "ranks"), [(1, 1), (1, 2), (3, 1), (2, 2)])
def test_all_ranks_of_all_hosts_train_and_only_the_leader_writes(cluster: Launcher, hosts: int, ranks: int):
    job = cluster(hosts, HELLO, environment={"BANDSTAND_RANKS_PER_HOST": str(ranks)})
    world = hosts * ranks
    assert job.wait() == [0] * hosts, job.log
    for rank in range(world):
        assert f"rank {rank} of {world} on algo-{rank // ranks + 1}" in job[rank // ranks].out
