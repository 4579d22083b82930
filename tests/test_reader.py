"""The reader: which sentences become items without a chat model, and what supersedes what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from numpy.typing import NDArray

from hexamem import Memory, SemanticItem, Settings
from hexamem.agents.contract import Batch, BatchStep
from hexamem.agents.reader import EmbeddedMetaManager, Reader, ReaderSettings, embedded_managers
from hexamem.memory_types.step import Step
from hexamem.stores.embedders import open_embedder


def reader(**given: Any) -> Reader:
    return Reader(open_embedder("bundled"), **given)


def batch(*texts: str, role: str = "user", shown: tuple[str, ...] = ()) -> Batch:
    steps = tuple(
        BatchStep(
            step=Step(
                id=f"step_{number}", user="u", thread_id="t", turn=number, seq=number, role=role, content=text,
                index_text=text, occurred_at=datetime(2025, 3, 4, 9, tzinfo=UTC),
            ),
            resolved_text=text,
        )
        for number, text in enumerate(texts)
    )  # fmt: skip
    return Batch(user="u", steps=steps, zone=ZoneInfo("Europe/London"), shown=shown)


@pytest.mark.parametrize(
    "texts",
    [
        ("Morning!", "Can't complain, bit grey out there."),
        ("在吗在吗", "没事，就是无聊，哈哈哈"),
        ("Thanks, that's great!",),
        ("Can you explain how photosynthesis works?",),
    ],
)
def test_small_talk_gives_no_manager_anything_to_do(texts: tuple[str, ...]) -> None:
    assert list(EmbeddedMetaManager(reader()).route(batch(*texts))) == []


def test_a_batch_is_routed_to_the_managers_of_what_it_states() -> None:
    routed = EmbeddedMetaManager(reader()).route(
        batch("Hello there!", "I live in Cork and work as a nurse.", "What a day.")
    )
    assert [(order.kind, order.step_ids) for order in routed] == [("core", ("step_1",))]


def test_the_text_of_an_item_is_the_sentence_of_the_user() -> None:
    read, given = reader(), batch("Hi! I'm allergic to walnuts. Could you suggest a cake?")
    (order,) = EmbeddedMetaManager(read).route(given)
    (proposal,) = embedded_managers(read)["core"].propose(given, order, {}).proposals
    assert proposal.values["value"] == "I'm allergic to walnuts."
    assert proposal.evidence[0].quote == "I'm allergic to walnuts."


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_nothing_is_extracted_from_words_that_are_no_persons(role: str) -> None:
    assert reader().findings(batch("I live in Cork and work as a nurse.", role=role)) == ()


def test_what_recall_has_just_shown_is_not_extracted_again() -> None:
    text = "I live in Cork and work as a nurse."
    assert reader().findings(batch(text, shown=(f"- {text}",))) == ()


def test_a_sentence_with_a_secret_gives_no_item_beside_its_vault_item(memory: Memory) -> None:
    user = memory.user("ana")
    user.remember("The PIN of my bank card is 4821.")
    user.flush()
    assert [item.kind for item in user.items()] == ["vault"]


def certain(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """A pair score that is sure that every later statement supersedes the earlier one."""
    return np.ones(len(pairs), np.float32)


def test_a_statement_whose_pair_score_is_above_the_bound_supersedes_the_known_item() -> None:
    known = SemanticItem(user="u", name="brother", summary="My brother works at Siemens.")
    given = batch("My brother works at Bosch now, he likes the canteen.")
    read = reader(supersedes=certain, settings=ReaderSettings(bounds={"semantic": 0.1}))
    order = next(one for one in EmbeddedMetaManager(read).route(given) if one.kind == "semantic")
    (proposal,) = embedded_managers(read)["semantic"].propose(given, order, {known.id: known}).proposals
    assert (proposal.operation, proposal.target) == ("supersede", known.id)


def test_two_facts_that_may_both_hold_stay(memory: Memory) -> None:
    user = memory.user("ana")
    user.remember("I'm allergic to walnuts.")
    user.flush()
    user.remember("I'm also allergic to cats.")
    user.flush()
    texts = " ".join(item.text for item in user.items())
    assert "walnuts" in texts
    assert "cats" in texts


def test_a_later_statement_of_the_same_batch_supersedes_an_earlier_one(tmp_path: Path) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        alice = memory.user("alice")
        alice.remember(
            [
                {"role": "user", "content": "I live in Bergen.", "timestamp": "2026-01-05 10:00"},
                {
                    "role": "user",
                    "content": "I live in Trondheim now, no longer in Bergen.",
                    "timestamp": "2026-05-05 10:00",
                },
            ]
        )
        alice.flush()
        status = {item.status: item.text for item in alice.items("core", superseded=True)}
    assert "I live in Bergen." in status["superseded"]
    assert "Trondheim" in status["active"]


def test_of_a_very_long_message_the_first_sentences_are_read_and_that_is_reported(memory: Memory) -> None:
    text = " ".join(f"I live in house number {number} of Cork." for number in range(1_000))
    read, given = reader(), batch(text, "I'm allergic to walnuts.")
    findings = read.findings(given)
    assert {finding.text for finding in findings if finding.step.step.id == "step_0"} <= {
        f"I live in house number {number} of Cork." for number in range(200)
    }
    assert any(finding.step.step.id == "step_1" for finding in findings)
    assert read.unread(given)[0].startswith("of message step_0 the reader read 200 of 1,000 sentences")
    assert len(read.unread(given)) == 1
    user = memory.user("ann")
    user.remember("\n".join(f"Row {number}: 7, 8, 9." for number in range(400)))
    user.flush()
    assert any("200 of 400 sentences" in notice for notice in memory.notices)
