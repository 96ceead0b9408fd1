"""The image in SageMaker's Python SDK 2: `python sdk_v2.py train`, or `tune` for Hyperband; see README.md."""

from __future__ import annotations

import argparse
import os

from sagemaker.estimator import Estimator
from sagemaker.inputs import TrainingInput
from sagemaker.local import LocalSession
from sagemaker.session import Session
from sagemaker.tuner import (
    ContinuousParameter,
    HyperbandStrategyConfig,
    HyperparameterTuner,
    IntegerParameter,
    StrategyConfig,
)

import bandstand

parser = argparse.ArgumentParser(description="Train or tune XGBoost with Bandstand's image, on SDK 2.")
parser.add_argument("what", choices=["train", "tune"])
for name in ("image", "role", "bucket"):
    given = os.environ.get(name.upper())
    parser.add_argument(f"--{name}", default=given, required=given is None)
parser.add_argument("--place", help="holds data and takes models; default: s3://BUCKET/direct-marketing")
parser.add_argument("--instance-type", default="ml.m5.xlarge", help="'local' for local mode")
parser.add_argument("--no-wait", action="store_true", help="end when the job has been created")
chosen = parser.parse_args()
place = chosen.place or f"s3://{chosen.bucket}/direct-marketing"

estimator = Estimator(
    image_uri=chosen.image,
    role=chosen.role,
    instance_type=chosen.instance_type,
    instance_count=2,
    hyperparameters={
        "algorithm": "xgboost",
        "objective": "binary:logistic",
        "eval_metric": "auc",
        "num_round": 30,
        "seed": 7,
    },
    metric_definitions=bandstand.metric_definitions(["validation:auc"]),
    max_run=3600,
    output_path=f"{place}/out",
    base_job_name="direct-marketing",
    sagemaker_session=(LocalSession if chosen.instance_type == "local" else Session)(
        default_bucket=chosen.bucket
    ),
)
channels = {
    name: TrainingInput(f"{place}/data/{name}", content_type="text/csv") for name in ("train", "validation")
}

if chosen.what == "train":
    estimator.fit(channels, wait=not chosen.no_wait)
    print(estimator.latest_training_job.name)
else:
    tuner = HyperparameterTuner(
        estimator,
        objective_metric_name="validation:auc",
        objective_type="Maximize",
        metric_definitions=bandstand.metric_definitions(["validation:auc"]),
        hyperparameter_ranges={
            "num_round": IntegerParameter(100, 200),
            "eta": ContinuousParameter(0.001, 1, scaling_type="Logarithmic"),
            "max_depth": IntegerParameter(1, 10),
        },
        strategy="Hyperband",
        strategy_config=StrategyConfig(HyperbandStrategyConfig(min_resource=1, max_resource=30)),
        early_stopping_type="Off",  # AMT takes nothing else with Hyperband
        max_jobs=30,
        max_parallel_jobs=4,
        random_seed=7,
        base_tuning_job_name="direct-marketing",
    )
    tuner.fit(channels, wait=not chosen.no_wait)
    print(tuner.latest_tuning_job.name)
