"""A job that goes on from its checkpoint: the model of an undisturbed one, or the log says that it is not."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost
from numpy.typing import NDArray

from bandstand_container.xgboost_resuming import not_repeated

Rows = NDArray[np.float32]
BINARY = {"objective": "binary:logistic"}
SETTINGS = {**BINARY, "num_round": 12, "eval_metric": "auc", "max_depth": 3, "checkpoint_iterations": 1}
DART = {**BINARY, "booster": "dart"}
LINEAR = {**BINARY, "booster": "gblinear"}
SELECT = {**LINEAR, "updater": "coord_descent"}
SEEDED = {"seed_per_iteration": 1}
HALF = {"subsample": 0.5}

REPEATED: dict[str, dict[str, object]] = {
    "hist": BINARY,
    "hist with 16 bins": {**BINARY, "max_bin": 16},
    "approx": {**BINARY, "tree_method": "approx"},
    "exact": {**BINARY, "tree_method": "exact"},
    "lossguide": {**BINARY, "grow_policy": "lossguide", "max_leaves": 9},
    "several trees": {**BINARY, "num_parallel_tree": 3},
    "estimated base score": {"objective": "reg:squarederror"},
    "adaptive leaves": {"objective": "reg:absoluteerror"},
    "multi:softprob": {"objective": "multi:softprob", "num_class": 3},
    "softprob, several trees": {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2},
    "one tree for all classes": {
        "objective": "multi:softprob",
        "num_class": 3,
        "multi_strategy": "multi_output_tree",
    },
    "constraints": {
        **BINARY,
        "monotone_constraints": "(1,0,0,0,0,0)",
        "interaction_constraints": "[[0,1],[2,3]]",
    },
    "dart that drops nothing": DART,
    "dart that only may skip": {**DART, "skip_drop": 0.5},
    "seeded dart": {**DART, **SEEDED, "rate_drop": 0.3},
    "seeded exact with samples": {
        **BINARY,
        **SEEDED,
        **HALF,
        "tree_method": "exact",
        "colsample_bylevel": 0.5,
    },
    "gblinear": SELECT,
    "gblinear, one thread of shotgun": LINEAR,
    "gblinear, greedy": {**SELECT, "feature_selector": "greedy", "top_k": 2},
    "gblinear, seeded and random": {**SELECT, **SEEDED, "feature_selector": "random"},
    "rank:ndcg": {"objective": "rank:ndcg"},
    "rank:ndcg, random pairs": {
        "objective": "rank:ndcg",
        "lambdarank_pair_method": "mean",
        "lambdarank_num_pair_per_sample": 2,
    },
}

NOT_REPEATED: dict[str, dict[str, object]] = {
    "subsample=0.5": {**BINARY, **HALF},
    "colsample_bytree=0.5": {**BINARY, "colsample_bytree": 0.5},
    "colsample_bylevel=0.5": {**BINARY, "colsample_bylevel": 0.5},
    "colsample_bynode=0.5": {**BINARY, "colsample_bynode": 0.5, "tree_method": "approx"},
    "subsample=0.5, colsample_bytree=0.5": {**BINARY, **HALF, **SEEDED, "colsample_bytree": 0.5},
    "rate_drop=0.3": {**DART, "rate_drop": 0.3},
    "one_drop=1": {**DART, "one_drop": 1},
    "feature_selector=random": {**SELECT, "feature_selector": "random"},
    "feature_selector=shuffle": {**SELECT, **SEEDED, "feature_selector": "shuffle"},
}


def matrix_for(objective: object) -> xgboost.DMatrix:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(600, 6)).astype(np.float32)
    features[rng.random(features.shape) < 0.05] = np.nan
    labels = np.nan_to_num(features[:, 0] + features[:, 1] ** 2 + rng.normal(size=600))
    if str(objective).startswith(("multi:", "rank:")):
        labels = np.digitize(labels, [0.5, 1.5])
    elif str(objective).startswith("binary:"):
        labels = labels > 1
    group = [60] * 10 if str(objective).startswith("rank:") else None
    return xgboost.DMatrix(features, labels, group=group, nthread=1)


def trained(
    parameters: dict[str, object], start: int, end: int, model: bytes | None = None
) -> xgboost.Booster:
    matrix = matrix_for(parameters["objective"])
    model_file = None if model is None else bytearray(model)
    booster = xgboost.Booster({"nthread": 1, **parameters}, [matrix], model_file=model_file)
    for iteration in range(start, end):
        booster.update(matrix, iteration)
    return booster


def models(parameters: dict[str, object]) -> tuple[bytes, set[bytes], list[str]]:
    """The undisturbed model, those that went on from a checkpoint, and what the log would name."""
    whole = trained(parameters, 0, 9)
    resumed = set()
    for done in (1, 2, 5):
        begun = bytes(trained(parameters, 0, done).save_raw("ubj"))
        resumed.add(bytes(trained(parameters, done, 9, begun).save_raw("ubj")))
    return bytes(whole.save_raw("ubj")), resumed, not_repeated(whole)


@pytest.mark.parametrize("parameters", REPEATED.values(), ids=list(REPEATED))
def test_without_random_state_the_model_is_that_of_an_undisturbed_job(parameters: dict[str, object]) -> None:
    whole, resumed, named = models(parameters)
    assert resumed == {whole}
    assert named == []


@pytest.mark.parametrize(("names", "parameters"), NOT_REPEATED.items(), ids=list(NOT_REPEATED))
def test_what_is_not_repeated_is_named(names: str, parameters: dict[str, object]) -> None:
    whole, resumed, named = models(parameters)
    assert resumed - {whole}
    assert ", ".join(named) == names


def test_what_no_two_runs_have_in_common_is_named() -> None:
    assert not_repeated(trained({**LINEAR, "nthread": 2}, 0, 1)) == ["updater=shotgun", "nthread=2"]


@pytest.fixture
def channels(campaign: Rows, to_csv: Callable[[Rows], bytes]) -> dict[str, dict[str, bytes]]:
    rows = campaign[:, :8]
    return {"train": {"a.csv": to_csv(rows[::4])}, "validation": {"v.csv": to_csv(rows[1::4])}}


def kill_all(job: Any) -> None:
    """Kill every process of a job, as a machine that breaks does."""
    for host in job.hosts:
        host.process.kill()
    for host in job.hosts:
        for process in re.findall(r"runs as process (\d+)", host.err):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
    job.wait()


def lines(job: Any) -> dict[int, str]:
    """The metric lines by iteration, of a job that may have gone on from a checkpoint."""
    found = re.findall(r"^iteration=(\d+) (.+)$", job.leader.out, re.MULTILINE)
    numbers = [int(number) for number, _ in found]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True, job.log
    return {int(number): text for number, text in found}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"tree_method": "approx", "num_parallel_tree": 2},
        {"objective": "multi:softprob", "num_class": 2, "eval_metric": "mlogloss"},
        {"booster": "dart", "rate_drop": 0.3, "seed_per_iteration": 1},
    ],
    ids=["hist", "approx with several trees", "softprob", "seeded dart"],
)
def test_a_killed_job_ends_with_the_model_and_metrics_of_an_undisturbed_one(
    jobs: Any, channels: dict[str, dict[str, bytes]], tmp_path: Path, more: dict[str, object]
) -> None:
    settings = {**SETTINGS, **more}
    first = jobs.start(
        {**settings, "num_round": 100_000}, 2, replicated=channels, checkpoints=tmp_path / "kept"
    )
    first.leader.stdout.wait_for("iteration=5 ")
    kill_all(first)
    total = max(lines(first)) + 3
    second = jobs.run({**settings, "num_round": total}, 2, replicated=channels, checkpoints=tmp_path / "kept")
    whole = jobs.run({**settings, "num_round": total}, 2, replicated=channels)
    assert second.leader.model.read_bytes() == whole.leader.model.read_bytes()
    assert min(lines(second)) >= 5
    assert {**lines(first), **lines(second)} == lines(whole)
    assert f"goes on after iteration {min(lines(second)) - 1}, " in second.leader.err
    assert "resumed with" not in second.log


def test_a_resumed_job_with_samples_says_that_its_model_is_another(
    jobs: Any, channels: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    settings = {**SETTINGS, "subsample": 0.5, "booster": "dart", "one_drop": "true"}
    more: dict[str, Any] = {"replicated": channels, "checkpoints": tmp_path / "kept"}
    jobs.run({**settings, "num_round": 3}, 2, **more)
    second = jobs.run({**settings, "num_round": 5}, 2, **more)
    assert list(lines(second)) == [4, 5]
    assert second.log.count("resumed with subsample=0.5, one_drop=1: the model will not be that of an") == 1


def test_a_job_that_is_done_or_has_given_up_trains_no_more_and_leaves_its_model(
    jobs: Any, channels: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    for name, settings, why in (
        ("done", {**SETTINGS, "checkpoint_iterations": 100}, "12 iterations are done, 12 are asked for"),
        (
            "given-up",
            {
                **SETTINGS,
                "num_round": 5000,
                "early_stopping_rounds": 2,
                "eta": 0.9,
                "checkpoint_iterations": 5000,
            },
            "training had ended",
        ),
    ):
        more: dict[str, Any] = {"replicated": channels, "checkpoints": tmp_path / name}
        first = jobs.run(settings, 2, **more)
        second = jobs.run(settings, 2, **more)
        assert lines(second) == {}
        assert why in second.leader.err
        assert second.leader.model.read_bytes() == first.leader.model.read_bytes()


def test_patience_survives_a_restart(
    jobs: Any, channels: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    settings = {**SETTINGS, "num_round": 5000, "early_stopping_rounds": 4, "eta": 0.9}
    whole = jobs.run(settings, 2, replicated=channels)
    end = max(lines(whole))
    more: dict[str, Any] = {"replicated": channels, "checkpoints": tmp_path / "kept"}
    jobs.run({**settings, "num_round": end - 2}, 2, **more)
    second = jobs.run(settings, 2, **more)
    assert list(lines(second)) == [end - 1, end]
    assert second.leader.model.read_bytes() == whole.leader.model.read_bytes()


def test_hosts_without_rows_and_another_number_of_hosts_go_on(
    jobs: Any, campaign: Rows, to_csv: Callable[[Rows], bytes], tmp_path: Path
) -> None:
    one, two = {"a.csv": to_csv(campaign[:900])}, {"b.csv": to_csv(campaign[900:])}
    done = 0
    for shares in ([one, {}, two], [{}, one, two], [one, two], [{**one, **two}], [one, {}, {}, two]):
        job = jobs.run(
            {**SETTINGS, "num_round": done + 2},
            len(shares),
            sharded={"train": shares},
            checkpoints=tmp_path / "kept",
        )
        assert list(lines(job)) == [done + 1, done + 2]
        assert ("goes on after iteration" in job.leader.err) == (done > 0)
        done += 2


def test_a_checkpoint_that_is_damaged_or_foreign_is_passed_over_or_refused(
    jobs: Any, channels: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    more: dict[str, Any] = {"replicated": channels, "checkpoints": tmp_path / "kept"}
    jobs.run({**SETTINGS, "num_round": 4}, 2, **more)
    folder = tmp_path / "kept" / "algo-1" / "a-job"
    newest = folder / "iteration-00000004.algo-1.ubj"
    newest.write_bytes(newest.read_bytes()[:-1])
    second = jobs.run({**SETTINGS, "num_round": 5}, 2, **more)
    assert list(lines(second)) == [4, 5]
    assert "cut short or damaged" in second.leader.err
    for content, why in (
        (b"no model", "failed: "),
        ((folder / "iteration-00000004.algo-1.ubj").read_bytes(), "holds a model of 4 iterations"),
    ):
        forge(folder, 5, content)
        reason = jobs.fail({**SETTINGS, "num_round": 9}, 2, **more)
        assert why in reason


def forge(folder: Path, iteration: int, content: bytes) -> None:
    from bandstand.training.checkpoints import Checkpoints

    Checkpoints(folder, "a-job", "algo-1").write(
        iteration, lambda path: path.write_bytes(content), suffix=".ubj", shared=True
    )
