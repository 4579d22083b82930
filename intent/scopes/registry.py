"""The scopes of one user: their labels, tree, names, and the ways in which they are found again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from ... import lazy_re as re
from ...memory_types.labels import Label
from .identity import Identities
from .named import WORK_WORDS, name_tokens
from .numbers import Number, month_of, parse_goal_name
from .profiles import Profiles
from .text import STOP

__all__ = [
    "DASH",
    "PLAN_NAMES",
    "Language",
    "Registry",
    "Scope",
    "ScopeKind",
    "reads_as_topic",
    "scope_kind",
    "topic_tokens",
]

ScopeKind = Literal["goal", "trip", "project", "debate", "plan", "work", "ticket", "topic"]
ROOTS = frozenset(("trip", "project", "debate", "plan"))
SEPARATOR = " / "
DASH = " – "
"""Stands in the names of scopes that a text introduced, before what they are known by."""
Language = Literal["en", "zh"]
PLAN_NAMES: dict[ScopeKind, dict[Language, str]] = {
    "trip": {"en": "Trip", "zh": "旅行"},
    "project": {"en": "Project", "zh": "项目"},
    "debate": {"en": "Debate", "zh": "辩论"},
    "plan": {"en": "Plan", "zh": "计划"},
}
"""How scopes are called that have no name but their kind's."""
_PLAN_KINDS = {name: kind for kind, names in PLAN_NAMES.items() for name in names.values()}
_TRIP_NAME = re.compile(r"(?P<place>.+) trip(?: (?:with|for) .+)?$")
Key = tuple[str, Number]


