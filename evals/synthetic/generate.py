"""From a family, a size and a seed to a :class:`~..records.Conversation` with gold labels and questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from hexamem.errors import InvalidInputError
from hexamem.evals.records import Conversation, EvalMessage, Question
from hexamem.evals.synthetic.family import FAMILIES, LANGUAGES, FamilyName, Split, family
from hexamem.evals.synthetic.plan import Size, make_plan
from hexamem.evals.synthetic.questions import plan_questions
from hexamem.evals.synthetic.render import Renderer

__all__ = ["SIZES", "make_conversation", "make_conversations"]

SIZES: tuple[Size, ...] = get_args(Size)
_ROLES = ("user", "assistant")


def make_conversation(
    name: FamilyName, size: Size = "S", *, seed: int = 0, split: Split = "test", language: str = "en"
) -> Conversation:
    """One trajectory; the same arguments make the same one, byte for byte, on every machine.

    Args:
        name: travel (trips and their days, a user and an assistant), project (a team, projects and their
            workstreams) or debate (two sides, motions and their contentions).
        size: S has 60 to 100 turns, M about 6 times, L about 17 times as many; the number of questions is the same.
        seed: any integer.
        split: which sentences; ``dev`` and ``test`` share none.
        language: ``en``, or ``zh`` (travel only).

    Returns:
        A conversation in one thread. ``gold`` has for each turn ``partition`` (outer to inner), ``action``,
        ``action_object``, ``entity_types``, ``antecedent`` (the id of the turn it points at, or None) and ``marker``
        (how it shows its scope). Questions are of the categories ``type 1`` to ``type 4``.

    Raises:
        InvalidInputError: family, size, split or language are unknown.
    """
    if size not in SIZES:
        raise InvalidInputError(f"size {size!r} is unknown; use {', '.join(SIZES)}")
    plan = make_plan(family(name, language), size, seed)
    renderer = Renderer(plan, split, seed)
    ids = [f"turn-{number}" for number in range(1, len(plan.turns) + 1)]
    label = f"{name}-{language}-{size}-{split}-{seed}"
    messages = tuple(
        EvalMessage(
            id=ids[turn.index],
            role=turn.beat.speaker if turn.beat.speaker in _ROLES else "user",
            name=None if turn.beat.speaker in _ROLES else turn.beat.speaker,
            content=renderer.turn(turn),
            timestamp=turn.time.isoformat(),
            thread_id=label,
        )
        for turn in plan.turns
    )
    questions = tuple(
        Question(
            id=f"{label}-q{number}",
            text=renderer.question(question),
            answer=question.answer,
            category=question.type,
            evidence=tuple(ids[index] for index in question.evidence),
            asked_at=plan.turns[-1].time.isoformat(),
            gold={"form": question.form, "partition": list(plan.scopes[question.scope].partition)},
        )
        for number, question in enumerate(plan_questions(plan, seed), start=1)
    )
    return Conversation(
        id=f"synthetic-{label}",
        messages=messages,
        questions=questions,
        dataset="synthetic",
        gold={
            ids[turn.index]: {
                "partition": list(plan.scopes[turn.scope].partition),
                "action": turn.action,
                "action_object": turn.object,
                "entity_types": list(dict.fromkeys(turn.beat.types)),
                "antecedent": None if turn.antecedent is None else ids[turn.antecedent],
                "marker": turn.marker,
            }
            for turn in plan.turns
        },
        metadata={"family": name, "size": size, "seed": seed, "split": split, "language": language},
    )


def make_conversations(
    families: Sequence[FamilyName] = FAMILIES,
    size: Size = "S",
    *,
    seed: int = 0,
    count: int = 1,
    split: Split = "test",
) -> list[Conversation]:
    """``count`` trajectories of each family, with the seeds ``seed``, ``seed + 1``, …; travel in English and Chinese.

    Raises:
        InvalidInputError: as :func:`make_conversation`; ``count`` is below 1, or a family is named twice or not at
            all.
    """
    if count < 1:
        raise InvalidInputError(f"count = {count}: must be at least 1")
    if not families or len(set(families)) != len(families):
        raise InvalidInputError(f"families {list(families)}: give at least one, each once")
    return [
        make_conversation(name, size, seed=seed + number, split=split, language=language)
        for name in families
        for language in LANGUAGES.get(name, ("en",))
        for number in range(count)
    ]
