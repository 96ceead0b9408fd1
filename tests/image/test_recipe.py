"""What is built: checked against the Dockerfile before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.errors import InputError
from bandstand.image.recipe import Wish, make_recipe
from bandstand.image.revision import Revision

TEXT = """
ARG BASE_IMAGE=python:3.11-slim
FROM ${BASE_IMAGE} AS first
FROM --platform=linux/amd64 first as second
ARG VERSION
ARG REVISION=unknown
arg PARQUET=1
"""
REVISION = Revision("mine", "1.2", "0123456789abcdef", None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Dockerfile").write_text(TEXT)
    return tmp_path


def test_version_and_revision_become_arguments_and_tags(folder: Path):
    recipe = make_recipe(Wish(folder), REVISION)
    assert recipe.tags == ("mine:1.2-0123456789ab", "mine:latest")
    assert dict(recipe.arguments) == {"VERSION": "1.2", "REVISION": "0123456789abcdef"}
    assert recipe.words[:3] == ("build", "--platform", "linux/amd64")
    assert recipe.words[-1] == str(folder)


def test_a_stage_is_part_of_the_tags(folder: Path):
    recipe = make_recipe(Wish(folder, stage="second"), REVISION)
    assert recipe.tags == ("mine:1.2-0123456789ab-second", "mine:second")
    assert "--target second" in " ".join(recipe.words)


def test_tags_that_are_given_take_the_place_of_ours(folder: Path):
    assert make_recipe(Wish(folder, tags=("a:1", "b/c")), REVISION).tags == ("a:1", "b/c")


def test_an_argument_may_be_set_to_nothing(folder: Path):
    words = make_recipe(Wish(folder, arguments=("PARQUET=", "http_proxy=http://p")), REVISION).words
    assert "PARQUET=" in words
    assert "http_proxy=http://p" in words


def test_a_folder_without_a_project_gives_the_name(tmp_path: Path):
    folder = tmp_path / "My Model_2"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM scratch\n")
    assert make_recipe(Wish(folder), Revision()).tags == ("my-model-2:latest",)


def test_all_that_is_wrong_is_told_at_once(folder: Path):
    wish = Wish(folder, stage="frist", arguments=("PARKET=",), tags=("Bad Tag",), registry=False)
    with pytest.raises(InputError) as told:
        make_recipe(wish, REVISION)
    text = str(told.value)
    assert "no stage 'frist'; it has: first, second. Did you mean 'first'?" in text
    assert "no argument 'PARKET'" in text
    assert "Did you mean 'PARQUET'?" in text
    assert "'Bad Tag' is no image reference" in text
    assert "docker/base.sh, which is not in" in text


def test_a_folder_without_a_dockerfile_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read: No such file or directory"):
        make_recipe(Wish(tmp_path), REVISION)


def test_with_no_registry_the_base_and_the_packages_are_here(folder: Path):
    (folder / "docker").mkdir()
    (folder / "docker" / "base.sh").touch()
    arguments = dict(make_recipe(Wish(folder, registry=False), REVISION).arguments)
    assert arguments["BASE_IMAGE"] == "bandstand-base:bookworm"
    assert arguments["PIP_NO_INDEX"] == "1"
