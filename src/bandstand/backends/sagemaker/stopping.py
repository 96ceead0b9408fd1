"""A job is asked to stop; one that is over, or stopping, is left as it is."""

from __future__ import annotations

from bandstand.backends.sagemaker.creating import is_unknown
from bandstand.backends.sagemaker.refusals import AwsError, code_of, from_aws
from bandstand.backends.sagemaker.region import Region
from bandstand.errors import InputError


def stop_job(region: Region, name: str, *, tuning: bool) -> None:
    """Ask SageMaker to stop a job.

    Args:
        region: The region.
        name: The job.
        tuning: Whether it is a tuning job; its training jobs stop with it.

    Raises:
        InputError: There is no such job, or the rights are missing.
        PlatformError: AWS cannot be reached.
    """
    sagemaker = region.client("sagemaker")
    operation = "StopHyperParameterTuningJob" if tuning else "StopTrainingJob"
    try:
        if tuning:
            region.bear(lambda: sagemaker.stop_hyper_parameter_tuning_job(HyperParameterTuningJobName=name))
        else:
            region.bear(lambda: sagemaker.stop_training_job(TrainingJobName=name))
    except AwsError as error:
        if is_unknown(error):
            raise InputError(f"There is no job {name} in {region.name}.") from None
        if code_of(error) == "ValidationException":
            return  # "The request was rejected because the training job is in status ..."
        raise from_aws(error, f"sagemaker:{operation}", region.name) from None
