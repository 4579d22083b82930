"""Alignment of a host's message history with a stored thread: finds the messages that are new, and stores only those.

A message that the thread holds under the same id is known. The other messages are compared with the end of the stored
thread by role and text, since hosts without a checkpointer send the history again with new ids on every turn:

1. The longest run at the thread's end that is in the history is known, and what follows it is new. What comes
   before such a run is known too: a summary with which a host replaced older messages.
2. Otherwise, a history that begins like some part of the thread was edited or is regenerated: what follows that is new.
3. Otherwise every message is new whose id is not known.

Messages without text (tool calls and their results) are compared only at the end: many hosts drop them. A secret in a
message is compared by its digest with the reference that replaced it. In doubt a message is stored twice rather than
lost. Not stored are system messages, summaries that LangChain's middleware marks, and output of the memory itself
(calls and results of its tools, evidence shown as a reply): they would be stored as the user's own words.

Where one thread is used under several users, each memory stores only the turns that began under its own user. The
message ids decide which these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Row, bindparam, select

from hexamem.errors import InvalidInputError
from hexamem.memory_types import Remembered
from hexamem.memory_types.messages import MessageDraft, read_messages
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import steps
from hexamem.stores.ledger.shared_threads import stored_for_others
from hexamem.stores.ledger.vault import known_secrets
from hexamem.stores.secrets import find_references, replaced_texts

if TYPE_CHECKING:
    from hexamem.user import UserMemory

MEMORY_TOOLS = frozenset(
    (
        "search_memory",
        "research_memory",
        "remember",
        "update_core",
        "find_to_forget",
        "forget",
        "list_memory",
        "read_resource",
        "use_secret",
    )
)
"""Tools whose calls and results are not stored: they repeat what memory holds already."""

NOT_STORED = "hexamem_shown"
"""A mark in a message's ``additional_kwargs``: it only shows what memory holds, and is not stored."""

_REPLIES = frozenset(("ai", "assistant", "tool"))  # messages that belong to the turn of the message before them
_OF_THREAD = (steps.c.user_id == bindparam("user")) & (steps.c.thread_id == bindparam("thread"))
_KNOWN = Prepared(
    select(steps.c.message_id, steps.c.id, steps.c.status).where(
        _OF_THREAD, steps.c.message_id.in_(bindparam("ids", expanding=True))
    )
)
_TAIL = Prepared(
    select(
        *(steps.c[name] for name in ("id", "turn", "message_id", "role", "content", "tool_call_id", "tool_calls")),
        steps.c.status,
    )
    .where(_OF_THREAD, steps.c.role != "system")
    .order_by(steps.c.turn.desc())
    .limit(bindparam("most"))
)
_SUMMARY = "summarization"  # LangChain's mark, additional_kwargs["lc_source"]
_SLACK = 64  # steps of a thread that are read beyond four per message


@dataclass(frozen=True, kw_only=True, slots=True)
class Caught:
    """The result of :func:`catch_up_thread`."""

    visible: frozenset[str] = frozenset()  # ids of all steps of the thread that are in the history, new ones included
    new: tuple[str, ...] = ()  # ids of the stored steps
    # a line for each message that could not be read, for those of another user, and of the receipt of the new ones
    degraded: tuple[str, ...] = ()
    forgotten: frozenset[str] = frozenset()  # ids of the messages of the history that are forgotten


