"""boto3 with nothing but its usual set-up: `python plain_boto3.py`; waiters, pages, and an upload."""

import json

import boto3

ROLE = "arn:aws:iam::111122223333:role/Training"
IMAGE = "141502667606.dkr.ecr.eu-west-1.amazonaws.com/sagemaker-xgboost:1.7-1"

s3 = boto3.client("s3")
sagemaker = boto3.client("sagemaker")

s3.create_bucket(Bucket="plain", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
channels = []
for name in ("train", "validation"):
    s3.upload_file(f"data/{name}/part-0.csv", "plain", f"data/{name}/part-0.csv")
    source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://plain/data/{name}"}
    channels.append({"ChannelName": name, "ContentType": "text/csv", "DataSource": {"S3DataSource": source}})

definition = {
    "AlgorithmSpecification": {"TrainingImage": IMAGE, "TrainingInputMode": "File"},
    "RoleArn": ROLE,
    "InputDataConfig": channels,
    "OutputDataConfig": {"S3OutputPath": "s3://plain/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5},
    "StoppingCondition": {"MaxRuntimeInSeconds": 600},
}
settings = {"objective": "binary:logistic", "num_round": "4", "eval_metric": "auc"}
sagemaker.create_training_job(TrainingJobName="plain-training", HyperParameters=settings, **definition)
waiter = sagemaker.get_waiter("training_job_completed_or_stopped")
waiter.wait(TrainingJobName="plain-training", WaiterConfig={"Delay": 1})

sagemaker.create_hyper_parameter_tuning_job(
    HyperParameterTuningJobName="plain-tuning",
    HyperParameterTuningJobConfig={
        "Strategy": "Hyperband",
        "StrategyConfig": {"HyperbandStrategyConfig": {"MinResource": 1, "MaxResource": 4}},
        "HyperParameterTuningJobObjective": {"Type": "Maximize", "MetricName": "validation:auc"},
        "ResourceLimits": {"MaxNumberOfTrainingJobs": 3, "MaxParallelTrainingJobs": 2},
        "ParameterRanges": {
            "ContinuousParameterRanges": [{"Name": "eta", "MinValue": "0.1", "MaxValue": "1"}]
        },
    },
    TrainingJobDefinition={"StaticHyperParameters": settings, **definition},
)
waiter = sagemaker.get_waiter("training_job_completed_or_stopped")
pages = sagemaker.get_paginator("list_training_jobs_for_hyper_parameter_tuning_job")
names = set()
while len(names) < 3:
    found = pages.paginate(
        HyperParameterTuningJobName="plain-tuning", PaginationConfig={"PageSize": 1}
    ).search("TrainingJobSummaries[].TrainingJobName")
    for name in set(found) - names:
        waiter.wait(TrainingJobName=name, WaiterConfig={"Delay": 1})
        names.add(name)

trained = sagemaker.describe_training_job(TrainingJobName="plain-training")
bucket, _, key = trained["ModelArtifacts"]["S3ModelArtifacts"].removeprefix("s3://").partition("/")
s3.download_file(bucket, key, "model.tar.gz")
print(
    json.dumps(
        {
            "status": trained["TrainingJobStatus"],
            "metrics": [metric["MetricName"] for metric in trained["FinalMetricDataList"]],
            "jobs": sorted(names),
        }
    )
)
