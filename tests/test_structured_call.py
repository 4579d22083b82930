"""Structured calls against a scripted server behind the real client: schemas, faults, budgets, sync and async."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import pkgutil
import threading
import time
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from pydantic import BaseModel, Field, create_model
from typing_extensions import TypedDict

import hexamem.agents
import hexamem.experience
from hexamem.errors import ConfigError, InvalidInputError
from hexamem.models import (
    Budget,
    BudgetRefusal,
    CallInput,
    Method,
    ModelReply,
    RetryPolicy,
    StructuredCall,
    StructuredResult,
    Usage,
    UsageMeter,
    strict_schema,
)

from .scripted_server import (  # noqa: F401
    KEY,
    Reply,
    Request,
    ScriptedServer,
    ServerFactory,
    loopback_only,
    refused_by_strict_mode,
    scripted_server,
)

METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")
EACH_METHOD = pytest.mark.parametrize("method", METHODS)
QUICK = RetryPolicy(tries=3, first_wait=0.0)
GOOD = {"scope": "school run", "events": ["plan"], "certainty": 0.5}


class Label(ModelReply):
    """The label of one step."""

    scope: str
    events: list[Literal["plan", "fact"]]
    certainty: float | None


LABEL = Label.model_validate(GOOD)


def structured(
    server: ScriptedServer, *, model: dict[str, Any] | None = None, **settings: Any
) -> StructuredCall[Label]:
    chat = server.chat_model(**(model or {}))
    return StructuredCall(chat, Label, **{"agent": "intent_labeler", "retries": QUICK, **settings})


def perform(
    call: StructuredCall[Label], messages: Any = "Label this step.", asynchronously: bool = False, **terms: Any
) -> StructuredResult[Label]:
    given = CallInput(messages=messages, **terms) if terms else messages
    return asyncio.run(call.ainvoke(given)) if asynchronously else call.invoke(given)


class Span(BaseModel):
    step: Annotated[int, Field(ge=0, description="Number of the step.")]
    quote: str = ""


class Change(ModelReply):
    """What to change."""

    mode: Literal["fixed"] = "fixed"
    text: str | None = None
    spans: Annotated[list[Span], Field(max_length=5)]


class Tree(BaseModel):
    children: list[Tree]


def request_with(schema: dict[str, Any]) -> dict[str, Any]:
    inner = {word: value for word, value in schema.items() if word != "title"}
    form = {"name": "Change", "strict": True, "schema": inner}
    return {"messages": [], "response_format": {"type": "json_schema", "json_schema": form}}


def test_a_schema_is_sent_flat_closed_and_without_defaults_and_every_loaded_reply_can_be_sent() -> None:
    schema = strict_schema(Change)
    properties: Any = schema["properties"]
    assert (schema["title"], schema["description"]) == ("Change", "What to change.")
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(properties) == ["mode", "text", "spans"]
    assert properties["mode"] == {"type": "string", "enum": ["fixed"]}
    assert properties["text"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert properties["spans"]["items"]["required"] == ["step", "quote"]
    assert properties["spans"]["description"] == "At most 5 entries."
    assert properties["spans"]["items"]["properties"]["step"]["description"] == "Number of the step. At least 0."
    assert "$ref" not in str(schema)
    raw = Change.model_json_schema()  # what pydantic generates by itself is refused
    assert refused_by_strict_mode(request_with(raw))
    for package in (hexamem.agents, hexamem.experience):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    replies = [each for each in ModelReply.__subclasses__() if each.__module__.startswith("hexamem") or each is Change]
    assert len(replies) > 3
    assert [each for each in replies if refused_by_strict_mode(request_with(strict_schema(each)))] == []


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
        (int | str, "field uses anyOf for more than a value or null"),
        (tuple[int, str], "field uses prefixItems"),
        (list[dict[str, str]], r"field\[\] is an open dictionary"),
        (nested(10), "nested deeper than 10 levels"),
    ],
)
def test_what_models_cannot_be_asked_is_refused_with_its_place(annotation: Any, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"The reply Odd cannot be asked of a model: .*{reason}"):
        strict_schema(create_model("Odd", field=(annotation, ...)))


def test_both_strict_methods_send_the_schema_as_strict(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content=GOOD)])
    for method in METHODS[:2]:
        structured(server, method=method).invoke("x")
    form = server.requests[0].body["response_format"]["json_schema"]
    tool = server.requests[1].body["tools"][0]["function"]
    assert (form["strict"], tool["strict"], form["schema"]) == (True, True, tool["parameters"])
    assert server.requests[1].body["tool_choice"]["function"]["name"] == "Label"


UNUSABLE = {
    "malformed JSON": (Reply(content='{"scope": "a", '), "not valid JSON"),
    "wrong types": (Reply(content={**GOOD, "scope": [1]}), "scope: Input should be a valid string"),
    "an unknown word": (Reply(content={**GOOD, "events": ["party"]}), "events.0"),
    "a missing field": (Reply(content={"scope": "a"}), "events: Field required"),
    "a list": (Reply(content=[GOOD], plain=True), "valid dictionary"),
    "empty": (Reply(content="", plain=True), "empty"),
    "a refusal": (Reply(refusal="I cannot help with that."), "refused: I cannot help with that."),
    "no choices": (Reply(choices="none"), "without a readable reply"),
    "null choices": (Reply(choices="null"), "without a readable reply"),
    "cut at its length": (Reply(content='{"scope": "a"', finish_reason="length"), "length limit"),
    "complete at the limit": (Reply(content=GOOD, finish_reason="length"), "length limit"),
    "filtered": (Reply(content=GOOD, finish_reason="content_filter"), "content filter"),
    "another tool's arguments": (Reply(content=GOOD, tool="delete_everything"), "delete_everything"),
    "a page of HTML": (Reply(body=b"<html>Welcome</html>", content_type="text/html"), "without a readable reply"),
    "a broken body": (Reply(body=b'{"id": '), "without a readable reply"),
    "too deep": (Reply(content="[" * 100_000, plain=True), "nesting"),
}


@EACH_METHOD
def test_an_unusable_reply_is_repaired_once_and_then_reported(scripted_server: ServerFactory, method: Method) -> None:
    server, text = scripted_server([]), json.dumps(GOOD)
    call = structured(server, method=method)
    for dressed in (text, f"```json\n{text}\n```", f"<think>It is {{hard}}.</think>\n{text}"):
        server.follow([Reply(content=dressed, plain=dressed is not text)])
        result = perform(call)
        assert (result.value, result.repaired, result.degraded, server.calls) == (LABEL, False, (), 1), dressed
    assert server.requests[0].method == method
    for number, (fault, (reply, words)) in enumerate(UNUSABLE.items()):
        for repair in (Reply(content=GOOD), reply):
            server.follow([reply, repair])
            result = perform(call, asynchronously=bool(number % 2))
            assert (result.repaired, server.calls) == (repair is not reply, 2), fault
            assert words in server.requests[1].text, fault
        assert result.value is None, fault
        assert result.degraded[0].startswith("intent_labeler: the reply did not fit, nor did its repair: "), fault
        assert words in result.degraded[0], fault


def test_the_repair_turn_shows_the_reply_and_its_problems(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content='{"scope": "a"}'), Reply(content=GOOD)])
    call = structured(server, method="json_mode")
    call.invoke([("system", "You label."), ("user", "This.")])
    first, second = server.requests
    assert second.messages[:2] == first.messages
    assert [message["role"] for message in second.messages[2:]] == ["assistant", "user"]
    assert json.loads(second.messages[2]["content"]) == {"scope": "a"}
    assert "events: Field required" in second.messages[3]["content"]

    def known(label: Label) -> list[str]:
        return [] if label.scope == "school run" else [f"scope: there is no {label.scope!r}"]

    server.follow([Reply(content={**GOOD, "scope": "moon"}), Reply(content=GOOD)])
    result = perform(call, validate=known)
    assert (result.value, result.repaired) == (LABEL, True)
    assert "there is no 'moon'" in server.requests[1].text


def test_a_reply_with_problems_after_its_repair_is_used_only_where_parts_of_it_can_be(
    scripted_server: ServerFactory,
) -> None:
    call = structured(scripted_server([Reply(content=GOOD)]))
    for partly in (True, False):
        result = perform(call, validate=lambda reply: ["no"], partly=partly)
        assert (result.value, "a part of it was used" in result.degraded[0]) == (LABEL if partly else None, partly)


PASSING = {
    "429": Reply(status=429),
    "429 with Retry-After": Reply(status=429, headers={"Retry-After": "0"}),
    "500": Reply(status=500),
    "408": Reply(status=408),
    "cut before": Reply(cut="before"),
    "cut in the middle": Reply(content=GOOD, cut="middle"),
}


@EACH_METHOD
def test_a_passing_failure_is_retried_until_the_tries_end(scripted_server: ServerFactory, method: Method) -> None:
    server = scripted_server([])
    call = structured(server, method=method)
    for number, (fault, reply) in enumerate(PASSING.items()):
        server.follow([reply, reply, Reply(content=GOOD)])
        result = perform(call, asynchronously=bool(number % 2))
        assert (result.value, result.repaired, result.degraded, server.calls) == (LABEL, False, (), 3), fault
    server.follow([Reply(cut="before")])
    result = perform(call)
    assert (result.value, server.calls) == (None, 3)
    assert "(3 tries)" in result.degraded[0]


LASTING = {
    400: (Reply(status=400, error="The messages are odd."), "refused the request (400): The messages are odd."),
    401: (Reply(status=401, error=f"Incorrect API key provided: {KEY}."), "check the key in OPENAI_API_KEY"),
    403: (Reply(status=403, error="Not for you."), "may not use the model"),
    404: (Reply(status=404, error="No such model."), "there is no model 'scripted'"),
    422: (Reply(status=422, error="response_format is not supported"), "another method may work"),
    "quota": (Reply(status=429, error_code="insufficient_quota", error="You exceeded your current quota"), "quota"),
    "long wait": (Reply(status=429, headers={"Retry-After": "3600"}), "asks to wait 3600 seconds"),
}


@EACH_METHOD
def test_a_lasting_refusal_is_reported_and_not_retried(scripted_server: ServerFactory, method: Method) -> None:
    server = scripted_server([])
    call = structured(server, method=method)
    for number, (fault, (reply, reported)) in enumerate(LASTING.items()):
        server.follow([reply])
        result = perform(call, asynchronously=bool(number % 2))
        assert (result.value, server.calls) == (None, 1), fault
        assert reported in result.degraded[0], fault
        assert result.usage == Usage() or reply.status == 429, fault
    server.follow([Reply(content="{"), Reply(status=400, error="Enough.")])
    [line] = perform(call).degraded
    assert "Enough." in line
    assert "not valid JSON" in line


@pytest.mark.parametrize("asynchronously", [False, True])
def test_a_slow_server_is_retried_within_the_total_time(scripted_server: ServerFactory, asynchronously: bool) -> None:
    server = scripted_server([Reply(content=GOOD, delay=30), Reply(content=GOOD)])
    result = perform(structured(server, model={"timeout": 0.2}), asynchronously=asynchronously)
    assert (result.value, server.calls, result.usage.calls) == (LABEL, 2, 2)  # the first may have been charged
    server.follow([Reply(status=429, headers={"retry-after-ms": "200"}), Reply(content=GOOD)])
    begun = time.monotonic()
    assert perform(structured(server), asynchronously=asynchronously).value == LABEL
    assert 0.2 <= time.monotonic() - begun < 5
    server.follow([Reply(status=429, headers={"Retry-After": "30"})])
    perform(structured(server, retries=RetryPolicy(tries=5, total_seconds=20)), asynchronously=asynchronously)
    assert server.calls == 1


def test_an_unreachable_server_is_reported_and_the_clients_own_retries_are_off(scripted_server: ServerFactory) -> None:
    with ScriptedServer([Reply()]) as server:
        call = structured(server)
    line = perform(call).degraded[0]
    assert "could not be reached" in line or "broke off" in line
    server = scripted_server([Reply(status=500)])
    model = server.chat_model(max_retries=5)
    StructuredCall(model, Label, agent="a", retries=RetryPolicy(tries=1)).invoke("x")
    assert server.calls == 1
    assert (model.max_retries, model.root_client.max_retries, model.disable_streaming) == (5, 5, False)


@EACH_METHOD
def test_no_key_stands_in_results_logs_warnings_or_output(
    scripted_server: ServerFactory,
    method: Method,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    recwarn: pytest.WarningsRecorder,
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"Your key {KEY} sent as 'Bearer {KEY}' is odd"
    replies = [Reply(status=status, error=echo) for status in (400, 401, 403, 404, 429, 500)]
    server = scripted_server([])
    call = structured(server, method=method)
    for number, reply in enumerate([*replies, Reply(content=f'{{"{KEY}": '), Reply(refusal=KEY), Reply(cut="before")]):
        server.follow([reply])
        result = perform(call, asynchronously=bool(number % 2))
        assert KEY not in repr(result) + repr(call) + repr(vars(call))
        assert result.degraded
    seen = caplog.text + "".join(str(warning.message) for warning in recwarn) + "".join(capfd.readouterr())
    assert KEY not in seen


def test_usage_is_what_the_model_reports_or_is_counted_offline(scripted_server: ServerFactory) -> None:
    server, meter = scripted_server([]), UsageMeter("remember")
    call = structured(server)
    faults = (Reply(content="{", usage=(100, 7)), Reply(content=GOOD, finish_reason="length", usage=(100, 7)))
    for number, fault in enumerate(faults):
        server.follow([fault, Reply(content=GOOD, usage=(150, 9))])
        result = perform(call, asynchronously=bool(number), usage=meter, operation="remember")
        assert (result.usage.calls, result.usage.input_tokens, result.usage.output_tokens) == (2, 250, 16)
    (row,) = meter.rows()
    assert (row["operation"], row["agent"], row["calls"], row["input_tokens"]) == ("remember", "intent_labeler", 4, 500)
    server.follow([Reply(content=GOOD, usage=None)])
    usage = call.invoke("word " * 400).usage
    assert 400 < usage.input_tokens < 900
    assert usage.output_tokens > 5


@pytest.mark.parametrize("asynchronously", [False, True])
def test_a_budget_bounds_calls_tokens_and_seconds(scripted_server: ServerFactory, asynchronously: bool) -> None:
    server = scripted_server([Reply(content="{")])
    call = structured(server)
    result = perform(call, asynchronously=asynchronously, budget=Budget(calls=0))
    assert (result.value, server.calls) == (None, 0)
    assert result.degraded == ("intent_labeler: the budget of 0 model calls is used up",)
    [line] = perform(call, asynchronously=asynchronously, budget=Budget(calls=1)).degraded
    assert server.calls == 1
    assert "used up" in line
    assert "not valid JSON" in line
    server.follow([Reply(content=GOOD)])
    for budget in (Budget(tokens=1_000), Budget(calls=3)):
        perform(call, asynchronously=asynchronously, budget=budget)
    assert 256 <= server.requests[0].body["max_completion_tokens"] < 1_000
    assert "max_completion_tokens" not in server.requests[1].body
    server.follow([Reply(content=GOOD, delay=4)])  # the client's own limit is 10 seconds
    result = perform(call, asynchronously=asynchronously, budget=Budget(seconds=0.5))
    assert (result.value, server.calls) == (None, 1)
    assert "did not answer" in result.degraded[0]


def test_many_threads_never_overspend_one_budget(scripted_server: ServerFactory) -> None:
    def spend_all(request: Request) -> Reply:
        return Reply(content=GOOD, usage=(40, request.body["max_completion_tokens"] // 3), delay=0.01)

    server = scripted_server(spend_all)
    budget, meter = Budget(calls=9, tokens=4_000), UsageMeter("label")
    terms, call = {"budget": budget, "usage": meter}, structured(server)
    threads = [threading.Thread(target=perform, args=(call,), kwargs=terms) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < budget.spent.calls <= 9
    assert budget.spent.tokens == meter.total.tokens == server.tokens <= 4_000


async def test_a_cancelled_call_gives_its_reservation_back(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content=GOOD, delay=30)])
    budget = Budget(calls=5, tokens=50_000)
    task = asyncio.create_task(structured(server).ainvoke(CallInput(messages="x", budget=budget)))
    while not server.calls:
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert budget.spent.calls == 1  # it may have been charged
    assert not isinstance(budget.reserve(50_000 - budget.spent.tokens), BudgetRefusal)  # the rest was released


class State(TypedDict, total=False):
    text: str
    scope: str
    why: str


@dataclass(frozen=True)
class Context:
    user: str


@pytest.mark.parametrize("streaming", [False, True])
async def test_it_is_a_node_whose_replies_are_no_messages_of_the_graph(
    scripted_server: ServerFactory, streaming: bool
) -> None:
    server = scripted_server([Reply(content=GOOD)])
    call = structured(server, model={"streaming": streaming})

    def prepare(state: State) -> CallInput:
        return CallInput(messages=f"{get_runtime(Context).context.user}: {state['text']}", carry=state["text"])

    def finish(result: StructuredResult[Label]) -> State:
        user = get_runtime(Context).context.user
        return {"scope": result.value.scope if result.value else "rules", "why": f"{user} said {result.carry}"}

    builder = StateGraph(State, context_schema=Context)
    builder.add_node("label", RunnableLambda(prepare) | call | finish)
    builder.add_edge(START, "label")
    builder.add_edge("label", END)
    graph: Any = builder.compile()
    given: Any = ({"text": "hi"},)
    update = {"label": {"scope": "school run", "why": "alice said hi"}}
    options: Any = {"context": Context("alice"), "stream_mode": ["messages", "updates"]}
    streamed = [event async for event in graph.astream(*given, **options)]
    assert [*streamed, *graph.stream(*given, **options)] == [("updates", update)] * 2
    assert not any(request.body.get("stream") for request in server.requests)
    assert "alice: hi" in server.requests[0].text
    assert graph.get_input_jsonschema()
    done = StructuredResult[Label](value=None, degraded=("nothing to do",))
    before = server.calls
    assert call.invoke(done) is await call.ainvoke(done) is done
    assert server.calls == before


async def test_the_async_form_does_not_block_the_event_loop(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(status=500), Reply(content="{"), Reply(content=GOOD)])
    call, budget = structured(server), Budget(tokens=100_000)
    with blockbuster_ctx("hexamem"):
        result = await call.ainvoke(CallInput(messages="x", budget=budget))
    assert result.repaired


class OtherProvider(FakeListChatModel):
    """A chat model with tools that is not built on the OpenAI client."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        text = super()._generate(messages, stop, run_manager).generations[0].message.text
        if text == "429":
            error = RuntimeError("slow down")
            error.status_code = 429  # type: ignore[attr-defined]
            raise error
        name = text if text == "other" else kwargs["tools"][0]["function"]["name"]
        call = {"name": name, "args": json.loads(text) if text[0] == "{" else {}, "id": "1"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=[call]))])


