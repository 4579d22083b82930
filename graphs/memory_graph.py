"""Memory as a node of another graph: store what is new in its messages, then recall for the user's last one.

    START → remember (the write path: record → label → route → managers → apply → project) → (mirror →) recall → END

A parent enters it once or more in a run; messages that are stored already are not stored again. Both graphs take their user
from the run, and the parent's checkpointer. Each node writes custom stream events.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.errors import ConfigError
from hexamem.graphs.ingest_state import IngestContext, IngestInput
from hexamem.graphs.research_state import ResearchInput, ResearchOutput
from hexamem.graphs.waiting_nodes import Request, Waiting, waiting_node

__all__ = [
    "HistoryContext",
    "MemoryContext",
    "MemoryInput",
    "MemoryOutput",
    "MemoryParts",
    "build_ingest_graph",
    "build_memory_graph",
    "build_research_graph",
]


_READ = "__pregel_read"
"""Where LangGraph puts the function that reads the parent's channels."""


class MemoryContext(TypedDict, total=False):
    """The context of a run; a host's own context may have more, or be an object with these attributes.

    Attributes:
        user, user_id: whose memory it is; either.
        thread_id: the conversation; that of the configuration when left out.
        agent_id: of the steps that are stored.
    """

    user: str
    user_id: str
    thread_id: str
    agent_id: str


class MemoryInput(TypedDict, total=False):
    """The input: the conversation as the host has it, oldest first."""

    messages: Annotated[list[AnyMessage], add_messages]


class MemoryNodeInput(MemoryInput, total=False):
    """The input of ``memory_graph``.

    Attributes:
        memory: what an earlier entry of the run wrote.
    """

    memory: str


class IngestNodeOutput(TypedDict, total=False):
    """The output of ``ingest_graph``.

    Attributes:
        memory_saved: what was done, as JSON: ``step_ids`` that were stored, ``remembered`` (what became of the
            managers' proposals, where they ran), ``degraded``.
    """

    memory_saved: dict[str, Any]


class MemoryOutput(TypedDict, total=False):
    """The output of ``memory_graph``.

    Attributes:
        memory: the delimited data for the system message; empty where there is none. Where the last message is not the
            user's, that of the earlier entry.
        memory_report: what was done, as ``memory_saved`` of :class:`IngestNodeOutput`, and ``recall`` with its hits.
    """

    memory: str
    memory_report: dict[str, Any]


class MemoryState(MemoryInput, IngestNodeOutput, MemoryOutput, total=False):
    """The state of both graphs; ``visible`` are the ids of the steps that ``messages`` shows."""

    visible: list[str]


class ResearchNodeState(ResearchInput, ResearchOutput, total=False):
    """The state of ``research_graph``."""


@dataclass(kw_only=True)
class HistoryContext(IngestContext):
    """The context of the write path of one entry. The history is in it and not in the state, so that no checkpoint of the
    write path holds it a second time; a run that resumes gets it from the parent's state again.

    Attributes:
        history: the parent's messages.
        thread_id, agent_id: of the steps.
    """

    history: Sequence[Any] = ()
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
        mirror: brings the run's store up to the items, sync and async; None where they stay in the ledger alone.
    """

    ingest: CompiledStateGraph[Any, Any, Any, Any]
    context: Callable[[Sequence[Any]], HistoryContext]
    recall: Callable[[str, Sequence[str]], tuple[str, Mapping[str, Any], Sequence[str]]]
    close: bool = False
    mirror: tuple[Callable[[], object], Callable[[], Awaitable[object]]] | None = None


class _SubGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph that refuses a parent whose state lacks a channel of its input: LangGraph drops such values
    silently."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        self._check_parent(config)
        return super().invoke(input, config, **options)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        self._check_parent(config)
        return await super().ainvoke(input, config, **options)

    def _check_parent(self, config: RunnableConfig | None) -> None:
        read = ((config or {}).get("configurable") or {}).get(_READ)
        if read is None:  # not a node, or a version of LangGraph that reads channels otherwise
            return
        for channel in get_type_hints(self.builder.input_schema):
            try:
                read(channel)
            except KeyError:
                raise ConfigError(
                    f"the state of the graph that runs {self.name!r} as a node has no `{channel}`: add it, e.g. "
                    "class State(MessagesState): memory: str"
                ) from None


def build_ingest_graph(parts: MemoryParts) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START → remember (→ mirror) → END: stores what is new in ``messages``."""
    graph = StateGraph(MemoryState, MemoryContext, input_schema=MemoryInput, output_schema=IngestNodeOutput)
    graph.add_edge(_add_writing(graph, parts), END)
    return _SubGraph(**vars(graph.compile(name="memory_save")))


