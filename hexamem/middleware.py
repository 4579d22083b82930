"""MemoryMiddleware: a memory for agents made with ``langchain.agents.create_agent``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, BaseMessage, SystemMessage
from langgraph.config import get_config, get_stream_writer
from pydantic import Field

from hexamem.aligning import MEMORY_TOOLS, Caught, catch_up_thread, forgotten_of
from hexamem.errors import ConfigError
from hexamem.forgotten_messages import as_read_now
from hexamem.graphs.memory_scope import MemoryScope, ScopeResolver, resolve_scope
from hexamem.hiding import redact_messages
from hexamem.memory import Memory, check_memory
from hexamem.memory_types.settings import check_settings, validated_settings
from hexamem.models.encoder import open_encoder
from hexamem.prompting import PromptMemory, PromptSettings, prompt_memory, search_for_prompt
from hexamem.tools.memory_tools import memory_tools

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from hexamem.user import UserMemory

_TOPIC = 2_000  # characters of the current topic
_CHANGING = frozenset({"forget", "update_core"})  # tools after which memory is recalled again


@validated_settings
class MiddlewareSettings:
    """How a memory takes part in an agent's runs.

    Attributes:
        prompt: what is added to the system message, and its token budget.
        topic_shift: similarity (-1 to 1, a cosine of the bundled encoder) of a run's current topic to the queries
            recalled so far, below which it recalls again; None never does. It costs no call.
        recalls: how often a run recalls, at most.
        tools: names of the memory's tools that the model can call; none when empty.
        hide_secrets: whether secrets in messages are replaced by references, in what the model sees and in the agent's
            state. Tools that need the value get it from :class:`~hexamem.tools.vault_middleware.VaultMiddleware`.
        metadata: added to each stored step; JSON values.
    """

    prompt: PromptSettings = field(default_factory=PromptSettings)
    topic_shift: Annotated[float, Field(ge=-1, le=1)] | None = 0.3
    recalls: Annotated[int, Field(ge=1)] = 4
    tools: Annotated[tuple[str, ...], Field(strict=False)] = tuple(sorted(MEMORY_TOOLS))
    hide_secrets: bool = True
    metadata: Mapping[str, Any] | None = None


class MemoryAgentState(AgentState[Any]):
    """The middleware's private part of an agent's state, in neither its input nor its output."""

    # the delimited data for the system message; only the day if memory holds nothing for it
    memory_text: NotRequired[Annotated[str, PrivateStateAttr]]
    # the queries recalled so far: the user's message first, then topics of the run
    memory_topics: NotRequired[Annotated[list[str], PrivateStateAttr]]
    memory_visible: NotRequired[Annotated[list[str], PrivateStateAttr]]  # ids of the steps that are in the conversation
    memory_forgotten: NotRequired[Annotated[list[str], PrivateStateAttr]]  # ids of the forgotten messages


class MemoryMiddleware(AgentMiddleware[MemoryAgentState, Any]):
    """A memory for an agent: ``create_agent(model, tools, middleware=[MemoryMiddleware(memory)])``.

    - ``before_agent`` stores the messages of the conversation that memory does not hold yet, the user's last one included
      (if the model fails, nothing is lost), and recalls for that one.
    - ``before_model`` recalls again when the topic of a run has shifted (MIRIX's active retrieval, by embedding), and
      when the model has forgotten a record or written core memory.
    - ``wrap_model_call`` appends the recalled data, delimited, and the current day to the system message
      (``PromptSettings(today=False)`` leaves the day out). It never enters the history. Secrets in the messages are
      replaced by references.
    - ``after_agent`` stores the replies. It does not run after an error or while a run is interrupted; the next run then
      stores the missing messages in their place.

    Messages are stored synchronously; labels, indexes and items follow in the background. The host may store the
    conversation with a checkpointer or send it whole on every turn, with or without ids: nothing is stored twice
    (:mod:`hexamem.aligning`). Custom stream events with ``stage`` "recall" and "remember" report what was done.

    The run needs a user, ``agent.invoke(…, context={"user": "alice"})``; the thread is
    ``config["configurable"]["thread_id"]``. All hooks work with ``invoke`` and ``ainvoke``.

    Args:
        memory: an open memory; the middleware can be used while it is open.
        settings: see :class:`MiddlewareSettings`.
        scope: finds the user in the run's ``Runtime``, in place of the context.

    Raises:
        MissingUserError: from a run that names no user; the message says what to pass.
        ConfigError: for settings of another type; from a run whose model cannot call tools, unless ``settings.tools`` is
            empty.
    """

    state_schema = MemoryAgentState

    def __init__(
        self, memory: Memory, *, settings: MiddlewareSettings | None = None, scope: ScopeResolver | None = None
    ) -> None:
        super().__init__()
        check_memory(memory, "MemoryMiddleware")
        self.settings = check_settings(settings, MiddlewareSettings, "MemoryMiddleware: settings")
        self._memory, self._scope = memory, scope
        self.tools = memory_tools(memory, names=self.settings.tools, scope=scope)

    # ------------------------------------------------------------------ hooks

    def before_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Store what is new and recall for the user's message."""
        user, scope = self._user(runtime)
        messages = state["messages"]
        caught = self._store(user, scope, messages)
        query = _last_question(messages)
        part = self._recalled(user, [query] if query else [], caught.visible)
        hidden = self._without_secrets(user, messages)
        by_id = {message.id: message for message in hidden.get("messages", ())}
        topic = _last_question([by_id.get(message.id, message) for message in messages])[:_TOPIC]
        _report("recall", {**part.recall, "query": topic} if part.recall else {}, part.degraded)
        return {
            "memory_text": part.text or part.today,
            "memory_topics": [topic] if topic else [],
            "memory_visible": sorted(caught.visible),
            "memory_forgotten": sorted(caught.forgotten),
            **hidden,
        }

    def before_model(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Recall again when the topic has shifted, or a tool has changed what the prompt shows."""
        topics = state.get("memory_topics") or []
        if _changed_memory(state["messages"]):
            user, scope = self._user(runtime)
            return {
                "memory_text": self._recalled_anew(runtime, state, topics),
                "memory_forgotten": sorted(forgotten_of(user, state["messages"], scope.thread_id)),
            }
        topic = _current_topic(state["messages"])
        if self.settings.topic_shift is None or not topic or not topics or len(topics) >= self.settings.recalls:
            return None
        if topic_likeness(topic, topics) >= self.settings.topic_shift:
            return None
        return {
            "memory_text": self._recalled_anew(runtime, state, (topic, topics[0])),
            "memory_topics": [*topics, topic],
        }

    def _recalled_anew(self, runtime: Runtime[Any], state: MemoryAgentState, topics: Sequence[str]) -> str:
        """The current memory part of the prompt for these topics, without what was forgotten since."""
        user, _ = self._user(runtime)
        part = self._recalled(user, topics, state.get("memory_visible") or ())
        _report("recall", part.recall, part.degraded)
        return part.text or part.today

    def _recalled(self, user: UserMemory, queries: Sequence[str], visible: Collection[str]) -> PromptMemory:
        prompt = self.settings.prompt
        results = [search_for_prompt(user, query, prompt, visible) for query in queries]
        return prompt_memory(user, results, prompt, visible=visible)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Add the recalled data to the request, and hide secrets."""
        with self._explaining_tools(request):
            return handler(self._request(request))

    def after_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Store the replies."""
        user, scope = self._user(runtime)
        self._store(user, scope, state["messages"])
        return self._without_secrets(user, state["messages"]) or None

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
        with self._explaining_tools(request):
            return await handler(await asyncio.to_thread(self._request, request))

    async def aafter_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As :meth:`after_agent`, in a thread."""
        return await asyncio.to_thread(self.after_agent, state, runtime)

    # ------------------------------------------------------------------ inside

    @contextmanager
    def _explaining_tools(self, request: ModelRequest[Any]) -> Iterator[None]:
        """Replace LangChain's bare NotImplementedError for a model that cannot call tools by a ConfigError."""
        try:
            yield
        except NotImplementedError as error:
            if not self.tools or type(request.model).bind_tools is not BaseChatModel.bind_tools:
                raise
            raise ConfigError(
                f"{type(request.model).__name__} cannot call tools (it has no bind_tools), and MemoryMiddleware adds the "
                "memory's tools: leave them out with MiddlewareSettings(tools=())"
            ) from error

    def _user(self, runtime: Any) -> tuple[UserMemory, MemoryScope]:
        scope = resolve_scope("MemoryMiddleware", runtime, get_config(), self._scope)
        return self._memory.user(scope.user), scope

    def _store(self, user: UserMemory, scope: MemoryScope, messages: Sequence[AnyMessage]) -> Caught:
        caught = catch_up_thread(
            user, messages, scope.thread_id, agent_id=scope.agent_id, metadata=self.settings.metadata
        )
        get_stream_writer()({"stage": "remember", "step_ids": list(caught.new), "degraded": list(caught.degraded)})
        return caught

    def _request(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        text = request.state.get("memory_text") or ""
        changes: dict[str, Any] = {}
        if text:
            changes["system_message"] = _with_memory(request.system_message, str(text))
        state: Mapping[str, Any] = request.state  # with the fields of MemoryAgentState
        messages: Sequence[BaseMessage] = as_read_now(request.messages, state.get("memory_forgotten") or ())
        if self.settings.hide_secrets:
            user, _ = self._user(request.runtime)
            messages = redact_messages(user, messages)
        if any(after is not before for after, before in zip(messages, request.messages, strict=True)):
            changes["messages"] = messages
        return request.override(**changes) if changes else request

    def _without_secrets(self, user: UserMemory, messages: Sequence[AnyMessage]) -> dict[str, Any]:
        """The state update that replaces secrets by references; empty without secrets."""
        if not self.settings.hide_secrets:
            return {}
        hidden = redact_messages(user, messages)
        changed = [after for after, before in zip(hidden, messages, strict=True) if after is not before and after.id]
        return {"messages": changed} if changed else {}


def _with_memory(system: SystemMessage | None, text: str) -> SystemMessage:
    """The system message with the data appended: the text before it is unchanged, for providers' prompt caches."""
    if system is None:
        return SystemMessage(text)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{text}"})
    return system.model_copy(update={"content": [*system.content, {"type": "text", "text": text}]})


def _last_question(messages: Sequence[AnyMessage]) -> str:
    """The text of the user's last message."""
    last = next((message for message in reversed(messages) if message.type == "human"), None)
    return str(last.text).strip() if last is not None else ""


def topic_likeness(topic: str, earlier: Sequence[str]) -> float:
    """The cosine, -1 to 1, of a topic with the most similar of the earlier ones."""
    vectors = open_encoder().vectors([topic, *earlier])
    return float(np.max(vectors[1:] @ vectors[0]))


def _current_topic(messages: Sequence[AnyMessage]) -> str:
    """The newest text since the user's last message, results of the memory's own tools left out."""
    for message in reversed(messages):
        if message.type == "human":
            break
        if message.type == "tool" and message.name in MEMORY_TOOLS:
            continue
        if text := str(message.text).strip():
            return text[-_TOPIC:]
    return ""


def _changed_memory(messages: Sequence[AnyMessage]) -> bool:
    """Whether one of the tools just called changed what the prompt may show: forgot a record, or wrote core memory."""
    for message in reversed(messages):
        if message.type != "tool":
            return False
        if message.name in _CHANGING and message.status != "error":
            return True
    return False


def _report(stage: str, recall: Mapping[str, Any], degraded: Sequence[str]) -> None:
    get_stream_writer()({"stage": stage, "recall": dict(recall), "degraded": list(degraded)})
