"""The metric line: how a training job tells its metrics, and the patterns that read them back."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import SupportsFloat, SupportsIndex

from bandstand.errors import InputError, JobError

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""Pattern of a finite decimal number: sign, leading or trailing dot and exponent included."""

RESERVED_NAMES = frozenset({"iteration", "nonfinite"})
MOST_ITERATIONS = 999_999_999
"""The largest number of an iteration that a metric line is read with."""

MAX_NAME = 255
MAX_PATTERN = 500
LARGEST = 3.4028235e38
"""Largest finite float32, in shortest form: AMT keeps metric values in single precision."""

_NO_GOALS: Mapping[str, str] = MappingProxyType({})
_METRICS = {
    "maximize": """ acc accuracy auc aucpr auprc auroc average_precision balanced_accuracy bleu dice f1
        f1_binary f1_macro f1_micro f1_score f1_weighted hit_rate interval_regression_accuracy iou kappa map
        map50 mcc mean_iou ndcg ndcg_score pearson pr_auc pre precision psnr r2 r2_score recall reward roc_auc
        roc_auc_score rouge1 rouge2 rougel score sensitivity spearman specificity ssim top1_acc top1_accuracy
        top5_acc top5_accuracy tpr
    """,
    "minimize": """ aft_nloglik bce brier_score cer cox_nloglik cross_entropy crossentropy deviance eer error
        error_rate expectile fid fnr fpr gamma_deviance gamma_nloglik hinge_loss kl_divergence log_loss
        logloss loss mae mape max_error mean_absolute_error mean_squared_error merror mlogloss mphe mse msle
        nll nloglik perplexity poisson_nloglik ppl quantile regret rmse rmsle root_mean_squared_error smape
        tweedie_nloglik wer
    """,
}
_GOALS = {metric: goal for goal, metrics in _METRICS.items() for metric in metrics.split()}
_CHANNEL_PREFIXES = tuple(
    f"{channel}_"
    for channel in ("train", "training", "val", "valid", "validation", "test", "eval", "dev", "holdout")
)
_META = re.compile(r"[.^$*+?{}\[\]\\|()]")


def known_goal(name: str) -> str | None:
    """The direction in which a metric improves, as far as its name tells.

    The metric is what follows the last `:` or `/` and stands before an `@`: `validation:ndcg@10` is `ndcg`,
    as XGBoost's `ndcg-` is, and `val_loss` is `loss`. The names are those of XGBoost's `eval_metric` and the
    usual ones of scikit-learn, Keras and PyTorch.

    Args:
        name: A metric's name.

    Returns:
        `"maximize"`, `"minimize"`, or None when the name does not tell.
    """
    metric = re.split(r"[:/]", name.lower())[-1].partition("@")[0].rstrip("-").replace("-", "_")
    while True:
        if metric in _GOALS:
            return _GOALS[metric]
        prefix = next((prefix for prefix in _CHANNEL_PREFIXES if metric.startswith(prefix)), None)
        if prefix is None:
            return None
        metric = metric.removeprefix(prefix)


def name_problem(name: str) -> str | None:
    """Why a text cannot be a metric's name in a metric line, or None if it can.

    Args:
        name: The name as it would stand before the `=`.
    """
    if not isinstance(name, str):
        return "it is no text"
    if not 1 <= len(name) <= MAX_NAME:
        return f"it has {len(name)} characters; 1 to {MAX_NAME} are allowed"
    if name in RESERVED_NAMES:
        return f"{name!r} is reserved in the metric line"
    if "=" in name or any(letter.isspace() or not letter.isprintable() for letter in name):
        return "white space, '=' and unprintable characters are not allowed"
    return None


def _shortly(found: object) -> str:
    try:
        return repr(found[:MAX_NAME] if isinstance(found, str) else found)[: MAX_NAME + 2]
    except ValueError:  # Python writes no whole number of thousands of digits
        return f"one of {type(found).__name__} that is too long to show"


