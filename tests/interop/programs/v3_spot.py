"""Managed spot training with SageMaker's Python SDK 3."""

import json
import logging
import pathlib
import shutil

from sagemaker.core.helper.session_helper import Session
from sagemaker.core.resources import TrainingJob
from sagemaker.core.shapes import CheckpointConfig, MetricDefinition, OutputDataConfig, StoppingCondition
from sagemaker.train.configs import Compute
from sagemaker.train.model_trainer import ModelTrainer

NAME = "v3-spot"

logging.basicConfig(level=logging.INFO, format="%(message)s")  # the SDK leaves its showing to programs
session = Session(default_bucket="v3-spots")
bucket = session.default_bucket()
place = pathlib.Path("code-of-v3-spot")
place.mkdir()
shutil.copy(pathlib.Path(__file__).with_name("spot_script.py"), place)
code = session.upload_data(str(place), key_prefix="code")
trainer = ModelTrainer(
    training_image="111122223333.dkr.ecr.eu-west-1.amazonaws.com/training:1",
    role="arn:aws:iam::111122223333:role/Training",
    compute=Compute(
        instance_type="ml.m5.large",
        instance_count=1,
        volume_size_in_gb=5,
        enable_managed_spot_training=True,
    ),
    hyperparameters={
        "sagemaker_program": "spot_script.py",
        "sagemaker_submit_directory": code,
        "rounds": 6,
        "hold": str(pathlib.Path("hold-v3-spot").resolve()),
    },
    stopping_condition=StoppingCondition(max_runtime_in_seconds=600, max_wait_time_in_seconds=900),
    checkpoint_config=CheckpointConfig(s3_uri=f"s3://{bucket}/kept"),
    output_data_config=OutputDataConfig(s3_output_path=f"s3://{bucket}/out"),
    base_job_name=NAME,
    sagemaker_session=session,
).with_metric_definitions([MetricDefinition(name="score", regex=" score=([0-9.]+);")])
trainer.train(wait=True, logs=True)
job = TrainingJob.get(trainer._latest_training_job.training_job_name, session=session.boto_session)
facts = {
    "spot": job.enable_managed_spot_training,
    "status": job.training_job_status,
    "max_wait": job.stopping_condition.max_wait_time_in_seconds,
    "steps": [step.status for step in job.secondary_status_transitions],
    "seconds": [job.training_time_in_seconds, job.billable_time_in_seconds],
    "metrics": {metric.metric_name: metric.value for metric in job.final_metric_data_list},
}
print("\n" + json.dumps(facts))
