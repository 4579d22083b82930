"""What `remember` is given: each form of message is read, nothing is lost on the way, bad input is named."""

from __future__ import annotations

import base64
import enum
import hashlib
import json
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from langchain_core.messages import content as standard

from hexamem.errors import InvalidInputError
from hexamem.memory_types.messages import MediaDraft, MessageDraft, ToolCallDraft, read_messages

BYTES = b"\x89PNG\r\n picture"
B64 = base64.b64encode(BYTES).decode()
SHA = hashlib.sha256(BYTES).hexdigest()
URL = f"data:image/png;base64,{B64}"
ARGUMENTS = {"q": "été", "k": 3}
JSON_ARGUMENTS = '{"q": "été", "k": 3}'
CALL = {"id": "c", "name": "find", "args": ARGUMENTS}
AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def one(message: Any, **options: Any) -> MessageDraft:
    (draft,) = read_messages([message], **options)
    return draft


def user(*blocks: Any) -> MessageDraft:
    return one({"role": "user", "content": list(blocks)})


def assistant(content: Any = None, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


def check(draft: MessageDraft, **wanted: Any) -> None:
    """The attributes named are these; nothing is degraded unless it is named."""
    assert {name: getattr(draft, name) for name in wanted} == wanted
    assert draft.degraded == wanted.get("degraded", ())


FORMS: list[Any] = [
    "hello", ["hello"], ("user", "hello"), [("human", "hello")], [["user", "hello"]], HumanMessage("hello"),
    {"role": "USER", "content": "hello"}, (HumanMessage("hello"),), {"type": "human", "content": "hello"},
    messages_to_dict([HumanMessage("hello")]), HumanMessage("hello").model_dump(), ChatMessage("hello", role="user"),
    {"type": "message", "role": "user", "content": "hello"}, (text for text in ["hello"]),
]  # fmt: skip


def test_every_form_of_one_plain_message_gives_the_same_draft() -> None:
    for messages in FORMS:
        assert read_messages(messages) == [MessageDraft(role="user", text="hello", index_text="hello")]
    assert [draft.text for draft in read_messages(str(n) for n in range(3))] == ["0", "1", "2"]
    assert read_messages([]) == []


AI_FIELDS: dict[str, Any] = {
    "additional_kwargs": {"lc_source": "summary"}, "response_metadata": {"model_name": "m"}, "colour": "blue",
    "usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
}  # fmt: skip
CITATION = standard.create_citation(title="Met", cited_text="wet in the west")
FIELDS: list[tuple[Any, dict[str, Any]]] = [
    (AIMessageChunk(content="x"), {"role": "assistant"}),
    (SystemMessage("x"), {"role": "system"}),
    (FunctionMessage("x", name="f"), {"role": "tool", "name": "f"}),
    (("ai", "x"), {"role": "assistant", "metadata": {}}),
    (("developer", "x"), {"role": "system", "metadata": {"role": "developer"}}),
    (ChatMessage("x", role="pro-side"), {"role": "other", "name": "pro-side", "metadata": {"role": "pro-side"}}),
    (ChatMessage("x", role="judge", name="Ada"), {"name": "Ada", "metadata": {"role": "judge"}}),
    (HumanMessage("x", id="m1", name="Maya"), {"message_id": "m1", "name": "Maya"}),
    ({"role": "user", "content": "x", "id": 7, "mood": "glad", "metadata": {"session": 3}},
     {"message_id": "7", "metadata": {"session": 3, "mood": "glad"}}),
    ({"role": "user", "content": "x", "mood": "glad", "metadata": {"mood": "sad"}},
     {"metadata": {"mood": "sad"},
      "degraded": ("message 1: its 'mood' was not kept: its metadata holds another value of that name",)}),
    (AIMessage("x", **AI_FIELDS), {"metadata": AI_FIELDS}),
    # Text. LangChain's translators drop strings beside Anthropic's blocks, and the whole list under OpenAI's.
    ({"role": "user", "content": ["a", {"type": "input_text", "text": "b"}, {"text": "c"}]},
     {"text": "a\nb\nc", "index_text": "a\nb\nc",
      "blocks": ({"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}, {"text": "c"})}),
    (AIMessage(["a", {"type": "text", "text": "b"}], response_metadata={"model_provider": "anthropic"}), {"text": "a\nb"}),
    (AIMessage([{"type": "text", "text": "a"}], response_metadata={"model_provider": "openai"}), {"text": "a"}),
    (AIMessageChunk(content=[{"type": "text", "text": "Hel", "index": 0}])
     + AIMessageChunk(content=[{"type": "text", "text": "lo", "index": 0}]), {"text": "Hello"}),
    (assistant(refusal="I can't."), {"text": "I can't."}),
    (assistant([{"type": "refusal", "refusal": "No."}]), {"text": "No."}),
    (AIMessage(content_blocks=[standard.create_text_block("Rain.", annotations=[CITATION])]),
     {"text": "Rain.", "index_text": "Rain.\nMet\nwet in the west"}),
    # Tools
    (assistant(function_call={"name": "f", "arguments": '{"a": [1]}'}),
     {"tool_calls": (ToolCallDraft(id=None, name="f", arguments={"a": [1]}),), "index_text": "f(a=[1])"}),
    (AIMessage("", tool_calls=[{"id": i, "name": "f", "args": {}} for i in "12"]),
     {"tool_calls": tuple(ToolCallDraft(id=i, name="f", arguments={}) for i in "12")}),
    (AIMessage("", invalid_tool_calls=[{"id": "c", "name": "f", "args": "{bad", "error": "no JSON"}]),
     {"tool_calls": (ToolCallDraft(id="c", name="f", arguments="{bad"),),
      "degraded": ("message 1: tool call 1: the arguments of 'f' are no JSON object; kept as text",)}),
    (ToolMessage("22 °C", tool_call_id="c", name="weather", artifact={"t": [22]}, status="error"),
     {"role": "tool", "name": "weather", "text": "22 °C", "tool_call_id": "c",
      "metadata": {"artifact": {"t": [22]}, "status": "error"}}),
    (ToolMessage("", tool_call_id="c", artifact={"frame": object()}),
     {"role": "tool", "text": "", "metadata": {},
      "degraded": ("message 1: the artifact, of type dict, is not JSON and was not kept",)}),
    ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": ["22 °C"]}]},
     {"role": "tool", "text": "22 °C", "tool_call_id": "c", "metadata": {"role": "user"}}),
    ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "22 °C"}, "warm?"]},
     {"role": "user", "text": "warm?", "index_text": "warm?\n22 °C"}),
    (AIMessage(["It rains.", {"type": "server_tool_result", "tool_call_id": "s", "output": {"mm": 4}}]),
     {"text": "It rains.", "index_text": 'It rains.\n{"mm": 4}'}),
    # What is stored as it is
    ({"role": "user", "content": ["see", {"type": "hologram", "depth": [1, {"a": None}]}]},
     {"index_text": "see", "blocks": ({"type": "text", "text": "see"}, {"type": "hologram", "depth": [1, {"a": None}]}),
      "degraded": ("message 1: unknown block type 'hologram' stored but not indexed",)}),
    (AIMessage(["x", {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "tides"}}],
               response_metadata={"model_provider": "openai"}), {"index_text": "x\nweb_search(query=tides)"}),
]  # fmt: skip


