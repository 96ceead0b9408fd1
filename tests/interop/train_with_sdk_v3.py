"""Two hosts in local-container mode of SageMaker's Python SDK 3; run by a Python that has that SDK.

Arguments: the image, the folder with channels `train` and `validation`, and a folder for everything else.
"""

from __future__ import annotations

import sys
from pathlib import Path

import boto3
from sagemaker.core.helper.session_helper import Session
from sagemaker.train.configs import Compute, InputData
from sagemaker.train.model_trainer import Mode, ModelTrainer

image, data, root = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
session = Session(boto_session=boto3.Session(region_name="eu-central-1"), default_bucket="a-bucket")
trainer = ModelTrainer(
    training_mode=Mode.LOCAL_CONTAINER,
    training_image=image,
    sagemaker_session=session,
    role="arn:aws:iam::111122223333:role/Training",
    base_job_name="local-mode",
    compute=Compute(instance_type="local_cpu", instance_count=2),
    hyperparameters={
        "algorithm": "xgboost",
        "num_round": 4,
        "objective": "binary:logistic",
        "eval_metric": "auc",
    },
    environment={"BANDSTAND_THREADS": "1"},
    local_container_root=str(root),
)
trainer.train(
    input_data_config=[
        InputData(channel_name=name, data_source=str(data / name), content_type="text/csv")
        for name in ("train", "validation")
    ],
    wait=True,
    logs=True,
)
