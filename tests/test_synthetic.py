"""Made-up trajectories: what every plan keeps to, the words, the export, and that gold stays with the scorer."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.evals.synthetic import (
    SPLITS,
    make_conversation,
    make_plan,
    plan_questions,
)
from hexamem.evals.synthetic.family import FamilyName, Split, family, templates
from hexamem.evals.synthetic.plan import SCOPES, TURNS, Plan, Size

Kind = tuple[FamilyName, str]
KINDS: list[Kind] = [("travel", "en"), ("travel", "zh"), ("project", "en"), ("debate", "en")]
each_kind = pytest.mark.parametrize("kind", KINDS, ids="-".join)


def plan_of(kind: Kind, seed: int, size: Size = "S") -> Plan:
    return make_plan(family(*kind), size, seed)


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_every_plan_keeps_to_its_rules(kind: Kind, seed: int) -> None:
    plan = plan_of(kind, seed)
    low, high = TURNS["S"]
    assert low <= len(plan.turns) <= high
    assert [turn.index for turn in plan.turns] == list(range(len(plan.turns)))
    assert sorted(turn.time for turn in plan.turns) == [turn.time for turn in plan.turns]
    first = {turn.scope: turn for turn in reversed(plan.turns)}
    assert {turn.beat.stage for turn in first.values()} == {"open"}
    assert Counter(turn.beat.stage for turn in plan.turns)["open"] == len(plan.scopes) == SCOPES["S"]
    assert plan.turns[0].marker == "open"
    visits = 0
    for before, turn in zip(plan.turns, plan.turns[1:], strict=False):
        visits += before.scope != turn.scope
        assert (turn.marker == "none") == (
            before.scope == turn.scope
        )  # who enters a scope shows it, who stays does not
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
            found = plan.scopes[plan.turns[index].scope].partition
            assert found[:1] == asked[:1] if question.group else found == asked


def words_of(template: str) -> str:
    return re.sub(r"\{\w+\}|\W", "", template)


@each_kind
def test_the_splits_share_no_sentence_and_each_has_enough_of_every_kind(kind: Kind) -> None:
    made = family(*kind)
    assert 6 <= len(set(made.actions.values())) <= 12
    own = {"choice": "ask", "value": "set", "notes": "note"}
    needed = {"open", "opened", "propose", "detail_ask", "detail", "compare", "recommend", "decide", "switch"}
    needed |= {"confirm", "revise", "ack", "noted", "chat", "chat_reply"}
    needed |= {f"{topic.name}.{own[topic.kind]}" for topic in made.topics}
    few = ("question", "scope", "group", "ref", "at", "option")
    sentences: dict[Split, set[str]] = {}
    for split in SPLITS:
        lines = templates(*kind, split)
        assert needed <= lines.keys()
        for group, found in lines.items():
            assert len(set(found)) >= (3 if group.split(".")[0] in few else 6), group
            if group.endswith((".ask", ".set", ".note")):  # a turn may say where it belongs
                assert [line for line in found if line.count("{at}") != 1] == []
        # What is only slots and short joints ("{options}, {first}") has no words of its own.
        sentences[split] = {
            re.sub(r"\W+", " ", line).casefold().strip()
            for found in lines.values()
            for line in found
            if len(words_of(line)) > 3
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
