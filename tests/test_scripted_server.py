"""The scripted server behaves as OpenAI does, and the schemas we send pass its strict rules."""

from __future__ import annotations

# ruff: noqa: F811 - fixtures come by import
import socket
from typing import Annotated, Any, Literal

import openai
import pytest
from langchain_core.messages import AIMessageChunk
from pydantic import BaseModel, Field, create_model

from hexamem.errors import ConfigError
from hexamem.models import ModelReply, check_strict, sent_schemas, strict_schema

from .scripted_server import (  # noqa: F401
    KEY,
    Reply,
    ServerFactory,
    loopback_only,
    refused_by_strict_mode,
    scripted_server,
)


class Span(BaseModel):
    """A quoted span."""

    step: Annotated[int, Field(ge=0, description="Number of the step.")]
    quote: str = ""


class Proposal(ModelReply):
    """What to change."""

    kind: Literal["add", "remove"] = "add"
    mode: Literal["fixed"] = "fixed"
    text: str | None = None
    spans: Annotated[list[Span], Field(max_length=5)]
    first: Span | None = None
    certainty: float = Field(0.5, ge=0, le=1)


def request_with(schema: dict[str, Any], *, strict: bool = True) -> dict[str, Any]:
    inner = {word: value for word, value in schema.items() if word != "title"}
    form = {"name": "Proposal", "strict": strict, "schema": inner}
    return {"messages": [], "response_format": {"type": "json_schema", "json_schema": form}}


# Schemas.


def test_a_schema_is_sent_flat_closed_and_without_defaults() -> None:
    schema = strict_schema(Proposal)
    properties: Any = schema["properties"]
    assert (schema["title"], schema["description"], schema["additionalProperties"]) == (
        "Proposal",
        "What to change.",
        False,
    )
    assert schema["required"] == list(properties) == ["kind", "mode", "text", "spans", "first", "certainty"]
    assert properties["mode"] == {"type": "string", "enum": ["fixed"]}
    assert properties["text"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert properties["spans"]["items"]["required"] == ["step", "quote"]
    assert properties["spans"]["description"] == "At most 5 entries."
    assert properties["spans"]["items"]["properties"]["step"]["description"] == "Number of the step. At least 0."
    assert "$ref" not in str(schema)
    assert check_strict(schema) == []
    assert refused_by_strict_mode(request_with(schema)) is None


class Tree(BaseModel):
    """A tree."""

    children: list[Tree]


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (dict[str, int], "field is an open dictionary"),
        (Any, "field takes anything"),
        (Tree, r"field.children\[\] contains itself"),
        (Annotated[Cat | Dog, Field(discriminator="kind")], "field uses oneOf"),
        (Cat | Dog, "field uses anyOf for more than a value or null"),
        (int | str, "field uses anyOf for more than a value or null"),
        (tuple[int, str], "field uses prefixItems"),
        (list[dict[str, str]], r"field\[\] is an open dictionary"),
        (list, r"field\[\] takes anything"),
    ],
)
def test_what_models_cannot_be_asked_is_refused_with_its_place(annotation: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=f"The reply Odd cannot be asked of a model: .*{told}"):
        strict_schema(create_model("Odd", field=(annotation, ...)))


def test_what_pydantic_makes_by_itself_is_refused_by_both() -> None:
    raw = Proposal.model_json_schema()
    assert check_strict(raw)
    refusal = refused_by_strict_mode(request_with(raw))
    assert refusal is not None
    assert "Invalid schema for response_format 'Proposal': In context=()" in refusal


def test_a_schema_deeper_than_ten_levels_is_refused() -> None:
    model: Any = create_model("Leaf", value=(str, ...))
    for level in range(10):
        model = create_model(f"Level{level}", inner=(model, ...))
    with pytest.raises(ConfigError, match="nested deeper than 10 levels"):
        strict_schema(model)


