"""Hosts that hand over a whole history: what of it is new to a thread, and storing only that.

A message that the thread holds under the same id is known. For the others, what is said (role and text) is compared with
the end of the ledger's thread, since hosts without a checkpointer send the history again with fresh ids on every turn:

1. The longest run at the thread's end that stands in the history is known, and what follows it is new. What stands
   before such a run is known too: a summary that a host put in place of older messages.
2. Without one, a history that begins like some part of the thread was edited or is regenerated: what follows that is new.
3. Else everything is new whose id is not known.

Messages without words (calls of tools and their results) are compared only at the end: many hosts drop them. A secret in a
message is compared by its digest with the reference that stands in its place. In doubt a message is stored twice rather
than lost. Not stored are system messages, summaries that LangChain's middleware marks, and what the memory itself gave (the
traffic of its tools, evidence shown in place of an answer): they would come back as what the user said.

A host's thread belongs to those who speak in it. Where one thread is used under several users, each memory takes only the
turns that were begun under its own user. Messages are told apart by their ids for this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Row, bindparam, case, select

from hexamem.errors import InvalidInputError
from hexamem.memory_types import Remembered
from hexamem.memory_types.cutting import MARKS, is_cut_from
from hexamem.memory_types.messages import MessageDraft, read_messages
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import steps
from hexamem.stores.ledger.shared_threads import held_by_others
from hexamem.stores.ledger.steps import chunks
from hexamem.stores.ledger.vault import count_secrets, known_secrets
from hexamem.stores.secrets import find_references, hidden_words

if TYPE_CHECKING:
    from hexamem.user import UserMemory

__all__ = ["MEMORY_TOOLS", "NOT_STORED", "Caught", "catch_up_thread", "forgotten_of", "known_steps"]

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
"""Tools whose calls and results are not stored: they say what memory holds already."""

NOT_STORED = "hexamem_shown"
"""A mark in a message's ``additional_kwargs``: it only shows what memory holds, and is not stored again."""

_REPLIES = frozenset(("ai", "assistant", "tool"))  # what belongs to the turn of the message before it
_OF_THREAD = (steps.c.user_id == bindparam("user")) & (steps.c.thread_id == bindparam("thread"))
_READS = case(  # what is read of a step that was forgotten, or of which a mark may stand for a part that was
    (steps.c.status != "active", ""), (steps.c.content.contains("["), steps.c.content)
).label("reads")
_KNOWN = Prepared(
    select(steps.c.message_id, steps.c.id, steps.c.turn, _READS).where(
        _OF_THREAD, steps.c.message_id.in_(bindparam("ids", expanding=True))
    )
)
_SPOKEN = select(
    *(steps.c[name] for name in ("id", "turn", "message_id", "role", "content", "tool_call_id", "tool_calls")), _READS
).where(_OF_THREAD, steps.c.role != "system")
_TAIL = Prepared(_SPOKEN.order_by(steps.c.turn.desc()).limit(bindparam("most")))
_AFTER = Prepared(_SPOKEN.where(steps.c.turn > bindparam("turn")).order_by(steps.c.turn).limit(bindparam("most")))
_SUMMARY = "summarization"  # LangChain's mark, additional_kwargs["lc_source"]
_SLACK = 64  # steps of a thread that are read beyond four a message


@dataclass(frozen=True, kw_only=True, slots=True)
class Caught:
    """What became of a history.

    Attributes:
        visible: ids of all steps of the thread that stand in the history, new ones included.
        stored: the receipt of what was new; None where nothing was. messages: what was new.
        degraded: messages that could not be read, one line each, and how many are another user's; what ``stored`` has to
            say is not repeated.
        secrets: how many the user's vault held before.
        forgotten: message id → what is read of it by now, nothing where all of it is forgotten; of those messages of the
            history of which anything is.
    """

    visible: frozenset[str] = frozenset()
    stored: Remembered | None = None
    messages: tuple[Any, ...] = ()
    degraded: tuple[str, ...] = ()
    secrets: int = 0
    forgotten: Mapping[str, str] = field(default_factory=dict)

    @property
    def new(self) -> tuple[str, ...]:
        """Ids of the steps that were stored."""
        return self.stored.step_ids if self.stored is not None else ()


