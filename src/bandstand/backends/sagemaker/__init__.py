"""Training and tuning jobs that run on SageMaker: handed in once, followed, mirrored into folders."""
