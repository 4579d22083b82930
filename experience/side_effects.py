"""Tools with side effects: how they are marked, and the guard that prevents exploration from calling them repeatedly.

A tool counts as marked if its ``metadata`` has ``side_effects: True``, if it has the tag ``side_effects``, or if its MCP
annotations (in ``metadata``) say ``destructiveHint: True`` or ``readOnlyHint: False``. :func:`mark_side_effects` marks one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

__all__ = ["EffectGuard", "guarded_tools", "has_side_effects", "mark_side_effects"]

MARK = "side_effects"


def mark_side_effects(tool: BaseTool) -> BaseTool:
    """A copy of a tool that is marked as having side effects: it sends, books, pays, deletes or the like."""
    return tool.model_copy(update={"metadata": {**(tool.metadata or {}), MARK: True}})


def has_side_effects(tool: BaseTool) -> bool:
    """Whether a tool is marked as having side effects."""
    metadata: Mapping[str, Any] = tool.metadata or {}
    if metadata.get(MARK) is True or MARK in (tool.tags or ()):
        return True
    annotations = metadata.get("annotations")
    hints = [metadata, *([annotations] if isinstance(annotations, Mapping) else [])]
    return any(hint.get("destructiveHint") is True or hint.get("readOnlyHint") is False for hint in hints)


@dataclass(slots=True)
class _Call:
    """A call of a marked tool: whether it is made, and its result or a replacement for it."""

    allowed: bool
    result: Any = None


class EffectGuard:
    """Decides on each call of a marked tool within one exploration. Safe between threads.

    Args:
        fanned_out: whether several attempts run; then no marked tool is called at all. Otherwise each call with the
            same arguments is made once, and repetitions get its result.

    Attributes:
        kept_back: the calls that were not made, as ``tool(arguments)``.
    """

    def __init__(self, *, fanned_out: bool) -> None:
        self._fanned_out = fanned_out
        self._results: dict[tuple[str, str], Any] = {}
        self._lock = threading.Lock()
        self.kept_back: list[str] = []

    @contextmanager
    def call(self, name: str, arguments: str) -> Iterator[_Call]:
        """Enter a call; the caller sets its ``result`` if it is allowed. A call that raises may be repeated."""
        call = self._entered(name, arguments)
        try:
            yield call
        except BaseException:
            if call.allowed:
                with self._lock:
                    self._results.pop((name, arguments), None)
            raise
        if call.allowed:
            with self._lock:
                self._results[name, arguments] = call.result

    def _entered(self, name: str, arguments: str) -> _Call:
        with self._lock:
            known = (name, arguments) in self._results
            if not self._fanned_out and not known:
                self._results[name, arguments] = f"{name} is being called with these arguments already"
                return _Call(allowed=True)
            self.kept_back.append(f"{name}({arguments})")
            if known:
                return _Call(allowed=False, result=self._results[name, arguments])
        reason = "was not called: it has side effects, and several attempts at the task are made"
        return _Call(allowed=False, result=f"{name} {reason}. What would have been called: {name}({arguments})")


def guarded_tools(tools: Sequence[BaseTool], guard: EffectGuard) -> tuple[BaseTool, ...]:
    """The tools for one attempt: marked ones go through the guard, the others are unchanged."""
    return tuple(_guarded(tool, guard) if has_side_effects(tool) else tool for tool in tools)


def _guarded(tool: BaseTool, guard: EffectGuard) -> BaseTool:
    from langchain_core.messages.tool import ToolOutputMixin
    from langchain_core.tools import StructuredTool, Tool

    injected = _injected(tool)

    def entered(args: Sequence[Any], arguments: Mapping[str, Any]) -> AbstractContextManager[_Call]:
        own = {name: value for name, value in arguments.items() if name not in injected}
        own |= {"input": args[0]} if args else {}
        return guard.call(tool.name, json.dumps(own, sort_keys=True, default=str, ensure_ascii=False))

    def before(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **arguments: Any) -> Any:
            with entered(args, arguments) as call:
                if not call.allowed:
                    return stand_in(call.result)
                call.result = function(*args, **arguments)
                return call.result

        return run

    def before_async(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(function)
        async def run(*args: Any, **arguments: Any) -> Any:
            with entered(args, arguments) as call:
                if not call.allowed:
                    return stand_in(call.result)
                call.result = await function(*args, **arguments)
                return call.result

        return run

    def stand_in(value: Any) -> Any:
        """A value in the form in which the tool's own function returns it."""
        if isinstance(value, ToolOutputMixin):  # it belongs to the id of the earlier call
            value = f"{tool.name} was called with these arguments before and is not called again"
        pair = tool.response_format == "content_and_artifact" and not isinstance(value, tuple)
        return (value, None) if pair else value

    if isinstance(tool, StructuredTool | Tool):  # only the function is replaced: how it is called is unchanged
        func = None if tool.func is None else before(tool.func)
        coroutine = None if tool.coroutine is None else before_async(tool.coroutine)
        return tool.model_copy(update={"func": func, "coroutine": coroutine})
    return StructuredTool.from_function(
        func=before(lambda **arguments: tool.invoke(arguments)),
        coroutine=before_async(lambda **arguments: tool.ainvoke(arguments)),
        name=tool.name,
        description=tool.description,
        args_schema=tool.get_input_schema() if tool.args_schema is None else tool.args_schema,
        infer_schema=False,
        return_direct=tool.return_direct,
        metadata=tool.metadata,
        tags=tool.tags,
    )


def _injected(tool: BaseTool) -> set[str]:
    """Arguments that no model fills in, such as the state of a graph: they do not distinguish calls."""
    injected = {"callbacks", "config", "runtime", "run_manager"}
    if tool.args_schema is None:
        return injected
    return (injected | _fields(tool.get_input_schema())) - _fields(tool.tool_call_schema)


def _fields(schema: Any) -> set[str]:
    """The names of the arguments that a schema has: a model of either pydantic, or JSON schema."""
    if isinstance(schema, Mapping):
        return set(schema.get("properties", ()))
    return set(getattr(schema, "model_fields", None) or getattr(schema, "__fields__", None) or ())
