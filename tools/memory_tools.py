"""LangChain tools over a memory, made from the table of operations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain.tools import ToolRuntime
from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel

from hexamem.errors import ConfigError, HexamemError
from hexamem.graphs.scope import ScopeResolver, resolve_scope
from hexamem.tools.operations import OPERATIONS, MemoryOperation, OperationCall

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from hexamem.memory import Memory

__all__ = ["memory_tools"]


def memory_tools(
    memory: Memory, *, names: Collection[str] | None = None, scope: ScopeResolver | None = None
) -> list[BaseTool]:
    """Tools by which a model works with the memory of the run's user; by ``invoke`` and ``ainvoke`` alike.

    The user is bound by the run, ``invoke(…, context={"user": "alice"})``, never by the model: no tool has an argument for it.
    Secrets come as references ``{{vault:ID|caption}}`` only. What a model did wrong (an id that there is not) is told to
    it as the tool's result, with status "error"; a run without a user fails.

    Args:
        memory: an open memory.
        names: which ones, of ``search_memory``, ``research_memory``, ``remember``, ``update_core``, ``find_to_forget``,
            ``forget``, ``list_memory``, ``read_resource``, ``use_secret``; all when None.
        scope: tells the user from the tool's ``ToolRuntime``, in place of the context.

    Raises:
        ConfigError: for a name that there is not.
    """
    offered = {one.name: one for one in OPERATIONS if "model" in one.callers}
    chosen = list(offered) if names is None else list(dict.fromkeys(names))
    unknown = [name for name in chosen if name not in offered]
    if unknown:
        raise ConfigError(f"memory_tools has no {', '.join(unknown)}: use some of {', '.join(offered)}")
    return [_tool(memory, offered[name], scope) for name in chosen]


def _tool(memory: Memory, operation: MemoryOperation[Any, Any], scope: ScopeResolver | None) -> BaseTool:
    return StructuredTool(
        name=operation.name,
        description=operation.description,
        args_schema=operation.input,
        func=_caller(memory, operation, scope),
        handle_tool_error=True,
    )


def _caller(
    memory: Memory, operation: MemoryOperation[Any, Any], scope: ScopeResolver | None
) -> Callable[..., dict[str, Any]]:
    def call(runtime: ToolRuntime, **given: Any) -> dict[str, Any]:
        found = resolve_scope(operation.name, runtime, runtime.config, scope)
        values = {name: value.model_dump() if isinstance(value, BaseModel) else value for name, value in given.items()}
        user = memory.user(found.user)
        state = runtime.state if isinstance(runtime.state, Mapping) else {}  # as MemoryMiddleware keeps it
        made = OperationCall(
            scope=found,
            visible=frozenset(state.get("memory_visible") or ()),
            shown=str(state.get("memory_text") or ""),
            message_id=_answered(state.get("messages") or ()),
        )
        try:
            result = operation.run(user, made, operation.input(**values))
        except HexamemError as error:  # a model can do better at its next call
            raise ToolException(str(error)) from error
        dumped: dict[str, Any] = result.model_dump(mode="json", exclude_none=True)
        return dumped

    return call


def _answered(messages: Sequence[Any]) -> str | None:
    """The id of the user's last message; None where the host gives it none."""
    last = next((one for one in reversed(messages) if getattr(one, "type", "") == "human"), None)
    return last.id or None if last is not None else None
