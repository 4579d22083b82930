"""Advice and reflection for ``langchain.agents.create_agent``, as a middleware.

Before its first model call an agent is shown what earlier runs have to say about its task; when it is about to call a tool,
or that failed, what was learned about that tool; in trouble, a look back at its run. The run is the one that the callback of
``user.experience.callback()`` records: invoke the agent with it among the callbacks.
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
    """Shows an agent what was learned, as material beside its task and never as a system message.

    The advice for the task stands before the task in what the model is shown, and is not kept in the thread; what is
    said about a tool and a reflection are kept, each once. Where a model asks for a tool of which something is known that
    it was not given yet, it is given that and asked once more, before the tool is called: one more request a tool and
    run at most, and none where nothing is known.

    Args:
        advise: whether advice for the task is shown.
        reflect: whether failing tools and trouble are answered.
        before_tools: whether what is known of a tool is given before it is called, and not only once it failed.
        settings: when there is trouble.

    Raises:
        ConfigError: for settings that are none.
        HexamemError: (at a model call) where no run is recorded.
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
        """In trouble: reflection. After the failure of a tool: what was learned about it."""
        if not self._reflect:
            return None
        trouble = trouble_of(state, self._settings)
        if trouble is not None:
            return reflected(_recorder(), trouble)
        messages = state.get("messages") or ()
        turns = turns_in(messages)
        told = _known_of(turns[-1].tool, messages, turns[-1].error) if turns and turns[-1].error else None
        return {"messages": [told]} if told else None

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """The model is shown the advice, and what is known of the tools that it is about to call."""
        advised = self._advised(request)
        response = handler(advised)
        told = self._known_before(request, response)
        return _after(told, handler(_with(advised, told))) if told else response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As :meth:`wrap_model_call`."""
        advised = self._advised(request)
        response = await handler(advised)
        told = self._known_before(request, response)
        return _after(told, await handler(_with(advised, told))) if told else response

    def _known_before(self, request: ModelRequest[Any], response: ModelResponse[Any]) -> list[AnyMessage]:
        """What is known of the tools that a response calls, and was not said in the thread or given to the run yet."""
        if not self._before:
            return []
        calls = [call for one in response.result if isinstance(one, AIMessage) for call in one.tool_calls]
        names = dict.fromkeys(call["name"] for call in calls)
        return [told for told in (_known_of(name, request.messages) for name in names) if told]

    def _advised(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if not self._advise:
            return request
        text = _recorder().advice.text
        if not text:
            return request
        messages: list[AnyMessage] = list(request.messages)
        tasks = [at for at, one in enumerate(messages) if isinstance(one, HumanMessage) and not _ours(one)]
        messages.insert(tasks[-1] if tasks else 0, HumanMessage(text))
        return request.override(messages=messages)


def _known_of(tool: str, messages: Sequence[AnyMessage], error: str = "") -> HumanMessage | None:
    """A message with what is known of a tool; None where that is nothing, or stands in the thread already."""
    mark = f"tool {tool}"
    if any(one.additional_kwargs.get(MARK) == mark for one in messages):
        return None
    told = _recorder().tool_advice(tool, error)
    return HumanMessage(told.text, additional_kwargs={MARK: mark}) if told.text else None


def _with(request: ModelRequest[Any], told: Sequence[AnyMessage]) -> ModelRequest[Any]:
    return request.override(messages=[*request.messages, *told])


def _after(told: Sequence[AnyMessage], response: ModelResponse[Any]) -> ModelResponse[Any]:
    """The response with what its model was told before it, so that the thread keeps that."""
    return replace(response, result=[*told, *response.result])


def _ours(message: HumanMessage) -> bool:
    return MARK in message.additional_kwargs


def _recorder() -> Any:
    found = run_in(get_config())
    if found is None:
        raise HexamemError(
            "the middleware finds no run that is recorded: invoke the agent with "
            "config={'callbacks': [user.experience.callback()]}"
        )
    return found
