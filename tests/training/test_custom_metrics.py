"""A metric of the user's own over the rows of several ranks is what `xgboost.train` finds in one process."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import xgboost
from numpy.typing import NDArray

from bandstand.errors import InputError
from bandstand.training.exact import ExactMetrics
from bandstand.training.judge import CustomMetric
from bandstand.training.ring import Ring

from .ring_of_threads import Threads

RNG = np.random.default_rng(6)
FEATURES = RNG.normal(size=(500, 4)).astype(np.float32)
FEATURES = FEATURES[np.argsort(FEATURES[:, 0])]
NOISY = FEATURES[:, 0] + RNG.normal(size=500)
BINARY = (NOISY > 0.5).astype(np.float32)
CLASSES = np.digitize(NOISY, [-0.5, 0.5]).astype(np.float32)
WEIGHTS = RNG.uniform(0.2, 3, 500).astype(np.float32)
GROUPS = np.array([60, 40, 100, 150, 150], np.int64)
CUTS = (0, 100, 350, 500)
SETTINGS = {"nthread": "1", "max_depth": "3", "seed": "4"}


def mean_prediction(predictions: NDArray[np.float32], rows: Any) -> tuple[str, float]:
    """Feels any change of any prediction, and of its place."""
    order = np.arange(1, predictions.size + 1, dtype=np.float64).reshape(predictions.shape)
    return "mean_prediction", float(np.mean(predictions * order))


def of_labels_and_weights(predictions: NDArray[np.float32], rows: Any) -> list[tuple[str, float]]:
    labels, weights = rows.get_label(), rows.get_weight()
    weights = weights if len(weights) == len(labels) else np.ones(len(labels))
    guessed = predictions if predictions.ndim == 1 else predictions[:, -1]
    profit = np.sum(weights * np.where(labels > 0, 5.0, -1.0) * (guessed > 0.4), dtype=np.float64)
    return [("profit", float(profit)), ("rows", rows.num_row())]


def of_groups(predictions: NDArray[np.float32], rows: Any) -> tuple[str, float]:
    ends = rows.get_uint_info("group_ptr")
    best = [int(np.argmax(predictions[a:b])) for a, b in pairwise(ends)]
    return "best_places", float(np.dot(best, np.arange(1, len(best) + 1)))


def in_one_process(
    parameters: dict[str, str], whole: xgboost.DMatrix, rounds: int, function: CustomMetric
) -> tuple[xgboost.Booster, list[dict[str, float]]]:
    """The model, and what the function returned in each iteration, since the log of `train` cuts digits."""
    returned: list[dict[str, float]] = []

    def noted(predictions: NDArray[np.float32], rows: Any) -> Any:
        found = function(predictions, rows)
        returned.append(dict(found if isinstance(found, list) else [found]))
        return found

    booster = xgboost.train(
        parameters, whole, rounds, evals=[(whole, "v")], custom_metric=noted, verbose_eval=False
    )
    return booster, returned


def over_ranks(
    parameters: dict[str, Any],
    booster: xgboost.Booster,
    given: dict[str, Any],
    custom_metric: CustomMetric | list[CustomMetric],
) -> dict[str, float]:
    raw = booster.save_raw("ubj")

    def rank(ring: Ring) -> dict[str, float]:
        cut = slice(CUTS[ring.position], CUTS[ring.position + 1])
        ends = np.cumsum(GROUPS)
        own: dict[str, Any] = {
            name: values[(ends > cut.start) & (ends <= cut.stop)] if name == "groups" else values[cut]
            for name, values in given.items()
        }
        if parameters["objective"] == "survival:aft":
            own["bounds"] = (own["labels"], own["labels"])
        rows = own.pop("data")
        exact = ExactMetrics(ring, parameters, "v", **own, custom_metric=custom_metric)
        copy = xgboost.Booster({"nthread": "1"})
        copy.load_model(raw)
        return exact(copy, xgboost.DMatrix(rows, nthread=1))

    first, *others = Threads(3).run(rank)
    assert others == [{}, {}]
    return first


@pytest.mark.parametrize("function", [mean_prediction, of_labels_and_weights], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("objective", "labels", "more"),
    [
        ("binary:logistic", BINARY, {}),
        ("binary:logitraw", BINARY, {}),
        ("binary:hinge", BINARY, {}),
        ("binary:logistic", BINARY, {"booster": "dart", "rate_drop": "0.4"}),
        ("binary:logistic", BINARY, {"booster": "gblinear"}),
        ("multi:softprob", CLASSES, {"num_class": "3"}),
        ("multi:softmax", CLASSES, {"num_class": "3"}),
        ("count:poisson", CLASSES, {}),
        ("reg:gamma", CLASSES + 1, {}),
        ("reg:squarederror", NOISY.astype(np.float32), {}),
        ("reg:quantileerror", NOISY.astype(np.float32), {"quantile_alpha": "[0.2, 0.7]"}),
        ("survival:cox", CLASSES + 1, {}),
        ("survival:aft", CLASSES + 1, {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "".join(value) if isinstance(value, dict) else "",
)
def test_values_are_those_of_one_process(
    objective: str, labels: NDArray[np.float32], more: dict[str, str], function: CustomMetric
) -> None:
    parameters = {**SETTINGS, "objective": objective, **more}
    if more.get("booster") == "gblinear":
        del parameters["max_depth"]
    given: dict[str, Any] = {"data": FEATURES, "labels": labels, "weights": WEIGHTS}
    about: dict[str, Any] = {"weight": WEIGHTS}
    if objective == "survival:aft":
        about |= {"label_lower_bound": labels, "label_upper_bound": labels}
    whole = xgboost.DMatrix(FEATURES, labels, nthread=1, **about)
    booster, returned = in_one_process(parameters, whole, 4, function)
    found = over_ranks(parameters, booster, given, function)
    for name, value in returned[-1].items():
        assert found[f"v:{name}"] == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert list(found)[-len(returned[-1]) :] == [f"v:{name}" for name in returned[-1]]


def test_a_function_sees_the_query_groups_of_all_ranks() -> None:
    parameters = {**SETTINGS, "objective": "rank:ndcg"}
    whole = xgboost.DMatrix(FEATURES, CLASSES, group=GROUPS, nthread=1)
    booster, returned = in_one_process(parameters, whole, 3, of_groups)
    given = {"data": FEATURES, "labels": CLASSES, "groups": GROUPS}
    assert over_ranks(parameters, booster, given, of_groups)["v:best_places"] == returned[-1]["best_places"]


def only(functions: CustomMetric | list[CustomMetric]) -> dict[str, float]:
    parameters = {**SETTINGS, "objective": "binary:logistic", "eval_metric": "auc"}
    booster = xgboost.train(parameters, xgboost.DMatrix(FEATURES, BINARY, nthread=1), 2)
    return over_ranks(parameters, booster, {"data": FEATURES, "labels": BINARY}, functions)


def test_several_functions_come_after_xgboosts_own_metrics_and_none_sees_what_another_changed() -> None:
    def vandal(predictions: NDArray[np.float32], rows: Any) -> tuple[str, float]:
        predictions[:] = 0
        return "vandal", 1

    found = only([vandal, mean_prediction, of_labels_and_weights])
    assert list(found) == ["v:auc", "v:vandal", "v:mean_prediction", "v:profit", "v:rows"]
    assert found["v:mean_prediction"] == only(mean_prediction)["v:mean_prediction"] > 1
    assert found["v:rows"] == 500


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            0.5,
            r"metric wrong \(.*test_custom_metrics.py, line \d+\) returned '0.5' \(float\); expected a name",
        ),
        (None, r"returned 'None' \(NoneType\); expected a name and a value"),
        (("gain", 1, 2), r"returned .* \(tuple\); expected a name and a value"),
        ((1.0, "gain"), r"returned .* \(tuple\); expected a name and a value"),
        ([("gain", 1), 2.0], r"returned .* \(list\); expected a name and a value"),
        (("gain", np.zeros(3)), r"\(ndarray of shape \(3,\)\) as the value of 'gain'; expected one number"),
        (("gain", "high"), r"returned 'high' \(str\) as the value of 'gain'; expected one number"),
        (("auc", 0.5), "returned 'auc', which is there already. Give it a name of its own"),
        ([("a", 1), ("a", 2)], "returned 'a', which is there already"),
    ],
    ids=str,
)
def test_what_is_no_name_and_number_is_refused(returned: Any, message: str) -> None:
    def wrong(predictions: NDArray[np.float32], rows: Any) -> Any:
        return returned

    with pytest.raises(InputError, match=message):
        only(wrong)


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.array(0.5), np.array([0.5]), True, 2, np.int8(3)], ids=repr
)
def test_any_single_number_will_do(value: Any) -> None:
    assert only(lambda predictions, rows: ("gain", value))["v:gain"] == float(np.asarray(value).item())


def test_an_exception_of_the_function_reaches_the_caller_with_its_own_traceback() -> None:
    def broken(predictions: NDArray[np.float32], rows: Any) -> tuple[str, float]:
        return "broken", 1 // int(rows.num_row() - len(predictions))

    with pytest.raises(ZeroDivisionError) as raised:
        only(broken)
    assert raised.traceback[-1].name == "broken"


def test_a_value_that_is_not_finite_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert np.isnan(only(lambda predictions, rows: ("gain", float("nan")))["v:gain"])
    assert capsys.readouterr().err.count("warning: v:gain is nan") == 1
