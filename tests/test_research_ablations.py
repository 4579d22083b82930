"""Ablations of research: every arm is asked and scored, on a small talk."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexamem import Memory, Settings
from hexamem.evals.records import Conversation, EvalMessage, Question
from hexamem.evals.research_ablations import PASSAGES, RESEARCH_ABLATIONS, ROUNDS, ablate

from .test_research import TALKS

MESSAGES = tuple(
    EvalMessage(id=f"{thread}:{number}", role="user", name=who, content=text, timestamp=at, thread_id=thread)
    for thread, turns in TALKS.items()
    for number, (who, at, text) in enumerate(turns)
)
TALK = Conversation(
    id="talk",
    messages=MESSAGES,
    questions=(
        Question(id="1", text="What are Nora's cats called?", answer="", category="1", evidence=("one:0", "three:0")),
        Question(id="2", text="Who broke his wrist?", answer="", category="4", evidence=("two:3",)),
    ),
)


def measured(tmp_path: Path, names: list[str], category: str | None) -> list[dict[str, object]]:
    arms = [RESEARCH_ABLATIONS[name] for name in names]
    settings = Settings(background=False, mode="off")
    return ablate(lambda: Memory.open(tmp_path / "home", settings=settings), [TALK], arms, category=category, k=3)


def test_each_arm_is_scored_on_the_evidence(tmp_path: Path) -> None:
    names = ["recall rrf", "research", "research by keyword", "read in 1 × 3", "read in 3 × 3"]
    rows = measured(tmp_path, names, None)
    assert [row["arm"] for row in rows] == names
    assert {row["questions"] for row in rows} == {2}
    shares = {row["arm"]: row["recall"] for row in rows}
    assert shares["research"] == 1.0
    assert shares["read in 3 × 3"] >= shares["read in 1 × 3"]  # type: ignore[operator]


def test_a_category_chooses_the_questions(tmp_path: Path) -> None:
    (row,) = measured(tmp_path, ["research"], "4")
    assert row["questions"] == 1
    assert row["recall"] == pytest.approx(1.0)


def test_arms_without_memos_are_asked_of_a_memory_that_makes_none(tmp_path: Path) -> None:
    arms = [RESEARCH_ABLATIONS[name] for name in ("research without memos", "research without pages")]

    def opened(pages: bool) -> Memory:
        return Memory.open(tmp_path / str(pages), settings=Settings(background=False, mode="off", pages=pages))

    rows = ablate(lambda: opened(True), [TALK], arms, k=3, without_memos=lambda: opened(False))
    assert [row["arm"] for row in rows] == [arm.name for arm in arms]
    assert [row["calls"] for row in rows] == [0, 0]
    assert [row["arm"] for row in ablate(lambda: opened(True), [TALK], arms, k=3)] == ["research without pages"]


def test_the_table_has_rounds_by_passages_and_lanes_alone_and_in_pairs() -> None:
    assert sum(arm.read for arm in RESEARCH_ABLATIONS.values()) == len(ROUNDS) * len(PASSAGES)
    assert len([name for name in RESEARCH_ABLATIONS if name.startswith("research by ")]) == 6 + 15
