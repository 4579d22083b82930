"""The operations of memory that a model can call: name, description, input and function of each.

LangChain tools are made from this table, and other interfaces can be. An operation receives the memory of the one user
that its interface has bound, and has no argument for a user. It returns a JSON object. None returns the plaintext of a
secret: only ``UserMemory.reveal`` and the command line do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import CoreItem, Hit, MemoryItem, ResourceItem, Step, VaultItem, utc_now
from hexamem.memory_types.local_time import iso_in
from hexamem.memory_types.times import parse_time, read_zone, shown
from hexamem.retrieval.packing import distinct_hits, hit_text, item_text, with_attached
from hexamem.stores.ledger import event_time, has_own_time
from hexamem.stores.ledger.steps import known_messages, last_stated
from hexamem.stores.secrets import reference
from hexamem.tools import forgetting

if TYPE_CHECKING:
    from hexamem.graphs.memory_scope import MemoryScope
    from hexamem.user import UserMemory

_BEGINNING, _BRIEF = 80, 300  # characters of a record that the model sees already, and of one in a list
Kind = Literal["core", "episodic", "semantic", "procedural", "resource", "vault"]
I = TypeVar("I", bound=BaseModel)  # noqa: E741 - input
Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationCall:
    """The context of one call.

    Attributes:
        scope: the user and thread of the call.
        visible: ids of steps that are in the caller's conversation; a search returns only how they begin.
        message_id: the id of the user's message that the call answers; None where it is unknown.
    """

    scope: MemoryScope
    visible: frozenset[str] = frozenset()
    message_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryOperation(Generic[I]):
    """One operation.

    Attributes:
        name: in snake case.
        description: what it does and when to use it, for the model that chooses it.
        input: the schema of its arguments.
        run: (memory of the user, context of the call, input) → a JSON object.
    """

    name: str
    description: str
    input: type[I]
    run: Callable[[UserMemory, OperationCall, I], Json]


OPERATIONS: list[MemoryOperation[Any]] = []
"""All operations, in the order in which interfaces list them."""


class _Input(BaseModel):
    """Ignores further fields, since tool nodes add values of the run to the arguments of a model."""

    model_config = ConfigDict(extra="ignore")


class _PeriodInput(_Input):
    since: str | None = Field(default=None, description="Not before this ISO date or time.")
    until: str | None = Field(default=None, description="Not after this ISO date or time.")

    @property
    def where(self) -> dict[str, str] | None:
        """The conditions of a recall."""
        return {name: value for name in ("since", "until") if (value := getattr(self, name))} or None


class SearchInput(_PeriodInput):
    query: str = Field(min_length=1, description="What is looked for, in any words or language.")
    k: int = Field(default=8, ge=1, le=50, description="How many results.")
    kinds: list[Literal["step", "core", "episodic", "semantic", "procedural", "resource", "vault"]] = Field(
        default_factory=list, description="Only these kinds; all when empty. 'step' is what was said, word for word."
    )


class ResearchInput(_Input):
    question: str = Field(min_length=1, description="A question that needs several facts put together.")
    max_rounds: int = Field(default=3, ge=1, le=5, description="Rounds of searching at most.")


class RememberInput(_Input):
    kind: Literal["semantic", "episodic", "procedural", "resource"] = Field(
        default="semantic",
        description="semantic: a lasting fact; episodic: an event; procedural: how something is done; resource: a text.",
    )
    title: str = Field(min_length=1, description="What it is about, in a few words.")
    text: str = Field(min_length=1, description="What is to be remembered; for procedural one step a line.")
    when: str | None = Field(default=None, description="For an event: its ISO date or time.")


class UpdateCoreInput(_Input):
    label: str = Field(min_length=1, description="Of a block that you see, or a new one, such as 'persona'.")
    value: str = Field(description="The whole new text of the block.")


class FindToForgetInput(_PeriodInput):
    query: str = Field(min_length=1, max_length=2_000, description="What is to be forgotten, in any words.")
    k: int = Field(default=20, ge=1, le=50, description="How many records at most.")


class ForgetInput(_Input):
    ids: list[str] = Field(min_length=1, max_length=50, description="Ids from find_to_forget, a search or a list.")
    reason: str = Field(default="", description="Why, for the history.")


class ListInput(_Input):
    kind: Kind | None = Field(default=None, description="Only this kind.")
    limit: int = Field(default=20, ge=1, le=100)
    offset: int = Field(default=0, ge=0)


class ReadInput(_Input):
    id: str = Field(min_length=1, description="Of an item or step.")
    offset: int = Field(default=0, ge=0, description="Characters to skip.")
    length: int = Field(default=4_000, ge=1, le=20_000, description="Characters to read.")


class SecretInput(_Input):
    what: str = Field(min_length=1, description="What the secret is for, such as 'password of the mail account'.")


def _operation(input_type: type[I]) -> Callable[[Callable[[UserMemory, OperationCall, I], Json]], MemoryOperation[I]]:
    """Add a function to :data:`OPERATIONS` under its name; its docstring describes it to models."""

    def add(run: Callable[[UserMemory, OperationCall, I], Json]) -> MemoryOperation[I]:
        description = " ".join((run.__doc__ or "").split())
        operation = MemoryOperation(name=run.__name__, description=description, input=input_type, run=run)
        OPERATIONS.append(operation)
        return operation

    return add


def _given(**values: Any) -> Json:
    """A JSON object of the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def _when(user: UserMemory, moment: datetime | None, kind: str) -> str | None:
    return iso_in(moment, read_zone(user.timezone), kind) if moment is not None else None