def test_every_reply_that_is_loaded_can_be_sent() -> None:
    schemas = sent_schemas()
    assert Proposal in schemas
    for one in schemas:
        if one.__module__.startswith("hexamem") or one is Proposal:
            assert refused_by_strict_mode(request_with(strict_schema(one))) is None, one


# The server.


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"additionalProperties": True}, "'additionalProperties' is required to be supplied and to be false"),
        ({"required": []}, "Missing 'a'"),
        ({"properties": {"a": {"type": "string", "default": "x"}}}, "'default' is not permitted"),
        ({"properties": {"a": {"oneOf": []}}}, "'oneOf' is not permitted"),
        ({"properties": {"a": {}}}, "schema must have a 'type' key"),
        ({"type": "array"}, "got 'type: \"array\"'"),
    ],
)
def test_a_schema_against_the_rules_gets_a_400_in_openais_words(
    scripted_server: ServerFactory, change: dict[str, Any], told: str
) -> None:
    good = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    server = scripted_server([Reply(content={"a": "b"})])
    client = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)
    body = request_with({**good, **change})

    def ask(response_format: Any) -> Any:
        messages: Any = [{"role": "user", "content": "x"}]
        return client.chat.completions.create(model="m", messages=messages, response_format=response_format)

    with pytest.raises(openai.BadRequestError) as caught:
        ask(body["response_format"])
    assert told in caught.value.message
    assert ask(request_with({**good, **change}, strict=False)["response_format"]).choices
    assert ask(request_with(good)["response_format"]).choices[0].message.content == '{"a": "b"}'


def test_json_mode_wants_the_word_json(scripted_server: ServerFactory) -> None:
    model = scripted_server([Reply(content={})]).chat_model(max_retries=0)
    with pytest.raises(openai.BadRequestError, match="must contain the word 'json'"):
        model.invoke("Hello", response_format={"type": "json_object"})
    assert model.invoke("Hello in JSON", response_format={"type": "json_object"}).content == "{}"


def test_it_streams_text_with_usage(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content="Once upon a time in Hangzhou.", usage=(11, 7))])
    chunks = list(server.chat_model(stream_usage=True).stream("Tell"))
    assert len(chunks) > 3
    whole = chunks[0]
    for one in chunks[1:]:
        whole += one
    assert isinstance(whole, AIMessageChunk)
    assert whole.content == "Once upon a time in Hangzhou."
    assert whole.usage_metadata is not None
    assert (whole.usage_metadata["total_tokens"], server.tokens) == (18, 18)


def test_it_streams_tool_calls(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content={"city": "Hangzhou", "days": [1, 2]}, tool="weather")])
    whole: Any = None
    for one in server.chat_model().stream("Weather?"):
        whole = one if whole is None else whole + one
    assert [(call["name"], call["args"]) for call in whole.tool_calls] == [
        ("weather", {"city": "Hangzhou", "days": [1, 2]})
    ]


def test_a_stream_can_break_off(scripted_server: ServerFactory) -> None:
    model = scripted_server([Reply(content="word " * 50, cut="middle")]).chat_model(max_retries=0)
    with pytest.raises(Exception, match=r"peer closed|incomplete|Connection"):
        list(model.stream("Tell"))


def test_a_wrong_key_and_an_unknown_address_are_refused(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply()], key="sk-another")
    with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
        server.chat_model(max_retries=0).invoke("x")
    client = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="m", input="x")
    assert [one.id for one in client.models.list()] == ["scripted"]


def test_a_function_may_decide_on_the_reply(scripted_server: ServerFactory) -> None:
    server = scripted_server(lambda request: Reply(content=f"{request.number}: {request.text}"))
    model = server.chat_model()
    assert [model.invoke(one).content for one in ("a", "b")] == ["0: a", "1: b"]


def test_the_network_is_blocked(loopback_only: None) -> None:
    with socket.socket() as one, pytest.raises(OSError, match="blocks the network"):
        one.connect(("192.0.2.1", 80))
