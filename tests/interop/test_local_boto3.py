"""boto3, with no setting but AWS_ENDPOINT_URL, as a client of the local service."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.interop.client import Program, booster


def test_a_script_that_knows_nothing_of_this_service_runs_against_it(
    begin: Callable[..., Program], place: Path
) -> None:
    facts = begin("v2", "plain_boto3.py").facts()
    assert facts["status"] == "Completed"
    assert facts["metrics"] == ["validation:auc"]
    assert all(
        re.fullmatch(rf"plain-tuning-00{number}-[0-9a-f]{{8}}", name)
        for number, name in enumerate(facts["jobs"], 1)
    )
    assert booster(place).num_boosted_rounds() == 4
