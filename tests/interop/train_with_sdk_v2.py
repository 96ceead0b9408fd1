"""Two hosts in local mode of SageMaker's Python SDK 2; run by a Python that has that SDK.

Arguments: the image, the folder with channels `train` and `validation`, and a folder for everything else.
"""

from __future__ import annotations

import sys
from pathlib import Path

import boto3
from sagemaker.estimator import Estimator
from sagemaker.inputs import TrainingInput
from sagemaker.local import LocalSession

image, data, root = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
session = LocalSession(boto3.Session(region_name="eu-central-1"), default_bucket="a-bucket")
session.config = {"local": {"container_root": str(root)}}
estimator = Estimator(
    image_uri=image,
    role="arn:aws:iam::111122223333:role/Training",
    instance_count=2,
    instance_type="local",
    hyperparameters={
        "algorithm": "xgboost",
        "num_round": 4,
        "objective": "binary:logistic",
        "eval_metric": "auc",
    },
    environment={"BANDSTAND_THREADS": "1"},
    output_path=(root / "out").as_uri(),
    sagemaker_session=session,
)
estimator.fit(
    {
        name: TrainingInput((data / name).as_uri(), content_type="text/csv")
        for name in ("train", "validation")
    },
    job_name="local-mode",
)
