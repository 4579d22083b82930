"""What `remember` is given: each form of message is read, nothing is lost on the way, bad input is named."""

from __future__ import annotations

import base64
import copy
import enum
import hashlib
import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
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


def one(message: Any, **options: Any) -> MessageDraft:
    drafts = read_messages([message], **options)
    assert len(drafts) == 1
    return drafts[0]


def user(*blocks: Any) -> MessageDraft:
    return one({"role": "user", "content": list(blocks)})


# Forms


def test_the_module_does_not_load_langchain() -> None:
    code = (
        "import sys, hexamem.memory_types.messages as m; m.read_messages(['hi', ('ai', 'yo')]); "
        "print([n for n in sys.modules if n.startswith('langchain')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "messages",
    [
        "hello",
        ["hello"],
        ("user", "hello"),
        [("human", "hello")],
        [["user", "hello"]],
        {"role": "user", "content": "hello"},
        {"role": "USER", "content": "hello"},
        HumanMessage("hello"),
        (HumanMessage("hello"),),
        {"type": "human", "content": "hello"},
        messages_to_dict([HumanMessage("hello")]),
        HumanMessage("hello").model_dump(),
        ChatMessage("hello", role="user"),
        {"type": "message", "role": "user", "content": "hello"},
    ],
)
def test_every_form_of_one_plain_message_gives_the_same_draft(messages: Any) -> None:
    assert read_messages(messages) == [MessageDraft(role="user", text="hello", index_text="hello")]


def test_a_generator_is_read_in_order() -> None:
    assert [draft.text for draft in read_messages(str(n) for n in range(3))] == ["0", "1", "2"]


def test_no_messages_give_no_drafts() -> None:
    assert read_messages([]) == []


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (HumanMessage("x"), "user"),
        (AIMessage("x"), "assistant"),
        (AIMessageChunk(content="x"), "assistant"),
        (SystemMessage("x"), "system"),
        (ToolMessage("x", tool_call_id="1"), "tool"),
        (FunctionMessage("x", name="f"), "tool"),
        (("ai", "x"), "assistant"),
        (("developer", "x"), "system"),
        ({"role": "function", "name": "f", "content": "x"}, "tool"),
        (ChatMessage("x", role="moderator"), "other"),
    ],
)
def test_roles_become_one_of_five(message: Any, role: str) -> None:
    assert one(message).role == role


def test_an_unknown_role_is_kept_as_name_and_in_the_metadata() -> None:
    draft = one({"role": "pro-side-debater", "content": "I contend"})
    assert (draft.role, draft.name, draft.metadata) == ("other", "pro-side-debater", {"role": "pro-side-debater"})


def test_a_given_name_is_not_replaced_by_an_unknown_role() -> None:
    draft = one({"role": "judge", "name": "Ada", "content": "Order"})
    assert (draft.name, draft.metadata["role"]) == ("Ada", "judge")


def test_the_word_developer_is_not_lost() -> None:
    assert one(("developer", "x")).metadata == {"role": "developer"}


def test_id_and_name_are_kept() -> None:
    draft = one(HumanMessage("x", id="m1", name="Maya"))
    assert (draft.message_id, draft.name) == ("m1", "Maya")
    assert one({"role": "user", "content": "x", "id": 7}).message_id == "7"


def test_keys_without_a_place_of_their_own_go_to_the_metadata() -> None:
    draft = one({"role": "user", "content": "x", "mood": "glad", "metadata": {"session": 3}})
    assert draft.metadata == {"session": 3, "mood": "glad"}


def test_metadata_wins_over_a_further_key_of_the_same_name_and_says_so() -> None:
    draft = one({"role": "user", "content": "x", "mood": "glad", "metadata": {"mood": "sad"}})
    assert draft.metadata == {"mood": "sad"}
    assert len(draft.degraded) == 1
    assert "'mood' was not kept" in draft.degraded[0]


