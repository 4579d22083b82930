"""A chat agent with a memory that lasts, as a graph: what ``hexamem chat`` runs and ``langgraph dev`` serves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from .aligning import NOT_STORED, catch_up_thread
from .errors import HexamemError
from .memory_types.research import Passage, Research
from .middleware import MemoryMiddleware, MiddlewareSettings
from .models.chat_models import open_chat_model
from .scoping import ScopeResolver, resolve_scope
from .stores.ledger import get_steps
from .stores.secrets import find_references, tell_references

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Checkpointer

    from .memory import Memory
    from .user import UserMemory

__all__ = ["ChatContext", "chat_graph"]

_PROMPT = (
    "You are a helpful assistant with a memory that lasts over conversations. Use what it holds where it bears on what is "
    "said, name dates as they stand there, and say so when you do not know. Answer in the user's language, briefly."
)
_NO_MODEL = "(No model is set: I can only show what memory holds, in the words that were said.)"
_QUOTES, _NEAR = 3, 3
_WORTH = 2 / 3  # what is worth less beside the best quote is left out


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

    With a model it is LangChain's ``create_agent`` with :class:`~hexamem.middleware.MemoryMiddleware`. Without one it still
    answers from memory, by the sentences that carry the answer, and says so; such a reply is not stored, since memory holds
    it already. Either way the user's message is stored before anything is answered.

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
        write({"stage": "recall", "recall": _as_recall(known), "degraded": degraded})
        write({"stage": "remember", "step_ids": list(caught.new), "degraded": degraded})
        return {"messages": [AIMessage(_reply(user, known), additional_kwargs={NOT_STORED: True})]} if asked else {}

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


def _reply(user: UserMemory, found: Research | str | None) -> str:
    if not isinstance(found, Research):
        return f"Your message is stored. Memory could not be read: {found}"
    near = [
        _Said(_without_name(one), one.occurred_at, one.speaker, tuple(source.step_id for source in one.sources))
        for one in found.passages
        if _says(one.text, found)
    ][:_NEAR]
    quotes = _best_quotes(user, found)
    if found.answerable and quotes:
        told, near = "From memory:", quotes[:_QUOTES]
    elif near and found.question.rstrip().endswith(("?", "？")):
        told = "Memory holds no clear answer. Nearest to it:"
    else:
        return f"Your message is stored.\n{_NO_MODEL}"
    lines = []
    references = _references(user, near)
    for one in near:
        when = f"{one.occurred_at:%Y-%m-%d}, " if one.occurred_at else ""
        text = " ".join(one.text.split())
        for step_id in one.step_ids:
            for words, reference in references.get(step_id, ()):
                text = text.replace(words, reference, 1)
        lines.append(f"- “{text}” ({when}{one.speaker or 'learned'})")
    return "\n".join([told, *lines, _NO_MODEL])


class _Said(NamedTuple):
    """What is shown as evidence, and the steps that it comes from."""

    text: str
    occurred_at: datetime | None
    speaker: str | None
    step_ids: tuple[str, ...]


def _references(user: UserMemory, said: Sequence[_Said]) -> dict[str, list[tuple[str, str]]]:
    """Step → the words in which research tells each secret in it, and the whole reference."""
    with user.memory.ledger.read(user.name) as tx:
        steps = get_steps(tx, {step_id for one in said for step_id in one.step_ids})
    return {
        step.id: [
            (tell_references(put := step.content[one.start : one.end]), put) for one in find_references(step.content)
        ]
        for step in steps.values()
    }


def _without_name(passage: Passage) -> str:
    """The text of a passage; of an item without the name that its next line repeats."""
    name, _, rest = passage.text.partition("\n")
    return rest if passage.kind != "step" and rest.casefold().startswith(name.casefold()) else passage.text


def _best_quotes(user: UserMemory, found: Research) -> list[_Said]:
    """The quotes of the evidence that bear on the question most, best first.

    How near their passages are says little where memory holds little; so the words that they share with the question
    count as much, rare ones more.
    """
    said = [one for one in found.evidence if _says(one.quote, found)]
    passages = {one.id: one.score for one in found.passages}
    near = [max(0.0, passages.get(one.passage_id, 0.0)) for one in said]
    texts = {str(number): one.quote for number, one in enumerate(said)}
    shared = dict(user.memory.lexical.score_texts(user.key, found.question, texts))
    words = [shared.get(str(number), 0.0) for number in range(len(said))]
    nearest, most = max(near, default=0) or 1, max(words, default=0) or 1
    worth = [a / nearest + b / most for a, b in zip(near, words, strict=True)]
    ranked = sorted(range(len(said)), key=lambda number: -worth[number])
    return [
        _Said(said[number].quote, said[number].occurred_at, said[number].speaker, said[number].step_ids)
        for number in ranked
        if worth[number] >= _WORTH * worth[ranked[0]]
    ]


def _says(text: str, found: Research) -> bool:
    """Whether a text says anything: the same question, asked before, does not."""
    return " ".join(text.split()).casefold() != " ".join(found.question.split()).casefold()


def _as_recall(found: Research | str | None) -> dict[str, Any]:
    """What was found, in the form in which the middleware tells a recall."""
    if not isinstance(found, Research):
        return {}
    claims = {one.passage_id: one for one in found.evidence}
    nearest = [one.id for one in found.passages if one.kind == "step" and _says(one.text, found)][:_NEAR]
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
            if one.id in claims or one.id in nearest
        ],
    }
