"""What happens in one scope, in order: episodes of exchanges of turns, and the facts that they state."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hexamem.evals.synthetic.family import Family, Topic, Values

__all__ = [
    "Beat",
    "DraftFact",
    "Episode",
    "Exchange",
    "Fact",
    "Option",
    "Scope",
    "Script",
    "make_script",
    "two_speakers",
]


@dataclass(frozen=True, slots=True)
class Scope:
    """One goal. ``slots`` are what it can be called by: group, variant, leaf, n, nth, handle."""

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
    """Something a scope holds that can be asked about; ``turns`` says which turns state it, by role.

    Kinds: ``value`` (turns ``set``, ``revise0``, …; ``values`` in order), ``choice`` (``propose``, ``decide``,
    ``switch``; ``options``, ``chosen`` in order), ``detail`` (``propose``, ``ask``, ``answer``; ``values`` = word and
    answer), ``notes`` (``note0``, …; ``values``). ``by_name``: the roles whose turns name the option meant, instead of
    pointing at it.
    """

    kind: Literal["value", "choice", "detail", "notes"]
    scope: int
    topic: Topic
    turns: Mapping[str, int]
    values: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    chosen: tuple[int, ...] = ()
    by_name: frozenset[str] = frozenset()


@dataclass(slots=True)
class Beat:
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
class DraftFact:
    fact: Fact
    keys: dict[str, str]


@dataclass(slots=True)
class Script:
    scope: Scope
    episodes: list[Episode]
    facts: list[DraftFact]


def make_script(family: Family, scope: Scope, rng: random.Random) -> Script:
    facts: list[DraftFact] = []
    tracks: list[list[Episode]] = []
    of_kind = {kind: [t for t in family.topics if t.kind == kind] for kind in ("choice", "value", "notes")}
    for topic in rng.sample(of_kind["choice"], rng.choice((1, 2))):
        tracks.append(_choice(family, scope, topic, facts, rng))
    for topic in rng.sample(of_kind["value"], rng.choice((1, 2))):
        tracks.append(_value(family, scope, topic, facts, rng))
    for topic in rng.sample(of_kind["notes"], 1):
        tracks.append(_notes(family, scope, topic, facts, rng))
    first, second = two_speakers(family, rng)
    opening = [
        [
            Beat("open", "open", None, first, types=(family.handle_type,)),
            Beat("opened", "opened", None, second, leads=False, antecedent="open"),
        ]
    ]
    episodes: list[Episode] = [opening]
    while tracks:
        track = rng.choice(tracks)
        episodes.append(track.pop(0))
        tracks = [track for track in tracks if track]
    return Script(scope, episodes, facts)


def two_speakers(family: Family, rng: random.Random) -> tuple[str, str]:
    # A user and an assistant keep their parts; others take turns.
    if set(family.speakers) == {"user", "assistant"}:
        return "user", "assistant"
    first, second = rng.sample(family.speakers, 2)
    return first, second


def _exchange(
    topic: Topic,
    stage: str,
    reply: str,
    speakers: tuple[str, str],
    slots: dict[str, str],
    types: tuple[str, ...],
    antecedent: str | None,
) -> Exchange:
    """A turn and the reply that points at it; a confirmation has no slots and types of its own, other replies the same."""
    key = f"{topic.name}.{stage}"
    confirms = reply in ("confirm", "switched")
    same: tuple[dict[str, str], tuple[str, ...]] = ({}, ()) if confirms else (slots, types)
    return [
        Beat(key, stage, topic, speakers[0], True, slots, types, (), antecedent),
        Beat(f"{topic.name}.{reply}", "confirm" if confirms else reply, topic, speakers[1], False, *same, (), key),
    ]


def _choice(family: Family, scope: Scope, topic: Topic, facts: list[DraftFact], rng: random.Random) -> list[Episode]:
    speakers = asks, answers = two_speakers(family, rng)
    propose = f"{topic.name}.propose"
    grids = [attribute.all() for attribute in topic.attributes]
    options = tuple(
        Option(name, tuple(rng.choice(grid) for grid in grids))
        for name in rng.sample(topic.names, rng.choice((2, 3, 3)))
    )
    types = (topic.type, *(attribute.type for attribute in topic.attributes))
    episode: Episode = [
        [
            Beat(f"{topic.name}.ask", "ask", topic, asks, types=(topic.type,)),
            Beat(propose, "propose", topic, answers, leads=False, types=types, options=options),
        ]
    ]
    focus: tuple[int, str] | None = None
    if rng.random() < 0.5:
        exchange, about = _detail(family, scope, topic, options, speakers, facts, rng)
        episode.append(exchange)
        focus = (about, f"{topic.name}.detail")
    if rng.random() < 0.35:
        exchange, best = _comparison(family, topic, options, speakers, rng)
        episode.append(exchange)
        focus = (best, f"{topic.name}.recommend")
    chosen = focus[0] if focus and rng.random() < 0.6 else rng.randrange(len(options))
    if focus and chosen == focus[0] and rng.random() < 0.6:
        ref, antecedent, named = "that", focus[1], False
    elif rng.random() < 0.6:
        ref, antecedent, named = family.ordinals[chosen], propose, False
    else:
        ref, antecedent, named = options[chosen].name, None, True

    def led(stage: str) -> tuple[str, str]:
        return (answers, asks) if stage in family.led_by_second else (asks, answers)

    episode.append(_exchange(topic, "decide", "confirm", led("decide"), {"ref": ref}, (topic.type,), antecedent))
    keys = {"propose": propose, "decide": f"{topic.name}.decide"}
    by_name = {"decide"} if named else set()
    taken, episodes = [chosen], [episode]
    if rng.random() < 0.4:
        new = rng.choice([number for number in range(len(options)) if number != chosen])
        named = rng.random() < 0.5
        slots = {"ref": options[new].name if named else family.ordinals[new]}
        antecedent = None if named else propose
        episodes.append([_exchange(topic, "switch", "switched", led("switch"), slots, (topic.type,), antecedent)])
        keys["switch"] = f"{topic.name}.switch"
        by_name |= {"switch"} if named else set()
        taken.append(new)
    fact = Fact("choice", scope.index, topic, {}, (), options, tuple(taken), frozenset(by_name))
    facts.append(DraftFact(fact, keys))
    return episodes


def _detail(
    family: Family,
    scope: Scope,
    topic: Topic,
    options: tuple[Option, ...],
    speakers: tuple[str, str],
    facts: list[DraftFact],
    rng: random.Random,
) -> tuple[Exchange, int]:
    """A question about a detail of an option; the option's number."""
    about = rng.randrange(len(options))
    detail = rng.choice(topic.details)
    answer = rng.choice(detail.answers)
    named = rng.random() < 0.45
    slots = {"detail": detail.word, "answer": answer, "name": options[about].name}
    slots["ref"] = slots["name"] if named else family.ordinals[about]
    keys = {"propose": f"{topic.name}.propose", "ask": f"{topic.name}.detail_ask", "answer": f"{topic.name}.detail"}
    by_name = frozenset({"ask"} if named else ())
    fact = Fact("detail", scope.index, topic, {}, (detail.word, answer), (options[about],), by_name=by_name)
    facts.append(DraftFact(fact, keys))
    antecedent = None if named else keys["propose"]
    return _exchange(topic, "detail_ask", "detail", speakers, slots, (detail.type,), antecedent), about