def test_what_langchain_keeps_beside_the_content_goes_to_the_metadata() -> None:
    message = AIMessage(
        "x",
        additional_kwargs={"lc_source": "summary"},
        response_metadata={"model_name": "m"},
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        colour="blue",
    )
    assert one(message).metadata == {
        "additional_kwargs": {"lc_source": "summary"},
        "response_metadata": {"model_name": "m"},
        "usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        "colour": "blue",
    }


def test_nothing_that_was_given_is_changed() -> None:
    given_messages: list[Any] = [
        {"role": "user", "content": [{"type": "image", "base64": B64}], "metadata": {"a": [1]}, "reasoning": "r"},
        AIMessage([{"type": "thinking", "thinking": "t"}, "x"], additional_kwargs={"reasoning_content": "t"}),
    ]
    before = copy.deepcopy(given_messages)
    read_messages(given_messages)
    assert given_messages == before


# Text


def test_text_blocks_are_joined_by_newlines_and_kept() -> None:
    draft = user("a", {"type": "text", "text": "b"}, {"type": "input_text", "text": "c"}, {"text": "d"})
    assert draft.text == draft.index_text == "a\nb\nc\nd"
    assert draft.blocks == (
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
        {"type": "input_text", "text": "c"},
        {"text": "d"},
    )


def test_plain_strings_beside_anthropic_blocks_are_not_lost() -> None:
    # LangChain's own translator for this provider drops them.
    message = AIMessage(["said", {"type": "text", "text": "more"}], response_metadata={"model_provider": "anthropic"})
    assert one(message).text == "said\nmore"


def test_a_list_of_content_from_openai_is_not_lost() -> None:
    message = AIMessage([{"type": "text", "text": "said"}], response_metadata={"model_provider": "openai"})
    assert one(message).text == "said"


def test_merged_chunks_are_one_text() -> None:
    chunks = AIMessageChunk(content=[{"type": "text", "text": "Hel", "index": 0}]) + AIMessageChunk(
        content=[{"type": "text", "text": "lo", "index": 0}]
    )
    assert one(chunks).text == "Hello"


def test_a_refusal_is_what_the_assistant_said() -> None:
    assert one({"role": "assistant", "content": None, "refusal": "I can't."}).text == "I can't."
    assert one({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}).text == "No."


def test_titles_and_quotes_of_citations_are_searched_but_not_shown() -> None:
    block = standard.create_text_block(
        "Rain tomorrow.", annotations=[standard.create_citation(title="Met Éireann", cited_text="wet in the west")]
    )
    draft = one(AIMessage(content_blocks=[block]))
    assert draft.text == "Rain tomorrow."
    assert draft.index_text == "Rain tomorrow.\nMet Éireann\nwet in the west"
    assert draft.blocks[0]["annotations"][0]["title"] == "Met Éireann"


@given(st.text(alphabet=st.characters(exclude_categories=()), min_size=1).filter(lambda text: text.strip()))
def test_any_text_is_kept_exactly(text: str) -> None:
    assert one(text).text == text
    assert user({"type": "text", "text": text}).blocks[0]["text"] == text


@pytest.mark.parametrize("text", ["a\x00b", "\ud800 alone", "x" * 5_000_000], ids=["nul", "surrogate", "5 MB"])
def test_unusual_text_is_kept_exactly(text: str) -> None:
    assert one(text).text == text


# Media


@pytest.mark.parametrize(
    ("block", "stored"),
    [
        ({"type": "image", "base64": B64}, {"type": "image", "sha256": SHA}),
        (
            {"type": "image", "source_type": "base64", "data": B64, "mime_type": "image/png"},
            {"type": "image", "source_type": "base64", "sha256": SHA, "mime_type": "image/png"},
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{B64}", "detail": "low"}},
            {"type": "image_url", "image_url": {"sha256": SHA, "mime_type": "image/png", "detail": "low"}},
        ),
        (
            {"type": "input_image", "image_url": f"data:image/png;base64,{B64}"},
            {"type": "input_image", "sha256": SHA, "mime_type": "image/png"},
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "sha256": SHA}},
        ),
    ],
    ids=["standard", "v0", "openai chat", "openai responses", "anthropic"],
)
def test_the_bytes_of_a_picture_are_taken_out_and_their_hash_stands_for_them(
    block: dict[str, Any], stored: dict[str, Any]
) -> None:
    draft = user(block)
    assert draft.blocks == (stored,)
    assert [(media.kind, media.data, media.sha256) for media in draft.media] == [("image", BYTES, SHA)]
    assert B64 not in json.dumps(draft.blocks)
    assert draft.degraded == ()


