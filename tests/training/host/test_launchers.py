"""Launchers that hyperparameters ask for, and what ranks find of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.errors import InputError
from bandstand.sagemaker_files import Cluster, Folders, write_config
from bandstand.training.host.job import read_job
from bandstand.training.host.launchers import NOT_HERE, Launcher, Place, find_launcher, launched, under
from bandstand.training.host.program import Program

MPI = {"sagemaker_mpi_enabled": "true"}
TORCHRUN = {"sagemaker_torch_distributed_enabled": "true"}
PLACE = Place(rank=3, size=4, local_rank=1, local_size=2)
SCRIPT = Program("a.py", ("/bin/python", "-u", "/code/a.py"), Path("/code"), takes_arguments=True)


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ({}, None),
        ({"sagemaker_mpi_enabled": "false"}, None),
        ({"sagemaker_mpi_enabled": "null"}, None),
        (MPI, Launcher("mpirun", 1)),
        ({"sagemaker_mpi_enabled": "True"}, Launcher("mpirun", 1)),
        ({"sagemaker_mpi_enabled": '"true"'}, Launcher("mpirun", 1)),
        ({**MPI, "sagemaker_mpi_num_of_processes_per_host": "4"}, Launcher("mpirun", 4)),
        ({**MPI, "sagemaker_mpi_num_of_processes_per_host": '"4"'}, Launcher("mpirun", 4)),
        (TORCHRUN, Launcher("torchrun", 8)),
        ({"sagemaker_pytorch_ddp_enabled": "true"}, Launcher("torchrun", 8)),
    ],
)
def test_the_sdks_hyperparameters_name_the_launcher_and_its_ranks(raw, found):
    assert find_launcher(raw, gpus=8) == found


def test_torchrun_starts_one_rank_without_a_gpu():
    assert find_launcher(TORCHRUN, gpus=0) == Launcher("torchrun", 1)


@pytest.mark.parametrize("name", NOT_HERE)
def test_a_launcher_that_nothing_stands_in_for_is_refused_rather_than_passed_over(name):
    with pytest.raises(InputError, match=f"{name} asks for .*, which Bandstand does not start"):
        find_launcher({name: "true"}, gpus=0)
    assert find_launcher({name: "false"}, gpus=0) is None


@pytest.mark.parametrize("count", ["0", "-1", "two", "1.5", "true", "[]", "99999"])
def test_a_number_of_ranks_that_is_none_is_told(count):
    with pytest.raises(InputError, match="expected a whole number, 1 to 1024"):
        find_launcher({**MPI, "sagemaker_mpi_num_of_processes_per_host": count}, gpus=0)


def test_a_rank_of_torchrun_finds_what_torchrun_tells():
    found = launched(Launcher("torchrun", 2), PLACE, "127.0.1.1:7777", [4000, 4001], {})
    assert found == {
        "MASTER_ADDR": "127.0.1.1",
        "MASTER_PORT": "4000",
        "RANK": "3",
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "2",
        "GROUP_RANK": "1",
        "GROUP_WORLD_SIZE": "2",
    }


def test_a_rank_of_mpirun_finds_what_open_mpi_tells():
    found = launched(Launcher("mpirun", 2), PLACE, "[fd00::1]:7777", [4000, 4001], {})
    assert found["MASTER_ADDR"] == "fd00::1"
    assert found["BANDSTAND_RING_PORT"] == "4001"
    assert {name: text for name, text in found.items() if name.startswith("OMPI")} == {
        "OMPI_COMM_WORLD_RANK": "3",
        "OMPI_COMM_WORLD_SIZE": "4",
        "OMPI_COMM_WORLD_LOCAL_RANK": "1",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    }


def test_without_a_launcher_several_ranks_find_the_master_and_one_alone_finds_nothing():
    assert set(launched(None, PLACE, "127.0.1.1:7777", [4000, 4001], {})) == {"MASTER_ADDR", "MASTER_PORT"}
    assert launched(None, Place(0, 1, 0, 1), None, [], {}) == {}


def test_a_master_of_the_users_own_counts():
    own = {"MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "23456"}
    assert launched(None, PLACE, "127.0.1.1:7777", [4000, 4001], own) == own


def test_a_launcher_on_one_rank_alone_finds_a_free_port():
    found = launched(Launcher("torchrun", 1), Place(0, 1, 0, 1), None, [], {})
    assert (found["MASTER_ADDR"], found["WORLD_SIZE"]) == ("127.0.0.1", "1")
    assert 1024 <= int(found["MASTER_PORT"]) <= 65535


def test_only_a_script_of_the_users_is_put_under_mpirun():
    mpirun = Launcher("mpirun", 2)
    assert under(mpirun, SCRIPT).command[-3:] == ("-m", "bandstand.training.under_mpirun", "/code/a.py")
    assert under(None, SCRIPT) is SCRIPT
    assert under(Launcher("torchrun", 2), SCRIPT) is SCRIPT
    built_in = Program("horovod", ("/bin/python",), None, takes_arguments=False)
    assert under(mpirun, built_in) is built_in
    with pytest.raises(InputError, match=r"the program is 'a\.sh'; expected a Python script"):
        under(mpirun, Program("a.sh", ("/bin/sh", "a.sh"), Path("/code"), takes_arguments=True))


@pytest.mark.parametrize(("asked", "ranks"), [({}, 3), ({"BANDSTAND_RANKS_PER_HOST": "2"}, 2)])
def test_a_host_has_as_many_ranks_as_its_launcher_starts_or_as_are_asked_for(tmp_path: Path, asked, ranks):
    raw = {**MPI, "sagemaker_mpi_num_of_processes_per_host": "3", "sagemaker_program": "a.py"}
    write_config(Folders(tmp_path), raw, Cluster("algo-1", ("algo-1", "algo-2")), [])
    job = read_job({"SAGEMAKER_BASE_DIR": str(tmp_path), **asked})
    assert (job.settings.ranks_per_host, job.world_size) == (ranks, 2 * ranks)


def test_a_job_for_mpirun_without_horovod_says_what_to_install(cluster):
    try:
        import horovod  # noqa: F401
    except ModuleNotFoundError:
        pass
    else:
        raise AssertionError("this environment is to have no Horovod")
    job = cluster(2, "print('never')", hyperparameters=MPI)
    assert 0 not in job.wait()
    assert (
        "Bandstand stands in for with Horovod, and horovod is not installed. Install horovod"
        in job[0].failure
    )
    assert "never" not in job.log


def test_options_of_mpirun_are_told_to_have_no_effect(cluster):
    raw = {**MPI, "sagemaker_mpi_custom_mpi_options": "-x NCCL_DEBUG=INFO"}
    job = cluster(1, "print('trained')", hyperparameters=raw)
    assert job.wait() == [0]
    assert "bandstand: without effect, since there is no mpirun here: -x NCCL_DEBUG=INFO" in job[0].err


def test_a_distribution_that_is_refused_fails_the_job_in_words(cluster):
    job = cluster(2, "print('never')", hyperparameters={"sagemaker_distributed_dataparallel_enabled": "true"})
    assert 0 not in job.wait()
    assert "SageMaker's data parallel library, which Bandstand does not start" in job[0].failure
    assert "never" not in job.log
