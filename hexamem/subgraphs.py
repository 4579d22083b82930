"""Memory for a LangGraph graph of one's own: ``memory_graph``, ``ingest_graph`` and ``research_graph``.

    START → remember (the write path: record → label → route → managers → apply → project) → (mirror →) recall → END

A parent enters them once or more in a run; messages that are stored already are not stored again. They take their user
from the run, and the parent's checkpointer. Each node writes custom stream events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.aligning import catch_up_thread
from hexamem.errors import ConfigError
from hexamem.graphs.ingest import ingest_graph as build_write_path
from hexamem.graphs.ingest_state import IngestContext, IngestInput, Recorded
from hexamem.graphs.memory_scope import ScopeResolver, run_scope
from hexamem.graphs.research_state import ResearchContext, ResearchInput, ResearchOutput
from hexamem.graphs.waiting_nodes import Request, Waiting, waiting_node
from hexamem.memory import Memory, check_memory
from hexamem.memory_types.settings import check_settings
from hexamem.prompting import PromptSettings, recall_for_prompt
from hexamem.stores.item_mirror import update_mirror

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore


Manage = Literal["background", "full", "now"]
"""When items are extracted from stored messages: in the background, in the run that fills a batch, or in every run."""
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
    """The input of ``memory_graph``."""

    memory: str  # what an earlier entry of the run wrote


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
    """

    history: Sequence[Any] = ()  # the parent's messages
    thread_id: str = "default"  # of the steps
    agent_id: str | None = None


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


