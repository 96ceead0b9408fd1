"""What cannot be trained on is refused before training, on all hosts, with everything that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
BINARY = {"num_round": 5, "objective": "binary:logistic"}


def test_faults_of_data_are_told_with_host_file_and_line(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    rows = to_csv(campaign[:60, :5])
    job_reason = jobs.fail(
        BINARY,
        sharded={
            "train": [
                {"a.csv": b"y,age,calls,before,rate\n" + rows},
                {"b.csv": rows + b"nan,1,2,3,4\n1,2,3\n" + rows},
                {"c.csv": to_csv(campaign[:60, :4])},
            ],
            "validation": [None, None, {"v.csv": rows + b"1,2,3,x,4\n"}],
        },
    )
    for words in (
        "algo-1: ",
        "train/a.csv, line 1: it is a header line (y, age, calls, before, ...)",
        "algo-2: ",
        "train/b.csv, line 61: the label (column 1) is nan",
        "train/b.csv, line 62: it has 3 columns; expected 5",
    ):
        assert words in job_reason
    log = " ".join(host.err for host in jobs.last.hosts)
    assert "train/c.csv, line 1: its rows have 4 columns, but those of" in log
    assert "validation/v.csv, line 61: column 4 holds 'x', which is no number" in log


def test_wrong_hyperparameters_are_refused_all_at_once_with_the_nearest_names(jobs: Any) -> None:
    reason = jobs.fail(
        {
            "num_rounds": 10,
            "objective": "binary:logistik",
            "max_dept": 3,
            "eta": -1,
            "colsample_bytree": 1.5,
            "eval_metric": "auc,acuracy",
            "tree_method": "exact",
        },
        replicated={"train": {"a.csv": b"1,2\n0,3\n"}},
    )
    for words in (
        "There is no hyperparameter 'num_rounds'. Did you mean 'num_round'?",
        "There is no hyperparameter 'max_dept'. Did you mean 'max_depth'?",
        "Hyperparameter 'eta' is '-1'; expected a number from 0 to 1.",
        "Hyperparameter 'colsample_bytree' is '1.5'; expected a number above 0, up to 1.",
        "eval_metric acuracy: Unknown metric function acuracy",
        "Did you mean 'binary:logistic'?",
        "tree_method is 'exact', which cannot train on rows that are split over 3 ranks",
    ):
        assert words in reason


def test_labels_that_the_objective_refuses_are_told_by_the_host_that_has_them(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    rows = to_csv(campaign[:60, :5])
    reason = jobs.fail(
        {"num_round": 5, "objective": "multi:softprob", "num_class": 2},
        sharded={"train": [{"a.csv": rows}, {"b.csv": rows + b"\n2,1,1,1,1\n"}, {"c.csv": rows}]},
    )
    assert reason.startswith("algo-2: ")
    assert "b.csv, line 62: the label is 2, which multi:softprob refuses: " in reason
    assert "label must be discrete values in the range of [0, num_class)" in reason


def test_labels_of_the_validation_channel_are_judged_as_well(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    rows = to_csv(campaign[:40, :5])
    channels = {"train": {"a.csv": rows}, "validation": {"b.csv": rows + b"-1,1,1,1,1\n"}}
    reason = jobs.fail(BINARY, 2, replicated=channels)
    assert reason.startswith("algo-2: ")
    assert "b.csv, line 41: the label is -1, which binary:logistic refuses: label must be in" in reason


def test_a_job_without_training_rows_or_without_the_tuned_channel_says_so(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes]
) -> None:
    reason = jobs.fail(BINARY, 2, sharded={"train": [{}, {"_SUCCESS": b""}]})
    assert "channel 'train' has no rows: algo-1 has 0 files of 0 bytes" in reason
    assert "skipped _SUCCESS" in reason
    reason = jobs.fail(
        {**BINARY, "_tuning_objective_metric": "validation:auc"},
        1,
        replicated={"train": {"a.csv": to_csv(campaign[:50])}},
    )
    assert "the job has no rows in a channel 'validation'" in reason


def test_replicated_channels_with_other_files_on_some_host_are_refused(jobs: Any, tmp_path: Any) -> None:
    files = [{"a.csv": b"1,2\n"}, {"b.csv": b"1,2\n0,1\n"}]
    reason = jobs.fail(BINARY, 2, sharded={"train": files}, declared="FullyReplicated")
    assert "channel 'train' is replicated, but algo-1 has 1 files of 4 bytes and algo-2 has 1 of 8" in reason
