"""The records: six kinds complete, and validation messages that a person understands."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    VaultItem,
    Where,
    new_id,
)
from hexamem.memory_types.base import new_ids

MOMENT = datetime(2024, 5, 1, 12, tzinfo=UTC)
EXAMPLES: dict[str, dict[str, object]] = {
    "core": {"label": "human", "value": "Maya, nurse in Porto"},
    "episodic": {
        "occurred_at": MOMENT,
        "actor": "Maya",
        "event_type": "move",
        "summary": "moved",
        "details": "to Porto",
    },
    "semantic": {"name": "Kvarn", "summary": "a mill", "details": "old", "source": "chat", "tree_path": ["places"]},
    "procedural": {"entry_type": "recipe", "summary": "bread", "steps": ["mix", "bake"], "tree_path": ["food"]},
    "resource": {"title": "lease", "summary": "flat", "resource_type": "pdf", "content": "…", "tree_path": ["home"]},
    "vault": {"entry_type": "password", "caption": "wifi password", "source": "chat", "sensitivity": "high"},
}


@pytest.mark.parametrize("kind", list(TypeRegistry()))
def test_each_kind_comes_back_from_json_as_it_was(kind: str) -> None:
    item = TypeRegistry().parse({"kind": kind, "user": "maya", "labels": ["a", "b"], **EXAMPLES[kind]})
    assert TypeRegistry().parse(item.model_dump(mode="json")) == item


@pytest.mark.parametrize("kind", list(TypeRegistry()))
def test_each_kind_has_the_fields_that_all_share(kind: str) -> None:
    item = TypeRegistry().parse({"kind": kind, **EXAMPLES[kind]})
    assert (item.kind, item.version, item.status, item.superseded_at) == (kind, 1, "active", None)


@pytest.mark.parametrize("kind", list(TypeRegistry()))
def test_each_kind_can_be_searched_by_what_it_says(kind: str) -> None:
    item = TypeRegistry().parse({"kind": kind, **EXAMPLES[kind]})
    assert item.text
    assert item.text.split()[0] in str(EXAMPLES[kind])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "semantic"}, "name is missing; summary is missing"),
        ({"kind": "dream"}, "'dream' is no memory kind; use one of core, episodic"),
        ({}, "None is no memory kind"),
        ({"kind": "core", "label": "x", "value": "y" * 30, "limit": 10}, "30 characters, over the block's limit of 10"),
        ({"kind": "semantic", "name": "a", "summary": "b", "colour": 1}, "colour is not a field of SemanticItem"),
        ({"kind": "semantic", "name": "a", "summary": "b", "labels": [" "]}, "contain a blank one"),
        ({"kind": "semantic", "name": "", "summary": "b"}, "name = ''"),
        ({"kind": "procedural", "summary": "b", "steps": []}, "steps = []"),
        ({"kind": "episodic", "summary": "b", "occurred_at": datetime(2024, 1, 1)}, "has no timezone"),
        ({"kind": "vault", "caption": "c", "sensitivity": "secret"}, "'low', 'medium' or 'high'"),
        (
            {"kind": "semantic", "name": "a", "summary": "b", "valid_from": MOMENT, "valid_to": MOMENT - timedelta(1)},
            "lies before valid_from",
        ),
    ],
)
def test_a_wrong_item_is_refused_with_the_field_the_value_and_the_rule(values: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        TypeRegistry().parse(values)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_common_part_alone_is_no_item() -> None:
    with pytest.raises(InvalidInputError, match="is none of the types of this memory"):
        TypeRegistry().parse(MemoryItem(kind="core"))


def test_times_are_held_in_utc() -> None:
    item = SemanticItem(name="a", summary="b", valid_from=datetime(2024, 1, 1, 8, tzinfo=timezone(timedelta(hours=8))))
    assert item.valid_from == datetime(2024, 1, 1, tzinfo=UTC)


def test_records_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValueError, match="frozen"):
        CoreItem(label="a", value="b").value = "c"


def test_a_changed_copy_is_checked_like_a_new_record() -> None:
    with pytest.raises(InvalidInputError, match="over the block's limit"):
        CoreItem(label="a", value="b").changed(value="x" * 3_000)


def test_a_vault_item_has_no_field_for_the_plaintext() -> None:
    with pytest.raises(InvalidInputError, match="secret is not a field"):
        VaultItem.parse({"kind": "vault", "caption": "c", "secret": "x"})


def test_a_quote_needs_both_ends_of_its_span() -> None:
    with pytest.raises(ValueError, match="go together"):
        Source(step_id="s", quote="q", start=3)


def test_a_filter_with_its_period_the_wrong_way_round_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="swap them"):
        Where.parse({"since": MOMENT, "until": MOMENT - timedelta(1)})


def test_one_label_in_a_filter_may_be_a_plain_string() -> None:
    assert Where.parse({"labels": "travel"}).labels == ("travel",)


def test_a_step_of_a_blank_user_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="blank"):
        Step.parse(
            {"user": " ", "thread_id": "t", "turn": 0, "seq": 1, "role": "user", "content": "", "index_text": ""}
        )


def test_reasons_are_percent_of_a_sum_and_else_what_each_adds_or_takes() -> None:
    def hit(score: float, *shares: float) -> Hit:
        why = tuple(Signal(name=f"s{number}", share=share) for number, share in enumerate(shares))
        return Hit(id="step_x", kind="step", text="t", score=score, why=why)

    assert hit(0.5, 0.4, 0.1).explain() == "s0 80% · s1 20%"
    assert hit(0.02, 0.35, -0.33).explain() == "s0 +0.35 · s1 -0.33"
    assert hit(-0.1, 0.2, -0.3).explain() == "s0 +0.20 · s1 -0.30"


def test_the_learned_ranking_tells_of_every_hit_what_signals_add() -> None:
    why = (Signal(name="fused", share=0.4), Signal(name="others", share=0.1))
    assert Hit(id="step_x", kind="step", text="t", score=0.5, why=why).explain() == "fused +0.40 · others +0.10"


def test_a_signal_of_which_nothing_can_be_told_is_no_reason_to_show() -> None:
    signals = (Signal(name="dense", rank=1, value=0.35), Signal(name="words"), Signal(name="labels", note="names Flat"))
    hit = Hit(id="step_x", kind="step", text="t", score=0.0, why=signals)
    assert hit.explain() == "dense #1 (0.35) · labels, names Flat"
    assert Hit(id="step_x", kind="step", text="t", score=0.0, why=signals[1:2]).explain() == "words"


def test_a_page_holds_at_least_one_step() -> None:
    with pytest.raises(InvalidInputError, match="step_ids"):
        Page.parse({"user": "u", "thread_id": "t", "step_ids": [], "started_at": MOMENT, "ended_at": MOMENT})


@given(st.integers(min_value=2, max_value=50))
def test_ids_are_unique_and_sort_by_time_to_the_millisecond(count: int) -> None:
    ids = [new_id("step") for _ in range(count)]
    assert len(set(ids)) == count
    stamps = [one[:15] for one in ids]
    assert stamps == sorted(stamps)


def test_a_record_of_all_its_fields_is_the_one_that_pydantic_makes() -> None:
    checked = Step(user="ann", thread_id="chat", turn=0, seq=1, role="user", content="Hi", index_text="Hi")
    made = Step.of_fields(**{name: getattr(checked, name) for name in Step.model_fields})
    assert made == checked
    assert made.model_dump_json() == checked.model_dump_json()
    assert pickle.loads(pickle.dumps(made)) == made.model_copy() == copy.deepcopy(made)
    assert made.changed(turn=2).turn == 2
    with pytest.raises(ValidationError):
        made.turn = 3  # type: ignore[misc]


def test_ids_made_together_are_distinct_and_in_the_form_of_single_ones() -> None:
    made = [*new_ids("step", 1_000), new_id("step")]
    assert len(set(made)) == 1_001
    assert len({len(one) for one in made}) == 1
    assert {one[5:].strip("0123456789abcdefghjkmnpqrstvwxyz") for one in made} == {""}
