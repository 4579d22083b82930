"""What labelling made of words that were forgotten: put away while they are, back in its place when they are not.

A label may be named by a step, a gist may tell of it, another step's references may be put into its words. When that
step is forgotten, these texts must show nowhere, and they must be there again when it is restored. So they are moved
into the table ``hidden``, each with the ids of the forgotten steps whose words it holds, and a label gets another name
(:class:`Wording`) from the steps that are left. It is no operation of its own: it follows the steps, whatever forgets or
restores them. What history compares is a label or intent as it is without that, see :func:`with_kept`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from sqlalchemy import Row, Select, and_, delete, func, insert, select, update

from ...memory_types.labels import Label, LabelKind
from ..vocabulary import Vocabulary
from .labels import StepIntent, carried_labels, mark_corrected, read_labels
from .ledger import Transaction, chunks
from .pages import blank_pages_about
from .schema import changes, hidden, intents, labelings, labels, operations, scopes, steps
from .step_rows import indexed_text

__all__ = [
    "Wording",
    "drop_texts_kept",
    "free_name",
    "keep_name",
    "kept_name",
    "kept_names",
    "named_by_people",
    "put_away",
    "put_away_all",
    "put_back",
    "settle_intents_kept",
    "settle_names",
    "texts_of",
    "with_kept",
]

_LABEL, _INTENT, _GIST = "label", "intent", "gist"
_NAMED_BY = 50  # steps of a label from which another name is taken
_NEAR, _REACH = 2_000, 30  # steps whose texts by a model are looked through: of the same scopes, and right behind
_NOT_WORDS = "“"  # a key that begins so is no word but the beginning of a text


class Wording(Protocol):
    """How labels are named: ``intent/scopes/stand_ins.py``."""

    def telling(self, text: str) -> frozenset[str]:
        """The words of a text that tell something, in a form in which they can be compared."""
        ...

    def of_name(self, kind: LabelKind, name: str) -> frozenset[str]:
        """Those of a label's name that were said: none for what is the name of a type or a number."""
        ...

    def stand_in(self, kind: LabelKind, name: str, texts: Iterable[str], wider: str | None = None) -> str:
        """Another name, from the texts of the steps that carry the label and are there."""
        ...


@dataclass(slots=True)
class _Hidden:
    """A row of the table: what is kept, and the forgotten steps whose words it holds."""

    target: str
    target_id: str
    by: set[str]
    kept: Any


# --------------------------------------------------------------------------------------------------------------- rows


def _rows(tx: Transaction, target: str, ids: Collection[str] | None = None) -> dict[str, _Hidden]:
    statement = select(hidden).where(hidden.c.user_id == tx.user_id, hidden.c.target == target)
    parts = [statement] if ids is None else [statement.where(hidden.c.target_id.in_(part)) for part in chunks(ids)]
    found = [row for part in parts for row in tx.all(part)]
    return {row.target_id: _Hidden(target, row.target_id, set(row.by), row.kept) for row in found}


def _write(tx: Transaction, row: _Hidden) -> None:
    _drop(tx, row.target, row.target_id)
    values = {"target": row.target, "target_id": row.target_id, "by": sorted(row.by), "kept": row.kept}
    tx.connection.execute(insert(hidden).values(user_id=tx.user_id, **values))


def _drop(tx: Transaction, target: str, target_id: str) -> None:
    own = (hidden.c.user_id == tx.user_id) & (hidden.c.target == target) & (hidden.c.target_id == target_id)
    tx.connection.execute(delete(hidden).where(own))


_SAID = [steps.c[name] for name in ("id", "seq", "thread_id", "status", "name", "content", "index_text")]


@dataclass(slots=True)
class _Said:
    """What was said in some steps, and the words of it that tell something."""

    rows: list[Row[Any]]
    words: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, tx: Transaction, wording: Wording, step_ids: Collection[str]) -> _Said:
        rows = []
        for part in chunks(step_ids):
            rows += tx.all(select(*_SAID).where(steps.c.user_id == tx.user_id, steps.c.id.in_(part)))
        return cls(rows, {row.id: wording.telling(_text(row)) for row in rows})

    @property
    def all(self) -> frozenset[str]:
        return frozenset().union(*self.words.values())

    def saying(self, words: Collection[str]) -> set[str]:
        """The steps in which any of these words stand."""
        return {step_id for step_id, said in self.words.items() if not said.isdisjoint(words)}


