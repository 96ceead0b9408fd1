"""A job file's table `tuning` as a request's configuration of a tuning job."""

from __future__ import annotations

from collections.abc import Mapping

from bandstand.metrics import known_goal
from bandstand.request.documents import CONFIG
from bandstand.request.draft import Draft
from bandstand.request.job_schema import JobFile, Tuning
from bandstand.request.local_rules import check_installed
from bandstand.request.strategy_rules import BAND, inferred_resource

MODELLED_HYPERBAND = "hyperband-tpe"
"""The strategy of job files that no request has a word for: Hyperband with settings from a model."""


def put_tuning(page: Draft, tuning: Tuning, job: JobFile, static: Mapping[str, str]) -> None:
    """Write the tuning job's configuration, all but its ranges.

    Args:
        page: The request being written.
        tuning: The table.
        job: The job file.
        static: The static hyperparameters, from which the maximum resource may follow.
    """
    hyperband = tuning.strategy in ("hyperband", MODELLED_HYPERBAND)
    strategy = "Hyperband" if hyperband else tuning.strategy.capitalize()
    page.put((*CONFIG, "Strategy"), strategy, "tuning.strategy")
    if tuning.strategy == MODELLED_HYPERBAND:
        check_installed("tuning.strategy", tuning.strategy, page.findings)
        page.findings.note(
            f"tuning.strategy: {MODELLED_HYPERBAND} is for this machine only. The request says Hyperband, "
            "and SageMaker would run its own Hyperband, without this model."
        )
    _put_objective(page, tuning)
    _put_limits(page, tuning, job)
    stop = tuning.early_stopping.capitalize()
    page.put((*CONFIG, "TrainingJobEarlyStoppingType"), stop, "tuning.early_stopping")
    _put_warm_start(page, tuning)
    _put_criteria(page, tuning)
    page.put((*CONFIG, "RandomSeed"), tuning.seed, "tuning.seed")
    _put_resource(page, tuning, static, hyperband=hyperband)


def _put_objective(page: Draft, tuning: Tuning) -> None:
    findings = page.findings
    goal = tuning.goal or known_goal(tuning.metric)
    doubted = findings.doubted("tuning.metric") or findings.doubted("tuning.goal")
    if goal is None and not doubted:
        fix = "Say whether more or less of the metric is better."
        findings.refuse(107, "tuning.goal", "nothing", "maximize or minimize", fix)
        findings.doubt("tuning.goal")
    elif tuning.goal is None and not doubted:
        findings.note(f"tuning.goal: {goal}, since that is what {tuning.metric} is for.")
    place = (*CONFIG, "HyperParameterTuningJobObjective")
    page.put((*place, "Type"), goal.capitalize() if goal else None, "tuning.goal")
    page.put((*place, "MetricName"), tuning.metric, "tuning.metric")


def _put_limits(page: Draft, tuning: Tuning, job: JobFile) -> None:
    findings = page.findings
    limits = (*CONFIG, "ResourceLimits")
    parallel, jobs = tuning.parallel, tuning.jobs
    if jobs is None and tuning.strategy != "grid" and not findings.doubted("tuning.jobs"):
        findings.refuse(107, "tuning.jobs", "nothing", "a whole number", "Add tuning.jobs.")
        findings.doubt("tuning.jobs")
    if jobs is not None and parallel > jobs >= 1:
        findings.note(f"tuning.parallel: {jobs} rather than {parallel}, since there are no more jobs.")
        parallel = jobs
    page.put((*limits, "MaxNumberOfTrainingJobs"), jobs, "tuning.jobs")
    page.put((*limits, "MaxParallelTrainingJobs"), parallel, "tuning.parallel")
    page.put((*limits, "MaxRuntimeInSeconds"), job.stopping.tuning_seconds, "stopping.tuning_seconds")


def _put_criteria(page: Draft, tuning: Tuning) -> None:
    criteria = (*CONFIG, "TuningJobCompletionCriteria")
    page.put((*criteria, "TargetObjectiveMetricValue"), tuning.target, "tuning.target")
    patience = (*criteria, "BestObjectiveNotImproving", "MaxNumberOfTrainingJobsNotImproving")
    page.put(patience, tuning.not_improving, "tuning.not_improving")
    converged = "Enabled" if tuning.convergence else None
    page.put((*criteria, "ConvergenceDetected", "CompleteOnConvergence"), converged, "tuning.convergence")


def _put_resource(page: Draft, tuning: Tuning, static: Mapping[str, str], *, hyperband: bool) -> None:
    low, high = tuning.min_resource, tuning.max_resource
    if hyperband and high is None:
        high = inferred_resource(static)
        if high is not None:
            page.findings.note(
                f"tuning.max_resource: {high}, from the static hyperparameters, as AMT infers it."
            )
    if hyperband and low is None:
        low = 1
    page.findings.came_from(BAND, "tuning.min_resource" if high is None else "tuning.max_resource", True)
    page.put((*BAND, "MinResource"), low, "tuning.min_resource")
    page.put((*BAND, "MaxResource"), high, "tuning.max_resource")


def _put_warm_start(page: Draft, tuning: Tuning) -> None:
    place = ("WarmStartConfig",)
    page.findings.came_from(place, "tuning.warm_start", tuning.warm_start is not None)
    if tuning.warm_start is None:
        if "warm_start_type" in tuning.model_fields_set:
            page.findings.note("tuning.warm_start_type: without effect, since there is no tuning.warm_start.")
        return
    parents = (*place, "ParentHyperParameterTuningJobs")
    page.put(parents, [], "tuning.warm_start")
    for at, name in enumerate(tuning.warm_start):
        page.put((*parents, at, "HyperParameterTuningJobName"), name, "tuning.warm_start")
    kind = "IdenticalDataAndAlgorithm" if tuning.warm_start_type == "identical" else "TransferLearning"
    page.put((*place, "WarmStartType"), kind, "tuning.warm_start_type")
