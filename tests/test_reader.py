"""The reader: which sentences become items without a chat model, and what supersedes what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from numpy.typing import NDArray

from hexamem import Memory, SemanticItem, UserMemory
from hexamem.agents.contract import Batch, BatchStep
from hexamem.agents.reader import EmbeddedMetaManager, Reader, embedded_managers
from hexamem.memory_types.step import Step
from hexamem.stores.embedders import open_embedder

NURSE = "I live in Cork and work as a nurse."


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(open_embedder("bundled"))


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


def test_small_talk_questions_and_echoes_give_no_manager_anything_to_do(reader: Reader) -> None:
    for texts in (
        ("Morning!", "Can't complain, bit grey out there."),
        ("在吗在吗", "没事，就是无聊，哈哈哈"),
        ("Thanks, that's great!", "Can you explain how photosynthesis works?"),
    ):
        assert list(EmbeddedMetaManager(reader).route(batch(*texts))) == []
    assert reader.findings(batch(NURSE))
    for role in ("assistant", "tool", "system"):
        assert reader.findings(batch(NURSE, role=role)) == ()
    assert reader.findings(batch(NURSE, shown=(f"- {NURSE}",))) == ()  # what recall has just shown


def test_a_batch_is_routed_to_the_managers_of_what_it_states_in_the_words_of_the_user(reader: Reader) -> None:
    allergy = "I'm allergic to walnuts."
    given = batch("Hello there!", NURSE, f"Hi! {allergy} Could you suggest a cake?")
    (order,) = EmbeddedMetaManager(reader).route(given)
    assert (order.kind, order.step_ids) == ("core", ("step_1", "step_2"))
    proposals = embedded_managers(reader)["core"].propose(given, order, {}).proposals
    (proposal,) = [each for each in proposals if each.evidence[0].step_id == "step_2"]
    assert proposal.values["value"] == proposal.evidence[0].quote == allergy


def test_a_statement_whose_pair_score_is_above_the_bound_supersedes_the_known_item() -> None:
    def certain(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.ones(len(pairs), np.float32)

    known = SemanticItem(user="u", name="brother", summary="My brother works at Siemens.")
    given = batch("My brother works at Bosch now, he likes the canteen.")
    reads = Reader(open_embedder("bundled"), supersedes=certain)
    order = next(each for each in EmbeddedMetaManager(reads).route(given) if each.kind == "semantic")
    (proposal,) = embedded_managers(reads)["semantic"].propose(given, order, {known.id: known}).proposals
    assert (proposal.operation, proposal.target) == ("supersede", known.id)


def test_a_change_supersedes_and_a_secret_gives_a_vault_item_alone(shared_memory: Memory, newcomer: UserMemory) -> None:
    messages = [("I live in Bergen.", "2026-01-05"), ("I live in Trondheim now, no longer in Bergen.", "2026-05-05")]
    newcomer.remember([{"role": "user", "content": text, "timestamp": f"{day} 10:00"} for text, day in messages])
    newcomer.flush()
    status = {item.status: item.text for item in newcomer.items("core", superseded=True)}
    assert "I live in Bergen." in status["superseded"]
    assert "Trondheim" in status["active"]
    for text in ("I'm allergic to walnuts.", "I'm also allergic to cats.", "The PIN of my bank card is 4821."):
        newcomer.remember(text)
        newcomer.flush()
    texts = " ".join(item.text for item in newcomer.items())
    assert "walnuts" in texts
    assert "cats" in texts
    (item,) = [item for item in newcomer.items() if "PIN" in item.text or "bank card" in item.text]
    assert item.kind == "vault"


def test_of_a_long_message_the_first_sentences_are_read(memory: Memory, alice: UserMemory) -> None:
    alice.remember("\n".join(f"I live in house number {number} of Cork." for number in range(400)))
    alice.flush()
    assert any("the first 200 sentences" in notice for notice in memory.notices)
    numbers = [
        int(number) for item in alice.items(superseded=True) for number in re.findall(r"number (\d+)", item.text)
    ]
    assert numbers
    assert max(numbers) < 200