def catch_up_thread(
    user: UserMemory,
    messages: Sequence[Any],
    thread_id: str,
    *,
    agent_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Caught:
    """Store the messages of a history that the thread does not hold yet, in order: each once, however often it is sent."""
    with user.thread_lock(thread_id):
        with user.read() as tx:
            alignment = _Alignment(tx, user, thread_id).align(messages)
        stored = Remembered()
        if alignment.new:
            stored = user.remember(alignment.new, thread_id=thread_id, agent_id=agent_id, metadata=metadata)
    return Caught(
        visible=frozenset((*alignment.known, *stored.step_ids)),
        new=stored.step_ids,
        degraded=(*alignment.degraded, *stored.degraded),
        forgotten=alignment.forgotten,
    )


def forgotten_of(user: UserMemory, messages: Sequence[Any], thread_id: str) -> frozenset[str]:
    """The forgotten messages of a history, as in :attr:`Caught.forgotten`; nothing is stored."""
    with user.read() as tx:
        return _Alignment(tx, user, thread_id).align(messages).forgotten


@dataclass(slots=True)
class _Message:
    """A message of the history. ``step`` is the id of its step, if it has one."""

    message: Any
    message_id: str | None
    step: str | None = None
    draft: MessageDraft | None = None

    @property
    def has_words(self) -> bool:
        return self.draft is not None and self.draft.role != "tool" and bool(self.draft.text.strip())


class _Run(NamedTuple):
    """Consecutive messages that equal consecutive steps: the first index in each, and the length."""

    message: int
    step: int
    length: int


@dataclass(slots=True)
class _Alignment:
    """The comparison of a history with a thread."""

    tx: Transaction
    user: UserMemory
    thread_id: str
    new: list[Any] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    forgotten: frozenset[str] = frozenset()
    _forgotten_steps: set[str] = field(default_factory=set)

    def align(self, history: Sequence[Any]) -> _Alignment:
        """Sort the messages into those that the thread holds and those that are new."""
        messages = [_Message(message, _id_of(message)) for message in history]
        self._find_by_id(messages)
        for message in messages:
            message.draft = self._draft(message.message)
        rest = self._after_run(
            [
                message
                for message in messages
                if message.step is not None
                or (message.draft is not None and not _left_out(message.message, message.draft))
            ]
        )
        self.known = [message.step for message in messages if message.step is not None]
        self.forgotten = frozenset(
            message.message_id for message in messages if message.message_id and message.step in self._forgotten_steps
        )
        new = [message for message in rest if message.step is None]
        others = self._of_other_users(messages, new)
        self.new = [message.message for message in new if id(message) not in others]
        if others:
            self.degraded.append(
                f"{len(others)} messages in thread {self.thread_id!r} belong to another user and are not stored for "
                "this one: use separate thread ids for each user's conversations"
            )
        return self

    def _find_by_id(self, messages: Sequence[_Message]) -> None:
        """Find the steps of messages that the thread holds under their ids."""
        steps_by_id: dict[str, str] = {}
        for part in chunks([message.message_id for message in messages if message.message_id]):
            rows = self.tx.all(_KNOWN, user=self.tx.user_id, thread=self.thread_id, ids=part)
            steps_by_id.update({row.message_id: row.id for row in rows})
            self._note_forgotten(rows)
        for message in messages:
            message.step = steps_by_id.get(message.message_id or "")

    # ------------------------------------------------------------------ of other users

    def _of_other_users(self, messages: Sequence[_Message], new: Sequence[_Message]) -> set[int]:
        """The ``id()`` of each new message in a turn that began under another user."""
        if not new or (len(new) == 1 and new[0] is messages[-1] and _kind_of(new[0].message) not in _REPLIES):
            return set()
        fresh = {id(message) for message in new}
        first = next(index for index, message in enumerate(messages) if id(message) in fresh)
        while first and _kind_of(messages[first].message) in _REPLIES:
            first -= 1
        turns: list[list[_Message]] = []
        for message in messages[first:]:
            kind = _kind_of(message.message)
            if kind == "system":
                continue
            if not turns or kind not in _REPLIES:
                turns.append([])
            turns[-1].append(message)
        heads: dict[str, str] = {}
        of_head: dict[str, list[_Message]] = {}
        for turn in turns:
            head = turn[0]
            if head.message_id and head.draft is not None and head is not messages[-1] and id(head) in fresh:
                heads[head.message_id] = head.draft.text
                of_head[head.message_id] = turn
        others = stored_for_others(self.tx, self.thread_id, heads) if heads else ()
        return {id(message) for head_id in others for message in of_head[head_id] if id(message) in fresh}

    # ------------------------------------------------------------------ by words

    def _drop_known(self, rest: list[_Message], after: list[Row[Any]]) -> list[_Message]:
        """The messages without the leading ones that are in the thread, in this order."""
        for index, message in enumerate(rest):
            if index >= len(after) or not self._equal(message, after[index]):
                return rest[index:]
            message.step = after[index].id
        return []

    def _after_run(self, messages: list[_Message]) -> list[_Message]:
        """The messages after those that are a run of the thread."""
        stored = self._steps(4 * len(messages) + _SLACK)
        worded = [index for index, message in enumerate(messages) if message.has_words]
        lines = [index for index, step in enumerate(stored) if step.role != "tool" and step.content.strip()]
        compared = [messages[index] for index in worded], [stored[index] for index in lines]
        run = self._run_at_end(*compared) or self._same_beginning(*compared)
        if run is None:
            return messages
        for offset in range(run.length):
            messages[worded[run.message + offset]].step = stored[lines[run.step + offset]].id
        rest = messages[worded[run.message + run.length - 1] + 1 :]
        if run.step + run.length == len(lines):
            return self._drop_known(rest, stored[lines[-1] + 1 :])
        return rest

    def _run_at_end(self, messages: list[_Message], stored: list[Row[Any]]) -> _Run | None:
        """The longest run of equal messages that ends the thread."""
        best: _Run | None = None
        for end in range(1, len(messages) + 1):
            length = 0
            while length < min(end, len(stored)) and self._equal(messages[end - 1 - length], stored[-1 - length]):
                length += 1
            begin = end - length
            # What comes before the run counts as known: allowed only for a summary before a run that is longer.
            plausible = begin == 0 or (length >= 2 and begin <= length)
            if length and plausible and (best is None or length > best.length):
                best = _Run(begin, len(stored) - length, length)
        return best

    def _same_beginning(self, messages: list[_Message], stored: list[Row[Any]]) -> _Run | None:
        """The longest part of the thread, of at least two steps, with which the history begins."""
        best: _Run | None = None
        for line in range(len(stored)):
            length = 0
            while length < min(len(messages), len(stored) - line) and self._equal(
                messages[length], stored[line + length]
            ):
                length += 1
            if length >= 2 and (best is None or length >= best.length):
                best = _Run(0, line, length)
        return best

    def _equal(self, message: _Message, step: Row[Any]) -> bool:
        draft = message.draft
        if message.step is not None:
            return bool(message.step == step.id)
        if draft is None or draft.role != step.role:
            return False
        if draft.role == "tool" and draft.tool_call_id and step.tool_call_id:
            return bool(draft.tool_call_id == step.tool_call_id)
        if not draft.text.strip() and not step.content.strip():
            return [call.name for call in draft.tool_calls] == [call["name"] for call in step.tool_calls or ()]
        return self._same_words(draft.text, step.content)

    def _same_words(self, text: str, content: str) -> bool:
        text, content = " ".join(text.split()), " ".join(content.split())
        if text == content:
            return True
        references = find_references(content)
        hidden = replaced_texts(text, content) if references else None
        if hidden is None:
            return False
        cipher = self.user.memory.cipher
        digests = {words: cipher.digest(words, context=self.user.name).hex() for words in hidden}
        ids = known_secrets(self.tx, set(digests.values()))
        return all(
            words == content[reference.start : reference.end] or ids.get(digests[words]) == reference.id
            for words, reference in zip(hidden, references, strict=True)
        )

    # ------------------------------------------------------------------ reading

    def _draft(self, message: Any) -> MessageDraft | None:
        if _is_empty(message):
            return None
        try:
            drafts = read_messages([message], timezone=self.user.timezone)
        except InvalidInputError as error:  # an unreadable message stops neither the others nor the agent
            self.degraded.append(f"a message could not be read and was not stored: {error}")
            return None
        return drafts[0]

    def _steps(self, most: int) -> list[Row[Any]]:
        """The last steps of the thread in order; forgotten ones too, so that they are not stored again."""
        rows = self.tx.all(_TAIL, user=self.tx.user_id, thread=self.thread_id, most=most)[::-1]
        self._note_forgotten(rows)
        return rows

    def _note_forgotten(self, rows: Iterable[Row[Any]]) -> None:
        self._forgotten_steps.update(row.id for row in rows if row.status != "active")


def _id_of(message: Any) -> str | None:
    message_id = message.get("id") if isinstance(message, Mapping) else getattr(message, "id", None)
    return message_id if isinstance(message_id, str) and message_id else None


def _kind_of(message: Any) -> object:
    """The role or type of a message: "human", "ai", …; None for any other form."""
    if isinstance(message, Mapping):
        return message.get("role") or message.get("type")
    return getattr(message, "type", None)


def _is_empty(message: Any) -> bool:
    """Whether a model's message is empty, as one is whose generation was stopped."""
    if isinstance(message, str | Mapping | tuple | list):
        return False
    return not getattr(message, "content", True) and not getattr(message, "tool_calls", None) and message.type == "ai"


def _left_out(message: Any, draft: MessageDraft) -> bool:
    if draft.role == "system":
        return True
    marks = getattr(message, "additional_kwargs", None) or {}
    if marks.get("lc_source") == _SUMMARY or marks.get(NOT_STORED):
        return True
    if draft.role == "tool":
        return draft.name in MEMORY_TOOLS
    calls = draft.tool_calls
    return not draft.text.strip() and bool(calls) and all(call.name in MEMORY_TOOLS for call in calls)
