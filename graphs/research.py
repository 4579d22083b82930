"""Deep research as a state machine (GAM, arXiv 2511.18423, section 3.2).

    START → plan ─ Send ─→ vector | keyword | page | intent | time | kind → integrate → reflect → (plan | finish) → END

The lanes of a round run in parallel. Nodes that call a model are ``prepare | StructuredCall | finish``, all others plain
functions, so the graph runs with ``invoke`` and ``ainvoke``. A round costs at most three calls; if a model has quoted
the answer to each part of the question, reflection is skipped. Each node writes custom stream events
(``stream_mode="custom"``): a mapping with ``stage``, ``user``, ``round`` and further fields of the stage. The state is
JSON: under a checkpointer a killed run resumes at its last node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph

from hexamem.graphs.research_evidence_nodes import EvidenceNodes
from hexamem.graphs.research_parts import ResearchParts
from hexamem.graphs.research_plan_nodes import PlanNodes
from hexamem.graphs.research_state import LaneInput, ResearchContext, ResearchInput, ResearchOutput, ResearchState
from hexamem.memory_types.research import LANES

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

__all__ = ["build_research_graph"]


def build_research_graph(parts: ResearchParts) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph. As a subgraph it takes the parent's checkpointer, and the user of the parent's context.

    Call it with ``context=ResearchContext(user=…)`` or any context that has a ``user``.
    """
    plan, evidence = PlanNodes(parts), EvidenceNodes(parts)
    graph = StateGraph(ResearchState, ResearchContext, input_schema=ResearchInput, output_schema=ResearchOutput)
    if parts.planner is None:
        graph.add_node("plan", plan.plan)
    else:
        graph.add_node("plan", RunnableLambda(plan.plan_prepare) | parts.planner.call | plan.plan_finish)
    for lane in LANES:
        graph.add_node(lane, _named(plan, lane), input_schema=LaneInput)
        graph.add_edge(lane, "integrate")
    if parts.integrator is None:
        graph.add_node("integrate", evidence.integrate)
    else:
        node = RunnableLambda(evidence.integrate_prepare) | parts.integrator.call | evidence.integrate_finish
        graph.add_node("integrate", node)
    if parts.reflector is None:
        graph.add_node("reflect", evidence.reflect)
    else:
        graph.add_node(
            "reflect", RunnableLambda(evidence.reflect_prepare) | parts.reflector.call | evidence.reflect_finish
        )
    graph.add_node("finish", evidence.finish)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", plan.send, [*LANES, "integrate"])
    graph.add_conditional_edges("integrate", evidence.after_integrate, ["reflect", "plan", "finish"])
    graph.add_conditional_edges("reflect", evidence.after_reflect, ["plan", "finish"])
    graph.add_edge("finish", END)
    return graph.compile(name="research")


def _named(nodes: PlanNodes, lane: str) -> Callable[..., dict[str, Any]]:
    def search(state: LaneInput) -> dict[str, Any]:
        return nodes.lane(lane, state)

    search.__name__ = lane
    return search
