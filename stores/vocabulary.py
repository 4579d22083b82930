"""A user's labels: resolves aliases, parents and children, and finds labels by name."""

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
    """Labels with their aliases resolved: every method treats a merged label as the label that it was merged into.

    Args:
        labels: all labels of a user; or some, with all labels that they are aliases or children of.
        used: returns the ids of labels to suggest when a name is not found; None for all.
    """

    def __init__(self, labels: Iterable[Label], used: Callable[[], Collection[str]] | None = None) -> None:
        self._used = used
        self.by_id = {label.id: label for label in labels}
        self._canonical: dict[str, str] = {}
        self._same: dict[str, list[str]] = {}
        self._children: dict[str | None, list[str]] = {}
        for label_id in self.by_id:
            self._same.setdefault(self.canonical(label_id), []).append(label_id)
        for label_id in self._same:
            self._children.setdefault(self.parent(label_id), []).append(label_id)

    def joined(self, new: Collection[Label]) -> Vocabulary:
        """A copy of this vocabulary with new labels, created after all of its own."""
        if any(label.alias_of or label.id in self._canonical for label in new):  # known labels may refer to them
            return Vocabulary([*self.by_id.values(), *new], self._used)
        joined = Vocabulary((), self._used)
        joined.by_id = {**self.by_id, **{label.id: label for label in new}}
        joined._canonical = {**self._canonical, **{label.id: label.id for label in new}}
        joined._same = {**self._same, **{label.id: [label.id] for label in new}}
        joined._children = dict(self._children)
        for label in new:
            above = joined.parent(label.id)
            joined._children[above] = [*joined._children.get(above, ()), label.id]
        return joined

    def canonical(self, label_id: str) -> str:
        """The id of the label that this id is an alias of, directly or not; any other id itself."""
        canonical = self._canonical.get(label_id)
        if canonical is None:
            seen = {label_id}
            canonical = label_id
            while (label := self.by_id.get(canonical)) is not None and label.alias_of and label.alias_of not in seen:
                canonical = label.alias_of
                seen.add(canonical)
            self._canonical[label_id] = canonical
        return canonical

    def label(self, label_id: str) -> Label:
        """The label of an id, aliases resolved."""
        return self.by_id[self.canonical(label_id)]

    def parent(self, label_id: str) -> str | None:
        """The id of the parent label, aliases resolved."""
        label = self.by_id.get(self.canonical(label_id))
        if label is None or not label.parent_id:
            return None
        parent = self.canonical(label.parent_id)
        return parent if parent in self.by_id and parent != label.id else None

    def above(self, label_id: str) -> list[str]:
        """The ids of the parent, its parent, and so on."""
        parents: list[str] = []
        parent = self.parent(label_id)
        while parent is not None and parent not in parents:
            parents.append(parent)
            parent = self.parent(parent)
        return parents

    def with_wider(self, label_ids: Iterable[str]) -> set[str]:
        """These labels and all their parents, aliases resolved."""
        return {wider for own in map(self.canonical, label_ids) for wider in (own, *self.above(own))}

    def name(self, label_id: str) -> str:
        """The name of a label, aliases resolved; an unknown id itself."""
        label = self.by_id.get(self.canonical(label_id))
        return label_id if label is None else label.name

    def path(self, label_id: str) -> str:
        """The name after those of its parents: ``Trip / Day 2``."""
        return SEPARATOR.join(self.name(one) for one in (*reversed(self.above(label_id)), label_id))

    def names(self, label_ids: Iterable[str]) -> tuple[str, ...]:
        """The distinct names of labels, in order."""
        return tuple(self.name(one) for one in dict.fromkeys(map(self.canonical, label_ids)))

    def same(self, label_id: str) -> tuple[str, ...]:
        """All ids of the same label: its own first, then its aliases."""
        own = self.canonical(label_id)
        return (own, *(one for one in self._same.get(own, ()) if one != own))

    def aliases(self, label_id: str) -> tuple[str, ...]:
        """The other names of the label."""
        own = self.label(label_id)
        others = (self.by_id[one].name for one in self.same(label_id) if one != own.id)
        return tuple(dict.fromkeys(name for name in others if name != own.name))

    def children(self, label_id: str | None, kind: LabelKind | None = None) -> tuple[str, ...]:
        """The direct children of a label, or the labels without a parent, in order of creation."""
        found = self._children.get(None if label_id is None else self.canonical(label_id), ())
        return tuple(one for one in found if kind is None or self.by_id[one].kind == kind)

    def covering(self, label_id: str) -> set[str]:
        """All ids, aliases included, of this label and the labels under it: for filters and label density."""
        found: set[str] = set()
        waiting = [self.canonical(label_id)]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.update(self.same(one))
                waiting += self.children(one)
        return found

    def find(self, text: str, kind: LabelKind | None = None) -> list[str]:
        """The labels that an id, a name or a path may refer to, aliases resolved, by the most exact match.

        A label's own name ranks before the same name as an alias. Equivalent names match last, such as "day two" and
        "第2天": see :func:`~hexamem.stores.label_forms.name_form`.

        Args:
            text: may begin with the kind, ``entity:Porto``, to distinguish labels of several kinds.
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
        """Whether a path, as forms of names, ends with a name of the label, after names of its parents."""
        for one in self.same(label_id) if aliases else (label_id,):
            parts = [name_form(part) for part in self.by_id[one].name.split("/")]
            before = len(path) - len(parts)
            if before < 0 or list(path[before:]) != parts:
                continue
            above = self.by_id[one].parent_id  # an alias is found under its former parent
            if before == 0:
                return True
            if above and above in self.by_id and self._on_path(self.canonical(above), path[:before], aliases=aliases):
                return True
        return False

    def one(self, text: str, kind: LabelKind | None = None) -> Label:
        """The label of an id, a name or a path.

        Raises:
            NotFoundError: there is none; the message has the nearest names.
            InvalidInputError: there are several; the message has the kind, path and id of each.
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
        """The names nearest to an unknown name, for the end of an error message.

        Args:
            kind: only labels of this kind.
            more: other valid names.
        """
        from difflib import get_close_matches

        used = self._same if self._used is None else self._used()
        fitting = [one for one in self._same if one in used and one in self.by_id]
        fitting = [one for one in fitting if kind in (None, self.by_id[one].kind)]
        fitting.sort(key=lambda one: (_KINDS.index(self.by_id[one].kind), self.path(one)))
        shown: dict[str, list[str]] = {}  # by folded name: the paths to show
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
        suggested = list(dict.fromkeys(path for name in near for path in shown[name]))[:_NEAR]
        if suggested:
            return "did you mean " + ", ".join(map(repr, suggested)) + "?"
        some = list(dict.fromkeys([*(self.path(one) for one in fitting), *sorted(more)]))
        return "there are " + ", ".join(map(repr, some[:_SHOWN])) + (", …" if len(some) > _SHOWN else "")
