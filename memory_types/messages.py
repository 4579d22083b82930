"""Reads the messages passed to ``remember``, in any of the usual forms, into one draft for each message.

A draft has what is stored (text, blocks, media, tool calls), what is searched (``index_text``) and what could not be
stored completely (``degraded``). Invalid input is refused with the message, the value and the rule.
LangChain is imported only for a message with other blocks than text, or in a form that it dumps.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from hexamem.errors import InvalidInputError
from hexamem.memory_types.message_blocks import (
    BlockReader,
    MediaDraft,
    Place,
    ToolCallDraft,
    is_result,
    read_tool_call,
    to_json,
)
from hexamem.memory_types.times import Moment, parse_time, read_zone, shown

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

__all__ = ["MediaDraft", "MessageDraft", "ToolCallDraft", "read_messages"]

MessageRole = Literal["user", "assistant", "system", "tool", "other"]

_ROLES: dict[str, MessageRole] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_SYNONYMS = frozenset({"human", "ai"})  # LangChain's names of canonical roles, which need not be stored


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageDraft:
    """One validated message, before secrets are replaced and it is stored.

    Attributes:
        message_id: the id of the host application.
        role: ``other`` for the own role of a LangChain ``ChatMessage``; ``metadata["role"]`` is then the original one, and
            so is ``name`` if the message has none.
        name: the name of the speaker.
        text: the text blocks joined by newlines, or the results of a message with results only.
        blocks: the content as JSON blocks in LangChain's standard form, unless it is a single string; without reasoning
            that is not stored, and with the ``sha256`` of media in place of their bytes.
        reasoning: the model's reasoning, if it is stored.
        media: images, recordings and files, with their bytes.
        tool_calls: the distinct tool calls of the message, in order.
        tool_call_id: the call to which this message is the result.
        occurred_at: the time in the message, if there is one.
        metadata: the metadata of the message, and all its fields that have no attribute here, as JSON values.
        index_text: the searched text: the text, captions, file names, transcripts, citations, results and calls.
        degraded: a sentence for each part that could not be stored completely.
    """

    message_id: str | None = None
    role: MessageRole
    name: str | None = None
    text: str
    blocks: tuple[dict[str, Any], ...] = ()
    reasoning: str | None = None
    media: tuple[MediaDraft, ...] = ()
    tool_calls: tuple[ToolCallDraft, ...] = ()
    tool_call_id: str | None = None
    occurred_at: Moment | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    index_text: str
    degraded: tuple[str, ...] = ()


def read_messages(messages: Any, *, timezone: str = "UTC", keep_reasoning: bool = False) -> list[MessageDraft]:
    """Read one message or several.

    A message is one of

    - text, as a message of the user;
    - a LangChain message or chunk;
    - a mapping ``{role, content, …}`` in the style of OpenAI or Anthropic, with optional ``name``, ``id``,
      ``tool_calls``, ``tool_call_id``, a time under ``occurred_at``, ``timestamp``, ``created_at`` or ``date`` (the
      first of these that is set), and ``metadata``; any further key goes to the metadata. LangChain's dumped forms
      (``{"type": "human", "content": …}`` and ``{"type": "human", "data": {…}}``) are read as its messages;
    - a pair ``(role, content)``.

    Args:
        messages: one message, or any iterable of messages (read once). A tuple of two strings is one pair if the first
            is a usual role, and refused otherwise: pass a list. Nothing in it is changed.
        timezone: the IANA zone in which naive times are read.
        keep_reasoning: whether the reasoning of models is stored; otherwise its blocks and fields are left out.

    Returns:
        One draft for each message, in order.

    Raises:
        InvalidInputError: a message is empty (no text, media or tool call; an empty *result* of a tool is fine), has no
            usable role, malformed data or an unreadable time, or is not a message. The error has the number of the
            message, counted from 1. An unreadable time in LangChain's ``additional_kwargs`` or ``response_metadata``,
            which providers write, is only listed in ``degraded``.
    """
    read_zone(timezone)
    items = _listed(messages)
    drafts = []
    for number, item in enumerate(items, start=1):
        place = Place(number=number, total=len(items))
        drafts.append(_draft(_raw(item, place), place, timezone, keep_reasoning))
    return drafts


@dataclass(kw_only=True, slots=True)
class _Raw:
    """The unchecked fields of a message, under the same names for all forms."""

    role: Any
    content: Any
    name: Any = None
    message_id: Any = None
    tool_calls: list[Any] = field(default_factory=list)
    tool_call_id: Any = None
    time: tuple[str, Any] | None = None
    metadata: Any = None
    extra: dict[str, Any] = field(default_factory=dict)
    any_role: bool = False  # of a ChatMessage, whose role may be any word


_WANTED = "a message is text, a LangChain message, a mapping with role and content, or a (role, content) pair"


def _listed(messages: Any) -> list[Any]:
    if isinstance(messages, str | Mapping) or _is_langchain(messages):
        return [messages]
    if isinstance(messages, tuple) and len(messages) == 2 and isinstance(messages[0], str):
        role, content = messages
        if role.strip().lower() in _ROLES and isinstance(content, str | list):
            return [messages]
        if isinstance(content, str):
            raise InvalidInputError(
                f"a tuple of two texts that starts with {shown(role, 40)} may be one (role, text) pair or two "
                "messages; give a list: [(role, text)] or [text, text]"
            )
    if isinstance(messages, bytes | bytearray | set | frozenset) or not isinstance(messages, Iterable):
        raise InvalidInputError(f"messages is of type {type(messages).__name__}; {_WANTED}")
    return list(messages)


def _is_langchain(value: object) -> TypeGuard[BaseMessage]:
    module = sys.modules.get("langchain_core.messages.base")  # a host that passes one has imported it
    return isinstance(value, getattr(module, "BaseMessage", ()))


def _raw(item: Any, place: Place) -> _Raw:
    if isinstance(item, str):
        return _Raw(role="user", content=item)
    if _is_langchain(item):
        return _from_langchain(item, place)
    if isinstance(item, Mapping):
        return _from_mapping(item, place)
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str):
        return _Raw(role=item[0], content=item[1])
    raise place.error(f"is of type {type(item).__name__}; {_WANTED}")


def _from_langchain(message: BaseMessage, place: Place) -> _Raw:
    if message.type == "remove":
        raise place.error("a RemoveMessage takes a message out of a graph's state and holds nothing to remember")
    role = message.type.removesuffix("MessageChunk").lower()
    calls = [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
    extra = {
        key: value
        for key, info in type(message).model_fields.items()
        if key not in _LANGCHAIN_FIELDS
        and (value := getattr(message, key)) != info.get_default(call_default_factory=True)
    }
    extra |= message.model_extra or {}
    return _Raw(
        role=getattr(message, "role", role) if role == "chat" else role,
        content=message.content,
        name=message.name,
        message_id=message.id,
        tool_calls=calls or list(getattr(message, "tool_call_chunks", ())),
        tool_call_id=getattr(message, "tool_call_id", None),
        metadata=extra.pop("metadata", None) if isinstance(extra.get("metadata"), Mapping) else None,
        extra=extra,
        any_role=message.type == "chat",
    )


_FIELDS = frozenset({"role", "content", "name", "id", "message_id", "tool_calls", "tool_call_id", "metadata"})
_LANGCHAIN_FIELDS = (_FIELDS - {"metadata"}) | {"type", "chunk_position", "invalid_tool_calls", "tool_call_chunks"}
_TIMES = ("occurred_at", "timestamp", "created_at", "date")


def _from_mapping(message: Mapping[Any, Any], place: Place) -> _Raw:
    role, kind = message.get("role"), message.get("type")
    if role is None and isinstance(kind, str) and kind != "message":  # as LangChain dumps it
        from langchain_core.messages import messages_from_dict

        data = message["data"] if isinstance(message.get("data"), Mapping) else message
        try:
            return _from_langchain(messages_from_dict([{"type": kind, "data": dict(data)}])[0], place)
        except (ValueError, TypeError) as error:
            raise place.error(f"{str(error).splitlines()[0]}; {_WANTED}") from None
    if role is None:
        seen = ", ".join(shown(key, 40) for key in list(message)[:20]) or "none"
        raise place.error(f"a mapping with no role is no message (keys seen: {seen}); {_WANTED}")
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list | tuple):
        raise place.error(f"tool_calls of type {type(calls).__name__} must be a list")
    time = next(((key, message[key]) for key in _TIMES if message.get(key) is not None), None)
    used = {*_FIELDS, *([time[0]] if time else ()), *(["type"] if kind == "message" else ())}
    return _Raw(
        role=role,
        content=message.get("content"),
        name=message.get("name"),
        message_id=message["id"] if message.get("id") is not None else message.get("message_id"),
        tool_calls=list(calls or ()),
        tool_call_id=message.get("tool_call_id"),
        time=time,
        metadata=message.get("metadata"),
        extra={key: value for key, value in message.items() if key not in used},
    )


def _draft(raw: _Raw, place: Place, timezone: str, keep_reasoning: bool) -> MessageDraft:
    role, word = _role(raw, place)
    name = _word(raw.name, "name", place) or (word if role == "other" else None)
    reader = BlockReader(place=place, keep_reasoning=keep_reasoning)
    plain = isinstance(raw.content, str)
    blocks = reader.read([raw.content] if plain else _content(raw.content, place))
    further = _beside(raw, reader)
    blocks = further if plain and not further else [*blocks, *further]

    calls = _calls(raw, reader, place)
    tool_call_id = _word(raw.tool_call_id, "tool_call_id", place)
    if blocks and all(map(is_result, blocks)) and role in ("user", "tool"):
        # In Anthropic's form, results of tools are a message of the user, without text of the user.
        reader.text, reader.results = reader.results, []
        if role == "user":
            role, word = "tool", word or "user"
        if tool_call_id is None and len(reader.result_ids) == 1:
            tool_call_id = reader.result_ids[0]
    text = "\n".join(reader.text)
    reasoning = "\n".join(reader.reasoning) or None
    holds = text.strip() or reader.media or calls or reader.results or reader.result_ids or reader.stored_unread
    if not holds and not reasoning and not (role == "tool" and (tool_call_id or name)):
        hint = ""
        if reader.reasoning_dropped:
            hint = ", or keep_reasoning=True: it holds only reasoning"
        elif raw.extra and not raw.content:
            hint = f", or put its text under the key 'content': it has {', '.join(sorted(map(repr, raw.extra))[:5])}"
        raise InvalidInputError(f"{place} is empty: no text, media or tool call; leave it out{hint}")
    occurred_at = _time(raw, place, timezone)
    index = [text, *reader.index, *reader.results, *(call.rendered for call in calls)]
    return MessageDraft(
        message_id=_word(raw.message_id, "id", place),
        role=role,
        name=name,
        text=text,
        blocks=tuple(blocks),
        reasoning=reasoning,
        media=tuple(reader.media),
        tool_calls=tuple(calls),
        tool_call_id=tool_call_id,
        occurred_at=occurred_at,
        metadata=_metadata(raw, word, place),
        index_text="\n".join(part for part in index if part),
        degraded=tuple(place.degraded),
    )


def _role(raw: _Raw, place: Place) -> tuple[MessageRole, str | None]:
    """The canonical role, and the original one if that is not a mere synonym."""
    word = raw.role.strip() if isinstance(raw.role, str) else ""
    role = _ROLES.get(word.lower())
    if role is None and word and raw.any_role:
        return "other", word
    if role is None:
        raise place.error(
            f"role = {shown(raw.role)}: use one of {', '.join(_ROLES)}, or a LangChain ChatMessage for a role of your own"
        )
    return role, None if word.lower() in (role, *_SYNONYMS) else word


def _word(value: Any, key: str, place: Place) -> str | None:
    if value is None or (isinstance(value, str) and not value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 1000:
        return str(value)
    if not isinstance(value, str):
        raise place.error(f"{key} = {shown(value)} must be text")
    return value


def _content(content: Any, place: Place) -> Iterable[Any]:
    if content is None:
        return ()
    if isinstance(content, list | tuple):
        return content
    if isinstance(content, Mapping) and "type" in content:
        return (content,)
    raise place.error(
        f"content of type {type(content).__name__} must be text, a list of blocks, or None; "
        "write a tool's value as JSON text"
    )


_REASONING_KEYS = ("reasoning_content", "reasoning", "reasoning_details")


def _beside(raw: _Raw, reader: BlockReader) -> list[dict[str, Any]]:
    """Take the fields of providers beside the content out of ``raw.extra``; returns further blocks."""
    further: list[dict[str, Any]] = []
    kwargs = raw.extra.get("additional_kwargs")
    if isinstance(kwargs, Mapping):
        raw.extra["additional_kwargs"] = kwargs = dict(kwargs)
    for fields in (raw.extra, kwargs if isinstance(kwargs, dict) else {}):
        for reasoning in [value for key in _REASONING_KEYS if (value := fields.pop(key, None))]:
            if not reader.keep_reasoning:
                reader.reasoning_dropped = True
            elif not reader.reasoning:  # several keys, and the content, may have the same reasoning
                reader.add_reasoning(reasoning)
        if isinstance(fields.get("refusal"), str):
            further.append({"type": "refusal", "refusal": fields.pop("refusal")})
        if isinstance(fields.get("audio"), Mapping):  # OpenAI's spoken answers
            spoken = fields.pop("audio")
            further.append({**spoken, "type": "audio", "base64": spoken.get("data"), "data": None})
        # Older and raw forms of the calls, which LangChain retains beside the parsed ones.
        calls, call = fields.pop("tool_calls", None), fields.pop("function_call", None)
        if not raw.tool_calls and not reader.tool_calls:
            raw.tool_calls = [*(calls if isinstance(calls, list | tuple) else ()), *([call] if call else ())]
    return reader.read(further, "block beside the content")


def _calls(raw: _Raw, reader: BlockReader, place: Place) -> list[ToolCallDraft]:
    """The calls of the message, then those that are only in its blocks (often the same, partly streamed)."""
    calls = [read_tool_call(call, f"tool call {number}", place) for number, call in enumerate(raw.tool_calls, start=1)]
    ids = {call.id for call in calls if call.id}
    unnamed = [call for call in calls if not call.id]
    return calls + [call for call in reader.tool_calls if not (call.id in ids if call.id else call in unnamed)]


def _time(raw: _Raw, place: Place, timezone: str) -> Moment | None:
    if raw.time is not None:
        key, value = raw.time
        try:
            return parse_time(value, timezone=timezone)
        except InvalidInputError as error:
            raise place.error(str(error), key) from None
    for fields in (raw.extra, raw.extra.get("additional_kwargs"), raw.extra.get("response_metadata")):
        for key in _TIMES[:3]:
            if not isinstance(fields, Mapping) or fields.get(key) is None:
                continue
            try:
                return parse_time(fields[key], timezone=timezone)
            except InvalidInputError as error:
                place.note(f"{key} is not used as its time: {error}")
    return None


def _metadata(raw: _Raw, word: str | None, place: Place) -> dict[str, Any]:
    if raw.metadata is not None and not isinstance(raw.metadata, Mapping):
        raise place.error(f"metadata of type {type(raw.metadata).__name__} must be a mapping")
    metadata: dict[str, Any] = to_json(raw.metadata or {}, "metadata", place)
    if (artifact := raw.extra.get("artifact")) is not None:  # for programs, which a text in its place would mislead
        try:
            json.dumps(artifact, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            del raw.extra["artifact"]
            place.note(f"the artifact, of type {type(artifact).__name__}, is not JSON and was not kept")
    extra = to_json({key: value for key, value in raw.extra.items() if value not in (None, {}, [])}, "metadata", place)
    if word is not None:
        extra["role"] = word
    for key, value in extra.items():
        if metadata.setdefault(key, value) != value:
            place.note(f"its {shown(key)} was not kept: its metadata holds another value of that name")
    return metadata
