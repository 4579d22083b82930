"""``user.labels``: lists a user's labels and corrects them by hand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import get_args

from hexamem.arguments import check_choice, check_texts
from hexamem.calls import Calls, in_thread, public
from hexamem.errors import NotFoundError
from hexamem.home import Home
from hexamem.memory_types import (
    ContextualIntent,
    InducedLabels,
    LabeledSnippet,
    LabelKind,
    LabelView,
    Operation,
)
from hexamem.stores.label_writes import merge_labels, move_steps, pin_label, rename_label, split_label, vocabulary_of
from hexamem.stores.ledger import Ledger, Transaction, get_steps, read_items
from hexamem.stores.ledger.labels import StepIntent, get_intents, read_intents
from hexamem.stores.vocabulary import Vocabulary

_LATEST = 50


class UserLabels:
    """The labels of one user's steps: thematic scopes, event types and key entity types. Reached as ``user.labels``.

    A label is named by its id; by its name (in any case, unless another differs only by case), an alias or a former
    name; or, under other labels, by its path: ``Trip / Day 2``. Where several kinds have the name, the kind comes
    first: ``entity:Porto``. Numbered and dated names match in each form and language: ``day two`` for ``第2天``. An
    unknown or ambiguous name raises with the candidates. Each correction is an operation in the user's history that
    ``user.undo`` reverses. Classifiers and models change neither pinned labels nor steps that a person labelled.
    All steps stored before a call are labelled in its result. Each method has an ``a…`` twin that runs it in a thread.
    """

    def __init__(
        self,
        home: Home,
        user: str,
        calls: Calls,
        *,
        catch_up: Callable[[str], object],
        wrote: Callable[[str], object],
    ) -> None:
        """Created by :attr:`hexamem.UserMemory.labels`."""
        self._home, self._user, self._calls = home, user, calls
        self._catch_up, self._wrote = catch_up, wrote

    # -- reading ------------------------------------------------------------------------------------------------

    @public
    def list(self, kind: LabelKind | None = None) -> tuple[LabelView, ...]:
        """The labels that steps carry, their parents, and pinned ones, in order of creation; each with its counts.

        Args:
            kind: "scope", "event" or "entity"; all when None.
        """
        _check_kind(kind)
        with self._reading() as tx:
            vocabulary = vocabulary_of(tx)
            own, below = _counts(tx, vocabulary)
        return tuple(
            _view(vocabulary, label.id, own.get(label.id, 0), below.get(label.id, 0))
            for label in vocabulary.by_id.values()
            if kind in (None, label.kind)
            and vocabulary.canonical(label.id) == label.id
            and (label.id in below or label.pinned)
        )

    @public
    def show(self, label: str) -> LabelView:
        """One label, with the latest steps that carry it."""
        with self._reading() as tx:
            vocabulary = vocabulary_of(tx)
            label_id = vocabulary.one(label).id
            own, below = _counts(tx, vocabulary)
            same = set(vocabulary.same(label_id))
            steps = [intent.step_id for intent in read_intents(tx) if same & set(intent.label_ids)]
        view = _view(vocabulary, label_id, own.get(label_id, 0), below.get(label_id, 0))
        return view.model_copy(update={"step_ids": tuple(steps[-_LATEST:])})

    @public
    def of(self, step_id: str) -> LabeledSnippet:
        """A step's labels by id and name, with its resolved text and summary.

        Raises:
            NotFoundError: if this user has no such step, or it has no labels.
        """
        with self._reading() as tx:
            step = get_steps(tx, [step_id]).get(step_id)
            intent = get_intents(tx, [step_id]).get(step_id)
            if step is None:
                raise NotFoundError(f"no step {step_id!r} for user {self._user!r}")
            if intent is None:
                raise NotFoundError(f"step {step_id} has no labels (Settings.labels may be off)")
            vocabulary = vocabulary_of(tx)
        induced = _induced(vocabulary, intent)
        return LabeledSnippet(
            step=step,
            intent=ContextualIntent(scope=induced.scope, events=induced.events, entities=induced.entities),
            resolved_text=step.index_text if intent.resolved_text is None else intent.resolved_text,
            summary=intent.summary,
            scope=vocabulary.path(intent.scope_id),
            events=vocabulary.names(intent.event_ids),
            entities=vocabulary.names(intent.entity_ids),
            antecedents=intent.antecedents,
            tier=intent.tier,
            confidence=1.0 if intent.tier == "user" else intent.confidence,
            provisional=intent.provisional,
        )

    @public
    def induced(self) -> dict[str, InducedLabels]:
        """The label ids of every labelled step, in the order in which the steps were stored: step id → labels."""
        with self._reading() as tx:
            vocabulary = vocabulary_of(tx)
            return {intent.step_id: _induced(vocabulary, intent) for intent in read_intents(tx)}

    # -- correcting ---------------------------------------------------------------------------------------------

    @public
    def rename(self, label: str, name: str, *, actor: str = "user", reason: str = "") -> Operation:
        """Rename a label and pin it, so that only a person changes it again. The former name still finds it.

        Raises:
            InvalidInputError: if another label of its kind (a scope: of the same parent) has that name; merge the two.
        """
        with self._changing() as tx:
            name, actor, reason = self._home.redacted(tx, name, actor, reason)
            return rename_label(tx, label, name, actor=actor, reason=reason)

    @public
    def merge(self, label: str, into: str, *, actor: str = "user", reason: str = "") -> Operation:
        """Merge a label into another of its kind: steps that carry either are found by both names.

        Raises:
            InvalidInputError: if ``label`` is pinned (merge the other way, or unpin it), or is a parent of ``into``.
        """
        with self._changing() as tx:
            actor, reason = self._home.redacted(tx, actor, reason)
            return merge_labels(tx, label, into, actor=actor, reason=reason)

    @public
    def split(
        self, label: str, step_ids: str | Collection[str], name: str, *, actor: str = "user", reason: str = ""
    ) -> LabelView:
        """Create a label with the same parent, and give it to some of the steps that carry this one. It is pinned.

        Returns:
            The new label.

        Raises:
            NotFoundError: if a step does not exist. InvalidInputError: if one does not carry the label.
        """
        chosen = check_texts(step_ids, "step_ids")
        with self._changing() as tx:
            name, actor, reason = self._home.redacted(tx, name, actor, reason)
            label_id, _ = split_label(tx, label, chosen, name, actor=actor, reason=reason)
        return self.show(label_id)

    @public
    def move(
        self,
        step_ids: str | Collection[str],
        label: str,
        *,
        kind: LabelKind | None = None,
        actor: str = "user",
        reason: str = "",
    ) -> Operation:
        """Give steps a label: a scope or event type replaces theirs, an entity type is added to theirs.

        Args:
            step_ids: one or several.
            label: an existing one; :meth:`split` creates a new one.
            kind: of the label, where several kinds have the name.

        Raises:
            NotFoundError: if a step or the label does not exist. InvalidInputError: if nothing would change.
        """
        _check_kind(kind)
        chosen = check_texts(step_ids, "step_ids")
        with self._changing() as tx:
            actor, reason = self._home.redacted(tx, actor, reason)
            return move_steps(tx, chosen, label, kind=kind, actor=actor, reason=reason)

    @public
    def pin(self, label: str, pinned: bool = True, *, actor: str = "user", reason: str = "") -> Operation:
        """Protect a label from classifiers, models and merges, or release it with ``pinned=False``, not twice."""
        with self._changing() as tx:
            actor, reason = self._home.redacted(tx, actor, reason)
            return pin_label(tx, label, pinned, actor=actor, reason=reason)

    # -- inside -------------------------------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        self._catch_up(self._user)
        with self._home.ledger.read(self._user) as tx:
            yield tx

    @contextmanager
    def _changing(self) -> Iterator[Transaction]:
        self._catch_up(self._user)
        with self._home.ledger.write(self._user, create=False) as tx:
            yield tx
        self._wrote(self._user)

    # The twins for asyncio.
    alist = in_thread(list)  # noqa: A003
    ashow = in_thread(show)
    aof = in_thread(of)
    ainduced = in_thread(induced)
    arename = in_thread(rename)
    amerge = in_thread(merge)
    asplit = in_thread(split)
    amove = in_thread(move)
    apin = in_thread(pin)


def label_paths(ledger: Ledger, user: str) -> dict[str, str]:
    """The current path of each label: id of a label or alias → its name after its parents' names."""
    with ledger.read(user) as tx:
        vocabulary = vocabulary_of(tx)
    return {label_id: vocabulary.path(label_id) for label_id in vocabulary.by_id}


