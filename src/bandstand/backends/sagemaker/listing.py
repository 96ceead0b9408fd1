"""Many jobs with one List call, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from bandstand.backends.sagemaker.creating import describe, is_unknown
from bandstand.backends.sagemaker.refusals import AwsError, from_aws
from bandstand.backends.sagemaker.region import Region
from bandstand.backends.sagemaker.standing import Listed, TuningStanding, listed, tuning_standing
from bandstand.errors import InputError

PAGE = 100
"""Most entries of a page that SageMaker gives."""


class Lister:
    """Asks a region about many jobs at once.

    Args:
        region: The region.
        patience: Seconds for which a question is asked again.
    """

    def __init__(self, region: Region, patience: float = 30.0) -> None:
        self._region = region
        self._patience = patience

    def training_jobs(self, created: Mapping[str, float]) -> dict[str, Listed]:
        """What is told of training jobs, by name; one that is not listed is left out.

        Args:
            created: Name to the time at which it was handed in, in epoch seconds by this machine's clock.
        """
        if len(created) == 1:
            return {}  # one Describe tells more than one List
        common = _common(tuple(created)).rstrip("-")
        # Clocks differ, and SageMaker takes no signature of one that is five minutes off.
        since = datetime.fromtimestamp(min(created.values()) - 300, UTC)
        words: dict[str, Any] = {"CreationTimeAfter": since, "SortBy": "CreationTime"}
        if common:
            words["NameContains"] = common
        found: dict[str, Listed] = {}
        client = self._region.client("sagemaker")
        for page in self._pages("sagemaker:ListTrainingJobs", client.list_training_jobs, words):
            for each in map(listed, page["TrainingJobSummaries"]):
                if each.name in created:
                    found[each.name] = each
            if len(found) == len(created):
                break
        return found

    def trials(self, tuning_job: str, over: frozenset[str], running: frozenset[str]) -> list[Listed]:
        """The training jobs of a tuning job, the newest first, as far as there can be news of them.

        Args:
            tuning_job: The tuning job.
            over: Training jobs that are known to be over: once nothing but those is on a page, and all that
                run were told, the rest is not asked for.
            running: Training jobs that are known and not over.
        """
        words = {
            "HyperParameterTuningJobName": tuning_job,
            "SortBy": "CreationTime",
            "SortOrder": "Descending",
        }
        found: list[Listed] = []
        client = self._region.client("sagemaker")
        action = "sagemaker:ListTrainingJobsForHyperParameterTuningJob"
        for page in self._pages(action, client.list_training_jobs_for_hyper_parameter_tuning_job, words):
            here = [listed(each) for each in page["TrainingJobSummaries"]]
            found += here
            told = {each.name for each in found}
            if here and running <= told and all(each.name in over for each in here):
                break
        return found

    def tuning_job(self, name: str) -> TuningStanding:
        """Where a tuning job stands."""
        return tuning_standing(describe(self._region, name, True, self._patience))

    def _pages(
        self, action: str, call: Callable[..., Any], words: Mapping[str, Any]
    ) -> Iterator[Mapping[str, Any]]:
        token: dict[str, str] = {}
        while True:
            try:
                page = self._region.bear(lambda: call(MaxResults=PAGE, **words, **token), self._patience)  # noqa: B023
            except AwsError as error:
                if is_unknown(error):
                    raise InputError(
                        f"There is no tuning job {words.get('HyperParameterTuningJobName')} in"
                        f" {self._region.name}."
                    ) from None
                raise from_aws(error, action, self._region.name) from None
            yield page
            if not page.get("NextToken"):
                return
            token = {"NextToken": page["NextToken"]}


def _common(names: tuple[str, ...]) -> str:
    """What all names begin with."""
    low, high = min(names), max(names)
    length = next(
        (at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low)
    )
    return low[:length]
