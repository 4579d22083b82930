"""A user's labels: resolving aliases, parents and children, and finding a label by name or path."""

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
    """Labels with aliases resolved: a label that was merged into another is that one in every result.

    Args:
        labels: all labels of a user; or some, with the labels of which they are aliases, and all their parents.
        used: returns the ids of the labels to suggest where a name is not found; all when None.
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
        """A vocabulary with additional labels, which are newer than all of this one."""
        if any(label.alias_of or label.id in self._canonical for label in new):  # existing labels may refer to them
            return Vocabulary([*self.by_id.values(), *new], self._used)
        joined = Vocabulary((), self._used)
        joined.by_id = {**self.by_id, **{label.id: label for label in new}}
        joined._canonical = {**self._canonical, **{label.id: label.id for label in new}}
        joined._same = {**self._same, **{label.id: [label.id] for label in new}}
        joined._children = dict(self._children)
        for label in new:
            parent = joined.parent(label.id)
            joined._children[parent] = [*joined._children.get(parent, ()), label.id]
        return joined

    def canonical(self, label_id: str) -> str:
        """The id of the label of which this one is an alias, else the id itself."""
        resolved = self._canonical.get(label_id)
        if resolved is None:
            seen = {label_id}
            resolved = label_id
            while (label := self.by_id.get(resolved)) is not None and label.alias_of and label.alias_of not in seen:
                resolved = label.alias_of
                seen.add(resolved)
            self._canonical[label_id] = resolved
        return resolved

    def label(self, label_id: str) -> Label:
        """The label of an id, aliases resolved."""
        return self.by_id[self.canonical(label_id)]

    def parent(self, label_id: str) -> str | None:
        """The id of the wider label, aliases resolved."""
        label = self.by_id.get(self.canonical(label_id))
        if label is None or not label.parent_id:
            return None
        parent = self.canonical(label.parent_id)
        return parent if parent in self.by_id and parent != label.id else None

    def above(self, label_id: str) -> list[str]:
        """The ids of the wider labels, nearest first."""
        wider: list[str] = []
        parent = self.parent(label_id)
        while parent is not None and parent not in wider:
            wider.append(parent)
            parent = self.parent(parent)
        return wider

    def with_wider(self, label_ids: Iterable[str]) -> set[str]:
        """These labels and all wider ones, aliases resolved."""
        wider: set[str] = set()
        for label_id in map(self.canonical, label_ids):
            wider.update((label_id, *self.above(label_id)))
        return wider

    def name(self, label_id: str) -> str:
        """The name of a label, aliases resolved; the id itself where it is unknown."""
        label = self.by_id.get(self.canonical(label_id))
        return label_id if label is None else label.name

    def path(self, label_id: str) -> str:
        """The name after those of the wider labels: ``Trip / Day 2``."""
        return SEPARATOR.join(map(self.name, (*reversed(self.above(label_id)), label_id)))

    def names(self, label_ids: Iterable[str]) -> tuple[str, ...]:
        """The names of labels in order, each once."""
        return tuple(map(self.name, dict.fromkeys(map(self.canonical, label_ids))))

    def same(self, label_id: str) -> tuple[str, ...]:
        """Every id of the same label: its own first, then its aliases."""
        own = self.canonical(label_id)
        return (own, *(alias for alias in self._same.get(own, ()) if alias != own))

    def aliases(self, label_id: str) -> tuple[str, ...]:
        """The other names of a label."""
        own, *others = (self.by_id[same].name for same in self.same(label_id))
        return tuple(dict.fromkeys(name for name in others if name != own))

    def children(self, label_id: str | None, kind: LabelKind | None = None) -> tuple[str, ...]:
        """The ids of the children of a label, or of the labels without parent, in order of creation."""
        children = self._children.get(None if label_id is None else self.canonical(label_id), ())
        return tuple(child for child in children if kind is None or self.by_id[child].kind == kind)

    def covering(self, label_id: str) -> set[str]:
        """Every id of this label and those under it, with aliases: for filters and label density."""
        covered: set[str] = set()
        waiting = [self.canonical(label_id)]
        while waiting:
            label_id = waiting.pop()
            if label_id not in covered:
                covered.update(self.same(label_id))
                waiting += self.children(label_id)
        return covered

    def find(self, text: str, kind: LabelKind | None = None) -> list[str]:
        """The labels that match an id, a name or a path, aliases resolved; only those of the most exact match.

        A label's own name has precedence over an alias. If nothing else matches, names in other forms do, such as
        "day two" for "第2天": see :func:`~hexamem.stores.label_forms.name_form`.

        Args:
            text: may begin with the kind, ``entity:Porto``, where labels of several kinds have the same name.
        """
        prefix, colon, rest = text.partition(":")
        if colon and prefix in _KINDS and kind in (None, prefix):
            matches = self.find(rest.strip(), cast(LabelKind, prefix))
            if matches:
                return matches
        if text in self.by_id and kind in (None, self.by_id[text].kind):
            return [self.canonical(text)]
        pool = [label for label in self.by_id.values() if kind in (None, label.kind)]
        own = [label for label in pool if self.canonical(label.id) == label.id]
        aliases = [label for label in pool if self.canonical(label.id) != label.id]
        folded = text.casefold().strip()
        form = name_form(text)
        path = [name_form(part) for part in text.split("/") if part.strip()]
        for fits, labels in (
            (lambda label: label.name == text, own),
            (lambda label: label.name == text, aliases),
            (lambda label: label.name.casefold() == folded, own),
            (lambda label: label.name.casefold() == folded, aliases),
            (lambda label: self._on_path(label.id, path, aliases=False), own if len(path) > 1 else ()),
            (lambda label: self._on_path(label.id, path, aliases=True), own if len(path) > 1 else ()),
            (lambda label: name_form(label.name) == form, own),
            (lambda label: name_form(label.name) == form, aliases),
        ):
            matches = list(dict.fromkeys(self.canonical(label.id) for label in labels if fits(label)))
            if matches:
                return matches
        return []

    def _on_path(self, label_id: str, path: Sequence[str], *, aliases: bool) -> bool:
        """Whether a path, in forms of names, ends with a name of the label after those of its parents."""
        for same in self.same(label_id) if aliases else (label_id,):
            parts = [name_form(part) for part in self.by_id[same].name.split("/")]
            before = len(path) - len(parts)
            if before < 0 or list(path[before:]) != parts:
                continue
            if before == 0:
                return True
            parent = self.by_id[same].parent_id  # of an alias its own
            if (
                parent
                and parent in self.by_id
                and self._on_path(self.canonical(parent), path[:before], aliases=aliases)
            ):
                return True
        return False

    def one(self, text: str, kind: LabelKind | None = None) -> Label:
        """The label of an id, a name or a path.

        Raises:
            NotFoundError: if none matches, with the nearest names.
            InvalidInputError: if several match, with the kind, path and id of each.
        """
        matches = self.find(text, kind)
        what = "label" if kind is None else f"{kind} label"
        if not matches:
            raise NotFoundError(f"no {what} {text!r}; {self.nearest(text, kind)}")
        if len(matches) > 1:
            listed = "; ".join(
                f"{self.by_id[label_id].kind}:{self.path(label_id)} ({label_id})" for label_id in matches[:_SHOWN]
            )
            raise InvalidInputError(f"{what} {text!r} may mean {len(matches)}: {listed}. Pass one of these, or its id")
        return self.by_id[matches[0]]

    def nearest(self, text: str, kind: LabelKind | None = None, more: Collection[str] = ()) -> str:
        """The names nearest to an unknown one, in words: for the end of an error message.

        Args:
            kind: only labels of this kind.
            more: other valid names.
        """
        from difflib import get_close_matches

        used = self._same if self._used is None else self._used()
        ids = [label_id for label_id in self._same if label_id in used and label_id in self.by_id]
        ids = [label_id for label_id in ids if kind in (None, self.by_id[label_id].kind)]
        ids.sort(key=lambda label_id: (_KINDS.index(self.by_id[label_id].kind), self.path(label_id)))
        shown: dict[str, list[str]] = {}  # folded name → the forms to show
        for label_id in ids:
            for name in {self.path(label_id), self.by_id[label_id].name, *self.aliases(label_id)}:
                shown.setdefault(name.casefold(), []).append(self.path(label_id))
        for name in more:
            shown.setdefault(name.casefold(), []).append(name)
        if not shown:
            return "the user has none yet"
        wanted = text.casefold().strip()
        near = [name for name in shown if wanted and wanted in name]
        near = near or get_close_matches(wanted, shown, n=_NEAR, cutoff=0.55)
        suggestions = list(dict.fromkeys(form for name in near for form in shown[name]))[:_NEAR]
        if suggestions:
            return "did you mean " + ", ".join(map(repr, suggestions)) + "?"
        known = list(dict.fromkeys([*map(self.path, ids), *sorted(more)]))
        return "there are " + ", ".join(map(repr, known[:_SHOWN])) + (", …" if len(known) > _SHOWN else "")