def memory_graph(
    memory: Memory,
    *,
    settings: PromptSettings | None = None,
    scope: ScopeResolver | None = None,
    manage: Manage | None = None,
    items_in_store: bool = False,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Memory as one node of a parent graph that has ``messages``: ``builder.add_node("memory", memory_graph(memory))``.

    It first stores the messages that this thread does not hold yet; then, if the last message is from the user, it
    recalls for it and writes ``memory``: delimited data for the system message. A parent may enter it any number of
    times in a run, and may send a whole history again with new ids: nothing is stored twice (see
    :mod:`hexamem.aligning`). With this node alone an agent's reply is stored at the next turn; add :func:`ingest_graph`
    after the agent to store it in the same run.

    The parent's state needs ``messages`` and ``memory: str``; a run in a state without them raises ConfigError.
    ``memory_report: dict`` is optional: what was stored and recalled, and why. The run names the user:
    ``invoke(…, context={"user": "alice"})``, or ``user_id`` in the context or in ``config["configurable"]``. The thread is
    ``config["configurable"]["thread_id"]``, which a checkpointer needs too. The parent's checkpointer is inherited, and
    ``stream_mode="custom"`` with ``subgraphs=True`` streams the events of each node.

    Args:
        memory: an open memory; the graph can be used while it is open.
        settings: the contents of ``memory``, and its token budget.
        scope: finds the user in the run's ``Runtime``, in place of the context.
        manage: when items are extracted from stored messages; by default in the background, or, if the memory has no
            background thread, in the run that fills a batch.
        items_in_store: whether each entry also brings the run's store (``compile(store=…)``) up to the user's items: see
            :func:`mirror_items`.

    Raises:
        ConfigError: for settings of another type, or an unknown ``manage``; from a run without a store that needs one.
        MissingUserError: from a run that names no user; the message says what to pass.
    """
    chosen = check_settings(settings, PromptSettings, "memory_graph: settings")

    def recall(state: MemoryState) -> dict[str, Any]:
        report = state.get("memory_saved") or {}
        query = _asked(state.get("messages") or [])
        if not query:
            return {"memory": state.get("memory") or "", "memory_report": report}
        user = memory.user(run_scope("memory_graph", scope).user)
        part = recall_for_prompt(user, query, chosen, visible=state.get("visible") or [])
        get_stream_writer()({"stage": "recall", "recall": dict(part.recall), "degraded": list(part.degraded)})
        degraded = list(dict.fromkeys([*report.get("degraded", ()), *part.degraded]))
        return {"memory": part.text, "memory_report": {**report, "recall": dict(part.recall), "degraded": degraded}}

    graph = StateGraph(MemoryState, MemoryContext, input_schema=MemoryNodeInput, output_schema=MemoryOutput)
    graph.add_node("recall", recall)
    graph.add_edge(_add_writing(graph, memory, "memory_graph", scope, manage, items_in_store), "recall")
    graph.add_edge("recall", END)
    return _SubGraph(**vars(graph.compile(name="memory")))


def ingest_graph(
    memory: Memory,
    *,
    scope: ScopeResolver | None = None,
    manage: Manage | None = None,
    items_in_store: bool = False,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The write path as one node of a parent graph that has ``messages``: stores the new ones, each once.

    ``START → memory → agent → memory_save → END`` with ``memory_save = ingest_graph(memory)`` stores the agent's reply in the
    same run. It writes ``memory_saved``: ids of the stored steps, what was learned, what fell back. Arguments, user and
    errors are those of :func:`memory_graph`.
    """
    graph = StateGraph(MemoryState, MemoryContext, input_schema=MemoryInput, output_schema=IngestNodeOutput)
    graph.add_edge(_add_writing(graph, memory, "ingest_graph", scope, manage, items_in_store), END)
    return _SubGraph(**vars(graph.compile(name="memory_save")))


def research_graph(memory: Memory, *, scope: ScopeResolver | None = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Deep research as one node of a parent graph that has ``question``; it writes ``answer``, ``context`` and ``research``.

    Args:
        memory: an open memory.
        scope: as in :func:`memory_graph`.

    Raises:
        MissingUserError: from a run that names no user.
    """
    check_memory(memory, "research_graph")
    inner = memory.researching.graph

    def research(state: ResearchNodeState) -> Waiting:
        user = run_scope("research_graph", scope).user
        given = {name: state.get(name) for name in ResearchInput.__annotations__}
        with memory.researching.metered(user) as usage:
            output: dict[str, Any] = yield Request(
                {name: value for name, value in given.items() if value is not None},
                context=ResearchContext(user=user, usage=usage),
            )
        # The conditions of this question are not those of the next one on the thread.
        return {**output, **dict.fromkeys(given, None)}

    graph = StateGraph(ResearchNodeState, MemoryContext, input_schema=ResearchInput, output_schema=ResearchOutput)
    graph.add_node("research", waiting_node(research, inner, "research"))
    graph.add_edge(START, "research")
    graph.add_edge("research", END)
    return graph.compile(name="research")


def mirror_items(memory: Memory, store: BaseStore, user: str) -> int:
    """Bring a LangGraph store up to a user's items: changed items are put, items that are not active any more deleted.

    An item is in the namespace ``("memories", user, type)`` under its id, as a mapping with ``text``, ``content`` (the
    fields of its type), ``kind``, ``metadata``, ``version`` and its times; a full stop in the user's name is ``%2E``. The
    ledger is the source of truth: a host's changes to these entries are not read back, and last until the item changes.
    ``memory_graph(memory, items_in_store=True)`` calls it at each entry; call it after edits outside a run that others
    must see at once, and after ``erase`` and ``redact``.

    Returns:
        How many entries were put or deleted.
    """
    return update_mirror(memory.ledger, store, user)


def _add_writing(
    graph: StateGraph[Any, Any, Any, Any],
    memory: Memory,
    caller: str,
    scope: ScopeResolver | None,
    manage: Manage | None,
    items_in_store: bool,
) -> str:
    """Add the nodes that store what is new in ``messages``; returns the last of them."""
    check_memory(memory, caller)
    chosen = manage or ("background" if memory.settings.background else "full")
    if chosen not in get_args(Manage):
        raise ConfigError(f"{caller}: manage = {manage!r}: use one of {', '.join(get_args(Manage))}")
    inline = memory.ingesting.on and chosen != "background"

    def record(run: IngestContext, _: Any, thread_id: str) -> Recorded:
        assert isinstance(run, HistoryContext)
        if not run.history:
            return Recorded()
        caught = catch_up_thread(memory.user(run.user), run.history, thread_id, agent_id=run.agent_id)
        return Recorded(list(caught.new), sorted(caught.visible), caught.degraded)

    parts = memory.ingesting.parts()
    ingest = build_write_path(replace(parts, record=record, full=parts.full if inline else None))

    def remember(state: MemoryState) -> Waiting:
        run = run_scope(caller, scope)
        with memory.ingesting.accounted(run.user) as (budget, usage):
            context = HistoryContext(
                user=run.user,
                history=state.get("messages") or [],
                thread_id=run.thread_id,
                agent_id=run.agent_id,
                budget=budget,
                usage=usage,
            )
            output = yield Request(
                IngestInput(thread_id=run.thread_id, close=inline and chosen == "now"), context=context
            )
        saved = {name: list(output.get(name) or ()) for name in ("step_ids", "remembered")}
        degraded = list(dict.fromkeys(output.get("degraded") or ()))
        return {"visible": list(output.get("visible") or ()), "memory_saved": {**saved, "degraded": degraded}}

    graph.add_node("remember", waiting_node(remember, ingest, "remember"))
    graph.add_edge(START, "remember")
    if not items_in_store:
        return "remember"

    def store() -> BaseStore:
        run_store = get_runtime().store
        if run_store is None:
            raise ConfigError(f"{caller}: items_in_store needs a store: compile the graph that runs it with store=…")
        return run_store

    def mirror_now(state: MemoryState) -> dict[str, Any]:
        update_mirror(memory.ledger, store(), run_scope(caller, scope).user)
        return {}

    async def mirror_later(state: MemoryState) -> dict[str, Any]:
        await asyncio.to_thread(update_mirror, memory.ledger, store(), run_scope(caller, scope).user)
        return {}

    graph.add_node("mirror", RunnableLambda(mirror_now, mirror_later, name="mirror"))
    graph.add_edge("remember", "mirror")
    return "mirror"


def _asked(messages: Sequence[Any]) -> str:
    """The user's last message; empty where the last message is not theirs, or has no words."""
    last = messages[-1] if messages else None
    return str(last.text).strip() if last is not None and last.type == "human" else ""