def catch_up_thread(
    user: UserMemory,
    messages: Sequence[Any],
    thread_id: str,
    *,
    agent_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Caught:
    """Store what of a history the thread does not hold yet, in its order: once, however often it is handed over.

    Args:
        messages: the history as the host has it, oldest first, in any form that ``UserMemory.remember`` takes.
        thread_id: the conversation.
        agent_id, metadata: of the steps that are stored.

    Raises:
        HexamemError: as ``UserMemory.remember``, but for single messages that cannot be read: these are named in
            ``degraded``, and the others are stored.
    """
    with user.thread_lock(thread_id):
        with user.read() as tx:
            found = _Alignment(tx, user, thread_id).read(messages)
            held = count_secrets(tx)
        stored = None
        if found.new:
            stored = user.remember(found.new, thread_id=thread_id, agent_id=agent_id, metadata=metadata)
    return Caught(
        visible=frozenset((*found.known, *(stored.step_ids if stored is not None else ()))),
        stored=stored,
        messages=tuple(found.new),
        degraded=tuple(found.degraded),
        secrets=held,
        forgotten=found.forgotten,
    )


def known_steps(user: UserMemory, messages: Sequence[Any], thread_id: str) -> frozenset[str]:
    """The ids of the steps under which a thread holds messages of these very ids."""
    named = [message_id for message in messages if (message_id := _id_of(message)) is not None]
    if not named:
        return frozenset()
    with user.read() as tx:
        return frozenset(
            row.id for part in chunks(named) for row in tx.all(_KNOWN, user=tx.user_id, thread=thread_id, ids=part)
        )


def forgotten_of(user: UserMemory, messages: Sequence[Any], thread_id: str) -> dict[str, str]:
    """What of a history is forgotten by now, as :attr:`Caught.forgotten` tells it; nothing is stored."""
    with user.read() as tx:
        return _Alignment(tx, user, thread_id).read(messages).forgotten


class _Kept(NamedTuple):
    """A step of the thread, as far as it is compared."""

    id: str
    turn: int
    message_id: str | None
    role: str
    content: str
    tool_call_id: str | None
    tools: tuple[str, ...]

    @property
    def spoken(self) -> bool:
        return self.role != "tool" and bool(self.content.strip())


@dataclass(slots=True)
class _Said:
    """A message of the history. ``step`` is the id of its step, once that is found; by its id with its ``turn``."""

    message: Any
    message_id: str | None
    step: str | None = None
    turn: int = 0
    draft: MessageDraft | None = None

    @property
    def spoken(self) -> bool:
        return self.draft is not None and self.draft.role != "tool" and bool(self.draft.text.strip())


@dataclass(slots=True)
class _Alignment:
    """A history laid against a thread."""

    tx: Transaction
    user: UserMemory
    thread_id: str
    new: list[Any] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    forgotten: dict[str, str] = field(default_factory=dict)
    _reads: dict[str, str] = field(default_factory=dict)  # step → what is read of it, where anything is forgotten

    def read(self, messages: Sequence[Any]) -> _Alignment:
        """Sort the messages into those that the thread holds and those that are new."""
        said = [_Said(message, _id_of(message)) for message in messages]
        held: dict[str, tuple[str, int]] = {}
        for part in chunks([one.message_id for one in said if one.message_id]):
            rows = self.tx.all(_KNOWN, user=self.tx.user_id, thread=self.thread_id, ids=part)
            held.update({row.message_id: (row.id, row.turn) for row in rows})
            self._note_forgotten(rows)
        for one in said:
            one.step, one.turn = held.get(one.message_id or "", (None, 0))
        last = max((index for index, one in enumerate(said) if one.step is not None), default=-1)
        unread = [one for one in said if one.step is None]
        readable = self._readable(unread)
        before = {id(one) for one in said[: last + 1]}
        if last >= 0 and not any(id(one) in before for one in readable):
            rest = self._after_ids(said[last], readable)
        else:
            for one in said:
                if one.step is not None:
                    one.draft = self._draft(one.message)
            kept = {id(one) for one in readable}
            rest = self._after_words([one for one in said if one.step is not None or id(one) in kept])
        self.known = [one.step for one in said if one.step is not None]
        if self._reads:
            self.forgotten = {
                one.message_id: self._reads[one.step] for one in said if one.message_id and one.step in self._reads
            }
        new = [one for one in rest if one.step is None]
        others = self._of_others(said, new)
        self.new = [one.message for one in new if id(one) not in others]
        if others:
            self.degraded.append(
                f"{len(others)} of the messages in thread {self.thread_id!r} were said under another user and are not "
                "stored for this one: give each user's conversations thread ids of their own"
            )
        return self

    # ------------------------------------------------------------------ of others

    def _of_others(self, said: Sequence[_Said], new: Sequence[_Said]) -> set[int]:
        """Which of the new messages stand in turns that were begun under another user.

        Nothing is looked up for a turn of this user, nor for the last message: it is what was just said.
        """
        if not new or (len(new) == 1 and new[0] is said[-1] and _kind_of(new[0].message) not in _REPLIES):
            return set()
        fresh = {id(one) for one in new}
        first = next(index for index, one in enumerate(said) if id(one) in fresh)
        while first and _kind_of(said[first].message) in _REPLIES:
            first -= 1
        turns: list[list[_Said]] = []
        for one in said[first:]:
            kind = _kind_of(one.message)
            if kind == "system":
                continue
            if not turns or kind not in _REPLIES:
                turns.append([])
            turns[-1].append(one)
        heads: dict[str, str] = {}
        of_head: dict[str, list[_Said]] = {}
        for turn in turns:
            head = turn[0]
            if head.message_id and head.draft is not None and head is not said[-1] and id(head) in fresh:
                heads[head.message_id] = head.draft.text
                of_head[head.message_id] = turn
        others = held_by_others(self.tx, self.thread_id, heads) if heads else ()
        return {id(one) for head_id in others for one in of_head[head_id] if id(one) in fresh}

    # ------------------------------------------------------------------ by ids

    def _after_ids(self, last: _Said, rest: list[_Said]) -> list[_Said]:
        """The usual case: all but the last messages are known by their ids. Those may still be known by their words."""
        return self._drop_known(rest, self._steps(len(rest), after=last.turn)) if rest else rest

    def _drop_known(self, rest: list[_Said], after: list[_Kept]) -> list[_Said]:
        """The messages without those at their beginning that stand in the thread, in this order."""
        for index, one in enumerate(rest):
            if index >= len(after) or not self._equal(one, after[index]):
                return rest[index:]
            one.step = after[index].id
        return []

    # ------------------------------------------------------------------ by words

    def _after_words(self, said: list[_Said]) -> list[_Said]:
        kept = self._steps(4 * len(said) + _SLACK)
        spoken = [index for index, one in enumerate(said) if one.spoken]
        lines = [index for index, one in enumerate(kept) if one.spoken]
        run = self._run_at_end([said[i] for i in spoken], [kept[i] for i in lines])
        if run is None:
            run = self._same_beginning([said[i] for i in spoken], [kept[i] for i in lines])
        if run is None:
            return said
        begin, line, length = run
        for offset in range(length):
            said[spoken[begin + offset]].step = kept[lines[line + offset]].id
        rest = said[spoken[begin + length - 1] + 1 :]
        if line + length == len(lines):
            return self._drop_known(rest, kept[lines[-1] + 1 :])
        return rest

    def _run_at_end(self, said: list[_Said], kept: list[_Kept]) -> tuple[int, int, int] | None:
        """The longest run of equal messages at the end of the thread: its first message, first step, and length."""
        best: tuple[int, int, int] | None = None
        for end in range(1, len(said) + 1):
            length = 0
            while length < min(end, len(kept)) and self._equal(said[end - 1 - length], kept[-1 - length]):
                length += 1
            begin = end - length
            # What stands before the run is given up as known: only a summary before a longer run may be.
            likely = begin == 0 or (length >= 2 and begin <= length)
            if length and likely and (best is None or length > best[2]):
                best = (begin, len(kept) - length, length)
        return best

    def _same_beginning(self, said: list[_Said], kept: list[_Kept]) -> tuple[int, int, int] | None:
        """Where the history begins like some part of the thread, with an exchange at least: as above."""
        best: tuple[int, int, int] | None = None
        for line in range(len(kept)):
            length = 0
            while length < min(len(said), len(kept) - line) and self._equal(said[length], kept[line + length]):
                length += 1
            if length >= 2 and (best is None or length >= best[2]):
                best = (0, line, length)
        return best

    def _equal(self, one: _Said, kept: _Kept) -> bool:
        draft = one.draft
        if one.step is not None:
            return one.step == kept.id
        if draft is None or draft.role != kept.role:
            return False
        if draft.role == "tool" and draft.tool_call_id and kept.tool_call_id:
            return draft.tool_call_id == kept.tool_call_id
        if not draft.text.strip() and not kept.content.strip():
            return tuple(call.name for call in draft.tool_calls) == kept.tools
        return self._same_words(draft.text, kept.content)

    def _same_words(self, text: str, content: str) -> bool:
        if is_cut_from(content, text):
            return True
        text, content = " ".join(text.split()), " ".join(content.split())
        if text == content:
            return True
        references = find_references(content)
        if not references:
            return False
        found = hidden_words(text, content)
        if found is None:
            return False
        cipher = self.user.memory.cipher
        digests = {words: cipher.digest(words, context=self.user.name).hex() for words in found}
        ids = known_secrets(self.tx, set(digests.values()))
        return all(
            words == content[one.start : one.end] or ids.get(digests[words]) == one.id
            for words, one in zip(found, references, strict=True)
        )

    # ------------------------------------------------------------------ reading

    def _readable(self, said: Sequence[_Said]) -> list[_Said]:
        kept = []
        for one in said:
            one.draft = self._draft(one.message)
            if one.draft is not None and not _left_out(one.message, one.draft):
                kept.append(one)
        return kept

    def _draft(self, message: Any) -> MessageDraft | None:
        if _is_empty(message):
            return None
        try:
            drafts = read_messages([message], timezone=self.user.timezone)
        except InvalidInputError as error:  # a host's odd message stops neither the others nor the agent
            self.degraded.append(f"a message could not be read and was not stored: {error}")
            return None
        return drafts[0]

    def _steps(self, most: int, after: int | None = None) -> list[_Kept]:
        """The last steps of the thread in their order, or the first after a turn; forgotten ones too: what was forgotten
        is not stored anew."""
        wanted: dict[str, Any] = {"user": self.tx.user_id, "thread": self.thread_id, "most": most}
        rows = self.tx.all(_TAIL, **wanted)[::-1] if after is None else self.tx.all(_AFTER, turn=after, **wanted)
        self._note_forgotten(rows)
        return [
            _Kept(
                row.id,
                row.turn,
                row.message_id,
                row.role,
                row.content,
                row.tool_call_id,
                tuple(call["name"] for call in row.tool_calls or ()),
            )
            for row in rows
        ]

    def _note_forgotten(self, rows: Iterable[Row[Any]]) -> None:
        for row in rows:
            if row.reads is not None and (not row.reads or any(mark in row.reads for mark in MARKS)):
                self._reads[row.id] = row.reads


def _id_of(message: Any) -> str | None:
    found = message.get("id") if isinstance(message, Mapping) else getattr(message, "id", None)
    return found if isinstance(found, str) and found else None


def _kind_of(message: Any) -> object:
    """What the host calls a message: "human", "ai", …; None of a form that is not known here."""
    if isinstance(message, Mapping):
        return message.get("role") or message.get("type")
    return getattr(message, "type", None)


def _is_empty(message: Any) -> bool:
    """Whether a message says nothing, as a model's does that was cut off."""
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
