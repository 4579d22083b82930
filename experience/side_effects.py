"""Tools with side effects: how they are marked, and what keeps exploration from calling them more than once.

A tool counts as marked if its ``metadata`` has ``side_effects: True``, if it has the tag ``side_effects``, or if its MCP
annotations (in ``metadata``) say ``destructiveHint: True`` or ``readOnlyHint: False``. :func:`mark_side_effects` marks one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
    told: Mapping[str, Any] = tool.metadata or {}
    if told.get(MARK) is True or MARK in (tool.tags or ()):
        return True
    hints = [told, told["annotations"]] if isinstance(told.get("annotations"), Mapping) else [told]
    return any(one.get("destructiveHint") is True or one.get("readOnlyHint") is False for one in hints)


class EffectGuard:
    """Decides on each call of a marked tool within one exploration. Safe between threads.

    Args:
        fanned_out: whether several attempts run; then no marked tool is called at all. Otherwise each call with the
            same arguments is made once, and repetitions are given what it brought.
    """

    def __init__(self, *, fanned_out: bool) -> None:
        self._fanned_out = fanned_out
        self._made: dict[tuple[str, str], Any] = {}
        self._lock = threading.Lock()
        self.kept_back: list[str] = []
        """The calls that were not made, as ``tool(arguments)``."""

    def stand_in(self, name: str, written: str) -> tuple[bool, Any]:
        """Whether a call may be made, and what stands in for it if not; one that may be counts as made from now on."""
        key = (name, written)
        with self._lock:
            if not self._fanned_out and key not in self._made:
                self._made[key] = f"{name} is being called with these arguments already"
                return True, None
            self.kept_back.append(f"{name}({written})")
            if not self._fanned_out:
                return False, self._made[key]
        told = "was not called: it has side effects, and several attempts at the task are made"
        return False, f"{name} {told}. What would have been called: {name}({written})"

    def made(self, name: str, written: str, result: Any) -> Any:
        """Keep what a call brought; returns it."""
        with self._lock:
            self._made[name, written] = result
        return result

    def failed(self, name: str, written: str) -> None:
        """Let a call that failed be made again."""
        with self._lock:
            self._made.pop((name, written), None)


def guarded_tools(tools: Sequence[BaseTool], guard: EffectGuard) -> tuple[BaseTool, ...]:
    """The tools for one attempt: those that are marked go through the guard, the others are as they were."""
    return tuple(_guarded(one, guard) if has_side_effects(one) else one for one in tools)


def _guarded(tool: BaseTool, guard: EffectGuard) -> BaseTool:
    from langchain_core.messages.tool import ToolOutputMixin
    from langchain_core.tools import StructuredTool, Tool

    injected = _injected(tool)

    def written(given: Sequence[Any], arguments: Mapping[str, Any]) -> str:
        told = {name: value for name, value in arguments.items() if name not in injected}
        return _written({**told, **({"input": given[0]} if given else {})})

    def before(call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def run(*given: Any, **arguments: Any) -> Any:
            key = written(given, arguments)
            free, value = guard.stand_in(tool.name, key)
            if not free:
                return stand_in(value)
            try:
                return guard.made(tool.name, key, call(*given, **arguments))
            except BaseException:
                guard.failed(tool.name, key)
                raise

        return run

    def before_async(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(call)
        async def run(*given: Any, **arguments: Any) -> Any:
            key = written(given, arguments)
            free, value = guard.stand_in(tool.name, key)
            if not free:
                return stand_in(value)
            try:
                return guard.made(tool.name, key, await call(*given, **arguments))
            except BaseException:
                guard.failed(tool.name, key)
                raise

        return run

    def stand_in(value: Any) -> Any:
        """As the tool's own function would give it back."""
        if isinstance(value, ToolOutputMixin):  # it answers the earlier call by its id
            value = f"{tool.name} was called with these arguments before and is not called again"
        pair = tool.response_format == "content_and_artifact" and not isinstance(value, tuple)
        return (value, None) if pair else value

    if isinstance(tool, StructuredTool | Tool):  # its function alone is another one: how it is called stays as it was
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
    """Arguments that no model fills in, such as the state of a graph: they do not tell one call from another."""
    given = {"callbacks", "config", "runtime", "run_manager"}
    if tool.args_schema is None:
        return given
    return (given | _fields(tool.get_input_schema())) - _fields(tool.tool_call_schema)


def _fields(schema: Any) -> set[str]:
    """The names of the arguments that a schema has: a model of either pydantic, or JSON schema."""
    if isinstance(schema, Mapping):
        return set(schema.get("properties", ()))
    return set(getattr(schema, "model_fields", None) or getattr(schema, "__fields__", None) or ())


def _written(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, default=str, ensure_ascii=False)
