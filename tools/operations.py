"""The table of memory operations: name, description, input, output and callers of each.

LangChain tools and all other interfaces with named operations are made from this table. An operation receives the memory
of the one user that its interface has bound, and has no argument for a user. No operation returns the plaintext of a
secret: only ``UserMemory.reveal`` and the command line do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import CoreItem, Hit, MemoryItem, ResourceItem, Step, VaultItem
from hexamem.memory_types.cutting import trimmed
from hexamem.memory_types.local_time import iso_in
from hexamem.memory_types.times import read_zone, shown
from hexamem.retrieval.packing import distinct_hits, hit_line, hit_text, item_text, with_attached
from hexamem.stores.ledger import event_time, has_own_time
from hexamem.stores.ledger.step_texts import last_stated
from hexamem.stores.ledger.steps import known_messages
from hexamem.stores.secrets import reference
from hexamem.tools.forgetting import find_to_forget
from hexamem.tools.operation_forms import (
    FindToForgetInput,
    FindToForgetOutput,
    ForgetInput,
    ForgetOutput,
    FoundRecord,
    ListInput,
    ListOutput,
    Quote,
    ReadInput,
    ReadOutput,
    RememberInput,
    ResearchToolInput,
    ResearchToolOutput,
    SearchInput,
    SearchOutput,
    SecretInput,
    SecretOutput,
    SecretRef,
    SeenRecord,
    StoredOutput,
    UndoInput,
    UndoOutput,
    UpdateCoreInput,
)

if TYPE_CHECKING:
    from hexamem.graphs.memory_scope import MemoryScope
    from hexamem.user import UserMemory

__all__ = ["OPERATIONS", "Caller", "MemoryOperation", "OperationCall"]

Caller = Literal["model", "person"]
"""Who calls: a model by a tool, or a person by an application."""
I = TypeVar("I", bound=BaseModel)  # noqa: E741 - input
O = TypeVar("O", bound=BaseModel)  # noqa: E741 - output


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationCall:
    """The context of one call.

    Attributes:
        scope: the user and thread of the call.
        visible: ids of steps that are in the caller's conversation; a search returns only how they begin.
        shown: the memory text in the caller's prompt; of its records a search returns only how they begin.
        message_id: the id of the user's message that the call answers; None where it is unknown.
    """

    scope: MemoryScope
    visible: frozenset[str] = frozenset()
    shown: str = ""
    message_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryOperation(Generic[I, O]):
    """One operation.

    Attributes:
        name: in snake case.
        description: what it does and when to use it, for the model or person that chooses it.
        input: the schema of its arguments.
        output: the schema of its result.
        run: (memory of the user, context of the call, input) → output.
        callers: who may call it.
        changes: whether it changes memory.
    """

    name: str
    description: str
    input: type[I]
    output: type[O]
    run: Callable[[UserMemory, OperationCall, I], O]
    callers: frozenset[Caller] = frozenset(("model", "person"))
    changes: bool = False


_BEGINNING = 80  # characters of a record that is in the conversation or the prompt


def _when(user: UserMemory, moment: datetime | None, kind: str) -> str | None:
    return iso_in(moment, read_zone(user.timezone), kind) if moment is not None else None


def _search(user: UserMemory, call: OperationCall, arguments: SearchInput) -> SearchOutput:
    times = {name: value for name in ("since", "until") if (value := getattr(arguments, name))}
    most = arguments.k + min(len(call.visible), arguments.k)
    found = user.recall(arguments.query, most, kinds=arguments.kinds or None, where=times or None)
    zone = read_zone(user.timezone)
    every = with_attached(found.hits)
    hits = distinct_hits([hit for hit in every if hit.id not in call.visible], arguments.k)
    seen = [hit for hit in every if hit.id in call.visible][: arguments.k]
    return SearchOutput(
        in_this_conversation=[
            SeenRecord(id=hit.id, begins=_beginning(hit.text), when=_when(user, hit.occurred_at, hit.kind))
            for hit in seen
        ]
        or None,
        results=[
            _in_prompt(hit) if call.shown and f"{hit_line(hit, zone)}\n" in call.shown else _found(user, hit)
            for hit in hits
        ],
    )


def _in_prompt(hit: Hit) -> FoundRecord:
    return FoundRecord(id=hit.id, kind=hit.kind, text=_beginning(hit_text(hit)), in_memory_block=True)


def _found(user: UserMemory, hit: Hit) -> FoundRecord:
    return FoundRecord(
        id=hit.id,
        kind=hit.kind,
        text=hit_text(hit),
        when=_when(user, hit.occurred_at, hit.kind),
        speaker=hit.speaker,
        no_longer_believed=hit.superseded or None,
    )


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _BEGINNING else f"{line[: _BEGINNING - 1]}…"


def _research(user: UserMemory, call: OperationCall, arguments: ResearchToolInput) -> ResearchToolOutput:
    found = user.research(arguments.question, arguments.max_rounds)
    kinds = {passage.id: passage.kind for passage in found.passages}
    return ResearchToolOutput(
        answer=found.answer,
        reason=found.reason or None,
        answerable=found.answerable,
        evidence=[
            Quote(
                quote=claim.quote,
                when=_when(user, claim.occurred_at, kinds.get(claim.passage_id, "step")),
                speaker=claim.speaker,
                step_ids=list(claim.step_ids),
            )
            for claim in found.evidence
        ],
    )


def _remember(user: UserMemory, call: OperationCall, arguments: RememberInput) -> StoredOutput:
    values: dict[str, Any] = {"kind": arguments.kind, "metadata": {"thread_id": call.scope.thread_id}}
    if arguments.kind == "semantic":
        values |= {"name": arguments.title, "summary": arguments.text}
    elif arguments.kind == "episodic":
        values |= {"summary": arguments.title, "details": arguments.text, "occurred_at": _moment(user, arguments.when)}
    elif arguments.kind == "procedural":
        lines = tuple(line.strip() for line in arguments.text.splitlines() if line.strip())
        values |= {"summary": arguments.title, "steps": lines}
    else:
        values |= {"title": arguments.title, "content": arguments.text}
    for known in user.items(arguments.kind):
        if all(
            getattr(known, name) == value for name, value in values.items() if name not in ("metadata", "occurred_at")
        ):
            return StoredOutput(id=known.id, stored="known already")
    values["sources"] = _sources(user, call)
    stored = user.add(values, actor="model", reason="the agent was to remember it")
    return StoredOutput(id=stored.id, stored="new")


def _sources(user: UserMemory, call: OperationCall) -> list[dict[str, str]]:
    """The step of the message that the call answers: the source of what is stored, which is forgotten with it."""
    if call.message_id is None:
        return []
    with user.memory.ledger.read(user.name) as tx:
        found = known_messages(tx, call.scope.thread_id, [call.message_id])
    return [{"step_id": step_id} for step_id in found.values()]


def _moment(user: UserMemory, when: str | None) -> datetime:
    from hexamem.memory_types import utc_now
    from hexamem.memory_types.times import parse_time

    return parse_time(when, timezone=user.timezone).utc if when else utc_now()


def _update_core(user: UserMemory, call: OperationCall, arguments: UpdateCoreInput) -> StoredOutput:
    for item in user.items("core"):
        if isinstance(item, CoreItem) and item.label.casefold() == arguments.label.casefold():
            if item.value == arguments.value:
                return StoredOutput(id=item.id, stored="known already")
            stored = user.edit(item.id, {"value": arguments.value}, actor="model", reason="the agent rewrote the block")
            return StoredOutput(id=stored.id, stored="changed")
    values = {"kind": "core", "label": arguments.label, "value": arguments.value, "sources": _sources(user, call)}
    return StoredOutput(id=user.add(values, actor="model", reason="the agent wrote the block").id, stored="new")


def _find_to_forget(user: UserMemory, call: OperationCall, arguments: FindToForgetInput) -> FindToForgetOutput:
    times = {name: value for name in ("since", "until") if (value := getattr(arguments, name))}
    asking = {source["step_id"] for source in _sources(user, call)}
    records = find_to_forget(user, arguments.query, arguments.k, where=times or None, without=asking)
    return FindToForgetOutput(records=[_record(user, record) for record in records])


def _forget(user: UserMemory, call: OperationCall, arguments: ForgetInput) -> ForgetOutput:
    done = user.forget(arguments.ids, actor="model", reason=arguments.reason or "the agent was to forget it")
    return ForgetOutput(forgotten=[change.target_id for change in done.changes], undo_with=[done.id])


def _record(user: UserMemory, record: Step | MemoryItem) -> FoundRecord:
    if isinstance(record, Step):
        text = trimmed(record.content or record.index_text)
        when = _when(user, record.occurred_at, "step")
        return FoundRecord(id=record.id, kind="step", text=text, when=when, speaker=record.speaker)
    own = event_time(record) if has_own_time(record) else None
    text = item_text(record.kind, record.text)
    return FoundRecord(id=record.id, kind=record.kind, text=text, when=_when(user, own, record.kind))


def _list(user: UserMemory, call: OperationCall, arguments: ListInput) -> ListOutput:
    items = user.items(arguments.kind)
    page = items[arguments.offset : arguments.offset + arguments.limit]
    with user.memory.ledger.read(user.name) as tx:
        said = last_stated(tx, {item.id: item.sources for item in page if not has_own_time(item)})
    times = {item.id: said[item.id].at if item.id in said else event_time(item) for item in page}
    return ListOutput(items=[_brief(user, item, times[item.id]) for item in page], total=len(items))


def _brief(user: UserMemory, item: MemoryItem, moment: datetime) -> FoundRecord:
    text = item_text(item.kind, item.text)
    return FoundRecord(
        id=item.id,
        kind=item.kind,
        text=text if len(text) <= 300 else f"{text[:299]}…",
        when=_when(user, moment, item.kind),
    )


def _read(user: UserMemory, call: OperationCall, arguments: ReadInput) -> ReadOutput:
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
    return ReadOutput(
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


def _use_secret(user: UserMemory, call: OperationCall, arguments: SecretInput) -> SecretOutput:
    secrets = {item.id: item for item in user.items("vault") if isinstance(item, VaultItem) and item.secret_id}
    found = [secrets[hit.id] for hit in user.recall(arguments.what, 5, kinds="vault").hits if hit.id in secrets]
    if not found:
        raise NotFoundError(f"no secret is known for {shown(arguments.what)}. {_HOW_TO_STORE[bool(call.visible)]}")
    return SecretOutput(
        secrets=[
            SecretRef(
                reference=reference(str(item.secret_id), item.caption),
                caption=item.caption,
                sensitivity=item.sensitivity,
            )
            for item in found
        ]
    )


def _undo(user: UserMemory, call: OperationCall, arguments: UndoInput) -> UndoOutput:
    return UndoOutput(
        undone=[operation.id for operation in user.undo(arguments.operation_id, cascade=arguments.cascade)]
    )


_PERSON: frozenset[Caller] = frozenset(("person",))
OPERATIONS: tuple[MemoryOperation[Any, Any], ...] = (
    MemoryOperation(
        name="search_memory",
        description="Search the user's long-term memory: what was said in earlier conversations and what was learned from "
        "them. Use it when an answer may lie outside this conversation, or to see when something in it was said.",
        input=SearchInput,
        output=SearchOutput,
        run=_search,
    ),
    MemoryOperation(
        name="research_memory",
        description="Answer a question from the user's long-term memory by several rounds of searching. Slower than "
        "search_memory: use it for questions that need several facts put together.",
        input=ResearchToolInput,
        output=ResearchToolOutput,
        run=_research,
    ),
    MemoryOperation(
        name="remember",
        description="Store a fact, event, procedure or text for later conversations. What the user says is stored anyway: "
        "use it for what you concluded or were asked to keep.",
        input=RememberInput,
        output=StoredOutput,
        run=_remember,
        changes=True,
    ),
    MemoryOperation(
        name="update_core",
        description="Write a block of core memory, which you see in every conversation: who the user is and how you are to be. "
        "The value replaces the whole block of that label.",
        input=UpdateCoreInput,
        output=StoredOutput,
        run=_update_core,
        changes=True,
    ),
    MemoryOperation(
        name="find_to_forget",
        description="List the records that say what the user wants forgotten: messages, replies and what was learned from "
        "them, in this conversation too. Nothing is forgotten by it. Give the ids of those that say it, replies that repeat "
        "it among them, to forget; where you doubt which are meant, ask the user.",
        input=FindToForgetInput,
        output=FindToForgetOutput,
        run=_find_to_forget,
    ),
    MemoryOperation(
        name="forget",
        description="Forget records by their ids when the user asks for it: all of them or none. Find them with "
        "find_to_forget or search_memory first. Each goes as a whole, and with a message what was learned from it alone. "
        "Do not repeat what was forgotten: your reply is stored. A person can undo it.",
        input=ForgetInput,
        output=ForgetOutput,
        run=_forget,
        changes=True,
    ),
    MemoryOperation(
        name="list_memory",
        description="List what was learned, in the order of learning, a page at a time.",
        input=ListInput,
        output=ListOutput,
        run=_list,
    ),
    MemoryOperation(
        name="read_resource",
        description="Read a stored text, or any record, in full by its id, a part at a time.",
        input=ReadInput,
        output=ReadOutput,
        run=_read,
    ),
    MemoryOperation(
        name="use_secret",
        description="Find the reference of a secret (password, key, number) in the vault. You never see the value: write the "
        "reference into the argument of a tool that needs it.",
        input=SecretInput,
        output=SecretOutput,
        run=_use_secret,
    ),
    MemoryOperation(
        name="undo",
        description="Reverse an operation by its id.",
        input=UndoInput,
        output=UndoOutput,
        run=_undo,
        callers=_PERSON,
        changes=True,
    ),
)
"""All operations, in the order in which interfaces list them."""
