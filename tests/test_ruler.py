"""RULER's tasks: what is hidden, what is asked, and how what comes back is scored."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.errors import InvalidInputError
from hexamem.evals import Conversation, evaluate_ruler, make_ruler
from hexamem.evals.asking import Asked
from hexamem.evals.result_tables import ruler_section
from hexamem.evals.ruler import FAMILIES, TASKS, parse_tokens, tasks_named
from hexamem.evals.ruler_run import read_score, share_of_values
from hexamem.models.tokens import count_tokens


def values_of(sample: Conversation) -> tuple[str, ...]:
    values: tuple[str, ...] = sample.questions[0].gold["values"]
    return values


@pytest.mark.parametrize("task", TASKS)
def test_a_sample_depends_on_its_seed_alone_is_as_long_as_asked_and_reveals_nothing(task: str) -> None:
    sample = make_ruler(task, 2_000, seed=3)
    assert sample == make_ruler(task, 2_000, seed=3)
    assert values_of(sample) != values_of(make_ruler(task, 2_000, seed=4))
    assert sum(count_tokens(str(message.content)) for message in sample.messages) == pytest.approx(2_000, rel=0.06)
    assert share_of_values(values_of(sample), sample.questions[0].text) == 0
    assert task not in json.dumps([message.as_message() for message in sample.messages])


@settings(max_examples=6, deadline=None)
@given(task=st.sampled_from(FAMILIES["needle"]), seed=st.integers(0, 10_000))
def test_each_needle_of_an_asked_key_occurs_once_in_an_evidence_turn(task: str, seed: int) -> None:
    sample = make_ruler(task, 2_000, seed=seed)
    (question,) = sample.questions
    contents = {message.id: str(message.content) for message in sample.messages}
    needles = re.findall(r"special magic \w+ for ([\w-]+) is: ([\w-]+)\.", "\n".join(contents.values()))
    keys = re.sub(r", and |, ", " ", question.text.removesuffix(" mentioned in the provided text?")).split(" for ")[1]
    assert sorted(value for key, value in needles if key in keys.split()) == sorted(values_of(sample))
    assert share_of_values(values_of(sample), " ".join(contents[turn] for turn in question.evidence)) == 1
    assert all(share_of_values(values_of(sample), contents[turn]) > 0 for turn in question.evidence)


def test_lengths_and_tasks_are_read_as_people_write_them_and_refused_where_they_are_none() -> None:
    assert [parse_tokens(text) for text in ("8k, 32K,512000", "6000,6000")] == [[8_000, 32_000, 512_000], [6_000]]
    for text in ("", "k", "8m", "-8k", "1999", "8k,,9k", "1.5k"):
        with pytest.raises(InvalidInputError, match="at least 2,000 tokens"):
            parse_tokens(text)
    assert tasks_named(["vt", "variable_tracking"]) == ["vt", "vt_chains"]
    assert tasks_named([]) == list(TASKS)
    with pytest.raises(InvalidInputError, match="'hops' is unknown"):
        tasks_named(["hops"])
    wrong: dict[str, dict[str, Any]] = {
        "task 'magic'": {"task": "magic"},
        "tokens = 100": {"tokens": 100},
        "form = 'poem'": {"form": "poem"},
    }
    for message, changed in wrong.items():
        with pytest.raises(InvalidInputError, match=message):
            make_ruler(**{"task": "vt", "tokens": 2_000, **changed})


def test_a_value_counts_as_a_whole_word_and_aggregation_by_the_words_that_came_back_or_the_models_answer() -> None:
    for value, text, share in (
        ("123", "it is 123.", 1.0),
        ("123", "it is 1234 or 0123", 0.0),
        ("AB", "ab", 0.0),
        ("a-b", "x-a-b", 0.0),
        ("a-b", "is: a-b.", 1.0),
    ):
        assert share_of_values([value], text) == share

    def asked(text: str, passages: tuple[str, ...] = (), answer: str | None = None, calls: int = 0) -> Asked:
        return Asked(text=text, passages=passages, steps=(), seconds=0.0, answer=answer, calls=calls)

    gold = {"read": "count", "values": ("abba", "cddc")}
    passages = ("1. abba 2. cddc 3. effe", "4. effe 5. abba 6. effe 7. abba")
    assert read_score(gold, asked("abba cddc", passages)) == 0.5
    assert read_score(gold, asked("", passages, answer="They are cddc and abba.", calls=1)) == 1.0
    assert read_score(gold, asked("", passages, answer="They are cddc and abba.")) == 0.5
    assert read_score({"read": "contains", "values": ("7", "9")}, asked("so 7", answer="7 and 9")) == 0.5


class FakeUser:
    """``all`` returns every step, ``first`` the first one, ``research`` the evidence that holds VAR."""

    def __init__(self) -> None:
        self.hits: list[Any] = []
        self.questions: list[tuple[str, int]] = []

    def remember(self, messages: list[dict[str, Any]], *, thread_id: str) -> Any:
        start = len(self.hits)
        for number, message in enumerate(messages, start):
            self.hits.append(SimpleNamespace(id=f"s{number}", kind="step", text=str(message["content"]), sources=()))
        return SimpleNamespace(step_ids=[hit.id for hit in self.hits[start:]], degraded=())

    def flush(self) -> None:
        pass

    def recall(self, query: str, *, k: int, strategy: str) -> Any:
        self.questions.append((query, k))
        hits = self.hits[: None if strategy == "all" else 1]
        return SimpleNamespace(hits=hits, text="\n".join(hit.text for hit in hits), degraded=("slow",))

    def research(self, question: str, max_rounds: int, *, form: str) -> Any:
        hits = [hit for hit in self.hits if "VAR" in hit.text]
        answered = {"answer": "I counted nothing.", "answerable": True, "degraded": ()}
        usage, context = SimpleNamespace(calls=2, input_tokens=20, output_tokens=10), [hit.text for hit in hits[:-1]]
        return SimpleNamespace(context=" ".join(context), passages=hits, hits=hits, usage=usage, **answered)


def measured(strategies: list[str], tokens: list[int], **options: Any) -> tuple[list[dict[str, Any]], list[FakeUser]]:
    users: dict[str, FakeUser] = {}
    memory: Any = SimpleNamespace(user=lambda name: users.setdefault(name, FakeUser()))
    return evaluate_ruler(lambda: nullcontext(memory), tokens, strategies, **options), list(users.values())


def test_each_sample_has_a_memory_of_its_own_and_each_strategy_an_object_and_a_table() -> None:
    seen: list[tuple[int, int]] = []
    options: dict[str, Any] = {"tasks": ["niah_multikey_1", "vt_chains", "cwe"], "count": 2, "k": 4}
    advance = lambda _, *step: seen.append(step)  # noqa: E731
    results, users = measured(["all", "first"], [2_000, 3_000], progress=advance, **options)
    everything, first = results
    assert len(users) == everything["n_conversations"] == everything["n_questions"] == 12
    assert seen == [(number, 36) for number in range(1, 37)]
    assert users[0].questions == [(make_ruler("niah_multikey_1", 2_000).questions[0].text, 4)] * 2
    assert everything["families"]["2000"] == {"needle": 1.0, "variable_tracking": 1.0, "aggregation": 1.0}
    row = everything["tasks"]["3000"]["vt_chains"]
    assert (row["n"], row["score"], row["all_found"], row["evidence"], row["foreign"]) == (2, 1.0, 1.0, 1.0, 1.0)
    assert row["context_share"] == pytest.approx(1.0, rel=0.06)
    assert first["families"]["3000"]["variable_tracking"] < 1
    assert json.loads(json.dumps(results)) == results
    section = ruler_section(results)
    shown = {row["task"]: row for row in next(iter(section.tables.values()))}
    assert re.fullmatch(r"100\.0% \(\d,\d+\)", str(shown["vt_chains"]["3,000"]))
    assert shown["aggregation"]["2,000"] == "100.0%"
    assert "degraded, all: slow (12×)" in section.remarks


def test_research_is_asked_with_its_rounds_and_what_it_read_is_shown_beside_what_it_returned() -> None:
    (result,), _ = measured(["research"], [2_000], tasks=["vt", "cwe"], rounds=7)
    row = result["tasks"]["2000"]["vt"]
    # The last assignment was read and is not in the context.
    assert (row["score"], row["read"], row["all_found"], row["evidence"]) == (0.8, 1.0, 0.0, 1.0)
    assert (result["families"]["2000"]["needle"], result["families"]["2000"]["variable_tracking"]) == (None, 0.8)
    assert (result["rounds"], result["llm_calls"], result["llm_tokens"]) == (7, 4, 60)
    (table,) = ruler_section([result]).tables.values()
    shown = {row["task"]: str(row["2,000"]) for row in table}
    assert re.fullmatch(r"80\.0% \(\d+\)\nread 100\.0% \(\d+\)", shown["vt"])
    assert ("read" in shown["cwe"], "needle" in shown) == (False, False)
