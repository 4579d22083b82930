"""Whose memory a run works on: the user and the thread, from the run's context and configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from langgraph.config import get_config
from langgraph.runtime import get_runtime

from hexamem.errors import InvalidInputError, MissingUserError


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


_CONFIGURED = ("user_id", "langgraph_user_id")


def resolve_scope(
    caller: str, runtime: Any, config: Mapping[str, Any] | None = None, resolver: ScopeResolver | None = None
) -> MemoryScope:
    """The scope of a run.

    The user is, in this order: ``user`` or ``user_id`` of ``runtime.context``, which may be a mapping or any object; then
    ``user_id`` or ``langgraph_user_id`` of ``config["configurable"]``. The thread is ``thread_id`` of the context, else that
    of ``config["configurable"]``, which a checkpointer needs too, else ``"default"``; the agent is ``agent_id`` of the
    context. A resolver replaces the context.

    Args:
        caller: what asks, for the message of the error.
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
        resolved = resolver(runtime)
        if isinstance(resolved, MemoryScope):
            return _checked(caller, resolved.user, resolved.thread_id, resolved.agent_id, "scope= returned")
        return _checked(caller, resolved, thread, None, "scope= returned")
    user: Any = None
    for holder, name in ((context, "user"), (context, "user_id"), *((configured, name) for name in _CONFIGURED)):
        user = user if user is not None else _field(holder, name)
    return _checked(
        caller,
        user,
        _field(context, "thread_id") or thread,
        _field(context, "agent_id"),
        "context and configuration have",
    )


def run_scope(caller: str, resolver: ScopeResolver | None = None) -> MemoryScope:
    """The scope of the run in which a node calls it."""
    return resolve_scope(caller, get_runtime(), get_config(), resolver)


C = TypeVar("C")


def run_context(kind: Callable[..., C], caller: str) -> C:
    """The context of the run in which a node calls it; of a host's own context or configuration only the user is read."""
    context: object = get_runtime().context
    if isinstance(context, cast("type", kind)) and str(getattr(context, "user", "")).strip():
        return cast("C", context)
    return kind(user=run_scope(caller).user)


def _field(context: object, name: str) -> Any:
    return context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)


def _checked(caller: str, user: object, thread_id: object, agent_id: object, source: str) -> MemoryScope:
    if not isinstance(user, str) or not user.strip():
        raise MissingUserError(
            f"{caller} does not know whose memory it works on: {source} user = {user!r}. Pass the user with the run, "
            "invoke(…, context={'user': 'alice'}), or build it with scope=, a function from the runtime to the user"
        )
    for name, value in (("thread_id", thread_id), ("agent_id", agent_id)):
        if value is not None and not isinstance(value, str):
            raise InvalidInputError(f"{caller}: {name} = {value!r} of the run is no text; give a string")
    return MemoryScope(user=user, thread_id=str(thread_id or "default"), agent_id=str(agent_id) if agent_id else None)
