"""Questions about a plan, of CAME-Bench's four types, each with the turns that answer it.

Type 1: what holds after a revision. Type 2: one stated fact. Type 3: several turns must be put together. Type 4: a
list over a scope, or over all scopes of a group.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hexamem.evals.synthetic.plan import Plan
from hexamem.evals.synthetic.script import Fact

__all__ = ["QUESTION_TYPES", "PlannedQuestion", "plan_questions"]

QUESTION_TYPES = ("type 1", "type 2", "type 3", "type 4")
_PER_TYPE = 6  # in a trajectory of any size; fewer only where a small plan holds fewer


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """A question before it has words: ``form`` picks the sentences, ``evidence`` are indices of turns, ascending.

    With ``group`` it is about a whole group of scopes (a trip), not about ``scope`` alone.
    """

    type: str
    form: str
    scope: int
    answer: str
    evidence: tuple[int, ...]
    slots: Mapping[str, str] = field(default_factory=dict)
    group: bool = False


def plan_questions(plan: Plan, seed: int) -> tuple[PlannedQuestion, ...]:
    """Draw up to six questions of each type, spread over scopes as far as they go; the same seed draws the same ones."""
    rng = random.Random(f"questions/{plan.family.name}/{plan.family.language}/{plan.size}/{seed}")
    candidates = [question for fact in plan.facts for question in _about(fact, rng)]
    candidates += [*_about_groups(plan), *_about_scopes(plan)]
    asked: list[PlannedQuestion] = []
    for type_ in QUESTION_TYPES:
        pool = [question for question in candidates if question.type == type_]
        rng.shuffle(pool)
        # Each form in turn, else the commonest form would be nearly all of them.
        forms = sorted({question.form for question in pool})
        rng.shuffle(forms)
        taken: list[PlannedQuestion] = []
        while pool and len(taken) < _PER_TYPE:
            for form in forms:
                planned = next((question for question in pool if question.form == form), None)
                if planned and len(taken) < _PER_TYPE:
                    pool.remove(planned)
                    taken.append(planned)
        asked += taken
    return tuple(asked)


def _about(fact: Fact, rng: random.Random) -> list[PlannedQuestion]:
    def ask(type_: str, form: str, answer: str, *roles: str, **slots: str) -> PlannedQuestion:
        evidence = tuple(sorted({fact.turns[role] for role in roles}))
        return PlannedQuestion(type_, form, fact.scope, answer, evidence, {"word": fact.topic.word, **slots})

    if fact.kind == "value":
        roles = list(fact.turns)
        if len(roles) == 1:
            return [ask("type 2", "value", fact.values[0], "set")]
        return [
            ask("type 1", "value_now", fact.values[-1], roles[-1]),
            ask("type 3", "value_history", " → ".join(fact.values), *roles),
        ]
    if fact.kind == "notes":
        return [ask("type 4", "notes", "; ".join(fact.values), *fact.turns)]
    if fact.kind == "detail":
        word, answer = fact.values
        name = fact.options[0].name
        named = "ask" in fact.by_name
        roles = ["ask", "answer"] if named else ["propose", "ask", "answer"]
        return [ask("type 2" if named else "type 3", "detail", answer, *roles, detail=word, name=name)]
    which = rng.randrange(len(fact.topic.attributes))
    attribute = fact.topic.attributes[which].word
    planned = [
        ask("type 2", "attribute", option.attributes[which], "propose", name=option.name, attribute=attribute)
        for option in fact.options
    ]
    final = fact.options[fact.chosen[-1]]
    last = "switch" if "switch" in fact.turns else "decide"
    planned.append(ask("type 3", "chosen_attribute", final.attributes[which], "propose", last, attribute=attribute))
    if last == "switch":
        roles = [last] if last in fact.by_name else ["propose", last]
        planned.append(ask("type 1", "choice_now", final.name, *roles))
    return planned


def _settled(facts: Sequence[Fact]) -> tuple[str, tuple[int, ...]]:
    """The chosen options of choices, and the turns that state them."""
    turns: set[int] = set()
    for fact in facts:
        last = "switch" if "switch" in fact.turns else "decide"
        turns |= {fact.turns[last]} | (set() if last in fact.by_name else {fact.turns["propose"]})
    return "; ".join(fact.options[fact.chosen[-1]].name for fact in facts), tuple(sorted(turns))


def _about_scopes(plan: Plan) -> Iterator[PlannedQuestion]:
    for scope in plan.scopes:
        choices = [fact for fact in plan.facts if fact.kind == "choice" and fact.scope == scope.index]
        if len(choices) > 1:
            yield PlannedQuestion("type 4", "settled", scope.index, *_settled(choices))


def _about_groups(plan: Plan) -> Iterator[PlannedQuestion]:
    for group in dict.fromkeys(scope.partition[0] for scope in plan.scopes):
        members = [scope.index for scope in plan.scopes if scope.partition[0] == group]
        if len(members) != 2:  # short plans have no larger groups: evidence must be as many in every size
            continue
        for topic in plan.family.topics:
            choices = [f for f in plan.facts if f.scope in members and f.topic == topic and f.kind == "choice"]
            if len(choices) > 1:
                slots = {"word": topic.word}
                yield PlannedQuestion("type 4", "group", members[0], *_settled(choices), slots, group=True)
