"""Reads content blocks: the parts of a message that are more than plain text.

One reader is for LangChain's standard blocks (v1 and v0), OpenAI's parts (Chat Completions and Responses) and Anthropic's
blocks, since all have a ``type``, and for media a field with the bytes, a URL or a file id. Blocks are stored unchanged
except for the bytes of media, which are moved to a :class:`MediaDraft` and replaced by their hash. LangChain's
``content_blocks`` is used only for types unknown here, since its translators drop what they do not expect (plain strings
beside Anthropic blocks, the whole list under OpenAI's).
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
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
        kind: from the type of the block, or from the MIME type for a block of type "media".
        mime_type: from the block, a data URL or an audio format.
        url: the URL, unless it is a data URL.
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
        return None if self.data is None else _sha256(self.data)


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
    value: Any, where: str, place: Place, take: Callable[[bytes], dict[str, Any]] | None = None, depth: int = 0
) -> Any:
    """The value as a JSON value; parts that JSON does not have become text, with a note.

    Args:
        value: anything.
        where: its path in the message, for notes and errors, such as ``metadata.tags``.
        place: the message; receives the notes.
        take: returns the replacement of a ``bytes`` value; without it bytes become text.

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
    if isinstance(value, list | tuple):
        return [to_json(item, f"{where}[{n}]", place, take, depth + 1) for n, item in enumerate(value)]
    if isinstance(value, Mapping):
        cleaned: dict[str, Any] = {}
        for key, item in value.items():
            name = str.__str__(key) if isinstance(key, str) else str(key)
            if name in cleaned:
                raise place.error(f"two keys read {shown(name)} as text; rename one", where)
            if not isinstance(key, str):
                place.note(f"{where}: key {shown(key)} kept as text")
            cleaned[name] = to_json(item, f"{where}.{name}", place, take, depth + 1)
        return cleaned
    if take is not None and isinstance(value, bytes | bytearray | memoryview):
        return take(bytes(value))
    place.note(f"{where} is of type {type(value).__name__}, which JSON cannot hold; kept as text")
    return hex(value) if isinstance(value, int) else str(value)


def read_tool_call(call: Mapping[str, Any], where: str, place: Place) -> ToolCallDraft:
    """Read a tool call of OpenAI (``function`` or ``custom`` inside), LangChain (``args``) or Anthropic (``input``).

    Raises:
        InvalidInputError: the call has neither name nor arguments, or one of the wrong type.
    """
    inner = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), Mapping)), call)
    call_id = _first(call, "call_id", "id", "tool_use_id")
    name = _first(inner, "name")
    arguments = _first(inner, "args", "arguments", "input")
    for key, value in (("id", call_id), ("name", name)):
        if value is not None and not isinstance(value, str):
            raise place.error(f"{key} = {shown(value)} of a tool call must be text", where)
    if name is None and arguments is None:
        raise place.error(f"a tool call needs a name and arguments; keys seen: {_keys(call)}", where)
    if call.get("error"):
        place.note(f"{where}: the call of {shown(name)} was invalid")
    return ToolCallDraft(id=call_id or None, name=name or "", arguments=_arguments(arguments, name, where, place))


def _arguments(value: Any, name: str | None, where: str, place: Place) -> dict[str, Any] | str:
    if value is None or (isinstance(value, str) and not value):
        return {}
    if isinstance(value, Mapping):
        cleaned: dict[str, Any] = to_json(value, f"{where}.arguments", place)
        return cleaned
    if not isinstance(value, str):
        raise place.error(f"arguments of type {type(value).__name__} must be a mapping or JSON text", where)
    try:
        parsed = json.loads(value, parse_constant=_no_constant)
        if isinstance(parsed, dict):
            arguments: dict[str, Any] = to_json(parsed, f"{where}.arguments", place)
            return arguments
    except (ValueError, RecursionError):
        pass  # not JSON, or nested too deeply: stored as text, with a note
    place.note(f"{where}: the arguments of {shown(name)} are no JSON object; kept as text")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_TEXT = frozenset({"text", "input_text", "output_text", "refusal"})
