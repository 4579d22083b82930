"""Recall: filters cost no recall, every signal can win, reasons add up, times are honest, the order is fixed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from hexamem import STRATEGIES, Memory, Settings, UserMemory, Where
from hexamem.memory_types import Hit, MemoryItem, Recall, Step
from hexamem.models.tokens import count_tokens
from hexamem.retrieval.packing import with_attached
from hexamem.retrieval.signals.cues import OPERATIONS
from hexamem.retrieval.signals.features import SIGNAL_OF
from hexamem.stores.ledger.schema import recalls
from hexamem.stores.lexical import LexicalFilter

MANY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
PLACES = ["harbor", "garden", "library", "station", "market", "museum"]
THINGS = ["umbrella", "violin", "ladder", "kettle", "bicycle", "telescope", "suitcase"]
DEEDS = ["lost", "painted", "sold", "repaired", "borrowed"]
PEOPLE = ["Ada", "Boris", "Chen", "dora"]
KINDS = ["step", "semantic", "episodic", "core"]


@pytest.fixture
def memory(labelling_memory: Memory) -> Memory:
    """One for all tests, each with a user of its own."""
    return labelling_memory


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody new of one memory."""
    return labelled_newcomer


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    """1,200 steps and 120 items whose few words recur, so that a filter cuts through any ranking."""
    home = tmp_path_factory.mktemp("recall") / "home"
    with Memory.open(home, settings=Settings(background=False, mode="off")) as memory:
        user = memory.user("alice")
        draw = np.random.default_rng(5)
        step_ids: list[str] = []
        for thread in range(6):
            messages = [
                {
                    "role": "user",
                    "name": PEOPLE[int(draw.integers(4))],
                    "content": f"{draw.choice(DEEDS)} the {draw.choice(THINGS)} at the {draw.choice(PLACES)} {number}",
                    "timestamp": NOON + timedelta(hours=int(draw.integers(0, 2_000))),
                    "metadata": {"mood": int(draw.integers(3))},
                }
                for number in range(200)
            ]
            step_ids += user.remember(messages, f"thread {thread}", agent_id=f"agent {thread % 2}").step_ids
        for number in range(120):
            words = f"{draw.choice(DEEDS)} {draw.choice(THINGS)} {draw.choice(PLACES)}"
            common = {
                "labels": [f"label {number % 4}"],
                "metadata": {"mood": number % 3},
                "sources": [{"step_id": step_ids[int(draw.integers(len(step_ids)))]}],
                "valid_from": NOON + timedelta(hours=number * 10),
                "valid_to": None if number % 2 else NOON + timedelta(hours=number * 10 + 300),
            }
            match number % 3:
                case 0:
                    user.add({"kind": "semantic", "name": words, "summary": words, **common})
                case 1:
                    moment = NOON + timedelta(hours=number * 7)
                    user.add({"kind": "episodic", "summary": words, "occurred_at": moment, **common})
                case _:
                    user.add({"kind": "core", "label": "habit", "value": words, **common})
        user.flush()
        yield user


@pytest.fixture(scope="module")
def everything(corpus: UserMemory) -> list[Step | MemoryItem]:
    """All records of the corpus."""
    return [*corpus.steps(), *corpus.items(superseded=True)]


def searched(record: Step | MemoryItem) -> str:
    """The text that stands in the indexes."""
    if isinstance(record, Step):
        return f"{record.name}: {record.index_text}" if record.name else record.index_text
    return record.text


