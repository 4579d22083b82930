"""The scopes of a batch: those that a prompt lists by short handles, all there are by path, and those that a reply makes."""

from __future__ import annotations

import re
from collections.abc import Collection

from hexamem.agents.labelling.checks import one_line, scripts_of
from hexamem.agents.labelling.task import LabelTask
from hexamem.intent.label_names import fold_name, refusal
from hexamem.memory_types.labels import Label
from hexamem.stores.vocabulary import SEPARATOR, Vocabulary

__all__ = ["ScopeBoard"]

_HANDLE = re.compile(r"S(\d{1,4})(?:(?:[\s:,.–-]+)(.*))?")
_LONGEST_NAME, _MOST_WORDS, _DEEPEST = 60, 8, 4


class ScopeBoard:
    """Finds the scope that a reply means, and makes those that are new, two more than there are steps at most.

    Args:
        user: whose scopes.
        task: what is shown.

    Attributes:
        gists: of the scopes that are listed, by id.
        handles: of the same.
        scripts: those of what was shown: a name in another is none of the talk's.
    """

    def __init__(self, user: str, task: LabelTask) -> None:
        self._user, self._limit = user, len(task.chosen) + 2
        self.names = {one.id: one.name for one in task.labels if one.kind == "scope"}
        self._vocabulary = Vocabulary([one for one in task.labels if one.kind == "scope"])
        self.gists: dict[str, str] = {}
        for label_id, gist in task.scopes.items():
            own = self._vocabulary.canonical(label_id)
            for one in reversed(self._vocabulary.above(own)):
                self.gists.setdefault(one, task.scopes.get(one, ""))
            self.gists[own] = gist or self.gists.get(own, "")
        # Wide before narrow, in order of name, so that a tree can be read off the list.
        ordered = sorted((one for one in self.gists if one in self.names), key=lambda one: self.names[one].casefold())
        self.handles = {label_id: f"S{number}" for number, label_id in enumerate(ordered, 1)}
        self.scripts: Collection[str] = ()
        self._by_handle = {handle: label_id for label_id, handle in self.handles.items()}
        self._made: dict[str, Label] = {}
        self._places: dict[tuple[str | None, str], str] = {}  # parent and folded own name → id
        self._paths: dict[str, str] = {}
        for label_id, path in self.names.items():
            own = self._vocabulary.canonical(label_id)
            self._paths.setdefault(fold_name(path), own)
            self._places.setdefault((self._parent(own), fold_name(path.rpartition(SEPARATOR)[2])), own)

    def shown(self, label_id: str) -> str:
        """How a step's scope is told: its handle, else its path."""
        own = self._vocabulary.canonical(label_id)
        return self.handles.get(own) or self.names.get(own, "none")

    def made(self) -> tuple[Label, ...]:
        """The new scopes, each with its path as name, wide before narrow."""
        return tuple(self._made.values())

    def refusal(self, scope: str, parent: str | None) -> str | None:
        """Why a scope that a reply gives is none, in words that repeat nothing of it but a handle; None if it is."""
        for what, given in (("scope", scope), ("parent", parent)):
            if given is None:
                continue
            text = one_line(given)
            handle = self._handle(text)
            if handle is not None and handle not in self._by_handle:
                return f"there is no {what} {handle}; use a handle that is listed, or a name"
            if handle is None and not self._parts(text) and fold_name(text) not in self._paths:
                return (
                    f"its {what} is neither a handle nor a name of 1 to {_LONGEST_NAME} characters in the talk's script"
                )
        return None

    def known(self, scope: str) -> str | None:
        """The id of a scope that is there or was made, by handle, path or name; nothing is made."""
        text = one_line(scope)
        if (handle := self._handle(text)) is not None:
            return self._by_handle.get(handle)
        folded = fold_name(text)
        listed = self._made.keys() | self.handles.keys()
        named = {one for (_, name), one in self._places.items() if name == folded and one in listed}
        return self._paths.get(folded) or (named.pop() if len(named) == 1 else None)

    def scope_of(self, scope: str, parent: str | None) -> str | None:
        """The id of the scope that is meant, made if it is new; None where it cannot be kept.

        Args:
            scope: handle, name or path.
            parent: of a new name: handle, name or path of the wider scope.
        """
        if self.refusal(scope, None) is not None:
            return None
        text, wider = one_line(scope), one_line(parent or "")
        if (handle := self._handle(text)) is not None:
            return self._by_handle[handle]
        place = None
        if wider and fold_name(wider) != fold_name(text):
            place = self.scope_of(wider, None)
        if place is None and (found := self.known(text)) is not None:
            return found
        path = self._parts(text)
        # A path that is given whole beside its parent.
        if place is not None and len(path) > 1 and fold_name(path[0]) == fold_name(self._name(place)):
            path = path[1:]
        for own in path:
            place = self._child(place, own)
            if place is None:
                return None
        return place

    def _child(self, parent: str | None, own: str) -> str | None:
        place = (parent, fold_name(own))
        if place in self._places:
            return self._places[place]
        depth, above = 1, parent
        while above is not None:
            depth, above = depth + 1, self._parent(above)
        if len(self._made) >= self._limit or depth > _DEEPEST:
            return None
        name = own if parent is None else f"{self._name(parent)}{SEPARATOR}{own}"
        label = Label(user=self._user, kind="scope", name=name, parent_id=parent)
        self._made[label.id] = label
        self._places[place] = self._paths[fold_name(name)] = label.id
        return label.id

    def _name(self, label_id: str) -> str:
        return self._made[label_id].name if label_id in self._made else self.names.get(label_id, "")

    def _parent(self, label_id: str) -> str | None:
        return self._made[label_id].parent_id if label_id in self._made else self._vocabulary.parent(label_id)

    def _handle(self, text: str) -> str | None:
        """The handle that a text is, alone or with the name that goes with it."""
        found = _HANDLE.fullmatch(text)
        if found is None:
            return None
        handle, rest = f"S{int(found[1])}", (found[2] or "").strip()
        name = self.names.get(self._by_handle.get(handle, ""), "")
        own = name.rpartition(SEPARATOR)[2]
        return handle if not rest or (name and fold_name(rest) in (fold_name(name), fold_name(own))) else None

    def _parts(self, text: str) -> list[str]:
        """The names of a path, wide to narrow; none where one of them is no name."""
        parts = [part.strip() for part in text.split(SEPARATOR.strip()) if part.strip()]
        if SEPARATOR not in text and len(parts) > 1:
            parts = [text]  # "A/B test" is one name
        good = all(
            refusal(part, _LONGEST_NAME) is None
            and len(part.split()) <= _MOST_WORDS
            and scripts_of(part) <= set(self.scripts)
            and "{{" not in part
            for part in parts
        )
        return parts if good and len(parts) <= _DEEPEST else []
