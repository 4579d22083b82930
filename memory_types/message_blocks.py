"""Reads content blocks: the parts of a message that are more than plain text.

LangChain's ``content_blocks`` translates the blocks of providers to its standard form, in which they are stored, except for
the bytes of media: these are moved to a :class:`MediaDraft` and replaced by their hash. Each block is translated alone,
since the translators drop what they do not expect beside it. What none of them knows is stored as it is.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import unquote_to_bytes

from hexamem.errors import InvalidInputError
from hexamem.memory_types.times import shown

__all__ = ["BlockReader", "MediaDraft", "MediaKind", "Place", "ToolCallDraft", "is_result", "read_tool_call", "to_json"]

MediaKind = Literal["image", "audio", "video", "file"]

_DEEPEST = 100  # levels of nesting; the JSON of SQLite, PostgreSQL and orjson all hold more


@dataclass(frozen=True, kw_only=True, slots=True)
class MediaDraft:
    """An image, recording, video or file of a message, before it is stored.

    Attributes:
        data: the decoded bytes, if they are in the message.
        name: file name or title.
        caption: caption, alternative text or description.
        transcript: the words of a recording, or the text of a text file.
        file_id: its id in the provider's file storage.
    """

    kind: MediaKind
    mime_type: str | None = None
    url: str | None = None
    data: bytes | None = None
    name: str | None = None
    caption: str | None = None
    transcript: str | None = None
    file_id: str | None = None

    @property
    def sha256(self) -> str | None:
        """The hex digest of ``data``, which replaces it in the blocks; None without data."""
        return None if self.data is None else hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallDraft:
    """A tool call. ``arguments`` is a text where it is not a JSON object; ``name`` may be empty."""

    id: str | None
    name: str
    arguments: dict[str, Any] | str

    @property
    def rendered(self) -> str:
        """The call as searched text: ``name(arg=value, …)``."""
        if isinstance(self.arguments, str):
            return f"{self.name}({self.arguments})"
        values = (
            f"{key}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            for key, value in self.arguments.items()
        )
        return f"{self.name}({', '.join(values)})"


@dataclass(slots=True)
class Place:
    """The message that is being read: named in errors, with notes on what could not be stored completely."""

    number: int
    total: int
    degraded: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"message {self.number} of {self.total}"

    def error(self, rule: str, where: str = "") -> InvalidInputError:
        return InvalidInputError(f"{self}{', ' if where else ''}{where}: {rule}")

    def note(self, what: str) -> None:
        self.degraded.append(f"message {self.number}: {what}")


def to_json(
    value: Any, where: str, place: Place, inside: Callable[[Any, str, int], Any] | None = None, depth: int = 0
) -> Any:
    """The value as a JSON value; parts that JSON does not have become text, with a note.

    Args:
        value: anything.
        where: its path in the message, for notes and errors, such as ``metadata.tags``.
        place: the message; receives the notes.
        inside: returns what replaces bytes, or a mapping with a type; None for what is not replaced.

    Raises:
        InvalidInputError: nested more than 100 levels deep (or in itself), or two keys are the same as text.
    """
    if depth > _DEEPEST:
        raise place.error(f"is nested more than {_DEEPEST} levels deep, or contains itself; flatten it", where)
    if value is None or type(value) in (str, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # a plain string of an enum or any other subclass
    if isinstance(value, int) and value.bit_length() <= 10_000:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if inside is not None and (replaced := inside(value, where, depth)) is not None:
        return replaced
    if isinstance(value, list | tuple):
        return [to_json(item, f"{where}[{n}]", place, inside, depth + 1) for n, item in enumerate(value)]
    if isinstance(value, Mapping):
        cleaned: dict[str, Any] = {}
        for key, item in value.items():
            name = str.__str__(key) if isinstance(key, str) else str(key)
            if name in cleaned:
                raise place.error(f"two keys read {shown(name)} as text; rename one", where)
            cleaned[name] = to_json(item, f"{where}.{name}", place, inside, depth + 1)
        return cleaned
    place.note(f"{where} is of type {type(value).__name__}, which JSON cannot hold; kept as text")
    return hex(value) if isinstance(value, int) else str(value)


def read_tool_call(call: Any, where: str, place: Place) -> ToolCallDraft:
    """Read a tool call of OpenAI (``function`` or ``custom`` inside), LangChain (``args``) or Anthropic (``input``).

    Raises:
        InvalidInputError: it is no mapping, has neither name nor arguments, or one of the wrong type.
    """
    if not isinstance(call, Mapping):
        raise place.error(f"a tool call must be a mapping, got {type(call).__name__}", where)
    inner = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), Mapping)), call)
    call_id = _first(call, "call_id", "id", "tool_use_id")
    name = _first(inner, "name")
    arguments = _first(inner, "args", "arguments", "input")
    for key, value in (("id", call_id), ("name", name)):
        if value is not None and not isinstance(value, str):
            raise place.error(f"{key} = {shown(value)} of a tool call must be text", where)
    if name is None and arguments is None:
        raise place.error(f"a tool call needs a name and arguments; keys seen: {', '.join(map(str, call))}", where)
    if isinstance(arguments, str) and arguments:
        try:
            parsed = json.loads(arguments)
            json.dumps(parsed, allow_nan=False)
            if isinstance(parsed, dict):
                arguments = to_json(parsed, f"{where}.arguments", place)
        except (ValueError, RecursionError):
            pass  # not JSON, or nested too deeply: stored as text, with a note
        if isinstance(arguments, str):
            place.note(f"{where}: the arguments of {shown(name)} are no JSON object; kept as text")
            return ToolCallDraft(id=call_id or None, name=name or "", arguments=arguments)
    if arguments and not isinstance(arguments, Mapping):
        raise place.error(f"arguments of type {type(arguments).__name__} must be a mapping or JSON text", where)
    cleaned = to_json(arguments or {}, f"{where}.arguments", place)
    return ToolCallDraft(id=call_id or None, name=name or "", arguments=cleaned)


_TEXT = frozenset({"text", "input_text", "output_text", "refusal"})
_REASONING = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content"})
_TOOL_CALLS = frozenset(
    {"tool_call", "tool_call_chunk", "invalid_tool_call", "server_tool_call", "server_tool_call_chunk"}
    | {"tool_use", "server_tool_use", "mcp_tool_use", "function_call"}
)
_RESULTS = frozenset({"tool_result", "server_tool_result", "function_call_output"})  # and Anthropic's *_tool_result
_MEDIA = frozenset({"image", "audio", "video", "file", "text-plain"})
_KNOWN = _TEXT | _REASONING | _TOOL_CALLS | _RESULTS | _MEDIA
_NAMES = ("filename", "file_name", "name", "title")
_CAPTIONS = ("caption", "alt", "alt_text", "description", "context")
_TRANSCRIPTS = ("transcript", "transcription")


def is_result(block: Mapping[str, Any]) -> bool:
    """Whether a block is the result of a tool."""
    kind = block.get("type")
    return isinstance(kind, str) and (kind in _RESULTS or kind.endswith("_tool_result"))


def _is_known(part: Mapping[str, Any]) -> bool:
    """Whether a mapping has the type of a block. In the contents of tools and metadata a type may be anything."""
    kind = part.get("type")
    return isinstance(kind, str) and kind in _KNOWN


@dataclass(slots=True)
class BlockReader:
    """Reads the blocks of one message, in order, and collects their contents.

    Attributes:
        place: the message.
        keep_reasoning: whether reasoning blocks are stored.
        text: texts of the message itself.
        results: texts of tool results in it.
        result_ids: ids of the calls of these results.
        index: further text to search: captions, names, transcripts, citations, texts in other blocks.
        reasoning_dropped: whether there was reasoning that is not stored.
        stored_unread: whether blocks are stored of which nothing could be read.
    """

    place: Place
    keep_reasoning: bool = False
    text: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    result_ids: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    index: list[str] = field(default_factory=list)
    media: list[MediaDraft] = field(default_factory=list)
    tool_calls: list[ToolCallDraft] = field(default_factory=list)
    reasoning_dropped: bool = False
    stored_unread: bool = False

    def read(self, blocks: Iterable[Any], where: str = "block") -> list[dict[str, Any]]:
        """Read blocks; returns them in the form in which they are stored.

        Raises:
            InvalidInputError: a block is neither text nor a mapping, or its content is malformed.
        """
        stored: list[dict[str, Any]] = []
        for number, block in enumerate(blocks, start=1):
            stored += self._read(block, f"{where} {number}", self.text, 0)
        return stored

    def _read(self, block: Any, here: str, texts: list[str], depth: int) -> list[dict[str, Any]]:
        """Read a block, collect its text in ``texts``; returns it as it is stored: nothing for dropped reasoning."""
        if isinstance(block, str):
            block = {"type": "text", "text": block}
        if not isinstance(block, Mapping):
            raise self.place.error(f"a block must be text or a mapping, got {type(block).__name__}", here)
        kind = block.get("type", "text" if isinstance(block.get("text"), str) else None)
        if kind is not None and not isinstance(kind, str):
            raise self.place.error(f"type = {shown(kind)} must be text", here)
        if kind in _TEXT:
            self._text(block, here, texts)
        elif kind in _REASONING:
            if not self.keep_reasoning:
                self.reasoning_dropped = True
                return []
            self.add_reasoning(block)
        elif kind in _TOOL_CALLS:
            self.tool_calls.append(read_tool_call(block, here, self.place))
        elif is_result(block):
            return [self._result(block, here, depth)]
        elif kind == "non_standard" and isinstance(block.get("value"), Mapping):
            return self._read(block["value"], here, texts, depth + 1)
        else:
            parts = _translated(block)
            if parts is None:
                return [self._unknown(kind, block, here, depth)]
            if len(parts) == 1 and parts[0]["type"] in _MEDIA:
                return [self._media(parts[0], here, depth)]
            return [stored for part in parts for stored in self._read(part, here, texts, depth)]
        return [self._stored(block, here, depth, self.index)]

    def _stored(self, value: Any, here: str, depth: int, texts: list[str]) -> Any:
        """A value as JSON, with the blocks in it read: their texts are collected in ``texts``."""

        def inside(part: Any, where: str, level: int) -> Any:
            if part is value:
                return None
            if isinstance(part, bytes | bytearray | memoryview):
                self.media.append(MediaDraft(kind="file", data=bytes(part)))
                return {"sha256": self.media[-1].sha256}
            if isinstance(part, Mapping) and (_is_known(part) or "_url" in str(part.get("type"))):
                blocks = self._read(part, where, texts, level + 1)
                return blocks[0] if len(blocks) == 1 else blocks
            return None

        return to_json(value, here, self.place, inside, depth)

    def _text(self, block: Mapping[str, Any], here: str, texts: list[str]) -> None:
        key = "refusal" if block.get("type") == "refusal" else "text"
        value = block.get(key)
        if isinstance(value, Mapping):  # OpenAI's Assistants: {"value": …}
            value = value.get("value")
        if value is not None and not isinstance(value, str):
            raise self.place.error(f"{key} = {shown(value)} must be text", here)
        if value:
            texts.append(value)
        for citation in [*(block.get("annotations") or ()), *(block.get("citations") or ())]:
            if isinstance(citation, Mapping):
                self._add_index(_text_of(citation, "title"), _text_of(citation, "cited_text"))

    def add_reasoning(self, value: Any) -> None:
        """Collect the text of a reasoning block, or of a provider's reasoning field beside the content."""
        if isinstance(value, str) and value:
            self.reasoning.append(value)
        elif isinstance(value, Mapping):
            for key in ("reasoning", "thinking", "reasoning_content", "text", "summary", "content"):
                self.add_reasoning(value.get(key))
        elif isinstance(value, list | tuple):
            for item in value:
                self.add_reasoning(item)

    def _result(self, block: Mapping[str, Any], here: str, depth: int) -> dict[str, Any]:
        call_id = _first(block, "tool_use_id", "tool_call_id", "call_id")
        if isinstance(call_id, str):
            self.result_ids.append(call_id)
        key = "output" if "output" in block else "content"
        content = block.get(key)
        texts: list[str] = []
        blocks = {"type": "blocks", key: content} if isinstance(content, list | tuple) else {key: content}
        stored = self._stored(blocks, here, depth, texts)[key]
        if isinstance(content, str):
            texts = [content] if content else []
        elif isinstance(content, list | tuple):
            texts += [part for part in content if isinstance(part, str)]
        if not texts and content and not isinstance(content, list | tuple):
            texts = [json.dumps(stored, ensure_ascii=False)]  # a value in the tool's own form
        self.results += texts
        rest = {name: value for name, value in block.items() if name != key}
        cleaned: dict[str, Any] = self._stored(rest, here, depth, self.index)
        return {**cleaned, key: stored} if key in block else cleaned

    def _media(self, block: dict[str, Any], here: str, depth: int) -> dict[str, Any]:
        """A block of media in the standard form."""
        fields = {**(block.get("extras") or {}), **block}
        mime, url = _text_of(fields, "mime_type"), _text_of(block, "url")
        encoded = block.pop("base64", None)
        if url is not None and url.startswith("data:"):
            header, _, encoded = url.partition(",")
            encoded = encoded if header.endswith(";base64") else unquote_to_bytes(encoded)
            mime, url = mime or header[5:].partition(";")[0] or None, None
            del block["url"]
        data = None if encoded is None else self._bytes(encoded, f"{here}.base64")
        if data is not None:
            block["sha256"] = hashlib.sha256(data).hexdigest()
        if mime:
            block["mime_type"] = mime
        transcript = _text_of(fields, *_TRANSCRIPTS) or _text_of(block, "text")
        block_id = block.get("id") if not str(block.get("id")).startswith("lc_") else block.pop("id") and None
        draft = MediaDraft(
            kind="file" if block["type"] == "text-plain" else block["type"],
            mime_type=mime,
            url=url,
            data=data,
            name=_text_of(fields, *_NAMES, "file_filename"),
            caption=_text_of(fields, *_CAPTIONS),
            transcript=transcript or (None if data is None else _decoded(data, mime)),
            file_id=_text_of(block, "file_id") or (block_id if isinstance(block_id, str) and data is None else None),
        )
        if draft == MediaDraft(kind=draft.kind, mime_type=mime):
            self.place.note(f"{here}: {block['type']!r} holds no data, url or file id; stored as it is")
            self.stored_unread = True
        else:
            self.media.append(draft)
        self._add_index(draft.name, draft.caption, draft.transcript)
        return cast("dict[str, Any]", self._stored(block, here, depth, self.index))

    def _unknown(self, kind: str | None, block: Mapping[str, Any], here: str, depth: int) -> dict[str, Any]:
        before = len(self.index), len(self.media)
        self._add_index(_text_of(block, "title"))
        stored = cast("dict[str, Any]", self._stored(block, here, depth, self.index))
        if before == (len(self.index), len(self.media)):
            named = f"unknown block type {shown(kind)}" if kind is not None else "block without a type"
            self.place.note(f"{named} stored but not indexed")
            self.stored_unread = True
        return stored

    def _bytes(self, value: Any, here: str) -> bytes:
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value)
        if not isinstance(value, str):
            raise self.place.error(f"data must be base64 text or bytes, got {type(value).__name__}", here)
        # Line breaks are usual in mail; "-_" replace "+/" in the URL-safe alphabet.
        compact = "".join(value.split()).replace("-", "+").replace("_", "/")
        try:
            return base64.b64decode(compact, validate=True)
        except ValueError as error:
            rule = f"invalid base64 ({error}), {len(value):,} characters; give it whole, padded"
            raise self.place.error(rule, here) from None

    def _add_index(self, *texts: str | None) -> None:
        self.index += [text for text in dict.fromkeys(texts) if text and text not in self.index]