def allowed(
    everything: list[Step | MemoryItem], where: Where | None, kinds: list[str] | None, as_of: datetime | None
) -> dict[str, str]:
    """By brute force and by the words of the contract: id → text of everything that meets the filter."""
    steps = {record.id: record for record in everything if isinstance(record, Step)}

    def meets(record: Step | MemoryItem) -> bool:
        step = isinstance(record, Step)
        if kinds is not None and ("step" if step else record.kind) not in kinds:  # type: ignore[union-attr]
            return False
        if as_of is not None:
            if step:
                if record.occurred_at > as_of:  # type: ignore[union-attr]
                    return False
            elif (record.valid_from and as_of < record.valid_from) or (record.valid_to and as_of >= record.valid_to):  # type: ignore[union-attr]
                return False
        if where is None:
            return True
        came_from = [record] if step else [steps[source.step_id] for source in record.sources]  # type: ignore[union-attr]
        moment = record.occurred_at if step else getattr(record, "occurred_at", None) or record.valid_from  # type: ignore[union-attr]
        return (
            # An item comes from one step here, so "some step meets all of it" is "the step meets all of it".
            all(where.thread_id in (None, one.thread_id) for one in came_from)  # type: ignore[union-attr]
            and all(where.agent_id in (None, one.agent_id) for one in came_from)  # type: ignore[union-attr]
            and all(where.speaker is None or one.speaker.casefold() == where.speaker.casefold() for one in came_from)  # type: ignore[union-attr]
            and (where.since is None or moment >= where.since)
            and (where.until is None or moment <= where.until)
            and set(where.labels) <= set(() if step else record.labels)  # type: ignore[union-attr]
            and all(record.metadata.get(key) == value for key, value in where.metadata.items())
        )

    return {record.id: searched(record) for record in everything if meets(record)}


HOURS = st.integers(0, 2_000).map(lambda hours: NOON + timedelta(hours=hours))
FILTERS = st.builds(
    lambda fields: Where(**fields) if fields else None,
    st.fixed_dictionaries(
        {},
        optional={
            "thread_id": st.sampled_from([f"thread {number}" for number in range(7)]),
            "agent_id": st.sampled_from(["agent 0", "agent 1"]),
            "speaker": st.sampled_from(["Ada", "BORIS", "Dora"]),
            "since": HOURS,
            "labels": st.sampled_from([("label 1",), ("label 2",)]),
            "metadata": st.sampled_from([{"mood": 1}, {"mood": 2}, {"mood": 9}]),
        },
    ),
)
QUERIES = st.builds(
    " ".join,
    st.tuples(
        st.sampled_from(DEEDS),
        st.sampled_from(THINGS),
        st.sampled_from(["at the", "or", "from"]),
        st.sampled_from(PLACES),
    ),
)


FILTERED = given(
    query=QUERIES,
    where=FILTERS,
    kinds=st.one_of(st.none(), st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True)),
    as_of=st.one_of(st.none(), HOURS),
    k=st.sampled_from([1, 10, 40]),
)


def in_places_of_their_own(recall: Recall) -> list[Hit]:
    """The hits with those that share their places, best first."""
    return sorted(with_attached(recall.hits), key=lambda hit: -hit.score)


@MANY
@FILTERED
def test_a_filter_costs_no_recall_in_dense_search(
    query: str,
    where: Where | None,
    kinds: list[str] | None,
    as_of: datetime | None,
    k: int,
    corpus: UserMemory,
    everything: list[Step | MemoryItem],
) -> None:
    assume(where is not None or kinds is not None or as_of is not None)
    texts = allowed(everything, where, kinds, as_of)
    hits = in_places_of_their_own(corpus.recall(query, k, "dense", where=where, kinds=kinds, as_of=as_of))[:k]
    assert len(hits) == min(k, len(texts))
    if not texts:
        return
    vectors = corpus.memory.embedder.embed_documents(list(texts.values()))
    truth = dict(zip(texts, (vectors @ corpus.memory.embedder.embed_query(query)).tolist(), strict=True))
    best = sorted(truth.values(), reverse=True)[: len(hits)]
    assert {hit.id for hit in hits} <= truth.keys()
    np.testing.assert_allclose([truth[hit.id] for hit in hits], best, atol=2e-4)
    np.testing.assert_allclose([hit.score for hit in hits], best, atol=2e-3)