def build_memory_graph(parts: MemoryParts) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START → remember (→ mirror) → recall → END: stores what is new in ``messages``, then recalls for the user's last one."""

    def recall(state: MemoryState) -> dict[str, Any]:
        report = state.get("memory_saved") or {}
        query = _asked(state.get("messages") or [])
        if not query:
            return {"memory": state.get("memory") or "", "memory_report": report}
        text, recalled, degraded = parts.recall(query, state.get("visible") or [])
        get_stream_writer()({"stage": "recall", "recall": dict(recalled), "degraded": list(degraded)})
        fallbacks = list(dict.fromkeys([*report.get("degraded", ()), *degraded]))
        return {"memory": text, "memory_report": {**report, "recall": dict(recalled), "degraded": fallbacks}}

    graph = StateGraph(MemoryState, MemoryContext, input_schema=MemoryNodeInput, output_schema=MemoryOutput)
    graph.add_node("recall", recall)
    graph.add_edge(_add_writing(graph, parts), "recall")
    graph.add_edge("recall", END)
    return _SubGraph(**vars(graph.compile(name="memory")))


def build_research_graph(
    inner: CompiledStateGraph[Any, Any, Any, Any], context: Callable[[], Any]
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START → research → END: runs the research graph with a context made at each entry."""

    def research(state: ResearchNodeState) -> Waiting:
        output: dict[str, Any] = yield Request(state, context=context())
        return output

    graph = StateGraph(ResearchNodeState, MemoryContext, input_schema=ResearchInput, output_schema=ResearchOutput)
    graph.add_node("research", waiting_node(research, inner, "research"))
    graph.add_edge(START, "research")
    graph.add_edge("research", END)
    return graph.compile(name="research")


def _add_writing(graph: StateGraph[Any, Any, Any, Any], parts: MemoryParts) -> str:
    """Add the nodes that store what is new; returns the last of them."""

    def remember(state: MemoryState) -> Waiting:
        context = parts.context(state.get("messages") or [])
        output = yield Request(IngestInput(thread_id=context.thread_id, close=parts.close), context=context)
        saved = {name: list(output.get(name) or ()) for name in ("step_ids", "remembered")}
        degraded = list(dict.fromkeys(output.get("degraded") or ()))
        return {"visible": list(output.get("visible") or ()), "memory_saved": {**saved, "degraded": degraded}}

    graph.add_node("remember", waiting_node(remember, parts.ingest, "remember"))
    graph.add_edge(START, "remember")
    if parts.mirror is None:
        return "remember"
    now, later = parts.mirror

    def mirror(state: MemoryState) -> dict[str, Any]:
        now()
        return {}

    async def amirror(state: MemoryState) -> dict[str, Any]:
        await later()
        return {}

    graph.add_node("mirror", RunnableLambda(mirror, amirror, name="mirror"))
    graph.add_edge("remember", "mirror")
    return "mirror"


def _asked(messages: Sequence[Any]) -> str:
    """The user's last message; empty where the last message is not theirs, or has no words."""
    last = messages[-1] if messages else None
    return str(last.text).strip() if last is not None and last.type == "human" else ""