_REASONING = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content"})
_CITATIONS = frozenset({"citation", "non_standard_annotation"})
_TOOL_CALLS = frozenset(
    {"tool_call", "tool_call_chunk", "invalid_tool_call", "server_tool_call", "server_tool_call_chunk"}
    | {"tool_use", "server_tool_use", "mcp_tool_use", "function_call"}
)
_RESULTS = frozenset({"tool_result", "server_tool_result", "function_call_output"})  # and Anthropic's *_tool_result
_MEDIA: dict[str, MediaKind | None] = {
    **dict.fromkeys(("image", "image_url", "input_image"), "image"),
    **dict.fromkeys(("audio", "audio_url", "input_audio"), "audio"),
    **dict.fromkeys(("video", "video_url", "input_video"), "video"),
    **dict.fromkeys(("file", "input_file", "document", "text-plain", "search_result"), "file"),
    "media": None,
}
# The types of LangChain's standard blocks.
_STANDARD = _TEXT | _REASONING | _TOOL_CALLS | _RESULTS | frozenset(_MEDIA)
# The fields that may contain the source of a block, and the names of the parts of a source.
_HOLDERS = ("source", "image_url", "input_audio", "audio_url", "video_url", "file")
_DATA = ("base64", "data", "file_data", "bytes")
_URLS = ("url", "image_url", "audio_url", "video_url", "file_url", "file_uri")
_MIMES = ("mime_type", "media_type")
_NAMES = ("filename", "file_name", "name", "title")
_CAPTIONS = ("caption", "alt", "alt_text", "description", "context", "blip_caption")
_TRANSCRIPTS = ("transcript", "transcription")
_AUDIO_MIMES = {"mp3": "audio/mpeg", "pcm16": "audio/pcm", "g711_ulaw": "audio/basic"}


def is_result(block: Mapping[str, Any]) -> bool:
    """Whether a block is the result of a tool."""
    kind = block.get("type")
    return isinstance(kind, str) and (kind in _RESULTS or kind.endswith("_tool_result"))


