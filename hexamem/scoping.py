"""Whose memory a run works on: the user and the thread, from the run's context and configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hexamem.errors import InvalidInputError, MissingUserError

__all__ = ["MemoryScope", "ScopeResolver", "resolve_scope"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryScope:
    """Whose memory a run reads and writes.

    Attributes:
        user: the user; never empty.
        thread_id: the conversation, in which steps keep their order.
        agent_id: which agent it is the memory of, for filtering; None for none.
    """

    user: str
    thread_id: str = "default"
    agent_id: str | None = None


ScopeResolver: TypeAlias = Callable[[Any], "MemoryScope | str"]
"""Tells from a run's ``Runtime`` (in tools, its ``ToolRuntime``) whose memory it is: a scope, or the user's name."""


def resolve_scope(
    door: str, runtime: Any, config: Mapping[str, Any] | None = None, resolver: ScopeResolver | None = None
) -> MemoryScope:
    """The scope of a run.

    The user is ``user`` of ``runtime.context``, which may be a mapping or any object. The thread is ``thread_id`` of the
    context, else that of ``config["configurable"]``, as a host with a checkpointer gives it, else ``"default"``; the
    agent is ``agent_id`` of the context. A resolver takes the place of the context.

    Args:
        door: what asks, for the message of the error.
        runtime: the run's ``Runtime`` or ``ToolRuntime``; its ``context`` is read.
        config: the run's configuration.
        resolver: see :data:`ScopeResolver`.

    Raises:
        MissingUserError: where no user is named. A missing user never means all users.
        InvalidInputError: for a thread or agent that is no text.
    """
    context = getattr(runtime, "context", None)
    configured = (config or {}).get("configurable") or {}
    thread = configured.get("thread_id") or "default"
    if resolver is not None:
        found = resolver(runtime)
        if isinstance(found, MemoryScope):
            return _checked(door, found.user, found.thread_id, found.agent_id, "scope= gave")
        return _checked(door, found, thread, None, "scope= gave")
    user = _field(context, "user")
    return _checked(door, user, _field(context, "thread_id") or thread, _field(context, "agent_id"), "the context has")


def _field(context: object, name: str) -> Any:
    return context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)


def _checked(door: str, user: object, thread_id: object, agent_id: object, source: str) -> MemoryScope:
    if not isinstance(user, str) or not user.strip():
        raise MissingUserError(
            f"{door} does not know whose memory it works on: {source} user = {user!r}. Give the run a context with a "
            "user, invoke(…, context={'user': 'alice'}), or build it with scope=, a function that tells the user "
            "from the runtime"
        )
    for name, value in (("thread_id", thread_id), ("agent_id", agent_id)):
        if value is not None and not isinstance(value, str):
            raise InvalidInputError(f"{door}: {name} = {value!r} of the run is no text; give a string")
    return MemoryScope(user=user, thread_id=str(thread_id or "default"), agent_id=str(agent_id) if agent_id else None)
