"""AWS's XGBoost tuned by Hyperband with SageMaker's Python SDK 2, as a post about it shows.

Of what is written for SageMaker only the session is another one: it names its bucket.
"""

import json

import sagemaker
from sagemaker import image_uris
from sagemaker.estimator import Estimator
from sagemaker.inputs import TrainingInput
from sagemaker.tuner import (
    ContinuousParameter,
    HyperbandStrategyConfig,
    HyperparameterTuner,
    IntegerParameter,
    StrategyConfig,
)

session = sagemaker.Session(default_bucket="post-bucket")
role = "arn:aws:iam::111122223333:role/service-role/AmazonSageMaker-ExecutionRole"
bucket = session.default_bucket()
prefix = "hyperband-xgboost"

train = session.upload_data("data/train", bucket=bucket, key_prefix=f"{prefix}/train")
validation = session.upload_data("data/validation", bucket=bucket, key_prefix=f"{prefix}/validation")

image = image_uris.retrieve("xgboost", session.boto_region_name, version="1.7-1")
estimator = Estimator(
    image_uri=image,
    role=role,
    instance_count=3,
    instance_type="ml.m5.xlarge",
    volume_size=5,
    output_path=f"s3://{bucket}/{prefix}/output",
    sagemaker_session=session,
)
estimator.set_hyperparameters(
    objective="binary:logistic", eval_metric="auc", num_round=9, tree_method="hist", seed=1
)

tuner = HyperparameterTuner(
    estimator,
    objective_metric_name="validation:auc",
    objective_type="Maximize",
    hyperparameter_ranges={
        "eta": ContinuousParameter(0.1, 0.5),
        "alpha": ContinuousParameter(0, 2),
        "min_child_weight": ContinuousParameter(1, 10),
        "max_depth": IntegerParameter(1, 10),
    },
    strategy="Hyperband",
    strategy_config=StrategyConfig(
        hyperband_strategy_config=HyperbandStrategyConfig(max_resource=9, min_resource=1)
    ),
    early_stopping_type="Off",
    max_jobs=30,
    max_parallel_jobs=4,
    base_tuning_job_name="xgb-hyperband",
)
tuner.fit(
    {
        "train": TrainingInput(train, content_type="csv"),
        "validation": TrainingInput(validation, content_type="csv"),
    },
    wait=True,
)

table = tuner.analytics().dataframe()
best = tuner.best_estimator()
session.download_data("post-model", bucket, best.model_data.removeprefix(f"s3://{bucket}/"))
print(
    json.dumps(
        {
            "image": image,
            "job": tuner.latest_tuning_job.name,
            "status": tuner.describe()["HyperParameterTuningJobStatus"],
            "best": tuner.best_training_job(),
            "best_hyperparameters": best.hyperparameters(),
            "rows": json.loads(table.to_json(orient="records", date_format="iso")),
        }
    )
)
