"""From a job file or a document of the API to a plan, or to every problem at once."""
