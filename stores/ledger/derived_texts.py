"""What labelling derived from words that are gone is deleted: gists of scopes, texts of steps, names of labels.

A label may be named by a step, a gist may summarize it, another step's references may be resolved in its words. When
that step is forgotten, these texts are emptied, and names become neutral, in the history too; nothing of it comes back
when the step is restored. Labelling makes new texts from the steps that follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Row, delete, select, update

from hexamem.memory_types.labels import Label
from hexamem.stores.ledger.label_changes import touch_steps
from hexamem.stores.ledger.labels import carried_labels, read_labels
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.neutral_names import is_neutral_name, make_names_neutral, names_in_history
from hexamem.stores.ledger.schema import changes, intents, operations, scopes, steps
from hexamem.stores.ledger.step_rows import WITH_INTENT
from hexamem.stores.ledger.wording import SAID, Said, Wording, active_texts, carrying_steps, said_text, unsaid
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["clear_derived", "clear_derived_from_parts", "clear_texts"]

_NEAR, _REACH = 2_000, 30  # steps whose texts by a model are looked through: of the same scopes, and right behind
_EMPTY = {"summary": "", "resolved_text": None}


def clear_derived(tx: Transaction, step_ids: Collection[str]) -> None:
    """Delete what labelling derived from the words of steps that were just forgotten."""
    _clear(tx, step_ids, Said.of(tx, step_ids))


def clear_derived_from_parts(tx: Transaction, step_ids: Collection[str]) -> None:
    """Delete what labelling derived from words that were taken out of steps whose rest is there, as history has them."""
    removed = _removed(tx, step_ids)
    if removed is not None:
        _clear(tx, removed.words, removed)
        clear_texts(tx, removed.words)


def clear_texts(tx: Transaction, step_ids: Collection[str]) -> None:
    """Empty the resolved texts and summaries of steps, in the history too; the indexes take the steps in again."""
    for part in chunks(step_ids):
        own = (intents.c.user_id == tx.user_id) & intents.c.step_id.in_(part)
        tx.connection.execute(update(intents).where(own).values(**_EMPTY))
        made = (changes.c.user_id == tx.user_id) & (changes.c.target == "intent") & changes.c.target_id.in_(part)
        for row in tx.all(select(changes).where(made)):
            states = {"before": row.before, "after": row.after}
            values = {side: {**state, **_EMPTY} for side, state in states.items() if state is not None}
            key = [column == row._mapping[column.name] for column in changes.primary_key]
            tx.connection.execute(update(changes).where(*key).values(**values))
    touch_steps(tx, step_ids)


def _removed(tx: Transaction, step_ids: Collection[str]) -> Said | None:
    """The words that were taken out of steps, as history has them; None where none were."""
    own = (changes.c.user_id == tx.user_id) & (changes.c.target == "text")
    whole: dict[str, str] = {}
    for part in chunks(step_ids):
        of_operation = (operations.c.user_id == changes.c.user_id) & (operations.c.id == changes.c.operation_id)
        rows = select(changes.c.target_id, changes.c.before).join(operations, of_operation)
        for row in tx.all(rows.where(own, changes.c.target_id.in_(part)).order_by(operations.c.seq)):
            whole.setdefault(row.target_id, row.before["content"])
    if not whole:
        return None
    if tx.wording is None:
        return Said([], dict.fromkeys(whole, frozenset()))
    said, words_of = Said.of(tx, whole), tx.wording.telling
    out = {row.id: words_of(whole[row.id]) - said.words[row.id] for row in said.rows if row.content != whole[row.id]}
    return Said([row for row in said.rows if row.id in out], out) if out else None


def _clear(tx: Transaction, step_ids: Collection[str], gone: Said) -> None:
    vocabulary = Vocabulary(read_labels(tx))
    carried = vocabulary.with_wider({label for ids in carried_labels(tx, step_ids).values() for label in ids})
    _clear_texts_of_others(tx, step_ids, gone, {one for label in carried for one in vocabulary.same(label)})
    gists = {one.id: one.gist for one in vocabulary.by_id.values() if one.gist}
    wording = tx.wording
    if wording is None:
        _drop_gists(tx, [one for one in gists if vocabulary.canonical(one) in carried])
        return
    history = names_in_history(tx)
    names = {one.id: {one.name, *history.get(one.id, ())} for one in vocabulary.by_id.values()}
    derived = {word for gist in gists.values() for word in wording.telling(gist)}
    derived.update(
        word
        for label_id, some in names.items()
        for name in some
        for word in _words(wording, vocabulary, label_id, name)
    )
    lost = unsaid(wording, derived & gone.all, active_texts(tx, None))
    told = (one for one, gist in gists.items() if not lost.isdisjoint(wording.telling(gist)))
    _drop_gists(tx, {*(one for one in gists if vocabulary.canonical(one) in carried), *told})

    def holds(label: Label, name: str) -> bool:
        return not lost.isdisjoint(_words(wording, vocabulary, label.id, name))

    by_people = _named_by_people(tx, {one.id: one.name for one in vocabulary.by_id.values()})
    meant = {
        one.id
        for one in vocabulary.by_id.values()
        if one.id not in by_people
        and (
            holds(one, one.name) or (vocabulary.canonical(one.id) in carried and _only_from(tx, vocabulary, one, gone))
        )
    }
    if meant or any(holds(vocabulary.by_id[one], name) for one in history if one in names for name in history[one]):
        make_names_neutral(tx, meant, holds)


def _words(wording: Wording, vocabulary: Vocabulary, label_id: str, name: str) -> frozenset[str]:
    return frozenset() if is_neutral_name(name) else wording.of_name(vocabulary.by_id[label_id].kind, name)


def _only_from(tx: Transaction, vocabulary: Vocabulary, label: Label, gone: Said) -> bool:
    """Whether a label got its name from the steps that are gone though none of them says it: a model's own words."""
    if tx.wording is None or not (words := _words(tx.wording, vocabulary, label.id, label.name)):
        return False
    first = tx.first(carrying_steps(tx, vocabulary.same(label.id)).limit(1))
    if first is None or first.id not in gone.words:
        return False
    return unsaid(tx.wording, words, active_texts(tx, vocabulary.covering(label.id))) == words


