"""Managed spot training with SageMaker's Python SDK 2."""

import json
import pathlib

import sagemaker
from sagemaker.estimator import Estimator

NAME = "v2-spot"

session = sagemaker.Session(default_bucket="v2-spots")
estimator = Estimator(
    image_uri="111122223333.dkr.ecr.eu-west-1.amazonaws.com/training:1",
    entry_point="spot_script.py",
    source_dir=str(pathlib.Path(__file__).parent),
    role="arn:aws:iam::111122223333:role/Training",
    instance_count=1,
    instance_type="ml.m5.large",
    output_path=f"s3://{session.default_bucket()}/out",
    hyperparameters={"rounds": 6, "hold": str(pathlib.Path("hold-v2-spot").resolve())},
    metric_definitions=[{"Name": "score", "Regex": " score=([0-9.]+);"}],
    use_spot_instances=True,
    max_run=600,
    max_wait=900,
    checkpoint_s3_uri=f"s3://{session.default_bucket()}/kept",
    sagemaker_session=session,
)
estimator.fit(job_name=NAME, wait=True, logs="All")
attached = Estimator.attach(NAME, sagemaker_session=session)
facts = {
    "spot": attached.use_spot_instances,
    "max_run": attached.max_run,
    "max_wait": attached.max_wait,
    "model": estimator.model_data,
}
print("\n" + json.dumps(facts))
