"""SageMaker's Python SDK 3: `python v3_amt.py WHAT...`, of train, fail, stop, tune, attach."""

import json
import logging
import sys
import time

from sagemaker.core import image_uris
from sagemaker.core.helper.session_helper import Session
from sagemaker.core.parameter import CategoricalParameter, ContinuousParameter, IntegerParameter
from sagemaker.core.resources import HyperParameterTuningJob, TrainingJob
from sagemaker.core.s3 import S3Downloader
from sagemaker.core.shapes import (
    HyperbandStrategyConfig,
    HyperParameterTuningJobStrategyConfig,
    OutputDataConfig,
    S3DataSource,
    StoppingCondition,
)
from sagemaker.core.utils.exceptions import FailedStatusError
from sagemaker.train.configs import Compute, InputData
from sagemaker.train.model_trainer import ModelTrainer
from sagemaker.train.tuner import HyperparameterTuner

logging.basicConfig(level=logging.INFO, format="%(message)s")  # the SDK leaves its showing to programs
session = Session(default_bucket=f"v3-{sys.argv[1]}")
output = f"s3://{session.default_bucket()}/out"


def trainer(name, hosts=1, **settings):
    return ModelTrainer(
        training_image=image_uris.retrieve("xgboost", session.boto_region_name, version="1.7-1"),
        role="arn:aws:iam::111122223333:role/Training",
        compute=Compute(instance_type="ml.m5.large", instance_count=hosts, volume_size_in_gb=5),
        hyperparameters={"objective": "binary:logistic", "eval_metric": "auc", "num_round": 4} | settings,
        stopping_condition=StoppingCondition(max_runtime_in_seconds=600),
        output_data_config=OutputDataConfig(s3_output_path=output),
        base_job_name=name,
        sagemaker_session=session,
    )


def channels():
    """Both channels, uploaded through the session."""
    return [
        InputData(
            channel_name=name,
            data_source=session.upload_data(f"data/{name}", key_prefix=f"data/{name}"),
            content_type="text/csv",
        )
        for name in ("train", "validation")
    ]


def listed():
    """Both channels, the rows to train on by a manifest; the SDK's tuner takes none."""
    train, validation = channels()
    names = json.dumps([{"prefix": f"{train.data_source}/"}, "part-0.csv"])
    train.data_source = S3DataSource(
        s3_data_type="ManifestFile",
        s3_uri=session.upload_string_as_file_body(names, session.default_bucket(), "lists/train.json"),
        s3_data_distribution_type="FullyReplicated",
    )
    return [train, validation]


def train():
    """Channels that are folders of this machine: the SDK uploads them itself."""
    made = trainer("v3-watched", hosts=2)
    folders = [
        InputData(channel_name=name, data_source=f"data/{name}", content_type="text/csv")
        for name in ("train", "validation")
    ]
    made.train(folders, wait=True, logs=True)
    job = TrainingJob.get(made._latest_training_job.training_job_name, session=session.boto_session)
    S3Downloader.download(job.model_artifacts.s3_model_artifacts, "v3-model", sagemaker_session=session)
    metrics = {metric.metric_name: metric.value for metric in job.final_metric_data_list}
    return {"name": job.training_job_name, "status": job.training_job_status, "metrics": metrics}


def fail():
    key = session.upload_string_as_file_body("7,1,2\n0,2,1\n", session.default_bucket(), "labels/rows.csv")
    data = InputData(channel_name="train", data_source=key, content_type="text/csv")
    failing = trainer("v3-failing")
    try:
        failing.train([data], wait=True, logs=False)
    except FailedStatusError as error:
        return {"name": failing._latest_training_job.training_job_name, "error": str(error)}
    return {}


def stop():
    endless = trainer("v3-endless", num_round=1_000_000)
    endless.train(listed(), wait=False)
    job = endless._latest_training_job
    while job.refresh().secondary_status != "Training":
        time.sleep(0.2)
    job.stop()
    job.wait()
    return {"status": job.refresh().training_job_status}


def tune():
    tuner = HyperparameterTuner(
        trainer("v3-tuned", num_round=6),
        objective_metric_name="validation:auc",
        objective_type="Maximize",
        hyperparameter_ranges={
            "eta": ContinuousParameter(0.01, 1, scaling_type="Logarithmic"),
            "max_depth": IntegerParameter(1, 5),
            "grow_policy": CategoricalParameter(["depthwise", "lossguide"]),
        },
        strategy="Hyperband",
        strategy_config=HyperParameterTuningJobStrategyConfig(
            hyperband_strategy_config=HyperbandStrategyConfig(min_resource=1, max_resource=6)
        ),
        early_stopping_type="Off",
        max_jobs=5,
        max_parallel_jobs=2,
        random_seed=3,
        base_tuning_job_name="v3-tuning",
    )
    tuner.tune(channels(), wait=True)
    table = tuner.analytics().dataframe()
    return {
        "name": tuner.latest_tuning_job.hyper_parameter_tuning_job_name,
        "best": tuner.best_training_job(),
        "rows": json.loads(table.to_json(orient="records", date_format="iso")),
    }


def attach():
    """Another process than the one that tuned: what it began last is found by a list, then read by name."""
    boto = session.boto_session
    (found, *_) = HyperParameterTuningJob.get_all(
        sort_by="CreationTime", sort_order="Descending", session=boto
    )
    job = HyperParameterTuningJob.get(found.hyper_parameter_tuning_job_name, session=boto)
    jobs = job.get_all_training_jobs(
        sort_by="FinalObjectiveMetricValue", sort_order="Descending", session=boto
    )
    return {
        "name": job.hyper_parameter_tuning_job_name,
        "status": job.hyper_parameter_tuning_job_status,
        "first": next(iter(jobs)).training_job_name,
        "best": job.best_training_job.training_job_name,
    }


whats = {"train": train, "fail": fail, "stop": stop, "tune": tune, "attach": attach}
print("\n" + json.dumps({word: whats[word]() for word in sys.argv[1:]}))
