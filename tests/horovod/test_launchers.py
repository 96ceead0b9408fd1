"""Scripts that know nothing of Bandstand and expect to be started by mpirun, torchrun, or by neither."""

from __future__ import annotations

import pytest

MPI = {"sagemaker_mpi_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2"}

HOROVOD = """
import os, sys
import horovod.torch as hvd
import torch
import beside

hvd.init()
total = hvd.allreduce(torch.tensor([float(hvd.rank() + 1)]), op=hvd.Sum).item()
open_mpi = [os.environ[f"OMPI_COMM_WORLD_{name}"] for name in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE")]
place = [str(each()) for each in (hvd.rank, hvd.size, hvd.local_rank, hvd.local_size)]
assert open_mpi == place, (open_mpi, place)
here = f"here {hvd.local_rank()} of {hvd.local_size()}"
print(f"rank {hvd.rank()} of {hvd.size()}, {here}: {total:g} {beside.words()}")
sys.exit(int(os.environ.get("CODE", "0")) if hvd.rank() == 3 else 0)
"""

TORCH = """
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
value = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(value)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}, here {os.environ['LOCAL_RANK']}: {value.item():g}")
dist.destroy_process_group()
"""

BY_HAND = """
import json, os
import torch
import torch.distributed as dist

hosts = json.loads(os.environ["SM_HOSTS"])
rank = hosts.index(os.environ["SM_CURRENT_HOST"])
dist.init_process_group(backend="gloo", rank=rank, world_size=len(hosts))
value = torch.tensor([rank + 1.0])
dist.all_reduce(value)
print(f"rank {rank}: {value.item():g}")
dist.destroy_process_group()
"""


def lay_beside(folders):
    """A module beside the script, which it imports."""
    (folders.code / "beside.py").write_text("import sys\n\ndef words():\n    return sys.argv[1:]\n")


def test_a_horovod_script_for_mpirun_trains_over_all_ranks_of_all_hosts(cluster):
    job = cluster(2, HOROVOD, hyperparameters={**MPI, "lr": "0.5"}, prepare=lay_beside)
    assert job.wait() == [0, 0], [host.err for host in job]
    printed = sorted(line for host in job for line in host.out.splitlines())
    words = "['--lr', '0.5']"
    assert printed == [f"rank {n} of 4, here {n % 2} of 2: 10 {words}" for n in range(4)]


def test_a_rank_under_mpirun_that_fails_ends_the_job_with_its_name(cluster):
    job = cluster(2, HOROVOD, hyperparameters=MPI, prepare=lay_beside, environment={"CODE": "7"})
    assert 0 not in job.wait()
    assert "algo-2, rank 3" in job[1].failure


def test_a_script_for_mpirun_on_one_host_has_its_ranks_too(cluster):
    job = cluster(1, HOROVOD, hyperparameters=MPI, prepare=lay_beside)
    assert job.wait() == [0], job[0].err
    assert sorted(job[0].out.splitlines()) == [f"rank {n} of 2, here {n} of 2: 3 []" for n in range(2)]


@pytest.mark.parametrize("hosts", [1, 2])
def test_a_torch_script_for_torchrun_finds_all_hosts(cluster, hosts):
    job = cluster(
        hosts,
        TORCH,
        hyperparameters={"sagemaker_torch_distributed_enabled": "true"},
        environment={"CUDA_VISIBLE_DEVICES": ""},
    )
    assert job.wait() == [0] * hosts, [host.err for host in job]
    total = hosts * (hosts + 1) // 2
    printed = [line for host in job for line in host.out.splitlines()]
    assert printed == [f"rank {n} of {hosts}, here 0: {total}" for n in range(hosts)]


def test_ranks_of_torchrun_are_as_many_as_asked_for(cluster):
    job = cluster(
        2,
        TORCH,
        hyperparameters={"sagemaker_torch_distributed_enabled": "true"},
        environment={"BANDSTAND_RANKS_PER_HOST": "2"},
    )
    assert job.wait() == [0, 0], [host.err for host in job]
    printed = sorted(line for host in job for line in host.out.splitlines())
    assert printed == [f"rank {n} of 4, here {n % 2}: 10" for n in range(4)]


def test_a_script_that_joins_the_hosts_itself_finds_the_master(cluster):
    job = cluster(3, BY_HAND)
    assert job.wait() == [0, 0, 0], [host.err for host in job]
    assert [host.out for host in job] == [f"rank {n}: 6\n" for n in range(3)]


def test_a_stop_ends_a_script_for_mpirun_that_does_not_listen(cluster):
    script = """
        import time
        import horovod.torch as hvd

        hvd.init()
        print(f"begun {hvd.rank()}", flush=True)
        while True:
            time.sleep(0.05)
    """
    job = cluster(2, script, hyperparameters=MPI)
    for host in job:
        host.wait_for("begun ", times=2)
    job.signal()
    assert job.wait() == [0, 0], job.log