def _comparison(
    family: Family, topic: Topic, options: tuple[Option, ...], speakers: tuple[str, str], rng: random.Random
) -> tuple[Exchange, int]:
    """A comparison of two options by an attribute; the number of the better one."""
    first, second = rng.sample(range(len(options)), 2)
    best = rng.choice((first, second))
    number = rng.randrange(len(topic.attributes))
    slots = {
        "one": family.ordinals[min(first, second)],
        "other": family.ordinals[max(first, second)],
        "attribute": topic.attributes[number].word,
        "name": options[best].name,
        "value": options[best].attributes[number],
    }
    types = (topic.type, topic.attributes[number].type)
    return _exchange(topic, "compare", "recommend", speakers, slots, types, f"{topic.name}.propose"), best


def _value(family: Family, scope: Scope, topic: Topic, facts: list[DraftFact], rng: random.Random) -> list[Episode]:
    key = topic.name
    grid = topic.values or Values("", topic.type)
    values = rng.sample(grid.all(), 1 + rng.choice((0, 1, 1, 1, 2)))
    episodes: list[Episode] = []
    keys: dict[str, str] = {}
    for number, value in enumerate(values):
        stage = "set" if number == 0 else "revise"
        role = "set" if number == 0 else f"revise{number - 1}"
        first, second = two_speakers(family, rng)
        keys[role] = f"{key}.{role}"
        slots = {"value": value, "old": values[number - 1] if number else ""}
        beats = [Beat(keys[role], stage, topic, first, True, slots, (topic.type,))]
        if number:
            beats[0].antecedent = keys["set" if number == 1 else f"revise{number - 2}"]
        if rng.random() < 0.55:
            beats.append(Beat(f"{key}.{role}.ack", "ack", topic, second, False, slots, (), (), keys[role]))
        episodes.append([beats])
    facts.append(DraftFact(Fact("value", scope.index, topic, {}, tuple(values)), keys))
    return episodes


def _notes(family: Family, scope: Scope, topic: Topic, facts: list[DraftFact], rng: random.Random) -> list[Episode]:
    items = rng.sample(topic.names, rng.choice((2, 3, 3)))
    keys: dict[str, str] = {}
    episodes: list[Episode] = []
    for number, item in enumerate(items):
        first, second = two_speakers(family, rng)
        keys[f"note{number}"] = key = f"{topic.name}.note{number}"
        beats = [Beat(key, "note", topic, first, True, {"item": item}, (topic.type,))]
        if rng.random() < 0.35:
            beats.append(Beat(f"{key}.ack", "noted", topic, second, False, {"item": item}, (), (), key))
        episodes.append([beats])
    facts.append(DraftFact(Fact("notes", scope.index, topic, {}, tuple(items)), keys))
    return episodes