def _beginning(text: str, most: int = _BEGINNING) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


@_operation(SearchInput)
def search_memory(user: UserMemory, call: OperationCall, arguments: SearchInput) -> Json:
    """Search the user's long-term memory: what was said in earlier conversations and what was learned from them. Use
    it when an answer may lie outside this conversation, or to see when something in it was said.
    """
    most = arguments.k + min(len(call.visible), arguments.k)
    every = with_attached(user.recall(arguments.query, most, kinds=arguments.kinds or None, where=arguments.where).hits)
    seen = [hit for hit in every if hit.id in call.visible][: arguments.k]
    others = distinct_hits([hit for hit in every if hit.id not in call.visible], arguments.k)
    in_conversation = [
        _given(id=hit.id, begins=_beginning(" ".join(hit.text.split())), when=_when(user, hit.occurred_at, hit.kind))
        for hit in seen
    ]
    return _given(results=[_found(user, hit) for hit in others], in_this_conversation=in_conversation or None)


def _found(user: UserMemory, hit: Hit) -> Json:
    return _given(
        id=hit.id,
        kind=hit.kind,
        text=hit_text(hit),
        when=_when(user, hit.occurred_at, hit.kind),
        speaker=hit.speaker,
        no_longer_believed=hit.superseded or None,
    )


@_operation(ResearchInput)
def research_memory(user: UserMemory, call: OperationCall, arguments: ResearchInput) -> Json:
    """Answer a question from the user's long-term memory by several rounds of searching. Slower than search_memory:
    use it for questions that need several facts put together.
    """
    research = user.research(arguments.question, arguments.max_rounds)
    kinds = {passage.id: passage.kind for passage in research.passages}
    evidence = [
        _given(
            quote=claim.quote,
            when=_when(user, claim.occurred_at, kinds.get(claim.passage_id, "step")),
            speaker=claim.speaker,
            step_ids=list(claim.step_ids),
        )
        for claim in research.evidence
    ]
    return _given(
        answer=research.answer, reason=research.reason or None, answerable=research.answerable, evidence=evidence
    )


@_operation(RememberInput)
def remember(user: UserMemory, call: OperationCall, arguments: RememberInput) -> Json:
    """Store a fact, event, procedure or text for later conversations. What the user says is stored anyway: use it for
    what you concluded or were asked to keep.
    """
    title, text = arguments.title, arguments.text
    further: Json = {}
    if arguments.kind == "semantic":
        values: Json = {"name": title, "summary": text}
    elif arguments.kind == "episodic":
        values = {"summary": title, "details": text}
        when = arguments.when
        further["occurred_at"] = parse_time(when, timezone=user.timezone).utc if when else utc_now()
    elif arguments.kind == "procedural":
        values = {"summary": title, "steps": tuple(line.strip() for line in text.splitlines() if line.strip())}
    else:
        values = {"title": title, "content": text}
    for known in user.items(arguments.kind):
        if all(getattr(known, name) == value for name, value in values.items()):
            return {"id": known.id, "stored": "known already"}
    further |= {
        "kind": arguments.kind,
        "metadata": {"thread_id": call.scope.thread_id},
        "sources": _sources(user, call),
    }
    stored = user.add({**values, **further}, actor="model", reason="the agent was to remember it")
    return {"id": stored.id, "stored": "new"}


def _sources(user: UserMemory, call: OperationCall) -> list[dict[str, str]]:
    """The step of the message that the call answers: the source of what is stored, which is forgotten with it."""
    if call.message_id is None:
        return []
    with user.memory.ledger.read(user.name) as tx:
        step_ids = known_messages(tx, call.scope.thread_id, [call.message_id]).values()
    return [{"step_id": step_id} for step_id in step_ids]


@_operation(UpdateCoreInput)
def update_core(user: UserMemory, call: OperationCall, arguments: UpdateCoreInput) -> Json:
    """Write a block of core memory, which you see in every conversation: who the user is and how you are to be. The
    value replaces the whole block of that label.
    """
    for item in user.items("core"):
        if isinstance(item, CoreItem) and item.label.casefold() == arguments.label.casefold():
            if item.value == arguments.value:
                return {"id": item.id, "stored": "known already"}
            stored = user.edit(item.id, {"value": arguments.value}, actor="model", reason="the agent rewrote the block")
            return {"id": stored.id, "stored": "changed"}
    values = {"kind": "core", "label": arguments.label, "value": arguments.value, "sources": _sources(user, call)}
    return {"id": user.add(values, actor="model", reason="the agent wrote the block").id, "stored": "new"}


