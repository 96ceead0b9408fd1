"""Jobs that SageMaker runs and decides about: handed in, followed, and written into the record as they go."""
