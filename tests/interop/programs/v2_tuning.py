"""Tuning jobs with SageMaker's Python SDK 2: `python v2_tuning.py WHAT...`, of fit, attach, stop."""

import json
import sys
import time

import sagemaker
from sagemaker import image_uris
from sagemaker.analytics import HyperparameterTuningJobAnalytics
from sagemaker.estimator import Estimator
from sagemaker.tuner import (
    CategoricalParameter,
    ContinuousParameter,
    HyperbandStrategyConfig,
    HyperparameterTuner,
    IntegerParameter,
    StrategyConfig,
)

NAME = "v2-tuning"

session = sagemaker.Session(default_bucket="v2-tuning")


def tuner(num_round, jobs):
    estimator = Estimator(
        image_uri=image_uris.retrieve("xgboost", session.boto_region_name, version="1.7-1"),
        role="arn:aws:iam::111122223333:role/Training",
        instance_count=1,
        instance_type="ml.m5.large",
        volume_size=5,
        output_path=f"s3://{session.default_bucket()}/out",
        hyperparameters={"objective": "binary:logistic", "num_round": num_round},
        sagemaker_session=session,
    )
    return HyperparameterTuner(
        estimator,
        "validation:auc",
        {
            "eta": ContinuousParameter(0.01, 1, scaling_type="Logarithmic"),
            "max_depth": IntegerParameter(1, 5),
            "grow_policy": CategoricalParameter(["depthwise", "lossguide"]),
        },
        strategy="Hyperband",
        strategy_config=StrategyConfig(HyperbandStrategyConfig(max_resource=num_round, min_resource=1)),
        max_jobs=jobs,
        max_parallel_jobs=2,
        random_seed=3,
        tags=[{"Key": "team", "Value": "a"}],
    )


def channels():
    """Both channels, uploaded through the session."""
    return {
        name: sagemaker.inputs.TrainingInput(
            session.upload_data(f"data/{name}", key_prefix=f"data/{name}"), content_type="csv"
        )
        for name in ("train", "validation")
    }


def fit():
    """Begin it, and leave it to another process."""
    made = tuner(6, 5)
    made.fit(channels(), job_name=NAME, wait=False)
    return {"job": made.latest_tuning_job.name}


def attach():
    """Wait for what another process has begun, and look at all of it; then go on from it."""
    attached = HyperparameterTuner.attach(NAME, sagemaker_session=session)
    attached.wait()
    analytics = HyperparameterTuningJobAnalytics(NAME, sagemaker_session=session)
    table = analytics.dataframe()
    warm = attached.identical_dataset_and_algorithm_tuner()
    warm.strategy = "Bayesian"  # Hyperband's settings do not depend on what was tried
    warm.max_jobs = warm.max_parallel_jobs = 1
    warm.fit(channels(), job_name="v2-warm", wait=True)
    return {
        "best": attached.best_training_job(),
        "model": attached.best_estimator().model_data,
        "rows": json.loads(table.to_json(orient="records", date_format="iso")),
        "ranges": sorted(analytics.tuning_ranges),
        "warm": warm.describe()["HyperParameterTuningJobStatus"],
    }


def stop():
    endless = tuner(20_000, 4)
    endless.fit(channels(), job_name="v2-endless-tuning", wait=False)
    while not endless.describe()["TrainingJobStatusCounters"]["InProgress"]:
        time.sleep(0.2)
    endless.stop_tuning_job()
    endless.wait()
    answer = endless.describe()
    return {
        "status": answer["HyperParameterTuningJobStatus"],
        "counters": answer["TrainingJobStatusCounters"],
    }


whats = {"fit": fit, "attach": attach, "stop": stop}
print("\n" + json.dumps({word: whats[word]() for word in sys.argv[1:]}))