@pytest.mark.parametrize("asynchronously", [False, True])
def test_models_of_other_providers_and_without_tools_are_asked_too(asynchronously: bool) -> None:
    for method in METHODS[:2]:
        model = OtherProvider(responses=["429", "other", json.dumps(GOOD)])
        call = StructuredCall(model, Label, agent="a", method=method, retries=QUICK)
        result = perform(call, asynchronously=asynchronously)
        assert (result.value, result.repaired, result.usage.calls) == (LABEL, True, 2)
    plain = StructuredCall(FakeListChatModel(responses=["{", json.dumps(GOOD)]), Label, agent="a")
    result = perform(plain, asynchronously=asynchronously)
    assert (result.value, result.repaired) == (LABEL, True)


@pytest.mark.parametrize("asynchronously", [False, True])
def test_lone_surrogates_are_replaced_and_no_messages_refused(
    scripted_server: ServerFactory, asynchronously: bool
) -> None:
    server = scripted_server([Reply(content='{"scope": "a\\ud800b", "events": [], "certainty": null}')])
    call = structured(server)
    result = perform(call, "broken \ud800 text", asynchronously)
    assert result.value == Label(scope="a?b", events=[], certainty=None)
    assert "broken ? text" in server.requests[0].text
    for messages in ("", [], [("user", "")]):
        with pytest.raises(InvalidInputError, match="no messages"):
            perform(call, messages, asynchronously)
