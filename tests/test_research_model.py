"""Deep research with a model behind a scripted server: what it may cost, and what is dropped, repaired or reported."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, UserMemory
from hexamem.agents.embedded_research import NOT_HELD
from hexamem.graphs.research_plan_nodes import SEARCHES
from hexamem.graphs.research_state import CALLS_A_ROUND
from hexamem.stores.ledger.usage import all_usage

from .scripted_server import Reply, Request, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401
from .test_research import SETTINGS, WIDE, WRIST, tell

PLAN: dict[str, Any] = {"needs": [], "searches": []}
ENOUGH: dict[str, Any] = {"enough": True, "missing": []}
MORE: dict[str, Any] = {"enough": False, "missing": ["more of it"]}
UNANSWERED: dict[str, Any] = {"claims": [], "reason": "Nobody says when.", "answer": "", "answerable": False}
CHAINED = "Who is the brother that broke his wrist?"
"""A question of two parts."""
NEEDS = ["who broke a wrist", "whose brother that is"]
THREE_CALLS = ["Plan", "Integration", "Reflection"]


def search(tool: str, query: str, **fields: Any) -> dict[str, Any]:
    return {"tool": tool, "query": query, "since": None, "until": None, "kinds": [], "pages": [], **fields}


def claim(text: str, passage: str, quote: str, *settles: str) -> dict[str, Any]:
    return {"text": text, "passage": passage, "quote": quote, **({"parts": list(settles)} if settles else {})}


def answered(answer: str, *claims: dict[str, Any], reason: str = "") -> dict[str, Any]:
    return {"claims": list(claims), "reason": reason, "answer": answer, "answerable": True}


def handle_of(request: Request, words: str) -> str:
    """The handle of the passage in which words stand."""
    match = re.search(rf"^(P\d+) .*{re.escape(words)}", request.text, re.MULTILINE)
    return match[1] if match else "P0"


def by_emil(request: Request, *settles: str) -> dict[str, Any]:
    broke = handle_of(request, "Emil broke his wrist")
    fact = claim("Emil, Theo's brother, broke his wrist.", broke, "Emil broke his wrist there", *settles)
    return answered("Emil", fact, reason="Theo tells it.")


def settled(request: Request) -> dict[str, Any]:
    """As :func:`by_emil`, by a claim that settles the first part."""
    return by_emil(request, "N1")


def both_settled(request: Request) -> dict[str, Any]:
    """Two claims whose quotes are found, which settle both parts."""
    brother = handle_of(request, "my brother Emil")
    reply = settled(request)
    reply["claims"].append(claim("Emil is Theo's brother.", brother, "with my brother Emil", "[n2]"))
    return reply


def script(**by_agent: Any) -> Callable[[Request], Reply]:
    """Replies by agent: a value, a function of the request, or a list of these, of which the last repeats."""
    given = {"plan": PLAN, "integrate": by_emil, "reflect": ENOUGH, **by_agent}
    names = {"PlanReply": "plan", "IntegrationReply": "integrate", "ReflectionReply": "reflect"}
    counts: dict[str, int] = {}

    def answer(request: Request) -> Reply:
        agent = names[request.name or ""]
        number = counts[agent] = counts.get(agent, -1) + 1
        value = given[agent]
        if isinstance(value, list):
            value = value[min(number, len(value) - 1)]
        value = value(request) if callable(value) else value
        return value if isinstance(value, Reply) else Reply(content=value)

    return answer


def agents(server: ScriptedServer) -> list[str]:
    return [(request.name or "").removesuffix("Reply") for request in server.requests]


def asked_of(server: ScriptedServer, agent: str) -> list[str]:
    """The prompts of one agent."""
    return [request.text for request in server.requests if request.name == f"{agent}Reply"]


def block(text: str, tag: str) -> list[str]:
    match = re.search(rf"<{tag}>\n(.*)\n</{tag}>", text, re.DOTALL)
    return match[1].split("\n") if match else []


class Researcher:
    """A user with three talks, whose researcher is a scripted server."""

    def __init__(self, user: UserMemory, server: ScriptedServer) -> None:
        self.user, self.server = user, server

    def follow(self, **by_agent: Any) -> tuple[UserMemory, ScriptedServer]:
        self.server.follow(script(**by_agent))
        return self.user, self.server


@pytest.fixture(scope="module")
def researcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Researcher]:
    """One for the tests that store nothing."""
    with (
        ScriptedServer([Reply()]) as server,
        Memory.open(
            tmp_path_factory.mktemp("model"),
            embedder="static",
            models={"researcher": server.chat_model()},
            settings=SETTINGS,
        ) as memory,
    ):
        tell(memory.user("nora"))
        yield Researcher(memory.user("nora"), server)


@pytest.fixture
def opened(tmp_path: Path, scripted_server: ServerFactory) -> Iterator[Researcher]:
    """A new one."""
    server = scripted_server([Reply()])
    models = {"researcher": server.chat_model()}
    with Memory.open(tmp_path / "home", embedder="static", models=models, settings=SETTINGS) as memory:
        tell(memory.user("nora"))
        yield Researcher(memory.user("nora"), server)


def test_one_round_is_three_calls_which_are_counted(opened: Researcher) -> None:
    user, server = opened.follow()
    research = user.research(CHAINED, 1)
    assert agents(server) == THREE_CALLS
    assert (research.usage.calls, research.answer, research.enough, research.degraded) == (3, "Emil", True, ())
    assert research.usage.input_tokens + research.usage.output_tokens == server.tokens
    assert research.rounds[0].tiers == {"plan": "model", "integrate": "model", "reflect": "model"}
    counted = {row["agent"]: row["calls"] for row in all_usage(user.memory.ledger)}
    assert counted == {"planner": 1, "integrator": 1, "reflector": 1}


def test_a_question_whose_every_part_a_quoted_claim_settles_is_not_reflected_on(researcher: Researcher) -> None:
    cases: list[tuple[str, list[str], Any]] = [(WRIST, NEEDS[:1], settled), (CHAINED, NEEDS, both_settled)]
    for question, needs, reply in cases:
        user, server = researcher.follow(plan={**PLAN, "needs": needs}, integrate=reply, reflect=MORE)
        research = user.research(question, 3)
        assert agents(server) == ["Plan", "Integration"]
        assert (research.answer, research.enough, research.reason) == ("Emil", True, "Theo tells it.")
        assert research.rounds[0].settled == tuple(range(1, len(needs) + 1))
        assert research.rounds[0].tiers == {"plan": "model", "integrate": "model"}


def one_part_open(request: Request) -> dict[str, Any]:
    reply = both_settled(request)
    reply["claims"][1]["parts"] = ["N3", "none"]
    return reply


def one_quote_invented(request: Request) -> dict[str, Any]:
    reply = both_settled(request)
    reply["claims"].append(claim("Emil is tall.", "P1", "Emil is tall"))
    return reply


def test_a_question_is_reflected_on_where_anything_is_open(researcher: Researcher) -> None:
    no_quote = answered("Emil", claim("Emil did.", "P1", "no such words", "N1"))
    cases: list[tuple[list[str], Any]] = [
        (NEEDS, one_part_open), (NEEDS, one_quote_invented), ([], both_settled), (NEEDS[:1], by_emil),
        (NEEDS[:1], UNANSWERED), (NEEDS[:1], no_quote),
    ]  # fmt: skip
    for needs, reply in cases:
        user, server = researcher.follow(plan={**PLAN, "needs": needs}, integrate=reply)
        user.research(CHAINED, 1)
        assert agents(server) == THREE_CALLS, reply


def test_no_round_costs_more_than_three_calls_whatever_the_replies(researcher: Researcher) -> None:
    nonsense = {"nonsense": 1}
    user, server = researcher.follow(plan=nonsense, integrate=nonsense, reflect=nonsense)
    research = user.research(WIDE, 3, passages=2)
    assert len(research.rounds) > 1
    assert research.usage.calls == server.calls <= CALLS_A_ROUND * len(research.rounds)
    assert research.passages
    for words in ("the embedded engine did the work", "planner", "reflector"):
        assert any(words in line for line in research.degraded)
    missing = ["the same thing", "the same thing", " ", "x" * 5_000]
    user, server = researcher.follow(reflect={"enough": False, "missing": missing * 20})
    research = user.research(WRIST, 4, passages=1)
    assert (research.answer, len(research.rounds) <= 4, server.calls <= 4 * CALLS_A_ROUND) == ("Emil", True, True)
    assert all(len(need) <= 300 for each in research.rounds for need in each.missing)


def test_the_lower_tiers_cost_one_call_or_none_and_the_automatic_one_as_needed(researcher: Researcher) -> None:
    def run(request: Request) -> dict[str, Any]:
        passage = handle_of(request, "I ran a half marathon")
        return answered("no", claim("Nora ran a half marathon.", passage, "I ran a half marathon"))

    user, server = researcher.follow()
    assert user.research(WRIST, tier="one_shot").answer == "Emil"
    assert agents(server) == ["Integration"]
    assert user.research(WRIST, tier="recall").answerable
    research = user.research(WRIST, tier="auto")
    assert (research.tier, research.enough, agents(server)) == ("one_shot", True, ["Integration"] * 2)
    missing = {**UNANSWERED, "missing": ["a half marathon in Porto"]}
    _, server = researcher.follow(integrate=[missing, run])
    research = user.research("Was it in spring that Emil broke a bone?", tier="auto", passages=2)
    assert agents(server) == ["Integration", "Integration"]
    assert (research.tier, research.answer, len(research.rounds)) == ("deep", "no", 2)
    assert "a half marathon in Porto" in [request.query for request in research.rounds[1].plan.requests]
    _, server = researcher.follow(integrate=[UNANSWERED])
    assert not user.research("Was it in spring that Emil broke a bone?", tier="auto").answerable
    assert server.calls == 1
    _, server = researcher.follow(integrate=[missing])
    assert not user.research("Was it in spring that Emil broke a bone?", 2, tier="auto", passages=2).answerable
    assert server.calls == 2


def test_a_plan_is_bounded_and_what_it_cannot_name_is_left_out(researcher: Researcher) -> None:
    searches = [
        search("telepathy", "wrist"), search("page", "M77"), search("page", "page_of_somebody_else"),
        search("keyword", "  "), search("time", "spring"), search("time", "spring", since="the other day"),
        search("keyword", "glaciers"),
    ]  # fmt: skip
    user, _ = researcher.follow(plan={"needs": [], "searches": searches})
    research = user.research(WRIST, 1)
    requests = [(request.lane, request.query) for request in research.rounds[0].plan.requests]
    assert requests == [("vector", WRIST), ("keyword", WRIST), ("keyword", "glaciers")]
    assert any("glaciers" in passage.text for passage in research.passages)
    reported = " ".join(research.degraded)
    for words in (
        "1 searches named a tool that there is not",
        "2 searches named a page that there is not",
        "1 searches without a query",
        "2 searches by time named no time",
    ):
        assert words in reported
    user, _ = researcher.follow(plan={"needs": [], "searches": [search("keyword", f"query {n}") for n in range(200)]})
    research = user.research(WRIST, 1)
    assert len(research.rounds[0].plan.requests) == 2 + SEARCHES
    assert any("190 searches beyond 10" in line for line in research.degraded)


def test_a_search_by_labels_finds_labelled_steps_and_the_planner_sees_scopes_of_several(opened: Researcher) -> None:
    user, server = opened.follow(plan={"needs": [], "searches": [search("intent", "What happened on day 7?")]})
    (step_id,) = user.remember("On day 7 we saw a heron.", thread_id="birds").step_ids
    user.flush()
    user.labels.split(user.labels.of(step_id).intent.scope, [step_id], "Day 7")
    user.labels.pin("Day 7", pinned=False)
    research = user.research(WRIST, 1)
    (lane,) = [each for each in research.rounds[0].lanes if each.lane == "intent"]
    assert lane.found >= 1
    assert research.degraded == ()
    counts = {f"- {scope.path}": scope.steps for scope in user.labels.list("scope")}
    shown = block(server.requests[0].text, "labels")
    assert set(shown) == {path for path, count in counts.items() if count > 1}
    assert [counts[path] for path in shown] == sorted((counts[path] for path in shown), reverse=True)


def test_a_page_is_read_whole_once_and_quoted_by_step(researcher: Researcher) -> None:
    user = researcher.user
    page = next(each for each in user.pages() if each.closed)
    handle = next(memo.handle for memo in user.light_memory().memos if page.id in memo.page_ids)

    def integrate(request: Request) -> dict[str, Any]:
        passage = handle_of(request, "Nora and Theo")
        return answered("Bruno", claim("Bruno is a beagle.", passage, "my beagle is called Bruno"))

    researcher.follow(plan={"needs": [], "searches": [search("page", handle)]}, integrate=integrate, reflect=MORE)
    research = user.research("What is the beagle called that Nora has?", 2)
    assert [passage.id for passage in research.passages if passage.kind == "page"] == [page.id]
    (cited,) = [each for each in research.evidence if each.passage_id == page.id]
    assert user.get(cited.step_ids[0]).content.endswith("my beagle is called Bruno.")  # type: ignore[union-attr]
    assert any("pages that were read already" in line for line in research.degraded)


def test_a_second_round_plans_for_what_is_missing_and_shows_only_new_passages(researcher: Researcher) -> None:
    missing = "Theo's brother at the doctor's"
    user, server = researcher.follow(
        plan=[{"needs": [], "searches": [search("keyword", "wrist plaster")]}, PLAN],
        integrate={**UNANSWERED, "reason": "The passages tell of another arm."},
        reflect=[{"enough": False, "missing": [missing]}, ENOUGH],
    )
    research = user.research("What did Theo break?", 2, passages=4)
    assert agents(server) == [*THREE_CALLS, *THREE_CALLS]
    assert research.rounds[0].reason == "The passages tell of another arm."
    assert research.rounds[1].needs == (missing,)
    first, last = asked_of(server, "Reflection")
    asked = ["- the question itself", "- wrist plaster"]
    assert block(first, "asked") == asked
    assert block(first, "reason") == ["The passages tell of another arm."]
    assert "round 1 of at most 2; one is left" in first
    assert "round 2 of at most 2; none is left" in last
    _, plan = asked_of(server, "Plan")
    assert (block(plan, "asked"), block(plan, "needs")) == (asked, [f"- {missing}"])
    shown = [
        {line.split(" ", 1)[1] for line in text.split("The passages:")[1].splitlines() if line.startswith("P")}
        for text in asked_of(server, "Integration")
    ]
    assert shown[0]
    assert shown[1]
    assert not shown[0] & shown[1]
    # The second plan was empty: the embedded engine planned it.
    assert {request.query for request in research.rounds[1].plan.requests} == {missing}
    assert any("the embedded engine planned this round" in line for line in research.degraded)


def test_a_claim_whose_quote_is_invented_is_dropped_and_counted(researcher: Researcher) -> None:
    def integrate(request: Request) -> dict[str, Any]:
        good, passage = by_emil(request), handle_of(request, "Emil broke his wrist")
        bad = [
            claim("Emil broke his leg.", passage, "Emil broke his leg there"),
            claim("Emil broke his wrist.", "P99", "Emil broke his wrist there"),
            claim("Emil broke his wrist.", handle_of(request, "second cat"), "Emil broke his wrist there"),
            claim("It was so.", passage, " … "),
        ]
        shouted = claim("Emil broke it.", passage.lower(), "EMIL broke  his wrist")
        return {**good, "claims": [*bad, *good["claims"], shouted]}

    user, _ = researcher.follow(integrate=integrate)
    research = user.research(WRIST, 1)
    assert [each.quote for each in research.evidence] == ["Emil broke his wrist there", "Emil broke his wrist"]
    assert research.rounds[0].dropped == 4
    assert any("4 of 6 claims were dropped" in line for line in research.degraded)


def test_an_answer_that_rests_on_no_claim_is_not_given(researcher: Researcher) -> None:
    for reply in (UNANSWERED, answered("Ada", claim("It was Ada.", "P1", "Ada said so"))):
        user, _ = researcher.follow(integrate=reply)
        research = user.research("Which submarine did Theo buy?", 3)
        assert (research.answerable, research.answer, research.evidence) == (False, NOT_HELD, ())
        assert len(research.rounds) == 1
        assert any("the answer was dropped" in line for line in research.degraded) is bool(reply["answer"])


def test_what_no_model_answers_or_a_limit_leaves_is_done_by_the_embedded_engine(researcher: Researcher) -> None:
    too_long = "maximum context length is 4096 tokens"
    for reply in (
        Reply(status=400, error_code="context_length_exceeded", error=too_long),
        Reply(status=401, error_code="invalid_api_key", error="no"),
    ):
        user, server = researcher.follow(plan=reply, integrate=reply, reflect=reply)
        research = user.research(WRIST, 1)
        assert "Emil" in research.answer
        assert research.rounds[0].tiers == {"plan": "embedded", "integrate": "embedded", "reflect": "embedded"}
        assert {line.split(":")[0] for line in research.degraded} == {"planner", "integrator", "reflector"}
    user, server = researcher.follow(reflect=MORE)
    research = user.research(WRIST, 3, passages=2, calls=2)
    assert (server.calls, research.answer) == (2, "Emil")
    assert any("limit of 2 calls" in line for line in research.degraded)


def test_a_note_of_a_month_shows_no_day_to_the_model(opened: Researcher) -> None:
    nora, server = opened.follow()
    event = {"kind": "episodic", "summary": "Theo and Emil sailed to Skagen", "metadata": {"precision": "month"}}
    nora.add({**event, "occurred_at": "2024-08-01"})
    nora.research("When did Theo sail to Skagen?")
    assert "[2024-08] (episodic note) Theo and Emil sailed to Skagen" in asked_of(server, "Integration")[0]
