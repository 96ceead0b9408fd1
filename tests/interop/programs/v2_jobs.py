"""Training jobs with SageMaker's Python SDK 2: `python v2_jobs.py WHAT...`, of train, attach, fail, stop."""

import json
import sys
import time

import sagemaker
from sagemaker import image_uris
from sagemaker.analytics import TrainingJobAnalytics
from sagemaker.estimator import Estimator
from sagemaker.exceptions import UnexpectedStatusException
from sagemaker.inputs import TrainingInput
from sagemaker.s3 import S3Downloader, S3Uploader

NAME = "v2-watched"

session = sagemaker.Session(default_bucket=f"v2-{sys.argv[1]}")
output = f"s3://{session.default_bucket()}/out"


def estimator(**settings):
    made = Estimator(
        image_uri=image_uris.retrieve("xgboost", session.boto_region_name, version="1.7-1"),
        role="arn:aws:iam::111122223333:role/Training",
        instance_count=2,
        instance_type="ml.m5.large",
        volume_size=5,
        output_path=output,
        sagemaker_session=session,
    )
    made.set_hyperparameters(**{"objective": "binary:logistic", "eval_metric": "auc", **settings})
    return made


def channels():
    """Both channels, uploaded through the session."""
    return {
        name: TrainingInput(
            session.upload_data(f"data/{name}", key_prefix=f"data/{name}"), content_type="csv"
        )
        for name in ("train", "validation")
    }


def listed():
    """The rows to train on by a manifest, the others by a prefix that is no folder."""
    made = channels()
    bucket = session.default_bucket()
    names = json.dumps([{"prefix": f"s3://{bucket}/data/train/"}, "part-0.csv"])
    place = S3Uploader.upload_string_as_file_body(
        names, f"s3://{bucket}/lists/train.json", sagemaker_session=session
    )
    made["train"] = TrainingInput(place, content_type="csv", s3_data_type="ManifestFile")
    made["validation"] = TrainingInput(f"s3://{bucket}/data/valid", content_type="csv")
    return made


def describe(name):
    return session.sagemaker_client.describe_training_job(TrainingJobName=name)


def train():
    fitted = estimator(num_round=4, eval_metric="auc,logloss")
    fitted.fit(listed(), job_name=NAME, wait=True, logs="All")
    S3Downloader.download(fitted.model_data, "v2-model", sagemaker_session=session)
    return {"status": describe(NAME)["TrainingJobStatus"], "model": fitted.model_data}


def attach():
    """Another process than the one that has trained."""
    attached = Estimator.attach(NAME, sagemaker_session=session)
    table = TrainingJobAnalytics(NAME, sagemaker_session=session).dataframe()
    return {
        "model": attached.model_data,
        "hyperparameters": attached.hyperparameters(),
        "metrics": json.loads(table.to_json(orient="records", date_format="iso")),
    }


def fail():
    place = f"s3://{session.default_bucket()}/labels/rows.csv"
    S3Uploader.upload_string_as_file_body("7,1,2\n0,2,1\n", place, sagemaker_session=session)
    data = TrainingInput(place, content_type="csv")
    try:
        estimator(num_round=4).fit({"train": data}, job_name="v2-failing", wait=True, logs=False)
    except UnexpectedStatusException as error:
        return {"error": str(error), "status": error.actual_status}
    return {}


def stop():
    endless = estimator(num_round=1_000_000)
    endless.fit(channels(), job_name="v2-endless", wait=False)
    while "TrainingStartTime" not in describe("v2-endless") or not logged():
        time.sleep(0.2)
    session.stop_training_job("v2-endless")
    endless.latest_training_job.wait(logs=False)
    S3Downloader.download(endless.model_data, "v2-stopped", sagemaker_session=session)
    return {"status": describe("v2-endless")["TrainingJobStatus"]}


def logged():
    """Whether the first iterations stand in the logs."""
    logs = session.boto_session.client("logs")
    found = logs.filter_log_events(
        logGroupName="/aws/sagemaker/TrainingJobs",
        logStreamNamePrefix="v2-endless/",
        filterPattern="validation",
    )
    return len(found["events"]) > 2


whats = {"train": train, "attach": attach, "fail": fail, "stop": stop}
print("\n" + json.dumps({word: whats[word]() for word in sys.argv[1:]}))
