"""The event or entity types of one user: finds labels by name, and makes new ones that a model proposes (STITCH, 3).

Ids are derived from the user, the kind and the first name of a label. So labelling a conversation twice results in the
same ids, and a renamed label is still found by its first name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from hexamem.intent.contract import Embed, Vectors
from hexamem.intent.label_names import fold_name, label_id, label_types, refusal
from hexamem.memory_types.labels import Label
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["TypeVocabulary"]

_LONGEST_NAME = 60  # characters
_SAME_NAME = 0.9  # the least cosine of two names at which a proposed name is an existing label
_MOST_LABELS, _MOST_NEW, _MOST_PROPOSED = 200, 20, 8  # labels in use; new ones of a batch; names of a step


class TypeVocabulary:
    """The labels of one user and kind while a batch is labelled.

    Args:
        labels: all labels of the user; those of other kinds are ignored.
        embed: texts to unit rows, for names that are almost the same.

    Attributes:
        made: the new labels by id, wider ones first.
    """

    def __init__(self, user: str, kind: Literal["event", "entity"], labels: Iterable[Label], embed: Embed) -> None:
        self._user, self._kind, self._embed = user, kind, embed
        self._types = {fold_name(name): name for name in label_types(kind)}
        self._known = Vocabulary(label for label in labels if label.kind == kind)
        self.made: dict[str, Label] = {}
        self._names: dict[str, str] = {}  # folded name → id
        # A label in use takes precedence over an alias of the same name.
        for label in sorted(self._known.by_id.values(), key=lambda label: label.alias_of is not None):
            self._names.setdefault(fold_name(label.name), label.id)
        self._vectors: dict[str, Vectors] = {}  # name → its embedding

    def live(self) -> list[Label]:
        """The labels in use, without aliases, in the order of their creation."""
        return [label for label in self._known.by_id.values() if self._known.canonical(label.id) == label.id]

    def find(self, name: str) -> Label | None:
        """The label with this name, or with an alias or a first name like it; case and ``_`` are folded."""
        own = self._names.get(fold_name(name)) or label_id(self._user, self._kind, name)
        return self._known.by_id.get(self._known.canonical(own))

    def coarse(self, label: str) -> Label | None:
        """The widest label above an id, itself without a parent; None where it is unknown."""
        return self._known.by_id.get([self._known.canonical(label), *self._known.above(label)][-1])

    def propose(self, names: Sequence[str], parent: Label | None = None) -> tuple[str, ...]:
        """The ids of the labels of the names in a reply: existing ones with almost the same name, or new ones.

        Invalid names are left out. Of a new name beyond 20, or of a user with 200 labels, the act with which it begins
        is returned.

        Args:
            names: the names, the main one first; only the first eight are read.
            parent: the wider label of new ones; by default for an event the type with which its name begins
                ("Propose hotel" → "Propose").
        """
        label_ids: dict[str, None] = {}
        for name in names[:_MOST_PROPOSED]:
            if refusal(name, _LONGEST_NAME) is None:
                label = self.find(name) or self._similar(name) or self._new(name, parent) or self._act(name)
                label_ids.update({} if label is None else {label.id: None})
        return tuple(label_ids)

    def _act(self, name: str) -> Label | None:
        """The wide label of an event type with which a name begins."""
        wide = self._types.get(fold_name(name.split(maxsplit=1)[0])) if self._kind == "event" else None
        return None if wide is None else self.find(wide) or self._new(wide, None)

    def _similar(self, name: str) -> Label | None:
        """The label with almost the same name; of an event type, one of the same act."""
        live, act = self.live(), fold_name(name.split(maxsplit=1)[0])
        if self._kind == "event" and act in self._types:
            live = [label for label in live if fold_name((self.coarse(label.id) or label).name) == act]
        if not live:
            return None
        names = [name, *(label.name for label in live)]
        if new := [other for other in dict.fromkeys(names) if other not in self._vectors]:
            self._vectors.update(zip(new, np.asarray(self._embed(new), np.float32), strict=True))
        scores = np.stack([self._vectors[other] for other in names[1:]]) @ self._vectors[name]
        best = int(scores.argmax())
        return live[best] if scores[best] >= _SAME_NAME else None

    def _new(self, name: str, parent: Label | None) -> Label | None:
        act = name.split(maxsplit=1)[0]
        is_wide = fold_name(name) in self._types  # of which there are few
        if not is_wide and (len(self.made) >= _MOST_NEW or len(self.live()) >= _MOST_LABELS):
            return None
        if parent is None and self._kind == "event" and fold_name(act) != fold_name(name):
            wide = self.find(act) or self._act(name)
            parent = None if wide is None else self.coarse(wide.id)
        label = Label(
            id=label_id(self._user, self._kind, name),
            user=self._user,
            kind=self._kind,
            name=name.strip(),
            parent_id=parent.id if parent is not None else None,
        )
        self.made[label.id] = label
        self._known = self._known.joined([label])
        self._names.setdefault(fold_name(name), label.id)
        return label