def _text(row: Row[Any]) -> str:
    parts = [row.content, *([row.index_text] if row.index_text is not None else []), *([row.name] if row.name else [])]
    return "\n".join(parts)


# -------------------------------------------------------------------------------------------------------- whole passes


def put_away(tx: Transaction, step_ids: Collection[str]) -> None:
    """Put away what labelling made of the words of steps that were just forgotten.

    Names of labels are left where nobody told how labels are named (``tx.wording``).
    """
    vocabulary, of_steps, said = _read(tx, step_ids)
    _hide_gists(tx, vocabulary, of_steps, said, set(step_ids))
    _hide_the_rest(tx, vocabulary, of_steps, said, set(step_ids))


def put_away_all(tx: Transaction) -> None:
    """Put away what labelling made of all steps that are forgotten: of those from before names were put away, too."""
    forgotten = select(steps.c.id).where(steps.c.user_id == tx.user_id, steps.c.status == "forgotten")
    step_ids = {row.id for row in tx.all(forgotten)}
    if step_ids:
        _hide_the_rest(tx, *_read(tx, step_ids), step_ids)


def _read(tx: Transaction, step_ids: Collection[str]) -> tuple[Vocabulary, set[str], _Said]:
    """The labels, those that steps carry with the wider ones, and what these steps say."""
    carried = {label for ids in carried_labels(tx, step_ids).values() for label in ids}
    vocabulary = Vocabulary(read_labels(tx))
    said = _Said.of(tx, tx.wording, step_ids) if tx.wording is not None else _Said([])
    return vocabulary, _family(vocabulary, carried), said


def _hide_the_rest(
    tx: Transaction, vocabulary: Vocabulary, of_steps: set[str], said: _Said, step_ids: set[str]
) -> None:
    """Put away texts of other steps, and names."""
    wording = tx.wording
    touched = _hide_intents(tx, said, step_ids, {one for label in of_steps for one in vocabulary.same(label)})
    _touch(tx, touched)
    if wording is None:
        return
    words = said.all
    meant = [
        one.id
        for one in vocabulary.by_id.values()
        if vocabulary.canonical(one.id) in of_steps or not words.isdisjoint(wording.of_name(one.kind, one.name))
    ]
    _settle(tx, wording, vocabulary, meant, of_steps, said)


def put_back(tx: Transaction, step_ids: Collection[str]) -> None:
    """Bring back what was put away for steps that were just restored, unless others hold it back."""
    again = set(step_ids)
    for row in _rows(tx, _GIST).values():
        _release_gist(tx, row, again)
    touched = set()
    for row in _rows(tx, _INTENT).values():
        if not row.by & again:
            continue
        row.by -= again
        touched.add(row.target_id)
        if row.by:
            _write(tx, row)
        else:
            _show_intent(tx, row)
    _touch(tx, touched)
    kept = _rows(tx, _LABEL)
    if not kept or tx.wording is None:
        return
    for row in kept.values():
        if row.by & again:
            row.by -= again
            _write(tx, row)
    carried = {label for ids in carried_labels(tx, step_ids).values() for label in ids}
    vocabulary = Vocabulary(read_labels(tx))
    near = _family(vocabulary, carried)
    meant = [one for one, row in kept.items() if vocabulary.canonical(one) in near or not row.by]
    _settle(tx, tx.wording, vocabulary, meant, near, _Said([]))


