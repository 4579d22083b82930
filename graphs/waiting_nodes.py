"""Nodes that wait for an answer: of a model, an agent, another graph. Written once, they run by ``invoke`` and ``ainvoke``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda


class Request(NamedTuple):
    """A call of the node's runnable: its input, and a config and a context where it takes them."""

    input: Any
    config: RunnableConfig | None = None
    context: Any = None

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of the call."""
        return {} if self.context is None else {"context": self.context}


Waiting: TypeAlias = Generator[Request, Any, dict[str, Any]]
"""A node in progress: it yields requests, is sent their answers, and returns the update of the state."""


def waiting_node(
    node: Callable[[Any], Waiting], runnable: Runnable[Any, Any] | None, name: str, *, detached: bool = False
) -> RunnableLambda[Any, dict[str, Any]]:
    """A node that yields requests to a runnable: ``reply = yield Request(prompt)``.

    With ``ainvoke`` the runnable is awaited, and the code between requests, which reads stores, runs in a thread. A
    runnable that is a graph is drawn as a subgraph. What it raises, an interrupt too, is raised by the node.
    """

    def run(state: Any) -> dict[str, Any]:
        steps = node(state)
        request, update = _advance(steps)
        while request is not None:
            assert runnable is not None
            target: Any = runnable.copy({"checkpointer": False}) if detached else runnable  # type: ignore[attr-defined]
            answer = target.invoke(request.input, request.config, **request.options)
            request, update = _advance(steps, answer)
        return update

    async def arun(state: Any) -> dict[str, Any]:
        steps = node(state)
        request, update = await asyncio.to_thread(_advance, steps)
        while request is not None:
            assert runnable is not None
            target: Any = runnable.copy({"checkpointer": False}) if detached else runnable  # type: ignore[attr-defined]
            answer = await target.ainvoke(request.input, request.config, **request.options)
            request, update = await asyncio.to_thread(_advance, steps, answer)
        return update

    return RunnableLambda(run, arun, name=name)


def _advance(steps: Waiting, answer: Any = None) -> tuple[Request | None, dict[str, Any]]:
    """The next request, or the update at the end."""
    try:
        return steps.send(answer), {}
    except StopIteration as ended:
        return None, ended.value
