"""Who owns a job that runs on SageMaker: nobody of this machine."""

NOBODY = "sagemaker"
"""Stands in the record for the claim of a launcher; no process can hold it."""
