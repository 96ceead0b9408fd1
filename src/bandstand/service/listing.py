"""Operations that list jobs: all training jobs, all tuning jobs, the training jobs of one tuning job."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

from bandstand.service import tuning_jobs
from bandstand.service.context import Context
from bandstand.service.describing_tuning import counters
from bandstand.service.paging import Query
from bandstand.service.protocol import Document, Operation
from bandstand.service.summaries import BRIEF, USABLE, ended, secondary_status, summary

_SINCE = {
    "CreationTimeAfter": "created > ?",
    "CreationTimeBefore": "created < ?",
    "LastModifiedTimeAfter": "modified > ?",
    "LastModifiedTimeBefore": "modified < ?",
}
_KEYS = {
    "Name": "name",
    "CreationTime": "created",
    "Status": "shown",
    "FinalObjectiveMetricValue": "objective",
}
_TRAINING_PLAN = "json_extract(json_extract(plan, '$.document'), '$.ResourceConfig.TrainingPlanArn') = ?"


def list_training_jobs(context: Context, parameters: Document) -> Document:
    """ListTrainingJobs: all training jobs of the home, those of tuning jobs and of the command line too.

    Where both a status and the length of a page are given, pages are cut first and filtered afterwards, as
    the API's documentation has it, so that they may be short, or empty with more to come.
    """
    query = Query("training_jobs", "name, created, ended, modified, shown, secondary_status, interrupted")
    _sort(query, parameters, "CreationTime")
    _filter(query, parameters)
    status = parameters.get("StatusEquals")
    late = status is not None and "MaxResults" in parameters
    if status is not None and not late:
        query.where("shown = ?", status)
    if "WarmPoolStatusEquals" in parameters:
        query.where("0")  # no cluster is kept warm here
    if "TrainingPlanArnEquals" in parameters:
        query.where(_TRAINING_PLAN, parameters["TrainingPlanArnEquals"])
    rows, more = query.page(context.record(), parameters)
    kept = [row for row in rows if not late or row["shown"] == status]
    return {"TrainingJobSummaries": [_training(context, row) for row in kept], **more}


def list_tuning_jobs(context: Context, parameters: Document) -> Document:
    """ListHyperParameterTuningJobs: all tuning jobs of the home, those of the command line too."""
    record = context.record()
    query = Query("tuning_jobs", "name, created, ended, modified, shown, plan")
    _sort(query, parameters, "Name")
    _filter(query, parameters)
    if "StatusEquals" in parameters:
        query.where("shown = ?", parameters["StatusEquals"])
    rows, more = query.page(record, parameters)
    answers = []
    for row in rows:
        config = json.loads(json.loads(row["plan"])["document"])["HyperParameterTuningJobConfig"]
        answer = {
            "HyperParameterTuningJobName": row["name"],
            "HyperParameterTuningJobArn": context.arn(tuning_jobs.KIND, row["name"]),
            "HyperParameterTuningJobStatus": row["shown"],
            "Strategy": config["Strategy"],
            "CreationTime": row["created"],
            "LastModifiedTime": row["modified"],
            **counters(record, row["name"]),
            "ResourceLimits": config["ResourceLimits"],
        }
        answers.append(answer | ended(row["shown"], row["ended"], "HyperParameterTuningEndTime"))
    return {"HyperParameterTuningJobSummaries": answers, **more}


def list_jobs_of_tuning_job(context: Context, parameters: Document) -> Document:
    """ListTrainingJobsForHyperParameterTuningJob: sorted as asked, by objective too."""
    record = context.record()
    job = tuning_jobs.found(record, parameters["HyperParameterTuningJobName"])
    query = Query("training_jobs", BRIEF)
    query.where("tuning_job = ?", job.name)
    _sort(query, parameters, "Name")
    if parameters.get("SortBy") == "FinalObjectiveMetricValue":
        query.where(USABLE)
        query.where("shown NOT IN ('InProgress', 'Stopping')")
    if "StatusEquals" in parameters:
        query.where("shown = ?", parameters["StatusEquals"])
    rows, more = query.page(record, parameters)
    return {"TrainingJobSummaries": [summary(context, row, job.plan) for row in rows], **more}


def _sort(query: Query, parameters: Mapping[str, object], usual: str) -> None:
    query.key = _KEYS[str(parameters.get("SortBy", usual))]
    query.descending = parameters.get("SortOrder") == "Descending"


def _filter(query: Query, parameters: Document) -> None:
    for name, condition in _SINCE.items():
        if name in parameters:
            query.where(condition, float(parameters[name]))
    if "NameContains" in parameters:
        query.where("instr(lower(name), ?) > 0", str(parameters["NameContains"]).lower())


def _training(context: Context, row: sqlite3.Row) -> Document:
    answer = {
        "TrainingJobName": row["name"],
        "TrainingJobArn": context.arn("training-job", row["name"]),
        "CreationTime": row["created"],
        "LastModifiedTime": row["modified"],
        "TrainingJobStatus": row["shown"],
        "SecondaryStatus": secondary_status(row["shown"], row["secondary_status"], bool(row["interrupted"])),
    }
    return answer | ended(row["shown"], row["ended"], "TrainingEndTime")


OPERATIONS: Mapping[str, Operation] = {
    "ListTrainingJobs": list_training_jobs,
    "ListHyperParameterTuningJobs": list_tuning_jobs,
    "ListTrainingJobsForHyperParameterTuningJob": list_jobs_of_tuning_job,
}
"""The operations of this file, by name."""