def settle_names(tx: Transaction, label_ids: Collection[str], *, renamed: bool = False) -> None:
    """See that labels show no forgotten word, and none that is said again is kept back.

    Args:
        label_ids: those that a correction changed, or that new steps carry.
        renamed: they were just written as history has them: with names that may have been put away before.
    """
    kept = _rows(tx, _LABEL)
    if tx.wording is None or not label_ids or not (kept or renamed):
        return
    vocabulary = Vocabulary(read_labels(tx))
    near = _family(vocabulary, label_ids)
    others = {one for one in kept if vocabulary.canonical(one) in near}
    if renamed:
        for one in kept.keys() & set(label_ids):
            _drop(tx, _LABEL, one)
        carrying = {one for label in near for one in vocabulary.covering(label)}
        gone = [
            row.id for part in chunks(carrying) for row in tx.all(_said(tx, part).where(steps.c.status != "active"))
        ]
        if gone:
            _settle(tx, tx.wording, vocabulary, others | set(label_ids), near, _Said.of(tx, tx.wording, gone))
        return
    _settle(tx, tx.wording, vocabulary, others, near, _Said([]))


def _family(vocabulary: Vocabulary, label_ids: Iterable[str]) -> set[str]:
    """These labels and the wider ones, aliases resolved: what may be named by what carries them."""
    found: set[str] = set()
    for one in label_ids:
        own = vocabulary.canonical(one)
        found.update((own, *vocabulary.above(own)))
    return found


# -------------------------------------------------------------------------------------------------------------- names


def kept_name(tx: Transaction, label_id: str) -> str | None:
    """The name of a label that is put away; None where it has it."""
    row = tx.first(
        select(hidden.c.kept).where(
            hidden.c.user_id == tx.user_id, hidden.c.target == _LABEL, hidden.c.target_id == label_id
        )
    )
    return None if row is None else str(row.kept)


def kept_names(tx: Transaction) -> dict[str, str]:
    """The names that are put away, by label."""
    return {one: str(row.kept) for one, row in _rows(tx, _LABEL).items()}


def keep_name(tx: Transaction, label_id: str, name: str) -> None:
    """Change a name that is put away: words were redacted from it."""
    for row in _rows(tx, _LABEL, [label_id]).values():
        row.kept = name
        _write(tx, row)


def _settle(
    tx: Transaction,
    wording: Wording,
    vocabulary: Vocabulary,
    label_ids: Iterable[str],
    near: Collection[str],
    gone: _Said,
) -> None:
    """Name labels by what may be shown: wide ones before narrow ones, aliases after what they stand for.

    Args:
        near: the labels that steps forgotten or restored just now carry, and those above them.
        gone: the forgotten steps that count; those that count for what is put away already are known.
    """
    order = sorted(label_ids, key=lambda one: (vocabulary.canonical(one) != one, len(vocabulary.above(one)), one))
    kept = _rows(tx, _LABEL)
    names = {one.id: one.name for one in vocabulary.by_id.values()}
    changed = False
    pinned = [one for one in order if vocabulary.by_id[one].pinned]
    by_person = named_by_people(tx, {one: str(kept[one].kept) if one in kept else names[one] for one in pinned})
    for label_id in order:
        label = vocabulary.by_id[label_id]
        row = kept.get(label_id)
        name = str(row.kept) if row is not None else label.name
        theirs = label_id in by_person
        by = set[str]() if theirs else _held_back(tx, wording, vocabulary, label, name, row, near, gone)
        if not by and row is None:
            continue
        if by:
            _write(tx, _Hidden(_LABEL, label_id, by, name))
            shown = _stand_in(tx, wording, vocabulary, label, name, names)
        else:
            _drop(tx, _LABEL, label_id)
            shown = name
        shown = free_name(vocabulary, label, shown, names)
        if shown != names[label_id]:
            _rename(tx, vocabulary, label_id, names[label_id], shown)
            names[label_id] = shown
            changed = True
    if changed:
        mark_corrected(tx)  # whoever keeps labels in memory keeps the names too


