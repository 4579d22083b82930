"""The script of one scope: episodes of exchanges of turns in order, and the facts that they state."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hexamem.evals.synthetic.family import Family, Topic, Values

__all__ = ["Beat", "Episode", "Exchange", "Fact", "Option", "Scope", "Script", "make_script", "two_speakers"]

FactKind = Literal["value", "choice", "detail", "notes"]


@dataclass(frozen=True, slots=True)
class Scope:
    """One goal. ``slots`` are its names: group, variant, leaf, n, nth, handle."""

    index: int
    partition: tuple[str, str]
    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Option:
    """One of the options of a choice: its name and the value of each attribute, in the topic's order."""

    name: str
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """Something a scope holds that can be asked about; ``turns`` maps roles to the turns that state it.

    Kinds: ``value`` (turns ``set``, ``revise0``, …; ``values`` in order), ``choice`` (``propose``, ``decide``,
    ``switch``; ``options``, ``chosen`` in order), ``detail`` (``propose``, ``ask``, ``answer``; ``values`` = word and
    answer), ``notes`` (``note0``, …; ``values``). ``by_name``: the roles whose turns name the option meant, instead of
    pointing at it.
    """

    kind: FactKind
    scope: int
    topic: Topic
    turns: Mapping[str, int]
    values: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    chosen: tuple[int, ...] = ()
    by_name: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Beat:
    """One turn of a script.

    Attributes:
        stage: its act (``ask``, ``propose``, ``decide``, …); picks the sentences.
        leads: it opens its exchange, and is not a reply.
        antecedent: key of the beat that it points at, where it points instead of naming.
    """

    key: str
    stage: str
    topic: Topic | None
    speaker: str
    leads: bool = True
    slots: dict[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    antecedent: str | None = None


Exchange = list[Beat]
Episode = list[Exchange]


@dataclass(slots=True)
class Script:
    """Episodes in order; and the facts, each with the key of the beat of every role."""

    scope: Scope
    episodes: list[Episode]
    facts: list[tuple[Fact, dict[str, str]]]


def two_speakers(family: Family, rng: random.Random) -> tuple[str, str]:
    """Who leads and who replies: a user and an assistant have fixed parts, others take turns."""
    if set(family.speakers) == {"user", "assistant"}:
        return "user", "assistant"
    first, second = rng.sample(family.speakers, 2)
    return first, second


def make_script(family: Family, scope: Scope, rng: random.Random) -> Script:
    """The script of one scope."""
    writer = _Writer(family, scope, rng)
    of_kind = {kind: [t for t in family.topics if t.kind == kind] for kind in ("choice", "value", "notes")}
    tracks = [writer.choice(topic) for topic in rng.sample(of_kind["choice"], rng.choice((1, 2)))]
    tracks += [writer.value(topic) for topic in rng.sample(of_kind["value"], rng.choice((1, 2)))]
    tracks += [writer.notes(topic) for topic in rng.sample(of_kind["notes"], 1)]
    first, second = two_speakers(family, rng)
    opening = Beat("open", "open", None, first, types=(family.handle_type,))
    episodes: list[Episode] = [[[opening, Beat("opened", "opened", None, second, leads=False, antecedent="open")]]]
    while tracks:
        episodes.append(rng.choice(tracks).pop(0))
        tracks = [track for track in tracks if track]
    return Script(scope, episodes, writer.facts)


class _Writer:
    """Writes the episodes of topics, and collects their facts."""

    def __init__(self, family: Family, scope: Scope, rng: random.Random) -> None:
        self.family, self.scope, self.rng = family, scope, rng
        self.facts: list[tuple[Fact, dict[str, str]]] = []

    def _fact(self, kind: FactKind, topic: Topic, keys: dict[str, str], **more: Any) -> None:
        self.facts.append((Fact(kind, self.scope.index, topic, {}, **more), keys))

    @staticmethod
    def _exchange(
        topic: Topic,
        stage: str,
        reply: str,
        speakers: tuple[str, str],
        slots: dict[str, str],
        types: tuple[str, ...],
        antecedent: str | None,
    ) -> Exchange:
        """A turn and the reply that points at it; a confirmation has no slots and types of its own."""
        key = f"{topic.name}.{stage}"
        confirms = reply in ("confirm", "switched")
        same: tuple[dict[str, str], tuple[str, ...]] = ({}, ()) if confirms else (slots, types)
        return [
            Beat(key, stage, topic, speakers[0], True, slots, types, (), antecedent),
            Beat(f"{topic.name}.{reply}", "confirm" if confirms else reply, topic, speakers[1], False, *same, (), key),
        ]

    def choice(self, topic: Topic) -> list[Episode]:
        """Options are proposed, perhaps asked about and compared, one is taken, perhaps another later."""
        family, rng = self.family, self.rng
        speakers = asks, answers = two_speakers(family, rng)
        propose = f"{topic.name}.propose"
        grids = [attribute.all() for attribute in topic.attributes]
        options = tuple(
            Option(name, tuple(rng.choice(grid) for grid in grids))
            for name in rng.sample(topic.names, rng.choice((2, 3, 3)))
        )
        types = (topic.type, *(attribute.type for attribute in topic.attributes))
        ask = Beat(f"{topic.name}.ask", "ask", topic, asks, types=(topic.type,))
        episode: Episode = [[ask, Beat(propose, "propose", topic, answers, False, types=types, options=options)]]
        focus: tuple[int, str] | None = None
        if rng.random() < 0.5:
            exchange, about = self._detail(topic, options, speakers)
            episode.append(exchange)
            focus = (about, f"{topic.name}.detail")
        if rng.random() < 0.35:
            exchange, best = self._comparison(topic, options, speakers)
            episode.append(exchange)
            focus = (best, f"{topic.name}.recommend")
        chosen = focus[0] if focus and rng.random() < 0.6 else rng.randrange(len(options))
        antecedent: str | None
        if focus and chosen == focus[0] and rng.random() < 0.6:
            ref, antecedent = "that", focus[1]
        elif rng.random() < 0.6:
            ref, antecedent = family.ordinals[chosen], propose
        else:
            ref, antecedent = options[chosen].name, None
        keys = {"propose": propose}
        by_name: set[str] = set()
        taken: list[int] = []

        def decided(stage: str, reply: str, number: int, ref: str, antecedent: str | None) -> Exchange:
            keys[stage] = f"{topic.name}.{stage}"
            taken.append(number)
            by_name.update([stage] if antecedent is None else [])
            led = (answers, asks) if stage in family.led_by_second else (asks, answers)
            return self._exchange(topic, stage, reply, led, {"ref": ref}, (topic.type,), antecedent)

        episode.append(decided("decide", "confirm", chosen, ref, antecedent))
        episodes = [episode]
        if rng.random() < 0.4:
            new = rng.choice([number for number in range(len(options)) if number != chosen])
            named = rng.random() < 0.5
            ref, antecedent = (options[new].name, None) if named else (family.ordinals[new], propose)
            episodes.append([decided("switch", "switched", new, ref, antecedent)])
        self._fact("choice", topic, keys, options=options, chosen=tuple(taken), by_name=frozenset(by_name))
        return episodes

    def _detail(self, topic: Topic, options: tuple[Option, ...], speakers: tuple[str, str]) -> tuple[Exchange, int]:
        """A question about a detail of an option; the option's number."""
        about = self.rng.randrange(len(options))
        detail = self.rng.choice(topic.details)
        answer = self.rng.choice(detail.answers)
        named = self.rng.random() < 0.45
        name = options[about].name
        ref = name if named else self.family.ordinals[about]
        slots = {"detail": detail.word, "answer": answer, "name": name, "ref": ref}
        keys = {"propose": f"{topic.name}.propose", "ask": f"{topic.name}.detail_ask", "answer": f"{topic.name}.detail"}
        by_name = frozenset({"ask"} if named else ())
        self._fact("detail", topic, keys, values=(detail.word, answer), options=(options[about],), by_name=by_name)
        antecedent = None if named else keys["propose"]
        return self._exchange(topic, "detail_ask", "detail", speakers, slots, (detail.type,), antecedent), about

    def _comparison(self, topic: Topic, options: tuple[Option, ...], speakers: tuple[str, str]) -> tuple[Exchange, int]:
        """A comparison of two options by an attribute; the number of the better one."""
        first, second = self.rng.sample(range(len(options)), 2)
        best = self.rng.choice((first, second))
        number = self.rng.randrange(len(topic.attributes))
        slots = {
            "one": self.family.ordinals[min(first, second)],
            "other": self.family.ordinals[max(first, second)],
            "attribute": topic.attributes[number].word,
            "name": options[best].name,
            "value": options[best].attributes[number],
        }
        types = (topic.type, topic.attributes[number].type)
        return self._exchange(topic, "compare", "recommend", speakers, slots, types, f"{topic.name}.propose"), best

    def value(self, topic: Topic) -> list[Episode]:
        """A quantity is set and revised."""
        grid = topic.values or Values("", topic.type)
        values = self.rng.sample(grid.all(), 1 + self.rng.choice((0, 1, 1, 1, 2)))
        keys: dict[str, str] = {}
        before: str | None = None
        episodes: list[Episode] = []
        for number, value in enumerate(values):
            role = f"revise{number - 1}" if number else "set"
            keys[role] = f"{topic.name}.{role}"
            slots = {"value": value, "old": values[number - 1] if number else ""}
            episodes.append(self._stated(topic, keys[role], "revise" if number else "set", "ack", slots, before, 0.55))
            before = keys[role]
        self._fact("value", topic, keys, values=tuple(values))
        return episodes

    def notes(self, topic: Topic) -> list[Episode]:
        """Items gather over time."""
        items = self.rng.sample(topic.names, self.rng.choice((2, 3, 3)))
        keys = {f"note{number}": f"{topic.name}.note{number}" for number in range(len(items))}
        self._fact("notes", topic, keys, values=tuple(items))
        return [
            self._stated(topic, key, "note", "noted", {"item": item}, None, 0.35)
            for key, item in zip(keys.values(), items, strict=True)
        ]

    def _stated(
        self,
        topic: Topic,
        key: str,
        stage: str,
        reply: str,
        slots: dict[str, str],
        antecedent: str | None,
        replied: float,
    ) -> Episode:
        """A turn that states something, and in so many cases a reply."""
        first, second = two_speakers(self.family, self.rng)
        beats = [Beat(key, stage, topic, first, True, slots, (topic.type,), (), antecedent)]
        if self.rng.random() < replied:
            beats.append(Beat(f"{key}.ack", reply, topic, second, False, slots, (), (), key))
        return [beats]
