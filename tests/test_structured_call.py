"""Structured calls against a scripted server behind the real client: every fault, sync and async, by each method."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import asyncio
import json
import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from typing_extensions import TypedDict

from hexamem.errors import ConfigError, InvalidInputError
from hexamem.models import (
    Budget,
    CallInput,
    Method,
    ModelReply,
    RetryPolicy,
    StructuredCall,
    StructuredResult,
    Usage,
    UsageMeter,
)

from .scripted_server import KEY, Reply, Request, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401

METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")
QUICK = RetryPolicy(tries=3, first_wait=0.0)
GOOD = {"scope": "school run", "events": ["plan"], "certainty": 0.5}


class Label(ModelReply):
    """The label of one step."""

    scope: str
    events: list[Literal["plan", "fact"]]
    certainty: float | None


class UnderTerms:
    """A call with terms that hold for whatever it is given."""

    def __init__(self, call: StructuredCall[Label], terms: dict[str, Any]) -> None:
        self.call, self.terms = call, terms

    def invoke(self, given: Any) -> StructuredResult[Label]:
        return self.call.invoke(CallInput(messages=given, **self.terms))

    async def ainvoke(self, given: Any) -> StructuredResult[Label]:
        return await self.call.ainvoke(CallInput(messages=given, **self.terms))


def structured(server: ScriptedServer, **settings: Any) -> Any:
    model = server.chat_model(**settings.pop("model", {}))
    terms = {name: settings.pop(name) for name in ("budget", "usage", "validate") if name in settings}
    if isinstance(terms.get("usage"), UsageMeter):
        terms["operation"] = "remember"
    call = StructuredCall(model, Label, **{"agent": "intent_labeler", "retries": QUICK, **settings})
    return UnderTerms(call, terms) if terms else call


Perform = Callable[..., StructuredResult[Label]]


def _later(call: StructuredCall[Label], given: Any = "Label this step.") -> StructuredResult[Label]:
    return asyncio.run(call.ainvoke(given))


def _now(call: StructuredCall[Label], given: Any = "Label this step.") -> StructuredResult[Label]:
    return call.invoke(given)


@pytest.fixture(params=[_now, _later], ids=["sync", "async"])
def perform(request: pytest.FixtureRequest) -> Perform:
    """Makes the call, once in each of the two ways."""
    return request.param


# What the model does: one repair turn each.

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


@pytest.mark.parametrize("method", METHODS)
def test_a_reply_that_cannot_be_used_is_repaired_once_and_then_the_result_is_empty_and_says_why(
    scripted_server: ServerFactory, perform: Perform, method: Method
) -> None:
    server = scripted_server([Reply(content=GOOD)])
    call = structured(server, method=method)
    result = perform(call)
    assert result.value == Label.model_validate(GOOD)
    assert (result.repaired, result.degraded, server.calls) == (False, (), 1)
    assert server.requests[0].method == method
    for fault, (reply, words) in UNUSABLE.items():
        server.follow([reply, Reply(content=GOOD)])
        result = perform(call)
        assert result.value == Label.model_validate(GOOD), fault
        assert (result.repaired, result.degraded, server.calls, result.usage.calls) == (True, (), 2, 2), fault
        assert words in server.requests[1].text, fault
        server.follow([reply])
        result = perform(call)
        assert (result.value, result.repaired, server.calls) == (None, False, 2), fault
        assert result.degraded[0].startswith("intent_labeler: the reply did not fit, nor did its repair: "), fault
        assert words in result.degraded[0], fault


def test_both_strict_methods_send_the_schema_as_strict(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content=GOOD)])
    structured(server, method="json_schema").invoke("x")
    structured(server, method="function_calling").invoke("x")
    form, tool = (
        server.requests[0].body["response_format"]["json_schema"],
        server.requests[1].body["tools"][0]["function"],
    )
    assert (form["strict"], tool["strict"], form["schema"]) == (True, True, tool["parameters"])
    assert server.requests[1].body["tool_choice"]["function"]["name"] == "Label"


@pytest.mark.parametrize("method", METHODS)
def test_dress_around_the_json_is_taken_off(scripted_server: ServerFactory, method: Method) -> None:
    text = json.dumps(GOOD)
    server = scripted_server([])
    call = structured(server, method=method)
    for dressed in (f"```json\n{text}\n```", f"<think>It is {{hard}}.</think>\n{text}", f"\n {text} \n"):
        server.follow([Reply(content=dressed, plain=True)])
        assert call.invoke("x").value == Label.model_validate(GOOD), dressed
        assert server.calls == 1


def test_the_repair_turn_shows_the_reply_and_what_is_wrong_with_it(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content='{"scope": "a"}'), Reply(content=GOOD)])
    structured(server, method="function_calling").invoke([("system", "You label."), ("user", "This.")])
    first, second = server.requests
    assert second.messages[:2] == first.messages
    assert [one["role"] for one in second.messages[2:]] == ["assistant", "user"]
    assert json.loads(second.messages[2]["content"]) == {"scope": "a"}
    assert "events: Field required" in second.messages[3]["content"]


# Extra checks and salvage.


def test_the_extra_check_goes_into_the_repair_turn(scripted_server: ServerFactory, perform: Perform) -> None:
    def known(label: Label) -> list[str]:
        return [] if label.scope == "school run" else [f"scope: there is no {label.scope!r}"]

    server = scripted_server([Reply(content={**GOOD, "scope": "moon"}), Reply(content=GOOD)])
    result = perform(structured(server, validate=known))
    assert result.value is not None
    assert (result.value.scope, result.repaired) == ("school run", True)
    assert "there is no 'moon'" in server.requests[1].text


def salvaged(data: object) -> Label | None:
    return (
        Label(scope=str(data["scope"]), events=[], certainty=None)
        if isinstance(data, dict) and "scope" in data
        else None
    )


@pytest.mark.parametrize("reply", [Reply(content={"scope": "a"}), Reply(content='{"scope": "a", "events": ["pl')])
def test_salvage_makes_a_value_after_the_repair_failed(
    scripted_server: ServerFactory, perform: Perform, reply: Reply
) -> None:
    server = scripted_server([reply])
    result = perform(structured(server, salvage=salvaged))
    assert result.value == Label(scope="a", events=[], certainty=None)
    assert "a part of it was used" in result.degraded[0]
    assert server.calls == 2


def test_salvage_is_not_asked_when_there_is_nothing(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content="")])
    assert structured(server, salvage=salvaged).invoke("x").value is None


# Failures on the way.

PASSING = {
    "429": Reply(status=429),
    "429 with Retry-After": Reply(status=429, headers={"Retry-After": "0"}),
    "429 with a date": Reply(status=429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "500": Reply(status=500),
    "503": Reply(status=503),
    "408": Reply(status=408),
    "cut before": Reply(cut="before"),
    "cut in the middle": Reply(content=GOOD, cut="middle"),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_passing_failure_is_retried_until_the_tries_end(
    scripted_server: ServerFactory, perform: Perform, method: Method
) -> None:
    server = scripted_server([])
    call = structured(server, method=method)
    for fault, reply in PASSING.items():
        server.follow([reply, reply, Reply(content=GOOD)])
        result = perform(call)
        assert result.value == Label.model_validate(GOOD), fault
        assert (result.repaired, result.degraded, server.calls) == (False, (), 3), fault
    for fault, reply in list(PASSING.items())[:: len(PASSING) - 1]:
        server.follow([reply])
        result = perform(call)
        assert (result.value, server.calls) == (None, 3), fault
        assert "(3 tries)" in result.degraded[0], fault


def test_a_slow_server_is_a_timeout_and_retried(scripted_server: ServerFactory, perform: Perform) -> None:
    server = scripted_server([Reply(content=GOOD, delay=30), Reply(content=GOOD)])
    result = perform(structured(server, model={"timeout": 0.2}))
    assert result.value is not None
    assert server.calls == 2
    assert result.usage.calls == 2  # the first may have been charged


LASTING = {
    400: ("The messages are odd.", "refused the request (400): The messages are odd."),
    401: (f"Incorrect API key provided: {KEY}.", "check the key in OPENAI_API_KEY"),
    403: ("Not for you.", "may not use the model"),
    404: ("No such model.", "there is no model 'scripted'"),
    422: ("response_format is not supported", "another method may work"),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_lasting_refusal_is_told_and_not_retried(
    scripted_server: ServerFactory, perform: Perform, method: Method
) -> None:
    server = scripted_server([])
    call = structured(server, method=method)
    for status, (said, told) in LASTING.items():
        server.follow([Reply(status=status, error=said)])
        result = perform(call)
        assert (result.value, server.calls, result.usage) == (None, 1, Usage()), status
        assert told in result.degraded[0], status


def test_a_used_up_quota_is_not_retried(scripted_server: ServerFactory) -> None:
    server = scripted_server(
        [Reply(status=429, error_code="insufficient_quota", error="You exceeded your current quota")]
    )
    assert "quota" in structured(server).invoke("x").degraded[0]
    assert server.calls == 1


def test_a_server_that_asks_for_too_long_a_wait_is_not_asked_again(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(status=429, headers={"Retry-After": "3600"})])
    assert "asks to wait 3600 seconds" in structured(server).invoke("x").degraded[0]
    assert server.calls == 1


def test_no_retry_begins_after_the_total_time(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(status=429, headers={"Retry-After": "30"})])
    structured(server, retries=RetryPolicy(tries=5, total_seconds=20)).invoke("x")
    assert server.calls == 1


def test_the_wait_is_the_one_asked_for(scripted_server: ServerFactory, perform: Perform) -> None:
    server = scripted_server([Reply(status=429, headers={"retry-after-ms": "300"}), Reply(content=GOOD)])
    begun = time.monotonic()
    assert perform(structured(server)).value is not None
    assert 0.3 <= time.monotonic() - begun < 5


def test_an_unreachable_server_is_told(perform: Perform, loopback_only: None) -> None:
    server = ScriptedServer([Reply()])
    with server:
        call = structured(server)
    result = perform(call)
    assert result.value is None
    assert "could not be reached" in result.degraded[0] or "broke off" in result.degraded[0]


def test_a_failure_in_the_repair_turn_keeps_both_reasons(scripted_server: ServerFactory, perform: Perform) -> None:
    server = scripted_server([Reply(content="{"), Reply(status=400, error="Enough.")])
    result = perform(structured(server))
    assert "Enough." in result.degraded[0]
    assert "not valid JSON" in result.degraded[0]


def test_the_clients_own_retries_are_off_and_the_given_model_is_unchanged(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(status=500)])
    model = server.chat_model(max_retries=5)
    StructuredCall(model, Label, agent="a", retries=RetryPolicy(tries=1)).invoke("x")
    assert server.calls == 1
    assert (model.max_retries, model.root_client.max_retries, model.disable_streaming) == (5, 5, False)


# Secrets.


@pytest.mark.parametrize("method", METHODS)
def test_no_key_stands_in_results_logs_warnings_or_output(
    scripted_server: ServerFactory,
    perform: Perform,
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
    for reply in [*replies, Reply(content=f'{{"{KEY}": '), Reply(refusal=KEY), Reply(cut="before")]:
        server.follow([reply])
        result = perform(call)
        assert KEY not in repr(result) + repr(call) + repr(vars(call))
        assert result.degraded
    seen = caplog.text + "".join(str(one.message) for one in recwarn) + "".join(capfd.readouterr())
    assert KEY not in seen


# Fuzz: whatever comes, the outcome is typed and there is at most one repair.


def junk(seed: int) -> Reply:
    """One of many ways in which a reply can be broken."""
    rng = random.Random(seed)
    text = json.dumps(GOOD)
    kind = rng.randrange(7)
    if kind == 0:
        content: object = text[: rng.randrange(len(text))]
    elif kind == 1:
        place = rng.randrange(len(text))
        content = text[:place] + chr(rng.choice([0, 34, 92, 0x7F, 0x2028, 0x1F600, 91, 125])) + text[place:]
    elif kind == 2:
        content = {key: rng.choice([None, [], {}, -1, 1e308, "x", True, [[GOOD]]]) for key in GOOD}
    elif kind == 3:
        content = rng.choice([None, [], {}, 0, "null", "NaN", "[]", '"text"', "1" * 5_000, "{" * 3_000])
    elif kind == 4:
        content = {**GOOD, "more": {"scope": GOOD}, "events": ["plan"] * rng.randrange(50)}
    elif kind == 5:
        content = "".join(chr(rng.randrange(1, 0x3000)) for _ in range(rng.randrange(200)))
    else:
        content = text
    finish = rng.choice([None, None, "length", "content_filter", "tool_calls", "odd"])
    return Reply(
        content=content,
        tool=rng.choice([None, None, None, "Other", ""]),
        plain=rng.random() < 0.3,
        finish_reason=finish,
    )


@pytest.mark.parametrize("method", METHODS)
def test_broken_replies_never_raise_and_never_take_a_third_call(scripted_server: ServerFactory, method: Method) -> None:
    taken = iter(range(1_000))
    server = scripted_server(lambda request: junk(next(taken)))
    call = structured(server, method=method)

    async def every() -> list[StructuredResult[Label]]:
        return [await call.ainvoke("x") if number % 2 else call.invoke("x") for number in range(60)]

    before, results = 0, []
    for result in asyncio.run(every()):
        results.append(result)
        before += result.usage.calls
        assert result.usage.calls in (1, 2)
        assert (result.value is None) == bool(result.degraded)
    assert before == server.calls
    assert {one.value is None for one in results} == {True, False}


def broken_completion(seed: int) -> Reply:
    """A completion in which one or two nodes are something else."""
    rng = random.Random(seed)
    message = {"role": "assistant", "content": json.dumps(GOOD), "refusal": None, "tool_calls": []}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    whole: dict[str, Any] = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    odd = [
        None,
        [],
        {},
        "",
        0,
        -1.5,
        [None],
        {"role": "user"},
        [[]],
        "x",
        True,
        [{"function": None}],
        [{"type": "odd"}],
    ]
    for _ in range(rng.randrange(1, 3)):
        node = rng.choice([whole, choice, message, usage])
        name = rng.choice(list(node) or ["id"])
        if rng.random() < 0.4:
            node.pop(name, None)
        else:
            node[name] = rng.choice(odd)
    return Reply(body=json.dumps(whole).encode())


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("method", METHODS)
def test_completions_of_any_shape_never_raise(scripted_server: ServerFactory, method: Method) -> None:
    server = scripted_server(lambda request: broken_completion(request.number))
    call = structured(server, method=method)
    while server.calls < 100:
        result = call.invoke("x")
        assert (result.value is None) == bool(result.degraded)
        assert result.usage.calls in (1, 2)
        assert result.usage.input_tokens >= 0
        assert result.usage.output_tokens >= 0


# Usage and budget.


def test_usage_is_what_the_model_reports_and_the_meter_has_it_by_agent(
    scripted_server: ServerFactory, perform: Perform
) -> None:
    server = scripted_server([Reply(content="{", usage=(100, 7)), Reply(content=GOOD, usage=(150, 9))])
    meter = UsageMeter("remember")
    result = perform(structured(server, usage=meter))
    assert (result.usage.calls, result.usage.input_tokens, result.usage.output_tokens) == (2, 250, 16)
    (row,) = meter.rows()
    assert (row["operation"], row["agent"], row["calls"], row["input_tokens"]) == ("remember", "intent_labeler", 2, 250)


@pytest.mark.parametrize("fault", ["length", "content_filter"])
def test_a_cut_reply_is_charged_as_reported(scripted_server: ServerFactory, fault: str) -> None:
    server = scripted_server(
        [Reply(content=GOOD, finish_reason=fault, usage=(100, 7)), Reply(content=GOOD, usage=(150, 9))]
    )
    assert structured(server).invoke("x").usage.tokens == 266


def test_where_the_model_reports_nothing_tokens_are_counted_offline(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content=GOOD, usage=None)])
    usage = structured(server).invoke("word " * 400).usage
    assert 400 < usage.input_tokens < 900
    assert usage.output_tokens > 5


def test_without_budget_no_call_is_made_and_the_result_says_so(
    scripted_server: ServerFactory, perform: Perform
) -> None:
    server = scripted_server([Reply(content=GOOD)])
    result = perform(structured(server, budget=Budget(calls=0)))
    assert (result.value, server.calls) == (None, 0)
    assert result.degraded == ("intent_labeler: the budget of 0 model calls is used up",)


def test_a_budget_of_one_call_leaves_none_for_the_repair(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content="{")])
    result = structured(server, budget=Budget(calls=1)).invoke("x")
    assert server.calls == 1
    assert "used up" in result.degraded[0]
    assert "not valid JSON" in result.degraded[0]


def test_the_answer_is_limited_to_what_the_budget_has_left(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content=GOOD)])
    structured(server, budget=Budget(tokens=1_000)).invoke("x")
    structured(server, budget=Budget(calls=3)).invoke("x")
    assert 256 <= server.requests[0].body["max_completion_tokens"] < 1_000
    assert "max_completion_tokens" not in server.requests[1].body


def test_many_threads_never_overspend_one_budget(scripted_server: ServerFactory) -> None:
    def spend_all(request: Request) -> Reply:
        return Reply(content=GOOD, usage=(40, request.body["max_completion_tokens"] // 3), delay=0.01)

    server = scripted_server(spend_all)
    budget, meter = Budget(calls=9, tokens=4_000), UsageMeter()
    call = structured(server, budget=budget, usage=meter)
    threads = [threading.Thread(target=call.invoke, args=("x",)) for _ in range(24)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert 0 < budget.spent.calls <= 9
    assert budget.spent.tokens == meter.total.tokens == server.tokens <= 4_000


def test_a_request_waits_no_longer_than_the_budget_has_seconds(
    scripted_server: ServerFactory, perform: Perform
) -> None:
    server = scripted_server([Reply(content=GOOD, delay=4)])  # the client's own limit is 10 seconds
    result = perform(structured(server, budget=Budget(seconds=1.0)))
    assert (result.value, server.calls) == (None, 1)
    assert "did not answer" in result.degraded[0]


async def test_a_cancelled_call_gives_its_reservation_back(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content=GOOD, delay=30)])
    budget = Budget(calls=5, tokens=50_000)
    task = asyncio.create_task(structured(server, budget=budget).ainvoke("x"))
    while not server.calls:
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert budget.spent.calls == 1  # it may have been charged
    left = budget.remaining_tokens()
    assert left is not None
    assert left == 50_000 - budget.spent.tokens


# As a runnable in LangGraph.


class State(TypedDict, total=False):
    text: str
    scope: str
    why: str


@dataclass(frozen=True)
class Context:
    user: str


def labelling_graph(call: StructuredCall[Label]) -> Any:
    def prepare(state: State) -> CallInput:
        return CallInput(messages=f"{get_runtime(Context).context.user}: {state['text']}", carry=state["text"])

    def finish(result: StructuredResult[Label]) -> State:
        user = get_runtime(Context).context.user
        return {"scope": result.value.scope if result.value else "rules", "why": f"{user} said {result.carry}"}

    graph = StateGraph(State, context_schema=Context)
    graph.add_node("label", RunnableLambda(prepare) | call | finish)
    graph.add_edge(START, "label")
    graph.add_edge("label", END)
    return graph.compile()


async def test_it_is_a_node_between_two_plain_functions(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content=GOOD)])
    graph = labelling_graph(structured(server))
    wanted = {"text": "hi", "scope": "school run", "why": "alice said hi"}
    assert graph.invoke({"text": "hi"}, context=Context("alice")) == wanted
    assert await graph.ainvoke({"text": "hi"}, context=Context("alice")) == wanted
    assert "alice: hi" in server.requests[0].text
    assert "label" in graph.get_graph().draw_mermaid()
    assert graph.get_input_jsonschema()


@pytest.mark.parametrize("streaming", [False, True])
async def test_inner_replies_are_not_streamed_as_messages_of_the_graph(
    scripted_server: ServerFactory, streaming: bool
) -> None:
    server = scripted_server([Reply(content=GOOD)])
    graph = labelling_graph(structured(server, model={"streaming": streaming}))
    modes = ["messages", "updates"]
    seen = [one async for one in graph.astream({"text": "hi"}, context=Context("alice"), stream_mode=modes)]
    seen += list(graph.stream({"text": "hi"}, context=Context("alice"), stream_mode=modes))
    assert [mode for mode, _ in seen] == ["updates", "updates"]
    assert not any(one.body.get("stream") for one in server.requests)


async def test_a_finished_result_passes_through_without_a_call(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(content=GOOD)])
    done = StructuredResult[Label](value=None, degraded=("nothing to do",))
    call = structured(server)
    assert call.invoke(done) is await call.ainvoke(done) is done
    assert server.calls == 0


async def test_the_async_form_does_not_block_the_event_loop(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(status=500), Reply(content="{"), Reply(content=GOOD)])
    call = structured(server, budget=Budget(tokens=100_000))
    with blockbuster_ctx("hexamem"):
        result = await call.ainvoke("x")
    assert result.repaired


# Other models and wrong settings.


def test_a_model_without_tools_is_asked_in_words() -> None:
    model = FakeListChatModel(responses=["{", json.dumps(GOOD)])
    result = StructuredCall(model, Label, agent="a").invoke("x")
    assert result.value == Label.model_validate(GOOD)
    assert result.repaired


class OtherProvider(FakeListChatModel):
    """A chat model with tools that is not built on the OpenAI client."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(one) for one in tools])

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        text = super()._generate(messages, stop, run_manager).generations[0].message.text
        name = kwargs["tools"][0]["function"]["name"]
        if text == "429":
            error = RuntimeError("slow down")
            error.status_code = 429  # type: ignore[attr-defined]
            raise error
        call = {
            "name": name if text != "other" else text,
            "args": json.loads(text) if text[0] == "{" else {},
            "id": "1",
        }
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=[call]))])


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_another_providers_model_is_asked_by_its_own_structured_output(perform: Perform, method: Method) -> None:
    model = OtherProvider(responses=["429", "other", json.dumps(GOOD)])
    result = perform(StructuredCall(model, Label, agent="a", method=method, retries=QUICK))
    assert result.value == Label.model_validate(GOOD)
    assert (result.repaired, result.usage.calls) == (True, 2)


def test_lone_surrogates_are_replaced_on_both_ways(scripted_server: ServerFactory, perform: Perform) -> None:
    server = scripted_server([Reply(content='{"scope": "a\\ud800b", "events": [], "certainty": null}')])
    assert perform(structured(server), "broken \ud800 text").value == Label(scope="a?b", events=[], certainty=None)
    assert "broken ? text" in server.requests[0].text


@pytest.mark.parametrize("given", ["", [], [("user", "")]])
def test_a_call_without_messages_is_refused(scripted_server: ServerFactory, perform: Perform, given: Any) -> None:
    with pytest.raises(InvalidInputError, match="no messages"):
        perform(structured(scripted_server([Reply()])), given)


def test_settings_that_cannot_work_are_refused(scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply()])
    with pytest.raises(ConfigError, match="json_schema, function_calling, json_mode"):
        structured(server, method="telepathy")
    with pytest.raises(ConfigError, match="LangChain chat model"):
        StructuredCall("openai:gpt", Label, agent="a")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="tries"):
        RetryPolicy(tries=0)