def test_each_part_of_a_message_has_its_place() -> None:
    for message, wanted in FIELDS:
        check(one(message), **wanted)


FUNCTION = {"name": "find", "arguments": JSON_ARGUMENTS}
CALLS: list[Any] = [
    AIMessage("", tool_calls=[CALL]), {"role": "assistant", "tool_calls": [CALL]},
    assistant(tool_calls=[{"id": "c", "type": "function", "function": FUNCTION}]),
    assistant([{"type": "tool_use", "id": "c", "name": "find", "input": ARGUMENTS}]),
    AIMessage([{"type": "tool_call", **CALL}]), AIMessage([{"type": "server_tool_call", **CALL}]),
    AIMessage([{"type": "function_call", "id": "x", "call_id": "c", **FUNCTION}]),
    AIMessageChunk(content="", tool_call_chunks=[{**CALL, "args": JSON_ARGUMENTS, "index": 0}]),
    AIMessage([{"type": "tool_use", "id": "c", "name": "find", "input": {}}], tool_calls=[CALL]),
]  # fmt: skip


def test_each_form_of_a_tool_call_is_read_once_and_arguments_that_are_no_json_object_are_stored_as_text() -> None:
    call = ToolCallDraft(id="c", name="find", arguments=ARGUMENTS)
    for message in CALLS:
        check(one(message), tool_calls=(call,), text="", index_text="find(q=été, k=3)")
    for arguments in ("{bad", "[1]", "NaN", '{"a": NaN}', "[" * 100_000, '{"a":' * 300 + "1" + "}" * 300):
        draft = one(assistant(tool_calls=[{"id": "c", "function": {"name": "f", "arguments": arguments}}]))
        assert (draft.tool_calls[0].arguments, draft.index_text) == (arguments, f"f({arguments})")
        assert draft.degraded == ("message 1: tool call 1: the arguments of 'f' are no JSON object; kept as text",)