@pytest.mark.parametrize(
    ("block", "media"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
            MediaDraft(kind="image", url="https://x/y.png"),
        ),
        ({"type": "image_url", "image_url": "https://x/y.png"}, MediaDraft(kind="image", url="https://x/y.png")),
        (
            {"type": "input_audio", "input_audio": {"data": B64, "format": "mp3"}},
            MediaDraft(kind="audio", data=BYTES, mime_type="audio/mpeg"),
        ),
        (
            {"type": "file", "file": {"file_id": "f1", "filename": "a.pdf"}},
            MediaDraft(kind="file", file_id="f1", name="a.pdf"),
        ),
        (
            {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{B64}", "filename": "a.pdf"}},
            MediaDraft(kind="file", data=BYTES, mime_type="application/pdf", name="a.pdf"),
        ),
        ({"type": "input_file", "file_url": "https://x/a.pdf"}, MediaDraft(kind="file", url="https://x/a.pdf")),
        (
            {"type": "document", "source": {"type": "file", "file_id": "f2"}, "title": "T", "context": "C"},
            MediaDraft(kind="file", file_id="f2", name="T", caption="C"),
        ),
        ({"type": "image", "source_type": "id", "id": "i1"}, MediaDraft(kind="image", file_id="i1")),
        (
            {"type": "media", "mime_type": "video/mp4", "file_uri": "gs://b/v"},
            MediaDraft(kind="video", mime_type="video/mp4", url="gs://b/v"),
        ),
        (
            {"type": "video", "url": "https://x/v", "extras": {"caption": "a dog"}},
            MediaDraft(kind="video", url="https://x/v", caption="a dog"),
        ),
    ],
)
def test_media_are_read_from_each_provider_s_form(block: dict[str, Any], media: MediaDraft) -> None:
    assert user(block).media == (media,)


def test_standard_media_blocks_are_all_read() -> None:
    draft = one(
        HumanMessage(
            content_blocks=[
                standard.create_image_block(url="https://x/i"),
                standard.create_audio_block(base64=B64, mime_type="audio/wav"),
                standard.create_video_block(file_id="v"),
                standard.create_file_block(url="https://x/f"),
                standard.create_plaintext_block(text="the words", title="notes.txt", context="from Bo"),
            ]
        )
    )
    assert [(m.kind, m.url, m.data, m.file_id) for m in draft.media] == [
        ("image", "https://x/i", None, None),
        ("audio", None, BYTES, None),
        ("video", None, None, "v"),
        ("file", "https://x/f", None, None),
        ("file", None, None, None),
    ]
    assert (draft.text, draft.index_text) == ("", "notes.txt\nfrom Bo\nthe words")
    assert draft.media[-1].transcript == "the words"
    assert draft.degraded == ()


def test_captions_alternative_texts_and_transcripts_are_searched_but_not_shown() -> None:
    draft = user(
        "look",
        {"type": "image", "url": "https://x/1", "caption": "a red kite"},
        {"type": "image_url", "image_url": {"url": "https://x/2", "alt": "a grey heron"}},
        {"type": "audio", "file_id": "a", "transcript": "come home soon"},
    )
    assert draft.text == "look"
    assert draft.index_text == "look\na red kite\na grey heron\ncome home soon"


def test_the_text_of_a_text_file_is_searched() -> None:
    file = base64.b64encode("Über uns".encode()).decode()
    draft = user({"type": "file", "base64": file, "mime_type": "text/markdown; charset=utf-8", "filename": "a.md"})
    assert draft.index_text == "a.md\nÜber uns"


