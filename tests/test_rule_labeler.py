"""The labeller by rules: every step gets its intent, memory stays bounded, a restart and ablations work; F_q of questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.errors import ConfigError
from hexamem.intent import (
    RECENT,
    IntentSettings,
    LabelBatch,
    LabeledStep,
    RuleLabeler,
    StepView,
    query_filter,
    views,
    vote,
)
from hexamem.memory_types import Step
from hexamem.memory_types.labels import Label
from hexamem.stores.embedders import open_embedder

EMBEDDER = open_embedder("bundled")
TRIP = [
    ("user", "Let's plan our four days in Lisbon. We start with Day 1: we need a hotel."),
    ("assistant", "How about the Apollo Hotel? It costs $140 a night and has 4.6 stars."),
    ("user", "Perfect, book it."),
    ("assistant", "Booked: the Apollo Hotel for four nights."),
    ("user", "Now on to Day 2. Which museums are there?"),
    ("assistant", "The Tile Museum is open from 10:00 and costs 8 euros."),
    ("user", "What about parking?"),
    ("assistant", "There is a garage next to the museum, 2 euros per hour."),
    ("user", "Let's turn to Day 3. We want to go to the beach."),
    ("assistant", "You can take the train to Cascais, it takes 40 minutes."),
]


def embed(texts: Sequence[str]) -> np.ndarray:
    return np.asarray(EMBEDDER.embed_documents(list(texts)), np.float32)


def steps_of(lines: Sequence[tuple[str, str]], thread: str = "talk", first: int = 0) -> list[StepView]:
    start = datetime(2025, 3, 1, 9, tzinfo=UTC)
    vectors = embed([text for _, text in lines])
    return [
        StepView(
            id=f"{thread}_{number:05}",
            thread_id=thread,
            turn=number,
            role=speaker if speaker in ("user", "assistant") else "user",
            speaker=speaker,
            text=text,
            occurred_at=start + timedelta(minutes=3 * number),
            vector=vector,
        )
        for number, ((speaker, text), vector) in enumerate(zip(lines, vectors, strict=True), first)
    ]


class Kept:
    """What a ledger would keep of a labeller's batches."""

    def __init__(self) -> None:
        self.steps: dict[str, LabeledStep] = {}
        self.labels: dict[str, Label] = {}

    def take(self, batch: LabelBatch) -> None:
        self.steps.update((one.step.id, one) for one in (*batch.steps, *batch.revised))
        self.labels.update((label.id, label) for label in batch.labels)

    def named(self, step_id: str) -> str:
        return self.labels[self.steps[step_id].scope].name

    def recent(self) -> dict[str, list[LabeledStep]]:
        recent: dict[str, list[LabeledStep]] = {}
        for one in self.steps.values():
            recent.setdefault(one.scope, []).append(one)
        return {scope: ones[-RECENT:] for scope, ones in recent.items()}


def batches(steps: Sequence[StepView], size: int) -> Iterator[Sequence[StepView]]:
    for place in range(0, len(steps), size):
        yield steps[place : place + size]


def labelled(steps: Sequence[StepView], size: int = 4, **options: object) -> tuple[RuleLabeler, Kept]:
    labeler, kept = RuleLabeler("ann", embed, IntentSettings(**options)), Kept()  # type: ignore[arg-type]
    for part in batches(steps, size):
        kept.take(labeler.label(part))
    return labeler, kept


def test_every_step_gets_a_known_scope_an_event_and_its_text() -> None:
    steps = steps_of(TRIP)
    _, kept = labelled(steps)
    assert list(kept.steps) == [step.id for step in steps]
    for one in kept.steps.values():
        assert one.scope in kept.labels
        assert one.events
        assert {*one.events, *one.entities} <= set(kept.labels)
        assert 0 <= one.confidence <= 1
        assert one.summary.startswith(one.step.speaker)


def test_the_days_of_a_trip_are_scopes_of_their_own() -> None:
    _, kept = labelled(steps_of(TRIP))
    assert "Day 1" in kept.named("talk_00002")
    assert "Day 2" in kept.named("talk_00005")
    assert "Day 3" in kept.named("talk_00009")


