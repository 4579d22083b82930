"""Memory for a LangGraph graph of one's own: ``memory_graph``, ``ingest_graph`` and ``research_graph``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from langgraph.config import get_config
from langgraph.runtime import get_runtime

from hexamem.aligning import catch_up_thread
from hexamem.errors import ConfigError
from hexamem.graphs.ingest import ingest_graph as build_write_path
from hexamem.graphs.ingest_state import IngestContext, Recorded
from hexamem.graphs.memory_graph import (
    HistoryContext,
    MemoryParts,
    build_ingest_graph,
    build_memory_graph,
    build_research_graph,
)
from hexamem.graphs.memory_scope import MemoryScope, ScopeResolver, resolve_scope
from hexamem.graphs.research_state import ResearchContext
from hexamem.memory import Memory, check_memory
from hexamem.memory_types.settings import check_settings
from hexamem.prompting import PromptSettings, recall_for_prompt
from hexamem.stores.item_mirror import ItemMirror

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.store.base import BaseStore


__all__ = ["Manage", "ingest_graph", "memory_graph", "mirror_items", "research_graph"]

Manage = Literal["background", "full", "now"]
"""When items are extracted from stored messages: in the background, in the run that fills a batch, or in every run."""
_NEVER = 1 << 31


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
    return build_memory_graph(_parts(memory, "memory_graph", chosen, scope, manage, items_in_store))


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
    return build_ingest_graph(_parts(memory, "ingest_graph", PromptSettings(), scope, manage, items_in_store))


def research_graph(memory: Memory, *, scope: ScopeResolver | None = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Deep research as one node of a parent graph that has ``question``; it writes ``answer``, ``context`` and ``research``.

    Args:
        memory: an open memory.
        scope: as in :func:`memory_graph`.

    Raises:
        MissingUserError: from a run that names no user.
    """

    check_memory(memory, "research_graph")

    def context() -> ResearchContext:
        return ResearchContext(user=_scope("research_graph", scope).user)

    return build_research_graph(memory.researching.graph(), context)


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
    return ItemMirror(memory.ledger).catch_up(store, user)


def _parts(
    memory: Memory,
    caller: str,
    settings: PromptSettings,
    scope: ScopeResolver | None,
    manage: Manage | None,
    items_in_store: bool,
) -> MemoryParts:
    check_memory(memory, caller)
    chosen = manage or ("background" if memory.settings.background else "full")
    if chosen not in get_args(Manage):
        raise ConfigError(f"{caller}: manage = {manage!r}: use one of {', '.join(get_args(Manage))}")
    inline = memory.ingesting.on and chosen != "background"
    write_path = memory.ingesting.parts()
    full = write_path.full if inline else _NEVER

    def context(messages: Sequence[Any]) -> HistoryContext:
        run_scope = _scope(caller, scope)
        return HistoryContext(
            user=run_scope.user, history=messages, thread_id=run_scope.thread_id, agent_id=run_scope.agent_id
        )

    def recall(query: str, visible: Sequence[str]) -> tuple[str, Mapping[str, Any], Sequence[str]]:
        user = memory.user(_scope(caller, scope).user)
        part = recall_for_prompt(user, query, settings, visible=visible)
        return part.text, part.recall, part.degraded

    def record(run: IngestContext, _: Any, thread_id: str) -> Recorded:
        assert isinstance(run, HistoryContext)
        if not run.history:
            return Recorded()
        caught = catch_up_thread(memory.user(run.user), run.history, thread_id, agent_id=run.agent_id)
        degraded = [*caught.degraded, *(caught.stored.degraded if caught.stored is not None else ())]
        return Recorded(list(caught.new), sorted(caught.visible), degraded)

    ingest = build_write_path(replace(write_path, record=record, full=full))
    mirror = ItemMirror(memory.ledger)

    def store() -> BaseStore:
        run_store = get_runtime().store
        if run_store is None:
            raise ConfigError(f"{caller}: items_in_store needs a store: compile the graph that runs it with store=…")
        return run_store

    def mirror_sync() -> int:
        return mirror.catch_up(store(), _scope(caller, scope).user)

    async def mirror_async() -> int:
        return await mirror.acatch_up(store(), _scope(caller, scope).user)

    return MemoryParts(
        ingest=ingest,
        context=context,
        recall=recall,
        close=inline and chosen == "now",
        mirror=(mirror_sync, mirror_async) if items_in_store else None,
    )


def _scope(caller: str, resolver: ScopeResolver | None) -> MemoryScope:
    return resolve_scope(caller, get_runtime(), get_config(), resolver)