def test_a_text_document_that_starts_like_a_data_url_stays_text() -> None:
    draft = user({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "data: 1, 2"}})
    assert draft.media[0].transcript == "data: 1, 2"
    assert draft.blocks[0]["source"]["data"] == "data: 1, 2"


def test_a_document_of_blocks_is_read_with_its_pictures() -> None:
    source = {"type": "content", "content": [{"type": "text", "text": "page one"}, {"type": "image", "base64": B64}]}
    draft = user({"type": "document", "source": source})
    assert draft.index_text == "page one"
    assert {media.sha256 for media in draft.media} == {None, SHA}
    assert draft.blocks[0]["source"]["content"][1] == {"type": "image", "sha256": SHA}


def test_a_search_result_is_a_file_with_its_address_title_and_words() -> None:
    block = {"type": "search_result", "source": "https://x", "title": "T", "content": [{"type": "text", "text": "W"}]}
    assert user(block).media == (MediaDraft(kind="file", url="https://x", name="T", transcript="W"),)


def test_a_spoken_answer_of_openai_keeps_its_sound_and_transcript() -> None:
    message = {"role": "assistant", "content": None, "audio": {"id": "a", "data": B64, "transcript": "hello"}}
    draft = one(message)
    assert (draft.media[0].data, draft.index_text) == (BYTES, "hello")
    assert draft.blocks == ({"type": "audio", "id": "a", "sha256": SHA, "transcript": "hello"},)
    assert "audio" not in draft.metadata


def test_data_urls_need_not_be_base64() -> None:
    assert user({"type": "file", "url": "data:text/plain,a%20b"}).media[0].data == b"a b"


def test_line_breaks_and_the_url_safe_alphabet_are_read_as_base64() -> None:
    data = bytes(range(256))
    text = base64.urlsafe_b64encode(data).decode()
    assert user({"type": "image", "base64": f"{text[:76]}\r\n{text[76:]}"}).media[0].data == data


@given(st.binary(max_size=200))
def test_bytes_come_back_as_they_were(data: bytes) -> None:
    media = user("x", {"type": "image", "base64": base64.b64encode(data).decode() or "data:,"}).media
    assert [item.data for item in media] == [data]


@pytest.mark.parametrize("bad", ["@@@@", "abc", "QUJ", "QUJD\ud800", 5, ["QUJD"], "data:image/png;base64"])
def test_invalid_base64_is_refused_with_message_and_block(bad: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"message 2 of 2, block 3\.base64: "):
        read_messages(["fine", {"role": "user", "content": ["a", "b", {"type": "image", "base64": bad}]}])


def test_bytes_in_an_unknown_block_become_a_file() -> None:
    draft = user({"type": "scan", "raw": BYTES})
    assert draft.blocks == ({"type": "scan", "raw": {"sha256": SHA}},)
    assert draft.media == (MediaDraft(kind="file", data=BYTES),)


def test_a_second_source_in_one_block_is_not_lost() -> None:
    other = base64.b64encode(b"other").decode()
    assert {media.data for media in user({"type": "image", "base64": B64, "data": other}).media} == {BYTES, b"other"}


def test_media_without_any_source_is_kept_and_named() -> None:
    draft = user("x", {"type": "image"})
    assert draft.blocks[1] == {"type": "image"}
    assert draft.media == ()
    assert draft.degraded == ("message 1: block 2: 'image' holds no data, url or file id; kept as it is",)


def test_a_block_that_langchain_alone_knows_is_read_through_it() -> None:
    converse = {"image": {"format": "png", "source": {"bytes": BYTES}}}
    draft = one(HumanMessage([converse, {"text": "what is it?"}]))
    assert (draft.text, draft.media[0].data, draft.degraded) == ("what is it?", BYTES, ())
    assert draft.blocks[0]["sha256"] == SHA