@_operation(FindToForgetInput)
def find_to_forget(user: UserMemory, call: OperationCall, arguments: FindToForgetInput) -> Json:
    """List the records that say what the user wants forgotten: messages, replies and what was learned from them, in
    this conversation too. Nothing is forgotten by it. Give the ids of those that say it, replies that repeat it
    among them, to forget; where you doubt which are meant, ask the user.
    """
    asking = {source["step_id"] for source in _sources(user, call)}
    records = forgetting.find_to_forget(user, arguments.query, arguments.k, where=arguments.where, without=asking)
    return {"records": [_record(user, record) for record in records]}


@_operation(ForgetInput)
def forget(user: UserMemory, call: OperationCall, arguments: ForgetInput) -> Json:
    """Forget records by their ids when the user asks for it: all of them or none. Find them with find_to_forget or
    search_memory first. Each goes as a whole, and with a message what was learned from it alone. Do not repeat what
    was forgotten: your reply is stored. A person can undo it.
    """
    done = user.forget(arguments.ids, actor="model", reason=arguments.reason or "the agent was to forget it")
    return {"forgotten": [change.target_id for change in done.changes], "undo_with": [done.id]}


def _record(user: UserMemory, record: Step | MemoryItem) -> Json:
    if isinstance(record, Step):
        text = record.content or record.index_text
        when = _when(user, record.occurred_at, "step")
        return _given(id=record.id, kind="step", text=text, when=when, speaker=record.speaker)
    own = _when(user, event_time(record), record.kind) if has_own_time(record) else None
    return _given(id=record.id, kind=record.kind, text=item_text(record.kind, record.text), when=own)


@_operation(ListInput)
def list_memory(user: UserMemory, call: OperationCall, arguments: ListInput) -> Json:
    """List what was learned, in the order of learning, a page at a time."""
    items = user.items(arguments.kind)
    page = items[arguments.offset : arguments.offset + arguments.limit]
    with user.memory.ledger.read(user.name) as tx:
        stated = last_stated(tx, {item.id: item.sources for item in page if not has_own_time(item)})
    listed = []
    for item in page:
        moment = stated[item.id].at if item.id in stated else event_time(item)
        text = _beginning(item_text(item.kind, item.text), _BRIEF)
        listed.append(_given(id=item.id, kind=item.kind, text=text, when=_when(user, moment, item.kind)))
    return {"items": listed, "total": len(items)}


@_operation(ReadInput)
def read_resource(user: UserMemory, call: OperationCall, arguments: ReadInput) -> Json:
    """Read a stored text, or any record, in full by its id, a part at a time."""
    record = user.get(arguments.id)
    if isinstance(record, Step):
        kind, text = "step", record.index_text
        title = f"{record.speaker}, {_when(user, record.occurred_at, kind)}"
    else:
        kind, title = record.kind, record.text.partition("\n")[0]
        text = record.content if isinstance(record, ResourceItem) else item_text(kind, record.text)
    if arguments.offset > len(text):
        raise InvalidInputError(
            f"offset = {arguments.offset:,} is beyond the end of {arguments.id}: it has {len(text):,} characters"
        )
    end = arguments.offset + arguments.length
    return _given(
        id=record.id,
        kind=kind,
        title=title,
        text=text[arguments.offset : end],
        total_chars=len(text),
        next_offset=end if end < len(text) else None,
    )


_HOW_TO_STORE = {
    True: "Tell the user that it is not stored yet, and that they can store it by one message which says what it is for and its "
    'value, such as "My mail password is …": memory puts the value into the vault. Then call use_secret again.',
    False: "Tell the user that it is not stored yet, and do not ask for it: where this conversation has no memory, the "
    "application has to store it in the vault.",
}
"""Whether messages of the conversation are stored in memory → what to do about a missing secret."""


@_operation(SecretInput)
def use_secret(user: UserMemory, call: OperationCall, arguments: SecretInput) -> Json:
    """Find the reference of a secret (password, key, number) in the vault. You never see the value: write the
    reference into the argument of a tool that needs it.
    """
    secrets = {item.id: item for item in user.items("vault") if isinstance(item, VaultItem) and item.secret_id}
    matches = [secrets[hit.id] for hit in user.recall(arguments.what, 5, kinds="vault").hits if hit.id in secrets]
    if not matches:
        raise NotFoundError(f"no secret is known for {shown(arguments.what)}. {_HOW_TO_STORE[bool(call.visible)]}")
    references = [
        {
            "reference": reference(str(item.secret_id), item.caption),
            "caption": item.caption,
            "sensitivity": item.sensitivity,
        }
        for item in matches
    ]
    return {"secrets": references}
