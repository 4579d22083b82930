"""Made-up trajectories: the rules of every plan, the words, and that gold stays with the scorer."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.evals.synthetic import SPLITS, make_conversation, make_plan, plan_questions
from hexamem.evals.synthetic.family import FamilyName, Split, family, templates
from hexamem.evals.synthetic.plan import SCOPES, TURNS

Kind = tuple[FamilyName, str]
KINDS: list[Kind] = [("travel", "en"), ("travel", "zh"), ("project", "en"), ("debate", "en")]


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_every_plan_follows_its_rules(kind: Kind, seed: int) -> None:
    plan = make_plan(family(*kind), "S", seed)
    low, high = TURNS["S"]
    assert low <= len(plan.turns) <= high
    assert sorted(turn.time for turn in plan.turns) == [turn.time for turn in plan.turns]
    first = {turn.scope: turn for turn in reversed(plan.turns)}
    assert {turn.beat.stage for turn in first.values()} == {"open"}
    assert Counter(turn.beat.stage for turn in plan.turns)["open"] == len(plan.scopes) == SCOPES["S"]
    visits = 0
    for before, turn in zip(plan.turns, plan.turns[1:], strict=False):
        visits += before.scope != turn.scope
        # Who enters a scope shows it, who stays does not.
        assert (turn.marker == "none") == (before.scope == turn.scope)
        assert turn.antecedent is not None or not (turn.marker == "resume" or turn.here)
    assert visits > len(plan.scopes)
    pointing = [(turn, plan.turns[turn.antecedent]) for turn in plan.turns if turn.antecedent is not None]
    assert pointing
    assert all(antecedent.index < turn.index and antecedent.scope == turn.scope for turn, antecedent in pointing)
    for fact in plan.facts:
        if fact.kind == "value":
            turns = list(fact.turns.values())
            assert turns == sorted(turns)
            assert [plan.turns[turn].beat.slots["value"] for turn in turns] == list(fact.values)
        if fact.kind == "choice":
            assert fact.turns["propose"] < fact.turns["decide"] < fact.turns.get("switch", len(plan.turns))
    for question in plan_questions(plan, seed):
        asked = plan.scopes[question.scope].partition
        assert list(question.evidence) == sorted(set(question.evidence)) != []
        for index in question.evidence:
            partition = plan.scopes[plan.turns[index].scope].partition
            assert partition[:1] == asked[:1] if question.group else partition == asked


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_the_splits_share_no_sentence_and_each_has_enough_of_every_kind(kind: Kind) -> None:
    few = ("question", "scope", "group", "ref", "at", "option")
    sentences: dict[Split, set[str]] = {}
    for split in SPLITS:
        lines = templates(*kind, split)
        for group, found in lines.items():
            assert len(set(found)) >= (3 if group.split(".")[0] in few else 6), group
            if group.endswith((".ask", ".set", ".note")):  # a turn may name where it belongs
                assert [line for line in found if line.count("{at}") != 1] == []
        # What is only slots and short joints ("{options}, {first}") has no words of its own.
        sentences[split] = {
            re.sub(r"\W+", " ", line).casefold().strip()
            for found in lines.values()
            for line in found
            if len(re.sub(r"\{\w+\}|\W", "", line)) > 3
        }
    assert not sentences["dev"] & sentences["test"]
    assert min(map(len, sentences.values())) > 130


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**31), split=st.sampled_from(SPLITS))
@settings(max_examples=15, deadline=None)
def test_a_trajectory_is_reproducible_and_its_words_ids_and_questions_hold_no_gold(
    kind: Kind, seed: int, split: Split
) -> None:
    made, again = (make_conversation(kind[0], "S", seed=seed, split=split, language=kind[1]) for _ in range(2))
    assert (made, made.gold) == (again, again.gold)
    ids = [message.id for message in made.messages]
    assert ids == [f"turn-{number}" for number in range(1, len(ids) + 1)]
    assert {turn for question in made.questions for turn in question.evidence} <= made.gold.keys() == set(ids)
    starts = Counter(str(message.content)[:8] for message in made.messages)
    assert starts.most_common(1)[0][1] < max(6, len(made.messages) * 0.1), "hardly any turns begin alike"
    for message in made.messages:
        gold = made.gold[str(message.id)]
        assert not any(part in str(message.content) for part in (*gold["partition"], gold["action"]))
        assert re.search(r"[{}|]", str(message.content) or "{") is None
    for question in made.questions:
        assert question.text
        assert not any(part in question.text for part in ("{", *question.gold["partition"]))