def test_a_block_that_langchain_translates_without_bytes_is_kept_as_it_was() -> None:
    call = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "tides"}}
    draft = one(AIMessage(["x", call], response_metadata={"model_provider": "openai"}))
    assert draft.blocks[1] == call
    assert draft.index_text == "x\nweb_search(query=tides)"


# Tools


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", tool_calls=[{"id": "c", "name": "find", "args": {"q": "été", "k": 3}}]),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"q": "été", "k": 3}'}}
            ],
        },
        {"role": "assistant", "tool_calls": [{"id": "c", "name": "find", "args": {"q": "été", "k": 3}}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "find", "input": {"q": "été", "k": 3}}],
        },
        AIMessage([{"type": "tool_call", "id": "c", "name": "find", "args": {"q": "été", "k": 3}}]),
        AIMessage([{"type": "server_tool_call", "id": "c", "name": "find", "args": {"q": "été", "k": 3}}]),
        AIMessage(
            [{"type": "function_call", "id": "x", "call_id": "c", "name": "find", "arguments": '{"q":"été","k":3}'}]
        ),
        AIMessageChunk(
            content="", tool_call_chunks=[{"id": "c", "name": "find", "args": '{"q": "été", "k": 3}', "index": 0}]
        ),
        AIMessage(
            [{"type": "tool_use", "id": "c", "name": "find", "input": {}}],
            tool_calls=[{"id": "c", "name": "find", "args": {"q": "été", "k": 3}}],
        ),
    ],
)
def test_each_form_of_a_tool_call_is_read_once_and_searched(message: Any) -> None:
    draft = one(message)
    assert draft.tool_calls == (ToolCallDraft(id="c", name="find", arguments={"q": "été", "k": 3}),)
    assert (draft.text, draft.index_text) == ("", "find(q=été, k=3)")
    assert draft.degraded == ()


def test_a_function_call_of_the_old_api_is_read() -> None:
    draft = one({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": [1]}'}})
    assert draft.tool_calls == (ToolCallDraft(id=None, name="f", arguments={"a": [1]}),)
    assert draft.index_text == "f(a=[1])"


def test_two_calls_of_the_same_tool_are_two() -> None:
    calls = [{"id": i, "name": "f", "args": {}} for i in ("1", "2")]
    assert [call.id for call in one(AIMessage("", tool_calls=calls)).tool_calls] == ["1", "2"]


@pytest.mark.parametrize(
    "arguments", ["{bad", "[1]", "NaN", '{"a": NaN}', "[" * 100_000, '{"a":' * 300 + "1" + "}" * 300]
)
def test_arguments_that_are_no_json_object_are_kept_as_text_and_named(arguments: str) -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}]}
    draft = one(message)
    assert draft.tool_calls[0].arguments == arguments
    assert draft.index_text == f"f({arguments})"
    assert draft.degraded == ("message 1: tool call 1: the arguments of 'f' are no JSON object; kept as text",)


def test_an_invalid_tool_call_is_kept_and_named() -> None:
    bad = {"type": "invalid_tool_call", "id": "c", "name": "f", "args": "{bad", "error": "no JSON"}
    draft = one(AIMessage("", invalid_tool_calls=[bad]))
    assert draft.tool_calls == (ToolCallDraft(id="c", name="f", arguments="{bad"),)
    assert "the call of 'f' was invalid" in draft.degraded[0]


@pytest.mark.parametrize("calls", [5, "x", [5], [{}], [{"name": 5}], [{"name": "f", "args": [1]}]])
def test_malformed_tool_calls_are_refused(calls: Any) -> None:
    with pytest.raises(InvalidInputError, match="message 1 of 1"):
        one({"role": "assistant", "content": "x", "tool_calls": calls})


def test_a_tool_message_keeps_its_text_its_call_and_its_artifact() -> None:
    draft = one(ToolMessage("22 °C", tool_call_id="c", name="weather", artifact={"t": [22]}))
    assert (draft.role, draft.name, draft.text, draft.tool_call_id) == ("tool", "weather", "22 °C", "c")
    assert draft.metadata == {"artifact": {"t": [22]}}


