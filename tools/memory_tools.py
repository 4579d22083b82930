"""LangChain tools over a memory, made from the table of operations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain.tools import ToolRuntime
from langchain_core.tools import StructuredTool, ToolException

from hexamem.errors import ConfigError, HexamemError
from hexamem.graphs.memory_scope import ScopeResolver, resolve_scope
from hexamem.memory import Memory, check_memory
from hexamem.tools.operations import OPERATIONS, MemoryOperation, OperationCall

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def memory_tools(
    memory: Memory, *, names: Collection[str] | None = None, scope: ScopeResolver | None = None
) -> list[BaseTool]:
    """Tools over the memory of the run's user, sync and async.

    The user is set by the run, ``invoke(…, context={"user": "alice"})``, never by the model: no tool has an argument for it.
    Secrets are returned only as references ``{{vault:ID|caption}}``. An error of the model, such as an unknown id, is the
    result of the tool, with status "error"; a run without a user fails.

    Args:
        memory: an open memory.
        names: the tools to return, of ``search_memory``, ``research_memory``, ``remember``, ``update_core``, ``find_to_forget``,
            ``forget``, ``list_memory``, ``read_resource``, ``use_secret``; None for all.
        scope: ``ToolRuntime`` → the user and thread, instead of the context.

    Raises:
        ConfigError: for an unknown name.
    """
    check_memory(memory, "memory_tools")
    available = {operation.name: operation for operation in OPERATIONS}
    chosen = list(available) if names is None else list(dict.fromkeys(names))
    unknown = [name for name in chosen if name not in available]
    if unknown:
        raise ConfigError(f"memory_tools has no {', '.join(unknown)}: use some of {', '.join(available)}")
    return [_tool(memory, available[name], scope) for name in chosen]


def _tool(memory: Memory, operation: MemoryOperation[Any], scope: ScopeResolver | None) -> BaseTool:
    def call(runtime: ToolRuntime, **arguments: Any) -> dict[str, Any]:
        resolved = resolve_scope(operation.name, runtime, runtime.config, scope)
        state = runtime.state if isinstance(runtime.state, Mapping) else {}  # set by MemoryMiddleware
        context = OperationCall(
            scope=resolved,
            visible=frozenset(state.get("memory_visible") or ()),
            message_id=_last_user_message(state.get("messages") or ()),
        )
        try:
            return operation.run(memory.user(resolved.user), context, operation.input(**arguments))
        except HexamemError as error:  # the model can correct its next call
            raise ToolException(str(error)) from error

    return StructuredTool(
        name=operation.name,
        description=operation.description,
        args_schema=operation.input,
        func=call,
        handle_tool_error=True,
    )


def _last_user_message(messages: Sequence[Any]) -> str | None:
    """The id of the user's last message; None where it has none."""
    last = next((message for message in reversed(messages) if getattr(message, "type", "") == "human"), None)
    return last.id or None if last is not None else None
