"""How much a question speaks for each scope: by what was said there, what it was opened with, and its number."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from hexamem.intent.contract import LabeledStep, StepView
from hexamem.intent.query import query_filter
from hexamem.intent.query_evidence import ScopeEvidence
from hexamem.memory_types.labels import Label

WHEN = datetime(2025, 3, 3, tzinfo=UTC)


def label(label_id: str, name: str, *, parent: str | None = None, alias_of: str | None = None) -> Label:
    return Label(id=label_id, user="ann", kind="scope", name=name, parent_id=parent, alias_of=alias_of)


def said(scope: str, *texts: str) -> list[LabeledStep]:
    return [
        LabeledStep(
            step=StepView(
                id=f"{scope}_{turn}",
                thread_id="t",
                turn=turn,
                role="user",
                speaker="Ann",
                text=text,
                occurred_at=WHEN,
                vector=np.zeros(4, np.float32),
            ),
            scope=scope,
            events=("event",),
            resolved_text=text,
            summary="",
        )
        for turn, text in enumerate(texts)
    ]


TRIP = label("label_trip", "Riga trip")
ONE = label("label_one", "Riga trip / Day 1", parent="label_trip")
TWO = label("label_two", "Riga trip / Day 2", parent="label_trip")
BREAD = label("label_bread", "Flour, oven, loaf")
LABELS = {one.id: one for one in (TRIP, ONE, TWO, BREAD)}
RECENT = {
    ONE.id: said(ONE.id, "We see the Amber Museum first, Ann.", "A tram to the Amber Museum, please.", "Ann pays."),
    TWO.id: said(TWO.id, "A boat on the lagoon, Ann.", "The lagoon again after lunch, Ann.", "Ann takes the photos."),
    BREAD.id: said(BREAD.id, "The loaf came out flat, Ann.", "Feed the starter with rye flour.", "Ann will."),
}


def likeliest(question: str) -> str:
    evidence = ScopeEvidence()
    evidence.refresh(LABELS, RECENT)
    scores = evidence.scores(question)
    return max(scores, key=lambda one: scores[one])


@pytest.mark.parametrize(
    ("question", "scope"),
    [
        ("When do we go to the Amber Museum?", ONE),
        ("What did we do at the lagoon?", TWO),
        ("What is planned for the second day in Riga?", TWO),
        ("What is planned for day 1?", ONE),
        ("What is planned for the last day in Riga?", TWO),
        ("Which flour for the starter?", BREAD),
    ],
)
def test_a_question_speaks_most_for_the_scope_it_is_about(question: str, scope: Label) -> None:
    assert likeliest(question) == scope.id


def test_a_name_that_is_said_everywhere_tells_no_scope_from_another() -> None:
    evidence = ScopeEvidence()
    evidence.refresh(LABELS, RECENT)
    scores = evidence.scores("What did Ann say?").values()
    assert max(scores) - min(scores) < 0.5


def test_scopes_without_steps_have_no_evidence_and_no_labels_give_none() -> None:
    evidence = ScopeEvidence()
    assert evidence.scores("anything") == {}
    evidence.refresh(LABELS, RECENT)
    assert TRIP.id not in evidence.scores("Riga")


def test_what_changed_is_taken_in_as_if_it_had_been_so_from_the_start() -> None:
    grown = {**RECENT, TWO.id: [*RECENT[TWO.id], *said("more", "The herons in the reeds.")]}
    renamed = {**LABELS, BREAD.id: label(BREAD.id, "Baking")}
    without = {key: one for key, one in renamed.items() if key != ONE.id}
    later, anew = ScopeEvidence(), ScopeEvidence()
    later.refresh(LABELS, RECENT)
    later.refresh(renamed, grown)
    later.refresh(without, {key: steps for key, steps in grown.items() if key != ONE.id})
    anew.refresh(without, {key: steps for key, steps in grown.items() if key != ONE.id})
    for question in ("Where are the herons?", "What about baking?", "What is planned for day 2 in Riga?"):
        assert later.scores(question) == pytest.approx(anew.scores(question))


def test_a_question_about_all_parts_is_told_from_one_about_a_part() -> None:
    def wide(text: str) -> bool:
        return query_filter(text, list(LABELS.values())).wide

    assert wide("Which hotel did we take for each day of the Riga trip?")
    assert wide("里加每天的住处是哪里？")
    assert not wide("Which hotel did we take on day 2 in Riga?")
    assert not wide("Where is the Amber Museum?")
