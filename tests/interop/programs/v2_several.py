"""One tuning job of two estimators with SageMaker's Python SDK 2, begun, and taken up again by its name."""

import json

import sagemaker
from sagemaker import image_uris
from sagemaker.analytics import HyperparameterTuningJobAnalytics
from sagemaker.estimator import Estimator
from sagemaker.tuner import ContinuousParameter, HyperparameterTuner, IntegerParameter

NAME = "v2-several"

session = sagemaker.Session(default_bucket="v2-several")


def estimator(booster):
    return Estimator(
        image_uri=image_uris.retrieve("xgboost", session.boto_region_name, version="1.7-1"),
        role="arn:aws:iam::111122223333:role/Training",
        instance_count=1,
        instance_type="ml.m5.large",
        output_path=f"s3://{session.default_bucket()}/out",
        hyperparameters={"objective": "binary:logistic", "num_round": 4, "booster": booster, "nthread": 1},
        sagemaker_session=session,
    )


channels = {
    name: sagemaker.inputs.TrainingInput(
        session.upload_data(f"data/{name}", key_prefix=f"data/{name}"), content_type="csv"
    )
    for name in ("train", "validation")
}
tuner = HyperparameterTuner.create(
    estimator_dict={"trees": estimator("gbtree"), "lines": estimator("gblinear")},
    objective_metric_name_dict={"trees": "validation:auc", "lines": "validation:auc"},
    hyperparameter_ranges_dict={
        "trees": {"eta": ContinuousParameter(0.01, 1), "max_depth": IntegerParameter(1, 5)},
        "lines": {"lambda": ContinuousParameter(0.01, 10, scaling_type="Logarithmic")},
    },
    strategy="Bayesian",
    max_jobs=4,
    max_parallel_jobs=2,
)
tuner.fit({"trees": channels, "lines": channels}, job_name=NAME, include_cls_metadata={}, wait=True)

attached = HyperparameterTuner.attach(NAME, sagemaker_session=session)
analytics = HyperparameterTuningJobAnalytics(NAME, sagemaker_session=session)
rows = json.loads(analytics.dataframe().to_json(orient="records", date_format="iso"))
facts = {
    "estimators": sorted(attached.estimator_dict),
    "best": attached.best_training_job(),
    "model": attached.best_estimator().model_data,
    "booster": attached.best_estimator().hyperparameters()["booster"],
    "ranges": {name: sorted(ranges) for name, ranges in analytics.tuning_ranges.items()},
    "rows": [[row["TrainingJobDefinitionName"], row["FinalObjectiveValue"]] for row in rows],
}
print("\n" + json.dumps(facts))
