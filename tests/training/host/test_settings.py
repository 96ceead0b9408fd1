"""The BANDSTAND_* variables: read, or refused all at once."""

from __future__ import annotations

import pytest

from bandstand.errors import InputError
from bandstand.training.host.settings import HostSettings, read_settings


def test_nothing_set_means_the_defaults():
    assert read_settings({"BANDSTAND_PORT": "", "PATH": "x"}) == HostSettings()


def test_every_variable_is_read():
    assert read_settings(
        {
            "BANDSTAND_PORT": "8000",
            "BANDSTAND_LISTEN_FD": "5",
            "BANDSTAND_KEY": "0aff",
            "BANDSTAND_HOST_MAP": '{"algo-1": "127.0.0.2"}',
            "BANDSTAND_START_TIMEOUT": "2.5",
            "BANDSTAND_RANKS_PER_HOST": "2",
            "BANDSTAND_THREADS": "4",
            "BANDSTAND_REQUIREMENTS": "install",
            "BANDSTAND_GOAL": "maximize",
        }
    ) == HostSettings(8000, 5, b"\x0a\xff", {"algo-1": "127.0.0.2"}, 2.5, 2, 4, True, "maximize")


def test_every_variable_that_is_wrong_is_told_at_once_and_the_key_is_not_shown():
    wrong = {
        "BANDSTAND_PORT": "70000",
        "BANDSTAND_LISTEN_FD": "-1",
        "BANDSTAND_KEY": "secret!",
        "BANDSTAND_HOST_MAP": '{"algo-1": "nowhere"}',
        "BANDSTAND_START_TIMEOUT": "inf",
        "BANDSTAND_RANKS_PER_HOST": "0",
        "BANDSTAND_THREADS": "two",
        "BANDSTAND_GOAL": "up",
    }
    with pytest.raises(InputError) as caught:
        read_settings(wrong)
    for name in wrong:
        assert f"{name} is " in str(caught.value)
    assert "secret!" not in str(caught.value)
