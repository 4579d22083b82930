"""A chat agent with a memory that lasts, as a graph: what ``hexamem chat`` runs and ``langgraph dev`` serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.agents.embedded_research import asks_only
from hexamem.aligning import NOT_STORED, catch_up_thread
from hexamem.errors import HexamemError
from hexamem.graphs.memory_scope import ScopeResolver, run_scope
from hexamem.memory import Memory, check_memory
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.research import Passage, Research
from hexamem.memory_types.times import read_zone
from hexamem.middleware import MemoryMiddleware, MiddlewareSettings
from hexamem.models.chat_models import open_chat_model
from hexamem.prompting import shown_hit
from hexamem.retrieval.packing import item_text
from hexamem.retrieval.signals.question import QUESTION_MARKS
from hexamem.stores.ledger import get_steps
from hexamem.stores.secrets import find_references, format_references

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Checkpointer

    from hexamem.user import UserMemory

_PROMPT = (
    "You are a helpful assistant with a memory that lasts over conversations. Use what it holds where it bears on what is "
    "said, name dates as they stand there, and say so when you do not know. Answer in the user's language, briefly."
)


class ChatContext(TypedDict, total=False):
    """The context of a run of the chat.

    Attributes:
        user: whose memory it is; required.
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
    not stored, since memory holds it already. Either way the user's message is stored before the reply is generated.

    Args:
        memory: an open memory.
        model: a chat model or its name; that of the memory's agent ``chat`` when None, if it has one; False for none.
        base_url: the address of an OpenAI-compatible server, for a model given by name.
        tools: of the application, beside the memory's own.
        system_prompt: what comes before the memory's data.
        settings: of the middleware.
        scope: finds the user in the run's ``Runtime``, in place of the context.
        checkpointer: stores the conversation itself, if the host does not send it whole.

    Raises:
        ConfigError: for a model that cannot be opened.
        MissingUserError: from a run that names no user.
    """
    check_memory(memory, "chat_graph")
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
        run = run_scope("chat_graph", scope)
        user = memory.user(run.user)
        messages: Sequence[AnyMessage] = state["messages"]
        question = str(messages[-1].text).strip() if messages and messages[-1].type == "human" else ""
        research: Research | str | None = None
        try:  # before the question itself is stored
            research = user.research(question[:2_000], 2, calls=0) if question else None
        except HexamemError as error:
            research = str(error)
        caught = catch_up_thread(user, messages, run.thread_id, agent_id=run.agent_id)
        degraded = list(caught.degraded)
        write = get_stream_writer()
        write({"stage": "recall", "recall": research_as_recall(research), "degraded": degraded})
        write({"stage": "remember", "step_ids": list(caught.new), "degraded": degraded})
        if research is None:
            return {}
        reply = reply_by_evidence(user, research)
        return {"messages": [AIMessage(reply, additional_kwargs={NOT_STORED: True})]}

    graph = StateGraph(MessagesState, context_schema=ChatContext)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer, name="chat")


def research_as_recall(research: Research | str | None) -> dict[str, Any]:
    """The nearest passages of a research in the form of the middleware's "recall" events; empty without a research."""
    if not isinstance(research, Research):
        return {}
    return {
        "id": research.id,
        "query": research.question,
        "answerable": None,
        "elapsed_ms": research.elapsed_ms,
        "hits": [shown_hit(passage) for passage in nearest_passages(research)],
    }


_STORED = "Your message is stored."
_NEAREST = 3


def reply_by_evidence(user: UserMemory, research: Research | str) -> str:
    """The extracted sentences, each with its day and speaker; without any, the lines nearest to the question."""
    if isinstance(research, str):
        return f"{_STORED} Memory could not be read: {research}"
    is_question = any(mark in research.question for mark in QUESTION_MARKS)
    if research.answerable and research.evidence:
        head = "From memory:" if is_question else f"{_STORED} Near to it in memory:"
        lines = [(claim.quote, claim.occurred_at, claim.speaker, claim.step_ids) for claim in research.evidence]
    elif not is_question:
        return _STORED
    elif near := nearest_passages(research):
        head = "Memory holds no clear answer. Nearest to it:"
        lines = [
            (item_text(one.kind, one.text), one.occurred_at, one.speaker, tuple(s.step_id for s in one.sources))
            for one in near
        ]
    else:
        return "Memory holds nothing on this."
    zone, shown = read_zone(user.timezone), []
    with user.read() as tx:
        steps = get_steps(tx, {step_id for *_, step_ids in lines for step_id in step_ids})
    for quote, occurred_at, speaker, step_ids in lines:
        line = " ".join(quote.split())
        for step in (steps[step_id] for step_id in step_ids if step_id in steps):
            for span in find_references(step.content):  # whole, so that its secret can be revealed
                whole = step.content[span.start : span.end]
                line = line.replace(format_references(whole), whole, 1)
        day = f"{in_zone(occurred_at, zone):%Y-%m-%d}, " if occurred_at else ""
        shown.append(f"- “{line}” ({day}{speaker or 'learned'})")
    return "\n".join([head, *shown])


def nearest_passages(research: Research) -> list[Passage]:
    """The best passages: quoted ones first, then in the order of reading, without mere questions; of a step and the items
    extracted from it only the first."""
    cited = {claim.passage_id for claim in research.evidence}
    shown: set[str] = set()
    near = []
    for passage in sorted(research.passages, key=lambda passage: passage.id not in cited):
        steps = {source.step_id for source in passage.sources}
        if (steps and steps <= shown) or asks_only(item_text(passage.kind, passage.text)):
            continue
        shown |= steps
        near.append(passage)
    return near[:_NEAREST]
