"""The tables of what is answered here name everything that the API's own model has."""

from __future__ import annotations

from pathlib import Path

import pytest

from bandstand.service.coverage import ANSWERS, MEMBERS
from bandstand.service.protocol import model
from bandstand.service.reference import PAGE, page
from bandstand.service.sagemaker import OPERATIONS

CREATES = {"CreateTrainingJob", "CreateHyperParameterTuningJob"}
DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"


def test_the_reference_page_is_what_the_tables_say():
    advice = "run: python -m bandstand.service.reference docs/reference"
    assert (DOCS / PAGE).read_text("utf-8") == page(), advice


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_is_one_of_the_model(name):
    assert name in model("sagemaker").operation_names


@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - CREATES))
def test_every_member_of_a_request_is_told(name):
    assert set(MEMBERS[name]) == set(model("sagemaker").operation_model(name).input_shape.members)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_member_of_an_answer_is_told(name):
    shape = model("sagemaker").operation_model(name).output_shape
    assert set(ANSWERS.get(name, {})) == set(shape.members if shape is not None else ())


def test_members_that_the_tables_do_not_know_are_refused():
    from bandstand.service.protocol import Group, ServiceError

    group = Group("sagemaker", {"ListTags": lambda context, parameters: {}}, {"ListTags": ("ResourceArn",)})
    body = b'{"ResourceArn": "arn:aws:sagemaker:eu-west-1:123456789012:training-job/a", "MaxResults": 50}'
    with pytest.raises(ServiceError, match="MaxResults of ListTags is not known"):
        group.call(None, "ListTags", body)