@dataclass(slots=True)
class BlockReader:
    """Reads the blocks of one message, in order, and collects their contents.

    Attributes:
        place: the message.
        keep_reasoning: whether reasoning blocks are stored.
        translate: a block of a type unknown here → LangChain's standard form of it, or None.
        text: texts of the message itself.
        results: texts of tool results in it.
        result_ids: ids of the calls of these results.
        index: further text to search: captions, names, transcripts, citations.
        reasoning_dropped: whether there was reasoning that is not stored.
        kept_unread: whether blocks are stored of which nothing could be read.
    """

    place: Place
    keep_reasoning: bool = False
    translate: Callable[[Mapping[str, Any]], list[dict[str, Any]] | None] | None = None
    text: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    result_ids: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    index: list[str] = field(default_factory=list)
    media: list[MediaDraft] = field(default_factory=list)
    tool_calls: list[ToolCallDraft] = field(default_factory=list)
    reasoning_dropped: bool = False
    kept_unread: bool = False

    def read(self, blocks: Iterable[Any], where: str = "block", depth: int = 0) -> list[dict[str, Any]]:
        """Read blocks; returns them in the form in which they are stored.

        Raises:
            InvalidInputError: a block is neither text nor a mapping, or its content is malformed.
        """
        stored: list[dict[str, Any]] = []
        for number, block in enumerate(blocks, start=1):
            here = f"{where} {number}"
            parts = self._read({"type": "text", "text": block} if isinstance(block, str) else block, here, depth)
            stored += [to_json(part, here, self.place, self._take) for part in parts]
        return stored

    def _read(self, block: Any, here: str, depth: int) -> list[Mapping[str, Any]]:
        if not isinstance(block, Mapping):
            raise self.place.error(f"a block must be text or a mapping, got {type(block).__name__}", here)
        if depth > _DEEPEST // 10:
            raise self.place.error(f"blocks lie in blocks more than {_DEEPEST // 10} levels deep; flatten them", here)
        kind = block.get("type")
        if kind is None and isinstance(block.get("text"), str):
            kind = "text"
        if kind is not None and not isinstance(kind, str):
            raise self.place.error(f"type = {shown(kind)} must be text", here)
        if kind in _TEXT:
            self._text(block, here)
        elif kind in _REASONING:
            if not self.keep_reasoning:
                self.reasoning_dropped = True
                return []
            self.add_reasoning(block)
        elif kind in _CITATIONS:
            self._citations([block])
        elif kind in _TOOL_CALLS:
            self.tool_calls.append(read_tool_call(block, here, self.place))
        elif kind in _MEDIA:
            return [self._media(_MEDIA[kind], block, here, depth)]
        elif is_result(block):
            return [self._result(block, here, depth)]
        elif kind == "non_standard" and isinstance(block.get("value"), Mapping):
            return [{**block, "value": part} for part in self._read(block["value"], here, depth + 1)]
        else:
            return self._unknown(kind, block, here, depth)
        return [block]

    def _nested(self, blocks: Iterable[Any], here: str, depth: int) -> tuple[list[dict[str, Any]], list[str]]:
        """Read blocks inside a block, whose text is not text of the message."""
        outer, self.text = self.text, []
        stored = self.read(blocks, f"{here}, part", depth + 1)
        texts, self.text = self.text, outer
        return stored, texts

    def add_text(self, text: str) -> None:
        """Collect a plain text of the message."""
        if text:
            self.text.append(text)

    def _text(self, block: Mapping[str, Any], here: str) -> None:
        key = "refusal" if block.get("type") == "refusal" else "text"
        value = block.get(key)
        if isinstance(value, Mapping):  # OpenAI's Assistants: {"value": …, "annotations": […]}
            self._citations(value.get("annotations"))
            value = value.get("value")
        if value is not None and not isinstance(value, str):
            raise self.place.error(f"{key} = {shown(value)} must be text", here)
        self.add_text(value or "")
        self._citations(block.get("annotations"))
        self._citations(block.get("citations"))

    def _citations(self, citations: Any) -> None:
        for citation in citations if isinstance(citations, list | tuple) else ():
            if isinstance(citation, Mapping):
                inner = citation.get("url_citation")  # where OpenAI nests it
                parts = [citation, inner] if isinstance(inner, Mapping) else [citation]
                self._add_index(_text_of(parts, "title"), _text_of(parts, "cited_text"))

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

    def _result(self, block: Mapping[str, Any], here: str, depth: int) -> Mapping[str, Any]:
        call_id = _first(block, "tool_use_id", "tool_call_id", "call_id")
        if isinstance(call_id, str):
            self.result_ids.append(call_id)
        key = "output" if "output" in block else "content"
        content = block.get(key)
        parts = content if isinstance(content, list | tuple) else [content]
        stored: Any
        if content is None or isinstance(content, str):
            stored, texts = content, [content] if content else []
        elif all(isinstance(part, str) or (isinstance(part, Mapping) and "type" in part) for part in parts):
            stored, texts = self._nested(parts, here, depth)
            if isinstance(content, Mapping):
                stored = stored[0] if len(stored) == 1 else stored
        else:  # a value in the tool's own form: its JSON is the text
            stored = to_json(content, f"{here}.{key}", self.place, self._take)
            texts = [json.dumps(stored, ensure_ascii=False)]
        self.results += texts
        return {**block, key: stored} if key in block else block

    def _media(self, kind: MediaKind | None, block: Mapping[str, Any], here: str, depth: int) -> Mapping[str, Any]:
        holder_key = next((key for key in _HOLDERS if isinstance(block.get(key), Mapping)), None)
        holder = dict(block[holder_key] if holder_key else block)
        parts = [holder, block, *(block[key] for key in ("extras", "metadata") if isinstance(block.get(key), Mapping))]
        as_text = "text" in (holder.get("type"), holder.get("source_type"))  # the source is the text itself
        url = _text_of([block], "source") if block["type"] == "search_result" else None
        mime = _text_of(parts, *_MIMES) or _audio_mime(holder.get("format"))
        data: bytes | None = None
        words = [_text_of(parts, *_TRANSCRIPTS)]
        if as_text or block["type"] == "text-plain":
            words = [_text_of([holder], "text", *(["data"] if as_text else []))]
        for key in (*_URLS, *_DATA):
            value = holder.get(key)
            if value is None or isinstance(value, Mapping) or (as_text and key == "data"):
                continue
            if isinstance(value, str) and not value:
                continue
            if isinstance(value, str) and value[:5].lower() == "data:":
                url_mime, content = self._data_url(value, f"{here}.{key}")
                if mime is None and url_mime:
                    mime = holder["mime_type"] = url_mime
            elif key in _URLS:
                url = url or (value if isinstance(value, str) else None)
                continue
            else:
                content = self._bytes(value, f"{here}.{key}")
            if data is None:
                data = content
                del holder[key]
            else:  # a second source in one block
                holder[key] = self._take(content)
        if data is not None:
            holder["sha256"] = _sha256(data)
            words = words if any(words) else [_decoded(data, mime)]
        nested = holder.get("content")  # Anthropic's documents made of blocks, and its search results
        if isinstance(nested, list | tuple | str):
            stored, texts = self._nested([nested] if isinstance(nested, str) else nested, here, depth)
            holder["content"] = nested if isinstance(nested, str) else stored
            words += texts
        stored_id = _text_of([block], "id") if block.get("source_type") == "id" else None
        draft = MediaDraft(
            kind=kind or _kind_of(mime),
            mime_type=mime,
            url=url,
            data=data,
            name=_text_of(parts, *_NAMES),
            caption=_text_of(parts, *_CAPTIONS),
            transcript="\n".join(filter(None, words)) or None,
            file_id=_text_of(parts, "file_id") or stored_id,
        )
        if not (url or draft.file_id or draft.caption or draft.transcript or "sha256" in holder):
            self.place.note(f"{here}: {block['type']!r} holds no data, url or file id; kept as it is")
        if draft == MediaDraft(kind=draft.kind, mime_type=mime):
            self.kept_unread = True
        else:
            self.media.append(draft)
        self._add_index(draft.name, draft.caption, draft.transcript)
        return {**block, holder_key: holder} if holder_key else holder

    def _unknown(self, kind: str | None, block: Mapping[str, Any], here: str, depth: int) -> list[Mapping[str, Any]]:
        standard = self.translate(block) if self.translate else None
        if standard and all(part.get("type") in _STANDARD for part in standard):
            before = len(self.media)
            stored = [read for part in standard for read in self._read(part, here, depth + 1)]
            # The block itself is stored, unless bytes or reasoning had to be removed from it.
            return stored if len(self.media) > before or len(stored) < len(standard) else [block]
        named = f"unknown block type {shown(kind)}" if kind is not None else f"block without a type ({_keys(block)})"
        self.place.note(f"{named} kept but not indexed")
        self.kept_unread = True
        return [block]

    def _take(self, data: bytes) -> dict[str, Any]:
        """Collect unexpected bytes as a file; returns their hash, which replaces them."""
        self.media.append(MediaDraft(kind="file", data=data))
        return {"sha256": _sha256(data)}

    def _data_url(self, url: str, here: str) -> tuple[str | None, bytes]:
        header, comma, payload = url[5:].partition(",")
        if not comma:
            raise self.place.error(f"{shown(url, 40)} is no data URL: the comma before the data is missing", here)
        mime, *parameters = header.split(";")
        if "base64" in (parameter.strip().lower() for parameter in parameters):
            return mime or None, self._bytes(payload, here)
        try:
            return mime or None, unquote_to_bytes(payload)
        except UnicodeEncodeError:
            raise self.place.error(f"{shown(url, 40)} is no data URL: its data is not encodable", here) from None

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
        for text in texts:
            if text and text not in self.index:
                self.index.append(text)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _keys(block: Mapping[Any, Any]) -> str:
    return "keys " + ", ".join(shown(key, 40) for key in list(block)[:10]) if block else "no keys"


def _first(block: Mapping[str, Any], *keys: str) -> Any:
    return next((block[key] for key in keys if block.get(key) is not None), None)


def _text_of(parts: Iterable[Mapping[str, Any]], *keys: str) -> str | None:
    """The first text that is not empty, by part, then by key."""
    values = (part.get(key) for part in parts for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)


def _audio_mime(form: Any) -> str | None:
    return _AUDIO_MIMES.get(form, f"audio/{form}") if isinstance(form, str) and form else None


def _kind_of(mime: str | None) -> MediaKind:
    match (mime or "").partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
    return "file"


def _decoded(data: bytes, mime: str | None) -> str | None:
    """The text of a text file; None for other files, and where the bytes are not UTF-8."""
    bare = (mime or "").partition(";")[0].strip().lower()
    if not (bare.startswith("text/") or bare in ("application/json", "application/xml")):
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