def test_an_artifact_that_is_not_json_is_named_and_not_kept() -> None:
    draft = one(ToolMessage("ok", tool_call_id="c", artifact={"frame": object()}))
    assert draft.metadata == {}
    assert draft.degraded == ("message 1: the artifact, of type dict, is not JSON and was not kept",)


def test_a_failed_tool_says_so_in_the_metadata() -> None:
    assert one(ToolMessage("boom", tool_call_id="c", status="error")).metadata == {"status": "error"}


def test_an_empty_result_of_a_tool_is_a_message() -> None:
    assert one(ToolMessage("", tool_call_id="c")) == MessageDraft(role="tool", text="", index_text="", tool_call_id="c")


def test_anthropic_s_tool_results_are_the_tool_s_words_and_not_the_user_s() -> None:
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "22 °C"}]}
    draft = user(result)
    assert (draft.role, draft.text, draft.tool_call_id) == ("tool", "22 °C", "c")
    assert draft.metadata == {"role": "user"}
    assert draft.blocks == (result,)


def test_a_result_beside_words_of_the_user_is_searched_but_not_put_in_their_mouth() -> None:
    draft = user({"type": "tool_result", "tool_use_id": "c", "content": "22 °C"}, "is that warm?")
    assert (draft.role, draft.text, draft.index_text) == ("user", "is that warm?", "is that warm?\n22 °C")


def test_pictures_inside_a_tool_result_are_taken_out() -> None:
    draft = user({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "image", "base64": B64}]})
    assert draft.media[0].data == BYTES
    assert draft.blocks[0]["content"] == [{"type": "image", "sha256": SHA}]


def test_results_of_the_server_s_tools_are_searched() -> None:
    message = AIMessage(
        ["It rains.", {"type": "server_tool_result", "tool_call_id": "s", "status": "success", "output": {"mm": 4}}]
    )
    draft = one(message)
    assert (draft.text, draft.index_text) == ("It rains.", 'It rains.\n{"mm": 4}')


# Reasoning

REASONED: list[Any] = [
    AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "ok"}]),
    AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "ok"}]),
    AIMessage([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, "ok"]),
    AIMessage([{"type": "non_standard", "value": {"type": "thinking", "thinking": "hm"}}, "ok"]),
    AIMessage("ok", additional_kwargs={"reasoning_content": "hm"}),
    AIMessage("ok", additional_kwargs={"reasoning": {"summary": [{"type": "summary_text", "text": "hm"}]}}),
    {"role": "assistant", "content": "ok", "reasoning_content": "hm"},
    {"role": "assistant", "content": "ok", "reasoning": "hm"},
]


@pytest.mark.parametrize("message", REASONED)
def test_reasoning_leaves_no_trace_unless_asked_for(message: Any) -> None:
    draft = one(message)
    assert (draft.text, draft.reasoning) == ("ok", None)
    assert "hm" not in repr(draft)


@pytest.mark.parametrize("message", REASONED)
def test_reasoning_is_kept_when_asked_for_and_not_searched(message: Any) -> None:
    draft = one(message, keep_reasoning=True)
    assert (draft.text, draft.reasoning, draft.index_text) == ("ok", "hm", "ok")


@pytest.mark.parametrize(
    "message",
    [
        AIMessage([{"type": "thinking", "thinking": "hm"}]),
        AIMessage("", additional_kwargs={"reasoning_content": "hm"}),
        {"role": "assistant", "content": None, "reasoning": "hm"},
    ],
)
def test_a_message_of_reasoning_alone_is_empty_and_the_error_says_why(message: Any) -> None:
    with pytest.raises(InvalidInputError, match="keep_reasoning=True: it holds only reasoning"):
        one(message)
    assert one(message, keep_reasoning=True).reasoning == "hm"


# Times