@MANY
@FILTERED
def test_a_filter_costs_no_recall_in_keyword_search(
    query: str,
    where: Where | None,
    kinds: list[str] | None,
    as_of: datetime | None,
    k: int,
    corpus: UserMemory,
    everything: list[Step | MemoryItem],
) -> None:
    texts = allowed(everything, where, kinds, as_of)
    hits = in_places_of_their_own(corpus.recall(query, k, "bm25", where=where, kinds=kinds, as_of=as_of))[:k]
    # All that the whole index has to say of the query, cut down to what is allowed.
    lexical = corpus.memory.lexical
    everything = lexical.search(corpus.key, query, 2_000)
    truth = {record_id: score for record_id, score in everything if record_id in texts}
    best = sorted(truth.values(), reverse=True)[:k]
    assert [round(hit.score, 4) for hit in hits] == [round(score, 4) for score in best]
    assert {hit.id for hit in hits} <= truth.keys()
    if texts:
        among = lexical.search(corpus.key, query, k, filters=LexicalFilter(ids=set(texts)))
        assert {hit.id for hit in hits if hit.score > best[-1] + 1e-4} == {
            record_id for record_id, score in among if score > best[-1] + 1e-4
        }


@MANY
@given(
    query=QUERIES,
    where=FILTERS,
    kinds=st.one_of(st.none(), st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True)),
    as_of=st.one_of(st.none(), HOURS),
    strategy=st.sampled_from(sorted(STRATEGIES)),
)
def test_every_strategy_returns_only_what_is_allowed_with_reasons_that_add_up(
    query: str,
    where: Where | None,
    kinds: list[str] | None,
    as_of: datetime | None,
    strategy: str,
    corpus: UserMemory,
    everything: list[Step | MemoryItem],
) -> None:
    texts = allowed(everything, where, kinds, as_of)
    recall = corpus.recall(query, 20, strategy, where=where, kinds=kinds, as_of=as_of, token_budget=120)
    assert {hit.id for hit in recall} <= texts.keys()
    assert len({hit.id for hit in recall}) == len(recall)
    scores = [hit.score for hit in recall]
    assert scores == sorted(scores, reverse=True)
    preset = STRATEGIES[strategy]
    allowed_signals = {*preset.signals, *(["neighbours"] if preset.neighbours else [])}
    allowed_signals |= {"labels", "votes"} if preset.density else set()
    allowed_signals |= {*SIGNAL_OF.values(), *OPERATIONS, "others"} if preset.learned else set()
    allowed_signals |= {"reranker"} if preset.rerank else set()
    for hit in recall:
        assert {signal.name for signal in hit.why} <= allowed_signals
        assert hit.why
        assert sum(signal.share for signal in hit.why) == pytest.approx(hit.score)
        assert [signal.share for signal in hit.why] == sorted((signal.share for signal in hit.why), reverse=True)
        assert hit.sources
    assert recall.tokens <= 120
    assert count_tokens(recall.text) <= 120
    if texts and strategy.startswith("rrf"):
        assert len(recall) == min(20, len(texts))
    again = corpus.recall(query, 20, strategy, where=where, kinds=kinds, as_of=as_of, token_budget=120)
    np.testing.assert_allclose([hit.score for hit in again], scores, atol=1e-6)
    # Of two records with the very same words the last bit decides, which an exact search does not promise.
    clear = [hit.id for hit in recall if sum(abs(hit.score - score) < 1e-5 for score in scores) == 1][:-1]
    assert [hit.id for hit in again if hit.id in clear] == clear


# -------------------------------------------------------------------------------------------------------------- signals


def _answer(
    patched: pytest.MonkeyPatch, memory: Memory, *, bm25: list[tuple[str, float]], dense: list[tuple[str, float]]
) -> None:
    """Let the two indexes find just this, among the steps."""
    patched.setattr(memory.lexical, "search", lambda *_, **__: bm25)
    patched.setattr(memory.vectors, "query", lambda key, part, *_: dense if part == "steps" else [])


