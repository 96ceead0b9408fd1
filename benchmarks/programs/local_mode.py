"""A job of two hosts in local mode of SageMaker's Python SDK 3; prints the seconds that `train()` took.

Run by a Python that has that SDK. Arguments: the image, the code's folder, and a folder for everything else.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import boto3
from sagemaker.core.helper.session_helper import Session
from sagemaker.train.configs import Compute
from sagemaker.train.model_trainer import Mode, ModelTrainer

image, code, root = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
trainer = ModelTrainer(
    training_mode=Mode.LOCAL_CONTAINER,
    training_image=image,
    sagemaker_session=Session(
        boto_session=boto3.Session(region_name="eu-central-1"), default_bucket="a-bucket"
    ),
    role="arn:aws:iam::111122223333:role/Training",
    base_job_name="start",
    compute=Compute(instance_type="local_cpu", instance_count=2),
    hyperparameters={"sagemaker_program": "true.sh", "sagemaker_submit_directory": code.as_uri()},
    local_container_root=str(root),
)
start = time.perf_counter()
trainer.train(wait=True, logs=True)
print(f"seconds {time.perf_counter() - start}")
