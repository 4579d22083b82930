"""Pages: lossless views on threads, with headers and memos; found, folded, and rewritten when words are taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import settings as with_settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.agents.light_memory import light_memory
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.intent.page_bounds import BoundStep, PageLimits, cut_pages
from hexamem.intent.page_memos import MemoStep, page_memo
from hexamem.memory_types.page import LightMemory
from hexamem.models.tokens import count_tokens
from hexamem.stores.ledger import thread_steps, user_key
from hexamem.stores.ledger.pages import PageRow, page_steps, read_pages
from hexamem.stores.lexical.records import EXACT, STEMMED, open_index

from .ledger_databases import each_memory, each_user, new_database  # noqa: F401 - fixtures
from .manager_script import answer
from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401

Traces = Callable[..., list[str]]
NOON = datetime(2025, 3, 4, 12, tzinfo=UTC)
CANARY = "zanzibarquokka"


def talk(*texts: str, start: datetime = NOON, minutes: int = 2, **more: Any) -> list[dict[str, Any]]:
    """Messages of two people, in turn."""
    return [
        {
            "role": "user",
            "name": ("Ann", "Ben")[number % 2],
            "content": text,
            "timestamp": (start + timedelta(minutes=minutes * number)).isoformat(),
            **more,
        }
        for number, text in enumerate(texts)
    ]


def chatter(count: int, about: str = "the garden", start: datetime = NOON) -> list[dict[str, Any]]:
    return talk(
        *(f"We dug bed {number} of {about} on Monday and planted beans." for number in range(count)), start=start
    )


def small(home: Path, **changes: Any) -> Memory:
    settings = {"background": False, "page_steps": 4, **changes}
    return Memory.open(home, embedder="static", settings=Settings(**settings))


# -- where pages end --------------------------------------------------------------------------------------------------


bound_steps = st.lists(
    st.builds(
        lambda tokens, hours: (tokens, hours),
        st.integers(1, 60),
        st.sampled_from([0, 0, 0, 0, 0, 7, -9]),
    ),
    max_size=60,
)


def bounds(rows: list[tuple[int, int]]) -> list[BoundStep]:
    found, moment = [], NOON
    for tokens, hours in rows:
        moment += timedelta(hours=hours, minutes=1)
        found.append(BoundStep(tokens, moment))
    return found


@given(bound_steps, st.integers(1, 9), st.integers(10, 200), st.integers(1, 7))
def test_every_step_lies_in_one_page_of_which_only_the_last_is_open_however_the_thread_came(
    rows: list[tuple[int, int]], most: int, tokens: int, piece: int
) -> None:
    steps, limits = bounds(rows), PageLimits(steps=most, tokens=tokens)
    cuts = cut_pages(steps, limits)
    assert [at for cut in cuts for at in range(cut.start, cut.end)] == list(range(len(steps)))
    assert [cut.closed for cut in cuts] == [True] * (len(cuts) - 1) + [False] * bool(cuts)
    for cut in cuts:
        inside = steps[cut.start : cut.end]
        assert len(inside) <= most
        assert len(inside) == 1 or sum(step.tokens for step in inside) <= tokens
        pauses = [abs(b.occurred_at - a.occurred_at) for a, b in pairwise(inside)]
        assert all(pause <= timedelta(hours=6) for pause in pauses)
    closed, start, session = [], 0, 1
    for reached in range(piece, len(steps) + piece, piece):
        for cut in cut_pages(steps[start:reached], limits, session):
            if cut.closed:
                closed.append((start + cut.start, start + cut.end, cut.session))
            else:
                opened, session = start + cut.start, cut.session
        start = opened
    assert closed == [(cut.start, cut.end, cut.session) for cut in cuts if cut.closed]


def test_the_sessions_of_the_host_go_before_pauses() -> None:
    same = [BoundStep(1, NOON, marker="1"), BoundStep(1, NOON + timedelta(hours=9), marker="1")]
    other = [BoundStep(1, NOON, marker="1"), BoundStep(1, NOON, marker="2")]
    assert [[cut.session for cut in cut_pages(steps, PageLimits())] for steps in (same, other)] == [[1], [1, 2]]


# -- lossless ---------------------------------------------------------------------------------------------------------


writes = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.integers(1, 6), st.integers(0, 9), st.booleans(), st.booleans()),
    min_size=1,
    max_size=8,
)
_numbers = iter(range(1_000_000))


@with_settings(max_examples=20, deadline=None)
@given(writes)
def test_pages_joined_give_back_the_steps_of_their_thread(
    each_memory: Memory,  # noqa: F811
    written: list[tuple[str, int, int, bool, bool]],
) -> None:
    user = each_memory.user(f"lossless {next(_numbers)}")
    moment, held = NOON, []
    for thread, count, hours, cut, forget in written:
        moment += timedelta(hours=hours)
        held += user.remember(chatter(count, start=moment), thread_id=thread).step_ids
        if forget:
            user.forget([held.pop(len(held) // 2)])
        if cut:
            each_memory.paging.cut(user.name)
    each_memory.paging.cut(user.name)
    with each_memory.ledger.read(user.name) as tx:
        for thread in ("a", "b"):
            pages = read_pages(tx, thread)
            assert all(page.closed for page in pages[:-1])
            held_by = page_steps(tx, pages)
            assert [step.id for page in pages for step in held_by[page.id]] == [
                one.id for one in thread_steps(tx, thread)
            ]
            assert [page.first_turn for page in pages[1:]] == [page.last_turn + 1 for page in pages[:-1]]


def test_a_page_shows_its_steps_word_for_word_and_a_closed_one_stays_while_the_thread_grows(tmp_path: Path) -> None:
    with small(tmp_path) as memory:
        alice = memory.user("alice")
        alice.remember(talk("One  two,\nthree.", "Vier", "五，六", "Fünf", "7\t", "eight"))
        first, growing = alice.pages()
        assert (first.closed, growing.closed, len(growing.step_ids)) == (True, False, 2)
        assert [step for page in (first, growing) for step in alice.page(page.id).steps] == alice.steps()
        assert alice.page(growing.step_ids[1]).step_ids == growing.step_ids
        assert "Ann: 五，六" in alice.page(first.id).text
        scope = first.scope
        assert scope is not None
        assert first in alice.pages(scope=scope)
        with pytest.raises(NotFoundError):
            alice.pages(scope="no such scope")
        alice.remember(chatter(5, "the roof"))
        pages = alice.pages()
        assert (pages[0], pages[1].id) == (first, growing.id)
        assert [len(page.step_ids) for page in pages] == [4, 4, 3]
        bob = memory.user("bob")
        assert (bob.pages(), bob.light_memory().memos, bob.search_pages("anything")) == ([], (), [])
        for user, page_id in ((bob, first.id), (alice, "page_x")):
            with pytest.raises(NotFoundError, match="pages list"):
                user.page(page_id)


def test_a_thread_that_rests_is_closed_when_the_user_has_moved_on(alice: UserMemory) -> None:
    alice.remember(chatter(3), thread_id="one")
    alice.pages()
    assert [page.closed for page in alice.pages()] == [False]
    alice.remember(chatter(1, start=NOON + timedelta(days=2)), thread_id="two")
    assert [page.closed for page in alice.pages()] == [True, False]
    alice.remember(chatter(1, start=NOON + timedelta(days=3)), thread_id="one")
    assert [(page.session, page.closed) for page in alice.pages("one")] == [(1, True), (2, False)]


# -- headers and memos ------------------------------------------------------------------------------------------------


def said(*texts: str, at: datetime = NOON) -> list[MemoStep]:
    return [
        MemoStep(speaker=("Ann", "Ben")[n % 2], role="user", text=text, occurred_at=at) for n, text in enumerate(texts)
    ]


def test_a_memo_has_the_first_sentence_of_each_turn_and_where_it_is_full_those_of_users() -> None:
    memo = page_memo(
        said("Hey Ben, I moved to Porto. It costs a lot.", "Congratulations on the flat!", "We marry in June.")
    )
    assert memo == "Ann: Hey Ben, I moved to Porto · Ben: Congratulations on the flat! · Ann: We marry in June"
    assert page_memo(said("我上周六搬到上海了。房租很贵。")) == "Ann：我上周六搬到上海了"
    steps = [
        MemoStep(speaker=role, role=role, text=f"{role} turn {number} " + "word " * 10, occurred_at=NOON)
        for number in range(20)
        for role in ("assistant", "user")
    ]
    assert "user turn 5" in page_memo(steps)
    assert "assistant" not in page_memo(steps)


def test_a_header_shows_who_when_and_what_came_before_and_no_secret(tmp_path: Path) -> None:
    with small(tmp_path) as memory:
        alice = memory.user("alice")
        texts = ("I bought a kayak for 400 euros.", "My password for the bank is hunter2x9.", "It is red.", "Good.")
        alice.remember(talk(*texts, "When do we go?", "Soon."))
        first, second = alice.pages()
        assert second.header.startswith("Ann and Ben, 2025-03-04 12:08–12:10")
        assert "Before (2025-03-04): Ann: I bought a kayak for 400 euros" in second.header
        assert "password" in first.memo
        assert not any(word in first.header + first.memo for word in ("hunter2x9", "{{vault"))


# -- finding ----------------------------------------------------------------------------------------------------------


def test_pages_are_found_by_meaning_words_and_conditions_open_ones_too_and_recall_does_not_change(
    tmp_path: Path,
) -> None:
    with small(tmp_path) as memory:
        user = memory.user("alice")
        user.remember(chatter(4), thread_id="garden")
        texts = ("The roof of the shed leaks.", "A roofer comes for 300 euros.", "Fine.", "On Friday.")
        user.remember(talk(*texts), thread_id="roof")
        user.remember(chatter(1, start=NOON + timedelta(days=30)), thread_id="later")
        before = [(hit.id, hit.score) for hit in user.recall("roofer", k=20)]
        best, *_ = user.search_pages("how much does the roofer cost?")
        assert (best.kind, best.thread_id) == ("page", "roof")
        assert {signal.name for signal in best.why} == {"dense", "bm25", "steps"}
        assert sum(signal.share for signal in best.why) == pytest.approx(best.score)
        after = user.recall("roofer", k=20)
        assert [(hit.id, hit.score) for hit in after] == before
        assert all(hit.kind == "step" for hit in after)

        def threads(query: str, **conditions: Any) -> set[str]:
            return {hit.thread_id for hit in user.search_pages(query, **conditions)}

        assert threads("roofer", thread_id="garden") == {"garden"}
        assert threads("roofer", since=NOON + timedelta(days=9)) == {"later"}
        assert threads("beans", until=NOON + timedelta(days=9)) == {"garden", "roof"}
        assert "roof" not in threads("roofer", k=9, exclude=[best.id])
        with pytest.raises(InvalidInputError):
            user.search_pages(" ")
        user.remember("Our violin teacher is called Petrova.", thread_id="music")
        assert threads("violin teacher", k=1) == {"music"}


def test_the_index_of_pages_is_rebuilt_from_the_ledger(tmp_path: Path) -> None:
    with small(tmp_path) as memory:
        alice = memory.user("alice")
        alice.remember(chatter(9))
        before = [(hit.id, hit.score) for hit in alice.search_pages("beans in bed 3")]
        memory.reindex()
        assert [(hit.id, hit.score) for hit in alice.search_pages("beans in bed 3")] == before
        memory.lexical.reset(f"{alice.key}.pages")
        memory.vectors.reset(alice.key, "pages")
    with small(tmp_path) as memory:
        alice = memory.user("alice")
        assert [(hit.id, hit.score) for hit in alice.search_pages("beans in bed 3")] == before
        assert len(memory.notices) == 2
        assert memory.vectors.count(alice.key, "pages") == memory.lexical.count(f"{alice.key}.pages") == 2


# -- taking out -------------------------------------------------------------------------------------------------------


def page_terms(home: Path, user: str, word: str) -> list[str]:
    folder = home / "lexical" / f"{user_key(user)}.pages"
    if not folder.exists():
        return []
    searcher = open_index(folder).searcher()
    return sorted(field for field in (STEMMED, EXACT) if searcher.doc_freq(field, word))


def stated(user: UserMemory, canary: str = CANARY) -> tuple[str, ...]:
    """Steps of which one states a word that comes into pages, a header after it, memos of memos, and the index."""
    texts = [f"I planted {number} beans." for number in range(40)]
    texts[0] = f"My boat is called {canary}."
    steps = user.remember(talk(*texts), thread_id=canary).step_ids
    user.search_pages("beans")
    assert canary in user.light_memory(10_000).text
    first, second, *_ = user.pages(canary)
    assert canary in first.memo
    assert canary in second.header
    assert page_terms(user.memory.home, user.name, canary)
    return steps


def test_forgetting_takes_the_words_out_of_pages_at_once_and_undo_brings_them_back(tmp_path: Path) -> None:
    with small(tmp_path) as memory:
        alice = memory.user("alice")
        steps = stated(alice)
        operation = alice.forget([steps[0]])
        assert all(CANARY not in page.header + page.memo for page in alice.pages())
        assert alice.pages()[0].memo, "written anew of what is left"
        assert CANARY not in alice.light_memory(10_000).text
        assert all(CANARY not in hit.text for hit in alice.search_pages(CANARY))
        assert steps[0] not in alice.pages()[0].step_ids
        alice.undo(operation.id)
        assert CANARY in alice.pages()[0].memo
        assert alice.search_pages(f"a boat called {CANARY}", k=1)[0].id == alice.pages()[0].id


def test_words_forgotten_while_pages_are_made_do_not_come_into_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small(tmp_path, labels="off") as memory:
        alice = memory.user("alice")
        steps = alice.remember(
            talk(f"My boat is called {CANARY}.", "I bought it in May.", "Fine.", "Good.", "Bye.")
        ).step_ids
        due = memory.paging.memorizer._due

        def forget_then(tx: Any) -> bool:
            if found := due(tx):
                monkeypatch.undo()
                alice.forget([steps[0]])  # after it was seen that there are steps, before their pages are written
            return found

        monkeypatch.setattr(memory.paging.memorizer, "_due", forget_then)
        pages = alice.pages()
        assert [len(page.step_ids) for page in pages] == [3, 1]
        assert all(CANARY not in page.header + page.memo for page in pages)


def test_redacting_takes_the_words_out_of_pages_for_good_and_erasing_leaves_no_page(
    tmp_path: Path, traces: Traces
) -> None:
    with small(tmp_path) as memory:
        alice = memory.user("alice")
        stated(alice)
        alice.redact(CANARY, caption="boat")
        assert page_terms(tmp_path, "alice", CANARY) == []
        assert not any(CANARY in page.header + page.memo for page in alice.pages())
        assert "boat" in alice.pages()[0].memo
        assert CANARY not in alice.light_memory(10_000).text
        stated(alice, "quokkazanzibar")
        receipt = alice.erase()
        assert receipt.rows["pages"] == 20
        assert not (tmp_path / "lexical" / f"{alice.key}.pages").exists()
        assert memory.vectors.count(alice.key, "pages") == 0
        assert alice.pages() == []
        assert traces(tmp_path, "quokkazanzibar") == []


def test_a_page_whose_steps_are_all_forgotten_is_gone(tmp_path: Path) -> None:
    with small(tmp_path) as memory:
        alice = memory.user("alice")
        steps = alice.remember(chatter(6)).step_ids
        first = alice.pages()[0]
        alice.forget(steps[:4])
        assert [page.id for page in alice.pages()] == [alice.pages("default")[0].id] != [first.id]
        with pytest.raises(NotFoundError):
            alice.page(first.id)
        assert first.id not in {hit.id for hit in alice.search_pages("beans", k=9)}


# -- moving -----------------------------------------------------------------------------------------------------------


def test_an_export_carries_pages_and_what_is_there_goes_on(tmp_path: Path) -> None:
    with small(tmp_path / "one") as memory, small(tmp_path / "two") as other:
        alice = memory.user("alice")
        alice.remember(chatter(38), thread_id="a")
        pages = alice.pages()
        alice.export(tmp_path / "alice.jsonl")
        bob = other.user("bob")
        bob.remember(chatter(9, "the roof"), thread_id="b")
        bob.search_pages("roof")
        bob.import_(tmp_path / "alice.jsonl")
        assert [(page.id, page.memo, page.step_ids) for page in bob.pages("a")] == [
            (page.id, page.memo, page.step_ids) for page in pages
        ]
        assert {hit.thread_id for hit in bob.search_pages("garden beans", k=20)} == {"a", "b"}
        assert bob.light_memory(10_000).pages == len([page for page in bob.pages() if page.closed])
        bob.remember(chatter(3), thread_id="a")
        assert [step_id for page in bob.pages("a") for step_id in page.step_ids] == [one.id for one in bob.steps("a")]


# -- the light memory -------------------------------------------------------------------------------------------------


def light(count: int, budget: int) -> LightMemory:
    """The light memory of so many pages."""
    pages = [
        PageRow(
            id=f"page_{number}", seq=number, thread_id="t", first_turn=number, last_turn=number, steps=1, tokens=9,
            session=1, started_at=NOON + timedelta(days=number), ended_at=NOON + timedelta(days=number), created_at=NOON,
            memo=f"Ann: I bought {number} boats in Porto on Monday · Ben: we sailed to island {number} with Mia", closed=True,
        )
        for number in range(count)
    ]  # fmt: skip
    return light_memory(pages, budget, zone=ZoneInfo("UTC"), count=count_tokens, scopes={})


@with_settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(64, 3_000))
def test_the_light_memory_keeps_its_budget_and_stands_for_every_page(count: int, budget: int) -> None:
    found = light(count, budget)
    assert count_tokens(found.text) == found.tokens <= budget
    assert [page_id for memo in found.memos for page_id in memo.page_ids] == [f"page_{n}" for n in range(count)]
    assert len(found.text.splitlines()) == len(found.memos)
    assert all(found.pages_of(memo.handle) == memo.page_ids for memo in found.memos)


def test_the_light_memory_of_a_user_covers_every_closed_page(tmp_path: Path) -> None:
    with small(tmp_path, page_steps=2) as memory:
        alice = memory.user("alice")
        for part in range(6):
            alice.remember(chatter(30, f"plot {part}"), thread_id=f"t{part}")
        memory_of_400 = alice.light_memory(400)
        assert memory_of_400.tokens <= 400
        closed = [page.id for page in alice.pages() if page.closed]
        assert sorted(page_id for memo in memory_of_400.memos for page_id in memo.page_ids) == sorted(closed)
        with pytest.raises(InvalidInputError, match="64"):
            alice.light_memory(10)


# -- with a model -----------------------------------------------------------------------------------------------------


def noting(memo: str, header: str | None = "Ann and Ben are at home.") -> Callable[[Request], Reply]:
    """A model that gives every page that is listed this memo."""

    def reply(request: Request) -> Reply:
        found = answer(request)
        shown = re.search(r"<pages>\n(.*?)\n</pages>", request.text, re.S)
        handles = re.findall(r"^(P\d+): ", shown[1] if shown else "", re.M)
        assert isinstance(found.content, dict)
        return Reply(
            content={**found.content, "pages": [{"page": one, "header": header, "memo": memo} for one in handles]}
        )

    return reply


def test_headers_and_memos_come_with_the_labels_at_no_further_call(
    tmp_path: Path,
    scripted_server: ServerFactory,  # noqa: F811
) -> None:
    server = scripted_server(noting("Ann and Ben dug beds on 2025-03-03."))
    settings = Settings(background=False, page_steps=6, mode="single_call", batch_size=8)
    with Memory.open(tmp_path, embedder="static", model=server.chat_model(), settings=settings) as memory:
        alice = memory.user("alice")
        alice.remember(chatter(16))
        assert alice.flush()
        pages = alice.pages()
        assert [len(page.step_ids) for page in pages] == [6, 6, 4]
        assert {(page.tier, page.header, page.memo) for page in pages} == {
            ("model", "Ann and Ben are at home.", "Ann and Ben dug beds on 2025-03-03.")
        }
        assert alice.search_pages("beds", k=1)[0].text.endswith("Ann and Ben dug beds on 2025-03-03.")
    assert server.calls == 2, "sixteen steps, eight a batch"
    second = server.requests[1].text
    assert "P1: steps 1, 2, 3, 4; it began before them. Memo so far: Ann and Ben dug" in second
    assert "P2: steps 5, 6, 7, 8" in second


def test_what_a_model_wrote_goes_when_its_steps_are_forgotten(
    tmp_path: Path,
    scripted_server: ServerFactory,  # noqa: F811
) -> None:
    server = scripted_server(noting("Ann and Ben dug beds of the garden.", "They love the garden."))
    settings = Settings(background=False, page_steps=4, mode="single_call", batch_size=8)
    with Memory.open(tmp_path, embedder="static", model=server.chat_model(), settings=settings) as memory:
        alice = memory.user("alice")
        steps = alice.remember(chatter(8)).step_ids
        alice.flush()
        alice.forget([steps[1]])
        first, second = alice.pages()
        assert (first.tier, second.tier) == ("embedded", "embedded")
        assert "They love the garden." not in first.header + second.header
