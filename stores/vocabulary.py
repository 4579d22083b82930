"""A user's labels as names: which label an id stands for now, what lies under it, and which one a person means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import cast, get_args

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types.labels import Label, LabelKind
from hexamem.stores.label_forms import name_form

__all__ = ["SEPARATOR", "Vocabulary"]

SEPARATOR = " / "
_SHOWN = 8
_NEAR = 5
_KINDS = get_args(LabelKind)


class Vocabulary:
    """Labels, aliases resolved. A label that was taken in by another stands for that one in every answer.

    Args:
        labels: all labels of a user; or some, with all that they are aliases of and lie under.
        used: gives the ids of labels that may be suggested where a name is not found; all when None.
    """

    def __init__(self, labels: Iterable[Label], used: Callable[[], Collection[str]] | None = None) -> None:
        self._used = used
        self.by_id = {one.id: one for one in labels}
        self._canonical: dict[str, str] = {}
        self._same: dict[str, list[str]] = {}
        self._children: dict[str | None, list[str]] = {}
        for label_id in self.by_id:
            self._same.setdefault(self.canonical(label_id), []).append(label_id)
        for label_id in self._same:
            self._children.setdefault(self.parent(label_id), []).append(label_id)

    def joined(self, new: Collection[Label]) -> Vocabulary:
        """This vocabulary with labels that it does not hold yet, which came behind all of its own; it stays as it is."""
        if any(one.alias_of or one.id in self._canonical for one in new):  # others may hang on them
            return Vocabulary([*self.by_id.values(), *new], self._used)
        made = Vocabulary((), self._used)
        made.by_id = {**self.by_id, **{one.id: one for one in new}}
        made._canonical = {**self._canonical, **{one.id: one.id for one in new}}
        made._same = {**self._same, **{one.id: [one.id] for one in new}}
        made._children = dict(self._children)
        for one in new:
            above = made.parent(one.id)
            made._children[above] = [*made._children.get(above, ()), one.id]
        return made

    def canonical(self, label_id: str) -> str:
        """The id of the label that this id stands for now; an unknown id stands for itself."""
        found = self._canonical.get(label_id)
        if found is None:
            seen = {label_id}
            found = label_id
            while (one := self.by_id.get(found)) is not None and one.alias_of and one.alias_of not in seen:
                found = one.alias_of
                seen.add(found)
            self._canonical[label_id] = found
        return found

    def label(self, label_id: str) -> Label:
        """The label that an id stands for now."""
        return self.by_id[self.canonical(label_id)]

    def parent(self, label_id: str) -> str | None:
        """The id of the wider label, aliases resolved."""
        one = self.by_id.get(self.canonical(label_id))
        if one is None or not one.parent_id:
            return None
        above = self.canonical(one.parent_id)
        return above if above in self.by_id and above != one.id else None

    def above(self, label_id: str) -> list[str]:
        """The wider labels, the nearest first."""
        found: list[str] = []
        one = self.parent(label_id)
        while one is not None and one not in found:
            found.append(one)
            one = self.parent(one)
        return found

    def with_wider(self, label_ids: Iterable[str]) -> set[str]:
        """These labels and the wider ones, aliases resolved: all that what carries these lies in."""
        found: set[str] = set()
        for one in label_ids:
            own = self.canonical(one)
            found.update((own, *self.above(own)))
        return found

    def name(self, label_id: str) -> str:
        """The name of the label that an id stands for; the id itself where it is unknown."""
        one = self.by_id.get(self.canonical(label_id))
        return label_id if one is None else one.name

    def path(self, label_id: str) -> str:
        """The name with those of the wider labels before it: ``Trip / Day 2``."""
        return SEPARATOR.join(self.name(one) for one in (*reversed(self.above(label_id)), label_id))

    def names(self, label_ids: Iterable[str]) -> tuple[str, ...]:
        """The names of several, each once, in their order."""
        return tuple(self.name(one) for one in dict.fromkeys(map(self.canonical, label_ids)))

    def same(self, label_id: str) -> tuple[str, ...]:
        """Every id that stands for the same label: its own first, then its aliases."""
        own = self.canonical(label_id)
        return (own, *(one for one in self._same.get(own, ()) if one != own))

    def aliases(self, label_id: str) -> tuple[str, ...]:
        """The other names by which the label is found."""
        own = self.label(label_id)
        others = (self.by_id[one].name for one in self.same(label_id) if one != own.id)
        return tuple(dict.fromkeys(name for name in others if name != own.name))

    def children(self, label_id: str | None, kind: LabelKind | None = None) -> tuple[str, ...]:
        """The labels right under one, or those under none, in order of creation."""
        found = self._children.get(None if label_id is None else self.canonical(label_id), ())
        return tuple(one for one in found if kind is None or self.by_id[one].kind == kind)

    def covering(self, label_id: str) -> set[str]:
        """Every id that a step may hold which carries this label or one under it: for filters and label density."""
        found: set[str] = set()
        waiting = [self.canonical(label_id)]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.update(self.same(one))
                waiting += self.children(one)
        return found

    def find(self, text: str, kind: LabelKind | None = None) -> list[str]:
        """The labels that an id, a name or a path may mean, aliases resolved: the most exact reading that fits any.

        A name that is a label's own comes before the same name as an alias. Where nothing else fits, names that say
        the same do, such as "day two" for "第2天": see :func:`~hexamem.stores.label_forms.name_form`.

        Args:
            text: may have the kind before it, ``entity:Porto``, where labels of several kinds have one name.
        """
        before, colon, rest = text.partition(":")
        if colon and before in _KINDS and kind in (None, before):
            found = self.find(rest.strip(), cast(LabelKind, before))
            if found:
                return found
        if text in self.by_id and kind in (None, self.by_id[text].kind):
            return [self.canonical(text)]
        pool = [one for one in self.by_id.values() if kind in (None, one.kind)]
        own = [one for one in pool if self.canonical(one.id) == one.id]
        others = [one for one in pool if self.canonical(one.id) != one.id]
        folded = text.casefold().strip()
        form = name_form(text)
        path = [name_form(part) for part in text.split("/") if part.strip()]
        for fits, labels in (
            (lambda one: one.name == text, own),
            (lambda one: one.name == text, others),
            (lambda one: one.name.casefold() == folded, own),
            (lambda one: one.name.casefold() == folded, others),
            (lambda one: self._on_path(one.id, path, aliases=False), own if len(path) > 1 else ()),
            (lambda one: self._on_path(one.id, path, aliases=True), own if len(path) > 1 else ()),
            (lambda one: name_form(one.name) == form, own),
            (lambda one: name_form(one.name) == form, others),
        ):
            found = list(dict.fromkeys(self.canonical(one.id) for one in labels if fits(one)))
            if found:
                return found
        return []

    def _on_path(self, label_id: str, path: Sequence[str], *, aliases: bool) -> bool:
        """Whether a path, in forms of names, ends in a name of the label, and what is before it in those above."""
        for one in self.same(label_id) if aliases else (label_id,):
            parts = [name_form(part) for part in self.by_id[one].name.split("/")]
            before = len(path) - len(parts)
            if before < 0 or list(path[before:]) != parts:
                continue
            above = self.by_id[one].parent_id  # an alias is still found where it was
            if before == 0:
                return True
            if above and above in self.by_id and self._on_path(self.canonical(above), path[:before], aliases=aliases):
                return True
        return False

    def one(self, text: str, kind: LabelKind | None = None) -> Label:
        """The one label that an id, a name or a path means.

        Raises:
            NotFoundError: if there is none; the nearest names are told.
            InvalidInputError: if it may mean several, with the kind, path and id of each.
        """
        found = self.find(text, kind)
        what = "label" if kind is None else f"{kind} label"
        if not found:
            raise NotFoundError(f"no {what} {text!r}; {self.nearest(text, kind)}")
        if len(found) > 1:
            named = "; ".join(f"{self.by_id[one].kind}:{self.path(one)} ({one})" for one in found[:_SHOWN])
            raise InvalidInputError(f"{what} {text!r} may mean {len(found)}: {named}. Give one of these, or its id")
        return self.by_id[found[0]]

    def nearest(self, text: str, kind: LabelKind | None = None, more: Collection[str] = ()) -> str:
        """The names nearest to one that is not there, in words: for the end of an error.

        Args:
            kind: only labels of this kind.
            more: other names that would do.
        """
        from difflib import get_close_matches

        used = self._same if self._used is None else self._used()
        fitting = [one for one in self._same if one in used and one in self.by_id]
        fitting = [one for one in fitting if kind in (None, self.by_id[one].kind)]
        fitting.sort(key=lambda one: (_KINDS.index(self.by_id[one].kind), self.path(one)))
        shown: dict[str, list[str]] = {}  # by each folded name, what is said of it
        for one in fitting:
            for name in {self.path(one), self.by_id[one].name, *self.aliases(one)}:
                shown.setdefault(name.casefold(), []).append(self.path(one))
        for name in more:
            shown.setdefault(name.casefold(), []).append(name)
        if not shown:
            return "the user has none yet"
        wanted = text.casefold().strip()
        near = [name for name in shown if wanted and wanted in name]
        near = near or get_close_matches(wanted, shown, n=_NEAR, cutoff=0.55)
        told = list(dict.fromkeys(said for name in near for said in shown[name]))[:_NEAR]
        if told:
            return "did you mean " + ", ".join(map(repr, told)) + "?"
        some = list(dict.fromkeys([*(self.path(one) for one in fitting), *sorted(more)]))
        return "there are " + ", ".join(map(repr, some[:_SHOWN])) + (", …" if len(some) > _SHOWN else "")
