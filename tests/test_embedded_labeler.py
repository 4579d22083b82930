"""Labels without a chat model: scopes by the tracker, types by classifiers, vocabularies, forms of names, topics."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, MiddlewareSettings, Settings
from hexamem.intent import EmbeddedLabeler, LabelBatch, LabeledStep, StepView
from hexamem.intent.label_classifiers import load_classifiers
from hexamem.intent.label_names import label_types
from hexamem.intent.scope_text import explicit_keys
from hexamem.intent.scope_tracker import COLUMNS, load_scope_weights
from hexamem.intent.vocabulary import TypeVocabulary
from hexamem.memory_types.labels import Label
from hexamem.middleware import topic_likeness
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


def turns(texts: Sequence[str], start: int = 0) -> list[StepView]:
    vectors = open_encoder().vectors(texts)
    roles = [("user", "assistant")[turn % 2] for turn in range(start, start + len(texts))]
    return [
        StepView(
            id=f"t{turn}", thread_id="t", turn=turn, role=role, speaker=role, text=text,  # type: ignore[arg-type]
            occurred_at=START + timedelta(minutes=turn), vector=vector,
        )
        for turn, (role, text, vector) in enumerate(zip(roles, texts, vectors, strict=True), start)
    ]  # fmt: skip


class Store:
    """What a ledger holds of batches."""

    def __init__(self) -> None:
        self.steps: dict[str, LabeledStep] = {}
        self.labels: dict[str, Label] = {}

    def take(self, batch: LabelBatch) -> None:
        self.labels.update((label.id, label) for label in batch.labels)
        self.steps.update((step.step.id, step) for step in (*batch.steps, *batch.revised))

    def scopes(self) -> list[str]:
        names = []
        for step in sorted(self.steps.values(), key=lambda step: step.step.turn):
            label = self.labels[step.scope]
            while label.alias_of:
                label = self.labels[label.alias_of]
            names.append(label.name)
        return names

    def recent(self) -> dict[str, list[LabeledStep]]:
        recent: dict[str, list[LabeledStep]] = {}
        for step in sorted(self.steps.values(), key=lambda step: step.step.turn):
            recent.setdefault(step.scope, []).append(step)
        return recent


def labelled(steps: Sequence[StepView], size: int = 100) -> tuple[EmbeddedLabeler, Store]:
    labeler, store = EmbeddedLabeler("ann", open_encoder().vectors), Store()
    for start in range(0, len(steps), size):
        store.take(labeler.label(steps[start : start + size]))
    return labeler, store


def test_a_key_opens_a_scope_that_is_named_by_it_returned_to_and_asked_for() -> None:
    labeler, store = labelled(turns(WORK))
    assert [store.scopes()[turn] for turn in (0, 4, 8)] == ["PROJ-41", "PROJ-57", "PROJ-41"]
    keys = explicit_keys("PROJ-41 and #1187 on day-12, 第2天; step 2 of 3 on 2025-06-02")
    assert set(keys) == {"proj-41", "#1187", "day 12", "day 2"}
    steps = [store.steps[f"t{turn}"] for turn in range(10)]
    assert all(answer.events == question.events for question, answer in zip(steps[::2], steps[1::2], strict=True))
    assert all((step.resolved_text, step.summary) == (step.step.text, "") for step in steps)
    query = labeler.query("Which encoding does the CSV export use for umlauts?")
    assert store.labels[max(query.evidence, key=query.evidence.__getitem__)].name == "PROJ-41"
    assert not query.events


def test_scopes_do_not_depend_on_batches_nor_on_a_restart_in_between() -> None:
    steps = turns(WORK)
    expected = labelled(steps)[1].scopes()
    assert labelled(steps, size=1)[1].scopes() == expected
    _, store = labelled(steps[:6])
    second = EmbeddedLabeler("ann", open_encoder().vectors)
    second.restore(list(store.labels.values()), store.recent())
    store.take(second.label(steps[6:]))
    assert store.scopes() == expected


def test_a_scope_that_was_merged_away_is_not_assigned_any_more() -> None:
    _, store = labelled(turns(WORK))
    first, second = store.steps["t0"].scope, store.steps["t4"].scope
    merged = {**store.labels, second: store.labels[second].changed(alias_of=first)}
    labeler = EmbeddedLabeler("ann", open_encoder().vectors)
    labeler.restore(list(merged.values()), store.recent())
    batch = labeler.label(turns(["Is the dark theme of the login page done?", "The dark theme is done."], start=10))
    assert second not in {step.scope for step in batch.steps}
    assert second not in labeler.query("the dark theme of the login page").evidence


@settings(max_examples=25)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=8), st.integers(1, 3))
def test_every_step_of_any_text_gets_a_scope_and_an_act_that_are_stored(texts: list[str], size: int) -> None:
    steps = turns(texts)
    _, store = labelled(steps, size)
    assert set(store.steps) == {step.id for step in steps}
    for step in store.steps.values():
        assert step.events
        assert {step.scope, *step.events, *step.entities} <= store.labels.keys()
    assert all(label.name.strip() for label in store.labels.values())


def test_a_scope_is_named_by_its_key_or_what_its_steps_are_about_and_not_by_a_greeting(tmp_path: Path) -> None:
    trip = [
        "Hi!",
        "I'm planning our trip to Porto in May.",
        "For the trip to Porto I need a hotel near the river.",
        "How long is the train to Porto from Lisbon?",
        "And what should we eat on the trip to Porto?",
        "Let's add a day of wine tasting to the Porto trip.",
    ]
    with Memory.open(tmp_path, settings=Settings(background=False, mode="off")) as memory:
        user = memory.user("alice")
        user.remember(trip)
        user.flush()
        scopes = {scope.name: scope.steps for scope in user.labels.list("scope")}
        assert [("Porto" in name, steps >= 5) for name, steps in scopes.items() if steps >= 5] == [(True, True)]


def test_the_weights_that_ship_are_for_the_encoder_that_ships() -> None:
    classifiers, weights = load_classifiers("bundled"), load_scope_weights("bundled")
    message = "run scripts/train_scopes.py, train_labels.py"
    assert classifiers.encoder == weights.encoder == open_encoder().fingerprint, message
    assert weights.hidden.shape[0] == COLUMNS
    assert set(classifiers.events) <= set(label_types("event"))


def embed(texts: Sequence[str]) -> np.ndarray:
    """Words to axes: names that share words are near."""
    rows = np.zeros((len(texts), 4_096), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.casefold().split():
            row[zlib.crc32(word.encode("utf-8", "surrogatepass")) % 4_096] += 1
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def vocabulary(*labels: Label, user: str = "ada", kind: Any = "event") -> TypeVocabulary:
    return TypeVocabulary(user, kind, labels, embed)


def test_a_name_in_whatever_case_is_one_label_of_one_user_and_kind_in_every_process() -> None:
    words = vocabulary()
    (built,) = words.propose(["Opening hours"])
    for name in ("opening hours", "opening_hours", "OpeningHours", " Opening-Hours "):
        assert words.propose([name]) == (built,)
    assert len(set(words.propose(["酒店", "餐厅", "bus", "bu", "status", "stat"]))) == 6
    ids = {
        vocabulary(user=user, kind=kind).propose(["Opening hours"])
        for user, kind in (("bob", "event"), ("ada", "entity"))
    }
    assert vocabulary().propose(["Opening hours"]) == (built,)
    assert (len(ids), (built,) in ids) == (2, False)
    entry, two, three, four = (Label(id=f"label_{n}", user="ada", kind="event", name=n) for n in "abcd")
    circle = [entry.changed(alias_of=two.id), two.changed(alias_of=entry.id)]
    aliases = vocabulary(*circle, three.changed(alias_of=four.id), four)  # a circle does no harm
    assert aliases.find("a") is not None
    assert aliases.find("c") == four
    renamed = vocabulary(words.made[built].changed(name="Ideas", pinned=True))
    assert renamed.find("opening hours") == renamed.find("ideas") is not None


BAKERY = "I'd like ideas for the window of our bakery, with marzipan pigs. Read me my newest mail first."
OVEN = (
    "Dear Mr Dahl, we have mislaid the sheet for your leaking oven: on which day and at what hour did we agree that our "
    "engineer comes, and what is his name? Kind regards"
)
TRIP, DINNER, GUITAR = "Plan my trip to Lisbon in May.", "What should I cook for my parents?", "我想给孩子买一把吉他。"
BICYCLE = "Where does the red bicycle stand?"
# What was asked first, what is talked about then, and whether that is something else.
CASES = [
    (BAKERY, OVEN, True),
    (BAKERY, "Which tablets for blood pressure do you take, and at what hour?", True),
    (BAKERY, "The marzipan for the pigs costs four pounds a kilo this year.", False),
    (BICYCLE, "Aunt Rosa is allergic to walnuts in cakes.", True),
    (BICYCLE, "The bicycle stands in the cellar.", False),
    (TRIP, "Build 4711 failed: 3 tests of the payment service are red.", True),
    (TRIP, "Flights to Lisbon in May: 7:10 and 18:40, from 89 euros.", False),
    (DINNER, "Your tax return is due; the office wants the receipts for 2025.", True),
    (DINNER, "A recipe: cook the lentils with carrots and serve them with rice.", False),
    (GUITAR, "医院通知您下周三上午九点复查血压。", True),
    (GUITAR, "这家店的儿童吉他打八折。", False),
]


def test_most_changes_of_topic_are_recognised_and_few_continuations_are_taken_for_one() -> None:
    bound = MiddlewareSettings().topic_shift or 0.0
    wrong = [case for case in CASES if (topic_likeness(case[1], [case[0]]) < bound) is not case[2]]
    assert len(wrong) <= 2, wrong
    assert topic_likeness(OVEN, [BAKERY, OVEN]) == pytest.approx(1, abs=1e-5)
