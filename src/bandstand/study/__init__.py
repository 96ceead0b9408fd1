"""Pure decisions: which settings to start next, which training job to stop, and why."""
