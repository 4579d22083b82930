"""``hexamem chat``: a conversation in the terminal with an agent that remembers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session, User, Zone

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from hexamem.cli.stopping import StoppableStream
    from hexamem.memory_types import MemoryItem
    from hexamem.user import UserMemory

__all__ = ["Chat", "chat", "item_line"]

_KEPT = 40  # messages of the conversation that a model is shown; the rest comes back by recall
_SHOWN = 3


def chat(
    session: Session,
    *,
    user: User,
    thread: Annotated[str, typer.Option("--thread", help="The conversation; it goes on where it ended.")] = "chat",
    timezone: Zone = None,
) -> None:
    """Talk with an agent that remembers. With --model it answers in words, without one by the evidence in memory.

    Shows what was recalled, stored and learned. /help lists its commands; end with /quit or Ctrl-D.
    """
    from hexamem.cli.chat_commands import is_command, run_command

    with session.user(user, timezone, at_once=True) as memory:
        talk = Chat(memory, thread, session.model)
        talk.greet()
        asks = _asks_a_model_to_learn(memory)
        for line in _lines():
            try:
                if is_command(line):
                    if not run_command(talk, line):
                        break
                else:
                    talk.say(line)
                if not asks:
                    memory.flush()  # what was said is indexed and learned from before the next line
                talk.tell_learned()
            except KeyboardInterrupt:  # stops the turn; what it left undone is done with the next one
                output.note("stopped")
        if asks:
            memory.flush()  # a call for the rest, where one after each line would cost as many calls as there are lines
            talk.tell_learned()


def _asks_a_model_to_learn(user: UserMemory) -> bool:
    """Whether learning or labelling costs calls: then steps wait until they fill a batch, or a minute passes."""
    memory = user.memory
    return memory.ingesting.by_model or memory.settings.labels in ("model", "uncertain")


def _lines() -> Iterator[str]:
    """What the person types, a line each, until the end of the input; blank ones are left out."""
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
        user: whose memory it is. thread: the conversation. model: the model's name; None without one.
        history: what was said, as the agent sees it.
        recall: what was recalled last, as JSON. researched: whether /research did it.
        numbered: ids that a command listed since the last message, by their numbers from 1.
        undoable: the operations of the last /forget, or by which the model forgot something.
        secrets: ids of those to which the last reply refers.
        reveals_reply: whether the numbers of /reveal are those of these secrets: no command listed anything since.
    """

    user: UserMemory
    thread: str
    model: str | None = None
    history: list[BaseMessage] = field(default_factory=list)
    recall: dict[str, Any] = field(default_factory=dict)
    researched: bool = False
    numbered: list[str] = field(default_factory=list)
    undoable: tuple[str, ...] = ()
    secrets: list[str] = field(default_factory=list)
    reveals_reply: bool = False
    _graph: CompiledStateGraph[Any, Any, Any, Any] | None = None
    _items: dict[str, str] = field(default_factory=dict)
    _told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.history = _last_messages(self.user, self.thread)
        self.know_items()
        self.use(self.model)

    def use(self, model: str | None) -> None:
        """Answer by this model from now on; by memory alone where there is none.

        Raises:
            ConfigError: for a model that cannot be opened; the one before stays.
        """
        from hexamem.chatting import chat_graph

        self._graph = chat_graph(self.user.memory, model or False)
        self.model = model

    def greet(self) -> None:
        """Say how it stands."""
        steps = len(self.user.steps(self.thread))
        by = f"answers by {self.model}" if self.model else "no model is set: it answers with what memory holds"
        output.write(Text(f"{output.counted(steps, 'message')} in thread {self.thread!r}; {by}. /help", style="dim"))

    def say(self, line: str) -> None:
        """One turn: stores the message, shows what is recalled and the reply, stores the reply.

        A model that fails ends the turn, not the conversation; the message is stored. So it is where the turn is interrupted:
        the reply is left as far as it came, and nothing of it is stored.
        """
        from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

        from hexamem.aligning import NOT_STORED
        from hexamem.cli.stopping import StoppableStream
        from hexamem.stores.secrets import find_references

        assert self._graph is not None
        self.show_list([])  # a number no longer stands for what was listed before
        before = self.history[-_KEPT:]
        if self.model:  # what was quoted while there was none is no way for a model to answer
            before = [one for one in before if not one.additional_kwargs.get(NOT_STORED)]
        given = [*before, HumanMessage(line)]
        stored: list[str] = []
        self._told = []
        shown = False
        out: dict[str, Any] = {"messages": given}
        context = {"user": self.user.name, "thread_id": self.thread}
        graph = self._graph
        stream = StoppableStream(
            lambda stops: graph.stream(
                {"messages": given},
                {"callbacks": [stops]},
                context=context,
                stream_mode=["messages", "custom", "values"],
            )
        )
        try:
            for mode, what in stream:
                if mode == "values":
                    out = what
                elif mode == "custom":
                    self._heard(what, stored)
                elif isinstance(what[0], AIMessage | AIMessageChunk) and what[0].text:
                    _write_part(str(what[0].text))
                    shown = True
        except Exception as error:  # noqa: BLE001 - whatever a model's client raises; it is shown
            output.note(f"the reply failed ({type(error).__name__}: {str(error)[:300]}); your message is stored")
        except KeyboardInterrupt:
            self._stop(stream, line, stored)
            _write_part("\n")  # the terminal shows ^C
            output.note("stopped; your message is stored")
            shown = False
        if shown:
            _write_part("\n")
        said = list(out["messages"])
        forgot = [one for one in said[len(given) :] if one.type == "tool" and one.name == "forget"]
        done = [each for one in forgot for each in _undo_with(str(one.text))]
        self.history = _last_messages(self.user, self.thread) if done else said  # else the ids are there to go on with
        if done:
            self.undoable = tuple(done)
            output.write(Text("forgotten by the model; /undo brings it back", style="dim"))
        replies = [one.text for one in said[len(given) :] if one.type == "ai"]
        self.secrets = [one.id for one in find_references("\n".join(map(str, replies)))]
        self.reveals_reply = bool(self.secrets)
        if self.secrets:
            output.write(Text("/reveal shows the secret here; the model never sees it", style="dim"))
        if stored:
            output.write(Text(f"stored {output.counted(len(stored), 'message')}", style="dim"))

    def _stop(self, stream: StoppableStream, line: str, stored: list[str]) -> None:
        """Leave a turn, its message stored."""
        stream.stop()
        remembers = (
            what for mode, what in stream if mode == "custom" and what.get("stage") == "remember"
        )  # nothing that the turn does before it takes long
        if (heard := next(remembers, None) if not stored else None) is not None:
            self._heard(heard, stored)
        last = self.user.steps(self.thread)[-1:]
        if not stored and not any(one.role == "user" and one.content == line for one in last):
            stored += self.user.remember(line, thread_id=self.thread).step_ids

    def _heard(self, what: dict[str, Any], stored: list[str]) -> None:
        """What the memory tells of its work."""
        if what.get("stage") == "remember":
            stored += what.get("step_ids") or []
        if what.get("stage") == "recall":
            self.recall, self.researched = what.get("recall") or {}, False
            hits = self.recall.get("hits") or []
            told = [str(hit["id"]) for hit in hits]
            if told == self._told:  # once in a turn, however often the model calls tools
                hits = []
            self._told = told
            if hits:
                output.write(Text(f"recalled {len(hits)} (/why):", style="dim"))
            for hit in hits[:_SHOWN]:
                output.write(output.body(output.one_line(f"{hit['speaker'] or hit['kind']}: {hit['text']}"), "dim"))
        for line in what.get("degraded") or ():
            output.note(f"note: {line}")

    def show_list(self, ids: list[str]) -> None:
        """Let numbers stand for these records, which a command lists, until the next message."""
        self.numbered, self.reveals_reply = ids, False

    def leave_out_forgotten(self) -> None:
        """Take what memory was to forget out of the conversation that the model is shown."""
        from hexamem.aligning import forgotten_of
        from hexamem.memory_types.cutting import trimmed

        reads = forgotten_of(self.user, self.history, self.thread)
        self.history = [
            one if one.id not in reads else one.model_copy(update={"content": trimmed(reads[one.id])})
            for one in self.history
            if one.id is None or reads.get(one.id) != ""
        ]

    def take_back(self) -> None:
        """Let the conversation be as it stands in memory, after something was undone."""
        if self.model:
            self.history = _last_messages(self.user, self.thread)

    def know_items(self) -> None:
        """Take what memory holds now as known: what came back was not learned."""
        self._items = {item.id: item_line(item) for item in self.user.items()}

    def tell_learned(self) -> None:
        """Show what was learned, and what was changed, since the last time."""
        before = self._items
        for item in self.user.items():
            line = item_line(item)
            if before.get(item.id) != line:
                did = "changed" if item.id in before else "learned"
                output.write(Text(output.clean(f"{did} {item.kind}: {output.one_line(line)}"), style="dim green"))
        self.know_items()


