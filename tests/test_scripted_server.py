"""The scripted server behaves as OpenAI does, and the schemas we send pass its strict rules."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import socket
from typing import Annotated, Any, Literal

import openai
import pytest
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


class Change(ModelReply):
    """What to change."""

    kind: Literal["add", "remove"] = "add"
    mode: Literal["fixed"] = "fixed"
    text: str | None = None
    spans: Annotated[list[Span], Field(max_length=5)]
    first: Span | None = None
    certainty: float = Field(0.5, ge=0, le=1)


def request_with(schema: dict[str, Any], *, strict: bool = True) -> dict[str, Any]:
    inner = {word: value for word, value in schema.items() if word != "title"}
    form = {"name": "Change", "strict": strict, "schema": inner}
    return {"messages": [], "response_format": {"type": "json_schema", "json_schema": form}}


# Schemas.


def test_a_schema_is_sent_flat_closed_and_without_defaults() -> None:
    schema = strict_schema(Change)
    properties: Any = schema["properties"]
    assert (schema["title"], schema["description"]) == ("Change", "What to change.")
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(properties) == ["kind", "mode", "text", "spans", "first", "certainty"]
    assert properties["mode"] == {"type": "string", "enum": ["fixed"]}
    assert properties["text"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert properties["spans"]["items"]["required"] == ["step", "quote"]
    assert properties["spans"]["description"] == "At most 5 entries."
    assert properties["spans"]["items"]["properties"]["step"]["description"] == "Number of the step. At least 0."
    assert "$ref" not in str(schema)
    raw = Change.model_json_schema()  # what pydantic makes by itself is refused
    assert (check_strict(schema), bool(check_strict(raw))) == ([], True)
    assert refused_by_strict_mode(request_with(schema)) is None
    assert "In context=()" in str(refused_by_strict_mode(request_with(raw)))


class Tree(BaseModel):
    """A tree."""

    children: list[Tree]


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


def nested(levels: int) -> Any:
    model: Any = create_model("Leaf", value=(str, ...))
    for level in range(levels):
        model = create_model(f"Level{level}", inner=(model, ...))
    return model


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (dict[str, int], "field is an open dictionary"),
        (Any, "field takes anything"),
        (Tree, r"field.children\[\] contains itself"),
        (Annotated[Cat | Dog, Field(discriminator="kind")], "field uses oneOf"),
        (int | str, "field uses anyOf for more than a value or null"),
        (tuple[int, str], "field uses prefixItems"),
        (list[dict[str, str]], r"field\[\] is an open dictionary"),
        (nested(10), "nested deeper than 10 levels"),
    ],
)
def test_what_models_cannot_be_asked_is_refused_with_its_place(annotation: Any, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"The reply Odd cannot be asked of a model: .*{reason}"):
        strict_schema(create_model("Odd", field=(annotation, ...)))


def test_every_reply_that_is_loaded_can_be_sent() -> None:
    schemas = [each for each in sent_schemas() if each.__module__.startswith("hexamem") or each is Change]
    assert Change in schemas
    assert [each for each in schemas if refused_by_strict_mode(request_with(strict_schema(each)))] == []


# The server.


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"additionalProperties": True}, "'additionalProperties' is required to be supplied and to be false"),
        ({"required": []}, "Missing 'a'"),
        ({"properties": {"a": {"type": "string", "default": "x"}}}, "'default' is not permitted"),
        ({"properties": {"a": {"oneOf": []}}}, "'oneOf' is not permitted"),
        ({"properties": {"a": {}}}, "schema must have a 'type' key"),
        ({"type": "array"}, "got 'type: \"array\"'"),
    ],
)
def test_a_schema_against_the_rules_is_refused_in_openais_words(change: dict[str, Any], reason: str) -> None:
    good = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    assert reason in str(refused_by_strict_mode(request_with({**good, **change})))
    assert refused_by_strict_mode(request_with({**good, **change}, strict=False)) is None
    assert refused_by_strict_mode(request_with(good)) is None


def test_a_bad_request_a_wrong_key_and_an_unknown_address_are_refused(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content={})], key=KEY)
    model = server.chat_model(max_retries=0)
    with pytest.raises(openai.BadRequestError, match="must contain the word 'json'"):
        model.invoke("Hello", response_format={"type": "json_object"})
    assert model.invoke("Hello in JSON", response_format={"type": "json_object"}).content == "{}"
    with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
        server.chat_model(max_retries=0, api_key="sk-another").invoke("x")
    client = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="m", input="x")
    assert [each.id for each in client.models.list()] == ["scripted"]


def test_it_streams_text_with_usage_and_tool_calls_and_can_break_off(scripted_server: ServerFactory) -> None:
    def streamed(reply: Reply) -> Any:
        server = scripted_server([reply])
        chunks = list(server.chat_model(stream_usage=True, max_retries=0).stream("Tell"))
        assert len(chunks) > 3
        whole: Any = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        return whole, server

    whole, server = streamed(Reply(content="Once upon a time in Hangzhou.", usage=(11, 7)))
    assert whole.content == "Once upon a time in Hangzhou."
    assert (whole.usage_metadata["total_tokens"], server.tokens) == (18, 18)
    whole, _ = streamed(Reply(content={"city": "Hangzhou", "days": [1, 2]}, tool="weather"))
    called = [(call["name"], call["args"]) for call in whole.tool_calls]
    assert called == [("weather", {"city": "Hangzhou", "days": [1, 2]})]
    with pytest.raises(Exception, match=r"peer closed|incomplete|Connection"):
        streamed(Reply(content="word " * 50, cut="middle"))


def test_the_network_is_blocked(loopback_only: None) -> None:
    with socket.socket() as connection, pytest.raises(OSError, match="blocks the network"):
        connection.connect(("192.0.2.1", 80))
