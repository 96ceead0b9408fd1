"""What cannot be trained with is refused on all ranks, in one message; what is only odd trains."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from .conftest import SETTINGS, as_files, difference, images, train, weights

RANKS = {"environment": {"BANDSTAND_RANKS_PER_HOST": "2"}}
LABELS, IMAGES = "some-labels-idx1-ubyte", "some-images-idx3-ubyte.gz"


def refusal(jobs, channels, *, content_type=None, **settings) -> str:
    """Why a job of two hosts with two ranks each has failed."""
    job = jobs.start({**SETTINGS, **settings}, 2, replicated=channels, content_type=content_type, **RANKS)
    codes = job.wait()
    assert 0 not in codes, job.log
    assert "Traceback" not in job.log
    assert job.reports == []
    reasons = {host.failure for host in job.hosts}
    assert len(reasons) == 1, job.log
    return reasons.pop()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"epochs": 0}, ["epochs", "'0'", "1 or more"]),
        ({"learning_rate": "nan"}, ["learning_rate", "'nan'"]),
        ({"learning_rate": "inf"}, ["learning_rate", "'inf'"]),
        ({"learning_rate": 0, "momentum": 1.5}, ["learning_rate", "momentum", "1.5"]),
        ({"batch_size": 0}, ["batch_size", "'0'"]),
        ({"hidden": "16,0"}, ["hidden", "0"]),
        ({"hidden": "wide"}, ["hidden", "wide"]),
        ({"optimizer": "sdg"}, ["optimizer", "sdg", "sgd"]),
        ({"learning_rat": 1}, ["learning_rat", "learning_rate"]),
        ({"per_rank_batch_size": 8}, ["batch_size", "per_rank_batch_size", "Keep one"]),
        ({"lr_scaling": "linear", "warmup_epochs": 1}, ["lr_scaling", "per_rank_batch_size"]),
        ({"ring": "mpi"}, ["ring", "mpi", "horovod"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_hyperparameters_out_of_range_are_refused_on_every_rank_with_one_reason(
    jobs, channels, settings, told
):
    reason = refusal(jobs, channels, **settings)
    assert [word for word in told if word not in reason] == []


def changed(files, name, content):
    """A channel with another content of one file, or without it."""
    kept = {key: value for key, value in files.items() if key != name}
    return kept if content is None else {**kept, name: content}


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        (LABELS, lambda _: None, "some-images-idx3-ubyte.gz: images and labels come in pairs"),
        (IMAGES, lambda _: None, "some-labels-idx1-ubyte: images and labels come in pairs"),
        (
            LABELS,
            lambda old: old[:-7],
            "labels-idx1-ubyte says 320 bytes and holds 313: it is cut short",
        ),
        (LABELS, lambda old: b"", "some-labels-idx1-ubyte begins with nothing; expected 00000801"),
        (IMAGES, lambda old: old[:2000], "some-images-idx3-ubyte.gz cannot be unpacked"),
        (IMAGES, lambda old: b"\0" * 99, "some-images-idx3-ubyte.gz cannot be unpacked"),
        (IMAGES, lambda old: gzip.compress(gzip.decompress(old)[:-36]), "it is cut short"),
    ],
)
def test_idx_files_that_are_missing_or_damaged_are_refused(jobs, channels, name, change, told):
    train_channel = channels["train"]
    broken = changed(train_channel, name, change(train_channel[name]))
    reason = refusal(jobs, {**channels, "train": broken})
    assert told in reason
    assert "channel train" in reason


@pytest.mark.parametrize(
    ("rows", "content_type", "told"),
    [
        (b"-1,0.5\n1,0.25\n", "text/csv", "label -1; expected classes: whole numbers from 0"),
        (b"0.5,1\n1,0.25\n", "text/csv", "label 0.5; expected classes"),
        (b"10000,1\n1,0.25\n", "text/csv", "label 10000; expected classes"),
        (b"0,\n1,0.25\n", "text/csv", "features that are missing"),
        (b"3,1\n3,0.25\n", "text/csv", "All rows of channel train have the label 3"),
        (b"0,1\n1,0.25\n", "application/x-parquet", "rows.csv"),
        (b"0,1\n1,0.25\n", "image/png", "image/png"),
        (b"", "text/csv", "no rows"),
    ],
    ids=["negative", "half", "large", "missing", "one class", "no parquet", "png", "empty"],
)
def test_rows_that_are_no_labelled_ones_are_refused(jobs, rows, content_type, told):
    assert told in refusal(jobs, {"train": {"rows.csv": rows}}, content_type=content_type)


def test_a_job_without_rows_to_train_on_is_refused(jobs, channels):
    assert "train" in refusal(jobs, {"validation": channels["validation"]})
    assert "train" in refusal(jobs, {"train": {}, "validation": channels["validation"]})


def test_images_of_another_size_to_validate_on_are_refused(jobs, channels, tmp_path):
    pixels, labels = images(20)
    smaller = as_files(pixels[:, :5], labels, tmp_path / "smaller")
    reason = refusal(jobs, {**channels, "validation": smaller})
    assert "differ in their number of features: train 36, validation 30" in reason


@pytest.mark.parametrize("batch", [1, 3, 320, 100_000])
def test_batches_smaller_than_the_ranks_or_greater_than_the_rows_train_as_on_one_rank(jobs, channels, batch):
    alone = train(jobs, channels, batch_size=batch, epochs=1)
    together = train(jobs, channels, hosts=2, ranks=2, batch_size=batch, epochs=1)
    assert difference(alone, together) < 1e-5
    assert together.reports[-1] == pytest.approx(alone.reports[-1], rel=1e-4)


def test_a_training_that_diverges_reports_every_epoch_and_ends(jobs, channels):
    job = train(jobs, channels, hosts=2, learning_rate=1e30, epochs=3)
    assert len(re.findall(r"^iteration=", job.leader.out, re.M)) == 3
    assert "nonfinite=1" in job.leader.out
    assert not all(np.isfinite(each).all() for each in weights(job))


def test_labels_that_only_validation_has_are_told(jobs, channels, tmp_path):
    pixels, labels = images(20)
    labels[3] = 200
    job = train(jobs, {**channels, "validation": as_files(pixels, labels, tmp_path / "more")}, hosts=2)
    assert "channel validation has labels that train has not, and no model can learn: 200." in job.leader.err


def test_files_beside_idx_files_are_told_to_be_left_out(jobs, channels):
    job = train(jobs, {**channels, "train": {**channels["train"], "rows.csv": b"1,2\n"}}, hosts=2)
    assert job.log.count("channel train holds idx files; its other files are left out: rows.csv.") == 2
