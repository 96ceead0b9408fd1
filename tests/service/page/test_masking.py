"""Secrets, and what looks like one and is none."""

from __future__ import annotations

import pytest

from bandstand.service.page.masking import HIDDEN, Mask, is_secret


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("token: abcdefgh12345678", f"token: {HIDDEN}"),
        ("max_tokens=4096 token=12345678", "max_tokens=4096 token=12345678"),
        ("tokenizer=bert-base-uncased", "tokenizer=bert-base-uncased"),
        ("key AKIAABCDEFGHIJKLMNOP used", f"key {HIDDEN} used"),
        ("given bandstand-job.abc.def", f"given {HIDDEN}"),
    ],
)
def test_a_secret_in_a_line_is_known_by_its_name_or_its_form(text, shown):
    assert Mask().text(text) == shown


def test_secrets_are_known_by_the_end_of_their_names():
    assert all(map(is_secret, ("api_key", "API-KEY", "db_password", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY")))
    assert not any(map(is_secret, ("num_tokens", "tokenizer", "password_length", "key")))
