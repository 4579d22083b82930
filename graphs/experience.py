"""Reflection as a part of an agent's graph: an edge that detects trouble, and a node that reflects on the run.

    … → tools ─ trouble? ─→ reflect → agent
              └──────────────────────→ agent

``add_reflection(graph, after="tools", before="agent")`` puts both into a graph whose state has ``messages``. The run is the
one that the callback of ``user.experience.callback()`` records, so the graph is built once for all users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph

from hexamem.errors import HexamemError
from hexamem.experience.reflecting import Reflection
from hexamem.experience.trouble import Trouble, TroubleSettings, Turn, trouble_in
from hexamem.graphs.experience_recording import Recorder, RunRecordingHandler
from hexamem.memory_types.settings import check_settings

__all__ = [
    "MARK",
    "Reflecting",
    "add_reflection",
    "reflected",
    "run_in",
    "trouble_of",
    "turns_in",
]

MARK = "hexamem_reflection"
"""In the ``additional_kwargs`` of an added message: "reflection", or "tool NAME" for advice on a tool."""


class Reflecting(Recorder, Protocol):
    """A recorder that can reflect; :class:`~hexamem.learning.RunRecorder` is one."""

    def reflect(self, error: str = "") -> Reflection:
        """Reflect on the run so far."""


def run_in(config: RunnableConfig) -> Any:
    """The recorder of the run that a node belongs to, from the node's config; None if no run is recorded."""
    callbacks: Any = config.get("callbacks")
    handlers = callbacks if isinstance(callbacks, list) else getattr(callbacks, "handlers", [])
    parent = getattr(callbacks, "parent_run_id", None)
    for handler in handlers:
        if isinstance(handler, RunRecordingHandler):
            recorder = handler.recorder_of(parent)
            if recorder is not None:
                return recorder
    return None


def turns_in(messages: Sequence[BaseMessage]) -> list[Turn]:
    """The tool calls with their results since the last human message or reflection."""
    start = max((index for index, message in enumerate(messages) if _begins(message)), default=-1) + 1
    calls: dict[str, tuple[str, str]] = {}
    turns: list[Turn] = []
    for message in messages[start:]:
        if isinstance(message, AIMessage):
            calls |= {
                call["id"] or "": (call["name"], f"{call['name']}({call['args']})") for call in message.tool_calls
            }
        elif isinstance(message, ToolMessage):
            name, action = calls.get(message.tool_call_id, (message.name or "tool", message.name or "tool"))
            failed = message.status == "error"
            turns.append(
                Turn(
                    action=action,
                    tool=name,
                    error=message.text if failed else "",
                    observation="" if failed else message.text,
                )
            )
    return turns


def _begins(message: BaseMessage) -> bool:
    """Whether turns are counted from this message on: a human's, or a reflection."""
    return isinstance(message, HumanMessage) and message.additional_kwargs.get(MARK, "reflection") == "reflection"


def trouble_of(state: Mapping[str, Any], settings: TroubleSettings | None = None) -> Trouble | None:
    """The trouble at the end of a state's messages; None if there is none."""
    return trouble_in(turns_in(state.get("messages") or ()), settings or TroubleSettings())


def reflected(recorder: Any, trouble: Trouble | None) -> dict[str, Any]:
    """The update of a state by a reflection: one message, or none."""
    reflection: Reflection = recorder.reflect(trouble.summary if trouble is not None else "")
    if not reflection.text:
        return {"messages": []}
    return {"messages": [HumanMessage(reflection.text, additional_kwargs={MARK: "reflection"})]}


def add_reflection(
    graph: StateGraph[Any, Any, Any, Any],
    *,
    after: str,
    before: str,
    run: Reflecting | None = None,
    name: str = "reflect",
    settings: TroubleSettings | None = None,
) -> None:
    """Add an edge that detects trouble and a node that reflects between two nodes of a graph.

    They replace an edge from one to the other. Trouble is a repeated error of the same tool, invalid actions, or no
    progress: see :func:`~hexamem.experience.trouble.trouble_in`. The node adds its advice as a message, if there is any,
    and raises HexamemError if no run is recorded.

    Args:
        graph: not yet compiled; its state has ``messages``.
        after: the node that calls tools.
        before: the node that continues.
        run: the recorder; None for that of the callback which records the graph's run.
        name: of the node.
        settings: when there is trouble.

    Raises:
        ConfigError: for settings of another type.
    """
    checked = check_settings(settings, TroubleSettings, "add_reflection: settings")

    def route(state: Mapping[str, Any]) -> str:
        return before if trouble_of(state, checked) is None else name

    def reflect(state: Any, config: RunnableConfig) -> dict[str, Any]:
        recorder = run if run is not None else run_in(config)
        if recorder is None:
            raise HexamemError(
                "reflection: no run is being recorded: invoke the graph with "
                "config={'callbacks': [user.experience.callback()]}, or pass add_reflection(run=…)"
            )
        return reflected(recorder, trouble_of(state, checked))

    graph.add_node(name, reflect)
    graph.add_conditional_edges(after, route, [name, before])
    graph.add_edge(name, before)
