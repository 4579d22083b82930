"""Secrets for tools: a model writes a reference, the tool gets the value, and nothing else ever sees it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args
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
from hexamem.graphs.scope import ScopeResolver, resolve_scope
from hexamem.memory_types import Sensitivity, VaultItem
from hexamem.memory_types.times import shown
from hexamem.stores.ledger import whole_words
from hexamem.stores.ledger.vault import list_secrets
from hexamem.stores.secrets import reference

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.prebuilt.tool_node import ToolCallRequest

    from hexamem.memory import Memory
    from hexamem.user import UserMemory

__all__ = ["VaultMiddleware"]

T = TypeVar("T")
# With or without its caption: models leave it out.
_REFERENCE = re.compile(r"\{\{\s*vault:([A-Za-z0-9_.:-]{1,80})(?:\|[^{}\r\n]{0,200})?\s*\}\}")
_APPROVE: tuple[Sensitivity, ...] = ("high",)
_NESTED = 3  # JSON within JSON, how deep
_SHORT = 8
"""Characters below which a value is taken out of a result as a whole word only."""
_DECISIONS = 'resume with {"decisions": [{"type": "approve"}]} or {"decisions": [{"type": "reject"}]}'


class VaultMiddleware(AgentMiddleware[Any, Any]):
    """Puts secrets of the run's user into the arguments of tools that the application lists, for ``create_agent``.

    Where the model wrote a reference ``{{vault:ID|caption}}`` (see the tool ``use_secret``) into an argument of a listed tool,
    ``wrap_tool_call`` asks for approval where the secret's sensitivity needs it, by an ``interrupt`` in the form of LangChain's
    ``HumanInTheLoopMiddleware``; reveals the secret, which is audited with the tool's name; calls the tool; and
    takes the value out of what comes back, errors included. The call as the model wrote it stays in the history. The
    tool runs without callbacks and tracing, so no trace holds the value; other tools get the reference as it is.

    Resume with ``Command(resume={"decisions": [{"type": "approve"}]})`` or ``"reject"``; any other answer is asked for again,
    with the reason in the description. Approval needs a checkpointer.

    Args:
        memory: an open memory.
        tools: names of tools, or tools, that may get secrets. The memory's own may not.
        approve: sensitivities that need approval each time.
        scope: tells the user from the tool's ``ToolRuntime``, in place of the context.

    Raises:
        ConfigError: for a tool of the memory itself, or a sensitivity that there is not.
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
        self._memory, self._scope = memory, scope
        self._listed = frozenset(one if isinstance(one, str) else one.name for one in tools)
        self._approve = frozenset(approve)
        own = sorted(self._listed & MEMORY_TOOLS)
        if own:
            raise ConfigError(f"VaultMiddleware(tools=…) lists {', '.join(own)}: the memory's own tools get no secrets")
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
        """The values for the call; a message in place of its result; or None for a call that needs none."""
        call = request.tool_call
        wanted = list(dict.fromkeys(_references(call["args"]))) if call["name"] in self._listed else []
        if not wanted:
            return None
        runtime = request.runtime
        found = resolve_scope("VaultMiddleware", runtime, getattr(runtime, "config", None), self._scope)
        user = self._memory.user(found.user)
        try:
            known = _described(user, wanted)
        except HexamemError as error:
            return _refused(call, str(error))
        asked = [secret_id for secret_id in wanted if known[secret_id][1] in self._approve]
        if asked:
            captions = ", ".join(known[one][0] for one in asked)
            decision = _asked(_request(call, captions))
            if not decision.approved:
                return _refused(call, decision.why or f"the user did not allow {call['name']} to use: {captions}")
        try:
            values = {
                one: user.reveal(one, reason=f"given to the tool {call['name']}", actor=f"tool:{call['name']}")
                for one in wanted
            }
        except HexamemError as error:
            return _refused(call, str(error))
        return _Values(values, {one: reference(one, known[one][0]) for one in wanted})


