"""The slash commands of ``hexamem chat``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text

from hexamem.cli import output
from hexamem.cli.session import zone_of
from hexamem.errors import HexamemError, InvalidInputError
from hexamem.memory_types import MemoryItem, Step
from hexamem.stores.secrets import find_references

if TYPE_CHECKING:
    from hexamem.cli.chat import Chat

__all__ = ["COMMANDS", "is_command", "run_command"]

_LISTED = 10  # records that /forget WORDS searches for
_DIGITS = 9  # of the number of an entry in a list
_ENDS = ("/quit", "/exit")
_ALONE = ("/help", "/why")  # they take nothing behind them


def is_command(line: str) -> bool:
    """Whether a line is for the chat itself, and no message: it begins with a slash, or is just ``exit`` or ``quit``."""
    return line.startswith("/") or f"/{line.casefold()}" in _ENDS


def run_command(chat: Chat, line: str) -> bool:
    """Run one line that is a command, in any case; whether the conversation goes on. What is wrong with it is said."""
    given, *rest = line.split(maxsplit=1)
    name = f"/{given.removeprefix('/').casefold()}"
    what = rest[0].strip() if rest else ""
    try:
        if name in _ENDS or name in _ALONE:
            _refuse_words(name, what)
        if name in _ENDS:
            return False
        if name not in COMMANDS:
            raise InvalidInputError(f"there is no {given}; use one of {', '.join(COMMANDS)}, /quit")
        COMMANDS[name](chat, what)
    except HexamemError as error:
        output.note(str(error))
    return True


def _refuse_words(name: str, what: str) -> None:
    if what:
        raise InvalidInputError(f"{name} takes nothing behind it: type {name} alone")


def _help(chat: Chat, rest: str) -> None:
    """show these commands"""
    lines = [f"{name:<11} {command.__doc__}" for name, command in COMMANDS.items()]
    output.write_text(
        "\n".join([*lines, f"{'/quit':<11} end the conversation, as exit or quit alone do; it goes on the next time"])
    )


def _memory(chat: Chat, words: str) -> None:
    """WORDS: search memory; without words: what it holds"""
    if words:
        found = chat.user.recall(words)
        chat.show_list([hit.id for hit in found.hits])
        for number, hit in enumerate(found.hits, 1):
            output.write(*output.hit_block(number, hit, zone=zone_of(chat.user)))
        return None if found.hits else output.write_text("Nothing was found.")
    from hexamem.cli.chat import item_line

    items = chat.user.items()
    chat.show_list([item.id for item in items][-20:])
    kinds = Counter(item.kind for item in items)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "nothing learned yet"
    output.write_text(f"{output.counted(len(chat.user.steps()), 'message')}; {told}")
    for number, item in enumerate(items[-20:], 1):
        output.write(Text(output.clean(f"{number:>2}  {item.kind}  {item_line(item)[:110]}  {item.id}")))
    return None


def _why(chat: Chat, rest: str) -> None:
    """what was recalled for the last message or /research, and why"""
    hits = chat.recall.get("hits") or []
    chat.show_list([hit["id"] for hit in hits])
    if not hits:
        asked = chat.recall.get("query") if chat.researched else ""
        return output.write_text(
            f"Research found nothing for: {output.clean(asked)}"
            if asked
            else "Nothing was recalled for the last message."
        )
    output.write_text(f"{'Researched' if chat.researched else 'Recalled'} for: {output.clean(chat.recall['query'])}")
    for number, hit in enumerate(hits, 1):
        who = f"{hit['speaker']}: " if hit["speaker"] else ""
        output.write(
            output.head((f"{number:>2}", "bold"), (hit["kind"], "cyan"), (hit["id"], "dim")),
            output.body(output.cut(f"{who}{hit['text']}")),
            output.body(f"why: {hit['why']}", "dim"),
        )
    return None


def _forget(chat: Chat, what: str) -> None:
    """N or ID: forget a listed record (several: 1 3) or any; WORDS: list what may be meant; /undo brings it back"""
    numbers = what.replace(",", " ").split()
    if not numbers:
        raise InvalidInputError(
            "/forget needs numbers of a list that /why, /memory or /forget WORDS just gave, an id, or words to search"
        )
    from hexamem.tools.forgetting import forget_records

    if all(one.isdecimal() for one in numbers):
        done = forget_records(chat.user, [_listed(chat, one, "/forget") for one in numbers])
    elif _is_id(chat, what):
        done = forget_records(chat.user, [what])
    else:
        return _list_to_forget(chat, what)
    chat.leave_out_forgotten()
    chat.undoable = (done.operation.id,)
    first, *others = done.records
    lines = [_record_line(f"Forgotten: {first.id}", first), *(_record_line("with it:", one) for one in others)]
    output.write_text(
        output.clean("\n".join(lines) + "\n")
        + f"/undo brings it back ({done.operation.id}); `hexamem redact` takes words out for good."
    )
    return None


def _is_id(chat: Chat, what: str) -> bool:
    """Whether this is the id of a record, or has the form of one: then what is wrong with it is to be said."""
    if any(one.isspace() for one in what):
        return False
    try:
        chat.user.get(what)
    except HexamemError:
        return "_" in what
    return True


def _list_to_forget(chat: Chat, words: str) -> None:
    """List by number what words may mean."""
    from hexamem.tools.forgetting import find_to_forget

    records = find_to_forget(chat.user, words, _LISTED)
    chat.show_list([one.id for one in records])
    if not records:
        return output.write_text("Nothing is forgotten: memory holds nothing near to these words.")
    output.write_text("Nothing is forgotten yet. /forget NUMBER forgets one of these, or several (/forget 1 3):")
    for number, one in enumerate(records, 1):
        output.write_text(output.clean(_record_line(f"{number:>2}  {one.id}", one)))
    return None


def _record_line(told: str, record: Step | MemoryItem) -> str:
    from hexamem.cli.chat import item_line

    return f"{told} “{output.one_line(record.content if isinstance(record, Step) else item_line(record))}”"


def _listed(chat: Chat, what: str, command: str) -> str:
    """The id that a number of the list since the last message stands for; what is no number is an id already."""
    if not what.isdecimal():
        return what
    if not 1 <= (number := _place(what)) <= len(chat.numbered):
        if not chat.numbered:
            raise InvalidInputError(
                f"{command} {output.one_line(what)}: there is no list to take it from; type /why or /memory for one"
            )
        raise InvalidInputError(
            f"{command} {output.one_line(what)}: the last list since your message has {len(chat.numbered)} entries; /why or "
            "/memory lists"
        )
    return chat.numbered[number - 1]


def _place(digits: str) -> int:
    """The number that is written; 0, which no list has, for one of more digits than Python reads."""
    return int(digits) if len(digits) <= _DIGITS else 0


def _reveal(chat: Chat, what: str) -> None:
    """show the secrets in the last reply, here only (N: one of them, or of a list since; or ID); the audit keeps it"""
    wanted = _wanted(chat, what) if what else chat.secrets
    if not wanted:
        raise InvalidInputError("/reveal: the last reply refers to no secret; give a number of the last list, or an id")
    for one in wanted:
        output.write_text(chat.user.reveal(one, reason="asked for in the chat"))


def _wanted(chat: Chat, what: str) -> list[str]:
    """The secrets that a number or an id stands for: one of the last reply, a listed or named one, those in a message."""
    if what.isdecimal() and chat.reveals_reply:
        if not 1 <= (number := _place(what)) <= len(chat.secrets):
            refers = output.counted(len(chat.secrets), "secret")
            raise InvalidInputError(
                f"/reveal {output.one_line(what)}: the last reply refers to {refers}; /why or /memory lists others"
            )
        return [chat.secrets[number - 1]]
    one = _listed(chat, what, "/reveal")
    if not one.startswith("step_"):
        return [one]
    record = chat.user.get(one)
    found = [secret.id for secret in find_references(record.content)] if isinstance(record, Step) else []
    if not found:
        raise InvalidInputError(f"/reveal {what}: {one} refers to no secret")
    return found


def _undo(chat: Chat, what: str) -> None:
    """bring back what /forget or the model forgot last, or undo the operation ID"""
    operations = (what,) if what else chat.undoable
    if not operations:
        raise InvalidInputError("/undo: nothing was forgotten in this conversation; give an operation's id")
    done = [one for operation in reversed(operations) for one in chat.user.undo(operation)]
    chat.undoable = ()
    chat.know_items()
    chat.take_back()
    output.write_text(f"Undone: {', '.join(operations)} ({output.counted(len(done), 'operation')}).")


def _research(chat: Chat, question: str) -> None:
    """QUESTION: answer it from memory in several rounds, with quotes"""
    from hexamem.chatting import research_as_recall

    if not question:
        raise InvalidInputError("/research needs a question: /research QUESTION")
    found = chat.user.research(question)
    chat.recall, chat.researched = research_as_recall(found), True
    output.write_text(output.clean(found.answer))
    if found.reason:
        output.write(output.body(found.reason))
    for claim in found.evidence:
        output.write(
            output.body(
                f"“{output.clean(claim.quote)}”  {output.shown_time(claim.occurred_at, zone_of(chat.user))}", "dim"
            )
        )


def _model(chat: Chat, name: str) -> None:
    """NAME or off: answer by this model, or from memory alone"""
    if name:
        chat.use(None if name == "off" else name)
    output.write_text(f"Answers by {chat.model}." if chat.model else "No model: it answers with what memory holds.")


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
"""By name; the first line of each one's docstring is its help."""