def test_a_hit_that_only_one_signal_found_can_win(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = alice.remember([f"remark {number}" for number in range(150)]).step_ids
    alice.flush()
    lone = ids[7]
    for signal in ("bm25", "dense"):
        with monkeypatch.context() as patched:
            _answer(
                patched,
                memory,
                bm25=[(lone, 0.9)] if signal == "bm25" else [],
                dense=[(lone, 0.9)] if signal == "dense" else [],
            )
            hits = alice.recall("anything", strategy="rrf").hits
        assert [hit.id for hit in hits] == [lone]
        assert {reason.name for reason in hits[0].why} == {signal, "late"}
    # Among many that the other signal found, the first of one alone stands above the second of the other.
    with monkeypatch.context() as patched:
        others = [(record_id, 0.5) for record_id in ids if record_id != lone][:100]
        _answer(patched, memory, bm25=[(lone, 3.0)], dense=others)
        hits = alice.recall("remark 7", strategy="rrf", k=120).hits
    assert hits[0].id == lone
    assert len(hits) == 101


def test_the_reciprocal_ranks_of_all_signals_are_summed(alice: UserMemory) -> None:
    alice.remember(["the green parrot talks", "a parrot", "nothing of the kind", "green paint"])
    preset = STRATEGIES["rrf"]
    hits = alice.recall("green parrot", strategy="rrf").hits
    assert hits[0].text == "the green parrot talks"
    for hit in hits:
        for reason in hit.why:
            assert reason.rank is not None
            assert reason.share == pytest.approx(preset.signals[reason.name] / (preset.rrf_k + reason.rank))
    assert {reason.name for reason in hits[0].why} == {"dense", "bm25", "late"}


@pytest.mark.parametrize("base", ["rrf", "dense", "bm25"])
def test_a_neighbours_strategy_brings_the_step_beside(base: str, alice: UserMemory) -> None:
    filler = [f"weather report number {number}" for number in range(30)]
    alice.remember([*filler[:15], "which colour did the zeppelin get?", "Crimson.", *filler[15:]], "talk")
    alice.remember(filler, "other talk")
    plain = alice.recall("zeppelin colour", 3, base).hits
    wide = alice.recall("zeppelin colour", 3, f"{base}_neighbours").hits
    assert plain[0].text == wide[0].text == "which colour did the zeppelin get?"
    assert "Crimson." in [hit.text for hit in wide]
    beside = next(hit for hit in wide if hit.text == "Crimson.")
    assert "neighbours" in [reason.name for reason in beside.why]
    assert beside.thread_id == "talk"
    if base == "bm25":
        assert "Crimson." not in [hit.text for hit in plain]


def test_a_neighbour_is_no_further_than_two_turns_and_never_of_another_thread_or_forgotten(alice: UserMemory) -> None:
    ids = alice.remember(["one", "two", "three", "the zeppelin", "five", "six", "seven"], "talk").step_ids
    alice.remember(["elsewhere"], "other")
    found = [hit.text for hit in alice.recall("zeppelin", 50, "bm25_neighbours")]
    assert found[0] == "the zeppelin"
    assert sorted(found) == ["five", "six", "the zeppelin", "three", "two"]
    alice.forget([ids[4]])
    assert "five" not in [hit.text for hit in alice.recall("zeppelin", 50, "bm25_neighbours")]
    kept = alice.recall("zeppelin", 50, "bm25_neighbours", where={"thread_id": "other"})
    assert kept.hits == ()


def test_equal_scores_come_in_order_of_id_whatever_the_order_of_writing(alice: UserMemory) -> None:
    alice.remember(["the same words"] * 8)
    for strategy in ("dense", "bm25"):
        hits = alice.recall("same words", strategy=strategy).hits
        ranked = sorted(hits, key=lambda hit: (-hit.score, hit.id))
        assert [hit.id for hit in hits] == [hit.id for hit in ranked]


def test_the_indexes_answer_the_same_after_reopening(tmp_path: Any) -> None:
    def answers(user: UserMemory) -> list[list[tuple[str, float]]]:
        return [
            [(hit.id, round(hit.score, 5)) for hit in user.recall(query, 20, strategy)]
            for query in ("violin at the harbor", "sold", "nothing alike")
            for strategy in sorted(STRATEGIES)
        ]

    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        memory.user("alice").remember(
            [f"{deed} a {thing} at the {place}" for deed in DEEDS for thing in THINGS for place in PLACES]
        )
        before = answers(memory.user("alice"))
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        assert answers(memory.user("alice")) == before


# ---------------------------------------------------------------------------------------------------------- the packing


def test_the_text_is_packed_in_order_of_time_within_the_budget_by_the_best_hits(alice: UserMemory) -> None:
    alice.remember(
        [
            {"role": "user", "name": "Ada", "content": "the ferry leaves at nine", "timestamp": "2024-03-02 08:00"},
            {"role": "user", "name": "Bo", "content": "ferry tickets cost ten", "timestamp": "2024-03-01 08:00"},
            {"role": "assistant", "content": "unrelated gardening advice", "timestamp": "2024-03-03 08:00"},
        ]
    )
    whole = alice.recall("when does the ferry leave", strategy="rrf")
    assert whole.text.splitlines() == [
        "[2024-03-01 08:00] Bo: ferry tickets cost ten",
        "[2024-03-02 08:00] Ada: the ferry leaves at nine",
        "[2024-03-03 08:00] assistant: unrelated gardening advice",
    ]
    lines = {hit.text: count_tokens(line) + 1 for hit in whole for line in whole.text.splitlines() if hit.text in line}
    room = lines["the ferry leaves at nine"]
    tight = alice.recall("when does the ferry leave", strategy="rrf", token_budget=room)
    assert tight.text == "[2024-03-02 08:00] Ada: the ferry leaves at nine"
    assert tight.tokens == room
    assert len(tight.hits) == 3
    assert alice.recall("ferry", token_budget=1).text == ""


def test_the_text_shows_of_items_what_a_prompt_shows(alice: UserMemory) -> None:
    alice.add(
        {"kind": "semantic", "name": "ferry", "summary": "The ferry takes cars", "valid_from": "2024-03-01T08:00Z"}
    )
    event = {"kind": "episodic", "summary": "The ferry sank", "occurred_at": "2024-03-02", "event_type": "accident"}
    alice.add(event)
    alice.add({**event, "summary": "The ferry was raised", "occurred_at": "2024-04-02T15:30Z", "actor": "Bo"})
    assert alice.recall("ferry", strategy="rrf").text.splitlines() == [
        "[2024-03-01 08:00] (semantic) The ferry takes cars",
        "(episodic, on 2024-03-02) The ferry sank",
        "(episodic, on 2024-04-02 15:30) The ferry was raised (Bo)",
    ]


def test_a_step_and_an_item_learned_from_it_alone_take_one_place(alice: UserMemory) -> None:
    told = alice.remember(["Ina keeps bees in Malmö", "Bees are kept by Otto too", "Otto sells honey"]).step_ids
    sources = [{"step_id": told[0]}]
    one = alice.add({"kind": "semantic", "name": "Ina", "summary": "Ina keeps bees", "sources": sources}).id
    other = alice.add({"kind": "semantic", "name": "Ina", "summary": "Ina's bees are in Malmö", "sources": sources}).id
    both = [{"step_id": step} for step in told[:2]]
    joint = alice.add({"kind": "semantic", "name": "bees", "summary": "Ina and Otto keep bees", "sources": both}).id
    hits = alice.recall("Who keeps bees?", 10, "bm25").hits
    places = [{hit.id, *(attached.id for attached in hit.attached)} for hit in hits]
    [place] = [place for place in places if told[0] in place]
    assert place & {one, other}
    assert {joint} in places
    assert {told[1]} in places
    assert all(hit.score >= attached.score for hit in hits for attached in hit.attached)
    assert {one, other} <= set().union(*places)
    top = alice.recall("Who keeps bees?", 1, "bm25").hits
    assert len(top) == 1


@pytest.mark.parametrize(
    ("said", "fact", "event", "day"),
    [
        (
            "Ina's party is on 14 December",
            "Ina's party is on 14 December",
            "Ina's party is on 2026-12-14",
            "2026-12-14",
        ),
        ("我女儿的生日是12月14日。", "女儿的生日是12月14日", "我女儿的生日是2026-12-14", "2026-12-14"),
    ],
)
def test_the_text_says_once_what_a_step_and_its_items_say(
    said: str, fact: str, event: str, day: str, alice: UserMemory
) -> None:
    [step] = alice.remember(said).step_ids
    sources = [{"step_id": step}]
    alice.add({"kind": "semantic", "name": fact, "summary": fact, "sources": sources})
    alice.add({"kind": "episodic", "summary": event, "occurred_at": day, "event_type": "party", "sources": sources})
    whole = alice.recall(said, strategy="rrf")
    assert sum(1 + len(hit.attached) for hit in whole.hits) == 3
    assert len(whole.hits) < 3
    assert [line.partition("] ")[2] for line in whole.text.splitlines()] == [f"user: {said}", f"(episodic) {event}"]
    items = alice.recall(said, strategy="rrf", kinds=["episodic", "semantic"])
    assert [line.partition("] ")[2] for line in items.text.splitlines()] == [f"(episodic) {event}"]
    alice.add({"kind": "semantic", "name": fact, "summary": fact})  # cites nothing: it may be of another day
    assert fact in alice.recall(said, strategy="rrf", kinds=["episodic", "semantic"]).text


def test_an_item_takes_the_room_of_a_step_that_does_not_fit(alice: UserMemory) -> None:
    story = " ".join(f"and the {word} was there" for word in ("rope", "sail", "crew", "cook", "dog"))
    [step] = alice.remember(f"The ferry takes cars {story}").step_ids
    fact = {"kind": "semantic", "name": "ferry", "summary": "The ferry takes cars", "sources": [{"step_id": step}]}
    alice.add(fact)
    assert "(semantic)" not in alice.recall("ferry", strategy="rrf").text
    assert alice.recall("ferry", strategy="rrf", token_budget=30).text.endswith("(semantic) The ferry takes cars")


@MANY
@given(budget=st.integers(1, 400), query=QUERIES)
def test_the_text_never_costs_more_than_the_budget(budget: int, query: str, corpus: UserMemory) -> None:
    recall = corpus.recall(query, 30, token_budget=budget)
    assert recall.tokens <= budget
    assert count_tokens(recall.text) <= recall.tokens
    assert len(recall) == 30


# ------------------------------------------------------------------------------------------------- belief and valid time


@pytest.fixture
def moved(alice: UserMemory) -> tuple[UserMemory, MemoryItem, MemoryItem, list[datetime]]:
    """Alice's home: Berlin, then Lisbon; the moments before, between and after the two were believed."""
    moments = [datetime.now(UTC)]
    old = alice.add(
        {"kind": "semantic", "name": "home", "summary": "Alice lives in Berlin", "valid_from": "2020-01-01T00:00Z"}
    )
    moments.append(datetime.now(UTC))
    new = alice.add(
        {"kind": "semantic", "name": "home", "summary": "Alice lives in Lisbon", "valid_from": "2023-06-01T00:00Z"},
        supersedes=old.id,
    )
    moments.append(datetime.now(UTC))
    return alice, old, new, moments


@pytest.mark.parametrize("strategy", ["rrf", "dense", "bm25", "rrf_neighbours"])
def test_what_is_no_longer_believed_is_demoted_and_flagged(
    strategy: str, moved: tuple[UserMemory, MemoryItem, MemoryItem, list[datetime]]
) -> None:
    alice, old, new, _ = moved
    recall = alice.recall("where does Alice live", strategy=strategy)
    assert [hit.id for hit in recall] == [new.id, old.id]
    assert [hit.superseded for hit in recall] == [False, True]
    demoted = recall.hits[1]
    assert sum(reason.share for reason in demoted.why) == pytest.approx(demoted.score)
    assert "Alice lives in Berlin (no longer believed)" in recall.text
    assert "Alice lives in Lisbon (" not in recall.text
    if strategy in ("dense", "bm25"):  # whose scores do not depend on what else is found
        then = alice.recall("where does Alice live", strategy=strategy, as_of="2021-01-01").hits[0]
        assert then.id == old.id
        assert demoted.score == pytest.approx(STRATEGIES[strategy].superseded * then.score, rel=1e-4)


def test_as_of_asks_what_was_true_then(moved: tuple[UserMemory, MemoryItem, MemoryItem, list[datetime]]) -> None:
    alice, old, new, _ = moved
    for strategy in ("rrf", "dense", "bm25"):
        for as_of, expected in (
            ("2019-12-31", []),
            ("2020-01-01", [old.id]),
            ("2023-05-31", [old.id]),
            ("2023-06-01", [new.id]),
        ):
            hits = alice.recall("where does Alice live", strategy=strategy, as_of=as_of, kinds="semantic").hits
            assert [hit.id for hit in hits] == expected


def test_known_at_asks_what_was_believed_then(moved: tuple[UserMemory, MemoryItem, MemoryItem, list[datetime]]) -> None:
    alice, old, new, (before, between, after) = moved
    for strategy in ("rrf", "dense", "bm25"):
        for known_at, expected in ((before, []), (between, [old.id]), (after, [new.id])):
            hits = alice.recall("where does Alice live", strategy=strategy, known_at=known_at).hits
            assert [hit.id for hit in hits] == expected
    # Before Lisbon was known, Berlin was believed to hold on.
    hits = alice.recall("where does Alice live", known_at=between, as_of="2024-01-01").hits
    assert [hit.id for hit in hits] == [old.id]


def test_known_at_gives_an_edited_item_in_the_words_of_then(alice: UserMemory) -> None:
    item = alice.add({"kind": "semantic", "name": "boat", "summary": "the boat is called Albatross"})
    then = datetime.now(UTC)
    alice.edit(item.id, summary="the boat is called Kittiwake")
    for strategy in ("rrf", "dense"):
        former = alice.recall("what is the boat called", strategy=strategy, known_at=then).hits
        assert [hit.text for hit in former] == ["boat\nthe boat is called Albatross"]
        now = alice.recall("what is the boat called", strategy=strategy).hits
        assert [hit.text for hit in now] == ["boat\nthe boat is called Kittiwake"]
    alice.remove(item.id)
    assert alice.recall("boat").hits == ()
    assert [hit.text for hit in alice.recall("boat", known_at=then, strategy="dense")] == [
        "boat\nthe boat is called Albatross"
    ]


def test_steps_stored_later_were_not_known_and_forgotten_ones_stay_forgotten(alice: UserMemory) -> None:
    first = alice.remember("a heron by the pond").step_ids[0]
    then = datetime.now(UTC)
    alice.remember("a second heron")
    assert [hit.text for hit in alice.recall("heron", known_at=then)] == ["a heron by the pond"]
    alice.forget([first])
    assert alice.recall("heron", known_at=then).hits == ()
    assert [hit.text for hit in alice.recall("heron")] == ["a second heron"]


def test_an_undone_change_is_searched_in_its_former_words_again(alice: UserMemory) -> None:
    item = alice.add({"kind": "semantic", "name": "cat", "summary": "the cat is called Whiskers"})
    alice.edit(item.id, summary="the cat is called Mittens")
    assert [hit.id for hit in alice.recall("Mittens", strategy="bm25")] == [item.id]
    alice.undo(alice.history(item.id)[-1].id)
    assert alice.recall("Mittens", strategy="bm25").hits == ()
    assert [hit.text for hit in alice.recall("Whiskers", strategy="bm25")] == ["cat\nthe cat is called Whiskers"]


# -------------------------------------------------------------------------------------------------------------- secrets


def test_the_caption_of_a_secret_is_searched_its_reference_and_value_are_not(alice: UserMemory) -> None:
    # Long words only: the letters of an id are random, and may be those of a short one.
    receipt = alice.remember(["password: Tr0ub4dor&3zebra", "password reminder tomorrow", "gardening"])
    reference = receipt.secrets[0]
    secret_id = reference.removeprefix("{{vault:").split("|")[0]
    for lost in ("Tr0ub4dor&3zebra", "Tr0ub4dor", secret_id, secret_id.split("_")[1]):
        assert alice.recall(lost, strategy="bm25").hits == ()
    caption = reference.removesuffix("}}").split("|")[1]
    found = alice.recall(caption, strategy="bm25", kinds="step").hits
    assert receipt.step_ids[0] in [hit.id for hit in found]
    vault = alice.recall(caption, strategy="bm25", kinds="vault").hits
    assert [hit.kind for hit in vault] == ["vault"]
    with alice.memory.ledger.read(alice.name) as tx:
        assert "Tr0ub4dor" not in repr(tx.connection.exec_driver_sql("select * from recalls").all())


def test_recalls_whose_writing_was_broken_off_after_the_commit_are_noted_once(
    alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember("I live in Ghent.")
    found = alice.recall("Where do I live?")
    write = alice.memory.ledger.write

    @contextmanager
    def broken_off(*args: Any, **more: Any) -> Iterator[Any]:
        with write(*args, **more) as tx:
            yield tx
        raise KeyboardInterrupt

    monkeypatch.setattr(alice.memory.ledger, "write", broken_off)
    with pytest.raises(KeyboardInterrupt):
        alice.write_recalls()
    monkeypatch.undo()
    alice.write_recalls()
    with alice.memory.ledger.read(alice.name) as tx:
        noted = select(recalls.c.id).where(recalls.c.user_id == tx.user_id)
        assert tx.connection.execute(noted).all() == [(found.id,)]


def test_a_question_that_holds_a_secret_is_noted_without_it(tmp_path: Any) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False, recall_log=1)) as memory:
        alice = memory.user("alice")
        alice.remember("something")
        alice.recall("where do I use the password: hunter2Xy!99")
        with memory.ledger.read("alice") as tx:
            noted = repr(tx.connection.exec_driver_sql("select query from recalls").all())
    assert "where do I use" in noted
    assert "hunter2Xy" not in noted


