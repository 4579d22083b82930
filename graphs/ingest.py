"""The write path as a state machine (MIRIX, arXiv 2507.07957, section 3).

    START → record → label → route ─ Send ─→ a manager for each type → apply → project → END

``record`` acknowledges, and does nothing in a background job, whose messages are stored already. ``label`` labels and
indexes what the background worker has not reached yet, and chooses the batch. All after ``record`` may run again, any
number of times: a batch is applied once, together with the mark of how far the managers have come. A node with one
structured call is ``prepare | StructuredCall | finish``, a manager with a model runs its agent as a subgraph, all others
are plain functions, so the graph runs by ``invoke`` and ``ainvoke`` alike. Each node reports what it does as custom
stream events (``stream_mode="custom"``): a mapping with ``stage``, ``user``, and what belongs to the stage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph

from hexamem.graphs.ingest_nodes import SINGLE, IngestNodes, IngestParts, node_of
from hexamem.graphs.ingest_state import IngestContext, IngestInput, IngestOutput, IngestState, ManageInput
from hexamem.memory_types import ItemKind

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable
    from langgraph.graph.state import CompiledStateGraph

    from hexamem.agents.contract import ManagerInput, ManagerOutput
    from hexamem.agents.managers.agent import ManagerAgent

__all__ = ["ingest_graph"]


def ingest_graph(parts: IngestParts) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled write path. As a subgraph it takes the parent's checkpointer, and the user of the parent's context.

    Call it with ``context=IngestContext(user=…)`` or any context that has a ``user``. Messages that are given are
    recorded, and acknowledged from then on; then the steps that wait are managed, if they fill a batch or ``close``
    asks for it. At most one batch is managed a run; the queue sees to the rest.
    """
    nodes = IngestNodes(parts)
    graph = StateGraph(IngestState, IngestContext, input_schema=IngestInput, output_schema=IngestOutput)
    graph.add_node("record", nodes.record)
    graph.add_node("label", nodes.label)
    if parts.single_call is not None:
        graph.add_node("route", nodes.route)
        node = RunnableLambda(nodes.single_prepare) | parts.single_call.call | nodes.single_finish
        graph.add_node(SINGLE, node, input_schema=ManageInput)
        managers = [SINGLE]
        kinds: tuple[ItemKind, ...] = parts.beside
    else:
        meta = parts.model_meta_manager
        route = (
            RunnableLambda(nodes.route_prepare) | meta.call | nodes.route_finish if meta is not None else nodes.route
        )
        graph.add_node("route", route)
        managers = []
        kinds = tuple(dict.fromkeys((*parts.managers, *parts.model_managers, *parts.beside)))
    for kind in kinds:
        managers.append(node_of(kind))
        if kind in parts.custom:
            graph.add_node(node_of(kind), _custom(nodes, kind, parts.custom[kind]), input_schema=ManageInput)
        elif (manager := parts.model_managers.get(kind)) is not None:
            graph.add_node(node_of(kind), _agent(nodes, manager), input_schema=ManageInput)
        else:
            graph.add_node(node_of(kind), _named(nodes.manage, kind), input_schema=ManageInput)
    graph.add_node("apply", nodes.apply)
    graph.add_node("project", nodes.project)
    graph.add_edge(START, "record")
    graph.add_edge("record", "label")
    graph.add_edge("label", "route")
    graph.add_conditional_edges("route", nodes.send, [*managers, "apply", END])
    for name in managers:
        graph.add_edge(name, "apply")
    graph.add_edge("apply", "project")
    graph.add_edge("project", END)
    return graph.compile(name="ingest")


def _agent(nodes: IngestNodes, manager: ManagerAgent) -> RunnableLambda[ManageInput, dict[str, Any]]:
    """The node of a manager with a model: its agent as a subgraph, which is drawn with the graph.

    It runs without a checkpointer: its messages hold the steps, out of which ``apply`` may take a secret. A run that
    resumes asks the manager again.
    """
    agent = manager.graph

    def manage(state: ManageInput) -> dict[str, Any]:
        given, context = nodes.agent_input(manager, state)
        values = agent.copy({"checkpointer": False}).invoke(given, manager.config, context=context)
        return nodes.agent_output(manager, values, context)

    async def amanage(state: ManageInput) -> dict[str, Any]:
        given, context = nodes.agent_input(manager, state)
        values = await agent.copy({"checkpointer": False}).ainvoke(given, manager.config, context=context)
        return nodes.agent_output(manager, values, context)

    return RunnableLambda(manage, amanage, name=node_of(manager.kind))


def _custom(
    nodes: IngestNodes, kind: ItemKind, manager: Runnable[ManagerInput, ManagerOutput]
) -> RunnableLambda[ManageInput, dict[str, Any]]:
    """The node of a manager of the host. It is not caught: what it raises fails the run, and an interrupt pauses it."""

    def manage(state: ManageInput) -> dict[str, Any]:
        return nodes.custom_output(state, manager.invoke(nodes.custom_input(state)))

    async def amanage(state: ManageInput) -> dict[str, Any]:
        return nodes.custom_output(state, await manager.ainvoke(nodes.custom_input(state)))

    return RunnableLambda(manage, amanage, name=node_of(kind))


def _named(manage: Callable[[ItemKind, ManageInput], dict[str, Any]], kind: ItemKind) -> Callable[..., dict[str, Any]]:
    def manager(state: ManageInput) -> dict[str, Any]:
        return manage(kind, state)

    manager.__name__ = node_of(kind)
    return manager
