"""Reflection as a part of an agent's graph: an edge that detects trouble, and a node that reflects on the run.

    … → tools ─ trouble? ─→ reflect → agent
              └──────────────────────→ agent

``add_reflection(graph, after="tools", before="agent")`` puts both into a graph whose state has ``messages``. The run is the
one that the callback of ``user.experience.callback()`` records, so the graph is built once for all users.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.graph import StateGraph

from hexamem.errors import HexamemError
from hexamem.experience.reflecting import Reflection
from hexamem.experience.trouble import Trouble, TroubleSettings, Turn, trouble_in
from hexamem.graphs.experience_recording import Recorder, RunRecordingHandler
from hexamem.memory_types.settings import check_settings

MARK = "hexamem_reflection"
"""In the ``additional_kwargs`` of an added message: "reflection", or "tool NAME" for advice on a tool."""


class Reflecting(Recorder, Protocol):
    """A recorder that can reflect; :class:`~hexamem.learning.RunRecorder` is one."""

    def reflect(self, error: str = "") -> Reflection:
        """Reflect on the run so far."""


def run_in(config: RunnableConfig, messages: Sequence[BaseMessage] = ()) -> Any:
    """The recorder of the run that a node belongs to, from the node's config; None if no run is recorded."""
    callbacks: Any = config.get("callbacks")
    handlers = callbacks if isinstance(callbacks, list) else getattr(callbacks, "handlers", [])
    parent = getattr(callbacks, "parent_run_id", None)
    for handler in handlers:
        if isinstance(handler, RunRecordingHandler):
            recorder = handler.recorder_of(parent)
            if recorder is not None:
                handler.see(parent, messages)
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
        recorder = run if run is not None else run_in(config, state.get("messages") or ())
        if recorder is None:
            raise HexamemError(
                "reflection: no run is being recorded: invoke the graph with "
                "config={'callbacks': [user.experience.callback()]}, or pass add_reflection(run=…)"
            )
        return reflected(recorder, trouble_of(state, checked))

    graph.add_node(name, reflect)
    graph.add_conditional_edges(after, route, [name, before])
    graph.add_edge(name, before)


class ExperienceMiddleware(AgentMiddleware[Any, Any]):
    """Shows an agent what was learned, as data before its task and never as a system message.

    Advice for the task precedes the task in the model's request, and is not stored in the thread; advice on a tool and
    reflections are stored in the thread, each once. If the model calls a tool for which there is advice that it has not
    seen, the advice is added and the model is called once more before the tool runs: at most one more request per tool
    and run, and none without advice.

    Args:
        advise: whether advice for the task is shown.
        reflect: whether failing tools and trouble are answered.
        before_tools: whether advice on a tool is shown before it is called, and not only after it failed.
        settings: when there is trouble.

    Raises:
        ConfigError: for settings of another type.
        HexamemError: (at a model call) if no run is recorded.
    """

    def __init__(
        self,
        *,
        advise: bool = True,
        reflect: bool = True,
        before_tools: bool = True,
        settings: TroubleSettings | None = None,
    ) -> None:
        super().__init__()
        self._advise, self._reflect, self._before = advise, reflect, before_tools
        self._settings = check_settings(settings, TroubleSettings, "ExperienceMiddleware: settings")

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """In trouble add a reflection; after the failure of a tool, advice on it."""
        if not self._reflect:
            return None
        trouble = trouble_of(state, self._settings)
        if trouble is not None:
            return reflected(_recorder(state.get("messages") or ()), trouble)
        messages = state.get("messages") or ()
        turns = turns_in(messages)
        known = _known_of(turns[-1].tool, messages, turns[-1].error) if turns and turns[-1].error else None
        return {"messages": [known]} if known else None

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the model the advice for its task, and advice on the tools that it is about to call."""
        advised = self._advised(request)
        response = handler(advised)
        known = self._known_before(request, response)
        return _after(known, handler(_with(advised, known))) if known else response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As :meth:`wrap_model_call`."""
        advised = self._advised(request)
        response = await handler(advised)
        known = self._known_before(request, response)
        return _after(known, await handler(_with(advised, known))) if known else response

    def _known_before(self, request: ModelRequest[Any], response: ModelResponse[Any]) -> list[AnyMessage]:
        """Advice on the tools that a response calls, as far as the run has not seen it."""
        if not self._before:
            return []
        calls = [call for message in response.result if isinstance(message, AIMessage) for call in message.tool_calls]
        names = dict.fromkeys(call["name"] for call in calls)
        return [known for known in (_known_of(name, request.messages) for name in names) if known]

    def _advised(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if not self._advise:
            return request
        text = _recorder().advice.text
        if not text:
            return request
        messages: list[AnyMessage] = list(request.messages)
        tasks = [
            index for index, message in enumerate(messages) if isinstance(message, HumanMessage) and not _ours(message)
        ]
        messages.insert(tasks[-1] if tasks else 0, HumanMessage(text))
        return request.override(messages=messages)


def _known_of(tool: str, messages: Sequence[AnyMessage], error: str = "") -> HumanMessage | None:
    """A message with advice on a tool; None if there is none, or the thread has it already."""
    mark = f"tool {tool}"
    if any(message.additional_kwargs.get(MARK) == mark for message in messages):
        return None
    advice = _recorder().tool_advice(tool, error)
    return HumanMessage(advice.text, additional_kwargs={MARK: mark}) if advice.text else None


def _with(request: ModelRequest[Any], known: Sequence[AnyMessage]) -> ModelRequest[Any]:
    return request.override(messages=[*request.messages, *known])


def _after(known: Sequence[AnyMessage], response: ModelResponse[Any]) -> ModelResponse[Any]:
    """The response after the advice that led to it, so that both are stored in the thread."""
    return replace(response, result=[*known, *response.result])


def _ours(message: HumanMessage) -> bool:
    return MARK in message.additional_kwargs


def _recorder(messages: Sequence[BaseMessage] = ()) -> Any:
    recorder = run_in(get_config(), messages)
    if recorder is None:
        raise HexamemError(
            "ExperienceMiddleware: no run is being recorded: invoke the agent with "
            "config={'callbacks': [user.experience.callback()]}"
        )
    return recorder
