"""What the rules make of roles, possessives and facts told side by side."""

from __future__ import annotations

import pytest

from hexamem.agents.managers.rules.roles_english import is_occupation

from .test_rule_managers import core, summaries


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I'm a pescatarian now.", "Is pescatarian"),
        ("I'm a flexitarian now.", "Is flexitarian"),
        ("I'm a teetotaller now.", "Is teetotal"),
        ("I'm a grandmother now.", "Is a grandmother"),
        ("I'm a proud aunt now.", "Is an aunt"),
        ("I'm a mother of three.", "Is a mother of three"),
        ("I'm a Buddhist now.", "Is a Buddhist"),
        ("I'm an atheist.", "Is an atheist"),
        ("I'm a Norwegian now.", "Is Norwegian"),
        ("I'm a non-smoker now.", "Is a non-smoker"),
        ("I'm a nurse now.", "Is a nurse"),
        ("I'm a partner at Deloitte.", "Is a partner"),
    ],
)
def test_what_somebody_is_now_is_one_fact_of_its_own_kind(text: str, value: str) -> None:
    assert [one for one in core(text) if one != "Works at Deloitte"] == [value]


@pytest.mark.parametrize(
    "job",
    [
        "nurse", "librarian", "veterinarian", "historian", "parliamentarian", "shop assistant", "foster carer", "Teacher",
        "Software Engineer", "physician", "pharmacist", "receptionist", "registered nurse", "sales manager", "CEO", "partner",
        "student", "stay-at-home dad", "tailor", "chairman", "gardener",
    ],
)  # fmt: skip
def test_an_occupation_is_known_as_one(job: str) -> None:
    assert is_occupation(job)


@pytest.mark.parametrize(
    "role",
    [
        "pescatarian", "teetotaller", "non-smoker", "meat eater", "grandmother", "step-father", "godparent", "sister-in-law",
        "Buddhist", "Methodist", "atheist", "feminist", "Londoner", "New Yorker", "Egyptian", "Irishman", "Canadian", "teenager",
        "keen gardener", "good cook", "heavy sleeper", "cancer survivor", "permanent resident", "Sagittarian", "introvert",
    ],
)  # fmt: skip
def test_other_roles_are_no_occupations(role: str) -> None:
    assert not is_occupation(role)


def test_who_is_to_be_a_father_is_none_yet() -> None:
    assert core("I'm going to be a father.") == []