def _held_back(
    tx: Transaction,
    wording: Wording,
    vocabulary: Vocabulary,
    label: Label,
    name: str,
    row: _Hidden | None,
    near: Collection[str],
    gone: _Said,
) -> set[str]:
    """The forgotten steps for which a label may not have its name; none where all its words are said elsewhere."""
    words = wording.of_name(label.kind, name)
    if not words:
        return set()
    own = vocabulary.canonical(label.id)
    family = vocabulary.covering(own)
    left = _unsaid(wording, words, _texts(tx, family))
    if not left:
        return set()
    by = set() if row is None else set(row.by)
    if own in near:
        by |= gone.saying(left)
        if not by and left == words and (first := _first_step(tx, set(vocabulary.same(own)))) in gone.words:
            by.add(first)  # in no words of theirs, but of nobody else's either: a model's
    elif found := gone.saying(left):
        elsewhere = _unsaid(wording, left & gone.all, _texts(tx, None))
        by |= found if elsewhere else set()
    return by


def _unsaid(wording: Wording, words: Collection[str], texts: Iterator[str]) -> set[str]:
    """Those of the words that stand in none of the texts."""
    left = set(words)
    for text in texts:
        if not left:
            break
        folded = text.casefold()
        if any(word.startswith(_NOT_WORDS) or (word[:-1] or word) in folded for word in left):
            left -= wording.telling(text)
    return left


def _texts(tx: Transaction, label_ids: Collection[str] | None) -> Iterator[str]:
    """What the active steps say that carry labels (all when None)."""
    for part in [None] if label_ids is None else chunks(label_ids):
        statement = _said(tx, part).where(steps.c.status == "active")
        with tx.connection.execute(statement, execution_options={"yield_per": 500}) as rows:
            yield from map(_text, rows)


def _said(tx: Transaction, label_ids: Collection[str] | None) -> Select[Any]:
    """A statement for the steps that carry any of these labels, in the order in which they were stored."""
    statement = select(*_SAID).where(steps.c.user_id == tx.user_id).order_by(steps.c.seq)
    if label_ids is None:
        return statement
    own = (labelings.c.user_id == tx.user_id) & (labelings.c.target == "step") & labelings.c.label_id.in_(label_ids)
    return statement.where(steps.c.id.in_(select(labelings.c.target_id).where(own)))


def _first_step(tx: Transaction, label_ids: Collection[str]) -> str:
    row = tx.first(_said(tx, label_ids).limit(1))
    return "" if row is None else str(row.id)


def named_by_people(tx: Transaction, names: Mapping[str, str]) -> set[str]:
    """The labels to whom a person gave their name: that is the person's word, not a step's.

    Args:
        names: label id → its name.
    """
    found = set()
    for part in chunks(names):
        rows = tx.all(
            select(changes.c.target_id, changes.c.before, changes.c.after, operations.c.kind)
            .join(
                operations, and_(operations.c.user_id == changes.c.user_id, operations.c.id == changes.c.operation_id)
            )
            .where(
                changes.c.user_id == tx.user_id,
                changes.c.target == "label",
                changes.c.target_id.in_(part),
                operations.c.kind.in_(("rename", "split")),
            )
        )
        for row in rows:
            # The alias that a renaming leaves has the name that was there before.
            if row.after and row.after["name"] == names[row.target_id] and (row.before or row.kind == "split"):
                found.add(row.target_id)
    return found


def _stand_in(
    tx: Transaction,
    wording: Wording,
    vocabulary: Vocabulary,
    label: Label,
    name: str,
    names: Mapping[str, str],
) -> str:
    own = vocabulary.canonical(label.id)
    if own != label.id:
        return names.get(own, label.name)  # an alias that is called as the label is none
    above = vocabulary.parent(own)
    texts = texts_of(tx, vocabulary.same(own))
    return wording.stand_in(label.kind, name, texts, names.get(above) if above else None)


def texts_of(tx: Transaction, label_ids: Collection[str]) -> list[str]:
    """What is searched of the first active steps that carry any of these labels, in order."""
    rows = tx.all(_said(tx, label_ids).where(steps.c.status == "active").limit(_NAMED_BY))
    return [indexed_text(row) for row in rows]


