"""Deep research as a state machine (GAM, arXiv 2511.18423, section 3.2).

    START → plan ─ Send ─→ vector | keyword | page | intent | time | kind → integrate → reflect → (plan | finish) → END

The lanes of a round run in parallel. A round costs at most three calls; if a model has quoted the answer to each part of
the question, reflection is skipped. Each node writes custom stream events (``stream_mode="custom"``): a mapping with
``stage``, ``user``, ``round`` and further fields of the stage. The state is JSON: under a checkpointer a killed run
resumes at its last node.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph.graph import END, START, StateGraph

from hexamem.graphs.research_evidence_nodes import EvidenceNodes
from hexamem.graphs.research_plan_nodes import PlanNodes
from hexamem.graphs.research_state import (
    LaneInput,
    ResearchContext,
    ResearchInput,
    ResearchOutput,
    ResearchParts,
    ResearchState,
)
from hexamem.graphs.waiting_nodes import waiting_node
from hexamem.memory_types.research import LANES

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


def build_research_graph(parts: ResearchParts) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph. As a subgraph it takes the parent's checkpointer, and the user of the parent's context."""
    plan, evidence = PlanNodes(parts), EvidenceNodes(parts)
    graph = StateGraph(ResearchState, ResearchContext, input_schema=ResearchInput, output_schema=ResearchOutput)
    for name, node, agent in (
        ("plan", plan.plan, parts.planner),
        ("integrate", evidence.integrate, parts.integrator),
        ("reflect", evidence.reflect, parts.reflector),
    ):
        graph.add_node(name, waiting_node(node, None if agent is None else agent.call, name))
    for lane in LANES:
        graph.add_node(lane, partial(plan.lane, lane), input_schema=LaneInput)
        graph.add_edge(lane, "integrate")
    graph.add_node("finish", evidence.finish)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", plan.send, [*LANES, "integrate"])
    graph.add_conditional_edges("integrate", evidence.after_integrate, ["reflect", "plan", "finish"])
    graph.add_conditional_edges("reflect", evidence.after_reflect, ["plan", "finish"])
    graph.add_edge("finish", END)
    return graph.compile(name="research")
