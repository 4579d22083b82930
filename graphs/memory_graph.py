"""Memory as a node of somebody else's graph: remember what is new, then recall for what was asked.

    START → remember (the write path: record → label → route → managers → apply → project) → recall → END

A parent enters it once or more in a run; what it was given before changes nothing. Both graphs take their user from the
run, and the parent's checkpointer. They tell what they do as custom stream events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableLambda
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.graphs.ingest_state import IngestContext, IngestInput

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

__all__ = [
    "HistoryContext",
    "MemoryInput",
    "MemoryOutput",
    "MemoryParts",
    "build_ingest_door",
    "build_memory_graph",
    "build_scoped",
]


class MemoryInput(TypedDict, total=False):
    """What the graphs take: the conversation as the host has it, oldest first."""

    messages: Annotated[list[AnyMessage], add_messages]


class IngestDoorOutput(TypedDict, total=False):
    """What ``ingest_graph`` gives.

    Attributes:
        memory_saved: what was done, as JSON: ``step_ids`` that were stored, ``remembered`` (what became of the
            managers' proposals, where they ran), ``degraded``.
    """

    memory_saved: dict[str, Any]


class MemoryOutput(TypedDict, total=False):
    """What ``memory_graph`` gives. Where the last message is not the user's, ``memory`` stays as it is in the parent.

    Attributes:
        memory: the delimited data for the system message; empty where there is none.
        memory_report: what was done, as ``memory_saved`` of :class:`IngestDoorOutput`, and ``recall`` with its hits.
    """

    memory: str
    memory_report: dict[str, Any]


class MemoryState(MemoryInput, IngestDoorOutput, MemoryOutput, total=False):
    """What the nodes give each other; ``visible`` are the ids of the steps that stand in ``messages``."""

    visible: list[str]


@dataclass(kw_only=True)
class HistoryContext(IngestContext):
    """The context of the write path of one entry. The history goes with it, not with the state: no checkpoint of the
    write path holds it a second time.

    Attributes:
        history: the parent's messages.
        visible: set by ``record``: ids of the steps that stand in the history.
        told: set by ``record``: what fell back there.
        thread_id, agent_id: of the steps.
    """

    history: Sequence[Any] = ()
    visible: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    thread_id: str = "default"
    agent_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class MemoryParts:
    """What the graphs work with.

    Attributes:
        ingest: the write path; its ``record`` reads :class:`HistoryContext`.
        context: makes the context of one entry; raises MissingUserError where the run names no user.
        recall: (query, ids of visible steps) → the data for the prompt, the report, what fell back.
        close: whether the steps that wait are read together at every entry.
    """

    ingest: CompiledStateGraph[Any, Any, Any, Any]
    context: Callable[[Sequence[Any]], HistoryContext]
    recall: Callable[[str, Sequence[str]], tuple[str, Mapping[str, Any], Sequence[str]]]
    close: bool = False


def build_ingest_door(parts: MemoryParts) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START → remember → END: stores what is new in ``messages``."""
    graph = StateGraph(MemoryState, input_schema=MemoryInput, output_schema=IngestDoorOutput)
    graph.add_node("remember", _remember(parts))
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    return graph.compile(name="memory_save")


def build_memory_graph(parts: MemoryParts) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START → remember → recall → END: stores what is new in ``messages``, then recalls for the user's last one."""

    def recall(state: MemoryState) -> dict[str, Any]:
        query = _asked(state.get("messages") or [])
        if not query:
            return {"memory_report": state.get("memory_saved") or {}}
        text, found, degraded = parts.recall(query, state.get("visible") or [])
        report = state.get("memory_saved") or {}
        get_stream_writer()({"stage": "recall", "recall": dict(found), "degraded": list(degraded)})
        told = list(dict.fromkeys([*report.get("degraded", ()), *degraded]))
        return {"memory": text, "memory_report": {**report, "recall": dict(found), "degraded": told}}

    graph = StateGraph(MemoryState, input_schema=MemoryInput, output_schema=MemoryOutput)
    graph.add_node("remember", _remember(parts))
    graph.add_node("recall", recall)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", "recall")
    graph.add_edge("recall", END)
    return graph.compile(name="memory")


def build_scoped(
    inner: CompiledStateGraph[Any, Any, Any, Any],
    name: str,
    context: Callable[[], Any],
    schemas: tuple[type[Any], type[Any]],
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A graph of one node that runs another one with a context of its own, made at each entry.

    Args:
        inner: the graph. name: of the node, and the graph.
        context: makes the context.
        schemas: of input and output.
    """
    given, output = schemas

    def run(state: Any) -> Any:
        return inner.invoke(state, context=context())

    async def arun(state: Any) -> Any:
        return await inner.ainvoke(state, context=context())

    make: Any = TypedDict
    takes, gives = (get_type_hints(one) for one in (given, output))
    state, input_schema, output_schema = (
        make(f"{name}_{what}", fields, total=False)
        for what, fields in (("state", {**takes, **gives}), ("input", takes), ("output", gives))
    )
    graph = StateGraph(state, input_schema=input_schema, output_schema=output_schema)
    graph.add_node(name, RunnableLambda(run, arun, name=name))
    graph.add_edge(START, name)
    graph.add_edge(name, END)
    return graph.compile(name=name)


def _remember(parts: MemoryParts) -> RunnableLambda[Any, Any]:
    """The node that runs the write path on the parent's messages."""
    ingest = parts.ingest

    def given(context: HistoryContext) -> IngestInput:
        # ``record`` takes the messages from the context; the state only says that there are some.
        return IngestInput(messages=bool(context.history), thread_id=context.thread_id, close=parts.close)

    def told(context: HistoryContext, output: Mapping[str, Any]) -> dict[str, Any]:
        degraded = list(dict.fromkeys([*context.told, *(output.get("degraded") or ())]))
        report = {
            "step_ids": list(output.get("step_ids") or ()),
            "remembered": list(output.get("remembered") or ()),
            "degraded": degraded,
        }
        return {"visible": context.visible, "memory_saved": report}

    def remember(state: MemoryState) -> dict[str, Any]:
        context = parts.context(state.get("messages") or [])
        return told(context, ingest.invoke(given(context), context=context))

    async def aremember(state: MemoryState) -> dict[str, Any]:
        context = parts.context(state.get("messages") or [])
        return told(context, await ingest.ainvoke(given(context), context=context))

    return RunnableLambda(remember, aremember, name="remember")


def _asked(messages: Sequence[Any]) -> str:
    """What the user said last; empty where the last message is not theirs, or has no words."""
    last = messages[-1] if messages else None
    return str(last.text).strip() if last is not None and last.type == "human" else ""
