"""MemoryMiddleware: a memory for agents made with ``langchain.agents.create_agent``."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, BaseMessage, SystemMessage
from langgraph.config import get_config, get_stream_writer
from pydantic import Field

from hexamem.aligning import MEMORY_TOOLS, Caught, catch_up_thread, forgotten_of, known_steps
from hexamem.errors import ConfigError
from hexamem.forgotten_messages import as_read_now
from hexamem.graphs.scope import MemoryScope, ScopeResolver, resolve_scope
from hexamem.hiding import redact_messages
from hexamem.intent.topic_likeness import TopicLikeness
from hexamem.memory_types.settings import check_settings, validated_settings
from hexamem.models.encoder import open_encoder
from hexamem.prompting import Found, PromptSettings, prompt_memory, search_for_prompt
from hexamem.stores.ledger.vault import count_secrets
from hexamem.tools.memory_tools import memory_tools

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from hexamem.memory import Memory
    from hexamem.user import UserMemory

__all__ = ["MemoryAgentState", "MemoryMiddleware", "MiddlewareSettings"]

_TOPIC = 2_000  # characters of what is talked about now
_KEPT = 8_192
_CHANGING = frozenset({"forget", "update_core"})


@validated_settings
class MiddlewareSettings:
    """How a memory takes part in an agent's runs.

    Attributes:
        prompt: what is put into the system message, and how many tokens it may take.
        topic_shift: likeness (-1 to 1, see :class:`~hexamem.intent.topic_likeness.TopicLikeness`) of what a run talks about
            now to what was recalled for, below which it recalls again; None never does. It costs no call.
        recalls: how often a run recalls, at most.
        tools: names of the memory's tools that the model gets; none when empty.
        hide_secrets: whether secrets in messages are replaced by references, in what the model sees and in the agent's
            state. Tools that need the value get it from :class:`~hexamem.tools.vault_middleware.VaultMiddleware`.
        metadata: goes onto each stored step; JSON values.
    """

    prompt: PromptSettings = field(default_factory=PromptSettings)
    topic_shift: Annotated[float, Field(ge=-1, le=1)] | None = 0.2
    recalls: Annotated[int, Field(ge=1)] = 4
    tools: Annotated[tuple[str, ...], Field(strict=False)] = tuple(sorted(MEMORY_TOOLS))
    hide_secrets: bool = True
    metadata: Mapping[str, Any] | None = None


class MemoryAgentState(AgentState[Any]):
    """What the middleware keeps in an agent's state, out of its input and output.

    Attributes:
        memory_text: the delimited data for the system message; the day alone where memory has nothing to say.
        memory_topics: what was recalled for: the user's message first, then topics of the run.
        memory_visible: ids of the steps that stand in the conversation.
        memory_forgotten: message id → what is read of it by now, of those of which anything is forgotten.
    """

    memory_text: NotRequired[Annotated[str, PrivateStateAttr]]
    memory_topics: NotRequired[Annotated[list[str], PrivateStateAttr]]
    memory_visible: NotRequired[Annotated[list[str], PrivateStateAttr]]
    memory_forgotten: NotRequired[Annotated[dict[str, str], PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[MemoryAgentState, Any]):
    """A memory for an agent: ``create_agent(model, tools, middleware=[MemoryMiddleware(memory)])``.

    - ``before_agent`` recalls for the user's message, and stores what of the conversation the memory does not have
      yet, that message included: a model that fails loses nothing.
    - ``before_model`` recalls again when a run has come to talk about something else (MIRIX's active retrieval, by
      embedding), and when the model has forgotten a record or written core memory.
    - ``wrap_model_call`` puts what was recalled behind the system message, as delimited data, with the day, which stands
      there alone where memory has nothing to say (``PromptSettings(today=False)`` leaves it out). It never enters the
      history. Secrets in the messages are replaced by references.
    - ``after_agent`` stores the replies. It does not run after an error or while a run is interrupted; what is missing then
      is found at the next run and stored in its place.

    The append is synchronous; labels, indexes and learning follow behind. The host may keep the conversation with a
    checkpointer or send it whole on every turn, with or without ids: nothing is stored twice
    (:mod:`hexamem.aligning`). What happens is told as custom stream events with ``stage`` "recall" and "remember".

    The run needs a user, ``agent.invoke(…, context={"user": "alice"})``; the thread is
    ``config["configurable"]["thread_id"]``. All hooks are there for ``invoke`` and ``ainvoke``.

    Args:
        memory: an open memory; the middleware is of use while it is open.
        settings: see :class:`MiddlewareSettings`.
        scope: tells the user from the run's ``Runtime``, in place of the context.

    Raises:
        MissingUserError: from a run that names no user; the message says what to pass.
        ConfigError: for settings that are none; from a run whose model can call no tools, unless ``settings.tools`` is empty.
    """

    state_schema = MemoryAgentState

    def __init__(
        self, memory: Memory, *, settings: MiddlewareSettings | None = None, scope: ScopeResolver | None = None
    ) -> None:
        super().__init__()
        self.settings = check_settings(settings, MiddlewareSettings, "MemoryMiddleware: settings")
        self._memory, self._scope = memory, scope
        self.tools = memory_tools(memory, names=self.settings.tools, scope=scope)
        self._clean: OrderedDict[bytes, None] = OrderedDict()  # digests of messages seen to hold no secret
        self._secrets: dict[str, int] = {}  # user → how many the vault held when their messages were looked through
        self._guard = threading.Lock()
        self._likeness = TopicLikeness(lambda texts: open_encoder().vectors(texts))

    # ------------------------------------------------------------------ hooks

    def before_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall for the user's message and store what is new."""
        user, scope = self._user(runtime)
        messages = state["messages"]
        query = _asked(messages)
        # Recalled before it is stored: what is new stands in the conversation anyway, and need not be indexed first.
        found = [self._search(user, scope, query, messages)] if query else []
        caught = self._store(user, scope, messages)
        told = prompt_memory(user, found, self.settings.prompt, visible=caught.visible)
        hidden = self._without_secrets(user, messages, caught)
        by_id = {one.id: one for one in hidden.get("messages", ())}
        topic = _asked([by_id.get(one.id, one) for one in messages])[:_TOPIC]
        _say("recall", {**told.recall, "query": topic} if told.recall else {}, told.degraded)
        return {
            "memory_text": told.text or told.today,
            "memory_topics": [topic] if topic else [],
            "memory_visible": sorted(caught.visible),
            "memory_forgotten": dict(caught.forgotten),
            **hidden,
        }

    def before_model(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Recall again when the topic has shifted, or a tool has changed what stands in the prompt."""
        topics = state.get("memory_topics") or []
        if _changed_memory(state["messages"]):
            user, scope = self._user(runtime)
            return {
                "memory_text": self._recalled_anew(runtime, state, topics),
                "memory_forgotten": forgotten_of(user, state["messages"], scope.thread_id),
            }
        now = _talked_about(state["messages"])
        if self.settings.topic_shift is None or not now or not topics or len(topics) >= self.settings.recalls:
            return None
        if self._likeness.likest(now, topics) >= self.settings.topic_shift:
            return None
        return {
            "memory_text": self._recalled_anew(runtime, state, (now, topics[0])),
            "memory_topics": [*topics, now],
        }

    def _recalled_anew(self, runtime: Runtime[Any], state: MemoryAgentState, topics: Sequence[str]) -> str:
        """What memory says of these topics by now; what was forgotten is not shown any more."""
        user, _ = self._user(runtime)
        visible = state.get("memory_visible") or []
        found = [search_for_prompt(user, query, self.settings.prompt, visible) for query in topics]
        told = prompt_memory(user, found, self.settings.prompt, visible=visible)
        _say("recall", told.recall, told.degraded)
        return told.text or told.today

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Give the model what was recalled, and no secrets."""
        with self._telling_of_tools(request):
            return handler(self._request(request))

    def after_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Store the replies."""
        user, scope = self._user(runtime)
        caught = self._store(user, scope, state["messages"])
        return self._without_secrets(user, state["messages"], caught) or None

    async def abefore_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any]:
        """As :meth:`before_agent`, in a thread."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    async def abefore_model(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As :meth:`before_model`, in a thread."""
        return await asyncio.to_thread(self.before_model, state, runtime)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As :meth:`wrap_model_call`."""
        with self._telling_of_tools(request):
            return await handler(await asyncio.to_thread(self._request, request))

    async def aafter_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As :meth:`after_agent`, in a thread."""
        return await asyncio.to_thread(self.after_agent, state, runtime)

    # ------------------------------------------------------------------ inside

    @contextmanager
    def _telling_of_tools(self, request: ModelRequest[Any]) -> Iterator[None]:
        """Say what to do where the model cannot be given the memory's tools, of which LangChain says nothing."""
        try:
            yield
        except NotImplementedError as error:
            if not self.tools or type(request.model).bind_tools is not BaseChatModel.bind_tools:
                raise
            raise ConfigError(
                f"{type(request.model).__name__} can call no tools (it has no bind_tools), and MemoryMiddleware gives the "
                "model the memory's: leave them out with MiddlewareSettings(tools=())"
            ) from error

    def _user(self, runtime: Any) -> tuple[UserMemory, MemoryScope]:
        scope = resolve_scope("MemoryMiddleware", runtime, get_config(), self._scope)
        return self._memory.user(scope.user), scope

    def _search(self, user: UserMemory, scope: MemoryScope, query: str, messages: Sequence[AnyMessage]) -> Found:
        """Recall for what the user said last, before it is stored."""
        known = known_steps(user, messages[:-1], scope.thread_id)
        return search_for_prompt(user, query, self.settings.prompt, known, len(messages) - 1 - len(known))

    def _store(self, user: UserMemory, scope: MemoryScope, messages: Sequence[AnyMessage]) -> Caught:
        caught = catch_up_thread(
            user, messages, scope.thread_id, agent_id=scope.agent_id, metadata=self.settings.metadata
        )
        degraded = [*caught.degraded, *(caught.stored.degraded if caught.stored is not None else ())]
        get_stream_writer()({"stage": "remember", "step_ids": list(caught.new), "degraded": degraded})
        return caught

    def _request(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        text = request.state.get("memory_text") or ""
        changes: dict[str, Any] = {}
        if text:
            changes["system_message"] = _with_memory(request.system_message, str(text))
        state: Mapping[str, Any] = request.state  # with what this middleware adds to it
        messages: Sequence[BaseMessage] = as_read_now(request.messages, state.get("memory_forgotten") or {})
        if self.settings.hide_secrets:
            user, _ = self._user(request.runtime)
            messages = self._hidden(user, messages)
        if any(after is not before for after, before in zip(messages, request.messages, strict=True)):
            changes["messages"] = messages
        return request.override(**changes) if changes else request

    def _without_secrets(self, user: UserMemory, messages: Sequence[AnyMessage], caught: Caught) -> dict[str, Any]:
        """The update that puts references into the state; empty where there are no secrets."""
        if not self.settings.hide_secrets:
            return {}
        self._secrets[user.name] = caught.secrets
        if caught.stored is not None and caught.stored.secrets:
            with user.memory.ledger.read(user.name) as tx:
                self._secrets[user.name] = count_secrets(tx)
        elif caught.stored is not None:  # they were looked for when it was stored
            self._seen_clean(_key(user.name, one, self._secrets[user.name]) for one in caught.messages)
        hidden = self._hidden(user, messages)
        changed = [after for after, before in zip(hidden, messages, strict=True) if after is not before and after.id]
        return {"messages": changed} if changed else {}

    def _hidden(self, user: UserMemory, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The messages without secrets; one that was seen to hold none is not read again until the vault grows."""
        held = self._secrets.get(user.name, 0)
        keys = [_key(user.name, one, held) for one in messages]
        with self._guard:
            unseen = [one for one, key in zip(messages, keys, strict=True) if key not in self._clean]
        if not unseen:
            return list(messages)
        read = dict(zip(map(id, unseen), redact_messages(user, unseen), strict=True))
        hidden = [read.get(id(one), one) for one in messages]
        self._seen_clean(key for key, one, now in zip(keys, messages, hidden, strict=True) if one is now)
        return hidden

    def _seen_clean(self, keys: Iterable[bytes]) -> None:
        with self._guard:
            self._clean.update(dict.fromkeys(keys))
            while len(self._clean) > _KEPT:
                self._clean.popitem(last=False)


def _with_memory(system: SystemMessage | None, text: str) -> SystemMessage:
    """The system message with the data behind it: what is before stays the same, for providers' caches of prompts."""
    if system is None:
        return SystemMessage(text)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{text}"})
    return system.model_copy(update={"content": [*system.content, {"type": "text", "text": text}]})


def _asked(messages: Sequence[AnyMessage]) -> str:
    """What the user said last."""
    last = next((one for one in reversed(messages) if one.type == "human"), None)
    return str(last.text).strip() if last is not None else ""


def _talked_about(messages: Sequence[AnyMessage]) -> str:
    """What was said and found since the user's last message, the newest last; not what memory itself gave."""
    said: list[str] = []
    for one in reversed(messages):
        if one.type == "human":
            break
        if one.type == "tool" and one.name in MEMORY_TOOLS:
            continue
        if str(one.text).strip():
            said.append(str(one.text).strip())
            break  # the newest says what it is about now
    return " ".join(reversed(said))[-_TOPIC:]


def _changed_memory(messages: Sequence[AnyMessage]) -> bool:
    """Whether one of the tools just called changed what the prompt may show: forgot a record, or wrote core memory."""
    for one in reversed(messages):
        if one.type != "tool":
            return False
        if one.name in _CHANGING and one.status != "error":
            return True
    return False


def _key(user: str, message: BaseMessage, secrets: int) -> bytes:
    said = (user, secrets, message.content, getattr(message, "tool_calls", None), message.additional_kwargs)
    return hashlib.blake2b(repr(said).encode("utf-8", "replace"), digest_size=16).digest()


def _say(stage: str, recall: Mapping[str, Any], degraded: Sequence[str]) -> None:
    get_stream_writer()({"stage": stage, "recall": dict(recall), "degraded": list(degraded)})