def test_an_item_bears_the_time_at_which_it_was_last_said(memory: Memory, alice: UserMemory) -> None:
    first, again = (
        alice.remember({"role": "user", "content": "The kiln is in the shed.", "timestamp": f"{year}-06-01T10:00Z"})
        for year in (2019, 2021)
    )
    sources = [{"step_id": one} for one in (*first.step_ids, *again.step_ids)]
    about: dict[str, dict[str, Any]] = {
        "told": {"sources": sources},
        "dated": {"sources": sources, "valid_from": "2018-01-01"},
        "written": {},
    }
    made = {
        alice.add({"kind": "semantic", "name": name, "summary": "The kiln stands there.", **more}).id: name
        for name, more in about.items()
    }
    for strategy in ("rrf", "learned"):
        found = alice.recall("kiln", strategy=strategy, kinds="semantic")
        times = {made[hit.id]: hit.occurred_at for hit in found.hits}
        assert times["told"] == datetime(2021, 6, 1, 10, tzinfo=UTC)
        assert times["dated"] == datetime(2018, 1, 1, tzinfo=UTC)
        assert times["written"] == next(one.created_at for one in alice.items() if made[one.id] == "written")
        assert found.text.splitlines()[:2] == [
            "[2021-06-01 10:00] (semantic, from 2018-01-01) dated / The kiln stands there.",
            "[2021-06-01 10:00] (semantic) told / The kiln stands there.",
        ]
    alice.forget(again.step_ids)
    told = next(hit for hit in alice.recall("kiln", kinds="semantic") if made[hit.id] == "told")
    assert told.occurred_at == datetime(2019, 6, 1, 10, tzinfo=UTC)
