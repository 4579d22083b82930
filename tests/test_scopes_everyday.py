"""Scopes of everyday talk: diaries, chats of many matters, trips that are told of and not planned."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

from hexamem.intent.contract import StepView
from hexamem.intent.scopes.text import read_words
from hexamem.intent.scopes.tracker import ScopeTracker
from hexamem.stores.embedders import Embedder, open_embedder

START = datetime(2026, 9, 1, 9, tzinfo=UTC)


@cache
def embedder() -> Embedder:
    return open_embedder("bundled")


def scopes_of(talk: Sequence[str | float]) -> list[str]:
    """The name of each line's scope in the end; "A: …" is the assistant's, a number a pause in hours before the next line."""
    lines: list[tuple[str, str, datetime]] = []
    at = START
    for one in talk:
        if isinstance(one, str):
            answer = one.startswith("A: ")
            lines.append(("assistant" if answer else "user", one.removeprefix("A: "), at))
            at += timedelta(minutes=2)
        else:
            at += timedelta(hours=one)
    tracker = ScopeTracker("ann", embedder().embed_documents)
    vectors = embedder().embed_documents([text for _, text, _ in lines])
    scopes: dict[str, str] = {}
    for turn, ((role, text, said), vector) in enumerate(zip(lines, vectors, strict=True)):
        step = StepView(
            id=f"s{turn}", thread_id="t", turn=turn, role=role, speaker=role, text=text, occurred_at=said, vector=vector
        )
        decision = tracker.assign(step)
        scopes.update(dict.fromkeys((step.id, *decision.revised), decision.scope_id))
    names = {label.id: label.name for label in tracker.labels}
    return [names[tracker.canonical(scopes[f"s{turn}"])] for turn in range(len(lines))]


def test_the_mark_and_id_of_a_secret_are_no_words_of_the_step() -> None:
    words = read_words("Our new code is {{vault:vault_01abc9xyz|access code of the shed}}.")
    assert "{{" not in words.text
    assert "shed" in words.terms
    assert not any("vault" in token for token in words.tokens)