@example("a\x00b")
@example("\ud800 alone")
@given(st.text(alphabet=st.characters(exclude_categories=()), min_size=1).filter(lambda text: text.strip()))
def test_any_text_is_stored_exactly(text: str) -> None:
    assert one(text).text == user({"type": "text", "text": text}).blocks[0]["text"] == text


IMAGE = MediaDraft(kind="image", data=BYTES)
PNG = MediaDraft(kind="image", data=BYTES, mime_type="image/png")
STANDARD = {"type": "image", "sha256": SHA, "mime_type": "image/png"}
TEXT_FILE = base64.b64encode("Über uns".encode()).decode()


STORED: list[tuple[dict[str, Any], dict[str, Any], MediaDraft]] = [
    ({"type": "image", "base64": B64}, {"type": "image", "sha256": SHA}, IMAGE),
    ({"type": "image", "source_type": "base64", "data": B64, "mime_type": "image/png"}, STANDARD, PNG),
    ({"type": "image_url", "image_url": {"url": URL, "detail": "low"}}, {**STANDARD, "detail": "low"}, PNG),
    ({"type": "input_image", "image_url": URL}, STANDARD, PNG),
    ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}}, STANDARD, PNG),
    ({"type": "scan", "raw": BYTES}, {"type": "scan", "raw": {"sha256": SHA}}, MediaDraft(kind="file", data=BYTES)),
]  # fmt: skip


def test_bytes_are_taken_out_of_each_form_and_their_hash_is_stored() -> None:
    for block, stored, media in STORED:
        draft = user(block)
        assert (draft.blocks, draft.media, draft.media[0].sha256) == ((stored,), (media,), SHA)