def free_name(vocabulary: Vocabulary, label: Label, wanted: str, names: Mapping[str, str]) -> str:
    """The name, with a number where another label has it in the same place."""
    if vocabulary.canonical(label.id) != label.id:
        return wanted
    taken = {
        names[other.id]
        for other in vocabulary.by_id.values()
        if other.id != label.id
        and other.kind == label.kind
        and other.alias_of is None
        and (label.kind != "scope" or (other.parent_id or "") == (label.parent_id or ""))
    }
    number, free = 1, wanted
    while free in taken:
        number += 1
        free = f"{wanted} ({number})"
    return free


def _rename(tx: Transaction, vocabulary: Vocabulary, label_id: str, old: str, new: str) -> None:
    own = (labels.c.user_id == tx.user_id) & (labels.c.id == label_id)
    tx.connection.execute(update(labels).where(own).values(name=new, change=tx.next_change()))
    if vocabulary.by_id[label_id].kind == "scope":
        blank_pages_about(tx, vocabulary.covering(label_id), old)


# -------------------------------------------------------------------------------------------------------------- gists


def _hide_gists(
    tx: Transaction, vocabulary: Vocabulary, of_steps: Collection[str], said: _Said, step_ids: set[str]
) -> None:
    """Put away what scopes are about so far, of those that carry the steps and of any that tells of their words."""
    known = _rows(tx, _GIST)
    words = said.all
    for row in tx.all(select(scopes.c.label_id, scopes.c.gist).where(scopes.c.user_id == tx.user_id)):
        label_id, gist = row.label_id, row.gist
        own = vocabulary.canonical(label_id)
        if own not in of_steps:
            if tx.wording is None or not (told := tx.wording.telling(gist) & words):
                continue
            left = _unsaid(tx.wording, told, _texts(tx, vocabulary.covering(own)))
            if not left or not _unsaid(tx.wording, left, _texts(tx, None)):
                continue
        held = known.setdefault(label_id, _Hidden(_GIST, label_id, set(), []))
        for entry in held.kept:  # it may tell of these too
            entry["by"] = sorted({*entry["by"], *step_ids})
        held.kept.append({"gist": gist, "by": sorted(step_ids)})
        held.by |= step_ids
        _write(tx, held)
        gone = (scopes.c.user_id == tx.user_id) & (scopes.c.label_id == label_id)
        tx.connection.execute(delete(scopes).where(gone))


def _release_gist(tx: Transaction, row: _Hidden, again: set[str]) -> None:
    if not row.by & again:
        return
    left = []
    for entry in row.kept:
        by = sorted(set(entry["by"]) - again)
        if by:
            left.append({**entry, "by": by})
            continue
        own = (scopes.c.user_id == tx.user_id) & (scopes.c.label_id == row.target_id)
        if tx.first(select(scopes.c.label_id).where(own)) is None:  # none was made since
            values = {"user_id": tx.user_id, "label_id": row.target_id, "gist": entry["gist"]}
            tx.connection.execute(insert(scopes).values(**values))
    row.kept, row.by = left, {one for entry in left for one in entry["by"]}
    if left:
        _write(tx, row)
    else:
        _drop(tx, _GIST, row.target_id)


# ------------------------------------------------------------------------------------------- resolved texts, summaries


def with_kept(tx: Transaction, found: Mapping[str, StepIntent]) -> dict[str, StepIntent]:
    """Intents as they are without anything put away: what history compares and changes."""
    kept = _rows(tx, _INTENT, found.keys())
    return {one: replace(intent, **kept[one].kept) if one in kept else intent for one, intent in found.items()}


def _hide_intents(tx: Transaction, said: _Said, step_ids: set[str], label_ids: Collection[str]) -> set[str]:
    """Put away the resolved texts and summaries of other steps that hold words of these; returns whose."""
    touched = set()
    own = (intents.c.user_id == tx.user_id) & intents.c.antecedents.is_not(None)
    for row in tx.all(select(intents.c.step_id, intents.c.antecedents).where(own)):
        by = step_ids & set(row.antecedents)
        if by and row.step_id not in step_ids:
            _hide_intent(tx, row.step_id, by)
            touched.add(row.step_id)
    if tx.wording is None or not said.rows:
        return touched
    for row in _told_by_models(tx, said, label_ids):
        told = tx.wording.telling(f"{row.resolved_text or ''}\n{row.summary or ''}") - tx.wording.telling(_text(row))
        if row.id not in step_ids and (by := said.saying(told)):
            _hide_intent(tx, row.id, by)
            touched.add(row.id)
    return touched


