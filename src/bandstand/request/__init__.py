"""From a job file or an API document to a checked, frozen plan."""
