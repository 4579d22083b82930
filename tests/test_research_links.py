"""Chains of identifiers: what one sentence says of two of them is followed, whatever the words between them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem import Memory
from hexamem.agents.research_rules.linking import follow_links, identifiers
from hexamem.agents.research_rules.planning import plan_by_rules
from hexamem.agents.research_rules.question import read_question
from hexamem.memory_types import utc_now
from hexamem.memory_types.research import LANES, Passage
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.evidence import _never_long_without


def said(*texts: str) -> list[Passage]:
    return [Passage(id=f"step_{number}", kind="step", text=text, round=1) for number, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Order QX-77 goes to bay_12 with 48213.", ("QX-77", "bay_12", "48213")),
        ("We met at 7:30 on 2024-05-01, the 3rd of May 2024, two of us, 12 chairs.", ()),
        ("The NASA badge of Ida.", ("NASA",)),
        ("订单A123已经发往仓库B7。", ("A123", "B7")),
        ("abc-9 and ABC-9 are one.", ("abc-9",)),
    ],
)
def test_identifiers_are_codes_and_long_numbers_but_no_times(text: str, names: tuple[str, ...]) -> None:
    assert identifiers(text) == names


def test_links_are_followed_within_sentences_not_within_passages() -> None:
    passages = said(
        "Key QQ11 opens case RR22. Lamp SS33 is broken.", "In case RR22 lies file TT44.", "Lamp SS33 hangs in UU55."
    )
    chain = follow_links(["QQ11"], passages)
    assert chain.reached == {"QQ11": 0, "RR22": 1, "TT44": 2}
    assert [one.text for one in chain.links] == ["Key QQ11 opens case RR22.", "In case RR22 lies file TT44."]
    assert chain.open(["rr22"]) == ["TT44"]


def test_a_mark_that_stands_everywhere_leads_nowhere() -> None:
    passages = said(
        "ITEM QQ11 is from ITEM RR22.", *(f"ITEM ZZ{number} is from ITEM YY{number}." for number in range(20))
    )
    assert set(follow_links(["QQ11"], passages).reached) == {"QQ11", "RR22"}


def test_without_identifiers_nothing_is_followed() -> None:
    assert follow_links([], said("Key QQ11 opens case RR22.")).links == ()


@given(st.permutations(range(8)), st.integers(0, 7))
def test_a_chain_is_reached_as_a_whole_in_whatever_order_it_was_read(order: Sequence[int], start: int) -> None:
    links = [f"Parcel PA{number}1 was put on PA{number + 1}1." for number in range(8)]
    chain = follow_links([f"PA{start}1"], said(*(links[number] for number in order)))
    assert set(chain.reached) == {f"PA{number}1" for number in range(9)}
    assert chain.reached[f"PA{start}1"] == 0
    assert max(chain.reached.values()) == max(start, 8 - start)


def test_a_need_of_one_word_is_searched_by_words_alone() -> None:
    question = read_question("Where is QX77?", ("Nora",), utc_now(), read_zone("UTC"))
    plan = plan_by_rules(question, ["RR22", "the lamp of Ida"], first=False, lanes=LANES)
    assert [(one.lane, one.need) for one in plan] == [
        ("keyword", "RR22"),
        ("vector", "the lamp of Ida"),
        ("keyword", "the lamp of Ida"),
    ]


@pytest.mark.parametrize(
    "link", ["{new} took over the desk of {old}.", "{new} = {old}", "The tag {old} was renamed to {new}!"]
)
def test_research_reads_a_chain_out_among_other_chains(memory: Memory, link: str) -> None:
    rng = random.Random(5)
    chains = [[f"{letter}{number}{letter}X" for number in range(10, 15)] for letter in ("KA", "LE", "MO")]
    lines = [link.format(new=new, old=old) for chain in chains for old, new in pairwise(chain)]
    lines += [f"On day {number} somebody watered {rng.randint(100, 999)} plants by the door." for number in range(80)]
    rng.shuffle(lines)
    user = memory.user("chains")
    user.remember(lines)
    found = user.research(f"Which are all the names that go back to {chains[0][0]}?", 5)
    assert all(name in found.answer for name in chains[0])
    assert not [name for chain in chains[1:] for name in chain if name in found.answer]


@given(st.lists(st.booleans(), max_size=40), st.integers(2, 8))
def test_among_the_candidates_the_others_are_never_long_away(marks: list[bool], every: int) -> None:
    best = [str(number) for number in range(len(marks))]
    others = {one for one, mark in zip(best, marks, strict=True) if mark}
    order = _never_long_without(best, others, every)
    assert sorted(order) == sorted(best)
    for kind in (others, set(best) - others):
        assert [one for one in order if one in kind] == [one for one in best if one in kind]
    last = max((at for at, one in enumerate(order) if one in others), default=-1)
    run = 0
    for one in order[: last + 1]:
        run = 0 if one in others else run + 1
        assert run < every