MEDIA: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"type": "image_url", "image_url": {"url": "https://x/y"}}, {"kind": "image", "url": "https://x/y"}, ""),
    ({"type": "image_url", "image_url": "https://x/y"}, {"kind": "image", "url": "https://x/y"}, ""),
    ({"type": "input_audio", "input_audio": {"data": B64, "format": "mp3"}},
     {"kind": "audio", "data": BYTES, "mime_type": "audio/mp3"}, ""),
    ({"type": "file", "file": {"file_id": "f1", "filename": "a.pdf"}},
     {"kind": "file", "file_id": "f1", "name": "a.pdf"}, "a.pdf"),
    ({"type": "file", "file": {"file_data": f"data:application/pdf;base64,{B64}", "filename": "a.pdf"}},
     {"kind": "file", "data": BYTES, "mime_type": "application/pdf", "name": "a.pdf"}, "a.pdf"),
    ({"type": "input_file", "file_url": "https://x/a.pdf"}, {"kind": "file", "url": "https://x/a.pdf"}, ""),
    ({"type": "document", "source": {"type": "file", "file_id": "f2"}, "title": "T", "context": "C"},
     {"kind": "file", "file_id": "f2", "name": "T", "caption": "C"}, "T\nC"),
    ({"type": "image", "source_type": "id", "id": "i1"}, {"kind": "image", "file_id": "i1"}, ""),
    ({"type": "media", "mime_type": "video/mp4", "file_uri": "gs://b/v"},
     {"kind": "video", "mime_type": "video/mp4", "url": "gs://b/v"}, ""),
    ({"type": "video", "url": "https://x/v", "extras": {"caption": "a dog"}},
     {"kind": "video", "url": "https://x/v", "caption": "a dog"}, "a dog"),
    ({"type": "image_url", "image_url": {"url": "https://x/2", "alt": "a heron"}},
     {"kind": "image", "url": "https://x/2", "caption": "a heron"}, "a heron"),
    ({"type": "audio", "file_id": "a", "transcript": "come home"},
     {"kind": "audio", "file_id": "a", "transcript": "come home"}, "come home"),
    ({"type": "file", "base64": TEXT_FILE, "mime_type": "text/markdown; charset=utf-8", "filename": "a.md"},
     {"kind": "file", "data": "Über uns".encode(), "mime_type": "text/markdown; charset=utf-8", "name": "a.md",
      "transcript": "Über uns"}, "a.md\nÜber uns"),
    ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "data: 1, 2"}},
     {"kind": "file", "mime_type": "text/plain", "transcript": "data: 1, 2"}, "data: 1, 2"),
    ({"type": "file", "url": "data:text/plain,a%20b"},
     {"kind": "file", "data": b"a b", "mime_type": "text/plain", "transcript": "a b"}, "a b"),
    (dict(standard.create_video_block(file_id="v")), {"kind": "video", "file_id": "v"}, ""),
    (dict(standard.create_plaintext_block(text="the words", title="n.txt", context="from Bo")),
     {"kind": "file", "mime_type": "text/plain", "name": "n.txt", "caption": "from Bo", "transcript": "the words"},
     "n.txt\nfrom Bo\nthe words"),
]  # fmt: skip


def test_media_are_read_from_each_form_and_their_words_are_searched_but_not_shown() -> None:
    for block, media, index in MEDIA:
        check(user("look", block), media=(MediaDraft(**media),), text="look", index_text=f"look\n{index}".strip())


def test_media_inside_other_blocks_are_taken_out() -> None:
    inside = [{"type": "text", "text": "page one"}, {"type": "image", "base64": B64}]
    draft = user({"type": "document", "source": {"type": "content", "content": inside}})
    assert (draft.index_text, {media.sha256 for media in draft.media}) == ("page one", {SHA})
    assert draft.blocks[0]["source"]["content"][1] == {"type": "image", "sha256": SHA}
    result = user({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "image", "base64": B64}]})
    assert (result.media, result.blocks[0]["content"]) == ((IMAGE,), [{"type": "image", "sha256": SHA}])
    audio = one(assistant(audio={"id": "a", "data": B64, "transcript": "hello"}))
    assert (audio.media[0].data, audio.index_text, audio.metadata) == (BYTES, "hello", {})
    assert audio.blocks == ({"type": "audio", "id": "a", "sha256": SHA, "transcript": "hello"},)
    converse = one(HumanMessage([{"image": {"format": "png", "source": {"bytes": BYTES}}}, {"text": "what is it?"}]))
    assert (converse.text, converse.media[0].data, converse.blocks[0]["sha256"]) == ("what is it?", BYTES, SHA)


@given(st.binary(min_size=1, max_size=200))
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(data).decode()
        media = user("x", {"type": "image", "base64": f"{text[:76]}\r\n{text[76:]}" if len(text) > 76 else text}).media
        assert [item.data for item in media] == [data]


