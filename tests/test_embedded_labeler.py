"""The embedded labeler: scopes by the tracker, event and entity types by classifiers, without a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory
from hexamem.intent import EmbeddedLabeler, LabelBatch, LabeledStep, StepView
from hexamem.intent.embedded_labeler import scope_name
from hexamem.intent.label_classifiers import load_classifiers
from hexamem.intent.label_names import label_types
from hexamem.intent.scope_text import explicit_keys
from hexamem.intent.scope_tracker import COLUMNS, load_scope_weights
from hexamem.models.encoder import open_encoder

START = datetime(2025, 6, 2, 9, tzinfo=UTC)
WORK = [
    "PROJ-41: the export to CSV loses umlauts in the names of customers.",
    "I see, the CSV writer of the export opens its file without an encoding. I will set UTF-8.",
    "Does the CSV export still open in the spreadsheet with umlauts?",
    "Yes, with a byte order mark the spreadsheet reads the CSV export as UTF-8.",
    "PROJ-57: the login page needs a dark theme until Friday.",
    "For the dark theme of the login page I suggest colours from the style guide.",
    "Are the buttons of the login page readable in the dark theme?",
    "Their contrast in the dark theme is 7 to 1, which is good.",
    "Back to PROJ-41, is the CSV export with umlauts merged?",
    "The CSV export with umlauts was merged this morning.",
]


def embed(texts: Sequence[str]) -> np.ndarray:
    return open_encoder().vectors(texts)


def turns(texts: Sequence[str], thread: str = "t", start: int = 0) -> list[StepView]:
    return [
        StepView(
            id=f"{thread}{turn}",
            thread_id=thread,
            turn=turn,
            role=("user", "assistant")[turn % 2],
            speaker=("user", "assistant")[turn % 2],
            text=text,
            occurred_at=START + timedelta(minutes=turn),
            vector=vector,
        )
        for turn, (text, vector) in enumerate(zip(texts, embed(texts), strict=True), start)
    ]


class Store:
    """What a ledger keeps of batches."""

    def __init__(self) -> None:
        self.steps: dict[str, LabeledStep] = {}
        self.labels: dict = {}

    def take(self, batch: LabelBatch) -> None:
        self.labels.update((label.id, label) for label in batch.labels)
        self.steps.update((one.step.id, one) for one in (*batch.steps, *batch.revised))

    def scope(self, step_id: str) -> str:
        label = self.labels[self.steps[step_id].scope]
        while label.alias_of:
            label = self.labels[label.alias_of]
        return label.name

    def recent(self) -> dict[str, list[LabeledStep]]:
        found: dict[str, list[LabeledStep]] = {}
        for one in sorted(self.steps.values(), key=lambda one: one.step.turn):
            found.setdefault(one.scope, []).append(one)
        return found


def labelled(steps: Sequence[StepView], size: int = 100) -> tuple[EmbeddedLabeler, Store]:
    labeler, store = EmbeddedLabeler("ann", embed), Store()
    for start in range(0, len(steps), size):
        store.take(labeler.label(steps[start : start + size]))
    return labeler, store


def test_a_key_opens_a_scope_that_is_named_by_it_and_returned_to() -> None:
    _, store = labelled(turns(WORK))
    assert [store.scope(f"t{turn}") for turn in (0, 4, 8)] == ["PROJ-41", "PROJ-57", "PROJ-41"]


def test_steps_have_the_same_settled_scopes_whether_they_come_one_by_one_or_at_once() -> None:
    steps = turns(WORK)
    (_, at_once), (_, one_by_one) = labelled(steps), labelled(steps, size=1)
    assert [at_once.scope(step.id) for step in steps] == [one_by_one.scope(step.id) for step in steps]


def test_a_labeler_that_was_restored_goes_on_as_one_that_was_not() -> None:
    steps = turns(WORK)
    _, whole = labelled(steps, size=6)
    _, store = labelled(steps[:6])
    second = EmbeddedLabeler("ann", embed)
    second.restore(list(store.labels.values()), store.recent())
    store.take(second.label(steps[6:]))
    assert [store.scope(step.id) for step in steps] == [whole.scope(step.id) for step in steps]


def test_the_answer_carries_the_act_of_what_it_answers_and_texts_stay_as_they_are() -> None:
    steps = turns(WORK)
    _, store = labelled(steps)
    found = [store.steps[step.id] for step in steps]
    assert all(answer.events == asked.events for asked, answer in zip(found[::2], found[1::2], strict=True))
    assert all(one.resolved_text == one.step.text and one.summary == "" for one in found)


def test_a_question_names_the_scope_that_it_is_about() -> None:
    labeler, store = labelled(turns(WORK))
    found = labeler.query("Which encoding does the CSV export use for umlauts?")
    best = max(found.evidence, key=lambda scope: found.evidence[scope])
    assert store.labels[best].name == "PROJ-41"
    assert not found.events


def test_a_scope_that_was_merged_away_is_not_given_any_more() -> None:
    _, store = labelled(turns(WORK))
    first, second = store.steps["t0"].scope, store.steps["t4"].scope
    merged = store.labels[second].model_copy(update={"alias_of": first})
    labeler = EmbeddedLabeler("ann", embed)
    labeler.restore([*({**store.labels, second: merged}).values()], store.recent())
    batch = labeler.label(turns(["Is the dark theme of the login page done?", "The dark theme is done."], start=10))
    assert second not in {one.scope for one in batch.steps}
    assert second not in labeler.query("the dark theme of the login page").evidence


@given(st.lists(st.text(max_size=80), min_size=1, max_size=8), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_whatever_is_said_every_step_gets_a_scope_and_an_act_that_are_stored(texts: list[str], size: int) -> None:
    steps = turns(texts)
    _, store = labelled(steps, size)
    assert set(store.steps) == {step.id for step in steps}
    for one in store.steps.values():
        assert {one.scope, *one.events, *one.entities} <= store.labels.keys()
    assert all(label.name.strip() for label in store.labels.values())


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("See PROJ-41 and #1187.", ("proj-41", "#1187")),
        ("Day 2 and day-12", ("day 2", "day 12")),
        ("第2天，第十二天", ("day 2", "day 12")),
        ("step 2 of 3 on 2025-06-02", ()),
    ],
)
def test_explicit_keys_are_ticket_ids_and_numbered_days(text: str, keys: tuple[str, ...]) -> None:
    assert set(explicit_keys(text)) == set(keys)


def test_a_scope_is_named_by_its_key_or_its_first_words() -> None:
    assert scope_name("Let's look at PROJ-41 now.") == "PROJ-41"
    assert scope_name("day 2: the museum") == "Day 2"
    assert scope_name("The roof of the shed leaks. Who can come?") == "The roof of the shed leaks"


def test_the_weights_that_ship_are_for_the_encoder_that_ships() -> None:
    classifiers, weights = load_classifiers("bundled"), load_scope_weights("bundled")
    assert classifiers.encoder == weights.encoder == open_encoder().fingerprint, (
        "run scripts/train_scopes.py, train_labels.py"
    )
    assert weights.hidden.shape[0] == COLUMNS
    assert set(classifiers.events) <= set(label_types("event"))


def test_a_scope_of_several_steps_is_named_by_what_they_are_about_and_not_by_its_greeting(tmp_path: Path) -> None:
    turns = [
        "Hi!",
        "I'm planning our trip to Porto in May.",
        "For the trip to Porto I need a hotel near the river.",
        "How long is the train to Porto from Lisbon?",
        "And what should we eat on the trip to Porto?",
        "Let's add a day of wine tasting to the Porto trip.",
    ]
    with Memory.open(tmp_path) as memory:
        user = memory.user("alice")
        user.remember(turns)
        user.flush()
        names = [scope.name for scope in user.labels.list("scope") if scope.steps >= 5]
    assert names
    assert all("Porto" in name for name in names)