def test_what_is_indexed_has_its_references_in_words() -> None:
    _, kept = labelled(steps_of(TRIP))
    booked = kept.steps["talk_00002"]
    assert booked.resolved_text == "Perfect, book the Apollo Hotel."
    assert booked.step.text == "Perfect, book it."
    assert booked.antecedents == ("talk_00001",)
    assert "Hotel" in {kept.labels[entity].name for entity in booked.entities}
    assert kept.steps["talk_00006"].resolved_text == "What about parking? (Tile Museum)"


def test_a_reference_does_not_reach_into_another_scope() -> None:
    lines = [*TRIP[:4], TRIP[8], ("user", "Please book it.")]
    _, kept = labelled(steps_of(lines))
    assert kept.steps["talk_00005"].resolved_text == "Please book it."


def test_what_ends_one_goal_is_resolved_there_and_what_enters_another_is_resolved_in_that() -> None:
    labeller = RuleLabeler("ann", embed)
    lines = [
        ("user", "Plan Lisbon, three days. Day 1: a hotel near the river?"),
        ("assistant", "The Apollo Hotel costs $140 a night, rated 4.6."),
        ("user", "Book it. Now day 2: another hotel near the station."),
        ("assistant", "The Hotel Aurora costs $95 a night."),
        ("user", "Book it. Back to day 1: does it have parking?"),
    ]
    batch = labeller.label(steps_of(lines))
    assert batch.steps[2].resolved_text.startswith("Book the Apollo Hotel. Now day 2")
    assert batch.steps[4].resolved_text == "Book the Hotel Aurora. Back to day 1: does the Apollo Hotel have parking?"
    gists = {label.name.rpartition(" / ")[2]: label.gist for label in batch.labels if label.kind == "scope"}
    assert "Book the Hotel Aurora" in gists["Day 2"]
    assert "Book the Hotel Aurora" not in gists["Day 1"]


def test_a_question_moved_by_its_answer_is_resolved_where_it_belongs() -> None:
    labeller = RuleLabeler("ann", embed)
    lines = [
        ("user", "Please plan Riga, from Thursday 12 to Saturday 14 June. Where can we stay?"),
        ("assistant", "Hotel Bergs costs €120, Guesthouse Lilija €70."),
        ("user", "Hotel Bergs, please."),
        ("assistant", "Booked: Hotel Bergs for two nights."),
        ("user", "Now Friday: a restaurant?"),
        ("assistant", "Milda costs €30, Rozengrals €45."),
        ("user", "Milda."),
        ("assistant", "Booked: Milda on Friday at seven."),
        ("user", "Do children pay less?"),
        ("assistant", "On Thursday they stay free, at Hotel Bergs."),
    ]
    steps = steps_of(lines)
    labeller.label(steps[:9])
    last = labeller.label(steps[9:])
    names = {label.id: label.name for label in labeller._scopes.values()}
    assert names[last.steps[0].scope] == "Riga trip / Day 1"
    assert [(one.step.id, names[one.scope]) for one in last.revised if one.step.id == steps[8].id] == [
        (steps[8].id, "Riga trip / Day 1")
    ]


def test_scopes_carry_gists() -> None:
    _, kept = labelled(steps_of(TRIP))
    gist = kept.labels[kept.steps["talk_00003"].scope].gist
    assert "Apollo Hotel" in gist
    assert "Tile Museum" not in gist


def test_the_size_of_batches_changes_no_label() -> None:
    steps = steps_of(TRIP)
    outcomes = []
    for size in (1, 3, len(steps)):
        _, kept = labelled(steps, size)
        outcomes.append(
            [
                (kept.named(one.step.id), one.resolved_text, one.summary, [kept.labels[e].name for e in one.events])
                for one in kept.steps.values()
            ]
        )
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_a_restored_labeller_goes_on_where_the_first_stopped() -> None:
    steps = steps_of(TRIP)
    for cut in (2, 6, 9):
        _, whole = labelled(steps, 1)
        _, kept = labelled(steps[:cut], 1)
        second = RuleLabeler("ann", embed)
        second.restore(list(kept.labels.values()), kept.recent())
        for step in steps[cut:]:
            kept.take(second.label([step]))
        for step in steps:
            one, other = kept.steps[step.id], whole.steps[step.id]
            assert (kept.named(step.id), one.resolved_text) == (whole.named(step.id), other.resolved_text)


