"""Where a job runs, and where the training jobs of a tuning job do."""

from __future__ import annotations

from pathlib import Path

from bandstand.backends.sagemaker.service_file import Served, read_served, write_served


def test_a_training_job_has_the_hosts_of_its_definition(tmp_path: Path) -> None:
    several = Served("many", "tuning", "eu-west-1", hosts=4, hosts_by_definition={"trees": 1, "nets": 4})
    write_served(tmp_path, several)
    again = read_served(tmp_path)
    assert again == several
    assert [again.trial("many-001", name).hosts for name in ("trees", "nets", None)] == [1, 4, 4]
    assert again.trial("many-001", "trees").tuning_job == "many"
    assert Served("one", "tuning", "eu-west-1", hosts=3).trial("one-001", None).hosts == 3
