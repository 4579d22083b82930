"""``hexamem chat``: a conversation in the terminal with an agent that remembers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session, User, Zone, zone_of
from hexamem.errors import HexamemError, InvalidInputError

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from hexamem.memory_types import MemoryItem, Step
    from hexamem.user import UserMemory

__all__ = ["Chat", "chat"]

_IN_PROMPT = 40  # messages of the conversation that a model is shown; the rest comes back by recall
_SHOWN = 3  # hits of a recall
_LISTED = 10  # records that /forget WORDS searches for
_LATEST = 20  # items that /memory lists
_DIGITS = 9  # of the number of an entry in a list
_ENDS = ("/quit", "/exit")
_ALONE = ("/help", "/why", *_ENDS)  # they take nothing behind them


def chat(
    session: Session,
    *,
    user: User,
    thread: Annotated[str, typer.Option(help="The conversation; it goes on where it ended.")] = "chat",
    timezone: Zone = None,
) -> None:
    """Talk with an agent that remembers. With --model it answers in words, without one by the evidence in memory.

    Shows what was recalled, stored and learned. /help lists its commands; end with /quit or Ctrl-D.
    """
    with session.user(user, timezone, at_once=True) as memory, asyncio.Runner() as runner:
        talk = Chat(memory, thread, runner, session.model)
        steps = output.counted(len(memory.steps(thread)), "message")
        by = f"answers by {talk.model}" if talk.model else "no model is set: it answers with what memory holds"
        output.write(Text(f"{steps} in thread {thread!r}; {by}. /help", style="dim"))
        # Where learning costs calls of a model, steps wait until they fill a batch, or a minute passes.
        learns_by_model = memory.memory.ingesting.by_model
        for line in _lines():
            try:
                if line.startswith("/") or f"/{line.casefold()}" in _ENDS:
                    if not _run_command(talk, line):
                        break
                else:
                    talk.answer(line)
                if not learns_by_model:
                    memory.flush()  # so that the next line can use this one
                talk.show_learned()
            except KeyboardInterrupt:  # stops the turn; what it left undone is done with the next one
                output.note("stopped")
        if learns_by_model:
            memory.flush()
            talk.show_learned()


def _lines() -> Iterator[str]:
    """The lines that are typed, until the end of the input; blank ones are skipped."""
    tty = sys.stdin.isatty()
    if tty:
        with suppress(ImportError):
            import readline  # noqa: F401 - lets lines be edited and found again
    while True:
        try:
            line = input("you> ") if tty else sys.stdin.readline()
        except EOFError:
            return
        if not tty and not line:
            return
        if line.strip():
            yield line.strip()


@dataclass
class Chat:
    """One conversation.

    Attributes:
        user: whose memory it is. thread: the conversation. runner: runs the graph; Ctrl-C cancels a turn in it.
        model: the model's name; None without one.
        history: the messages of the conversation, as the agent sees it.
        recall: the last recall, as JSON. researched: whether it was /research.
        numbered: ids by their numbers from 1: the secrets of the last reply, or what a command listed since.
        undoable: the operations of the last /forget, or by which the model forgot something.
        secrets: ids of those to which the last reply refers.
    """

    user: UserMemory
    thread: str
    runner: asyncio.Runner
    model: str | None = None
    history: list[BaseMessage] = field(default_factory=list)
    recall: Mapping[str, Any] = field(default_factory=dict)
    researched: bool = False
    numbered: list[str] = field(default_factory=list)
    undoable: tuple[str, ...] = ()
    secrets: list[str] = field(default_factory=list)
    _graph: CompiledStateGraph[Any, Any, Any, Any] | None = None
    _items: dict[str, str] = field(default_factory=dict)  # id → line of each item that is known
    _stored: int = 0  # messages of this turn that are stored
    _recalled: list[str] = field(default_factory=list)  # ids last shown as recalled in this turn

    def __post_init__(self) -> None:
        self.reload()
        self.know_items()
        self.use(self.model)

    def use(self, model: str | None) -> None:
        """Answer by this model from now on; from memory alone if None.

        Raises:
            ConfigError: for a model that cannot be opened; the one before stays.
        """
        from hexamem.chatting import chat_graph

        self._graph = chat_graph(self.user.memory, model or False)
        self.model = model

    def reload(self) -> None:
        """Read the end of the conversation from memory, starting with a message of the user."""
        from langchain_core.messages import AIMessage, HumanMessage

        from hexamem.memory_types.cutting import trimmed

        kinds = {"user": HumanMessage, "assistant": AIMessage}
        steps = [step for step in self.user.steps(self.thread) if step.role in kinds and step.content.strip()]
        steps = steps[-_IN_PROMPT:]
        while steps and steps[0].role != "user":
            steps.pop(0)
        self.history = [kinds[step.role](trimmed(step.content), id=step.message_id) for step in steps]

    def answer(self, line: str) -> None:
        """Run one turn: store the message, print what is recalled and the reply, store the reply.

        A failing model or Ctrl-C ends the turn, not the conversation. The message is stored in either case.
        """
        from langchain_core.messages import HumanMessage

        from hexamem.aligning import NOT_STORED, catch_up_thread
        from hexamem.stores.secrets import find_references

        before = self.history[-_IN_PROMPT:]
        if self.model:  # replies from before a model was set are no example for it
            before = [message for message in before if not message.additional_kwargs.get(NOT_STORED)]
        self.history = messages = [*before, HumanMessage(line)]
        self._stored, self._recalled = 0, []
        try:
            self.runner.run(self._turn(messages))
        except KeyboardInterrupt:
            _write_part("\n")  # the terminal shows ^C
            catch_up_thread(self.user, messages, self.thread)
            output.note("stopped; your message is stored")
        except Exception as error:  # noqa: BLE001 - whatever a model's client raises; it is shown
            output.note(f"the reply failed ({type(error).__name__}: {str(error)[:300]}); your message is stored")
        new = self.history[len(messages) :]
        self.secrets = [
            message.id for reply in new if reply.type == "ai" for message in find_references(str(reply.text))
        ]
        self.numbered = self.secrets  # replaces the last list
        forgetting = [message for message in new if message.type == "tool" and message.name == "forget"]
        if operations := [operation for message in forgetting for operation in _undo_with(str(message.text))]:
            self.undoable = tuple(operations)
            self.reload()
            output.write(Text("forgotten by the model; /undo brings it back", style="dim"))
        if self.secrets:
            output.write(Text("/reveal shows the secret here; the model never sees it", style="dim"))
        if self._stored:
            output.write(Text(f"stored {output.counted(self._stored, 'message')}", style="dim"))

    async def _turn(self, messages: list[BaseMessage]) -> None:
        """Run the graph; prints the reply as it streams, and updates the history."""
        from langchain_core.messages import AIMessage, AIMessageChunk

        assert self._graph is not None
        stream: Any = self._graph.astream(
            {"messages": messages},
            context={"user": self.user.name, "thread_id": self.thread},
            stream_mode=["messages", "custom", "values"],
        )
        printed = False
        async with aclosing(stream):
            async for mode, chunk in stream:
                if mode == "values":
                    self.history = list(chunk["messages"])
                elif mode == "custom":
                    self._show_event(chunk)
                elif isinstance(chunk[0], AIMessage | AIMessageChunk) and chunk[0].text:
                    _write_part(str(chunk[0].text))
                    printed = True
        if printed:
            _write_part("\n")

    def _show_event(self, event: Mapping[str, Any]) -> None:
        """Print what the memory recalled and stored."""
        if event.get("stage") == "remember":
            self._stored += len(event.get("step_ids") or ())
        if event.get("stage") == "recall":
            self.recall, self.researched = event.get("recall") or {}, False
            hits = self.recall.get("hits") or []
            ids = [str(hit["id"]) for hit in hits]
            if hits and ids != self._recalled:  # once in a turn, however often the model calls tools
                lines = (output.one_line(f"{hit['speaker'] or hit['kind']}: {hit['text']}") for hit in hits[:_SHOWN])
                head = [(f"recalled {len(hits)} (/why):", "dim")]
                output.write(output.record(head, *((line, "dim") for line in lines)))
            self._recalled = ids
        for line in event.get("degraded") or ():
            output.note(f"note: {line}")

    def know_items(self) -> None:
        """Mark the items that memory holds now as known, such as items that undo restored."""
        self._items = {item.id: _item_line(item) for item in self.user.items()}

    def show_learned(self) -> None:
        """Print the items that were learned or changed since the last call."""
        known = self._items
        for item in self.user.items():
            line = _item_line(item)
            if known.get(item.id) != line:
                verb = "changed" if item.id in known else "learned"
                output.write(Text(output.clean(f"{verb} {item.kind}: {output.one_line(line)}"), style="dim green"))
        self.know_items()


def _undo_with(result: str) -> list[str]:
    """The operations that the tool ``forget`` reports; none where it reports an error."""
    try:
        answer = json.loads(result)
    except ValueError:
        return []
    return [str(operation_id) for operation_id in answer.get("undo_with") or ()] if isinstance(answer, dict) else []


def _item_line(item: MemoryItem) -> str:
    """An item in one line."""
    from hexamem.memory_types import CoreItem, VaultItem
    from hexamem.prompting import core_line

    if isinstance(item, CoreItem):
        text = core_line(item)
    else:
        text = item.caption if isinstance(item, VaultItem) else getattr(item, "summary", "") or item.text
    ended = f" (until {item.valid_to:%Y-%m-%d})" if item.valid_to is not None else ""
    return " ".join(text.split()) + ended


def _record_line(before: str, record: Step | MemoryItem) -> str:
    from hexamem.memory_types import Step

    return f"{before} “{output.one_line(record.content if isinstance(record, Step) else _item_line(record))}”"


def _write_part(text: str) -> None:
    sys.stdout.write(output.clean(text))
    sys.stdout.flush()


# -- commands ---------------------------------------------------------------------------------------------------------


def _run_command(talk: Chat, line: str) -> bool:
    """Run a line that is a command, in upper or lower case, and print its errors; returns whether the conversation continues."""
    typed, *rest = line.split(maxsplit=1)
    name = f"/{typed.removeprefix('/').casefold()}"
    words = rest[0].strip() if rest else ""
    try:
        if name in _ALONE and words:
            raise InvalidInputError(f"{name} takes no arguments: type {name} alone")
        if name in _ENDS:
            return False
        if name not in COMMANDS:
            raise InvalidInputError(f"there is no {typed}; use one of {', '.join(COMMANDS)}, /quit")
        COMMANDS[name](talk, words)
    except HexamemError as error:
        output.note(str(error))
    return True


def _help(talk: Chat, words: str) -> None:
    """show these commands"""
    lines = [f"{name:<11} {command.__doc__}" for name, command in COMMANDS.items()]
    lines.append(f"{'/quit':<11} end the conversation, as exit or quit alone do; it goes on the next time")
    output.write_text("\n".join(lines))


def _memory(talk: Chat, words: str) -> None:
    """WORDS: search memory; without words: what it holds"""
    if words:
        hits = talk.user.recall(words).hits
        talk.numbered = [hit.id for hit in hits]
        output.write(*(output.hit_record(rank, hit, zone=zone_of(talk.user)) for rank, hit in enumerate(hits, 1)))
        return None if hits else output.write_text("Nothing was found.")
    items = talk.user.items()
    latest = items[-_LATEST:]
    talk.numbered = [item.id for item in latest]
    kinds = Counter(item.kind for item in items)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "nothing learned yet"
    lines = [f"{output.counted(len(talk.user.steps()), 'message')}; {counts}"]
    lines += [
        f"{number:>2}  {item.kind}  {output.one_line(_item_line(item))}  {item.id}"
        for number, item in enumerate(latest, 1)
    ]
    return output.write_text(output.clean("\n".join(lines)))


def _why(talk: Chat, words: str) -> None:
    """what was recalled for the last message or /research, and why"""
    hits = talk.recall.get("hits") or []
    asked = output.clean(talk.recall.get("query") or "")
    talk.numbered = [hit["id"] for hit in hits]
    if not hits:
        nothing = f"Research found nothing for: {asked}" if talk.researched else ""
        return output.write_text(nothing or "Nothing was recalled for the last message.")
    output.write_text(f"{'Researched' if talk.researched else 'Recalled'} for: {asked}")
    for number, hit in enumerate(hits, 1):
        head = [(f"{number:>2}", "bold"), (hit["kind"], "cyan"), (hit["id"], "dim")]
        speaker = f"{hit['speaker']}: " if hit["speaker"] else ""
        output.write(output.record(head, output.cut(f"{speaker}{hit['text']}"), (f"why: {hit['why']}", "dim")))
    return None


def _forget(talk: Chat, words: str) -> None:
    """N or ID: forget a listed record (several: 1 3) or any; WORDS: list what may be meant; /undo brings it back"""
    from hexamem.tools.forgetting import find_to_forget, forgotten_records

    numbers = words.replace(",", " ").split()
    if not numbers:
        raise InvalidInputError(
            "/forget needs numbers of a list that /why, /memory or /forget WORDS just gave, an id, or words to search"
        )
    if all(number.isdecimal() for number in numbers):
        operation = talk.user.forget([_listed(talk, number, "/forget") for number in numbers])
    elif _is_id(talk, words):
        operation = talk.user.forget([words])
    else:
        records = find_to_forget(talk.user, words, _LISTED)
        talk.numbered = [record.id for record in records]
        lines = [_record_line(f"{number:>2}  {record.id}", record) for number, record in enumerate(records, 1)]
        head = "Nothing is forgotten yet. /forget NUMBER forgets one of these, or several (/forget 1 3):"
        nothing = "Nothing is forgotten: memory holds nothing near to these words."
        return output.write_text(output.clean("\n".join([head, *lines]) if records else nothing))
    talk.reload()
    talk.undoable = (operation.id,)
    first, *others = forgotten_records(talk.user, operation)
    lines = [_record_line(f"Forgotten: {first.id}", first), *(_record_line("with it:", record) for record in others)]
    lines.append(f"/undo brings it back ({operation.id}); `hexamem redact` takes words out for good.")
    return output.write_text(output.clean("\n".join(lines)))


def _is_id(talk: Chat, words: str) -> bool:
    """Whether this is the id of a record, or has the form of one: then its error is shown."""
    if any(character.isspace() for character in words):
        return False
    try:
        talk.user.get(words)
    except HexamemError:
        return "_" in words
    return True


def _listed(talk: Chat, words: str, command: str) -> str:
    """The id with this number in the last list; anything but a number is returned as an id."""
    if not words.isdecimal():
        return words
    asked = f"{command} {output.one_line(words)}"
    if not talk.numbered:
        raise InvalidInputError(f"{asked}: there is no list to take it from; type /why or /memory for one")
    number = int(words) if len(words) <= _DIGITS else 0  # Python reads no longer ones
    if not 1 <= number <= len(talk.numbered):
        raise InvalidInputError(f"{asked}: the last list has {len(talk.numbered)} entries; /why or /memory lists")
    return talk.numbered[number - 1]


def _reveal(talk: Chat, words: str) -> None:
    """show the secrets in the last reply, here only (N: one of them, or of a list since; or ID); the audit keeps it"""
    secrets = _secrets(talk, words) if words else talk.secrets
    if not secrets:
        raise InvalidInputError("/reveal: the last reply refers to no secret; give a number of the last list, or an id")
    for secret in secrets:
        output.write_text(talk.user.reveal(secret, reason="asked for in the chat"))


def _secrets(talk: Chat, words: str) -> list[str]:
    """The secrets of a listed or named record: the secret itself, or those to which a message refers."""
    from hexamem.memory_types import Step
    from hexamem.stores.secrets import find_references

    record_id = _listed(talk, words, "/reveal")
    if not record_id.startswith("step_"):
        return [record_id]
    record = talk.user.get(record_id)
    secrets = [secret.id for secret in find_references(record.content)] if isinstance(record, Step) else []
    if not secrets:
        raise InvalidInputError(f"/reveal {words}: {record_id} refers to no secret")
    return secrets


def _undo(talk: Chat, words: str) -> None:
    """bring back what /forget or the model forgot last, or undo the operation ID"""
    operations = (words,) if words else talk.undoable
    if not operations:
        raise InvalidInputError("/undo: nothing was forgotten in this conversation; give an operation's id")
    undone = [undo for operation_id in reversed(operations) for undo in talk.user.undo(operation_id)]
    talk.undoable = ()
    talk.know_items()
    talk.reload()
    output.write_text(f"Undone: {', '.join(operations)} ({output.counted(len(undone), 'operation')}).")


def _research(talk: Chat, question: str) -> None:
    """QUESTION: answer it from memory in several rounds, with quotes"""
    from hexamem.chatting import research_as_recall

    if not question:
        raise InvalidInputError("/research needs a question: /research QUESTION")
    research = talk.user.research(question)
    talk.recall, talk.researched = research_as_recall(research), True
    zone = zone_of(talk.user)
    claims = ((f"“{claim.quote}”  {output.shown_time(claim.occurred_at, zone)}", "dim") for claim in research.evidence)
    output.write(output.record([(research.answer, "")], research.reason, *claims))


def _model(talk: Chat, name: str) -> None:
    """NAME or off: answer by this model, or from memory alone"""
    if name:
        talk.use(None if name == "off" else name)
    output.write_text(f"Answers by {talk.model}." if talk.model else "No model: it answers with what memory holds.")


COMMANDS: dict[str, Callable[[Chat, str], None]] = {
    "/help": _help,
    "/memory": _memory,
    "/why": _why,
    "/forget": _forget,
    "/reveal": _reveal,
    "/undo": _undo,
    "/research": _research,
    "/model": _model,
}
"""By name; the docstring of each one is its help."""
