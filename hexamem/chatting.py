"""A chat agent with a memory that lasts, as a graph: what ``hexamem chat`` runs and ``langgraph dev`` serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.aligning import NOT_STORED, catch_up_thread
from hexamem.chat_replies import NO_MODEL, STORED, nearest_passages, reply_by_evidence
from hexamem.errors import HexamemError
from hexamem.graphs.scope import ScopeResolver, resolve_scope
from hexamem.memory_types.research import Research
from hexamem.middleware import MemoryMiddleware, MiddlewareSettings
from hexamem.models.chat_models import open_chat_model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Checkpointer

    from hexamem.memory import Memory
    from hexamem.user import UserMemory

__all__ = ["ChatContext", "chat_graph", "research_as_recall"]

_PROMPT = (
    "You are a helpful assistant with a memory that lasts over conversations. Use what it holds where it bears on what is "
    "said, name dates as they stand there, and say so when you do not know. Answer in the user's language, briefly."
)


class ChatContext(TypedDict, total=False):
    """What a run of the chat is told: whose memory it is.

    Attributes:
        user: needed.
        thread_id: the conversation; that of the configuration when left out.
    """

    user: str
    thread_id: str


def chat_graph(
    memory: Memory,
    model: str | BaseChatModel | Literal[False] | None = None,
    *,
    base_url: str | None = None,
    tools: Sequence[Any] = (),
    system_prompt: str = _PROMPT,
    settings: MiddlewareSettings | None = None,
    scope: ScopeResolver | None = None,
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A chat agent with a persistent memory: ``{"messages": […]}`` in, the same with the reply out.

    With a model it is LangChain's ``create_agent`` with :class:`~hexamem.middleware.MemoryMiddleware`. Without one it
    answers with sentences from memory, or says that memory holds no answer and lists the nearest lines; such a reply is
    not stored, since memory holds it already. It says once that it has no
    model. Either way the user's message is stored before anything is answered.

    Args:
        memory: an open memory.
        model: a chat model or its name; that of the memory's agent ``chat`` when None, if it has one; False for none.
        base_url: the address of an OpenAI-compatible server, for a model given by name.
        tools: of the application, beside the memory's own.
        system_prompt: what comes before the memory's data.
        settings: of the middleware.
        scope: tells the user from the run's ``Runtime``, in place of the context.
        checkpointer: keeps the conversation itself, where the host does not send it whole.

    Raises:
        ConfigError: for a model that cannot be opened.
        MissingUserError: from a run that names no user.
    """
    if model is False:
        return _evidence_graph(memory, scope, checkpointer)
    chosen = open_chat_model(model, base_url=base_url) if model is not None else memory.model_tier.models.of("chat")
    if chosen is None:
        return _evidence_graph(memory, scope, checkpointer)
    agent: CompiledStateGraph[Any, Any, Any, Any] = create_agent(
        chosen,
        list(tools),
        system_prompt=system_prompt,
        middleware=[MemoryMiddleware(memory, settings=settings, scope=scope)],
        context_schema=ChatContext,
        checkpointer=checkpointer,
        name="assistant",  # the speaker of its replies
    )
    return agent


def _evidence_graph(
    memory: Memory, scope: ScopeResolver | None, checkpointer: Checkpointer
) -> CompiledStateGraph[Any, Any, Any, Any]:
    def answer(state: MessagesState) -> dict[str, Any]:
        found = resolve_scope("chat_graph", get_runtime(), get_config(), scope)
        user = memory.user(found.user)
        messages: Sequence[AnyMessage] = state["messages"]
        asked = str(messages[-1].text).strip() if messages and messages[-1].type == "human" else ""
        known = _look(user, asked) if asked else None  # before the question itself is stored
        caught = catch_up_thread(user, messages, found.thread_id, agent_id=found.agent_id)
        degraded = [*caught.degraded, *(caught.stored.degraded if caught.stored is not None else ())]
        write = get_stream_writer()
        write({"stage": "recall", "recall": research_as_recall(known), "degraded": degraded})
        write({"stage": "remember", "step_ids": list(caught.new), "degraded": degraded})
        return (
            {"messages": [AIMessage(_reply(user, messages, known), additional_kwargs={NOT_STORED: True})]}
            if asked
            else {}
        )

    graph = StateGraph(MessagesState, context_schema=ChatContext)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer, name="chat")


def _look(user: UserMemory, asked: str) -> Research | str:
    try:
        return user.research(asked[:2_000], 2, calls=0)
    except HexamemError as error:
        return str(error)


def _reply(user: UserMemory, messages: Sequence[AnyMessage], found: Research | str | None) -> str:
    """What is said without a model; that there is none, once: no reply of this kind stands in the messages yet."""
    if isinstance(found, str):
        return f"{STORED} Memory could not be read: {found}"
    reply = reply_by_evidence(user, found) if found is not None else STORED
    told = any(one.additional_kwargs.get(NOT_STORED) for one in messages)
    return reply if told else f"{reply}\n{NO_MODEL}"


def research_as_recall(found: Research | str | None) -> dict[str, Any]:
    """What research found, in the form in which the middleware tells a recall; empty where there was none."""
    if not isinstance(found, Research):
        return {}
    shown = {one.id for one in nearest_passages(found)}
    return {
        "id": found.id,
        "query": found.question,
        "answerable": None,
        "elapsed_ms": found.elapsed_ms,
        "hits": [
            {
                "id": one.id,
                "kind": one.kind,
                "text": one.text,
                "score": one.score,
                "occurred_at": one.occurred_at.isoformat() if one.occurred_at else None,
                "speaker": one.speaker,
                "thread_id": one.thread_id,
                "why": one.explain(),
            }
            for one in found.passages
            if one.id in shown
        ],
    }