def format_line(iteration: int, values: Mapping[str, float], goals: Mapping[str, str] = _NO_GOALS) -> str:
    """One iteration's metrics as one line, for one write by the job's one writer.

    Numbers are in shortest round-trip form, so the double that comes out of the log is the one that went in.
    A value that is not finite is replaced by the worst finite float32 for its metric's goal, and the line
    ends with ` nonfinite=1`, so that the iteration counts and the job can be stopped. A finite value beyond
    float32 becomes the nearest float32: the order of values is kept.

    Args:
        iteration: Number of the iteration, from 1.
        values: Metric name to value; the order is kept.
        goals: Metric name to `"maximize"` or `"minimize"`, for names whose goal `known_goal` cannot tell.

    Returns:
        The line, with no line break: `iteration=12 train:auc=0.8132 validation:auc=0.77`.

    Raises:
        JobError: For an iteration that is no whole number from 1 to `MOST_ITERATIONS`, no values, a name
            that a metric line cannot hold, a value that is no number, or a value that is not finite where
            the goal is unknown.
    """
    try:
        number = 0 if isinstance(iteration, bool) else operator.index(iteration)
    except TypeError:
        number = 0
    if not 1 <= number <= MOST_ITERATIONS:
        raise JobError(
            f"An iteration is a whole number from 1 to {MOST_ITERATIONS}; found {_shortly(iteration)}."
        )
    if not isinstance(values, Mapping):
        raise JobError(
            f"Iteration {number} reports {_shortly(values)}; give metrics by name, such as "
            '{"validation:loss": 0.5}.'
        )
    if not values:
        raise JobError(f"Iteration {number} reports no metric; give at least one name and value.")
    parts = [f"iteration={number}"]
    nonfinite = False
    for name, given in values.items():
        problem = name_problem(name)
        if problem:
            raise JobError(f"{_shortly(name)} cannot be the name of a metric: {problem}.")
        value = _as_float(name, given, number)
        if not math.isfinite(value):
            nonfinite = True
            value = _worst(name, value, goals, number)
        parts.append(f"{name}={min(max(value, -LARGEST), LARGEST)!r}")
    if nonfinite:
        parts.append("nonfinite=1")
    return " ".join(parts)


def metric_definitions(names: Iterable[str]) -> list[dict[str, str]]:
    """What AMT needs to read metric lines: `MetricDefinitions` of a CreateTrainingJob request.

    Every pattern starts with a space, as every name in a metric line does, so that `loss` does not match
    inside `train:loss`; none is anchored, since launchers put tags before a line; all take sign, dot and
    exponent.

    Args:
        names: Metric names, as given to `run.report`; repeated ones count once.

    Returns:
        A list of `{"Name": name, "Regex": pattern}` in the order of the names; a pattern has at most 500
        characters.

    Raises:
        InputError: For names that a metric line or a definition cannot hold, all of them at once.
    """
    if isinstance(names, str):
        found = _shortly(names)
        raise InputError(f"Metric names come in a list; found the text {found}. Write [{found}].")
    definitions, problems = [], []
    for name in dict.fromkeys(names):
        problem = name_problem(name)
        escaped = _META.sub(lambda found: "\\" + found.group(), str(name))
        pattern = f" {escaped}=({NUMBER})"
        if problem is None and len(pattern) > MAX_PATTERN:
            problem = f"its pattern has {len(pattern)} characters; {MAX_PATTERN} are allowed"
        if problem:
            problems.append(f"{_shortly(name)} cannot be the name of a metric: {problem}.")
        definitions.append({"Name": name, "Regex": pattern})
    if problems:
        raise InputError("\n".join(problems))
    return definitions


def _as_float(name: str, value: object, iteration: int) -> float:
    if isinstance(value, SupportsFloat | SupportsIndex):
        try:
            return float(value)
        except OverflowError:
            return math.copysign(LARGEST, 1.0 if value > 0 else -1.0)  # type: ignore[operator]
        except (TypeError, ValueError):
            pass
    raise JobError(
        f"Metric {name!r} at iteration {iteration} is no number: found {str(value)[:100]!r} "
        f"({type(value).__name__}); report one float."
    )


def _worst(name: str, value: float, goals: Mapping[str, str], iteration: int) -> float:
    goal = goals.get(name) or known_goal(name)
    if goal == "maximize":
        return -LARGEST
    if goal == "minimize":
        return LARGEST
    raise JobError(
        f"Metric {name!r} is {value} at iteration {iteration}: it would be dropped or misread, "
        "and its name does not tell which way is better, so no worst value can stand in for it. "
        "Declare the goal (maximize or minimize), or report a finite value."
    )