def _drop_gists(tx: Transaction, label_ids: Collection[str]) -> None:
    for part in chunks(label_ids):
        own = (scopes.c.user_id == tx.user_id) & scopes.c.label_id.in_(part)
        tx.connection.execute(delete(scopes).where(own))


def _named_by_people(tx: Transaction, names: dict[str, str]) -> set[str]:
    """The labels to whom a person gave the name that they have: it stays, since it comes from no step."""
    of_operation = (operations.c.user_id == changes.c.user_id) & (operations.c.id == changes.c.operation_id)
    rows = tx.all(
        select(changes.c.target_id, changes.c.before, changes.c.after, operations.c.kind)
        .join(operations, of_operation)
        .where(
            changes.c.user_id == tx.user_id,
            changes.c.target == "label",
            operations.c.kind.in_(("rename", "split")),
        )
    )
    return {
        row.target_id
        for row in rows
        # The alias that a renaming leaves has the name that was there before.
        if row.after and row.after["name"] == names.get(row.target_id) and (row.before or row.kind == "split")
    }


def _clear_texts_of_others(tx: Transaction, step_ids: Collection[str], gone: Said, label_ids: Collection[str]) -> None:
    """Empty the texts of other steps that hold words of these: references resolved by them, a model's summaries."""
    given = set(step_ids)
    own = (intents.c.user_id == tx.user_id) & intents.c.antecedents.is_not(None)
    rows = tx.all(select(intents.c.step_id, intents.c.antecedents).where(own))
    found = {row.step_id for row in rows if not given.isdisjoint(row.antecedents)}
    if tx.wording is not None and gone.rows:
        words_of = tx.wording.telling
        for row in _summarized_by_models(tx, gone, label_ids):
            texts = words_of(f"{row.resolved_text or ''}\n{row.summary or ''}") - words_of(said_text(row))
            if gone.saying(texts):
                found.add(row.id)
    clear_texts(tx, found - given)


def _summarized_by_models(tx: Transaction, gone: Said, label_ids: Collection[str]) -> Iterator[Row[Any]]:
    """Steps behind those that are gone, in their scopes or their threads, whose texts a model wrote.

    Forgotten ones too: they may be restored before these.
    """
    first = min(int(row.seq) for row in gone.rows)
    base = (
        select(*SAID, intents.c.resolved_text, intents.c.summary)
        .join(intents, WITH_INTENT)
        .where(steps.c.user_id == tx.user_id, intents.c.tier != "embedded")
        .order_by(steps.c.seq)
    )
    for part in chunks(label_ids):
        yield from tx.all(base.where(intents.c.scope_id.in_(part), steps.c.seq > first).limit(_NEAR))
    ends: dict[str, int] = {}
    for row in gone.rows:
        ends[row.thread_id] = max(ends.get(row.thread_id, 0), int(row.seq))
    for thread_id, last in ends.items():
        near = (steps.c.thread_id == thread_id) & steps.c.seq.between(first, last + _REACH)
        yield from tx.all(base.where(near).limit(_NEAR))
