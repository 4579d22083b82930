"""The scopes of a batch: those listed in the prompt by handle, all scopes of the user by path, and new ones of the reply."""

from __future__ import annotations

import re

from hexamem.agents.labelling.checks import one_line
from hexamem.agents.labelling.task import LabelTask
from hexamem.intent.label_names import fold_name, refusal
from hexamem.memory_types.labels import Label
from hexamem.stores.vocabulary import SEPARATOR, Vocabulary

__all__ = ["ScopeBoard"]

_HANDLE = re.compile(r"S\d{1,4}")
_LONGEST_NAME, _MOST_WORDS, _DEEPEST = 60, 8, 4


class ScopeBoard:
    """Finds the scopes that a reply names, and creates new ones: at most two more than there are steps.

    Args:
        user: the user whose scopes these are.
        task: the task with the scopes to list.

    Attributes:
        gists: scope id → gist, of the listed scopes.
        handles: scope id → handle, of the same, wider scopes first.
        made: the new scopes by id, wider ones first.
    """

    def __init__(self, user: str, task: LabelTask) -> None:
        self._user, self._most = user, len(task.chosen) + 2
        self._vocabulary = Vocabulary(label for label in task.labels if label.kind == "scope")
        self.gists: dict[str, str] = {}
        for label_id, gist in task.scopes.items():
            own = self._vocabulary.canonical(label_id)
            for above in reversed(self._vocabulary.above(own)):
                self.gists.setdefault(above, task.scopes.get(above, ""))
            self.gists[own] = gist or self.gists.get(own, "")
        listed = [label_id for label_id in self.gists if label_id in self._vocabulary.by_id]
        ordered = sorted(
            listed, key=lambda label_id: self.path(label_id).casefold()
        )  # so that the list reads as a tree
        self.handles = {label_id: f"S{number}" for number, label_id in enumerate(ordered, 1)}
        self.made: dict[str, Label] = {}
        self._by_handle = {handle: label_id for label_id, handle in self.handles.items()}
        self._places: dict[tuple[str | None, str], str] = {}  # parent and folded own name → id
        self._paths: dict[str, str] = {}  # folded path → id
        for label in self._vocabulary.by_id.values():
            self._place(label, self._vocabulary.canonical(label.id))

    def _place(self, label: Label, own: str) -> None:
        above = self._vocabulary.path(label.parent_id) + SEPARATOR if label.parent_id else ""
        self._paths.setdefault(fold_name(above + label.name), own)
        self._places.setdefault((self._vocabulary.parent(own), fold_name(label.name)), own)

    def path(self, label_id: str) -> str:
        """The names of a scope and the wider ones, widest first."""
        return self._vocabulary.path(label_id)

    def shown(self, label_id: str) -> str:
        """The form of a scope in the prompt: its handle, otherwise its path."""
        own = self._vocabulary.canonical(label_id)
        return self.handles.get(own) or (self.path(own) if own in self._vocabulary.by_id else "none")

    def is_listed(self, label_id: str) -> bool:
        """Whether a prompt lists this scope by a handle."""
        return self._vocabulary.canonical(label_id) in self.handles

    def refusal(self, scope: str) -> str | None:
        """Why a scope of a reply cannot be stored, in words that repeat nothing of it but a handle; None if it can."""
        text = self._expanded(scope)
        first = text.partition(SEPARATOR)[0]
        if _HANDLE.fullmatch(first):
            return f"there is no scope {first}; use a handle that is listed, or a name"
        if not self._parts(text) and fold_name(text) not in self._paths:
            return f"its scope is neither a handle nor a name of 1 to {_LONGEST_NAME} characters"
        return None

    def known(self, scope: str) -> str | None:
        """The id of a scope that exists or was created before, by handle, path or name."""
        folded = fold_name(self._expanded(scope))
        listed = self.made.keys() | self.handles.keys()
        named = {own for (_, name), own in self._places.items() if name == folded and own in listed}
        return self._paths.get(folded) or (named.pop() if len(named) == 1 else None)

    def scope_of(self, scope: str) -> str | None:
        """The id of the scope that is meant, made if it is new; None where it cannot be stored.

        Args:
            scope: handle, name or path; a path may begin with a handle.
        """
        if self.refusal(scope) is not None:
            return None
        if (known := self.known(scope)) is not None:
            return known
        place = None
        for name in self._parts(self._expanded(scope)):
            place = self._child(place, name)
            if place is None:
                return None
        return place

    def _expanded(self, scope: str) -> str:
        """A scope of a reply on one line, with the path of its handle in place of the handle."""
        first, separator, below = one_line(scope).partition(SEPARATOR)
        own = self._by_handle.get(first)
        return (first if own is None else self.path(own)) + separator + below

    def _child(self, parent: str | None, name: str) -> str | None:
        known = self._places.get((parent, fold_name(name)))
        if known is not None:
            return known
        depth = 1 if parent is None else 2 + len(self._vocabulary.above(parent))
        if len(self.made) >= self._most or depth > _DEEPEST:
            return None
        label = Label(user=self._user, kind="scope", name=name, parent_id=parent)
        self.made[label.id] = label
        self._vocabulary = self._vocabulary.joined([label])
        self._place(label, label.id)
        return label.id

    def _parts(self, text: str) -> list[str]:
        """The names of a path, the widest first; empty where one of them is invalid."""
        parts = [part.strip() for part in text.split(SEPARATOR.strip()) if part.strip()]
        if SEPARATOR not in text and len(parts) > 1:
            parts = [text]  # "A/B test" is one name
        good = all(
            refusal(part, _LONGEST_NAME) is None and len(part.split()) <= _MOST_WORDS and "{{" not in part
            for part in parts
        )
        return parts if good and len(parts) <= _DEEPEST else []