@pytest.mark.parametrize("key", ["occurred_at", "timestamp", "created_at", "date"])
def test_the_time_of_a_mapping_is_read_in_the_timezone(key: str) -> None:
    moment = one({"role": "user", "content": "x", key: "1:56 pm on 8 May, 2023"}, timezone="Asia/Tokyo").occurred_at
    assert moment is not None
    assert (moment.utc, moment.offset_minutes) == (datetime(2023, 5, 8, 4, 56, tzinfo=UTC), 540)


def test_of_several_times_when_it_occurred_counts_and_the_rest_is_kept() -> None:
    draft = one({"role": "user", "content": "x", "created_at": 5, "occurred_at": 1683554160})
    assert draft.occurred_at is not None
    assert draft.occurred_at.utc == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert draft.metadata == {"created_at": 5}


def test_an_unreadable_time_of_a_mapping_is_refused_by_place_and_key() -> None:
    with pytest.raises(InvalidInputError, match=r"message 2 of 2, timestamp: time 'soon' cannot be read"):
        read_messages(["a", {"role": "user", "content": "x", "timestamp": "soon"}])


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("x", additional_kwargs={"timestamp": "2023-05-08T13:56:00Z"}),
        AIMessage("x", response_metadata={"created_at": "2023-05-08T13:56:00.000000000Z"}),
        AIMessage("x", response_metadata={"created_at": 1683554160.0}),
        HumanMessage("x", timestamp="2023-05-08T13:56:00Z"),
    ],
)
def test_the_time_of_a_langchain_message_is_found(message: AnyMessage) -> None:
    moment = one(message).occurred_at
    assert moment is not None
    assert moment.utc == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_an_unreadable_time_of_a_langchain_message_is_named_and_no_error() -> None:
    draft = one(AIMessage("x", response_metadata={"created_at": "yesterday"}))
    assert draft.occurred_at is None
    assert draft.degraded[0].startswith("message 1: response_metadata.created_at is not used as its time")


def test_an_unknown_timezone_is_refused_even_when_nothing_is_naive() -> None:
    with pytest.raises(InvalidInputError, match="Mars"):
        read_messages("x", timezone="Mars/Olympus")


# What is kept as it is, and what is not JSON


def test_an_unknown_block_is_kept_as_it_is_and_named() -> None:
    block = {"type": "hologram", "depth": [1, {"a": None}]}
    drafts = read_messages(["a", "b", {"role": "user", "content": ["see", block]}])
    assert drafts[2].blocks[1] == block
    assert drafts[2].index_text == "see"
    assert drafts[2].degraded == ("message 3: unknown block type 'hologram' kept but not indexed",)


def test_a_message_of_an_unknown_block_alone_is_not_empty() -> None:
    assert user({"type": "hologram"}).blocks == ({"type": "hologram"},)


class Colour(enum.StrEnum):
    RED = "red"


def test_metadata_is_plain_json_and_what_is_not_becomes_text_and_is_named() -> None:
    number = uuid.UUID(int=1)
    draft = one(
        {
            "role": "user",
            "content": "x",
            "metadata": {
                "id": number,
                "deep": {"inf": float("inf")},
                "tuple": (1, 2),
                "colour": Colour.RED,
                3: "three",
            },
        }
    )
    assert draft.metadata == {
        "id": str(number),
        "deep": {"inf": "inf"},
        "tuple": [1, 2],
        "colour": "red",
        "3": "three",
    }
    assert json.loads(json.dumps(draft.metadata, allow_nan=False)) == draft.metadata
    assert [note.split(",")[0] for note in draft.degraded] == [
        "message 1: metadata.id is of type UUID",
        "message 1: metadata.deep.inf is of type float",
        "message 1: metadata: key 3 kept as text",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_json_metadata_is_kept_exactly(metadata: dict[str, Any]) -> None:
    draft = one({"role": "user", "content": "x", "metadata": metadata})
    assert draft.metadata == metadata
    assert draft.degraded == ()


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_an_unknown_block_of_any_json_is_kept_exactly(fields: dict[str, Any]) -> None:
    block = {**fields, "type": "hologram"}
    assert user("x", block).blocks[1] == block


def test_keys_that_would_collide_as_text_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="two keys read '1'"):
        one({"role": "user", "content": "x", "metadata": {1: "a", "1": "b"}})


