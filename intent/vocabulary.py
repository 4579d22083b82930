"""The label vocabulary of one user and kind: lookup, growth, merging (STITCH, section 3: induced event and entity types).

Labels are kept for good, since steps carry their ids: a label that is merged away lives on as an alias. Ids are
derived from the user, the kind and the first name of a label. So the same conversation labelled twice gets the same
ids, and a label that a person renamed is still found by the rules under the name they know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from hexamem.errors import InvalidInputError
from hexamem.intent.contract import Embed, Vectors
from hexamem.intent.label_names import VocabularySettings, fold_name, label_id, refusal
from hexamem.memory_types.labels import Label, LabelKind

__all__ = ["Vocabulary", "VocabularySettings", "fold_name", "label_id"]


class Vocabulary:
    """The labels of one user and kind, in memory; :meth:`changed` gives what is to be written down.

    Args:
        user: whose labels they are.
        kind: ``event``, ``entity`` or ``scope``.
        embed: texts to unit rows, for names and their nearest labels.
        seeds: names that are known beforehand. They are made when first added and are never merged away.
        synonyms: folded word → the seed it means, for names that a model proposes ("suggest" → "Propose").
        settings: how it grows.
    """

    def __init__(
        self,
        user: str,
        kind: LabelKind,
        embed: Embed,
        *,
        seeds: Iterable[str] = (),
        synonyms: Mapping[str, str] | None = None,
        settings: VocabularySettings | None = None,
    ) -> None:
        self.user, self.kind = user, kind
        self.settings = settings or VocabularySettings()
        self._embed = embed
        self._seed_names = tuple(seeds)
        self._synonyms = dict(synonyms or {})
        self._labels: dict[str, Label] = {}
        self._target: dict[str, str] = {}  # id → the id it stands for, aliases followed
        self._names: dict[str, str] = {}  # folded name → id
        self._live: dict[str, None] = {}
        self._changed: dict[str, None] = {}
        self._refused: list[str] = []
        self._uses: Counter[str] = Counter()
        self._since_merge = 0
        self._merged_at = -1
        self._made = 0
        self._rows: dict[str, Vectors] = {}  # name → its embedding
        self._keys: dict[str, tuple[str, str]] = {}  # name → folded, and the id that follows from it
        self._accepted: set[str] = set()  # names that do for a label
        self._below: dict[str, tuple[Label, ...]] = {}  # id → the labels in use below it; renewed when one is added
        self._compared: dict[str, set[str]] = {}  # id → labels below it that were compared with each other
        self._matrix: tuple[list[str], Vectors] | None = None
        self.revision = 0
        """Raised with each change of the labels, for what is derived from them."""

    @cached_property
    def _seeds(self) -> frozenset[str]:
        """Their ids. Most vocabularies are only read: to make the ids of all seeds would take longer than that."""
        return frozenset(label_id(self.user, self.kind, name) for name in self._seed_names)

    def __len__(self) -> int:
        """How many labels are in use, aliases not counted."""
        return len(self._live)

    @property
    def size(self) -> int:
        """How many labels there are, aliases too."""
        return len(self._labels)

    # Looking up

    def resolve(self, label: str) -> str | None:
        """The id that an id stands for, aliases followed; None where it is not known."""
        return self._target.get(label)

    def get(self, label: str) -> Label | None:
        """The label that an id stands for, aliases followed; None where it is not known."""
        target = self._target.get(label)
        return None if target is None else self._labels[target]

    def find(self, name: str) -> Label | None:
        """The label with this name, or with an alias or an earlier name like it; case, plural and ``_`` are folded."""
        folded, first = self._key(name)
        known = self._names.get(folded)
        if known is None:
            known = first if first in self._labels else None
        return None if known is None else self.get(known)

    def _key(self, name: str) -> tuple[str, str]:
        known = self._keys.get(name)
        if known is None:
            if len(self._keys) > 4 * self.settings.max_records:
                self._keys.clear()
            known = self._keys[name] = fold_name(name), label_id(self.user, self.kind, name)
        return known

    def live(self) -> tuple[Label, ...]:
        """The labels in use, aliases left out, in the order in which they were made."""
        return tuple(self._labels[label] for label in self._live)

    def records(self) -> tuple[Label, ...]:
        """All labels, aliases too, in the order in which they were made: what :meth:`restore` takes."""
        return tuple(self._labels.values())

    def nearest(self, vector: Vectors, k: int = 5, *, parent: str | None = None) -> list[tuple[Label, float]]:
        """The labels whose names are nearest to an embedding.

        Args:
            vector: ``(d,)``, a unit vector or zeros.
            k: how many at most.
            parent: look only at labels below this one.

        Returns:
            Labels in use with their cosine, best first; none for a vector of zeros.
        """
        if not self._live or k < 1 or not np.any(vector):
            return []
        if parent is None:
            if self._matrix is None:
                ids = list(self._live)
                self._matrix = ids, self._vectors([self._labels[label].name for label in ids])
            ids, matrix = self._matrix
        else:
            ids = [label.id for label in self.below(parent)]
            if not ids:
                return []
            matrix = self._vectors([self._labels[label].name for label in ids])
        scores = matrix @ np.asarray(vector, dtype=np.float32)
        order = np.argsort(-scores, kind="stable")[:k]
        return [(self._labels[ids[place]], float(scores[place])) for place in order]

    def below(self, parent: str) -> tuple[Label, ...]:
        """The labels in use whose parent is this one, in the order made; the same object while they are the same."""
        return self._below.get(self._target.get(parent, ""), ())

    # Growing

    def add(self, name: str, parent: str | None = None) -> Label:
        """The label of a name: an existing one where the names fold alike, else a new one.

        Where the vocabulary is full, the parent or else the nearest label is given instead of a new one.

        Args:
            name: at most ``max_name`` characters, some of them visible, no control characters.
            parent: the id of the wider label.

        Raises:
            InvalidInputError: where the name or the parent does not do.
        """
        if name not in self._accepted:
            reason = refusal(name, self.settings.max_name)
            if reason:
                raise InvalidInputError(reason)
            if len(self._accepted) > 4 * self.settings.max_records:
                self._accepted.clear()
            self._accepted.add(name)
        above = None if parent is None else self.resolve(parent)
        if parent is not None and above is None:
            raise InvalidInputError(f"parent = {parent!r} is no label of kind {self.kind!r}; add it first")
        known = self.find(name)
        if known is not None:
            return known
        if self._is_full(self._key(name)[1]):
            instead = self.get(above) if above else None
            if instead is None:
                near = self.nearest(self.vector(name), 1)
                instead = near[0][0] if near else next(iter(self.live()))
            return instead
        label = Label(id=self._key(name)[1], user=self.user, kind=self.kind, name=name.strip(), parent_id=above)
        self._put(label)
        return label

    def propose(self, names: Sequence[str], parent: str | None = None) -> tuple[str, ...]:
        """Map the names that a model gave to labels: existing ones, what near-synonyms stand for, or new ones.

        Names that do not do are left out; :meth:`refusals` says why.

        Args:
            names: as the model wrote them, the main one first.
            parent: the wider label of new ones; without it an event's is the label its name begins with
                ("Propose hotel" → "Propose"), or the top label nearest in meaning.

        Returns:
            Label ids, each once, in the order of the names.
        """
        found: dict[str, None] = {}
        if len(names) > self.settings.max_per_step:
            self._refused.append(
                f"{len(names)} {self.kind} labels for one step: only the first {self.settings.max_per_step} are read"
            )
        for given in names[: self.settings.max_per_step]:
            name = given
            reason = refusal(name, self.settings.max_name)
            if reason:
                self._refused.append(reason)
                continue
            known = self.find(name)
            if known is None:
                name = self._in_known_words(name)
                known = self.find(name)
            if known is None:
                vector = self.vector(name)
                near = self.nearest(vector, 1)
                if near and near[0][1] >= self.settings.same_similarity:
                    known = near[0][0]
                elif self._made < self.settings.max_new:
                    self._made += 1
                    known = self.add(name, parent if parent is not None else self._wider(name, vector))
                else:
                    self._refused.append(f"label {name!r}: more than {self.settings.max_new} new ones in a batch")
                    continue
            found[known.id] = None
        return tuple(found)

    def _in_known_words(self, name: str) -> str:
        words = fold_name(name).split()
        whole = self._synonyms.get(" ".join(words))
        if whole is not None:
            return whole
        first = self._synonyms.get(words[0])
        renamed = name if first is None or self.kind != "event" else " ".join([first, *words[1:]])
        return renamed if len(renamed) <= self.settings.max_name else name

    def _wider(self, name: str, vector: Vectors) -> str | None:
        if self.kind != "event":
            return None
        words = fold_name(name).split()
        for count in range(len(words) - 1, 0, -1):
            first = " ".join(words[:count])
            top = self.find(first)
            if top is not None:
                return self._top(top).id
            if label_id(self.user, self.kind, first) in self._seeds:
                return self.add(first.capitalize()).id
        for label, cosine in self.nearest(vector, 5):
            if cosine > 0.3:
                return self._top(label).id
        return None

    def _top(self, label: Label) -> Label:
        seen = {label.id}
        while label.parent_id:
            above = self.get(label.parent_id)
            if above is None or above.id in seen:
                break
            label = above
            seen.add(label.id)
        return label

    def coarse(self, label: str) -> str | None:
        """The id of the widest label above an id (itself where it has no parent); None where it is not known."""
        found = self.get(label)
        return None if found is None else self._top(found).id

    # Using and merging

    def note(self, labels: Iterable[str], steps: int = 1) -> None:
        """Count that steps carry labels; after every ``merge_every`` steps :meth:`merge` follows."""
        uses, targets = self._uses, self._target
        for label in labels:
            target = targets.get(label)
            if target is not None:
                uses[target] += 1
        self._since_merge += steps
        if self._since_merge >= self.settings.merge_every:
            self.merge()

    def merge(self) -> int:
        """Make one of labels that mean the same; the one more used stays, the older one where that is equal.

        Compared are labels with the same parent, by their names without the words of the parent's. Labels pinned by a
        person and seeds stay what they are, though others may be merged into them.

        Returns:
            How many labels became aliases.
        """
        self._since_merge = 0
        if self._merged_at == self.revision:
            return 0  # nothing is new since the last look
        parents = {self.resolve(label.parent_id) for label in self.live() if label.parent_id}
        groups: dict[str, Sequence[Label]] = {
            "": [one for one in self.live() if not one.parent_id or not self._target.get(one.parent_id)]
        }
        if self.kind == "event":  # a wide event type stands for others: it is no near-synonym of one
            groups[""] = [one for one in groups[""] if one.id not in parents or one.parent_id is not None]
        groups.update(self._below)
        # Uses only grow, so two labels that stayed apart do so for good: those that are new are compared with all.
        named = {
            above: ([one.id for one in group], self._own_words(group, above))
            for above, group in groups.items()
            if len(group) > 1 and not self._compared.get(above, set()).issuperset([one.id for one in group])
        }
        self.prepare([name for _, names in named.values() for name in names])
        merged = sum(self._merge_group(ids, names, above) for above, (ids, names) in named.items())
        self._merged_at = self.revision
        return merged

    def _own_words(self, group: Sequence[Label], above: str) -> list[str]:
        """The names of labels without the words of the one above them, if there is one."""
        wider = self.get(above) if above else None
        drop = set(self._key(wider.name)[0].split()) if wider else set()
        names = []
        for one in group:
            folded = self._key(one.name)[0]
            if drop:
                folded = " ".join([word for word in folded.split() if word not in drop])
            names.append(folded or one.name)
        return names

    def _merge_group(self, ids: Sequence[str], names: Sequence[str], above: str) -> int:
        compared = self._compared.get(above, set())
        new = [place for place, label in enumerate(ids) if label not in compared]
        self._compared[above] = set(ids)
        vectors = self._vectors(names)
        scores = vectors[new] @ vectors.T
        least = min(self.settings.merge_similarity, self.settings.rare_similarity)
        pairs = {
            (min(new[row], other), max(new[row], other)): float(scores[row, other])
            for row, other in np.argwhere(scores >= least).tolist()
            if new[row] != other
        }
        if not pairs:
            return 0
        age = {label: place for place, label in enumerate(self._labels)}
        merged = 0
        for (one, two), score in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0])):
            keep, lose = ids[one], ids[two]
            if keep not in self._live or lose not in self._live:
                continue
            if self._rank(lose, age) > self._rank(keep, age):
                keep, lose = lose, keep
            rare = self._uses[lose] <= self.settings.rare_uses
            needed = self.settings.rare_similarity if rare else self.settings.merge_similarity
            if score >= needed and self._may_go(lose):
                self._alias(lose, keep)
                merged += 1
        return merged

    def _rank(self, label: str, age: dict[str, int]) -> tuple[bool, int, int]:
        return not self._may_go(label), self._uses[label], -age[label]

    def _may_go(self, label: str) -> bool:
        return not self._labels[label].pinned and label not in self._seeds

    def _alias(self, lose: str, keep: str) -> None:
        self._uses[keep] += self._uses.pop(lose, 0)
        self._put(self._labels[lose].changed(alias_of=keep))

    def _is_full(self, new: str) -> bool:
        """Whether nothing may be added; makes room by merging, then by giving the least used label to its parent."""
        if len(self._labels) >= self.settings.max_records and new not in self._seeds:
            return bool(self._live)
        if len(self._live) < self.settings.max_labels:
            return False
        self.merge()
        if len(self._live) < self.settings.max_labels:
            return False
        wide = {self.resolve(label.parent_id) for label in self.live() if label.parent_id}
        movable = [label for label in self._live if self._may_go(label) and label not in wide]
        if not movable:
            return new not in self._seeds
        age = {label: place for place, label in enumerate(self._labels)}
        lose = min(movable, key=lambda label: self._rank(label, age))
        above = self._labels[lose].parent_id
        keep = self.resolve(above) if above else None
        if keep is None:
            near = self.nearest(self.vector(self._labels[lose].name), 2)
            keep = next((label.id for label, _ in near if label.id != lose), None)
        if keep is None:
            keep = next((label for label in self._live if label != lose), None)
        if keep is None:
            return True
        self._alias(lose, keep)
        return False

    # Handing over and taking up

    def changed(self) -> tuple[Label, ...]:
        """The labels that are new or changed since this was last asked, each as it is now."""
        labels = tuple(self._labels[label] for label in self._changed)
        self._changed.clear()
        self._made = 0
        return labels

    def refusals(self) -> tuple[str, ...]:
        """What :meth:`propose` left out since this was last asked, in plain words."""
        refused = tuple(self._refused)
        self._refused.clear()
        return refused

    def restore(self, labels: Iterable[Label]) -> None:
        """Replace everything by labels that were written down; those of other kinds are passed over.

        An alias whose label is missing stands for itself; where aliases point in a circle, one of them (pinned before
        unpinned, then the first) does. Such repairs are among :meth:`changed`.

        Raises:
            InvalidInputError: where a label belongs to another user.
        """
        mine: dict[str, Label] = {}
        for label in labels:
            if label.user != self.user:
                raise InvalidInputError(
                    f"label {label.id!r} belongs to another user than {self.user!r}; give this user's"
                )
            if label.kind == self.kind:
                mine[label.id] = label
        self._labels = mine
        for store in (self._names, self._changed, self._uses, self._rows, self._compared):
            store.clear()
        self._since_merge = self._made = 0
        for label in list(mine.values()):
            if label.alias_of is not None and label.alias_of not in mine:
                self._labels[label.id] = label.changed(alias_of=None)
                self._changed[label.id] = None
        for start in mine:
            path: dict[str, None] = {}
            place: str | None = start
            while place is not None and place not in path:
                path[place] = None
                place = self._labels[place].alias_of
            if place is not None:
                circle = list(path)[list(path).index(place) :]
                root = next((label for label in circle if self._labels[label].pinned), circle[0])
                self._labels[root] = self._labels[root].changed(alias_of=None)
                self._changed[root] = None
        # A label in use has its name before an alias that once had the same.
        for label in sorted(self._labels.values(), key=lambda one: one.alias_of is not None):
            self._names.setdefault(fold_name(label.name), label.id)
        self._refresh()

    def _put(self, label: Label) -> None:
        known = label.id in self._labels
        self._labels[label.id] = label
        self._names.setdefault(self._key(label.name)[0], label.id)
        self._changed[label.id] = None
        if known or label.alias_of is not None:
            self._refresh()
            return
        self._target[label.id] = label.id
        self._live[label.id] = None
        above = self._target.get(label.parent_id or "")
        if above is not None:
            self._below[above] = (*self._below.get(above, ()), label)
        self._matrix = None
        self.revision += 1

    def _refresh(self) -> None:
        self._target = {}
        for label in self._labels:
            end = label
            while (after := self._labels[end].alias_of) is not None:
                end = after
            self._target[label] = end
        self._live = {label: None for label in self._labels if self._target[label] == label}
        below: dict[str, list[Label]] = {}
        for label in self._live:
            above = self._target.get(self._labels[label].parent_id or "")
            if above is not None:
                below.setdefault(above, []).append(self._labels[label])
        self._below = {above: tuple(group) for above, group in below.items()}
        self._matrix = None
        self.revision += 1

    def is_prepared(self, name: str) -> bool:
        """Whether the embedding of a name is at hand."""
        return name in self._rows

    def prepare(self, names: Iterable[str]) -> None:
        """Embed names that will be asked for, in one call."""
        new = [name for name in dict.fromkeys(names) if name not in self._rows]
        if new:
            if len(self._rows) > 4 * self.settings.max_records:
                self._rows.clear()
            self._rows.update(zip(new, np.asarray(self._embed(new), dtype=np.float32), strict=True))

    def _vectors(self, names: Sequence[str]) -> Vectors:
        self.prepare(names)
        if any(name not in self._rows for name in names):  # there were too many, and all were let go
            self.prepare(names)
        return np.concatenate([self._rows[name] for name in names]).reshape(len(names), -1)

    def vector(self, name: str) -> Vectors:
        """The embedding of a name, ``(d,)``; kept for the next time."""
        self.prepare((name,))
        return self._rows[name]
