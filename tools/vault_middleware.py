"""Middleware that passes secrets to tools: the model writes a reference, and only the tool receives the value."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args
from urllib.parse import quote

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, interrupt
from langsmith import tracing_context
from pydantic import PrivateAttr

from hexamem.aligning import MEMORY_TOOLS
from hexamem.errors import ConfigError, HexamemError, NotFoundError
from hexamem.graphs.memory_scope import ScopeResolver, resolve_scope
from hexamem.memory import Memory, check_memory
from hexamem.memory_types import Sensitivity, VaultItem
from hexamem.memory_types.times import shown
from hexamem.stores.ledger import whole_words
from hexamem.stores.ledger.vault import list_secrets
from hexamem.stores.secrets import reference

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.prebuilt.tool_node import ToolCallRequest

    from hexamem.user import UserMemory

T = TypeVar("T")
# With or without the caption, which models may leave out.
_REFERENCE = re.compile(r"\{\{\s*vault:([A-Za-z0-9_.:-]{1,80})(?:\|[^{}\r\n]{0,200})?\s*\}\}")
_APPROVE: tuple[Sensitivity, ...] = ("high",)
_NESTED = 3  # levels of JSON within JSON
_SHORT = 8  # characters; a shorter value is replaced in results only as a whole word
_DECISIONS = 'resume with {"decisions": [{"type": "approve"}]} or {"decisions": [{"type": "reject"}]}'


class VaultMiddleware(AgentMiddleware[Any, Any]):
    """Replaces references to secrets in the arguments of listed tools by their values, for ``create_agent``.

    For a reference ``{{vault:ID|caption}}`` (see the tool ``use_secret``) in an argument of a listed tool, ``wrap_tool_call``
    requests approval if the sensitivity of the secret needs it, by an ``interrupt`` in the form of LangChain's
    ``HumanInTheLoopMiddleware``; reveals the secret, which is audited with the name of the tool; calls the tool; and replaces
    the value in the result by the reference, also in errors. The history has the call with the reference. The tool runs
    without callbacks and tracing, so that no trace contains the value; tools that are not listed receive the reference.

    Resume with ``Command(resume={"decisions": [{"type": "approve"}]})`` or ``"reject"``; any other answer is
    no approval. Approval needs a checkpointer.

    Args:
        memory: an open memory.
        tools: the tools, or their names, that may receive secrets. Tools of the memory itself may not.
        approve: the sensitivities that need approval for each call.
        scope: ``ToolRuntime`` → the user and thread, instead of the context.

    Raises:
        ConfigError: for a tool of the memory itself, or an unknown sensitivity.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        tools: Collection[str | BaseTool],
        approve: Collection[Sensitivity] = _APPROVE,
        scope: ScopeResolver | None = None,
    ) -> None:
        super().__init__()
        check_memory(memory, "VaultMiddleware")
        self._memory, self._scope = memory, scope
        self._listed = frozenset(tool if isinstance(tool, str) else tool.name for tool in tools)
        self._approve = frozenset(approve)
        own = sorted(self._listed & MEMORY_TOOLS)
        if own:
            raise ConfigError(
                f"VaultMiddleware(tools=…) lists {', '.join(own)}: the memory's own tools receive no secrets"
            )
        unknown = sorted(self._approve - set(get_args(Sensitivity)))
        if unknown:
            raise ConfigError(f"VaultMiddleware(approve={unknown!r}): use some of {', '.join(get_args(Sensitivity))}")

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """As :class:`VaultMiddleware`."""
        prepared = self._prepare(request)
        if not isinstance(prepared, _Values):
            return handler(request) if prepared is None else prepared
        return prepared.hide(handler(prepared.sealed(request)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """As :class:`VaultMiddleware`."""
        prepared = await asyncio.to_thread(self._prepare, request)
        if not isinstance(prepared, _Values):
            return await handler(request) if prepared is None else prepared
        return prepared.hide(await handler(prepared.sealed(request)))

    def _prepare(self, request: ToolCallRequest) -> _Values | ToolMessage | None:
        """The values for a call; a message instead of its result where it is refused; None for a call without references."""
        call = request.tool_call
        wanted = list(dict.fromkeys(_references(call["args"]))) if call["name"] in self._listed else []
        if not wanted:
            return None
        runtime = request.runtime
        resolved = resolve_scope("VaultMiddleware", runtime, getattr(runtime, "config", None), self._scope)
        user = self._memory.user(resolved.user)
        try:
            known = _described(user, wanted)
        except HexamemError as error:
            return _refused(call, str(error))
        to_approve = [secret_id for secret_id in wanted if known[secret_id][1] in self._approve]
        if to_approve:
            captions = ", ".join(known[secret_id][0] for secret_id in to_approve)
            if (reason := _refusal(call, captions)) is not None:
                return _refused(call, reason)
        try:
            values = {
                secret_id: user.reveal(
                    secret_id, reason=f"given to the tool {call['name']}", actor=f"tool:{call['name']}"
                )
                for secret_id in wanted
            }
        except HexamemError as error:
            return _refused(call, str(error))
        return _Values(values, {secret_id: reference(secret_id, known[secret_id][0]) for secret_id in wanted})


class _Values:
    """The plaintext of one call, while it runs."""

    def __init__(self, values: Mapping[str, str], references: Mapping[str, str]) -> None:
        self._values = values
        forms: dict[str, str] = {}
        for secret_id, plaintext in values.items():
            for form in _forms(plaintext):
                forms.setdefault(form, references[secret_id])
        self._forms = sorted(forms.items(), key=lambda pair: -len(pair[0]))  # a long form may contain a short one

    def sealed(self, request: ToolCallRequest) -> ToolCallRequest:
        """The request with a wrapped tool that inserts the values; callbacks around it receive the references."""
        assert request.tool is not None, f"{request.tool_call['name']} is no tool of the agent"
        tool = _Sealed(
            name=request.tool.name,
            description=request.tool.description,
            args_schema=request.tool.args_schema,
            callbacks=None,
        )
        tool._inner, tool._values = request.tool, self
        return replace(request, tool=tool)

    def put(self, value: Any) -> Any:
        """A value with references replaced by the plaintext."""
        if isinstance(value, str):
            return _REFERENCE.sub(lambda match: self._values.get(match[1], match[0]), value)
        if isinstance(value, Mapping):
            return {key: self.put(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.put(part) for part in value)
        return value

    def hide(self, value: T) -> T:
        """A result with the plaintext replaced by references."""
        hidden: T = self._hidden(value)
        return hidden

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._hide_text(value)
        if isinstance(value, bytes):
            return self._hide_text(value.decode("latin-1")).encode("latin-1", "replace")
        if isinstance(value, BaseMessage):
            fields = {name: self.hide(getattr(value, name)) for name in type(value).model_fields if name != "type"}
            return value.model_copy(update=fields)
        if isinstance(value, Command):
            return replace(value, update=self.hide(value.update), resume=self.hide(value.resume))
        if isinstance(value, Mapping):
            return {self.hide(key): self.hide(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.hide(part) for part in value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        return next((new for form, new in self._forms if str(value) == form), value)

    def _hide_text(self, text: str) -> str:
        for form, replacement in self._forms:
            if len(form) >= _SHORT:
                text = text.replace(form, replacement)
            elif form in text:
                text = whole_words(form).sub(lambda _, replacement=replacement: replacement, text)  # type: ignore[misc]
        return text

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Hide the values in errors that are raised within, and trace nothing."""
        try:
            with tracing_context(enabled=False):
                yield
        except GraphBubbleUp:
            raise
        except Exception as error:
            seen: set[int] = set()
            link: BaseException | None = error
            while link is not None and id(link) not in seen:
                seen.add(id(link))
                link.args = tuple(self.hide(part) for part in link.args)
                link = link.__cause__ or link.__context__
            raise


def _forms(plaintext: str) -> Iterator[str]:
    """The forms in which a result may contain it: plain, as in Python, URL-quoted, and as JSON, also within JSON."""
    yield from (plaintext, repr(plaintext)[1:-1], quote(plaintext, safe=""))
    ascii_form = as_is = plaintext
    for _ in range(_NESTED):
        ascii_form, as_is = json.dumps(ascii_form)[1:-1], json.dumps(as_is, ensure_ascii=False)[1:-1]
        yield from (ascii_form, as_is)


class _Sealed(BaseTool):
    """A wrapper of a tool, which inserts the values when it is invoked."""

    _inner: BaseTool = PrivateAttr()
    _values: _Values = PrivateAttr()

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        with self._values.in_errors():
            return self._inner.invoke(self._with_values(input), _quiet(config), **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        with self._values.in_errors():
            return await self._inner.ainvoke(self._with_values(input), _quiet(config), **kwargs)

    def _with_values(self, input: Any) -> Any:
        return {**input, "args": self._values.put(input["args"])}

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a sealed tool is invoked with a tool call")


def _quiet(config: RunnableConfig | None) -> RunnableConfig:
    return {**(config or {}), "callbacks": []}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (match[1] for match in _REFERENCE.finditer(value))
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _references(part)


def _described(user: UserMemory, wanted: Collection[str]) -> dict[str, tuple[str, str]]:
    """Secret id → caption and sensitivity, those of its item if there is one."""
    with user.memory.ledger.read(user.name) as tx:
        described: dict[str, tuple[str, str]] = {
            row.id: (row.caption, row.sensitivity) for row in list_secrets(tx) if row.id in wanted
        }
    for item in user.items("vault"):
        if isinstance(item, VaultItem) and item.secret_id in described:
            described[item.secret_id] = (item.caption, item.sensitivity)
    missing = [secret_id for secret_id in wanted if secret_id not in described]
    if missing:
        raise NotFoundError(f"no secret {', '.join(missing)} in the vault; find its reference with use_secret")
    return described


def _refusal(call: Mapping[str, Any], captions: str) -> str | None:
    """Interrupt for a decision: None for an approval, else the reason; an answer that is no decision is no approval."""
    answer: Any = interrupt(
        {
            "action_requests": [
                {
                    "name": call["name"],
                    "args": call["args"],
                    "description": f"The tool {call['name']} wants to use: {captions}",
                }
            ],
            "review_configs": [{"action_name": call["name"], "allowed_decisions": ["approve", "reject"]}],
        }
    )
    decisions = answer.get("decisions") if isinstance(answer, Mapping) else None
    decision = decisions[0] if isinstance(decisions, list) and len(decisions) == 1 else None
    if not isinstance(decision, Mapping) or decision.get("type") not in ("approve", "reject"):
        return f"{shown(answer)} does not allow {call['name']} to use {captions}: {_DECISIONS}"
    if decision["type"] == "approve":
        return None
    return str(decision.get("message") or f"the user did not allow {call['name']} to use: {captions}")


def _refused(call: Mapping[str, Any], reason: str) -> ToolMessage:
    return ToolMessage(content=reason, name=call["name"], tool_call_id=call["id"], status="error")
