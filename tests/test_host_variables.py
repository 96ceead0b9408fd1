"""What the BANDSTAND_* variables of a host may hold, for a request and for a host alike."""

from __future__ import annotations

import pytest

from bandstand import host_variables
from bandstand.host_variables import HostVariable


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        (host_variables.PORT, "0", 0),
        (host_variables.PORT, "65535", 65535),
        (host_variables.RANKS_PER_HOST, "1024", 1024),
        (host_variables.THREADS, "4096", 4096),
        (host_variables.START_TIMEOUT, "2.5e1", 25.0),
        (host_variables.GOAL, "minimize", "minimize"),
        (host_variables.KEY, "0aff", b"\x0a\xff"),
        (host_variables.HOST_MAP, '{"a": "::1"}', {"a": "::1"}),
    ],
)
def test_a_right_text_becomes_a_value(variable: HostVariable, text: str, value: object):
    assert variable.accepts(text)
    assert variable.read(text) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        (host_variables.PORT, "65536"),
        (host_variables.PORT, "+1"),
        (host_variables.PORT, "1_0"),
        (host_variables.PORT, "²"),
        (host_variables.PORT, "9" * 5000),
        (host_variables.RANKS_PER_HOST, "0"),
        (host_variables.THREADS, "2.0"),
        (host_variables.START_TIMEOUT, "1e999"),
        (host_variables.START_TIMEOUT, "nan"),
        (host_variables.START_TIMEOUT, "-1"),
        (host_variables.GOAL, "Maximize"),
        (host_variables.KEY, "0af"),
        (host_variables.HOST_MAP, "[1]"),
        (host_variables.HOST_MAP, "[" * 100_000),
        (host_variables.HOST_MAP, '{"a": "nowhere"}'),
    ],
)
def test_a_wrong_text_is_refused(variable: HostVariable, text: str):
    assert not variable.accepts(text)
    with pytest.raises(ValueError):
        variable.read(text)
