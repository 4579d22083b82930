"""Made-up trajectories: what every plan keeps to, the words, the export, and that gold stays with the scorer."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from hexamem import Memory
from hexamem.cli import main
from hexamem.errors import InvalidInputError
from hexamem.evals import Conversation, load_conversations, print_report, print_sizes
from hexamem.evals.synthetic import (
    FAMILIES,
    QUESTION_TYPES,
    SIZES,
    SPLITS,
    make_conversation,
    make_conversations,
    make_plan,
    plan_questions,
    write_came,
)
from hexamem.evals.synthetic.family import FamilyName, Split, family, templates
from hexamem.evals.synthetic.plan import SCOPES, TURNS, Plan, Size
from hexamem.evals.synthetic.render import Renderer

KINDS: list[tuple[FamilyName, str]] = [("travel", "en"), ("travel", "zh"), ("project", "en"), ("debate", "en")]
GOLD = ("partition", "action", "action_object", "answer_turn_ids")

kinds = st.sampled_from(KINDS)
seeds = st.integers(0, 2**31)


def plan_of(kind: tuple[FamilyName, str], seed: int, size: Size = "S") -> Plan:
    return make_plan(family(*kind), size, seed)


# -- the plan ---------------------------------------------------------------------------------------------------------


@given(kind=kinds, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_an_antecedent_is_earlier_and_in_the_same_partition(kind: tuple[FamilyName, str], seed: int) -> None:
    plan = plan_of(kind, seed)
    pointing = [turn for turn in plan.turns if turn.antecedent is not None]
    assert pointing
    for turn in pointing:
        assert turn.antecedent is not None
        assert turn.antecedent < turn.index
        assert plan.turns[turn.antecedent].scope == turn.scope


@given(kind=kinds, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_evidence_lies_in_the_scope_or_group_asked_about(kind: tuple[FamilyName, str], seed: int) -> None:
    plan = plan_of(kind, seed)
    for question in plan_questions(plan, seed):
        asked = plan.scopes[question.scope].partition
        assert question.evidence
        assert list(question.evidence) == sorted(set(question.evidence))
        for index in question.evidence:
            found = plan.scopes[plan.turns[index].scope].partition
            assert found[:1] == asked[:1] if question.group else found == asked


@given(kind=kinds, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_what_is_current_was_said_last(kind: tuple[FamilyName, str], seed: int) -> None:
    plan = plan_of(kind, seed)
    for fact in plan.facts:
        if fact.kind == "value":
            turns = list(fact.turns.values())
            assert turns == sorted(turns)
            assert [plan.turns[turn].slots["value"] for turn in turns] == list(fact.values)
        if fact.kind == "choice":
            assert fact.turns["propose"] < fact.turns["decide"] < fact.turns.get("switch", len(plan.turns))


@given(kind=kinds, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_a_short_plan_is_within_bounds_opens_each_scope_once_and_comes_back(
    kind: tuple[FamilyName, str], seed: int
) -> None:
    plan = plan_of(kind, seed)
    low, high = TURNS["S"]
    assert low <= len(plan.turns) <= high
    assert [turn.index for turn in plan.turns] == list(range(len(plan.turns)))
    assert sorted(turn.time for turn in plan.turns) == [turn.time for turn in plan.turns]
    first = {turn.scope: turn for turn in reversed(plan.turns)}
    assert {turn.stage for turn in first.values()} == {"open"}
    assert Counter(turn.stage for turn in plan.turns)["open"] == len(plan.scopes) == SCOPES["S"]
    visits = [
        turn.scope for before, turn in zip(plan.turns, plan.turns[1:], strict=False) if before.scope != turn.scope
    ]
    assert len(visits) > len(plan.scopes)


@given(kind=kinds, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_a_turn_that_enters_a_scope_shows_it_and_one_that_stays_does_not(
    kind: tuple[FamilyName, str], seed: int
) -> None:
    plan = plan_of(kind, seed)
    assert plan.turns[0].marker == "open"
    for before, turn in zip(plan.turns, plan.turns[1:], strict=False):
        assert (turn.marker == "none") == (before.scope == turn.scope)
        if turn.marker == "resume" or turn.here:
            assert turn.antecedent is not None


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_longer_plans_are_6_and_17_times_as_long_and_ask_as_much(kind: tuple[FamilyName, str]) -> None:
    plans = {size: plan_of(kind, 3, size) for size in SIZES}
    for size, plan in plans.items():
        low, high = TURNS[size]
        assert low <= len(plan.turns) <= high
        assert len({scope.partition for scope in plan.scopes}) == SCOPES[size]
        assert len({scope.slots["handle"] for scope in plan.scopes}) == SCOPES[size]
    assert (SCOPES["M"], SCOPES["L"]) == (6 * SCOPES["S"], 17 * SCOPES["S"])
    asked = {size: Counter(question.type for question in plan_questions(plan, 3)) for size, plan in plans.items()}
    assert asked["M"] == asked["L"] == dict.fromkeys(QUESTION_TYPES, 6)
    assert asked["S"].keys() == asked["L"].keys()
    assert min(asked["S"].values()) >= 3


def test_near_identical_choices_recur_over_scopes() -> None:
    plan = plan_of(("travel", "en"), 1, "M")
    names = Counter(option.name for fact in plan.facts if fact.kind == "choice" for option in fact.options)
    assert names.most_common(1)[0][1] >= 4


# -- the words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_the_splits_share_no_sentence(kind: tuple[FamilyName, str]) -> None:
    def sentences(split: Split) -> set[str]:
        lines = {line for group in templates(*kind, split).values() for line in group}
        # What is only slots and short joints ("{options}, {first}") has no words of its own.
        return {
            re.sub(r"\W+", " ", line).casefold().strip() for line in lines if len(re.sub(r"\{\w+\}|\W", "", line)) > 3
        }

    shared = sentences("dev") & sentences("test")
    assert shared == set()
    assert min(len(sentences(split)) for split in SPLITS) > 130


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("split", SPLITS)
def test_every_action_has_six_paraphrases_and_every_question_three(kind: tuple[FamilyName, str], split: Split) -> None:
    made = family(*kind)
    lines = templates(*kind, split)
    short = {
        group: len(found)
        for group, found in lines.items()
        if len(set(found)) < (3 if group.split(".")[0] in ("question", "scope", "group", "ref", "at", "option") else 6)
    }
    assert short == {}
    needed = {"open", "opened", "propose", "detail_ask", "detail", "compare", "recommend", "decide", "switch"}
    assert needed | {"confirm", "revise", "ack", "noted", "chat", "chat_reply"} <= lines.keys()
    own = {"choice": "ask", "value": "set", "notes": "note"}
    assert {f"{topic.name}.{own[topic.kind]}" for topic in made.topics} <= lines.keys()
    assert 6 <= len(set(made.actions.values())) <= 12


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("split", SPLITS)
def test_whatever_may_say_where_it_belongs_has_a_place_for_it(kind: tuple[FamilyName, str], split: Split) -> None:
    lines = {
        group: found for group, found in templates(*kind, split).items() if group.endswith((".ask", ".set", ".note"))
    }
    assert [line for found in lines.values() for line in found if line.count("{at}") != 1] == []


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("split", SPLITS)
def test_no_sentence_announces_its_label(kind: tuple[FamilyName, str], split: Split) -> None:
    made = make_conversation(kind[0], "M", seed=5, split=split, language=kind[1])
    for message in made.messages:
        gold = made.gold[message.id or ""]
        assert not any(part in str(message.content) for part in gold["partition"])
        assert gold["action"] not in str(message.content)
        assert not re.search(r"[{}|]", str(message.content))
    starts = Counter(str(message.content)[:8] for message in made.messages)
    assert starts.most_common(1)[0][1] < len(made.messages) * 0.1


@given(kind=kinds, seed=seeds, split=st.sampled_from(SPLITS))
@settings(max_examples=20, deadline=None)
def test_a_trajectory_is_the_same_each_time_and_its_ids_hold_no_gold(
    kind: tuple[FamilyName, str], seed: int, split: Split
) -> None:
    made = make_conversation(kind[0], "S", seed=seed, split=split, language=kind[1])
    again = make_conversation(kind[0], "S", seed=seed, split=split, language=kind[1])
    assert made == again
    assert made.gold == again.gold
    ids = [message.id for message in made.messages]
    assert ids == [f"turn-{number}" for number in range(1, len(ids) + 1)]
    assert {turn for question in made.questions for turn in question.evidence} <= set(ids)
    assert made.gold.keys() == set(ids)
    assert all(message.content and "{" not in str(message.content) for message in made.messages)
    assert all(question.text and "{" not in question.text for question in made.questions)
    for question in made.questions:
        partition = question.gold["partition"]
        assert not any(part in question.text for part in partition)


def test_a_question_names_its_scope_as_no_other_scope_is_named() -> None:
    plan = plan_of(("travel", "en"), 2, "L")
    forms = Renderer(plan, "test", 2)._scope_forms
    owners: dict[str, set[int]] = {}
    for scope, names in forms.items():
        assert len(names) >= 2
        for name in names:
            owners.setdefault(name.casefold(), set()).add(scope)
    assert {name: found for name, found in owners.items() if len(found) > 1} == {}


def test_seeds_and_splits_give_other_words() -> None:
    first, second = make_conversations(["project"], "S", count=2)
    other = make_conversation("project", "S", split="dev")
    texts = [[message.content for message in one.messages] for one in (first, second, other)]
    assert texts[0] != texts[1]
    assert texts[0] != texts[2]
    assert [first.gold[m.id or ""]["partition"] for m in first.messages] == [
        other.gold[m.id or ""]["partition"] for m in other.messages
    ]


def test_travel_is_there_in_chinese_too() -> None:
    made = make_conversations(["travel"], "S")
    assert [one.metadata["language"] for one in made] == ["en", "zh"]
    assert all(re.search(r"[\u4e00-\u9fff]", question.text) for question in made[1].questions)


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "family": (lambda: make_conversation("cooking"), "cooking"),  # type: ignore[arg-type]
    "size": (lambda: make_conversation("travel", "XL"), "XL"),  # type: ignore[arg-type]
    "split": (lambda: make_conversation("travel", split="train"), "train"),  # type: ignore[arg-type]
    "language": (lambda: make_conversation("debate", language="zh"), "zh"),
    "count": (lambda: make_conversations(count=0), "count = 0"),
    "families": (lambda: make_conversations(["travel", "travel"]), "each once"),
}


@pytest.mark.parametrize("kind", BAD)
def test_an_unknown_choice_is_refused_by_name(kind: str) -> None:
    call, said = BAD[kind]
    with pytest.raises(InvalidInputError, match=said):
        call()


# -- the export -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_the_export_reads_back_as_it_was(name: FamilyName, tmp_path: Path) -> None:
    made = make_conversation(name, "S", seed=4)
    turns, questions = write_came(made, tmp_path / "new")
    assert (turns.parent, questions.parent) == (tmp_path / "new", tmp_path / "new")
    (read,) = load_conversations(turns)
    seen = [(m.id, m.role, m.name, m.content, m.timestamp) for m in read.messages]
    assert seen == [(m.id, m.role, m.name, m.content, m.timestamp) for m in made.messages]
    assert [(q.text, q.answer, q.category, q.evidence) for q in read.questions] == [
        (q.text, q.answer, q.category, q.evidence) for q in made.questions
    ]
    for turn, gold in made.gold.items():
        assert {key: read.gold[turn][key] for key in GOLD[:3]} == {key: gold[key] for key in GOLD[:3]}
    assert read.notes == ()


def test_a_turn_that_is_no_text_cannot_be_exported(tmp_path: Path) -> None:
    made = make_conversation("travel", "S")
    for change in ({"id": None}, {"content": [{"type": "text", "text": "x"}]}, {"role": "user", "name": "assistant"}):
        bad = replace(made, messages=(replace(made.messages[0], **change), *made.messages[1:]))
        with pytest.raises(InvalidInputError, match="turn 1"):
            write_came(bad, tmp_path)


# -- gold stays with the scorer ---------------------------------------------------------------------------------------


def without_gold(folder: Path, name: str) -> Conversation:
    """The exported conversation as it would read if nobody had annotated it."""
    target = folder / "bare"
    target.mkdir()
    lines = [json.loads(line) for line in (folder / f"{name}_turns.jsonl").read_text("utf-8").splitlines()]
    bare = [
        {"id": f"x{n}", "partition": [], "action": "", **{k: line[k] for k in ("role", "content")}}
        for n, line in enumerate(lines)
    ]
    (target / f"{name}_turns.jsonl").write_text("".join(json.dumps(line) + "\n" for line in bare), "utf-8")
    (read,) = load_conversations(target / f"{name}_turns.jsonl")
    return read


def test_the_memory_is_given_the_same_bytes_with_gold_and_without(tmp_path: Path, memory: Memory) -> None:
    made = make_conversation("project", "S", seed=9)
    turns, _ = write_came(made, tmp_path)
    (annotated,) = load_conversations(turns)
    bare = without_gold(tmp_path, made.id)
    assert annotated.gold != bare.gold

    def given(conversation: Conversation) -> bytes:
        messages = [[m.thread_id, m.as_message()] for m in conversation.messages]
        return json.dumps(messages, ensure_ascii=False, sort_keys=True).encode()

    assert given(annotated) == given(bare)
    for word in ("partition", "action_object", "answer_turn_ids", "workstream-", "OPEN_TASK"):
        assert word.encode() not in given(annotated)

    induced = []
    for name, conversation in (("with", annotated), ("without", bare)):
        user = memory.user(name)
        receipt = user.remember([m.as_message() for m in conversation.messages], thread_id="talk")
        user.flush()
        labels = getattr(getattr(user, "labels", None), "induced", dict)()
        at = {step: place for place, step in enumerate(receipt.step_ids)}
        induced.append({at[step]: _as_partition(found) for step, found in labels.items()})
    assert _same_up_to_names(*induced)


def _as_partition(found: Any) -> tuple[Any, ...]:
    return found.scope, tuple(found.events), tuple(found.coarse_events), tuple(found.entities)


def _same_up_to_names(one: dict[int, tuple[Any, ...]], other: dict[int, tuple[Any, ...]]) -> bool:
    """Ids of labels may differ between users: the same steps must be labelled alike under one renaming."""
    if one.keys() != other.keys():
        return False
    there: dict[Any, Any] = {}
    back: dict[Any, Any] = {}
    for step, (scope, *lists) in one.items():
        scope_2, *lists_2 = other[step]
        pairs = [(("scope", scope), ("scope", scope_2))]
        for kind, (mine, theirs) in enumerate(zip(lists, lists_2, strict=True)):
            if len(mine) != len(theirs):
                return False
            pairs += [((kind, a), (kind, b)) for a, b in zip(mine, theirs, strict=True)]
        for a, b in pairs:
            if there.setdefault(a, b) != b or back.setdefault(b, a) != a:
                return False
    return True


# -- the command ------------------------------------------------------------------------------------------------------


def test_eval_synthetic_gives_one_object_a_size_and_strategy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["eval", "synthetic", "--size", "S", "--family", "project", "-s", "bm25", "-s", "dense", "--json", "-"]
    assert main([*words, "--export", str(tmp_path / "came")]) == 0
    results = json.loads(capsys.readouterr().out)
    assert [(one["size"], one["strategy"], one["split"]) for one in results] == [
        ("S", "bm25", "test"),
        ("S", "dense", "test"),
    ]
    assert results[0]["dataset"] == "synthetic"
    assert set(QUESTION_TYPES) <= results[0]["recall"].keys()
    assert len(list((tmp_path / "came").glob("*_turns.jsonl"))) == 1

    shown = io.StringIO()
    console = Console(file=shown, width=150)
    print_report(results, console)
    print_sizes([*results, *({**one, "size": "M"} for one in results)], console)
    assert all(type_ in shown.getvalue() for type_ in QUESTION_TYPES)
    assert "synthetic S: all categories" in shown.getvalue()
    assert "recall@20 by size" in shown.getvalue()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["synthetic", "FILE"], "leave the path out"),
        (["synthetic", "--size", "XL"], "XL"),
        (["synthetic", "--size", "S", "--size", "S"], "each once"),
        (["synthetic", "--family", "cooking"], "cooking"),
        (["synthetic", "--count", "0"], "count = 0"),
        (["came", "FILE", "--size", "S"], "--size is for synthetic alone"),
        (["came"], "PATH"),
    ],
)
def test_a_bad_eval_synthetic_is_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file.jsonl").write_text("")
    assert main(["eval", *[str(tmp_path / "file.jsonl") if word == "FILE" else word for word in words]]) == 2
    assert said in capsys.readouterr().err
