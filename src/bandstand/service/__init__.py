"""The local AMT: SageMaker's API on loopback, which really runs what it is asked to run."""
