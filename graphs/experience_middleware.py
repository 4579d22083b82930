"""Advice and reflection for ``langchain.agents.create_agent``, as a middleware.

Before its first model call an agent is shown what earlier runs have to say about its task; when a tool fails, what was
learned about that tool; in trouble, a look back at its run. The run is the one that the callback of
``user.experience.callback()`` records: invoke the agent with it among the callbacks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.config import get_config

from ..errors import HexamemError
from ..experience.settings import ExperienceSettings
from .experience import MARK, reflected, run_in, trouble_of, turns_in

__all__ = ["ExperienceMiddleware"]


class ExperienceMiddleware(AgentMiddleware[Any, Any]):
    """Shows an agent what was learned, as material beside its task and never as a system message.

    The advice for the task stands before the task in what the model is shown, and is not kept in the thread; what is
    said about a failing tool and a reflection are kept, each once.

    Args:
        advise: whether advice for the task is shown.
        reflect: whether failing tools and trouble are answered.
        settings: when there is trouble.

    Raises:
        HexamemError: (at a model call) where no run is recorded.
    """

    def __init__(
        self, *, advise: bool = True, reflect: bool = True, settings: ExperienceSettings | None = None
    ) -> None:
        super().__init__()
        self._advise, self._reflect, self._settings = advise, reflect, settings

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """In trouble: reflection. After the failure of a tool: what was learned about it."""
        if not self._reflect:
            return None
        trouble = trouble_of(state, self._settings)
        if trouble is not None:
            return reflected(_recorder(), trouble)
        messages = state.get("messages") or ()
        turns = turns_in(messages)
        mark = f"tool {turns[-1].tool}" if turns and turns[-1].error else ""
        if not mark or any(one.additional_kwargs.get(MARK) == mark for one in messages):
            return None
        told = _recorder().tool_advice(turns[-1].tool, turns[-1].error)
        return {"messages": [HumanMessage(told.text, additional_kwargs={MARK: mark})]} if told.text else None

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """The model is shown the advice."""
        return handler(self._advised(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As :meth:`wrap_model_call`."""
        return await handler(self._advised(request))

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
