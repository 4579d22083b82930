"""Which managers the rules tier calls, and how the write path is scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hexamem.agents.contract import Batch, HeardStep
from hexamem.agents.managers.rules.reading import RuleReader
from hexamem.agents.rule_managers import rule_managers
from hexamem.agents.rule_meta_manager import RuleMetaManager
from hexamem.errors import InvalidInputError
from hexamem.evals.write_path import load_cases, score
from hexamem.memory_types import MemoryItem, item_from
from hexamem.memory_types.step import Step


def batch(*texts: str) -> Batch:
    steps = tuple(
        HeardStep(
            step=Step(
                id=f"step_{number}", user="u", thread_id="t", turn=number, seq=number, role="user", content=text,
                index_text=text, occurred_at=datetime(2025, 3, 4, 9, tzinfo=UTC),
            ),
            resolved_text=text,
        )
        for number, text in enumerate(texts)
    )  # fmt: skip
    return Batch(user="u", steps=steps, zone=ZoneInfo("Europe/London"))


@pytest.mark.parametrize(
    "texts",
    [
        ("Morning!", "Can't complain, bit grey out there."),
        ("在吗在吗", "没事，就是无聊，哈哈哈"),
        ("Thanks, that's great!",),
    ],
)
def test_small_talk_gives_no_manager_anything_to_do(texts: tuple[str, ...]) -> None:
    assert list(RuleMetaManager().route(batch(*texts))) == []


def test_each_kind_gets_the_steps_that_concern_it() -> None:
    routed = RuleMetaManager().route(
        batch("Hello there!", "I live in Cork.", "My cousin Ben drives a bus for the city.")
    )
    assert [(one.kind, one.step_ids) for one in routed] == [("core", ("step_1",)), ("semantic", ("step_2",))]


def test_the_managers_propose_for_the_steps_they_are_sent_to_alone() -> None:
    reader = RuleReader()
    given = batch("I live in Cork.", "I'm allergic to nuts.")
    (instruction,) = RuleMetaManager(reader).route(given)
    only = type(instruction)(kind="core", step_ids=("step_1",))
    managers = rule_managers(reader)
    assert len(managers["core"].propose(given, instruction, {}).proposals) == 2
    assert [one.values["label"] for one in managers["core"].propose(given, only, {}).proposals] == ["allergy"]


class StoredItems:
    def __init__(self, items: Sequence[MemoryItem]) -> None:
        self.heard: list[Any] = []
        self._items = items

    def remember(self, messages: Any, /) -> None:
        self.heard.append(messages)

    def flush(self) -> None: ...

    def items(self, *, superseded: bool = False) -> Sequence[MemoryItem]:
        return self._items

    def reveal(self, record_id: str, *, reason: str) -> str:
        return "07700 900431"


CASE: dict[str, Any] = {
    "id": "c1", "language": "en", "timezone": "Europe/Dublin", "user": "ann", "turns": [{"role": "user", "content": "…"}] * 2,
    "should": [
        {"kind": "core", "values": ["Galway"], "valid_from": "2025-03-01", "status": "active", "turn": 0, "why": "home"},
        {"kind": "vault", "values": ["07700 900431"], "turn": 0, "why": "phone"},
        {"kind": "episodic", "values": ["six|6", "2025-03-05"], "turn": 0, "why": "date in her timezone"},
    ],
    "may": [{"kind": "semantic", "values": ["Declan"]}],
    "must_not": [{"values": ["Sintra"], "why": "a suggestion"}],
}  # fmt: skip


def scored(*items: dict[str, Any]) -> Any:
    @contextmanager
    def factory(user: str, timezone: str) -> Iterator[StoredItems]:
        yield StoredItems([item_from(item) for item in items])

    return score([CASE], factory)


def test_scoring_finds_values_status_and_validity() -> None:
    report = scored(
        {"kind": "core", "label": "home", "value": "galway", "valid_from": "2025-03-01T00:00:00Z"},
        {"kind": "vault", "caption": "phone", "secret_id": "s1"},
        {"kind": "episodic", "summary": "Dinner for 6", "occurred_at": "2025-03-05T19:00:00Z"},
    )
    assert (report.total.found, report.total.expected, report.total.right, report.total.stored) == (3, 3, 3, 3)


def test_scoring_counts_a_wrong_date_what_nobody_expects_and_what_is_forbidden() -> None:
    report = scored(
        {"kind": "core", "label": "home", "value": "Galway", "valid_from": "2025-03-02T00:00:00Z"},
        {"kind": "semantic", "name": "Declan", "summary": "Declan likes Sintra"},
        {"kind": "semantic", "name": "Declan", "summary": "Declan drives"},
    )
    assert [(wrong.kind, wrong.why.split(":")[0]) for wrong in report.wrong] == [
        ("core", "expected by nobody"),
        ("semantic", "must not be stored"),
    ]
    assert [miss.kind for miss in report.misses] == ["core", "vault", "episodic"]
    assert report.misses[0].near.startswith("active")


def test_a_file_that_holds_no_cases_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "cases.json"
    path.write_text('[{"id": "x"}]', encoding="utf-8")
    with pytest.raises(InvalidInputError, match="case 0"):
        load_cases(path)
