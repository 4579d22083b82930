"""Research as training data: each decision as state, action, observation, and a reward where gold evidence is known.

The paper names training the researcher end to end by reinforcement learning as the way on (GAM, arXiv 2511.18423, 3.3).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hexamem.memory_types.research import Research, Round

__all__ = ["rollout"]


def rollout(research: Research, gold: Collection[str] | None = None) -> list[dict[str, Any]]:
    """One JSON object a round.

    Args:
        gold: ids of the steps that hold the answer. With them ``reward`` is the share of gold that the round added to
            what was read, and the last round's ``return`` the share that all of them read; both None without.

    Returns:
        Objects with ``run``, ``question``, ``round``; ``state`` (needs, claims and answer before it, what was read);
        ``action`` (searches, who planned them); ``observation`` (what lanes found, what was read, new claims, answer,
        whether reflection was content, and what it missed); ``reward``, ``return``, ``done``.
    """
    wanted = set(gold) if gold is not None else None
    steps_of = {one.id: {source.step_id for source in one.sources} or {one.id} for one in research.passages}
    held: set[str] = set()
    read: list[str] = []
    claims: list[dict[str, Any]] = []
    answer = ""
    rows = []
    for number, one in enumerate(research.rounds, 1):
        before = len(held)
        state = {"needs": list(one.needs), "read": list(read), "claims": list(claims), "answer": answer}
        if wanted is not None:
            held |= wanted & set().union(*(steps_of.get(each, {each}) for each in one.read))
        last = number == len(research.rounds)
        rows.append(
            {
                "run": research.id,
                "question": research.question,
                "round": one.number,
                "state": state,
                "action": _action(one),
                "observation": _observation(one),
                "reward": None if not wanted else (len(held) - before) / len(wanted),
                "return": None if not wanted or not last else len(held) / len(wanted),
                "done": last,
            }
        )
        read += one.read
        claims += [{"text": each.text, "steps": list(each.step_ids)} for each in one.claims]
        answer = one.answer
    return rows


def _action(one: Round) -> dict[str, Any]:
    searches = [each.model_dump(mode="json", exclude_defaults=True) for each in one.plan.requests]
    return {"searches": searches, "tier": one.plan.tier}


def _observation(one: Round) -> dict[str, Any]:
    return {
        "lanes": [each.model_dump(mode="json", exclude={"began", "ended"}) for each in one.lanes],
        "read": list(one.read),
        "claims": [each.model_dump(mode="json") for each in one.claims],
        "dropped": one.dropped,
        "answer": one.answer,
        "enough": one.enough,
        "missing": list(one.missing),
    }