@pytest.mark.parametrize("part", ["scopes", "events", "entities", "coreference", "summaries"])
def test_each_part_can_be_switched_off(part: str) -> None:
    _, kept = labelled(steps_of(TRIP), **{part: False})
    ones = list(kept.steps.values())
    assert all(one.scope in kept.labels and one.events for one in ones)
    match part:
        case "scopes":
            assert len({one.scope for one in ones}) == 1
        case "events":
            assert len({one.events for one in ones}) == 1
        case "entities":
            assert not any(one.entities for one in ones)
        case "coreference":
            assert all(one.resolved_text == one.step.text for one in ones)
        case _:
            assert not any(one.summary for one in ones)
            assert not any(label.gist for label in kept.labels.values())


def test_a_closed_window_leaves_nothing_provisional() -> None:
    lines = [("Ann" if n % 2 else "Bob", f"{TRIP[n % 10][1]} And number {n} of many other things.") for n in range(40)]
    _, kept = labelled(steps_of(lines), 7, window=20)
    assert not any(one.provisional for one in list(kept.steps.values())[:20])


def test_a_revised_step_of_the_same_batch_comes_once_as_it_is_now() -> None:
    steps = steps_of([(speaker, text) for speaker, text in TRIP * 8])
    labeler = RuleLabeler("ann", embed)
    batch = labeler.label(steps)
    assert [one.step.id for one in batch.steps] == [step.id for step in steps]
    assert not {one.step.id for one in batch.revised} & {step.id for step in steps}


def test_memory_stays_bounded() -> None:
    labeler = RuleLabeler("ann", embed, IntentSettings(cached_steps=20, recent=5))
    for thread in range(30):
        labeler.label(steps_of(TRIP[:4], thread=f"thread{thread}"))
    assert len(labeler._steps) <= 20
    assert len(labeler._previous) <= 20
    assert all(len(recent) <= 5 for recent in labeler._recent.values())


def test_threads_may_be_mixed_in_a_batch() -> None:
    one, two = (
        steps_of(TRIP, thread="one"),
        steps_of([("Ben", "My cat Misty is ill."), ("Lia", "Is she eating?")], thread="two"),
    )
    labeler, kept = RuleLabeler("ann", embed), Kept()
    kept.take(labeler.label([one[0], two[0], one[1], two[1], one[2]]))
    assert kept.steps["one_00002"].resolved_text == "Perfect, book the Apollo Hotel."


HOSTILE = [
    "",
    "\x00",
    "\ud800\udfff",
    "🙂" * 30,
    "\u202eabc",
    "it " * 30_000,
    "那家店" * 10_000,
    "|" * 100,
    " | a | b | c ",
]


def test_hostile_steps_are_labelled_like_any_other() -> None:
    lines = [("\ud800", text) for text in HOSTILE] + [("", text) for text in HOSTILE]
    safe = [(speaker, text.encode("utf-8", "replace").decode()) for speaker, text in lines]
    steps = [
        StepView(
            id=view.id,
            thread_id=view.thread_id,
            turn=view.turn,
            role=view.role,
            speaker=speaker,
            text=text,
            occurred_at=view.occurred_at,
            vector=view.vector,
        )
        for view, (speaker, text) in zip(steps_of(safe), lines, strict=True)
    ]
    batch = RuleLabeler("ann", embed).label(steps)
    assert len(batch.steps) == len(steps)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "Mia"]), st.text(max_size=80)), max_size=8))
def test_any_conversation_is_labelled_in_order(lines: list[tuple[str, str]]) -> None:
    safe = [(speaker, text.encode("utf-8", "replace").decode()) for speaker, text in lines]
    steps = steps_of(safe) if safe else []
    batch = RuleLabeler("ann", embed).label(steps)
    assert [one.step.id for one in batch.steps] == [step.id for step in steps]
    assert not batch.revised


def test_views_embeds_all_steps_with_one_call() -> None:
    calls: list[int] = []

    def counting(texts: Sequence[str]) -> np.ndarray:
        calls.append(len(texts))
        return embed(texts)

    records = [
        Step(
            user="ann",
            thread_id="t",
            turn=n,
            seq=n,
            role="user",
            name="Ann",
            content=text,
            index_text=text + " (photo)",
        )
        for n, (_, text) in enumerate(TRIP)
    ]
    made = views(records, counting)
    assert calls == [len(TRIP)]
    assert [one.text for one in made] == [record.index_text for record in records]
    assert made[0].speaker == "Ann"
    assert made[0].vector.shape == (EMBEDDER.dimension,)
    assert views([], counting) == ()


