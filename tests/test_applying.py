"""Applying proposals: what was not said is not learned, what is known is not kept twice, and all of it or nothing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.agents.applying.applier import Applied, Applier
from hexamem.agents.applying.evidence import find_quote
from hexamem.agents.applying.proposal_values import fit_into, read_values
from hexamem.agents.contract import Batch, BatchStep
from hexamem.memory_types import MemoryItem, Step, TypeRegistry, VaultItem
from hexamem.memory_types.proposals import Evidence, Proposal
from hexamem.memory_types.times import read_zone
from hexamem.stores.ledger import Transaction, list_secrets

NOON = datetime(2025, 3, 4, 12, tzinfo=UTC)
_users = itertools.count(1)
Traces = Callable[..., list[str]]


@pytest.fixture
def ann(shared_memory: Memory) -> UserMemory:
    return shared_memory.user(f"ann {next(_users)}", timezone="Europe/Dublin")


def applier(user: UserMemory) -> Applier:
    memory = user.memory
    return Applier(memory.ledger, memory.cipher, media=memory.media, projector=memory.projector)


def say(user: UserMemory, text: str, role: str = "user", at: datetime = NOON) -> Step:
    receipt = user.remember({"role": role, "content": text, "timestamp": at.isoformat()}, "t")
    step = user.get(receipt.step_ids[0])
    assert isinstance(step, Step)
    return step


def heard(step: Step, resolved: str | None = None) -> BatchStep:
    return BatchStep(step=step, resolved_text=resolved or step.content)


def batch_of(*steps: Step | BatchStep, **more: Any) -> Batch:
    listed = tuple(step if isinstance(step, BatchStep) else heard(step) for step in steps)
    return Batch(user="", steps=listed, zone=read_zone("Europe/Dublin"), **more)


def fact(step: Step, quote: str, summary: str, name: str = "thing", **more: Any) -> Proposal:
    fields: dict[str, Any] = {"operation": "add", "kind": "semantic", "values": {"name": name, "summary": summary}}
    evidence = (Evidence(step_id=step.id, quote=quote),)
    return Proposal(**{**fields, "evidence": evidence, "proposed_by": "rules.semantic", **more})


def apply(user: UserMemory, batch: Batch, *proposals: Proposal, **more: Any) -> Applied:
    return applier(user).apply(user.name, batch, proposals, **more)


def state(user: UserMemory) -> list[Any]:
    """All items and operations of a user, as they are."""
    return [[item.model_dump() for item in user.items(superseded=True)], [one.id for one in user.history()]]


# -- evidence ----------------------------------------------------------------------------------------------------


def test_what_was_said_is_kept_with_its_words_and_where_they_stand(ann: UserMemory) -> None:
    step = say(ann, "By the way: Nell took up  the “cello” in September!")
    outcome = apply(
        ann, batch_of(step), fact(step, 'nell took up the "cello"', "Nell plays the cello", "Nell")
    ).outcomes[0]
    item = ann.get(outcome.item_id or "")
    assert isinstance(item, MemoryItem)
    [source] = item.sources
    assert (source.quote, source.step_id) == ("Nell took up  the “cello”", step.id)
    assert step.content[source.start : source.end] == source.quote
    [operation] = ann.history(item.id)
    assert (operation.id, operation.actor, operation.kind) == (outcome.operation_id, "rules.semantic", "add")


@pytest.mark.parametrize("quote", ["Nell took up the violin", "ell took up", "“”", "..."])
def test_words_that_nobody_said_are_no_evidence(ann: UserMemory, quote: str) -> None:
    step = say(ann, "Nell took up the cello.")
    [outcome] = apply(ann, batch_of(step), fact(step, quote, "Nell plays the violin")).outcomes
    assert outcome.applied is None
    assert "is not in step" in outcome.refused
    assert ann.items() == []


def test_without_evidence_nothing_is_learned(ann: UserMemory) -> None:
    step = say(ann, "Nell took up the cello.")
    [outcome] = apply(ann, batch_of(step), fact(step, "x", "Nell plays the cello", evidence=())).outcomes
    assert "no evidence" in outcome.refused


def test_words_with_references_resolved_are_evidence_and_cite_the_original(ann: UserMemory) -> None:
    step = say(ann, "Well, she took up the cello.")
    batch = batch_of(heard(step, "Well, Nell took up the cello."))
    [outcome] = apply(ann, batch, fact(step, "Nell took up the cello", "Nell plays the cello", "Nell")).outcomes
    [source] = ann.get(outcome.item_id or "").sources  # type: ignore[union-attr]
    assert source.quote == "she took up the cello"
    assert step.content[source.start : source.end] == source.quote


def test_from_what_came_before_the_batch_nothing_is_learned(ann: UserMemory) -> None:
    before, step = say(ann, "Nell took up the cello."), say(ann, "Yes.")
    batch = batch_of(step, before=(heard(before),))
    [outcome] = apply(ann, batch, fact(before, "Nell took up the cello", "Nell plays the cello")).outcomes
    assert "before the batch" in outcome.refused


def test_steps_of_others_system_text_and_forgotten_steps_are_no_evidence(
    ann: UserMemory, shared_memory: Memory
) -> None:
    bob = shared_memory.user(f"bob {next(_users)}")
    his, system, forgotten = (
        say(bob, "I own a boat."),
        say(ann, "The user owns a boat.", "system"),
        say(ann, "I own a boat."),
    )
    ann.forget([forgotten.id])
    for step in (his, system, forgotten):
        values = {"name": "boat", "summary": "owns a boat"}
        [outcome] = apply(ann, batch_of(step), fact(step, "a boat", "", values=values)).outcomes
        assert outcome.refused
    assert ann.items() == []


def test_what_the_assistant_suggests_is_no_fact_about_the_user(ann: UserMemory) -> None:
    step = say(ann, "Would you like a day trip to Sintra?", "assistant")
    core = fact(step, "Sintra", "", kind="core", values={"label": "trip", "value": "Sintra"})
    about = fact(step, "Sintra", "likes Sintra", "user")
    by_slot = fact(step, "Sintra", "", values={"name": "trip", "summary": "Sintra", "metadata": {"slot": "trip"}})
    assert all(one.refused for one in apply(ann, batch_of(step), core, about, by_slot).outcomes)


def test_what_a_tool_found_is_learned(ann: UserMemory) -> None:
    step = say(ann, "Flight EI152 leaves at 07:05.", "tool")
    proposal = fact(step, "EI152 leaves at 07:05", "flight EI152 leaves at 07:05", "EI152")
    assert apply(ann, batch_of(step), proposal).outcomes[0].applied == "add"


def test_a_question_of_the_assistant_counts_beside_the_answer_of_the_user(ann: UserMemory) -> None:
    asked, answer = say(ann, "Do you prefer a window seat?", "assistant"), say(ann, "Yes, always.")
    evidence = tuple(Evidence(step_id=step.id, quote=step.content) for step in (asked, answer))
    core = Proposal(operation="add", kind="core", values={"label": "seat", "value": "window"}, evidence=evidence)
    [outcome] = apply(ann, batch_of(asked, answer), core).outcomes
    assert {source.step_id for source in ann.get(outcome.item_id or "").sources} == {asked.id, answer.id}  # type: ignore[union-attr]


def test_what_recall_has_just_shown_is_not_learned_again(ann: UserMemory) -> None:
    shown = ("Declan drives a lorry for a dairy co-op and drops in on Sundays.",)
    copy = say(ann, "As I recall, Declan drives a lorry for a dairy co-op.", "assistant")
    pasted = say(ann, "You wrote: Declan drives a lorry for a dairy co-op and drops in on Sundays. Right?")
    batch = batch_of(copy, pasted, shown=shown)
    outcomes = apply(
        ann, batch, fact(copy, "Declan drives a lorry for a dairy co-op", "Declan drives a lorry", "Declan"),
        fact(pasted, "Declan drives a lorry for a dairy co-op and drops in on Sundays", "Declan drives a lorry"),
    ).outcomes  # fmt: skip
    assert ["just shown" in one.refused for one in outcomes] == [True, True]


def test_a_step_that_recall_has_shown_itself_may_still_be_learned_from(ann: UserMemory) -> None:
    step = say(ann, "My brother Declan drives a lorry for a dairy co-op in the north of Kerry.")
    batch = batch_of(step, shown=(step.content,))
    assert apply(ann, batch, fact(step, step.content, "Declan drives a lorry", "Declan")).outcomes[0].applied == "add"


def test_a_person_who_says_a_known_thing_again_confirms_it(ann: UserMemory) -> None:
    first, again = say(ann, "I live in Cork."), say(ann, "I live in Cork.", at=NOON + timedelta(days=1))
    for step in (first, again):
        core = fact(step, "live in Cork", "", kind="core", values={"label": "home_city", "value": "Cork"})
        apply(ann, batch_of(step, shown=("home_city Cork",)), core)
    [item] = ann.items()
    assert [source.step_id for source in item.sources] == [first.id, again.id]


def test_a_step_stored_twice_says_nothing_new(ann: UserMemory) -> None:
    first, copy = say(ann, "I live in Cork."), say(ann, "I live in Cork.")
    outcomes = []
    for step in (first, copy):
        core = fact(step, "live in Cork", "", kind="core", values={"label": "home_city", "value": "Cork"})
        outcomes += apply(ann, batch_of(step), core).outcomes
    assert [one.applied for one in outcomes] == ["add", "noop"]
    [item] = ann.items()
    assert [source.step_id for source in item.sources] == [first.id]


@given(st.text(alphabet="aAbB éß”\"’'—-.，ｆＦ\u3000\n\t中文1", min_size=1, max_size=30), st.data())
def test_every_piece_of_whole_words_is_found_where_it_stands(text: str, data: st.DataObject) -> None:
    words = text.split()
    if not words:
        return
    begin = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(begin + 1, len(words)))
    piece = " ".join(words[begin:end])
    span = find_quote(piece.upper().lower().replace(" ", "  "), text)
    if any(character.isalnum() for character in piece):
        assert span is not None
        assert 0 <= span[0] < span[1] <= len(text)
        assert find_quote(text[span[0] : span[1]], text) == span


# -- duplicates --------------------------------------------------------------------------------------------------


def test_the_same_fact_said_again_joins_its_sources(ann: UserMemory) -> None:
    one, two = say(ann, "Declan drives a lorry."), say(ann, "Declan drives a lorry, you know.")
    apply(ann, batch_of(one), fact(one, "drives a lorry", "Declan drives a lorry", "Declan"))
    [outcome] = apply(ann, batch_of(two), fact(two, "drives a lorry", "Declan drives a lorry.", "Declan")).outcomes
    [item] = ann.items()
    assert outcome.applied == "merge"
    assert [source.step_id for source in item.sources] == [one.id, two.id]


def test_new_details_of_a_known_fact_are_added_to_its_item(ann: UserMemory) -> None:
    summary = "Declan drives a lorry"
    for details in ("for a dairy co-op", "in Kerry", "for a dairy co-op"):
        step = say(ann, f"Declan drives a lorry {details}.")
        values = {"name": "Declan", "summary": summary, "details": details}
        apply(ann, batch_of(step), fact(step, "Declan drives a lorry", "", values=values))
    [item] = ann.items()
    assert (item.summary, item.details) == (summary, "for a dairy co-op\nin Kerry")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("is allergic to walnuts", "is allergic to peanuts"),
        ("pays 30 euros for the cello", "pays 40 euros for the cello"),
        ("likes coriander in soup", "does not like coriander in soup"),
        ("yesterday Ann lent Tom the red car", "yesterday Tom lent Ann the red car"),
        ("meets the bank about a loan on Monday", "meets the bank about a loan on Tuesday"),
        ("takes the pills before breakfast", "takes the pills after breakfast"),
        ("在杭州有一家茶馆", "在上海有一家茶馆"),
    ],
)
def test_facts_that_only_look_alike_are_kept_both(ann: UserMemory, one: str, two: str) -> None:
    for summary in (one, two):
        step = say(ann, f"Nell {summary}.")
        apply(ann, batch_of(step), fact(step, step.content, summary, "Nell"))
    assert len(ann.items()) == 2


def test_the_same_event_on_another_day_is_another_event(ann: UserMemory) -> None:
    for day in ("2025-03-01", "2025-03-08", "2025-03-08T20:00"):
        step = say(ann, f"Choir practice with Nell on {day}.")
        values = {"summary": "choir practice with Nell", "occurred_at": day}
        apply(ann, batch_of(step), fact(step, step.content, "", kind="episodic", values=values))
    assert [f"{item.occurred_at:%m-%d}" for item in ann.items()] == ["03-01", "03-08"]  # type: ignore[attr-defined]


# -- applied once ------------------------------------------------------------------------------------------------


def proposals_of_all_kinds(user: UserMemory) -> tuple[Batch, list[Proposal]]:
    """A batch with every operation, on items that an earlier one made."""
    first = say(user, "Old things: tea, jazz, a boat, chess.", at=NOON - timedelta(days=9))
    known = apply(
        user, batch_of(first), *(fact(first, word, f"owns or likes {word}", word) for word in ("tea", "jazz", "boat", "chess"))
    ).outcomes  # fmt: skip
    tea, jazz, boat, chess = (one.item_id for one in known)
    step = say(user, "I live in Cork. Not tea, coffee. Jazz and chess are one. The boat is sold. Nell plays.")
    core = {"label": "home_city", "value": "Cork"}
    return batch_of(step), [
        fact(step, "I live in Cork", "", kind="core", values=core),
        fact(step, "Not tea, coffee", "", operation="update", target=tea, values={"summary": "likes coffee"}),
        fact(step, "Jazz and chess are one", "", operation="merge", target=jazz, merged=(chess,), values={}),
        fact(step, "The boat is sold", "", operation="remove", target=boat, values={}),
        fact(step, "Nell plays", "", kind="episodic", values={"summary": "Nell plays"}),
        fact(step, "Nell plays", "", kind="procedural", values={"summary": "how to play", "steps": ["sit", "play"]}),
        fact(step, "Nell plays", "", kind="resource", values={"title": "play", "content": "a text"}),
    ]


def test_a_batch_that_is_applied_again_changes_nothing(ann: UserMemory) -> None:
    batch, proposals = proposals_of_all_kinds(ann)
    outcomes = apply(ann, batch, *proposals).outcomes
    assert [one.applied for one in outcomes] == ["add", "update", "merge", "remove", "add", "add", "add"]
    before = state(ann)
    again = apply(ann, batch, *proposals).outcomes
    assert {one.applied for one in again} == {"noop"}
    assert state(ann) == before


def test_nor_after_all_of_it_was_undone(ann: UserMemory) -> None:
    batch, proposals = proposals_of_all_kinds(ann)
    for outcome in reversed(apply(ann, batch, *proposals).outcomes):
        ann.undo(outcome.operation_id or "")
    before = state(ann)
    apply(ann, batch, *proposals)
    assert state(ann) == before


class Killed(BaseException):
    """What a test throws in the middle."""


@pytest.mark.parametrize("place", range(1, 7))
def test_what_fails_in_the_middle_leaves_nothing_behind(ann: UserMemory, place: int) -> None:
    batch, proposals = proposals_of_all_kinds(ann)
    before = state(ann)
    calls = itertools.count()

    class Breaking(list[Proposal]):
        def __iter__(self) -> Iterator[Proposal]:
            for one in list.__iter__(self):
                if next(calls) >= 3 * len(self) + place:  # after the passes for secrets and steps
                    raise Killed
                yield one

    with pytest.raises(Killed):
        applier(ann).apply(ann.name, batch, Breaking(proposals))
    assert state(ann) == before
    assert all(one.applied for one in apply(ann, batch, *proposals).outcomes)


def test_all_of_a_batch_is_one_transaction_with_the_end_of_its_job(ann: UserMemory) -> None:
    batch, proposals = proposals_of_all_kinds(ann)
    before, opened = state(ann), []

    @contextmanager
    def transaction() -> Iterator[Transaction]:
        with ann.memory.ledger.write(ann.name, create=False) as tx:
            opened.append(tx)
            yield tx

    def fails(tx: Transaction) -> None:
        raise Killed

    with pytest.raises(Killed):
        apply(ann, batch, *proposals, transaction=transaction, finish=fails)
    assert (len(opened), state(ann)) == (1, before)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 6), min_size=1, max_size=10))
def test_whatever_part_is_applied_first_the_end_is_the_same(shared_memory: Memory, order: Sequence[int]) -> None:
    user = shared_memory.user(f"ann {next(_users)}")
    batch, proposals = proposals_of_all_kinds(user)
    for place in order:
        apply(user, batch, proposals[place])
    apply(user, batch, *proposals)
    texts = sorted((item.text, item.status) for item in user.items(superseded=True))
    assert len(texts) == 6
    assert len([one for one in user.history() if one.kind != "add"]) == 3


# -- values ------------------------------------------------------------------------------------------------------


def test_a_bad_proposal_takes_no_other_down(ann: UserMemory) -> None:
    step = say(ann, "Nell plays the cello.")
    bad: list[dict[str, Any]] = [
        {}, {"name": "Nell"}, {"name": ["x", 1], "summary": {"a": object()}}, {"summary": "x", "name": "x" * 10_000},
        {"name": "a", "summary": "b", "metadata": {"x": object()}}, {"name": "n", "summary": "\x00\x01"},
    ]  # fmt: skip
    good = fact(step, "plays the cello", "Nell plays the cello", "Nell")
    outcomes = apply(ann, batch_of(step), *(fact(step, "plays", "", values=one) for one in bad), good).outcomes
    assert outcomes[-1].applied == "add"
    assert [bool(one.refused) for one in outcomes[:3]] == [True, True, True]
    assert "metadata" in outcomes[4].refused
    empty = fact(step, "plays", "", kind="procedural", values={"steps": ["", " "]})
    assert apply(ann, batch_of(step), empty).outcomes[0].refused
    no_such = [fact(step, "plays", "x", operation=one, target="item_none") for one in ("update", "merge", "remove")]
    assert all("no semantic item" in one.refused for one in apply(ann, batch_of(step), *no_such).outcomes)


_FIELD_NAMES = """
name label summary value details steps title content caption entry_type sensitivity occurred_at valid_from valid_to
metadata labels tree_path actor limit secret_id id created_at sources
"""
_FIELDS = _FIELD_NAMES.split()
_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates() | st.binary(max_size=3)
    | st.builds(object) | st.sampled_from(["2025-02-30", "9999-12-31", "0001-01-01", "tomorrow", "\ud800", "{{vault:x|y}}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=5,
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["core", "episodic", "semantic", "procedural", "resource", "vault"]),
    st.sampled_from(["add", "update", "supersede", "merge", "remove", "noop"]),
    st.dictionaries(st.sampled_from(_FIELDS), _ANYTHING, max_size=8),
)
def test_no_values_break_the_batch(ann: UserMemory, kind: Any, operation: Any, values: dict[str, Any]) -> None:
    step = say(ann, "Nell plays the cello.")
    odd = fact(step, "plays", "", kind=kind, operation=operation, values=values, target="item_x")
    good = fact(step, "plays the cello", "Nell plays the cello", "Nell")
    assert apply(ann, batch_of(step), odd, good).outcomes[1].applied


def test_fields_that_are_not_to_be_set_are_left_out_and_said(ann: UserMemory) -> None:
    step = say(ann, "Nell plays the cello.")
    values = {
        "name": "Nell",
        "summary": "Nell plays",
        "colour": "red",
        "status": "removed",
        "user": "bob",
        "version": 9,
    }
    done = apply(ann, batch_of(step), fact(step, "plays", "", values=values))
    [item] = ann.items()
    assert (item.status, item.user, item.version) == ("active", ann.name, 1)
    assert "colour, status, user, version" in done.degraded[0]


def test_naive_times_are_read_in_the_zone_of_the_user(ann: UserMemory) -> None:
    step = say(ann, "Dentist on 13 May at half three.")
    values = {"summary": "dentist", "occurred_at": "2025-05-13 15:30", "valid_to": "soon"}
    done = apply(ann, batch_of(step), fact(step, "Dentist", "", kind="episodic", values=values))
    assert ann.items()[0].occurred_at == datetime(2025, 5, 13, 14, 30, tzinfo=UTC)  # type: ignore[attr-defined]
    assert "valid_to: no time that can be read" in done.degraded[0]


def test_an_event_without_a_time_was_when_it_was_said(ann: UserMemory) -> None:
    step = say(ann, "Nell fell off her bike.")
    apply(ann, batch_of(step), fact(step, "fell", "", kind="episodic", values={"summary": "Nell fell off her bike"}))
    assert ann.items()[0].occurred_at == NOON  # type: ignore[attr-defined]


def test_a_long_summary_goes_on_in_the_details() -> None:
    text = " ".join(f"Sentence {number} has eight words and a number." for number in range(40))
    read, notes = read_values(TypeRegistry()["semantic"], {"name": "n", "summary": text, "details": "more"}, "UTC")
    assert len(read["summary"]) <= 600
    assert (read["summary"] + " " + read["details"]).split() == [*text.split(), "more"]
    assert notes


def test_a_month_and_a_year_are_their_first_day_and_control_characters_go() -> None:
    values = {"name": "a\x00b", "summary": "x\x07y\u2028z", "valid_from": "2024", "valid_to": "2024-03"}
    read, _ = read_values(TypeRegistry()["semantic"], values, "Europe/Dublin")
    assert (read["name"], read["summary"]) == ("a b", "x y z")
    assert [f"{read[name]:%Y-%m-%d}" for name in ("valid_from", "valid_to")] == ["2024-01-01", "2024-03-01"]


# -- the limit of core memory ------------------------------------------------------------------------------------


@given(st.text(alphabet="ab. \n。-", max_size=200), st.integers(1, 60))
def test_a_block_is_within_its_limit_and_none_of_its_words_are_lost(text: str, limit: int) -> None:
    value, overflow = fit_into(text, limit)
    assert len(value) <= limit
    told = "".join([value, *overflow])
    for line in text.split("\n"):
        for part in line.replace("。", ".").split("."):
            kept = "".join(part.split()).strip("-")
            assert kept in "".join(told.split())
    assert fit_into(value, limit).value == value


def test_what_a_core_block_has_no_room_for_becomes_semantic(ann: UserMemory) -> None:
    step = say(ann, "Here is all about me.")
    sentences = [f"Sentence number {number} tells a thing about me that is worth keeping." for number in range(60)]
    text = " ".join([*sentences, sentences[0]])
    core = fact(step, "all about me", "", kind="core", values={"label": "about", "value": text})
    [outcome] = apply(ann, batch_of(step), core).outcomes
    [block], [rest] = ann.items("core"), ann.items("semantic")
    assert len(block.value) <= 2_000  # type: ignore[attr-defined]
    assert (rest.metadata["overflow_of"], rest.sources) == (block.id, block.sources)
    assert all(sentence in block.text + rest.text.replace("\n", " ") for sentence in sentences)
    ann.undo(outcome.operation_id or "")
    assert ann.items() == []


def test_a_block_that_grows_over_its_limit_moves_its_end(ann: UserMemory) -> None:
    block = ann.add({"kind": "core", "label": "about", "value": "Likes tea.", "limit": 30})
    step = say(ann, "I play chess on Sundays and go to the sea.")
    values = {"value": "Likes tea. Likes tea. Plays chess. Goes to the sea on Sundays."}
    apply(ann, batch_of(step), fact(step, "chess", "", operation="update", kind="core", target=block.id, values=values))
    assert ann.get(block.id).value == "Likes tea. Plays chess."  # type: ignore[union-attr]
    assert ann.items("semantic")[0].summary == "Goes to the sea on Sundays."  # type: ignore[attr-defined]


# -- the vault ---------------------------------------------------------------------------------------------------

CODE = "plover ninety kettle"


def vault(step: Step, secret: str | None, **more: Any) -> Proposal:
    values = {"entry_type": "password", "caption": "wifi of the cabin", **more.pop("values", {})}
    quote = more.pop("quote", step.content)
    return fact(step, quote, "", kind="vault", values=values, secret=secret, proposed_by="rules.vault", **more)


def test_a_secret_that_the_rules_missed_leaves_no_trace(tmp_path: Path, traces: Traces) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        ann = memory.user("ann")
        step = say(ann, f"At the cabin you say {CODE} to get in, and Nell has a key.")
        assert CODE in step.content
        ann.recall("cabin")
        batch = batch_of(heard(step, step.content))
        proposals = [
            fact(step, f"you say {CODE}", f"one says {CODE} at the cabin", "cabin", reason=f"said {CODE}"),
            vault(step, CODE, values={"caption": f"word {CODE} for the cabin"}),
            vault(step, CODE, operation="remove", target=CODE),
            fact(step, "no such quote", f"x {CODE}", "y", values={"name": CODE, CODE: CODE, "occurred_at": CODE}),
        ]
        done = apply(ann, batch, *proposals)
        assert [one.applied for one in done.outcomes[:2]] in (["add", "update"], ["add", "noop"])
        [item] = ann.items("vault")
        assert ann.reveal(item.id, reason="test") == CODE
        assert CODE not in ann.get(step.id).content  # type: ignore[union-attr]
        told = json.dumps([one.model_dump() for one in done.outcomes]) + "".join(done.degraded)
        assert CODE not in told + repr(ann.history()) + repr(ann.items(superseded=True)) + repr(memory.notices)
        before = state(ann)
        apply(ann, batch, *proposals)
        assert state(ann) == before
    assert traces(tmp_path / "home", CODE) == []


def test_a_process_killed_after_the_redaction_ends_its_work_when_it_is_repeated(ann: UserMemory) -> None:
    step = say(ann, f"At the cabin you say {CODE} to get in, and Nell has a key.")
    batch = batch_of(step)
    proposals = [vault(step, CODE), fact(step, "Nell has a key", "Nell has a key of the cabin", "Nell")]

    def killed(tx: Transaction) -> None:
        raise Killed

    with pytest.raises(Killed):
        apply(ann, batch, *proposals, finish=killed)
    assert [item.kind for item in ann.items()] == ["vault"]
    assert CODE not in ann.get(step.id).content  # type: ignore[union-attr]
    outcomes = apply(ann, batch, *proposals).outcomes
    assert [one.refused for one in outcomes] == ["", ""]
    assert sorted(item.kind for item in ann.items()) == ["semantic", "vault"]


def test_a_short_secret_is_taken_out_of_what_the_others_propose(ann: UserMemory) -> None:
    step = say(ann, "Bring towels, and the key box opens with 4471, there are never any.")
    told = fact(step, "the key box opens with 4471", "the key box opens with 4471", "key box", reason="said 4471")
    code = vault(step, "4471", quote="opens with 4471", values={"caption": "code of the key box", "entry_type": "code"})
    outcomes = apply(ann, batch_of(step), told, code).outcomes
    assert [one.refused for one in outcomes] == ["", ""]
    assert "4471" not in repr(ann.items()) + repr(ann.history())


def test_a_refused_proposal_leaves_no_secret_in_the_vault(ann: UserMemory) -> None:
    step = say(ann, "The database is orders.")
    values = {"summary": f"the API key of the database is sk-{'a1B2c3D4' * 5}", "name": ""}
    [outcome] = apply(ann, batch_of(step), fact(step, "database", "", values=values)).outcomes
    assert "a1B2c3D4" not in outcome.refused
    with ann.memory.ledger.read(ann.name) as tx:
        assert list_secrets(tx) == []


def test_a_part_of_a_secret_is_not_told_beside_it(ann: UserMemory) -> None:
    step = say(ann, "My own address is 14 Alder Row, Leeds LS6 2QT, near the park.")
    address = vault(step, "14 Alder Row, Leeds LS6 2QT", values={"entry_type": "address", "caption": "own address"})
    told = fact(step, "near the park", "the user lives at 14 Alder Row near the park")
    lives = fact(step, "near the park", "", kind="core", values={"label": "home_city", "value": "Leeds"})
    outcomes = apply(ann, batch_of(step), told, address, lives).outcomes
    assert [bool(one.refused) for one in outcomes] == [True, False, False]
    assert "Alder" not in repr(ann.items()) + repr(ann.history()) + repr(outcomes)


def test_a_secret_must_stand_in_its_quote(ann: UserMemory) -> None:
    step = say(ann, "The code of the shed is on the fridge, Nell knows.")
    for secret, quote in (("Cork", "the shed"), ("no such thing", "the shed"), ("Nell", "Nell knows"), ("ok", "ok")):
        [outcome] = apply(ann, batch_of(step), vault(step, secret, quote=quote)).outcomes
        assert outcome.applied is None
    assert ann.items() == []
    assert ann.get(step.id).content == step.content  # type: ignore[union-attr]


def test_a_new_password_supersedes_the_old_one(ann: UserMemory) -> None:
    one = say(ann, "At the cabin you say plover ninety kettle to get in.")
    first = apply(ann, batch_of(one), vault(one, CODE)).outcomes[0]
    two = say(ann, "They changed it, now it is heron seventy spoon.", at=NOON + timedelta(days=3))
    [outcome] = apply(
        ann, batch_of(two), vault(two, "heron seventy spoon", operation="supersede", target=first.item_id)
    ).outcomes
    assert outcome.applied == "supersede"
    [item] = ann.items("vault")
    assert ann.reveal(item.id, reason="test") == "heron seventy spoon"
    assert [ann.reveal(i.id, reason="test") for i in ann.items("vault", as_of=NOON + timedelta(days=1))] == [CODE]


@pytest.mark.parametrize(
    ("entry_type", "value", "sensitivity"),
    [("phone", "0113 496 0172", "low"), ("email", "mick@dunne.example", "low"), ("address", "14 Alder Row", "medium"),
     ("pin", "4471", "high")],
)  # fmt: skip
def test_contacts_are_less_sensitive_than_secrets(
    ann: UserMemory, entry_type: str, value: str, sensitivity: str
) -> None:
    step = say(ann, f"Mick's is {value} by the way.")
    proposal = vault(step, value, values={"entry_type": entry_type, "caption": f"Mick's {entry_type}"})
    apply(ann, batch_of(step), proposal)
    [item] = ann.items()
    assert isinstance(item, VaultItem)
    assert (item.sensitivity, item.caption) == (sensitivity, f"Mick's {entry_type}")
    assert ann.reveal(item.id, reason="test") == value


def test_a_secret_that_the_rules_find_in_values_goes_to_the_vault(ann: UserMemory) -> None:
    step = say(ann, "The database is orders.")
    secret = "sk-" + "a1B2c3D4" * 5
    apply(ann, batch_of(step), fact(step, "database", f"the API key of the database is {secret}", "orders"))
    assert secret not in repr(ann.items()) + repr(ann.history())
    assert [item.kind for item in ann.items()] == ["semantic", "vault"]