def _told_by_models(tx: Transaction, said: _Said, label_ids: Collection[str]) -> Iterator[Row[Any]]:
    """Active steps behind the forgotten ones, in their scopes or their threads, whose texts a model wrote."""
    first = min(int(row.seq) for row in said.rows)
    base = (
        select(*_SAID, intents.c.resolved_text, intents.c.summary)
        .join(intents, and_(intents.c.user_id == steps.c.user_id, intents.c.step_id == steps.c.id))
        .where(steps.c.user_id == tx.user_id, steps.c.status == "active", intents.c.tier != "rules")
        .order_by(steps.c.seq)
    )
    for part in chunks(label_ids):
        yield from tx.all(base.where(intents.c.scope_id.in_(part), steps.c.seq > first).limit(_NEAR))
    ends: dict[str, int] = {}
    for row in said.rows:
        ends[row.thread_id] = max(ends.get(row.thread_id, 0), int(row.seq))
    for thread_id, last in ends.items():
        near = (steps.c.thread_id == thread_id) & steps.c.seq.between(first, last + _REACH)
        yield from tx.all(base.where(near).limit(_NEAR))


def _hide_intent(tx: Transaction, step_id: str, by: set[str]) -> None:
    row = _rows(tx, _INTENT, [step_id]).get(step_id)
    if row is not None:
        row.by |= by
        _write(tx, row)
        return
    own = (intents.c.user_id == tx.user_id) & (intents.c.step_id == step_id)
    held = tx.first(select(intents.c.resolved_text, intents.c.summary).where(own))
    if held is None:
        return
    kept = {"resolved_text": held.resolved_text, "summary": held.summary or ""}
    _write(tx, _Hidden(_INTENT, step_id, by, kept))
    tx.connection.execute(update(intents).where(own).values(resolved_text=None, summary=""))


def _show_intent(tx: Transaction, row: _Hidden) -> None:
    _drop(tx, _INTENT, row.target_id)
    own = (intents.c.user_id == tx.user_id) & (intents.c.step_id == row.target_id)
    tx.connection.execute(
        update(intents)
        .where(own, intents.c.resolved_text.is_(None), func.coalesce(intents.c.summary, "") == "")
        .values(**row.kept)
    )


def settle_intents_kept(tx: Transaction, step_ids: Collection[str]) -> None:
    """After intents were written as history has them: put away again what is made of forgotten words."""
    for step_id, row in _rows(tx, _INTENT, step_ids).items():
        own = (intents.c.user_id == tx.user_id) & (intents.c.step_id == step_id)
        held = tx.first(select(intents.c.resolved_text, intents.c.summary).where(own))
        _drop(tx, _INTENT, step_id)
        if held is not None and {"resolved_text": held.resolved_text, "summary": held.summary or ""} == row.kept:
            _hide_intent(tx, step_id, row.by)


def drop_texts_kept(tx: Transaction, step_ids: Collection[str]) -> None:
    """Let go for good what is put away of the texts of steps, and of what their scopes are about: it was redacted."""
    scope_ids = {ids[0] for ids in carried_labels(tx, step_ids).values()}
    for target, ids in ((_INTENT, step_ids), (_GIST, scope_ids)):
        for one in _rows(tx, target, ids):
            _drop(tx, target, one)


def _touch(tx: Transaction, step_ids: Collection[str]) -> None:
    """New change numbers, so that every index takes the steps in again."""
    if step_ids:
        first = tx.next_change(len(step_ids))
        for offset, step_id in enumerate(sorted(step_ids)):
            own = (steps.c.user_id == tx.user_id) & (steps.c.id == step_id)
            tx.connection.execute(update(steps).where(own).values(change=first + offset))
