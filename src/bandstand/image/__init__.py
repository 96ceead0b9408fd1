"""Images: built from a recipe, checked to start as SageMaker starts them, pushed to ECR."""
