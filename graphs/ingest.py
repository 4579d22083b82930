"""The write path as a state machine (MIRIX, arXiv 2507.07957, section 3).

    START → record → label → route ─ Send ─→ a manager for each type → apply → project → END

``record`` acknowledges, and does nothing in a background job, whose messages are stored already. ``label`` labels and
indexes what the background worker has not reached yet, and chooses the batch. All after ``record`` may run again, any
number of times: a batch is applied once, together with the mark of how far the managers have come. A manager with a
model runs its agent as a subgraph; a run that resumes asks it again. Each node reports what it does as custom stream
events (``stream_mode="custom"``): a mapping with ``stage``, ``user``, and what belongs to the stage.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph.graph import END, START, StateGraph

from hexamem.graphs.ingest_nodes import SINGLE, IngestNodes, IngestParts, node_of
from hexamem.graphs.ingest_state import IngestContext, IngestInput, IngestOutput, IngestState, ManageInput
from hexamem.graphs.waiting_nodes import waiting_node

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


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
    meta = parts.model_meta_manager
    graph.add_node("route", waiting_node(nodes.route, None if meta is None else meta.call, "route"))
    kinds = parts.beside
    managers: dict[str, Any] = {}
    if parts.single_call is not None:
        managers[SINGLE] = waiting_node(nodes.manage_all, parts.single_call.call, SINGLE)
    else:
        kinds = tuple(dict.fromkeys((*parts.managers, *parts.model_managers, *parts.beside)))
    for kind in kinds:
        name = node_of(kind)
        if kind in parts.custom:
            managers[name] = waiting_node(partial(nodes.manage_custom, kind), parts.custom[kind], name)
        elif (manager := parts.model_managers.get(kind)) is not None:
            # Without a checkpointer: its messages hold the steps, out of which ``apply`` may take a secret.
            managers[name] = waiting_node(partial(nodes.manage_by_agent, manager), manager.graph, name, detached=True)
        else:
            managers[name] = partial(nodes.manage, kind)
    for name, node in managers.items():
        graph.add_node(name, node, input_schema=ManageInput)
        graph.add_edge(name, "apply")
    graph.add_node("apply", nodes.apply)
    graph.add_node("project", nodes.project)
    graph.add_edge(START, "record")
    graph.add_edge("record", "label")
    graph.add_edge("label", "route")
    graph.add_conditional_edges("route", nodes.send, [*managers, "apply", END])
    graph.add_edge("apply", "project")
    graph.add_edge("project", END)
    return graph.compile(name="ingest")
