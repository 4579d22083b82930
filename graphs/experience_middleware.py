"""Advice and reflection for ``langchain.agents.create_agent``, as a middleware.

Before its first model call an agent is shown advice for its task from earlier runs; when it is about to call a tool, or
that failed, what was learned about that tool; in trouble, a reflection on its run. The run is the one that the callback
of ``user.experience.callback()`` records: invoke the agent with it among the callbacks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.config import get_config

from hexamem.errors import HexamemError
from hexamem.experience.trouble import TroubleSettings
from hexamem.graphs.experience import MARK, reflected, run_in, trouble_of, turns_in
from hexamem.memory_types.settings import check_settings

__all__ = ["ExperienceMiddleware"]


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
            return reflected(_recorder(), trouble)
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


def _recorder() -> Any:
    recorder = run_in(get_config())
    if recorder is None:
        raise HexamemError(
            "ExperienceMiddleware: no run is being recorded: invoke the agent with "
            "config={'callbacks': [user.experience.callback()]}"
        )
    return recorder