def test_metadata_that_contains_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    with pytest.raises(InvalidInputError, match="contains itself"):
        one({"role": "user", "content": "x", "metadata": loop})


def test_blocks_that_contain_themselves_are_refused() -> None:
    loop: dict[str, Any] = {"type": "tool_result", "tool_use_id": "c"}
    loop["content"] = [loop]
    with pytest.raises(InvalidInputError, match="levels deep"):
        user(loop)


# Bad input


@pytest.mark.parametrize(
    "message",
    [
        "",
        "  \n",
        ("user", ""),
        HumanMessage(""),
        AIMessage([]),
        {"role": "user", "content": None},
        {"role": "user", "content": [{"type": "text", "text": ""}]},
        {"role": "assistant", "content": None, "tool_calls": []},
    ],
)
def test_an_empty_message_is_refused_by_its_place(message: Any) -> None:
    with pytest.raises(InvalidInputError, match="message 2 of 3 is empty: no text, media or tool call"):
        read_messages(["a", message, "c"])


@pytest.mark.parametrize("role", ["", "  ", 5, ["user"], True])
def test_a_role_that_is_no_word_is_refused(role: Any) -> None:
    with pytest.raises(InvalidInputError, match="message 1 of 1: role = "):
        one({"role": role, "content": "x"})


def test_a_mapping_that_is_no_message_is_refused_with_the_keys_seen() -> None:
    with pytest.raises(InvalidInputError, match=r"message 2 of 2: .* \(keys seen: 'speaker', 'text'\)"):
        read_messages(["a", {"speaker": "Bo", "text": "hi"}])


def test_a_mapping_without_role_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="with no role"):
        one({"content": "x"})


@pytest.mark.parametrize("messages", [None, 5, b"x", {"a"}, object()])
def test_what_holds_no_messages_is_refused(messages: Any) -> None:
    with pytest.raises(InvalidInputError, match="a message is text, a LangChain message"):
        read_messages(messages)


@pytest.mark.parametrize("item", [None, 5, b"x", ("user",), ("a", "b", "c"), [1, 2], object()])
def test_an_item_that_is_no_message_is_refused_by_its_place(item: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"message 2 of 2: .* a message is text, a LangChain message"):
        read_messages(["a", item])


def test_a_tuple_that_may_be_a_pair_or_two_texts_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="give a list"):
        read_messages(("Maya", "hello"))


def test_a_remove_message_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="RemoveMessage"):
        one(RemoveMessage(id="1"))


@pytest.mark.parametrize(
    "fields",
    [
        {"content": 5},
        {"content": {"a": 1}},
        {"content": [5]},
        {"content": [{"type": ["text"]}]},
        {"content": [{"type": "text", "text": 5}]},
        {"name": ["x"]},
        {"id": 1.5},
        {"tool_call_id": {}},
        {"metadata": "x"},
    ],
)
def test_a_field_of_the_wrong_type_is_refused_by_its_place(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="message 1 of 1"):
        one({"role": "user", "content": "x", **fields})


def test_an_error_while_the_messages_are_made_is_the_caller_s() -> None:
    def broken() -> Iterator[str]:
        yield "a"
        raise RuntimeError("the host broke")

    with pytest.raises(RuntimeError, match="the host broke"):
        read_messages(broken())


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["type", "text", "url", "base64", "data", "source", "id", "name", "content", "image_url"]),
            st.sampled_from(
                ["text", "image", "tool_use", "tool_result", "QUJD", "data:,x", None, 5, [], {}, {"type": "text"}]
            ),
            max_size=5,
        ),
        max_size=3,
    )
)
def test_any_blocks_are_read_or_refused_but_never_break(blocks: list[dict[str, Any]]) -> None:
    for message in ({"role": "user", "content": blocks}, HumanMessage(blocks)):
        try:
            draft = one(message)
        except InvalidInputError:
            continue
        json.dumps(draft.blocks, allow_nan=False)
