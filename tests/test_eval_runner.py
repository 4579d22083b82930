"""The runner and the report, against a memory in a dictionary whose every strategy has a known score."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import pytest
from rich.console import Console

from hexamem.errors import InvalidInputError
from hexamem.evals import Conversation, EvalMessage, Question, compare, evaluate, print_report, ranked_turns, write_json

PROMISED_KEYS = {
    "dataset",
    "strategy",
    "embedder",
    "weights",
    "model",
    "n_conversations",
    "n_steps",
    "n_questions",
    "recall",
    "ndcg",
    "latency_ms",
    "ingest_steps_per_s",
    "llm_calls",
    "llm_tokens",
    "scope",
    "events",
}


@dataclass
class Source:
    step_id: str


@dataclass
class Hit:
    id: str
    kind: str
    score: float = 0.0
    sources: tuple[Source, ...] = ()
    text: str = ""


@dataclass
class Recall:
    hits: list[Hit]
    degraded: tuple[str, ...] = ()
    text: str = ""


@dataclass
class Receipt:
    step_ids: list[str]
    degraded: tuple[str, ...] = ()


@dataclass
class FakeUser:
    """Recalls by rule: ``newest`` / ``oldest`` steps first, ``items`` citing two steps each, ``nothing``."""

    name: str
    steps: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    flushed_at: int = -1
    ids_a_message: int = 1

    def remember(self, messages: list[dict[str, Any]], *, thread_id: str) -> Receipt:
        new = [f"{self.name}/{len(self.steps) + i}" for i in range(len(messages))]
        self.steps += zip(new, [thread_id] * len(new), messages, strict=True)
        return Receipt(new * self.ids_a_message)

    def flush(self) -> None:
        self.flushed_at = len(self.steps)

    def recall(self, query: str, *, k: int, strategy: str) -> Recall:
        self.asked.append((strategy, query, k))
        ids = [step_id for step_id, _, _ in self.steps]
        match strategy:
            case "newest":
                return Recall([Hit(step_id, "step") for step_id in reversed(ids)][:k])
            case "oldest":
                return Recall([Hit(step_id, "step") for step_id in ids][:k])
            case "items":
                pairs = [tuple(Source(step_id) for step_id in ids[i : i + 2]) for i in range(0, len(ids), 2)]
                return Recall([Hit(f"item-{i}", "semantic", sources=pair) for i, pair in enumerate(pairs)][:k])
            case _:
                return Recall([], ("index was missing",))


@dataclass
class FakeMemory:
    users: dict[str, FakeUser] = field(default_factory=dict)
    opened: int = 0
    closed: int = 0

    def __enter__(self) -> Self:
        self.opened += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed += 1

    def user(self, user_id: str) -> FakeUser:
        return self.users.setdefault(user_id, FakeUser(user_id))


def talk(name: str, evidence: Sequence[tuple[str, Sequence[str]]], *, dataset: Any = "locomo") -> Conversation:
    """Four turns a, b | c, d in two sessions, and a question for each (category, evidence)."""
    return Conversation(
        id=name,
        messages=tuple(
            EvalMessage(turn, "user", "Ada", f"words of {turn}", None, "2024-01-01T00:00:00", thread)
            for turn, thread in (("a", "session_1"), ("b", "session_1"), ("c", "session_2"), ("d", "session_2"))
        ),
        questions=tuple(
            Question(f"{name}-q{n}", f"question {n}?", "answer", category, tuple(gold))
            for n, (category, gold) in enumerate(evidence, start=1)
        ),
        notes=("one thing left out",) if name == "noted" else (),
        dataset=dataset,
    )


TALKS = [talk("one", [("1", ["a"]), ("5", ["d"]), ("4", [])]), talk("noted", [("2", ["a", "d"])])]


@pytest.fixture
def memory() -> FakeMemory:
    return FakeMemory()


@pytest.fixture
def factory(memory: FakeMemory) -> Callable[[], FakeMemory]:
    return lambda: memory


def test_each_strategy_gives_one_object_with_the_keys_of_the_design(factory: Callable[[], FakeMemory]) -> None:
    results = evaluate(factory, TALKS, ["oldest", "newest"], (1, 2))
    assert [result["strategy"] for result in results] == ["oldest", "newest"]
    for result in results:
        assert result.keys() >= PROMISED_KEYS | {"all_at_k", "any_at_k", "skipped_questions"}
        assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_scores_are_those_of_the_ranking(factory: Callable[[], FakeMemory]) -> None:
    oldest, newest = evaluate(factory, TALKS, ["oldest", "newest"], (1, 4))
    assert oldest["recall"] == {
        "all": {"1": pytest.approx(0.5), "4": 1.0},
        "1-4": {"1": pytest.approx(0.75), "4": 1.0},
        "1": {"1": 1.0, "4": 1.0},
        "2": {"1": 0.5, "4": 1.0},
        "5": {"1": 0.0, "4": 1.0},
    }
    assert oldest["all_at_k"]["1-4"] == {"1": 0.5, "4": 1.0}
    assert oldest["any_at_k"]["1-4"] == {"1": 1.0, "4": 1.0}
    assert oldest["ndcg"]["1"]["1"] == 1.0
    assert newest["recall"]["5"] == {"1": 1.0, "4": 1.0}


def test_an_item_counts_as_the_turns_it_cites(factory: Callable[[], FakeMemory]) -> None:
    (items,) = evaluate(factory, TALKS, ["items"], (1, 2, 4))
    assert items["recall"]["5"] == {"1": 0.0, "2": 0.0, "4": 1.0}
    assert items["recall"]["1"] == {"1": 1.0, "2": 1.0, "4": 1.0}


def test_turns_are_ranked_once_each_in_the_order_of_hits_and_of_their_sources() -> None:
    hits = [
        Hit("s2", "step"),
        Hit("i", "semantic", sources=(Source("s1"), Source("s2"), Source("s3"))),
        Hit("bare", "core"),
        Hit("s9", "step"),
        Hit("s1", "step"),
    ]
    assert ranked_turns(hits, {"s1": "a", "s2": "b", "s3": "c"}) == ["b", "a", "c", "unknown:s9"]


def test_every_conversation_is_a_user_of_its_own_stored_session_by_session_and_flushed(
    memory: FakeMemory, factory: Callable[[], FakeMemory]
) -> None:
    evaluate(factory, TALKS, ["oldest"], (1,))
    assert list(memory.users) == ["one", "noted"]
    user = memory.users["one"]
    assert [thread for _, thread, _ in user.steps] == ["session_1", "session_1", "session_2", "session_2"]
    assert user.steps[0][2] == TALKS[0].messages[0].as_message()
    assert user.flushed_at == 4
    assert (memory.opened, memory.closed) == (1, 1)


def test_a_thread_taken_up_again_is_stored_in_the_order_it_was_held(
    memory: FakeMemory, factory: Callable[[], FakeMemory]
) -> None:
    messages = tuple(EvalMessage(f"t{n}", "user", None, "x", thread_id=thread) for n, thread in enumerate("ABA"))
    evaluate(factory, [Conversation("c", messages, (Question("q", "?", "", "1", ("t2",)),))], ["oldest"], (3,))
    assert [(thread, m["id"]) for _, thread, m in memory.users["c"].steps] == [("A", "t0"), ("B", "t1"), ("A", "t2")]


def test_recall_is_asked_for_the_largest_k_after_three_calls_in_other_words(
    memory: FakeMemory, factory: Callable[[], FakeMemory]
) -> None:
    evaluate(factory, TALKS[:1], ["oldest"], (5, 40, 10))
    asked = memory.users["one"].asked
    assert {k for _, _, k in asked} == {40}
    assert [query for _, query, _ in asked[3:]] == ["question 1?", "question 2?"]
    assert not {query for _, query, _ in asked[:3]} & {question.text for question in TALKS[0].questions}


def test_questions_without_evidence_are_counted_and_not_asked(
    memory: FakeMemory, factory: Callable[[], FakeMemory]
) -> None:
    (result,) = evaluate(factory, TALKS, ["oldest"], (1,))
    assert (result["n_questions"], result["skipped_questions"]) == (3, 1)
    assert result["counts"] == {"all": 3, "1-4": 2, "1": 1, "2": 1, "5": 1}
    assert (result["n_conversations"], result["n_steps"]) == (2, 8)
    assert "question 3?" not in [query for _, query, _ in memory.users["one"].asked]


def test_what_fell_back_and_what_was_left_out_stands_in_the_result(factory: Callable[[], FakeMemory]) -> None:
    (result,) = evaluate(factory, TALKS, ["nothing"], (1,))
    assert result["degraded"] == {"index was missing": 3}
    assert result["notes"] == ["noted: one thing left out"]
    assert result["recall"]["all"] == {"1": 0.0}


def test_names_are_passed_on_and_what_does_not_apply_is_null(factory: Callable[[], FakeMemory]) -> None:
    (result,) = evaluate(factory, TALKS, ["oldest"], (1,), embedder="bundled", weights="w.json")
    assert (result["dataset"], result["embedder"], result["weights"]) == ("locomo", "bundled", "w.json")
    assert (result["model"], result["llm_calls"], result["llm_tokens"]) == (None, 0, 0)
    assert (result["scope"], result["events"], result["session_recall"]) == (None, None, None)


def test_calls_of_a_model_are_the_growth_of_the_usage_given_and_unknown_without(
    factory: Callable[[], FakeMemory],
) -> None:
    growing = iter([(5, 100), (8, 250)])
    (counted,) = evaluate(factory, TALKS, ["oldest"], (1,), model="m", usage=lambda: next(growing))
    assert (counted["llm_calls"], counted["llm_tokens"]) == (3, 150)
    (unknown,) = evaluate(FakeMemory, TALKS, ["oldest"], (1,), model="m")
    assert (unknown["llm_calls"], unknown["llm_tokens"]) == (None, None)


def test_the_range_of_locomo_is_null_for_other_data(factory: Callable[[], FakeMemory]) -> None:
    (result,) = evaluate(factory, [talk("x", [("type 3", ["a"])], dataset="came")], ["oldest"], (1,))
    assert result["recall"] == {"all": {"1": 1.0}, "type 3": {"1": 1.0}, "1-4": None}


def test_sessions_are_scored_where_the_data_names_them(factory: Callable[[], FakeMemory]) -> None:
    base = talk("x", [], dataset="longmemeval")
    question = Question("q", "?", "", "multi", ("b", "d"), evidence_threads=("session_1", "session_2"))
    conversation = Conversation("x", base.messages, (question,), dataset="longmemeval")
    (result,) = evaluate(factory, [conversation], ["oldest"], (1, 2, 3))
    assert result["session_recall"]["all"] == {"1": 0.5, "2": 0.5, "3": 1.0}
    assert result["recall"]["all"] == {"1": 0.0, "2": 0.5, "3": 0.5}


def test_progress_counts_every_session_and_question_up_to_the_total(factory: Callable[[], FakeMemory]) -> None:
    seen: list[tuple[str, int, int]] = []
    evaluate(factory, TALKS, ["oldest", "newest"], (1,), progress=lambda *step: seen.append(step))
    assert [done for _, done, _ in seen] == list(range(1, 11))
    assert {total for _, _, total in seen} == {10}
    assert seen[0][0] == "store one"
    assert seen[-1][0] == "newest on noted"


@pytest.mark.parametrize(
    ("conversations", "strategies", "message"),
    [
        (TALKS, [], "give a list of names"),
        (TALKS, "rrf", "give a list of names"),
        (TALKS, ["rrf", "rrf"], "each once"),
        ([TALKS[0], TALKS[0]], ["rrf"], "conversation id 'one' occurs twice"),
        ([talk("x", [("1", [])])], ["rrf"], "nothing to score"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_a_memory_is_opened(
    memory: FakeMemory, factory: Callable[[], FakeMemory], conversations: Any, strategies: Any, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        evaluate(factory, conversations, strategies)
    assert memory.opened == 0


def test_a_receipt_without_one_id_a_message_is_refused_and_the_memory_closed(
    memory: FakeMemory, factory: Callable[[], FakeMemory]
) -> None:
    memory.users["one"] = FakeUser("one", ids_a_message=2)
    with pytest.raises(InvalidInputError, match="remember gave 4 step ids for 2 messages"):
        evaluate(factory, TALKS, ["oldest"])
    assert memory.closed == 1


def test_two_strategies_are_compared_over_the_conversations_weighted_by_their_questions(
    factory: Callable[[], FakeMemory],
) -> None:
    oldest, newest = evaluate(factory, TALKS, ["oldest", "newest"], (1, 4))
    # Category 1-4: conversation one has recall@1 1 against 0, noted 0.5 against 0.5, one question each.
    found = compare(oldest, newest, k=1, group="1-4")
    assert (found.mean, found.n) == (0.5, 2)
    assert (found.low, found.high) == (0.0, 1.0)
    # All: conversation one has two questions, 0.5 against 0.5.
    assert compare(oldest, newest, k=1).mean == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 7}, "recall at 7 was not measured"),
        ({"k": 1, "metric": "mrr"}, "mrr at 1 was not measured"),
        ({"k": 1, "group": "9"}, "group '9' has no questions"),
    ],
)
def test_comparing_what_was_not_measured_is_refused(
    factory: Callable[[], FakeMemory], options: dict[str, Any], message: str
) -> None:
    one, other = evaluate(factory, TALKS, ["oldest", "newest"], (1,))
    with pytest.raises(InvalidInputError, match=message):
        compare(one, other, **options)


def test_comparing_different_conversations_is_refused() -> None:
    (one,) = evaluate(FakeMemory, TALKS, ["oldest"], (1,))
    (other,) = evaluate(FakeMemory, TALKS[:1], ["oldest"], (1,))
    with pytest.raises(InvalidInputError, match=r"conversations differ: \['noted'\]"):
        compare(one, other, k=1)


def printed(results: list[dict[str, Any]]) -> str:
    console = Console(file=io.StringIO(), width=160, color_system=None)
    print_report(results, console)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_report_shows_scores_by_strategy_and_category_and_what_was_not_scored() -> None:
    text = printed(evaluate(FakeMemory, TALKS, ["oldest", "nothing"], (1, 4)))
    rows = [line.split() for line in text.splitlines()]
    assert "locomo: categories 1-4, 2 questions, 8 steps" in text
    assert ["│", "oldest", "│", "0.750", "│", "1.000"] in [row[:6] for row in rows]
    assert "5 (1)" in text
    assert "recall@4 against oldest" in text
    assert "1 question(s) without usable evidence: not scored" in text
    assert "note: noted: one thing left out" in text
    assert "degraded, nothing: index was missing (3×)" in text


def test_the_report_keeps_its_headings_whole_on_a_narrow_terminal() -> None:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    print_report(evaluate(FakeMemory, TALKS, ["oldest"]), console)
    assert "…" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_the_report_of_one_conversation_gives_no_interval_over_conversations() -> None:
    text = printed(evaluate(FakeMemory, TALKS[:1], ["oldest", "newest"], (1,)))
    assert "oldest" in text
    assert "bootstrap" not in text


def test_the_report_goes_to_standard_error_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(evaluate(FakeMemory, TALKS, ["oldest"], (1,)))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "oldest" in captured.err


def test_words_in_brackets_are_printed_and_not_taken_for_markup() -> None:
    conversation = Conversation("c", TALKS[0].messages, TALKS[0].questions, ("[red]left out[/red]",), dataset="locomo")
    assert "note: c: [red]left out[/red]" in printed(evaluate(FakeMemory, [conversation], ["oldest"], (1,)))


def test_a_report_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no results"):
        print_report([])


def test_the_json_file_holds_the_list_of_results(tmp_path: Path) -> None:
    results = evaluate(FakeMemory, TALKS, ["oldest", "newest"], (1, 4))
    write_json(results, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == results


class Researcher(FakeUser):
    """Research that reads the last step and would read the first one next."""

    def research(self, question: str, max_rounds: int, *, form: str) -> Any:
        ids = [step_id for step_id, _, _ in self.steps]
        self.asked.append(("research", question, max_rounds))
        read, further = Hit(ids[-1], "step"), Hit(ids[0], "step")
        return SimpleNamespace(
            context="",
            passages=(read,),
            hits=(read, further),
            answer="",
            answerable=False,
            usage=SimpleNamespace(calls=3, input_tokens=40, output_tokens=10),
            degraded=("no plan",),
        )


def test_research_is_measured_beside_rankings_without_warming_up() -> None:
    memory = FakeMemory({"one": Researcher("one")})
    research, oldest = evaluate(lambda: memory, TALKS[:1], ["research", "oldest"], (1, 2), rounds=4)
    assert research["recall"]["5"] == {"1": 1.0, "2": 1.0}
    assert research["recall"]["1"] == {"1": 0.0, "2": 1.0}
    assert (research["llm_calls"], research["llm_tokens"], research["degraded"]) == (6, 100, {"no plan": 2})
    assert (oldest["llm_calls"], oldest["llm_tokens"]) == (0, 0)
    assert memory.users["one"].asked[:2] == [("research", "question 1?", 4), ("research", "question 2?", 4)]