def refuse_unknown(
    ledger: Ledger, catch_up: Callable[[str], object], user: str, names: Collection[str], *, of_items: bool = False
) -> None:
    """Check that each name in a filter is a label."""
    if not names:
        return
    catch_up(user)
    with ledger.read(user) as tx:
        vocabulary = vocabulary_of(tx)
        tags = {tag for item in read_items(tx, superseded=True) for tag in item.labels}
        for name in names:
            if name in tags or (vocabulary.find(name) and not of_items):
                continue
            if not of_items:
                raise NotFoundError(f"no label {name!r}; {vocabulary.nearest(name, more=tags)}")
            whose = " (it is a label of steps, which `recall --label` filters by)" if vocabulary.find(name) else ""
            raise NotFoundError(f"no item has the label {name!r}{whose}; {Vocabulary(()).nearest(name, more=tags)}")


def _check_kind(kind: object) -> None:
    if kind is not None:
        check_choice(kind, "kind", get_args(LabelKind))


def _counts(tx: Transaction, vocabulary: Vocabulary) -> tuple[dict[str, int], dict[str, int]]:
    """How many steps carry each label, and how many carry it or one under it; aliases resolved."""
    own: dict[str, set[str]] = {}
    below: dict[str, set[str]] = {}
    for intent in read_intents(tx):
        for label_id in set(map(vocabulary.canonical, intent.label_ids)):
            own.setdefault(label_id, set()).add(intent.step_id)
            for parent_id in (label_id, *vocabulary.above(label_id)):
                below.setdefault(parent_id, set()).add(intent.step_id)
    return (
        {label_id: len(steps) for label_id, steps in own.items()},
        {label_id: len(steps) for label_id, steps in below.items()},
    )


def _view(vocabulary: Vocabulary, label_id: str, steps: int, steps_below: int) -> LabelView:
    label = vocabulary.by_id[label_id]
    return LabelView(
        id=label_id,
        kind=label.kind,
        name=label.name,
        path=vocabulary.path(label_id),
        parent_id=vocabulary.parent(label_id),
        pinned=label.pinned,
        gist=label.gist,
        aliases=vocabulary.aliases(label_id),
        steps=steps,
        steps_below=steps_below,
    )


def _induced(vocabulary: Vocabulary, intent: StepIntent) -> InducedLabels:
    def resolved(label_ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(vocabulary.canonical, label_ids)))

    events = resolved(intent.event_ids)
    return InducedLabels(
        scope=vocabulary.canonical(intent.scope_id),
        events=events,
        coarse_events=tuple(dict.fromkeys([event_id, *vocabulary.above(event_id)][-1] for event_id in events)),
        entities=resolved(intent.entity_ids),
    )
