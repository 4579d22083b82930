"""The records: six kinds complete, and validation messages that a person understands."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from hexamem.errors import InvalidInputError
from hexamem.memory_types import (
    CoreItem,
    Hit,
    MemoryItem,
    Page,
    SemanticItem,
    Signal,
    Source,
    Step,
    TypeRegistry,
    Where,
)

MOMENT = datetime(2024, 5, 1, 12, tzinfo=UTC)
EXAMPLES: dict[str, dict[str, object]] = {
    "core": {"label": "human", "value": "Maya, nurse in Porto"},
    "episodic": {"occurred_at": MOMENT, "actor": "Maya", "event_type": "move", "summary": "moved", "details": "to Porto"},
    "semantic": {"name": "Kvarn", "summary": "a mill", "details": "old", "source": "chat", "tree_path": ["places"]},
    "procedural": {"entry_type": "recipe", "summary": "bread", "steps": ["mix", "bake"], "tree_path": ["food"]},
    "resource": {"title": "lease", "summary": "flat", "resource_type": "pdf", "content": "…", "tree_path": ["home"]},
    "vault": {"entry_type": "password", "caption": "wifi password", "source": "chat", "sensitivity": "high"},
}  # fmt: skip


def test_each_kind_comes_back_from_json_as_it_was_and_is_searched_by_its_words() -> None:
    assert list(TypeRegistry()) == list(EXAMPLES)
    for kind, example in EXAMPLES.items():
        item = TypeRegistry().parse({"kind": kind, "user": "maya", "labels": ["a", "b"], **example})
        assert TypeRegistry().parse(item.model_dump(mode="json")) == item
        assert (item.kind, item.version, item.status, item.superseded_at) == (kind, 1, "active", None)
        assert item.text.split()[0] in str(example)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "semantic"}, "name is missing; summary is missing"),
        ({"kind": "dream"}, "'dream' is no memory kind; use one of core, episodic"), ({}, "None is no memory kind"),
        ({"kind": "core", "label": "x", "value": "y" * 30, "limit": 10}, "30 characters, over the block's limit of 10"),
        ({"kind": "semantic", "name": "a", "summary": "b", "colour": 1}, "colour is not a field of SemanticItem"),
        ({"kind": "semantic", "name": "a", "summary": "b", "labels": [" "]}, "contain a blank one"),
        ({"kind": "semantic", "name": "", "summary": "b"}, "name = ''"),
        ({"kind": "procedural", "summary": "b", "steps": []}, "steps = []"),
        ({"kind": "episodic", "summary": "b", "occurred_at": datetime(2024, 1, 1)}, "has no timezone"),
        ({"kind": "vault", "caption": "c", "sensitivity": "secret"}, "'low', 'medium' or 'high'"),
        ({"kind": "vault", "caption": "c", "secret": "x"}, "secret is not a field"),
        ({"kind": "semantic", "name": "a", "summary": "b", "valid_from": MOMENT, "valid_to": MOMENT - timedelta(1)},
         "lies before valid_from"),
    ],
)  # fmt: skip
def test_a_wrong_item_is_refused_with_the_field_the_value_and_the_rule(values: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        TypeRegistry().parse(values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_refused_beyond_the_fields_of_items_and_records_cannot_be_changed_in_place() -> None:
    step = {"user": " ", "thread_id": "t", "turn": 0, "seq": 1, "role": "user", "content": "", "index_text": ""}
    page = {"user": "u", "thread_id": "t", "step_ids": [], "started_at": MOMENT, "ended_at": MOMENT}
    for refused, message in (
        (lambda: TypeRegistry().parse(MemoryItem(kind="core")), "is none of the types of this memory"),
        (lambda: CoreItem(label="a", value="b").changed(value="x" * 3_000), "over the block's limit"),
        (lambda: Source(step_id="s", quote="q", start=3), "go together"),
        (lambda: Where.parse({"since": MOMENT, "until": MOMENT - timedelta(1)}), "swap them"),
        (lambda: Step.parse(step), "blank"),
        (lambda: Page.parse(page), "step_ids"),
        (lambda: setattr(CoreItem(label="a", value="b"), "value", "c"), "frozen"),
    ):
        with pytest.raises((InvalidInputError, ValidationError), match=message):
            refused()
    assert Where.parse({"labels": "travel"}).labels == ("travel",)
    item = SemanticItem(name="a", summary="b", valid_from=datetime(2024, 1, 1, 8, tzinfo=timezone(timedelta(hours=8))))
    assert item.valid_from == datetime(2024, 1, 1, tzinfo=UTC)


def test_reasons_are_percent_of_a_sum_and_else_what_each_adds_or_takes() -> None:
    def explained(score: float, *why: Signal) -> str:
        return Hit(id="step_x", kind="step", text="t", score=score, why=why).explain()

    def shares(**shares: float) -> list[Signal]:
        return [Signal(name=name, share=share) for name, share in shares.items()]

    assert explained(0.5, *shares(s0=0.4, s1=0.1)) == "s0 80% · s1 20%"
    assert explained(0.02, *shares(s0=0.35, s1=-0.33)) == "s0 +0.35 · s1 -0.33"
    assert explained(-0.1, *shares(s0=0.2, s1=-0.3)) == "s0 +0.20 · s1 -0.30"
    assert explained(0.5, *shares(fused=0.4, others=0.1)) == "fused +0.40 · others +0.10"  # of the learned ranking
    dense, labels = Signal(name="dense", rank=1, value=0.35), Signal(name="labels", note="names Flat")
    assert explained(0.0, dense, Signal(name="words"), labels) == "dense #1 (0.35) · labels, names Flat"
    assert explained(0.0, Signal(name="words")) == "words"
