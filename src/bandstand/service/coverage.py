"""What this service does with each member of a request, and which members its answers have.

The members of the two Create requests are those of every request of Bandstand's, and stand in
`bandstand.request.local_effects`. A member that is in no table is refused, so that nothing is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bandstand.service.describing_training import ECHOED

_NAME = "the job"
_PAGE = {
    "NextToken": "goes on where a page ended; only with the same other members",
    "MaxResults": "entries of a page, 10 where it is left out",
}
_TIMES = {
    "CreationTimeAfter": "created after it",
    "CreationTimeBefore": "created before it",
    "LastModifiedTimeAfter": "whose status changed after it",
    "LastModifiedTimeBefore": "whose status changed before it",
}
_SORTED = {"SortBy": "sorted by it; equals by name", "SortOrder": "Ascending where it is left out"}
_CONTAINS = {"NameContains": "upper and lower case count as equal"}
_STATUS = {"StatusEquals": "with this status"}
_NO_EFFECT = "accepted without effect while the job runs; Describe tells it"

MEMBERS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "DescribeTrainingJob": {"TrainingJobName": _NAME},
        "StopTrainingJob": {"TrainingJobName": _NAME},
        "DeleteTrainingJob": {"TrainingJobName": _NAME},
        "UpdateTrainingJob": {
            "TrainingJobName": _NAME,
            "ProfilerConfig": _NO_EFFECT,
            "ProfilerRuleConfigurations": _NO_EFFECT,
            "ResourceConfig": _NO_EFFECT,
            "RemoteDebugConfig": _NO_EFFECT,
        },
        "ListTrainingJobs": {
            **_PAGE,
            **_TIMES,
            **_CONTAINS,
            "StatusEquals": "with this status; with MaxResults pages are cut first, and filtered afterwards",
            **_SORTED,
            "WarmPoolStatusEquals": "no job keeps a warm pool here: the answer is empty",
            "TrainingPlanArnEquals": "whose request has it",
        },
        "DescribeHyperParameterTuningJob": {"HyperParameterTuningJobName": _NAME},
        "StopHyperParameterTuningJob": {"HyperParameterTuningJobName": _NAME},
        "DeleteHyperParameterTuningJob": {"HyperParameterTuningJobName": _NAME},
        "ListHyperParameterTuningJobs": {**_PAGE, **_TIMES, **_CONTAINS, **_STATUS, **_SORTED},
        "ListTrainingJobsForHyperParameterTuningJob": {
            "HyperParameterTuningJobName": _NAME,
            **_PAGE,
            **_STATUS,
            "SortBy": "sorted by it; by FinalObjectiveMetricValue, jobs without one are left out",
            "SortOrder": "Ascending where it is left out",
        },
        "AddTags": {
            "ResourceArn": "a training job or a tuning job",
            "Tags": "added, or put in place of those with the same key",
        },
        "ListTags": {
            "ResourceArn": "a training job or a tuning job",
            "NextToken": "refused: all tags are on the first page",
            "MaxResults": "50 or more, and a resource has at most 50",
        },
        "DeleteTags": {"ResourceArn": "a training job or a tuning job", "TagKeys": "taken away"},
    }
)
"""Members of the requests that create nothing, and what they do."""

_ALWAYS = "always"
_ECHO = "as in the request"
_NOT_HERE = "never: "

_COUNTS = {
    "TrainingJobStatusCounters": "always; Stopping counts as InProgress, Failed as NonRetryableError",
    "ObjectiveStatusCounters": _ALWAYS,
}

ANSWERS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "DescribeTrainingJob": {
            "TrainingJobName": _ALWAYS,
            "TrainingJobArn": "always, in the region of the request",
            "TuningJobArn": "for training jobs of tuning jobs",
            "ModelArtifacts": "always: where the model is, or will be",
            "TrainingJobStatus": _ALWAYS,
            "SecondaryStatus": _ALWAYS,
            "FailureReason": "when it failed",
            "HyperParameters": _ECHO,
            "AlgorithmSpecification": "as in the request, with the metrics that the image brings",
            **dict.fromkeys(ECHOED, _ECHO),
            "InputDataConfig": "as in the request, with packing and distribution where it does not say",
            "OutputDataConfig": "as in the request; KmsKeyId is empty where it names none",
            "StoppingCondition": "as in the request; one day where it does not say",
            "CreationTime": _ALWAYS,
            "TrainingStartTime": "from the begin of Downloading on",
            "TrainingEndTime": "once it is over: the end of Uploading",
            "LastModifiedTime": "always: when the status changed last",
            "SecondaryStatusTransitions": "always; each ends when the next begins",
            "FinalMetricDataList": "the last value of each metric so far, in single precision",
            "EnableNetworkIsolation": _ALWAYS,
            "EnableInterContainerTrafficEncryption": _ALWAYS,
            "EnableManagedSpotTraining": _ALWAYS,
            "TrainingTimeInSeconds": "once it is over, if it ran; all attempts together",
            "BillableTimeInSeconds": "once it is over, if it ran; all attempts together",
            "WarmPoolStatus": f"{_NOT_HERE}there is no warm pool",
            "LabelingJobArn": f"{_NOT_HERE}no other service creates jobs here",
            "AutoMLJobArn": f"{_NOT_HERE}no other service creates jobs here",
            "BillableTokenCount": f"{_NOT_HERE}serverless jobs are refused",
            "DebugRuleEvaluationStatuses": f"{_NOT_HERE}the debugger is a service of its own",
            "ProfilerRuleEvaluationStatuses": f"{_NOT_HERE}the profiler is a service of its own",
            "ProfilingStatus": f"{_NOT_HERE}the profiler is a service of its own",
            "ServerlessJobConfig": f"{_NOT_HERE}serverless jobs are refused",
            "MlflowConfig": f"{_NOT_HERE}it is refused",
            "MlflowDetails": f"{_NOT_HERE}it is refused",
            "ModelPackageConfig": f"{_NOT_HERE}it is refused",
            "ProgressInfo": f"{_NOT_HERE}serverless jobs are refused",
            "OutputModelPackageArn": f"{_NOT_HERE}serverless jobs are refused",
        },
        "DescribeHyperParameterTuningJob": {
            "HyperParameterTuningJobName": _ALWAYS,
            "HyperParameterTuningJobArn": "always, in the region of the request",
            "HyperParameterTuningJobConfig": "as in the request, with every kind of range, if only empty",
            "TrainingJobDefinition": "as in the request; with objective, metrics and ResourceConfig",
            "TrainingJobDefinitions": "the same of each, where the request has a list",
            "HyperParameterTuningJobStatus": _ALWAYS,
            "CreationTime": _ALWAYS,
            "HyperParameterTuningEndTime": "once it is over",
            "LastModifiedTime": "always: when the status changed last",
            **_COUNTS,
            "BestTrainingJob": "once a training job has ended with an objective: the best by its last value",
            "OverallBestTrainingJob": "with IdenticalDataAndAlgorithm: the best of this job and its parents",
            "WarmStartConfig": _ECHO,
            "Autotune": f"{_NOT_HERE}it is refused",
            "FailureReason": "when it failed",
            "TuningJobCompletionDetails": "always; the time of convergence where that is a criterion and met",
            "ConsumedResources": "always: seconds for which it ran",
        },
        "ListTrainingJobs": {"TrainingJobSummaries": _ALWAYS, "NextToken": "where there are more"},
        "ListHyperParameterTuningJobs": {
            "HyperParameterTuningJobSummaries": _ALWAYS,
            "NextToken": "where there are more",
        },
        "ListTrainingJobsForHyperParameterTuningJob": {
            "TrainingJobSummaries": "always; the final objective once the training job is over",
            "NextToken": "where there are more",
        },
        "ListTags": {"Tags": "always, by key", "NextToken": f"{_NOT_HERE}all tags are on the first page"},
        "AddTags": {"Tags": "those that were given"},
        "CreateTrainingJob": {"TrainingJobArn": _ALWAYS},
        "CreateHyperParameterTuningJob": {"HyperParameterTuningJobArn": _ALWAYS},
        "UpdateTrainingJob": {"TrainingJobArn": _ALWAYS},
        "DeleteTags": {},
    }
)
"""Members of the answers, and when they are there."""
