"""A plan by rules: the question and its parts by meaning and by words, and the lanes that the question gives reason for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...memory_types.research import Lane, SearchRequest
from .question import Question

__all__ = ["MAIN_NEED", "plan_by_rules"]

MAIN_NEED = ""
"""The need of the question itself, in requests."""
_PARTS = 3
_TOLD = {
    "home_city": "home lives in 住在",
    "employer": "employer works at 工作",
    "job_title": "job works as 工作",
    "allergy to food": "allergy allergic 过敏",
    "avoids food": "avoids eat 不吃",
}
"""The words in which core items state a slot, where its name does not tell."""


def plan_by_rules(
    question: Question,
    needs: Sequence[str],
    *,
    first: bool,
    lanes: Collection[Lane],
    kinds: Collection[str] = (),
    most: int = 16,
) -> tuple[SearchRequest, ...]:
    """The searches of one round.

    Args:
        needs: what reflection found missing; nothing in the first round.
        first: whether this is the first round: then the question itself is searched.
        lanes: those that may be used. Where neither ``vector`` nor ``keyword`` may, the question goes to all others.
        kinds: kinds of items that the memory holds.
        most: searches at most; what is asked for last is left out.
    """
    found: list[SearchRequest] = []

    def ask(query: str, need: str) -> None:
        exact = "keyword" in lanes and len(query.split()) == 1 and query.isascii()  # it is found by itself
        ways: tuple[Lane, ...] = ("keyword",) if exact else ("vector", "keyword")
        found.extend(SearchRequest(lane=lane, query=query, need=need) for lane in ways if lane in lanes)

    if first:
        ask(question.bare, MAIN_NEED)
        if "time" in lanes and question.since is not None:
            found.append(
                SearchRequest(
                    lane="time", query=question.bare, need=MAIN_NEED, since=question.since, until=question.until
                )
            )
        if "kind" in lanes and kinds:
            found.append(SearchRequest(lane="kind", query=question.text, need=MAIN_NEED, kinds=tuple(kinds)))
        if question.slots:
            own = " ".join(_TOLD.get(one, one.replace("_", " ")) for one in question.slots)
            lane: Lane = "kind" if "kind" in lanes and "core" in kinds else "keyword"
            if lane in lanes:
                found.append(SearchRequest(lane=lane, query=own, need=own, kinds=("core",) if lane == "kind" else ()))
        for part in question.parts[:_PARTS]:
            ask(part, part)
        if not {"vector", "keyword"} & set(lanes):
            others: tuple[Lane, ...] = ("page", "intent")
            found += [SearchRequest(lane=one, query=question.text, need=MAIN_NEED) for one in others if one in lanes]
    for need in needs:
        ask(need, need)
        if not {"vector", "keyword"} & set(lanes) and "page" in lanes:
            found.append(SearchRequest(lane="page", query=need, need=need))
    return tuple(found[:most])
