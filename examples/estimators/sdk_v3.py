"""The image in SageMaker's Python SDK 3: `python sdk_v3.py train`, or `tune` for Hyperband; see README.md."""

from __future__ import annotations

import argparse
import os

from sagemaker.core.helper.session_helper import Session
from sagemaker.core.parameter import ContinuousParameter, IntegerParameter
from sagemaker.core.shapes import (
    HyperbandStrategyConfig,
    HyperParameterTuningJobStrategyConfig,
    MetricDefinition,
    OutputDataConfig,
    StoppingCondition,
)
from sagemaker.train.configs import Compute, InputData
from sagemaker.train.model_trainer import Mode, ModelTrainer
from sagemaker.train.tuner import HyperparameterTuner

import bandstand

parser = argparse.ArgumentParser(description="Train or tune XGBoost with Bandstand's image, on SDK 3.")
parser.add_argument("what", choices=["train", "tune"])
for name in ("image", "role", "bucket"):
    given = os.environ.get(name.upper())
    parser.add_argument(f"--{name}", default=given, required=given is None)
parser.add_argument("--place", help="holds data and takes models; default: s3://BUCKET/direct-marketing")
parser.add_argument("--instance-type", default="ml.m5.xlarge", help="'local_cpu' for local mode")
parser.add_argument("--no-wait", action="store_true", help="end when the job has been created")
chosen = parser.parse_args()
place = chosen.place or f"s3://{chosen.bucket}/direct-marketing"
local = chosen.instance_type.startswith("local")

metrics = bandstand.metric_definitions(["validation:auc"])
trainer = ModelTrainer(
    training_mode=Mode.LOCAL_CONTAINER if local else Mode.SAGEMAKER_TRAINING_JOB,
    training_image=chosen.image,
    role=chosen.role,
    compute=Compute(instance_type=chosen.instance_type, instance_count=2, volume_size_in_gb=30),
    hyperparameters={
        "algorithm": "xgboost",
        "objective": "binary:logistic",
        "eval_metric": "auc",
        "num_round": 30,
        "seed": 7,
    },
    stopping_condition=StoppingCondition(max_runtime_in_seconds=3600),
    output_data_config=OutputDataConfig(s3_output_path=f"{place}/out"),
    base_job_name="direct-marketing",
    local_container_root=f"{place}/out" if local else None,
    sagemaker_session=Session(default_bucket=chosen.bucket),
).with_metric_definitions([MetricDefinition(name=each["Name"], regex=each["Regex"]) for each in metrics])
channels = [
    InputData(channel_name=name, data_source=f"{place}/data/{name}", content_type="text/csv")
    for name in ("train", "validation")
]

if chosen.what == "train":
    trainer.train(channels, wait=not chosen.no_wait, logs=not chosen.no_wait)
else:
    tuner = HyperparameterTuner(
        trainer,
        objective_metric_name="validation:auc",
        objective_type="Maximize",
        metric_definitions=metrics,
        hyperparameter_ranges={
            "num_round": IntegerParameter(100, 200),
            "eta": ContinuousParameter(0.001, 1, scaling_type="Logarithmic"),
            "max_depth": IntegerParameter(1, 10),
        },
        strategy="Hyperband",
        strategy_config=HyperParameterTuningJobStrategyConfig(
            hyperband_strategy_config=HyperbandStrategyConfig(min_resource=1, max_resource=30)
        ),
        early_stopping_type="Off",  # AMT takes nothing else with Hyperband
        max_jobs=30,
        max_parallel_jobs=4,
        random_seed=7,
        base_tuning_job_name="direct-marketing",
    )
    tuner.tune(channels, wait=not chosen.no_wait)
    print(tuner.latest_tuning_job.hyper_parameter_tuning_job_name)
