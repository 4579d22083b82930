"""``hexamem chat``: a conversation in the terminal with an agent that remembers."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import Session, User, Zone

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from hexamem.memory_types import MemoryItem
    from hexamem.user import UserMemory

_IN_PROMPT = 40  # messages of the conversation that a model is shown; the rest comes back by recall
_SHOWN = 3  # hits of a recall
_HELP = (
    "/why shows what was recalled for the last message; /quit, /exit or Ctrl-D ends the conversation. Every command of "
    "hexamem works here too, for this user: /recall WORDS, /items, /ask 'QUESTION', /forget ID, /undo OPERATION, "
    "/reveal SECRET --reason WHY; /recall --help explains one."
)


def chat(
    session: Session,
    *,
    user: User,
    thread: Annotated[str, typer.Option(help="The conversation; it goes on where it ended.")] = "chat",
    timezone: Zone = None,
) -> None:
    """Talk with an agent that remembers. With --model it answers in words, without one by the evidence in memory.

    Shows what was recalled, stored and learned. A line that begins with / is a command, see /help; end with /quit or
    Ctrl-D.
    """
    with session.user(user, timezone, at_once=True) as memory, asyncio.Runner() as runner:
        memory.memory.researching.runner = runner
        talk = _Chat(session, memory, thread, runner)
        steps = output.counted(len(memory.steps(thread)), "message")
        by = f"answers by {session.model}" if session.model else "no model is set: it answers with what memory holds"
        output.write(Text(f"{steps} in thread {thread!r}; {by}. /help", style="dim"))
        # Where learning costs calls of a model, steps wait until they fill a batch, or a minute passes.
        learns_by_model = memory.memory.ingesting.by_model
        for line in _lines():
            if line.casefold() in ("/quit", "/exit", "quit", "exit"):
                break
            try:
                if line.startswith("/"):
                    talk.command(line[1:])
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


class _Chat:
    """One conversation."""

    def __init__(self, session: Session, user: UserMemory, thread: str, runner: asyncio.Runner) -> None:
        from hexamem.chatting import chat_graph

        self._session = replace(session, opened=user.memory)
        self._user, self._thread, self._runner = user, thread, runner
        self._graph = chat_graph(user.memory, session.model or False)
        self._history: list[BaseMessage] = []
        self._recall: Mapping[str, Any] = {}
        self._stored = 0  # messages of this turn that are stored
        self._known: dict[str, str] = {}  # id → line of each item
        self._reload()
        self._known = self._items()

    def _reload(self) -> None:
        """Read the end of the conversation from memory, starting with a message of the user."""
        from langchain_core.messages import AIMessage, HumanMessage

        kinds = {"user": HumanMessage, "assistant": AIMessage}
        steps = [step for step in self._user.steps(self._thread) if step.role in kinds and step.content.strip()]
        steps = steps[-_IN_PROMPT:]
        while steps and steps[0].role != "user":
            steps.pop(0)
        self._history = [kinds[step.role](step.content, id=step.message_id) for step in steps]

    def command(self, line: str) -> None:
        """Run a command of the chat, or any other command of ``hexamem`` for this user; its errors are printed."""
        try:
            name, *words = shlex.split(line) or [""]
        except ValueError as error:
            return output.note(f"/{line}: {error}")
        if name == "why":
            return self._why()
        if name == "help":
            return output.write(Text(_HELP))
        self._session.execute([name, *words], replace(self._session), self._user.name)
        self._reload()  # something may have been forgotten, or restored
        if name == "undo":
            self._known = self._items()
        return None

    def _why(self) -> None:
        hits = self._recall.get("hits") or []
        if not hits:
            return output.write_text("Nothing was recalled for the last message.")
        output.write_text(output.clean(f"Recalled for: {self._recall.get('query')}"))
        for number, hit in enumerate(hits, 1):
            head = output.head(number=f"{number:>2}", kind=hit["kind"], id=hit["id"])
            speaker = f"{hit['speaker']}: " if hit["speaker"] else ""
            output.write(output.record(head, output.cut(f"{speaker}{hit['text']}"), (f"why: {hit['why']}", "dim")))
        return None

    def answer(self, line: str) -> None:
        """Run one turn: store the message, print what is recalled and the reply, store the reply.

        A failing model or Ctrl-C ends the turn, not the conversation. The message is stored in either case.
        """
        from langchain_core.messages import HumanMessage

        from hexamem.aligning import catch_up_thread
        from hexamem.stores.secrets import find_references

        messages = [*self._history[-_IN_PROMPT:], HumanMessage(line)]
        self._history, self._stored, self._recall = messages, 0, {}
        try:
            self._runner.run(self._turn(messages))
        except KeyboardInterrupt:
            _write_part("\n")  # the terminal shows ^C
            catch_up_thread(self._user, messages, self._thread)
            output.note("stopped; your message is stored")
        except Exception as error:  # noqa: BLE001 - whatever a model's client raises; it is shown
            output.note(f"the reply failed ({type(error).__name__}: {str(error)[:300]}); your message is stored")
        new = self._history[len(messages) :]
        if any(find_references(str(message.text)) for message in new if message.type == "ai"):
            output.write(Text("/reveal ID --reason WHY shows the secret here; the model never sees it", style="dim"))
        for operation in [undo for message in new for undo in _forgotten_by(message)]:
            output.write(Text(f"forgotten by the model; /undo {operation} restores it", style="dim"))
            self._reload()
        if self._stored:
            output.write(Text(f"stored {output.counted(self._stored, 'message')}", style="dim"))

    async def _turn(self, messages: list[BaseMessage]) -> None:
        """Run the graph; prints the reply as it streams, and updates the history."""
        from langchain_core.messages import AIMessage, AIMessageChunk

        stream: Any = self._graph.astream(
            {"messages": messages},
            context={"user": self._user.name, "thread_id": self._thread},
            stream_mode=["messages", "custom", "values"],
        )
        printed = False
        async with aclosing(stream):
            async for mode, chunk in stream:
                if mode == "values":
                    self._history = list(chunk["messages"])
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
            before, self._recall = self._recall.get("hits"), event.get("recall") or {}
            hits = self._recall.get("hits") or []
            if hits and hits != before:  # once in a turn, however often the model calls tools
                lines = (output.one_line(f"{hit['speaker'] or hit['kind']}: {hit['text']}") for hit in hits[:_SHOWN])
                head = [(f"recalled {len(hits)} (/why):", "dim")]
                output.write(output.record(head, *((line, "dim") for line in lines)))
        for line in event.get("degraded") or ():
            output.note(f"note: {line}")

    def _items(self) -> dict[str, str]:
        return {item.id: _item_line(item) for item in self._user.items()}

    def show_learned(self) -> None:
        """Print the items that were learned or changed since the last call."""
        before, self._known = self._known, self._items()
        for item_id, line in self._known.items():
            if before.get(item_id) != line:
                verb = "changed" if item_id in before else "learned"
                output.write(Text(output.clean(f"{verb} {output.one_line(line)}"), style="dim green"))


def _forgotten_by(message: BaseMessage) -> list[str]:
    """The operations that a result of the tool ``forget`` reports; none where it reports an error."""
    if message.type != "tool" or message.name != "forget":
        return []
    try:
        answer = json.loads(str(message.text))
    except ValueError:
        return []
    return list(map(str, answer.get("undo_with") or ())) if isinstance(answer, dict) else []


def _item_line(item: MemoryItem) -> str:
    """An item in one line."""
    from hexamem.retrieval.packing import item_text

    ended = f" (until {item.valid_to:%Y-%m-%d})" if item.valid_to is not None else ""
    return f"{item.kind}: {' '.join(item_text(item.kind, item.text).split())}{ended}"


def _write_part(text: str) -> None:
    sys.stdout.write(output.clean(text))
    sys.stdout.flush()