def test_invalid_base64_is_refused_with_message_and_block() -> None:
    for bad in ("@@@@", "abc", "QUJ", "QUJD\ud800", 5, ["QUJD"], "data:image/png;base64"):
        with pytest.raises(InvalidInputError, match=r"message 2 of 2, block 3\.base64: "):
            read_messages(["fine", {"role": "user", "content": ["a", "b", {"type": "image", "base64": bad}]}])


def test_a_block_without_a_source_is_stored_and_named() -> None:
    note = "message 1: block 2: 'image' holds no data, url or file id; stored as it is"
    check(user("x", {"type": "image"}), media=(), degraded=(note,))


REASONED: list[Any] = [
    AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "ok"}]),
    AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "ok"}]),
    AIMessage([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, "ok"]),
    AIMessage([{"type": "non_standard", "value": {"type": "thinking", "thinking": "hm"}}, "ok"]),
    AIMessage("ok", additional_kwargs={"reasoning_content": "hm"}),
    AIMessage("ok", additional_kwargs={"reasoning": {"summary": [{"type": "summary_text", "text": "hm"}]}}),
    assistant("ok", reasoning_content="hm"),
    assistant("ok", reasoning="hm"),
]


def test_reasoning_leaves_no_trace_unless_asked_for_and_is_never_searched() -> None:
    for message in REASONED:
        draft = one(message)
        assert (draft.text, draft.reasoning, "hm" in repr(draft)) == ("ok", None, False)
        check(one(message, keep_reasoning=True), text="ok", reasoning="hm", index_text="ok")
    alone: list[Any] = [AIMessage([{"type": "thinking", "thinking": "hm"}]), assistant(reasoning="hm")]
    for message in (*alone, AIMessage("", additional_kwargs={"reasoning_content": "hm"})):
        with pytest.raises(InvalidInputError, match="keep_reasoning=True: it holds only reasoning"):
            one(message)
        assert one(message, keep_reasoning=True).reasoning == "hm"


TIMED: list[Any] = [
    {"role": "user", "content": "x", "created_at": 5, "occurred_at": 1683554160},
    HumanMessage("x", additional_kwargs={"timestamp": "2023-05-08T13:56:00Z"}),
    AIMessage("x", response_metadata={"created_at": "2023-05-08T13:56:00.000000000Z"}),
    AIMessage("x", response_metadata={"created_at": 1683554160.0}),
    HumanMessage("x", timestamp="2023-05-08T13:56:00Z"),
]


def test_the_time_of_a_message_is_found_and_one_without_a_zone_is_read_in_the_timezone() -> None:
    for message in TIMED:
        assert getattr(one(message).occurred_at, "utc", None) == AT
    for key in ("occurred_at", "timestamp", "created_at", "date"):
        moment = one({"role": "user", "content": "x", key: "1:56 pm on 8 May, 2023"}, timezone="Asia/Tokyo").occurred_at
        assert moment is not None
        assert (moment.utc, moment.offset_minutes) == (AT.replace(hour=4), 540)


def test_an_unreadable_time_is_refused_in_a_mapping_and_named_in_what_a_provider_wrote() -> None:
    with pytest.raises(InvalidInputError, match=r"message 2 of 2, timestamp: time 'soon' cannot be read"):
        read_messages(["a", {"role": "user", "content": "x", "timestamp": "soon"}])
    draft = one(AIMessage("x", response_metadata={"created_at": "yesterday"}))
    assert draft.occurred_at is None
    assert draft.degraded[0].startswith("message 1: created_at is not used as its time")
    with pytest.raises(InvalidInputError, match="Mars"):
        read_messages("x", timezone="Mars/Olympus")


class Colour(enum.StrEnum):
    RED = "red"


