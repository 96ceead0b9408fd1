"""Bandstand: try out, tune and ship custom SageMaker training containers."""
