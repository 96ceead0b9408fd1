"""The page of the built-in Horovod names every hyperparameter, as the file that plan reads does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bandstand.hyperparameter_file import as_json, to_document
from bandstand.request.program import HOROVOD_METRICS
from bandstand_container.horovod_hyperparameters import FILE, SCHEMA

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "horovod.md").read_text("utf-8")


def test_the_hyperparameters_of_the_built_in_horovod_are_those_of_its_code() -> None:
    table = PAGE.split("\n## Hyperparameters\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([a-z_]+)` \| ([^|]*) \|", table, re.M)
    assert [name for name, _ in rows] == [each.name for each in SCHEMA.declared]
    told = {name: default.strip().strip("`") for name, default in rows}
    for each in SCHEMA.declared:
        if each.default is not None and each.name != "algorithm":
            shown = ",".join(map(str, each.default)) if isinstance(each.default, list) else each.default
            assert told[each.name] == (f"{shown:g}" if isinstance(shown, float) else str(shown))


def test_the_file_that_plan_reads_is_what_the_code_declares() -> None:
    assert json.loads(FILE.read_text("utf-8")) == json.loads(as_json(to_document(SCHEMA, None)))


def test_the_metrics_of_the_built_in_horovod_are_told() -> None:
    text = PAGE.split("\n## Metrics\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`((?:train|validation):\w+)`", text)) == set(HOROVOD_METRICS)