@dataclass(slots=True, eq=False)
class Scope:
    """A thematic scope as the tracker knows it.

    Attributes:
        own: its name under its parent.
        key: kind and number of an enumerated goal.
        children: enumerated goals below it.
        tokens: words of its name by which it is called.
        auto: the name was made up from what was said, or stands for one not yet known, and may be bettered.
        length: how many days a trip has, 0 while unknown.
        day_one: day of the year (of 365) of day 1; ``weekday_one`` its weekday, Monday 0; -1 while unknown.
        last_leaf: where work under it was left.
        company: of a trip, folded words for who goes along or what it is for.
        introduced: opened by a text that brought names of its own.
        dated: of a trip, its days are told by weekday and date; ``numbered`` counts days that were set by number.
        dom_one: day of the month of day 1 where its month is not known; 0 while unknown.
        weekday_real: the weekday of day 1 by the calendar of the year in which it was said, -1 while unknown.
        weekday_votes: how often what was said on its days speaks for each weekday of day 1.
        hints: what was said of its days before their turn, by the key of the day: words and how often.
        own_words: of a trip, words that were said of it alone where several trips were told at once.
        told: of a trip, it was told of and not planned; its days are no goals.
    """

    id: str
    index: int
    own: str
    kind: ScopeKind
    parent: Scope | None = None
    key: Key | None = None
    children: dict[Key, Scope] = field(default_factory=dict)
    tokens: tuple[str, ...] = ()
    auto: bool = False
    length: int = 0
    day_one: int = -1
    weekday_one: int = -1
    last_leaf: Scope | None = None
    steps: int = 0
    company: set[str] = field(default_factory=set)
    introduced: bool = False
    dated: bool = False
    numbered: int = 0
    dom_one: int = 0
    weekday_real: int = -1
    weekday_votes: dict[int, int] = field(default_factory=dict)
    hints: dict[Key, dict[str, int]] = field(default_factory=dict)
    own_words: set[str] = field(default_factory=set)
    told: bool = False

    @property
    def month(self) -> int:
        """The month of a trip's first day; 0 while unknown."""
        return month_of(self.day_one) if self.day_one > 0 else 0

    @property
    def root(self) -> Scope:
        """The topmost scope above it, or itself."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def within(self, other: Scope) -> bool:
        """Whether it is ``other`` or lies below it."""
        scope: Scope | None = self
        while scope is not None:
            if scope is other:
                return True
            scope = scope.parent
        return False


class Registry:
    """Keeps scopes and their labels; what changed since the last look is handed out by :meth:`changes`.

    Args:
        user: whose labels these are.
        recent: steps of a scope that make its profile.
    """

    def __init__(self, user: str, recent: int) -> None:
        self.user = user
        self.profiles = Profiles(recent)
        self.identities = Identities()
        self.labels: dict[str, Label] = {}
        self.scopes: dict[str, Scope] = {}
        self.by_index: list[Scope] = []
        self.by_token: dict[str, list[Scope]] = {}
        self.roots: list[Scope] = []
        self.towns: set[str] = set()
        self.cjk_names: list[tuple[str, Scope]] = []
        self.new_year = -1  # weekday of the first day of the year that is planned, as told; -1 while unknown
        self.assisted = False  # an assistant has answered the user, in this thread or another
        self.clocked = True  # steps come at times of their own, which tell the year
        self._names: set[str] = set()
        self._counters: dict[str, int] = {}
        self._changed: dict[str, Label] = {}

    def __iter__(self) -> Iterator[Scope]:
        return iter(self.by_index)

    def canonical(self, label_id: str) -> str:
        """The id of the label that counts for ``label_id``, through its aliases."""
        seen = set()
        while (label := self.labels.get(label_id)) is not None and label.alias_of and label_id not in seen:
            seen.add(label_id)
            label_id = label.alias_of
        return label_id

    def changes(self) -> tuple[Label, ...]:
        """Labels made or changed since the last call, each as it is now."""
        changed = tuple(self._changed.values())
        self._changed.clear()
        return changed

    def _free_name(self, wanted: str) -> str:
        if wanted not in self._names:
            return wanted
        number = self._counters.get(wanted, 1)
        while (name := f"{wanted} ({number + 1})") in self._names:
            number += 1
        self._counters[wanted] = number
        return name

    def _full_name(self, own: str, parent: Scope | None) -> str:
        return own if parent is None else f"{self.labels[parent.id].name}{SEPARATOR}{own}"

    def open(
        self,
        kind: ScopeKind,
        own: str,
        *,
        parent: Scope | None = None,
        key: Key | None = None,
        tokens: tuple[str, ...] = (),
        auto: bool = False,
    ) -> Scope:
        """Make a new scope and its label."""
        name = self._free_name(self._full_name(own, parent))
        label = Label(user=self.user, kind="scope", name=name, parent_id=parent.id if parent else None)
        self._changed[label.id] = label
        return self._keep(label, kind, own, parent, key, tokens, auto)

    def _keep(
        self,
        label: Label,
        kind: ScopeKind,
        own: str,
        parent: Scope | None,
        key: Key | None,
        tokens: tuple[str, ...],
        auto: bool,
    ) -> Scope:
        self.labels[label.id] = label
        self._names.add(label.name)
        scope = Scope(label.id, self.profiles.open(), own, kind, parent, key, tokens=tokens, auto=auto)
        self.scopes[label.id] = scope
        self.by_index.append(scope)
        if kind in ROOTS:
            self.roots.append(scope)
        if parent is not None and key is not None:
            parent.children.setdefault(key, scope)
        self._call(scope, tokens)
        return scope

    def _call(self, scope: Scope, tokens: Iterable[str]) -> None:
        for token in tokens:
            if token and token[0] >= "\u2e80":
                self.cjk_names.append((token, scope))
            elif len(token) > 2:
                if scope.kind == "trip":
                    self.towns.add(token)
                self.by_token.setdefault(token, []).append(scope)

    def set_label(self, label: Label) -> None:
        """Put a label in the place of the one with its id, and say so with the next changes."""
        old = self.labels.get(label.id)
        if old is not None:
            self._names.discard(old.name)
        self._names.add(label.name)
        self.labels[label.id] = label
        self._changed[label.id] = label

    def rename(self, scope: Scope, own: str, *, tokens: tuple[str, ...] | None = None, auto: bool = False) -> None:
        """Give a scope another name, unless a person pinned it; the names below follow."""
        label = self.labels[scope.id]
        if tokens is not None:
            scope.tokens = tokens
            self._call(scope, tokens)
        scope.auto = auto
        if label.pinned or own == scope.own:
            return
        before = label.name
        self._names.discard(before)
        self.set_label(label.model_copy(update={"name": self._free_name(self._full_name(own, scope.parent))}))
        scope.own = own
        after = self.labels[scope.id].name
        for other in self.by_index:
            below = self.labels[other.id]
            if (
                other is not scope
                and other.within(scope)
                and below.name.startswith(before + SEPARATOR)
                and not below.pinned
            ):
                self._names.discard(below.name)
                name = self._free_name(after + below.name[len(before) :])
                self.set_label(below.model_copy(update={"name": name}))

    def absorb(self, source: Scope, target: Scope) -> bool:
        """Make ``source`` another name of ``target``; False where a person pinned it."""
        label = self.labels[source.id]
        if label.pinned or source is target or target.within(source):
            return False
        self.set_label(label.model_copy(update={"alias_of": target.id}))
        self._fold(source, target)
        return True

    def _fold(self, source: Scope, target: Scope) -> None:
        self.profiles.merge(source.index, target.index)
        self.identities.merge(source.index, target.index)
        target.steps += source.steps
        self.scopes[source.id] = target
        self.by_index[source.index] = target
        if source.parent is not None and source.key is not None and source.parent.children.get(source.key) is source:
            source.parent.children[source.key] = target
        for key, child in source.children.items():
            child.parent = target
            target.children.setdefault(key, child)
        self._call(target, source.tokens)
        for scopes in self.by_token.values():
            scopes[:] = [scope for scope in scopes if scope is not source]
        if source in self.roots:
            self.roots.remove(source)
        self.cjk_names = [(name, scope) for name, scope in self.cjk_names if scope is not source]

    def forget(self, scope: Scope, instead: Scope) -> None:
        """Take back a goal that was opened by the step in hand and is not meant after all."""
        if scope.steps or scope.children or scope is instead:
            return
        label = self.labels.pop(scope.id)
        self._names.discard(label.name)
        self._changed.pop(scope.id, None)
        del self.scopes[scope.id]
        self.by_index[scope.index] = instead
        if scope.parent is not None and scope.key is not None and scope.parent.children.get(scope.key) is scope:
            del scope.parent.children[scope.key]

    def load(self, labels: Iterable[Label]) -> None:
        """Take in stored labels: new ones, and those a person or a model changed since."""
        waiting = {label.id: label for label in labels if label.kind == "scope"}
        opened: set[str] = set()
        for label in waiting.values():
            self._load(label, waiting, opened)
        for label in waiting.values():
            target = self.scopes.get(self.canonical(label.id))
            source = self.scopes.get(label.id)
            if label.alias_of and target is not None and source is not None and source is not target:
                self._fold(source, target)

    def _load(self, label: Label, waiting: dict[str, Label], opened: set[str]) -> None:
        if label.id in opened:
            return
        opened.add(label.id)
        if label.parent_id in waiting:
            self._load(waiting[label.parent_id], waiting, opened)
        parent = self.scopes.get(label.parent_id) if label.parent_id else None
        known = self.scopes.get(label.id)
        if known is not None:
            old = self.labels[label.id]
            self._names.discard(old.name)
            self._names.add(label.name)
            self.labels[label.id] = label
            if old.name != label.name:
                known.own, known.auto = label.name.rpartition(SEPARATOR)[2] or label.name, False
                self._call(known, name_tokens(known.own))
            if (
                known.id == label.id
                and parent is not known.parent
                and not (parent is not None and parent.within(known))
            ):
                known.parent = parent
            return
        own = label.name
        if parent is not None and label.name.startswith(self.labels[parent.id].name + SEPARATOR):
            own = label.name[len(self.labels[parent.id].name) + len(SEPARATOR) :]
        kind, key, tokens, auto = _read_name(own, parent)
        scope = self._keep(label, kind, own, parent, key, tokens, auto and not label.pinned)
        scope.introduced = DASH in own


def _read_name(own: str, parent: Scope | None) -> tuple[ScopeKind, Key | None, tuple[str, ...], bool]:
    """What a scope's own name tells of its kind."""
    base = own[: own.rindex(" (")] if own.endswith(")") and " (" in own else own
    if key := parse_goal_name(base):
        return "goal", key, (), False
    if base in ("Last day", "最后一天"):
        return "goal", ("day", -1), (), False
    if base in _PLAN_KINDS:
        return _PLAN_KINDS[base], None, (), True
    if DASH in base:
        return "work", None, (), False
    if trip := _TRIP_NAME.match(base):
        return "trip", None, name_tokens(trip["place"]), False
    if base.endswith("之行"):
        return "trip", None, (base.removesuffix("之行").rpartition("的")[2],), False
    first, _, rest = base.partition(" ")
    if first == "Debate:":
        return "debate", None, name_tokens(rest)[:6], False
    if first in ("Project", "Operation", "Programme", "Initiative", "Client", "Workstream", "Case", "Epic") and rest:
        return "project", None, name_tokens(rest), False
    if base.endswith(" project"):
        return "project", None, name_tokens(base), False
    if base.startswith("#") or (base.upper() == base and "-" in base and base[-1:].isdigit()):
        return "ticket", None, (base.lower(),), False
    if ", " not in base and base.rpartition(" ")[2] in WORK_WORDS:
        return "work", None, name_tokens(base)[:4], False
    auto = ", " in base or base.startswith("Talk") or base == "对话"  # made up from what was said, not from a name
    return "topic", None, () if auto else topic_tokens(base), auto


def topic_tokens(own: str) -> tuple[str, ...]:
    """The words of a topic's name by which it is called."""
    tokens = name_tokens(own)
    return tuple(token for token in tokens if token not in STOP)[:4] or tokens[:4]


def reads_as_topic(own: str) -> bool:
    """Whether a name is read back as that of a topic, rather than of a trip, a project or a ticket."""
    kind, _, _, auto = _read_name(own, None)
    return kind == "topic" and not auto and SEPARATOR not in own


def scope_kind(own: str) -> ScopeKind:
    """The kind of scope as which a name is read back."""
    return _read_name(own, None)[0]
