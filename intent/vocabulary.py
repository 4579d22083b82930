"""The event or entity types of one user: finds labels by name, and adds new ones that a model proposes (STITCH, 3).

Ids are derived from the user, the kind and the first name of a label. So labelling a conversation twice results in the
same ids, and a renamed label is still found by its first name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from hexamem.errors import InvalidInputError
from hexamem.intent.contract import Embed, Vectors
from hexamem.intent.label_names import fold_name, label_id, refusal
from hexamem.memory_types.labels import Label, LabelKind

__all__ = ["LONGEST_NAME", "SAME_NAME", "Vocabulary"]

LONGEST_NAME = 60
"""The most characters of a label's name."""
SAME_NAME = 0.9
"""The least cosine of two names at which a proposed name is an existing label."""
_MOST_LABELS, _MOST_NEW, _MOST_PROPOSED = 200, 20, 8  # labels in use; new ones in a batch; names of a step
_LEAST_COSINE = 0.3  # of a new label and its parent


class Vocabulary:
    """The labels of one user and kind, in memory; :meth:`changed` returns those to be written.

    Args:
        user: the owner of the labels.
        kind: ``event``, ``entity`` or ``scope``.
        embed: texts to unit rows, for names and their nearest labels.
        types: names of wide labels, which are created when a narrower one is first added below them.
    """

    def __init__(
        self,
        user: str,
        kind: LabelKind,
        embed: Embed,
        *,
        types: Iterable[str] = (),
    ) -> None:
        self.user, self.kind, self._embed = user, kind, embed
        self._types = {fold_name(name): name for name in types}
        self._labels: dict[str, Label] = {}
        self._names: dict[str, str] = {}  # folded name → id
        self._changed: dict[str, None] = {}
        self._made = 0
        self._vectors: dict[str, Vectors] = {}  # name → its embedding

    # ------------------------------------------------------------------ looking up

    def get(self, label: str) -> Label | None:
        """The label of an id, aliases resolved; None where it is unknown."""
        known, seen = self._labels.get(label), {label}
        while known is not None and known.alias_of in self._labels and known.alias_of not in seen:
            seen.add(known.alias_of)
            known = self._labels[known.alias_of]
        return known

    def find(self, name: str) -> Label | None:
        """The label with this name, or with an alias or a first name like it; case and ``_`` are folded."""
        return self.get(self._names.get(fold_name(name)) or label_id(self.user, self.kind, name))

    def live(self) -> tuple[Label, ...]:
        """The labels in use, without aliases, in the order of their creation."""
        return tuple(label for label in self._labels.values() if label.alias_of not in self._labels)

    def nearest(self, vector: Vectors, k: int = 5) -> list[tuple[Label, float]]:
        """The labels in use whose names are nearest to an embedding, with their cosine, best first.

        Args:
            vector: ``(d,)``, a unit vector, or zeros, for which there is none.
            k: the most labels.
        """
        live = self.live()
        if not live or not np.any(vector):
            return []
        scores = self.vectors([label.name for label in live]) @ np.asarray(vector, np.float32)
        return [(live[place], float(scores[place])) for place in np.argsort(-scores, kind="stable")[:k]]

    def coarse(self, label: str) -> str | None:
        """The id of the widest label above an id (itself without a parent); None where it is unknown."""
        widest, seen = self.get(label), set[str]()
        while widest is not None and widest.id not in seen and (above := self.get(widest.parent_id or "")) is not None:
            seen.add(widest.id)
            widest = above
        return None if widest is None else widest.id

    def vectors(self, names: Sequence[str]) -> Vectors:
        """The embeddings of names, ``(n, d)``, which are cached."""
        if not names:
            return np.asarray(self._embed([]), np.float32)
        if new := [name for name in dict.fromkeys(names) if name not in self._vectors]:
            self._vectors.update(zip(new, np.asarray(self._embed(new), np.float32), strict=True))
        return np.stack([self._vectors[name] for name in names])

    # ------------------------------------------------------------------ growing

    def add(self, name: str, parent: str | None = None) -> Label:
        """The label of a name: an existing one with the same folded name, otherwise a new one.

        With 200 labels in use the parent, or the nearest label, is returned instead of a new one.

        Args:
            name: at most :data:`LONGEST_NAME` characters, some of them visible, no control characters.
            parent: the id of the wider label.

        Raises:
            InvalidInputError: the name is invalid, or the parent unknown.
        """
        if reason := refusal(name, LONGEST_NAME):
            raise InvalidInputError(reason)
        above = None if parent is None else self.get(parent)
        if parent is not None and above is None:
            raise InvalidInputError(f"parent = {parent!r} is no label of kind {self.kind!r}; add it first")
        if (known := self.find(name)) is not None:
            return known
        if len(self.live()) >= _MOST_LABELS and fold_name(name) not in self._types:
            near = self.nearest(self.vectors([name])[0], 1)
            return above or (near[0][0] if near else self.live()[0])
        label = Label(
            id=label_id(self.user, self.kind, name),
            user=self.user,
            kind=self.kind,
            name=name.strip(),
            parent_id=above.id if above is not None else None,
        )
        self._put(label)
        return label

    def propose(self, names: Sequence[str], parent: str | None = None) -> tuple[str, ...]:
        """The labels of the names in a reply: existing ones with the same or almost the same meaning, or new ones.

        Invalid names, and new ones beyond 20 between two calls of :meth:`changed`, are left out.

        Args:
            names: the names, the main one first; only the first eight are read.
            parent: the wider label of new ones; by default for an event the label with which its name begins
                ("Propose hotel" → "Propose"), or the top label of the nearest one.

        Returns:
            Label ids, each once, in the order of the names.
        """
        label_ids: dict[str, None] = {}
        for name in names[:_MOST_PROPOSED]:
            if refusal(name, LONGEST_NAME) is not None:
                continue
            known = self.find(name)
            if known is None:
                vector = self.vectors([name])[0]
                near = self.nearest(vector, 1)
                if near and near[0][1] >= SAME_NAME:
                    known = near[0][0]
                elif self._made < _MOST_NEW:
                    self._made += 1
                    known = self.add(name, parent if parent is not None else self._wider(name, vector))
                else:
                    continue
            label_ids[known.id] = None
        return tuple(label_ids)

    def _wider(self, name: str, vector: Vectors) -> str | None:
        if self.kind != "event":
            return None
        words = fold_name(name).split()
        if " ".join(words) in self._types:
            return None
        for count in range(len(words) - 1, 0, -1):
            first = " ".join(words[:count])
            if (known := self.find(first)) is not None:
                return self.coarse(known.id)
            if first in self._types:
                return self.add(self._types[first]).id
        near = self.nearest(vector, 1)
        return self.coarse(near[0][0].id) if near and near[0][1] > _LEAST_COSINE else None

    def merge(self, label: str, into: str) -> None:
        """Make one label an alias of another."""
        self._put(self._labels[label].changed(alias_of=into))

    # ------------------------------------------------------------------ reading and restoring changes

    def changed(self) -> tuple[Label, ...]:
        """The labels that are new or changed since the last call."""
        labels = tuple(self._labels[label] for label in self._changed)
        self._changed.clear()
        self._made = 0
        return labels

    def restore(self, labels: Iterable[Label]) -> None:
        """Replace all labels by stored ones; those of other kinds are ignored.

        Raises:
            InvalidInputError: where a label belongs to another user.
        """
        own = [label for label in labels if label.kind == self.kind]
        if (foreign := next((label for label in own if label.user != self.user), None)) is not None:
            raise InvalidInputError(
                f"label {foreign.id!r} belongs to another user than {self.user!r}; give this user's"
            )
        self._labels = {label.id: label for label in own}
        self._names, self._changed, self._made = {}, {}, 0
        # A label in use takes precedence over an alias of the same name.
        for label in sorted(own, key=lambda label: label.alias_of is not None):
            self._names.setdefault(fold_name(label.name), label.id)

    def _put(self, label: Label) -> None:
        self._labels[label.id] = label
        self._names.setdefault(fold_name(label.name), label.id)
        self._changed[label.id] = None