def _translated(block: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """A block in LangChain's standard form; None if no translator knows it."""
    from langchain_core.messages import AIMessage, HumanMessage

    given = dict(block)
    match given.get("type"):  # of OpenAI's Responses and of Google, which are translated in replies alone
        case "input_image" | "image_url":
            source = given.pop("image_url", None)
            given = {**given, **(source if isinstance(source, Mapping) else {"url": source}), "type": "image"}
        case "input_file":
            given = {**given, "type": "file", "url": given.get("file_url"), "base64": given.get("file_data")}
        case "media":
            kind = str(given.get("mime_type")).partition("/")[0]
            kind = kind if kind in _MEDIA else "file"
            given = {**given, "type": kind, "url": given.get("file_uri"), "base64": given.pop("data", None)}
    given = {key: value for key, value in given.items() if value is not None}
    for message in (
        HumanMessage([given]),
        AIMessage([given], response_metadata={"model_provider": "anthropic"}),
        AIMessage([given], response_metadata={"model_provider": "openai"}),
    ):
        try:
            parts: list[dict[str, Any]] = [dict(part) for part in message.content_blocks]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            continue  # a malformed block breaks a translator
        if parts and all(_is_known(part) for part in parts):
            return parts
    return None


def _first(block: Mapping[str, Any], *keys: str) -> Any:
    return next((block[key] for key in keys if block.get(key) is not None), None)


def _text_of(fields: Mapping[str, Any], *keys: str) -> str | None:
    """The first text that is not empty."""
    return next((value for key in keys if isinstance(value := fields.get(key), str) and value), None)


def _decoded(data: bytes, mime: str | None) -> str | None:
    """The text of a text file; None for other files, and where the bytes are not UTF-8."""
    bare = (mime or "").partition(";")[0].strip().lower()
    if not (bare.startswith("text/") or bare in ("application/json", "application/xml")):
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
