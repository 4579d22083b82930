"""Reflection as a part of an agent's graph: an edge that sees trouble, and a node that looks back at the run.

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
"""In the ``additional_kwargs`` of a message that was put in: "reflection", or "tool NAME" for what is known of a tool."""


class Reflecting(Recorder, Protocol):
    """A recorder that can look back; :class:`~hexamem.learning.RunRecorder` is one."""

    def reflect(self, error: str = "") -> Reflection:
        """What to do otherwise."""


def run_in(config: RunnableConfig) -> Any:
    """The recorder of the run that a node belongs to, from the config that LangGraph gives it; None where none records."""
    callbacks: Any = config.get("callbacks")
    handlers = callbacks if isinstance(callbacks, list) else getattr(callbacks, "handlers", [])
    parent = getattr(callbacks, "parent_run_id", None)
    for one in handlers:
        if isinstance(one, RunRecordingHandler):
            found = one.recorder_of(parent)
            if found is not None:
                return found
    return None


def turns_in(messages: Sequence[BaseMessage]) -> list[Turn]:
    """The tool calls of the current task with what they brought, since the last word of a person or the last reflection."""
    start = max((at for at, one in enumerate(messages) if _begins(one)), default=-1) + 1
    asked: dict[str, tuple[str, str]] = {}
    found: list[Turn] = []
    for one in messages[start:]:
        if isinstance(one, AIMessage):
            asked |= {call["id"] or "": (call["name"], f"{call['name']}({call['args']})") for call in one.tool_calls}
        elif isinstance(one, ToolMessage):
            name, action = asked.get(one.tool_call_id, (one.name or "tool", one.name or "tool"))
            failed = one.status == "error"
            found.append(
                Turn(action=action, tool=name, error=one.text if failed else "", observation="" if failed else one.text)
            )
    return found


def _begins(message: BaseMessage) -> bool:
    """Whether turns are counted from a message on: a person's, or a reflection."""
    return isinstance(message, HumanMessage) and message.additional_kwargs.get(MARK, "reflection") == "reflection"


def trouble_of(state: Mapping[str, Any], settings: TroubleSettings | None = None) -> Trouble | None:
    """What is wrong at the end of a state's messages; None where nothing is."""
    return trouble_in(turns_in(state.get("messages") or ()), settings or TroubleSettings())


def reflected(recorder: Any, trouble: Trouble | None) -> dict[str, Any]:
    """The update of a state by a reflection: one message, or none."""
    reflection: Reflection = recorder.reflect(trouble.said if trouble is not None else "")
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
    """Put an edge that sees trouble and a node that looks back between two nodes of a graph.

    They take the place of an edge from one to the other. Trouble is an error of the same tool that repeats, invalid
    actions, or no progress: see :func:`~hexamem.experience.trouble.trouble_in`. The node adds what to do otherwise as a
    message of material, if there is anything, and raises HexamemError where no run is recorded.

    Args:
        graph: not yet compiled; its state has ``messages``.
        after: the node that calls tools.
        before: the node that goes on.
        run: the recorder; None for that of the callback which records the graph's run.
        name: of the node.
        settings: when there is trouble.

    Raises:
        ConfigError: for settings that are none.
    """
    checked = check_settings(settings, TroubleSettings, "add_reflection: settings")

    def route(state: Mapping[str, Any]) -> str:
        return before if trouble_of(state, checked) is None else name

    def reflect(state: Any, config: RunnableConfig) -> dict[str, Any]:
        recorder = run if run is not None else run_in(config)
        if recorder is None:
            raise HexamemError(
                "reflection finds no run that is recorded: invoke the graph with "
                "config={'callbacks': [user.experience.callback()]}, or give add_reflection(run=…)"
            )
        return reflected(recorder, trouble_of(state, checked))

    graph.add_node(name, reflect)
    graph.add_conditional_edges(after, route, [name, before])
    graph.add_edge(name, before)
