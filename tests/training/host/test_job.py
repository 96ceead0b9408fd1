"""How many ranks a host starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bandstand.sagemaker_files import Cluster, Folders, write_config
from bandstand.training.host.job import read_job


@pytest.mark.parametrize(
    ("hyperparameters", "environment", "ranks"),
    [
        ({"algorithm": "horovod"}, {"CUDA_VISIBLE_DEVICES": "0,3,5"}, 3),
        ({"algorithm": "horovod"}, {"CUDA_VISIBLE_DEVICES": ""}, 1),
        ({"algorithm": "horovod"}, {"CUDA_VISIBLE_DEVICES": "0,1", "BANDSTAND_RANKS_PER_HOST": "4"}, 4),
        ({"algorithm": "xgboost"}, {"CUDA_VISIBLE_DEVICES": "0,1"}, 1),
        ({"sagemaker_program": "a.py", "algorithm": "horovod"}, {"CUDA_VISIBLE_DEVICES": "0,1"}, 1),
    ],
)
def test_the_built_in_horovod_has_a_rank_for_each_gpu_else_one_else_as_asked(
    tmp_path: Path, hyperparameters: Mapping[str, str], environment: Mapping[str, str], ranks: int
):
    write_config(Folders(tmp_path), hyperparameters, Cluster("algo-1", ("algo-1",)), [])
    job = read_job({"SAGEMAKER_BASE_DIR": str(tmp_path), **environment})
    assert (job.settings.ranks_per_host, job.world_size) == (ranks, ranks)
