"""Several ranks train the model that one rank trains, however the rows are spread."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import SETTINGS, as_files, difference, images, train, weights

RINGS = ["horovod", "torch"]


@pytest.mark.parametrize("ring", RINGS)
def test_four_ranks_with_a_quarter_of_each_batch_end_with_the_weights_of_one(jobs, channels, ring):
    alone = train(jobs, channels, hidden="16,8")
    together = train(jobs, channels, hosts=2, ranks=2, ring=ring, hidden="16,8")
    assert f"summed around {ring}'s ring: 4 ranks on 2 hosts, 2 each" in together.leader.err
    assert difference(alone, together) < 1e-5
    for one, other in zip(alone.reports, together.reports, strict=True):
        assert one == pytest.approx(other, rel=1e-5)
        assert one["validation:accuracy"] == other["validation:accuracy"]


@pytest.mark.parametrize("ring", RINGS)
def test_rows_that_are_spread_unevenly_are_all_trained_on_and_averaged_rightly(jobs, tmp_path, ring):
    pixels, labels = images(177)
    alone = train(jobs, {"train": as_files(pixels, labels, tmp_path / "all")})
    edges = np.cumsum([101, 75, 1, 0])[:-1]
    parts = zip(np.split(pixels, edges), np.split(labels, edges), strict=True)
    shares = [as_files(*part, tmp_path / f"part-{place}") for place, part in enumerate(parts)]
    job = jobs.run({**SETTINGS, "ring": ring}, 4, sharded={"train": shares}, content_type=None)
    assert (
        "177 images in all of 36 pixels (sharded by key, algo-1: 101, algo-2: 75, algo-3: 1, algo-4: 0)"
        in (job.leader.err)
    )
    assert difference(alone, job) < 1e-5
    assert job.reports[-1] == pytest.approx(alone.reports[-1], rel=1e-6)


@pytest.mark.parametrize("ring", RINGS)
def test_hosts_with_two_ranks_and_a_single_row_on_one_of_them_train_as_one_rank(jobs, tmp_path, ring, to_csv):
    pixels, labels = images(177)
    rows = np.column_stack([labels, pixels.reshape(177, -1) / 255]).astype(np.float32)
    alone = jobs.run(SETTINGS, 1, replicated={"train": {"all.csv": to_csv(rows)}})
    shares = [{"a.csv": to_csv(rows[:176])}, {"b.csv": to_csv(rows[176:])}]
    job = jobs.run(
        {**SETTINGS, "ring": ring},
        2,
        sharded={"train": shares},
        environment={"BANDSTAND_RANKS_PER_HOST": "2"},
    )
    assert "4 ranks on 2 hosts, 2 each" in job.leader.err
    assert difference(alone, job) < 1e-5
    assert job.reports[-1] == pytest.approx(alone.reports[-1], rel=1e-6)


def test_momentum_dropout_warm_up_and_half_precision_train_as_well(jobs, channels):
    settings = {
        "dropout": 0.2,
        "momentum": 0.9,
        "weight_decay": 1e-4,
        "batch_size": "null",
        "per_rank_batch_size": 16,
        "lr_scaling": "linear",
        "warmup_epochs": 1,
        "learning_rate": 0.1,
        "compression": "fp16",
        "epochs": 4,
    }
    job = train(jobs, channels, ranks=2, **settings)
    again = train(jobs, channels, ranks=2, **settings)
    assert job.reports[-1]["validation:accuracy"] > 0.9
    assert job.reports == again.reports
    assert all((one == other).all() for one, other in zip(weights(job), weights(again), strict=True))


def test_csv_is_trained_on_like_the_same_images(jobs, channels, tmp_path, to_csv):
    pixels, labels = images(320)
    rows = np.column_stack([labels, pixels.reshape(320, -1) / 255]).astype(np.float32)
    whole = jobs.run(
        {**SETTINGS, "learning_rate": 0.2},
        2,
        replicated={"train": {"rows.csv": to_csv(rows)}},
        content_type="text/csv",
    )
    alone = train(jobs, {"train": channels["train"]}, learning_rate=0.2)
    assert difference(whole, alone) < 1e-4
