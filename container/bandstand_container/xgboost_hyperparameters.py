"""The hyperparameters of the built-in XGBoost, declared once: for its start, for `plan`, for the docs.

`python -m bandstand_container.xgboost_rowsplit --export-hyperparameters` writes the file that `plan` reads.
"""

from __future__ import annotations

from pathlib import Path

from bandstand.hyperparameter_by_type import hyperparameter as hp
from bandstand.hyperparameter_file import ENDING
from bandstand.hyperparameter_schema import Schema
from bandstand_container.xgboost_parameters import PARAMETERS

FILE = Path(__file__).with_name(f"xgboost{ENDING}")
"""Where the declarations stand for readers outside of the image."""

OWN = (
    hp("algorithm", ["xgboost"], default="xgboost", tunable=False, help="Names this algorithm."),
    hp("num_round", int, 1, tune=(1, 4000), scale="linear", help="Iterations in all."),
    hp(
        "eval_metric",
        list[str],
        default=None,
        tunable=False,
        help="Metrics to report: one, several with commas, or a JSON list; if not given, the objective "
        "function's own. The metric of a tuning job's objective is added.",
    ),
    hp(
        "early_stopping_rounds",
        int,
        1,
        default=None,
        help="Training ends after so many iterations without a better value of the tuning objective, or else "
        "of the last metric. The model keeps all iterations, and the best one in its attribute "
        "`best_iteration`.",
    ),
    hp(
        "checkpoint_iterations",
        int,
        1,
        default=None,
        tunable=False,
        help="Iterations from one checkpoint to the next; if not given, about a minute lies between them.",
    ),
    hp(
        "train_metrics",
        bool,
        default=None,
        tunable=False,
        help="Whether the training rows are evaluated as well, which takes time; if not given, they are "
        "where there is no channel `validation`.",
    ),
    hp(
        "custom_metric",
        list[str],
        default=None,
        tunable=False,
        help="Metrics of your own, each as `FILE.py:FUNCTION`: one, several with commas, or a JSON list. "
        "They are reported after those of `eval_metric`.",
    ),
    hp(
        "custom_metric_goal",
        ["maximize", "minimize"],
        default=None,
        tunable=False,
        help="Which way these are better, where neither their names nor the tuning job tell.",
    ),
    hp(
        "label",
        str,
        default="1",
        tunable=False,
        help="CSV and Parquet: the label's column, by its position from 1 (-1 is the last) or its name.",
    ),
    hp("weight", str, default=None, tunable=False, help="CSV and Parquet: the column of the rows' weights."),
    hp(
        "csv_weights",
        bool,
        default=False,
        tunable=False,
        help="SageMaker's way to say that column 2 holds the weights.",
    ),
    hp(
        "qid",
        str,
        default=None,
        tunable=False,
        help="CSV and Parquet: the column of the query that a row belongs to, for ranking.",
    ),
    hp(
        "header",
        bool,
        default=False,
        tunable=False,
        help="CSV: whether each file starts with a line of names.",
    ),
    hp(
        "index_base",
        int,
        0,
        1,
        default=None,
        tunable=False,
        help="libsvm: the index of the first feature. If not given, it is found in the data: 0 if any index "
        "of any file is 0, else 1. The log and the model's attribute `index_base` tell it.",
    ),
    hp(
        "save_model_on_termination",
        bool,
        default=None,
        tunable=False,
        help="Accepted as SageMaker's; a stopped job keeps its model in any case.",
    ),
)
"""What this algorithm reads itself."""

SCHEMA = Schema([*OWN, *PARAMETERS])
OWN_NAMES = tuple(each.name for each in OWN)
"""Names that do not go to XGBoost."""