class _Values:
    """The plaintext of one call, while it runs."""

    def __init__(self, values: Mapping[str, str], references: Mapping[str, str]) -> None:
        self._values = values
        forms: dict[str, str] = {}
        for secret_id, plaintext in values.items():
            for form in _forms(plaintext):
                forms.setdefault(form, references[secret_id])
        self._forms = sorted(forms.items(), key=lambda pair: -len(pair[0]))  # a long one may hold a short one

    def sealed(self, request: ToolCallRequest) -> ToolCallRequest:
        """The request with a tool that puts the values in itself: callbacks around it see the references."""
        assert request.tool is not None, f"{request.tool_call['name']} is no tool of the agent"
        tool = _Sealed(
            name=request.tool.name,
            description=request.tool.description,
            args_schema=request.tool.args_schema,
            callbacks=None,
        )
        tool._inner, tool._held = request.tool, self
        return replace(request, tool=tool)

    def put(self, value: Any) -> Any:
        """A value with the plaintext in place of references."""
        if isinstance(value, str):
            return _REFERENCE.sub(lambda match: self._values.get(match[1], match[0]), value)
        if isinstance(value, Mapping):
            return {key: self.put(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.put(part) for part in value)
        return value

    def hide(self, value: T) -> T:
        """A result with references in place of the plaintext."""
        hidden: T = self._hidden(value)
        return hidden

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._hide_text(value)
        if isinstance(value, bytes):
            return self._hide_text(value.decode("latin-1")).encode("latin-1", "replace")
        if isinstance(value, BaseMessage):
            told = {name: self.hide(getattr(value, name)) for name in type(value).model_fields if name != "type"}
            return value.model_copy(update=told)
        if isinstance(value, Command):
            return replace(value, update=self.hide(value.update), resume=self.hide(value.resume))
        if isinstance(value, Mapping):
            return {self.hide(key): self.hide(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.hide(part) for part in value)
        return self._hide_number(value) if isinstance(value, int | float) else value

    def _hide_text(self, text: str) -> str:
        for form, put in self._forms:
            if len(form) >= _SHORT:
                text = text.replace(form, put)
            elif form in text:
                text = whole_words(form).sub(lambda _, put=put: put, text)  # type: ignore[misc]
        return text

    def _hide_number(self, value: float) -> Any:
        return next((put for form, put in self._forms if str(value) == form and not isinstance(value, bool)), value)

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Errors within tell none of the values; nor is anything traced."""
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
                link.args = tuple(self.hide(one) for one in link.args)
                link = link.__cause__ or link.__context__
            raise


def _forms(plaintext: str) -> Iterator[str]:
    """The ways in which a result may hold it: as it is, as Python and addresses write it, and as JSON, also within JSON."""
    yield from (plaintext, repr(plaintext)[1:-1], quote(plaintext, safe=""))
    ascii_form = as_is = plaintext
    for _ in range(_NESTED):
        ascii_form, as_is = json.dumps(ascii_form)[1:-1], json.dumps(as_is, ensure_ascii=False)[1:-1]
        yield from (ascii_form, as_is)


class _Sealed(BaseTool):
    """Another tool, which gets the values only when it is called."""

    _inner: BaseTool = PrivateAttr()
    _held: _Values = PrivateAttr()

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        with self._held.in_errors():
            return self._inner.invoke(self._given(input), _quiet(config), **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        with self._held.in_errors():
            return await self._inner.ainvoke(self._given(input), _quiet(config), **kwargs)

    def _given(self, input: Any) -> Any:
        return {**input, "args": self._held.put(input["args"])}

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
    """Caption and sensitivity of secrets; the item's own word counts, where there is one."""
    with user.memory.ledger.read(user.name) as tx:
        found: dict[str, tuple[str, str]] = {
            row.id: (row.caption, row.sensitivity) for row in list_secrets(tx) if row.id in wanted
        }
    for item in user.items("vault"):
        if isinstance(item, VaultItem) and item.secret_id in found:
            found[item.secret_id] = (item.caption, item.sensitivity)
    missing = [one for one in wanted if one not in found]
    if missing:
        raise NotFoundError(f"no secret {', '.join(missing)} in the vault; find its reference with use_secret")
    return found


def _request(call: Mapping[str, Any], captions: str) -> dict[str, Any]:
    told = f"The tool {call['name']} wants to use: {captions}"
    return {
        "action_requests": [{"name": call["name"], "args": call["args"], "description": told}],
        "review_configs": [{"action_name": call["name"], "allowed_decisions": ["approve", "reject"]}],
    }


class _Decision(NamedTuple):
    approved: bool
    why: str = ""


def _asked(request: dict[str, Any]) -> _Decision:
    """What was decided. A run keeps each answer for good, so one that is none is asked for anew, not raised."""
    answer = interrupt(request)
    while (decision := _decision(answer)) is None:
        [action] = request["action_requests"]
        told = f"{action['description']} (answered with {shown(answer)}, which is no decision: {_DECISIONS})"
        answer = interrupt({**request, "action_requests": [{**action, "description": told}]})
    return decision


def _decision(answer: Any) -> _Decision | None:
    """None where it is neither an approval nor a refusal."""
    decision = answer
    if isinstance(decision, Mapping) and isinstance(decision.get("decisions"), list | tuple):
        decision = decision["decisions"][0] if len(decision["decisions"]) == 1 else None
    kind = decision.get("type") if isinstance(decision, Mapping) else decision
    if kind is True or kind == "approve":
        return _Decision(True)
    if kind is False or kind == "reject":
        return _Decision(False, str(decision.get("message") or "") if isinstance(decision, Mapping) else "")
    return None


def _refused(call: Mapping[str, Any], why: str) -> ToolMessage:
    return ToolMessage(content=why, name=call["name"], tool_call_id=call["id"], status="error")