def test_settings_refuse_what_cannot_work() -> None:
    with pytest.raises(ConfigError, match="window = 0"):
        IntentSettings(window=0)
    with pytest.raises(ConfigError, match="recent"):
        IntentSettings(recent=RECENT + 1)


# ---------------------------------------------------------------- F_q


def scope(name: str, parent: Label | None = None, gist: str = "", alias: Label | None = None) -> Label:
    return Label(
        user="ann",
        kind="scope",
        name=name if parent is None else f"{parent.name} / {name}",
        parent_id=parent and parent.id,
        alias_of=alias and alias.id,
        gist=gist,
    )


LISBON = scope("Lisbon trip")
OSLO = scope("Oslo trip")
DAYS = {f"L{n}": scope(f"Day {n}", LISBON) for n in (1, 2)} | {f"O{n}": scope(f"Day {n}", OSLO) for n in (1, 2, 3)}
TICKET = scope("PAY-231")
ALIAS = scope("Portugal trip", alias=LISBON)
POTTERY = scope(
    "Pottery, clay, class",
    gist="Mel, Ann | signed up for a pottery class in the old mill | Kiln House | Mel decides the bowl",
)
BIRDS = scope(
    "Birds, park, walk", gist="Ann, Joe | watched birds in the park near the river | Heron Lake | Ann says: herons"
)
SCOPES = [LISBON, OSLO, *DAYS.values(), TICKET, ALIAS, POTTERY, BIRDS]


def scopes_of(question: str) -> dict[str, float]:
    return dict(query_filter(question, SCOPES).scopes)


def test_a_question_that_names_a_trip_weighs_all_its_days() -> None:
    found = scopes_of("Which restaurants did we book on the Lisbon trip?")
    assert found[LISBON.id] == 1.0
    assert {DAYS["L1"].id, DAYS["L2"].id} <= set(found)
    assert not {OSLO.id, DAYS["O1"].id} & set(found)


def test_a_day_of_a_named_trip_is_that_day_alone() -> None:
    found = scopes_of("What did we plan for day 2 in Oslo?")
    assert max(found, key=lambda key: found[key]) == DAYS["O2"].id
    assert not {DAYS["L2"].id, DAYS["O1"].id} & set(found)


def test_a_day_without_a_trip_means_that_day_of_each() -> None:
    found = scopes_of("Where do we eat on day 2?")
    assert found[DAYS["L2"].id] == found[DAYS["O2"].id] < 1.0


def test_a_ticket_is_found_by_its_id() -> None:
    assert scopes_of("Who fixed PAY-231?") == {TICKET.id: 1.0}


def test_an_alias_names_the_scope_that_took_it_in() -> None:
    assert LISBON.id in scopes_of("How long is the Portugal trip?")


def test_a_gist_names_its_scope_where_it_stands_clearly_out() -> None:
    assert list(scopes_of("Where is the pottery class with the kiln?")) == [POTTERY.id]


def test_a_question_that_names_nothing_gives_empty_parts() -> None:
    for question in ("What did she say?", "", "\ud800", "How are you?", "Who was it that called me yesterday evening?"):
        found = query_filter(question, SCOPES)
        assert not found.scopes
        assert not found


def test_a_labeller_answers_with_the_labels_it_gave() -> None:
    labeler, kept = labelled(steps_of(TRIP))
    found = labeler.query("Which hotel did we decide on for day 1?")
    assert kept.steps["talk_00003"].scope in found.scopes
    assert {kept.labels[key].name for key in found.entities} >= {"Hotel"}
    assert found.note


def test_the_nearest_snippets_vote_for_labels() -> None:
    nearest = [(["a", "b"], 0.9), (["a"], 0.8), (["c"], 0.2), (["c"], -1.0), (["d"], float("nan"))]
    weights = vote(nearest)
    assert list(weights) == ["a", "b"]
    assert weights["a"] == 1.0 > weights["b"] > 0


def test_a_vote_without_a_majority_says_nothing() -> None:
    assert vote([]) == {}
    assert vote([([str(n)], 0.5) for n in range(10)]) == {}