def test_metadata_is_plain_json_and_what_is_not_becomes_text_and_is_named() -> None:
    number = uuid.UUID(int=1)
    given_ = {"id": number, "deep": {"inf": float("inf")}, "tuple": (1, 2), "colour": Colour.RED, 3: "three"}
    draft = one({"role": "user", "content": "x", "metadata": given_})
    wanted = {"id": str(number), "deep": {"inf": "inf"}, "tuple": [1, 2], "colour": "red", "3": "three"}
    assert json.loads(json.dumps(draft.metadata, allow_nan=False)) == draft.metadata == wanted
    assert [note.split(",")[0] for note in draft.degraded] == [
        "message 1: metadata.id is of type UUID",
        "message 1: metadata.deep.inf is of type float",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("type") | st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_any_json_is_stored_exactly_in_metadata_and_in_unknown_blocks(value: dict[str, Any]) -> None:
    check(one({"role": "user", "content": "x", "metadata": value}), metadata=value)
    block = {**value, "type": "hologram"}
    assert user(block).blocks == (block,)


LOOP: dict[str, Any] = {}
LOOP["loop"] = LOOP
BLOCK_LOOP: dict[str, Any] = {"type": "tool_result", "tool_use_id": "c"}
BLOCK_LOOP["content"] = [BLOCK_LOOP]
REFUSED_FIELDS: list[tuple[dict[str, Any], str]] = [
    *(({"role": role}, "role = .*use one of user, human, assistant, ai, system, developer, tool, function")
      for role in ("", "  ", 5, ["user"], True, "u", "agent")),
    *(({"tool_calls": calls}, "") for calls in (5, "x", [5], [{}], [{"name": 5}], [{"name": "f", "args": [1]}])),
    *(({"content": each}, "") for each in (5, {"a": 1}, [5], [{"type": ["text"]}], [{"type": "text", "text": 5}])),
    ({"name": ["x"]}, "name = "), ({"id": 1.5}, "id = "), ({"tool_call_id": {}}, "tool_call_id = "),
    ({"metadata": "x"}, "metadata of type str"), ({"metadata": {1: "a", "1": "b"}}, "two keys read '1'"),
    ({"metadata": LOOP}, "contains itself"), ({"content": [BLOCK_LOOP]}, "levels deep"),
]  # fmt: skip
EMPTY: list[Any] = [
    "", "  \n", ("user", ""), HumanMessage(""), AIMessage([]), {"role": "user", "content": None},
    {"role": "user", "content": [{"type": "text", "text": ""}]}, assistant(tool_calls=[]),
]  # fmt: skip
REFUSED: list[tuple[Any, str]] = [
    *(([{"role": "user", "content": "x", **fields}], f"message 1 of 1.*{rule}") for fields, rule in REFUSED_FIELDS),
    *((["a", each, "c"], "message 2 of 3 is empty: no text, media or tool call") for each in EMPTY),
    *((["a", each], r"message 2 of 2: .* a message is text, a LangChain message")
      for each in (None, 5, b"x", ("user",), ("a", "b", "c"), [1, 2], object())),
    *((each, "a message is text, a LangChain message") for each in (None, 5, b"x", {"a"}, object())),
    (["a", {"speaker": "Bo", "text": "hi"}], r"message 2 of 2: .* \(keys seen: 'speaker', 'text'\)"),
    ({"content": "x"}, "with no role"), (("Maya", "hello"), "give a list"),  # a pair, or two texts
    ([RemoveMessage(id="1")], "RemoveMessage"),
]  # fmt: skip


def test_what_is_no_message_or_holds_a_field_that_cannot_be_is_refused_by_its_place_and_rule() -> None:
    for messages, rule in REFUSED:
        with pytest.raises(InvalidInputError, match=rule):
            read_messages(messages)


KEYS = ["type", "text", "url", "base64", "data", "source", "id", "name", "content", "image_url"]
VALUES: list[Any] = ["text", "image", "tool_use", "tool_result", "QUJD", "data:,x", None, 5, [], {}, {"type": "text"}]


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=5), max_size=3))
def test_any_blocks_are_read_or_refused_but_never_break(blocks: list[dict[str, Any]]) -> None:
    for message in ({"role": "user", "content": blocks}, HumanMessage(blocks)):
        try:
            draft = one(message)
        except InvalidInputError:
            continue
        json.dumps(draft.blocks, allow_nan=False)