def _undo_with(told: str) -> list[str]:
    """The operations that the tool forget says it made; none where it tells of an error."""
    try:
        answer = json.loads(told)
    except ValueError:
        return []
    return [str(one) for one in answer.get("undo_with") or ()] if isinstance(answer, dict) else []


def item_line(item: MemoryItem) -> str:
    """What an item says, in a line."""
    from hexamem.memory_types import CoreItem, VaultItem
    from hexamem.prompting import core_line

    if isinstance(item, CoreItem):
        said = core_line(item)
    elif isinstance(item, VaultItem):
        said = item.caption
    else:
        said = getattr(item, "summary", "") or item.text
    ended = f" (until {item.valid_to:%Y-%m-%d})" if item.valid_to is not None else ""
    return " ".join(said.split()) + ended


def _write_part(text: str) -> None:
    sys.stdout.write(output.clean(text))
    sys.stdout.flush()


def _last_messages(user: UserMemory, thread: str) -> list[BaseMessage]:
    """The end of the conversation as it stands in memory, from a message of the user on."""
    from langchain_core.messages import AIMessage, HumanMessage

    from hexamem.memory_types.cutting import trimmed

    kinds = {"user": HumanMessage, "assistant": AIMessage}
    said = [step for step in user.steps(thread) if step.role in kinds and step.content.strip()][-_KEPT:]
    while said and said[0].role != "user":
        said.pop(0)
    return [kinds[step.role](trimmed(step.content), id=step.message_id) for step in said]
