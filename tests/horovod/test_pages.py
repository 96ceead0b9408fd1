"""What the pages show runs as it is shown."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "horovod.md"


def test_the_script_of_the_page_trains_the_same_on_two_hosts_as_on_one(cluster):
    (script,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    lines = []
    for hosts in (1, 2):
        job = cluster(hosts, script)
        assert job.wait() == [0] * hosts, job.log
        lines.append([float(line.rpartition("=")[2]) for line in job[0].out.splitlines()])
    assert len(lines[0]) == 5
    assert lines[0][-1] < lines[0][0] / 10
    assert all(abs(one - two) < 1e-5 for one, two in zip(*lines, strict=True))
