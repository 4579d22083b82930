"""Types and managers of the host's own: a seventh memory type, managers that are functions, models, or that interrupt."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from pydantic import Field

from hexamem import (
    DEFAULT_TYPES,
    Hit,
    ManagerInput,
    Memory,
    MemoryItem,
    MemoryType,
    Settings,
    UnregisteredItem,
    memory_graph,
)
from hexamem.agents.managers.forms import FORMS, form_of
from hexamem.agents.managers.prompting import manager_prompt
from hexamem.cli import main
from hexamem.errors import ConfigError, InvalidInputError

from .scripted_server import Reply, ServerFactory, loopback_only, scripted_server  # noqa: F401


class DecisionItem(MemoryItem):
    """What a team decided."""

    searched_fields: ClassVar[tuple[str, ...]] = ("title", "reason")

    kind: Literal["decision"] = "decision"
    title: str = Field(description="What was decided, in a few words.")
    reason: str = Field(default="", description="The reason that was named.")
    votes: int = Field(default=0, description="How many were for it.")


DECISION = MemoryType(name="decision", item=DecisionItem)
TYPES = (*DEFAULT_TYPES, DECISION)
TOLD = "We decided on Postgres because three services write to it."


def test_an_item_of_a_further_type_is_added_recalled_edited_undone_and_superseded(tmp_path: Path) -> None:
    with Memory.open(tmp_path, types=TYPES) as memory:
        team = memory.user("team")
        item = team.add(DecisionItem(title="Postgres for the ledger", reason="Three services write to it.", votes=3))
        assert team.add({"kind": "decision", "title": "Berlin"}).title == "Berlin"  # type: ignore[attr-defined]
        [hit] = team.recall("Which database did we choose for the ledger?", kinds=["decision"], k=1).hits
        assert (hit.kind, hit.id) == ("decision", item.id)
        team.edit(item.id, {"votes": 4})
        assert [found.votes for found in team.items("decision") if found.id == item.id] == [4]  # type: ignore[attr-defined]
        team.undo(team.history(item.id)[-1].id)
        assert team.get(item.id) == item
        assert [passage.id for passage in team.research("Which database is the ledger in?").passages][:1] == [item.id]


@pytest.mark.embedded
def test_a_home_is_read_without_the_type_by_the_command_too_and_with_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, copy, file = tmp_path / "home", tmp_path / "copy", tmp_path / "team.jsonl"
    with Memory.open(home, types=TYPES) as memory:
        item = memory.user("team").add(DecisionItem(title="Postgres for the ledger", votes=3))
    with Memory.open(home) as memory:
        team = memory.user("team")
        [found] = team.items()
        assert isinstance(found, UnregisteredItem)
        assert (found.kind, found.text, found.payload["votes"]) == ("decision", "Postgres for the ledger", 3)
        assert [hit.id for hit in team.recall("Which database?").hits] == [item.id]
        with pytest.raises(InvalidInputError, match="is no memory kind"):
            team.add({"kind": "decision", "title": "Berlin"})
        team.export(file)
    assert main(["items", "--user", "team", "--home", str(home)]) == 0
    assert "Postgres for the ledger" in capsys.readouterr().out
    with Memory.open(copy, types=TYPES) as memory:
        memory.user("team").import_(file)
        [again] = memory.user("team").items("decision")
        assert isinstance(again, DecisionItem)
        assert (again.title, again.votes) == (item.title, item.votes)
        memory.user("team").remove(again.id)
        assert memory.user("team").items("decision") == []


@pytest.mark.parametrize(("mode", "calls"), [("single_call", 1), ("agents", 3)])
def test_a_model_proposes_items_of_a_further_type_by_its_prompt(
    tmp_path: Path, scripted_server: ServerFactory, mode: Any, calls: int
) -> None:
    shipped = MemoryType(name="decision", item=DecisionItem, prompt="semantic_manager")  # a shipped prompt fits too
    assert manager_prompt(form_of(shipped)).sections[0][1] == manager_prompt(FORMS["semantic"]).sections[0][1]
    prompt = tmp_path / "decision_manager.md"
    prompt.write_text("You extract decisions of a team.", encoding="utf-8")
    decision = MemoryType(name="decision", item=DecisionItem, prompt=str(prompt))
    values = {"title": "Postgres", "reason": "three services write to it"}
    evidence = {"step": 1, "quote": "We decided on Postgres"}

    def answer(request: Any) -> Reply:
        if request.name == "RoutingReply":
            assert "- decision: What a team decided." in request.text
            return Reply(content={"managers": [{"manager": "decision", "steps": [1], "task": "the database"}]})
        assert "You extract decisions of a team." in request.text
        if request.manager == "decision":
            done = bool(request.results)
            return Reply(content="done", plain=True, calls=[] if done else [("add", {**values, **evidence})])
        operation = {"operation": "add", "target": None, "merged": [], "ends": [], "votes": None, **values, **evidence}
        return Reply(content={"steps": [], "gists": [], "pages": [], "operations": [], "decision": [operation]})

    server = scripted_server(answer)
    types = (*DEFAULT_TYPES, decision)
    settings = Settings(mode=mode, labels="off")
    with Memory.open(tmp_path / "home", model=server.chat_model(), types=types, settings=settings) as memory:
        team = memory.user("team")
        [step] = team.remember(TOLD).step_ids
        team.flush()
        [item] = team.items("decision")
        assert memory.notices == []
    assert (item.title, item.reason) == ("Postgres", "three services write to it")  # type: ignore[attr-defined]
    assert [source.step_id for source in item.sources] == [step]
    assert server.calls == calls


def quoting(given: ManagerInput) -> list[dict[str, Any]]:
    return [
        {
            "operation": "add",
            "values": {"name": "note", "summary": step.step.content.upper()},
            "evidence": [{"step_id": step.step.id, "quote": step.step.content}],
        }
        for step in given.steps
    ]


def test_a_function_takes_the_place_of_a_manager_and_is_held_to_its_quotes(tmp_path: Path) -> None:
    def manager(given: ManagerInput) -> list[dict[str, Any]]:
        assert (given.kind, given.user) == ("semantic", "alice")
        invented = {
            "operation": "add",
            "values": {"name": "x", "summary": "x"},
            "evidence": [{"step_id": given.steps[0].step.id, "quote": "never said"}],
        }
        return [*quoting(given), invented, {"operation": "guess"}]

    with Memory.open(tmp_path, managers={"semantic": manager}) as memory:
        alice = memory.user("alice")
        alice.remember(["My sister Orla is a vet in Cork."])
        alice.flush()
        assert [item.summary for item in alice.items("semantic")] == ["MY SISTER ORLA IS A VET IN CORK."]  # type: ignore[attr-defined]


def test_a_manager_that_interrupts_pauses_the_run_until_it_is_answered(tmp_path: Path) -> None:
    class State(MessagesState):
        memory: str

    def manager(given: ManagerInput) -> list[dict[str, Any]]:
        return quoting(given) if interrupt("store it?") else []

    with Memory.open(tmp_path, managers={"semantic": manager}) as memory:
        builder = StateGraph(State)
        builder.add_node("memory", memory_graph(memory, manage="now"))
        builder.add_edge(START, "memory")
        graph = builder.compile(checkpointer=InMemorySaver())
        for thread, (answer, stored) in enumerate([(True, 1), (False, 0)]):
            run: Any = {"configurable": {"thread_id": str(thread), "user_id": f"user {thread}"}}
            paused = graph.invoke({"messages": [HumanMessage("My sister Orla is a vet in Cork.")]}, run)
            assert paused["__interrupt__"][0].value == "store it?"
            assert memory.user(f"user {thread}").items("semantic") == []
            assert "__interrupt__" not in graph.invoke(Command(resume=answer), run)
            assert len(memory.user(f"user {thread}").items("semantic")) == stored


def test_a_batch_that_a_manager_cannot_manage_is_parked_once_until_a_flush_tries_it_again(tmp_path: Path) -> None:
    tried = []

    def manager(given: ManagerInput) -> list[Any]:
        tried.append(len(given.steps))
        raise RuntimeError("no")

    settings = Settings(background=False, max_job_attempts=1)
    with Memory.open(tmp_path, embedder="static", managers={"semantic": manager}, settings=settings) as memory:
        alice = memory.user("alice")
        for text in ("My sister Orla is a vet in Sligo.", "My brother Tom repairs clocks.", "Our cat is called Moss."):
            alice.remember(text)
            memory.flush()
        assert tried == [1, 2, 3]  # by flush alone
        alice.remember("My aunt Nell plays the cello.")
        assert [job.status for job in alice.jobs()] == ["parked"] * 3


def test_a_manager_that_interrupts_in_the_background_parks_its_batch(tmp_path: Path) -> None:
    with Memory.open(tmp_path, managers={"semantic": lambda given: interrupt("store it?")}) as memory:
        memory.user("alice").remember("My sister Orla is a vet in Cork.")
        memory.flush()
        [job] = memory.jobs()
        assert job.status == "parked"
        assert "checkpointer" in (job.error or "")


class WrongKind(MemoryItem):
    kind: Literal["choice"] = "choice"


def test_types_and_managers_that_cannot_work_are_refused(tmp_path: Path) -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: MemoryType(name="Decision", item=DecisionItem), "use lower-case letters"),
        (lambda: MemoryType(name="step", item=DecisionItem), "use lower-case letters"),
        (lambda: MemoryType(name="decision", item=WrongKind), "give it kind: Literal"),
        (lambda: MemoryType(name="decision", item=dict), "give a subclass"),  # type: ignore[arg-type]
        (lambda: MemoryType(name="decision", item=DecisionItem, prompt="nowhere.md"), "no such file"),
        (lambda: Memory.open(tmp_path, types=(DECISION,)), "without core"),
        (lambda: Memory.open(tmp_path, types=("decision",)), "'decision' is no memory type"),  # type: ignore[arg-type]
        (lambda: Memory.open(tmp_path, types=(*TYPES, DECISION)), "two of the name 'decision'"),
        (lambda: Memory.open(tmp_path, managers={"dream": print}), "no memory type 'dream'"),
        (lambda: Memory.open(tmp_path, managers={"semantic": 5}), "pass a Runnable"),  # type: ignore[dict-item]
    ]
    for build, message in wrong:
        with pytest.raises(ConfigError, match=message):
            build()


def test_a_ranking_of_ones_own_orders_the_candidates_and_is_named_in_the_settings(tmp_path: Path) -> None:
    asked: list[str] = []

    def longest(question: str, hits: Sequence[Hit]) -> list[float]:
        asked.append(question)
        return [len(hit.text) for hit in hits]

    settings = Settings(background=False, strategy="longest", labels="off", mode="off")
    with Memory.open(tmp_path, embedder="static", rankings={"longest": longest}, settings=settings) as memory:
        user = memory.user("ada")
        user.remember([f"The boat is blue{' and old' * count}." for count in range(5)])
        recall = user.recall("What colour is the boat?", k=2)
        assert [hit.text.count("old") for hit in recall.hits] == [4, 3]
        assert recall.strategy == recall.hits[0].why[0].name == "longest"
        assert recall.hits[0].score == pytest.approx(sum(signal.share for signal in recall.hits[0].why), abs=1e-3)
        assert asked == ["What colour is the boat?"]


@pytest.mark.parametrize("scores", [[], [1.0] * 3, [float("nan")]])
def test_a_ranking_without_a_finite_score_for_each_hit_is_refused(tmp_path: Path, scores: list[float]) -> None:
    with Memory.open(tmp_path, embedder="static", rankings={"mine": lambda question, hits: scores}) as memory:
        memory.user("ada").remember("The boat is blue.")
        with pytest.raises(InvalidInputError, match=r"ranking 'mine' returned \d scores for 1 hits"):
            memory.user("ada").recall("boat", strategy="mine", kinds="step")
