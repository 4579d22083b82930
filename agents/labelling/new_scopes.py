"""The scopes that a model names: a handle it was shown, a path it knows, or a new name under a wider one."""

from __future__ import annotations

import re
from collections.abc import Collection

from hexamem.agents.labelling.checks import one_line, scripts_of
from hexamem.agents.labelling.task import ScopeBoard
from hexamem.intent.label_names import fold_name, refusal
from hexamem.memory_types.labels import Label
from hexamem.stores.vocabulary import SEPARATOR

__all__ = ["NewScopes"]

_HANDLE = re.compile(r"S(\d{1,4})(?:(?:[\s:,.–-]+)(.*))?")
_LONGEST_NAME, _MOST_WORDS, _DEEPEST = 60, 8, 4


class NewScopes:
    """Finds the scope that a reply means, and makes those that are new.

    Args:
        user: whose scopes.
        board: what was shown, and what there is.
        scripts: those of what was shown: a name in another is none of the talk's.
        limit: how many new scopes a batch may make.
    """

    def __init__(self, user: str, board: ScopeBoard, scripts: Collection[str], *, limit: int) -> None:
        self._user, self._board, self._scripts, self._limit = user, board, frozenset(scripts), limit
        self._made: dict[str, Label] = {}
        self._places: dict[tuple[str | None, str], str] = {}  # parent and folded own name → id
        self._paths: dict[str, str] = {}
        for label_id, path in board.names.items():
            own = board.canonical(label_id)
            self._paths.setdefault(fold_name(path), own)
            self._places.setdefault((board.parent(own), fold_name(path.rpartition(SEPARATOR)[2] or path)), own)

    def made(self) -> tuple[Label, ...]:
        """The new scopes, each with its path as name, wide before narrow."""
        return tuple(self._made.values())

    def refusal(self, scope: str, parent: str | None) -> str | None:
        """Why a scope that a reply gives is none, in words that repeat nothing of it but a handle; None if it is."""
        for what, given in (("scope", scope), ("parent", parent)):
            if given is None and what == "parent":
                continue
            text = one_line(given or "")
            handle = self._handle(text)
            if handle is not None:
                if handle not in self._board.by_handle:
                    return f"there is no {what} {handle}; use a handle that is listed, or a name"
            elif not self._parts(text) and self._paths.get(fold_name(text)) is None:
                return (
                    f"its {what} is neither a handle nor a name of 1 to {_LONGEST_NAME} characters in the talk's script"
                )
        return None

    def known(self, scope: str) -> str | None:
        """The id of a scope that is there or was made, by handle, path or name; nothing is made."""
        text = one_line(scope)
        handle = self._handle(text)
        if handle is not None:
            return self._board.by_handle.get(handle)
        folded = fold_name(text)
        if (own := self._paths.get(folded)) is not None:
            return own
        named = [
            label_id
            for (_, name), label_id in self._places.items()
            if name == folded and (label_id in self._made or label_id in self._board.handles)
        ]
        return named[0] if len(set(named)) == 1 else None

    def scope_of(self, scope: str, parent: str | None) -> str | None:
        """The id of the scope that is meant, made if it is new; None where it cannot be kept.

        Args:
            scope: handle, name or path.
            parent: of a new name: handle, name or path of the wider scope.
        """
        if self.refusal(scope, None) is not None:
            return None
        text = one_line(scope)
        handle = self._handle(text)
        if handle is not None:
            return self._board.by_handle[handle]
        above = self._above(parent, text)
        if above is None:
            found = self.known(text)
            if found is not None:
                return found
        path = self._parts(text)
        # A path that is given whole beside its parent.
        if above is not None and len(path) > 1 and fold_name(path[0]) == fold_name(self._name(above)):
            path = path[1:]
        place = above
        for own in path:
            made = self._child(place, own)
            if made is None:
                return None
            place = made
        return place

    def _above(self, parent: str | None, text: str) -> str | None:
        given = one_line(parent or "")
        if given and fold_name(given) != fold_name(text) and self.refusal(given, None) is None:
            return self.scope_of(given, None)
        return None

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
        return self._made[label_id].name if label_id in self._made else self._board.names.get(label_id, "")

    def _parent(self, label_id: str) -> str | None:
        return self._made[label_id].parent_id if label_id in self._made else self._board.parent(label_id)

    def _handle(self, text: str) -> str | None:
        """The handle that a text is, alone or with the name that goes with it."""
        found = _HANDLE.fullmatch(text)
        if found is None:
            return None
        handle, rest = f"S{int(found[1])}", (found[2] or "").strip()
        if not rest:
            return handle
        name = self._board.names.get(self._board.by_handle.get(handle, ""), "")
        own = name.rpartition(SEPARATOR)[2]
        return handle if name and fold_name(rest) in (fold_name(name), fold_name(own)) else None

    def _parts(self, text: str) -> list[str]:
        """The names of a path, wide to narrow; none where one of them is no name."""
        parts = [part.strip() for part in text.split(SEPARATOR.strip()) if part.strip()] if text else []
        if SEPARATOR not in text and len(parts) > 1:
            parts = [text]  # "A/B test" is one name
        good = all(
            refusal(part, _LONGEST_NAME) is None
            and len(part.split()) <= _MOST_WORDS
            and scripts_of(part) <= self._scripts
            and "{{" not in part
            for part in parts
        )
        return parts if good and len(parts) <= _DEEPEST else []
