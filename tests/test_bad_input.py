"""Bad input and bad luck: odd texts are kept exactly, wrong arguments are named, a home that fails loses nothing."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import textwrap
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockingError, blockbuster_ctx
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory, Where
from hexamem.errors import (
    ConfigError,
    HexamemError,
    HomeInUseError,
    HomeNotWritableError,
    InvalidInputError,
    MissingUserError,
    NotFoundError,
    StorageFullError,
    StoreClosedError,
)

from .fork_server import python, run_program

QUIET = Settings(background=False)

# ------------------------------------------------------------------------------------------------------------ odd texts

ODD_TEXTS = {
    "NUL bytes": "before\0after \0\0 the pelican",
    "a lone surrogate": "broken \ud83d pelican \udc00 end",
    "a surrogate pair written as two": "pelican \ud83d\ude00 apart",
    "emoji": "pelican 👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301 é",
    "right to left": "البجعة تطير فوق البحر \u202epelican\u202c שלום",
    "control characters": "pelican \x01\x02\x1b[31m red \x7f \r\n\t end",
    "the ledger's own escape marks": "pelican \ue0f0d83d\ue0f1 \ue0f0",
    "markup and quotes": "pelican '; DROP TABLE steps; -- {{vault:nothing|x}} %s {0} \\u0000",
    "spaces around": "  pelican \n ",
    "Chinese": "鹈鹕在海上飞翔 pelican",
    "private use and noncharacters": "pelican \uffff \ufdd0 \U0010ffff \ue000",
}


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
def test_an_odd_text_is_kept_exactly_recalled_and_survives_reopening(text: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        receipt = alice.remember(["something else", {"role": "user", "content": text}], "thread " + text.strip())
        assert alice.recall("pelican", strategy="bm25").hits[0].text == text
        assert alice.recall(text, strategy="dense").hits[0].id == receipt.step_ids[1]
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        step = alice.get(receipt.step_ids[1])
        assert (step.content, step.thread_id) == (text, "thread " + text.strip())
        found = alice.recall("pelican", where={"thread_id": "thread " + text.strip()})
        assert text in [hit.text for hit in found]
        exported = alice.export(tmp_path / "out.jsonl")
        assert exported["steps"] == 2
        bob = memory.user("bob")
        bob.import_(tmp_path / "out.jsonl")
        assert [(step.content, step.thread_id) for step in bob.steps()] == [
            (step.content, step.thread_id) for step in alice.steps()
        ]


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    text=st.text(st.characters(exclude_categories=()), min_size=1).filter(str.strip),
    name=st.text(st.characters(exclude_categories=()), min_size=1, max_size=30),
    caption=st.text(st.characters(exclude_categories=()), min_size=1, max_size=30),
)
@example(text="x", name="\ud800", caption="\udfff")
def test_any_characters_anywhere_in_a_message_come_back_as_they_were(
    text: str, name: str, caption: str, alice: UserMemory
) -> None:
    # Without the rules for secrets, which would rightly take "password: …" out.
    object.__setattr__(alice.memory, "settings", Settings(background=False, find_secrets=False))
    image = {"type": "image", "base64": "aGk=", "mime_type": "image/png", "caption": caption}
    call = {"id": "c1", "name": "look", "args": {name: [text]}, "type": "tool_call"}
    message = {
        "role": "assistant",
        "name": name,
        "content": [{"type": "text", "text": text}, image],
        "tool_calls": [call],
        "metadata": {"said": {name: text}},
    }
    step_id = alice.remember(message, thread_id="t" + name).step_ids[0]
    step = alice.get(step_id)
    assert (step.content, step.name, step.thread_id) == (text, name, "t" + name)
    assert step.blocks[0]["text"] == text
    assert step.media[0].caption == caption
    assert step.tool_calls[0].arguments == {name: [text]}
    assert step.metadata["said"] == {name: text}
    item = alice.add(
        {"kind": "semantic", "name": name, "summary": text, "labels": ["x" + name], "metadata": {name: text}}
    )
    assert alice.get(item.id) == item
    edited = alice.edit(item.id, details=text)
    # pydantic puts other characters in place of a lone surrogate in a key.
    after = {**edited.model_dump(mode="json"), "metadata": {name: text}}
    assert alice.history(item.id)[-1].changes[0].after == after
    found = {hit.id: hit.text for hit in alice.recall(text, k=1_000, where={"thread_id": "t" + name})}
    assert found[step_id] == step.index_text
    assert item.id in {hit.id for hit in alice.recall(text, k=1_000, kinds="semantic")}


def test_a_message_of_five_megabytes_is_kept_whole_and_found_by_its_words(tmp_path: Path) -> None:
    words = " ".join(f"word{number % 5_000}" for number in range(600_000))
    text = f"{words} heliotrope"
    assert len(text) > 5_000_000
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        step_id = alice.remember([text, "a short one"]).step_ids[0]
        hit = alice.recall("heliotrope", strategy="bm25", token_budget=500).hits[0]
        assert hit.id == step_id
        assert hit.text == text
        assert alice.get(step_id).content == text
        assert "a short one" in alice.recall("short one", k=1, strategy="rrf", token_budget=500).text


def test_a_message_over_the_limit_is_refused_by_its_bytes_and_nothing_of_the_call_is_stored(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False, max_message_bytes=100)) as memory:
        alice = memory.user("alice")
        alice.remember("é" * 50)
        with pytest.raises(InvalidInputError, match=r"message 2 has 101 bytes; the limit is 100"):
            alice.remember(["fine", "x" + "é" * 50])
        picture = {"type": "image", "base64": base64.b64encode(b"x" * 120).decode(), "mime_type": "image/png"}
        with pytest.raises(InvalidInputError, match=r"message 1 has \d{3} bytes"):
            alice.remember([{"role": "user", "content": [picture]}])
        assert len(alice.steps()) == 1


# ------------------------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ("", "message 1 of 1 is empty"),
        ("   \n", "message 1 of 1 is empty"),
        (["fine", "also fine", ""], "message 3 of 3 is empty"),
        (["fine", "fine", {"role": "user", "content": []}, "fine", "fine"], "message 3 of 5 is empty"),
        ([{"content": "x"}], "no role"),
        ([{"role": "user"}], "empty"),
        ([{"role": 5, "content": "x"}], "role = 5"),
        ([{"role": " ", "content": "x"}], "role = ' '"),
        ([5], "of type int"),
        (None, "of type NoneType"),
        (b"bytes", "of type bytes"),
        ({"role": "user", "content": "x", "timestamp": "Saturday"}, "'Saturday' cannot be read"),
        ({"role": "user", "content": "x", "timestamp": "05/08/2023"}, "cannot be told apart"),
        ({"role": "user", "content": "x", "id": "x" * 513}, "513 bytes"),
        ({"role": "user", "content": [{"type": "image", "base64": "%%%"}]}, "base64"),
    ],
)
def test_a_message_that_cannot_be_stored_is_named_and_nothing_of_the_call_is_kept(
    messages: Any, rule: str, alice: UserMemory
) -> None:
    alice.remember("already here")
    with pytest.raises(InvalidInputError) as caught:
        alice.remember(messages)
    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [step.content for step in alice.steps()] == ["already here"]
    assert [hit.text for hit in alice.recall("fine", k=50)] == ["already here"]


def test_an_unknown_role_is_kept_in_its_own_word(alice: UserMemory) -> None:
    step = alice.get(alice.remember({"role": "narrator", "content": "night falls"}).step_ids[0])
    assert (step.role, step.name, step.metadata["role"]) == ("other", "narrator", "narrator")
    assert alice.recall("night", where={"speaker": "Narrator"}).hits[0].text == "night falls"


def test_the_same_message_is_stored_once_with_an_id_and_twice_without(alice: UserMemory) -> None:
    first = alice.remember([{"role": "user", "content": "ping", "id": "m1"}], "a")
    again = alice.remember([{"role": "user", "content": "ping", "id": "m1"}, {"role": "user", "content": "pong"}], "a")
    assert again.repeated == first.step_ids
    assert again.step_ids[0] == first.step_ids[0]
    assert [(step.turn, step.content) for step in alice.steps("a")] == [(0, "ping"), (1, "pong")]
    twice_in_one_call = alice.remember([{"role": "user", "content": "x", "id": "m2"}] * 2, "a")
    assert len(set(twice_in_one_call.step_ids)) == 1
    other_thread = alice.remember([{"role": "user", "content": "ping", "id": "m1"}], "b")
    assert other_thread.repeated == ()
    alice.remember(["same words", "same words"], "c")
    alice.remember("same words", "c")
    assert [step.content for step in alice.steps("c")] == ["same words"] * 3
    assert len([hit for hit in alice.recall("same words", k=50) if hit.text == "same words"]) == 3


def test_no_messages_at_all_store_nothing_and_make_no_user(memory: Memory) -> None:
    assert memory.user("ghost").remember([]).step_ids == ()
    assert memory.users() == []


# ----------------------------------------------------------------------------------------------------------------- time

SIX_FORMS = {
    "2023-05-08T13:56:00+02:00": datetime(2023, 5, 8, 11, 56, tzinfo=UTC),
    "2023-05-08 13:56": datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    1683554160: datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    "1:56 pm on 8 May, 2023": datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    "2023/05/20 (Sat) 02:21": datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    "Tue, 15 Nov 1994 08:12:31 GMT": datetime(1994, 11, 15, 8, 12, 31, tzinfo=UTC),
    "2023年5月8日 下午1点56分": datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
}


def test_times_in_every_form_and_none_are_stored_as_the_same_exact_moments(alice: UserMemory) -> None:
    before = datetime.now(UTC)
    alice.remember([{"role": "user", "content": f"at {form}", "timestamp": form} for form in SIX_FORMS] + ["no time"])
    after = datetime.now(UTC)
    *timed, untimed = alice.steps()
    assert [step.occurred_at for step in timed] == list(SIX_FORMS.values())
    assert timed[0].offset_minutes == 120
    assert before - timedelta(milliseconds=1) <= untimed.occurred_at <= after
    hits = alice.recall(
        "at", k=50, where=Where(since=datetime(2023, 5, 9, tzinfo=UTC), until=datetime(2023, 6, 1, tzinfo=UTC))
    )
    assert [hit.text for hit in hits] == ["at 2023/05/20 (Sat) 02:21"]


def test_a_naive_time_is_read_in_the_timezone_of_the_user(memory: Memory) -> None:
    tokyo = memory.user("tomo", timezone="Asia/Tokyo")
    tokyo.remember({"role": "user", "content": "breakfast", "timestamp": "2024-03-01 08:00"})
    assert tokyo.steps()[0].occurred_at == datetime(2024, 2, 29, 23, tzinfo=UTC)
    assert tokyo.recall("breakfast", as_of="2024-03-01 07:59").hits == ()
    assert len(tokyo.recall("breakfast", as_of="2024-03-01 08:00").hits) == 1
    with pytest.raises(InvalidInputError, match="timezone 'Mars/Olympus' is unknown"):
        memory.user("tomo", timezone="Mars/Olympus")


def test_steps_out_of_time_order_keep_their_thread_order_and_as_of_goes_by_their_time(alice: UserMemory) -> None:
    days = [5, 1, 9, 3]
    alice.remember(
        [
            {"role": "user", "content": f"meeting of day {day}", "timestamp": f"2024-01-{day:02}T10:00:00Z"}
            for day in days
        ]
    )
    assert [step.content for step in alice.steps("default")] == [f"meeting of day {day}" for day in days]
    assert [step.turn for step in alice.steps()] == [0, 1, 2, 3]
    for strategy in ("rrf", "rrf_neighbours", "dense_neighbours", "bm25"):
        for as_of in (0, 1, 4, 9):
            found = alice.recall(
                "meeting", k=50, strategy=strategy, as_of=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(as_of)
            )
            assert {hit.text for hit in found} == {f"meeting of day {day}" for day in days if day <= as_of}
    packed = alice.recall("meeting", k=50).text.splitlines()
    assert [line[1:11] for line in packed] == ["2024-01-01", "2024-01-03", "2024-01-05", "2024-01-09"]


# --------------------------------------------------------------------------------------------------------------- users


@pytest.mark.parametrize("name", [None, "", " ", "\t\n\u3000", 5, b"alice", ["alice"], True], ids=repr)
def test_a_missing_user_is_refused_and_never_means_all_users(name: Any, memory: Memory) -> None:
    memory.user("alice").remember("here")
    with pytest.raises(MissingUserError, match="user = "):
        memory.user(name)


def test_a_user_name_may_have_512_bytes_and_not_one_more(memory: Memory) -> None:
    for name in ("x" * 512, "é" * 256, "\U0001f600" * 128, "\ud800" * 170):
        memory.user(name).remember("a note")
        assert memory.user(name).recall("note").hits[0].text == "a note"
    for name in ("x" * 513, "é" * 256 + "x", "\U0001f600" * 128 + "x"):
        with pytest.raises(MissingUserError, match="513 bytes in UTF-8; the limit is 512"):
            memory.user(name)
    assert len(memory.users()) == 4


# ----------------------------------------------------------------------------------------------------------- arguments

WRONG: dict[str, tuple[Callable[[UserMemory, Path], object], str]] = {
    **{
        f"k = {k!r}": (lambda user, _, k=k: user.recall("x", k=k), f"k = {k!r}: give a whole number from 1 to 1,000")
        for k in (0, -1, 1_001, "3", 2.0, True)
    },
    **{
        f"token_budget = {value!r}": (
            lambda user, _, value=value: user.recall("x", token_budget=value),
            f"token_budget = {value!r}: give a whole number of at least 1",
        )
        for value in (0, -5, "9", 1.5, True)
    },
    **{
        f"query = {value!r}": (lambda user, _, value=value: user.recall(value), f"query = {value!r}")
        for value in ("", "  ", None, 5, b"x")
    },
    **{
        f"strategy = {value!r}": (
            lambda user, _, value=value: user.recall("x", strategy=value),
            f"strategy = {value!r}",
        )
        for value in ("", "best", 5, ["rrf"])
    },
    **{
        f"kinds = {value!r}": (lambda user, _, value=value: user.recall("x", kinds=value), "kinds = ")
        for value in ("dream", [], ["step", "dream"], 5, [5], [["step"]], b"step", "page", {"step": 1})
    },
    **{
        f"where = {value!r}": (lambda user, _, value=value: user.recall("x", where=value), rule)
        for value, rule in (
            ("alice", "where = 'alice'"),
            (5, "where = 5"),
            ([("thread_id", "x")], "where = [("),
            ({"colour": "red"}, "colour is not a field of Where"),
            ({"since": "soon"}, "'soon' cannot be read"),
            ({"since": "2024-02-01", "until": "2024-01-01"}, "lies before since"),
            ({"speaker": 5}, "speaker = 5"),
            ({"labels": 5}, "labels = 5"),
            ({"metadata": "x"}, "metadata = 'x'"),
        )
    },
    **{
        f"as_of = {value!r}": (lambda user, _, value=value: user.recall("x", as_of=value), "cannot be read")
        for value in ("soon", "", "5 pm", True, [2024], float("nan"), 10**30, b"2024-01-01")
    },
    "known_at": (lambda user, _: user.recall("x", known_at="later"), "'later' cannot be read"),
    "min_probability": (lambda user, _: user.recall("x", strategy="rrf", min_probability=0.5), "min_probability = 0.5"),
    "items kind": (lambda user, _: user.items("step"), "kinds = ['step']"),
    "items kind of no type": (lambda user, _: user.items(5), "kinds = 5"),
    "items as_of": (lambda user, _: user.items(as_of="soon"), "'soon' cannot be read"),
    "thread_id": (lambda user, _: user.remember("x", thread_id=""), "thread_id = ''"),
    "thread_id None": (lambda user, _: user.remember("x", thread_id=None), "thread_id = None"),
    "thread_id too long": (lambda user, _: user.remember("x", thread_id="x" * 513), "513 bytes"),
    "agent_id": (lambda user, _: user.remember("x", agent_id=5), "agent_id = 5"),
    "metadata": (lambda user, _: user.remember("x", metadata=5), "metadata = 5"),
    "metadata text": (lambda user, _: user.remember("x", metadata="ab"), "metadata = 'ab'"),
    "metadata with objects": (lambda user, _: user.remember("x", metadata={"a": object()}), "metadata is not JSON"),
    "item": (lambda user, _: user.add(5), "an item is a MemoryItem or a mapping"),
    "item kind": (lambda user, _: user.add({"kind": "dream"}), "kind = 'dream'"),
    "item field": (lambda user, _: user.add({"kind": "semantic", "name": "", "summary": "s"}), "name = ''"),
    "secret on a semantic item": (
        lambda user, _: user.add({"kind": "semantic", "name": "n", "summary": "s"}, secret="x"),
        "secret= goes with a vault item",
    ),
    "secret of a type": (lambda user, _: user.add({"kind": "vault", "caption": "c"}, secret=5), "secret = 5"),
    "empty secret": (lambda user, _: user.add({"kind": "vault", "caption": "c"}, secret=""), "is empty"),
    "actor": (lambda user, _: user.add({"kind": "semantic", "name": "n", "summary": "s"}, actor=None), "actor = None"),
    "reason": (lambda user, _: user.remove("item_x", reason=5), "reason = 5"),
    "record id": (lambda user, _: user.get(["a"]), "record_id = ['a']"),
    "item id": (lambda user, _: user.edit(None, summary="s"), "item_id = None"),
    "nothing to forget": (lambda user, _: user.forget(), "forget what?"),
    "step ids": (lambda user, _: user.forget(5), "step_ids = 5"),
    "step ids of bytes": (lambda user, _: user.forget([b"x"]), "step_ids = b'x'"),
    "ids to forget": (lambda user, _: user.forget(5), "ids = 5"),
    "parts to forget": (lambda user, _: user.forget(parts=5), "parts = 5"),
    "words of a part": (lambda user, _: user.forget(parts={"step_x": 5}), "parts['step_x'] = 5"),
    "thread to forget": (lambda user, _: user.forget(thread_id=5), "thread_id = 5"),
    "thread to read": (lambda user, _: user.steps(5), "thread_id = 5"),
    "limit": (lambda user, _: user.history(limit=0), "limit = 0"),
    "limit negative": (lambda user, _: user.history(limit=-1), "limit = -1"),
    "limit text": (lambda user, _: user.history(limit="all"), "limit = 'all'"),
    "operation id": (lambda user, _: user.undo(5), "operation_id = 5"),
    "reveal id": (lambda user, _: user.reveal(None, reason="r"), "record_id = None"),
    "reveal reason": (lambda user, _: user.reveal("x", reason=" "), "reason = ' '"),
    "words": (lambda user, _: user.redact(" "), "words to redact are empty"),
    "one letter": (lambda user, _: user.redact("e"), "single character"),
    "caption": (lambda user, _: user.redact("abc", caption=None), "caption = None"),
    "caption telling": (lambda user, _: user.redact("abc", caption="the abc"), "holds the very words"),
    "sensitivity": (lambda user, _: user.redact("abc", sensitivity="top"), "sensitivity = 'top'"),
    "feedback both ways": (lambda user, _: user.feedback("r", helped=["a"], hurt=["a"]), "in helped and in hurt"),
    "feedback ids": (lambda user, _: user.feedback("r", helped=5), "helped = 5"),
    "export path": (lambda user, _: user.export(5), "path = 5"),
    "export to nothing": (lambda user, _: user.export(""), "names no file"),
    "export passphrase": (lambda user, folder: user.export(folder / "x", passphrase=""), "passphrase is empty"),
    "export passphrase type": (lambda user, folder: user.export(folder / "x", passphrase=5), "passphrase = 5"),
    "import path": (lambda user, _: user.import_(None), "path = None"),
    "import of nothing": (lambda user, folder: user.import_(folder / "nowhere"), "cannot be read"),
    "import of a folder": (lambda user, folder: user.import_(folder), "cannot be read"),
}


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    """A user with a step, shared by calls that must change nothing."""
    with Memory.open(tmp_path_factory.mktemp("settled") / "home", settings=QUIET) as memory:
        memory.user("alice").remember("already here")
        yield memory.user("alice")


@pytest.mark.parametrize(("call", "rule"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_argument_is_named_with_its_value_and_rule(
    call: Callable[[UserMemory, Path], object], rule: str, settled: UserMemory, tmp_path: Path
) -> None:
    change = _change(settled)
    with pytest.raises(InvalidInputError) as caught:
        call(settled, tmp_path)
    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)
    assert _change(settled) == change


def _change(user: UserMemory) -> int:
    """The number of the last change in the ledger."""
    with user.memory.ledger.read(user.name) as tx:
        return tx.change


@pytest.mark.parametrize("field", ["k", "recall_log", "max_message_bytes"])
@pytest.mark.parametrize("value", [0, -1, "9", 1.5, True])
def test_a_setting_that_cannot_work_is_refused_before_anything_is_opened(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"Settings.{field} = "):
        Settings(**{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("k", 1_001),
        ("timezone", "Europe/Atlantis"),
        ("timezone", None),
        ("timezone", "../etc/passwd"),
        ("strategy", None),
        ("find_secrets", 1),
        ("background", "no"),
        ("keep_reasoning", None),
    ],
)
def test_a_setting_of_the_wrong_type_or_out_of_range_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"Settings.{field} = "):
        Settings(**{field: value})


def test_a_strategy_that_there_is_not_is_refused_before_a_home_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Settings.strategy = 'rff': use one of rrf, "):
        Memory.open(tmp_path / "home", settings=Settings(strategy="rff"))
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "x", "metadata": {"note": "y" * 100}},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "odd", "deep": ["y" * 100]}]},
        {
            "role": "assistant",
            "content": "x",
            "tool_calls": [{"id": "1", "name": "t", "args": {"y": "y" * 100}, "type": "tool_call"}],
        },
        {
            "role": "user",
            "content": [{"type": "image", "url": "https://example.org/a.png", "caption": "y" * 100}],
        },
    ],
    ids=["metadata", "blocks", "tool call", "caption"],
)
def test_everything_that_is_kept_of_a_message_counts_for_its_size(tmp_path: Path, message: dict[str, Any]) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False, max_message_bytes=100)) as memory:
        with pytest.raises(InvalidInputError, match=r"message 1 has \d+ bytes; the limit is 100"):
            memory.user("alice").remember([message])
        with pytest.raises(InvalidInputError, match=r"message 1 has \d+ bytes; the limit is 100"):
            memory.user("alice").remember("x", metadata={"note": "y" * 100})
        assert memory.user("alice").steps() == []


def test_an_error_of_the_database_never_repeats_what_was_said(memory: Memory, alice: UserMemory) -> None:
    from hexamem.stores.ledger.schema import steps

    def break_a_rule() -> None:
        with memory.ledger.write("alice") as tx:
            tx.connection.execute(steps.insert().values(user_id=tx.user_id, id="x", content="my private words"))

    with pytest.raises(HexamemError) as caught:
        break_a_rule()
    assert "my private words" not in "".join(traceback.format_exception(caught.value))
    assert "seq" in str(caught.value)


def test_a_person_without_anything_can_call_everything(memory: Memory, tmp_path: Path) -> None:
    ghost = memory.user("ghost")
    assert ghost.recall("anything").hits == ()
    assert (ghost.steps(), ghost.items(), ghost.history(), ghost.reveals()) == ([], [], [], [])
    for call in (
        lambda: ghost.get("step_x"),
        lambda: ghost.edit("item_x", summary="s"),
        lambda: ghost.remove("item_x"),
        lambda: ghost.forget(["step_x"]),
        lambda: ghost.undo("op_x"),
        lambda: ghost.reveal("vault_x", reason="r"),
        lambda: ghost.redact("some words"),
        lambda: ghost.feedback("recall_x", helped=["step_x"]),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert ghost.erase().rows.get("steps", 0) == 0
    ghost.export(tmp_path / "empty.jsonl")
    assert memory.user("heir").import_(tmp_path / "empty.jsonl") == {}


# ------------------------------------------------------------------------------------------------------ a home that fails


def test_a_home_below_a_regular_file_is_refused_with_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(HomeNotWritableError) as caught:
            Memory.open(home)
        assert str(home) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert (tmp_path / "file").read_text() == "not a folder"


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A tmpfs of its own; the test is skipped, visibly, where this may not be mounted."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "hexamem-test", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs the mount command")
    if done.returncode:
        pytest.skip(f"needs the right to mount a tmpfs: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_home_on_a_read_only_disk_is_refused_with_one_clear_line_and_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, "size=160m"):
        home = disk / "home"
        with Memory.open(home, settings=QUIET) as memory:
            memory.user("alice").remember("kept")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for place in (home, disk / "new home"):
            with pytest.raises(HomeNotWritableError) as caught:
                Memory.open(place)
            assert str(place) in str(caught.value)
            assert "\n" not in str(caught.value)
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        with Memory.open(home, settings=QUIET) as memory:
            assert [hit.text for hit in memory.user("alice").recall("kept")] == ["kept"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_home_without_the_right_to_write_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    with pytest.raises(HomeNotWritableError, match="cannot be written"):
        Memory.open(home)


def _fill(ballast: Path, *, leaving: int) -> None:
    """Write until the disk has no more than so many bytes left."""
    ballast.write_bytes(b"")
    while (room := os.statvfs(ballast.parent)).f_bavail * room.f_bsize > leaving:
        with ballast.open("ab") as out:
            out.write(b"\0" * min(1 << 20, room.f_bavail * room.f_bsize - leaving))


def test_what_is_acknowledged_on_a_disk_too_full_for_the_indexes_is_found_as_soon_as_there_is_room(
    tmp_path: Path,
) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, "size=160m"), Memory.open(disk / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        _fill(disk / "ballast", leaving=20 << 20)
        receipt = alice.remember("a late heron")
        with pytest.raises(StorageFullError) as caught:
            alice.recall("heron")
        assert "\n" not in str(caught.value)
        assert alice.get(receipt.step_ids[0]).content == "a late heron"
        (disk / "ballast").unlink()
        assert alice.recall("heron").hits[0].id == receipt.step_ids[0]


def test_a_disk_that_runs_full_is_said_in_one_line_loses_nothing_and_works_again_with_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, "size=160m"), Memory.open(disk / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        alice.remember([f"kept {number}" for number in range(20)])
        alice.flush()
        room = os.statvfs(disk)
        ballast = disk / "ballast"
        _fill(ballast, leaving=0)
        big = "the quick brown fox " * 50_000
        for call in (
            lambda: alice.remember(["small", big]),
            lambda: alice.add({"kind": "resource", "title": "big", "content": big}),
            lambda: alice.remember(
                {"role": "user", "content": [{"type": "file", "base64": base64.b64encode(big.encode()).decode()}]}
            ),
            lambda: alice.export(disk / "out.jsonl"),
        ):
            with pytest.raises((StorageFullError, HomeNotWritableError)) as caught:
                call()
            assert "\n" not in str(caught.value)
        assert len(alice.steps()) == 20
        # Reading goes on.
        assert alice.recall("kept 7", k=1, strategy="bm25").hits[0].text == "kept 7"
        ballast.unlink()
        assert os.statvfs(disk).f_bavail > room.f_bavail // 2
        alice.remember("room again")
        assert alice.recall("room again", strategy="rrf").hits[0].text == "room again"
        assert len(alice.steps()) == 21
        assert alice.export(disk / "out.jsonl")["steps"] == 21
        assert sorted(path.name for path in disk.iterdir()) == ["home", "out.jsonl"]


LIMITED = """
    import resource, signal, sys
    from pathlib import Path
    from hexamem import Memory, Settings
    from hexamem.errors import HexamemError, StorageFullError

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Memory.open(Path(sys.argv[1]), settings=Settings(background=False)) as memory:
        alice = memory.user("alice")
        alice.remember([f"kept {number}" for number in range(50)])
        alice.flush()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
        try:
            for number in range(200):
                alice.remember("x" * 100_000)
            sys.exit("never full")
        except StorageFullError as error:
            assert "\\n" not in str(error), error
            print(len(alice.steps()), number)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        alice.remember("room again")
        assert alice.recall("room again", strategy="bm25").hits[0].text == "room again"
"""


def test_a_file_that_may_not_grow_stops_the_call_and_not_what_came_before(tmp_path: Path) -> None:
    done = _run(LIMITED, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    steps, written = map(int, done.stdout.split())
    assert steps == 50 + written
    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        alice = memory.user("alice")
        assert len(alice.steps()) == steps + 1
        assert alice.recall("kept 33", k=1, strategy="bm25").hits[0].text == "kept 33"


def _run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_program(textwrap.dedent(script), *map(str, arguments))


HOLDER = """
    import sys
    from hexamem import Memory
    with Memory.open(sys.argv[1]) as memory:
        memory.user("alice").remember("held")
        print("ready", flush=True)
        sys.stdin.read()
"""


def test_a_home_held_by_another_process_is_refused_until_that_one_ends(tmp_path: Path) -> None:
    home = tmp_path / "home"
    command = [*python(), "-c", textwrap.dedent(HOLDER), str(home)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(HomeInUseError) as caught:
            Memory.open(home)
        assert str(home) in str(caught.value)
        assert "\n" not in str(caught.value)
    finally:
        holder.communicate("", timeout=300)
    assert holder.returncode == 0
    with Memory.open(home, settings=QUIET) as memory:
        assert memory.user("alice").recall("held").hits[0].text == "held"


def test_a_home_that_is_open_in_this_process_is_refused_and_stays_usable(memory: Memory, alice: UserMemory) -> None:
    with pytest.raises(HomeInUseError):
        Memory.open(memory.home)
    alice.remember("still here")
    assert alice.recall("still").hits[0].text == "still here"


# -------------------------------------------------------------------------------------------------------------- closing


def test_every_call_after_closing_says_that_the_memory_is_closed(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home")
    alice = memory.user("alice")
    alice.remember("before")
    memory.close()
    memory.close()
    calls: list[Callable[[], object]] = [
        lambda: memory.user("alice"),
        memory.users,
        memory.flush,
        memory.reindex,
        lambda: alice.remember("x"),
        lambda: alice.add({"kind": "semantic", "name": "n", "summary": "s"}),
        lambda: alice.edit("i", summary="s"),
        lambda: alice.remove("i"),
        lambda: alice.forget(["s"]),
        lambda: alice.get("s"),
        lambda: alice.media("0" * 64),
        alice.items,
        alice.steps,
        lambda: alice.recall("x"),
        lambda: alice.feedback("r"),
        alice.history,
        lambda: alice.undo("o"),
        lambda: alice.reveal("v", reason="r"),
        alice.reveals,
        lambda: alice.redact("xx"),
        alice.erase,
        lambda: alice.export(tmp_path / "out"),
        lambda: alice.import_(tmp_path / "out"),
        alice.flush,
    ]
    for call in calls:
        with pytest.raises(StoreClosedError, match="was closed"):
            call()
    with Memory.open(tmp_path / "home", settings=QUIET) as again:
        assert [step.content for step in again.user("alice").steps()] == ["before"]


def test_a_home_is_released_although_something_failed_while_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(tmp_path / "home", settings=QUIET)
    memory.user("alice").remember("kept")
    memory.user("alice").recall("kept")

    def full(*_: object) -> None:
        raise StorageFullError("no room for the log of recalls")

    monkeypatch.setattr(UserMemory, "write_recalls", full)
    with pytest.raises(StorageFullError, match="no room"):
        memory.close()
    monkeypatch.undo()
    with Memory.open(tmp_path / "home", settings=QUIET) as again:
        assert again.user("alice").recall("kept").hits[0].text == "kept"


def test_a_recall_answers_although_it_cannot_be_noted_and_notes_it_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False, recall_log=1)) as memory:
        alice = memory.user("alice")
        alice.remember("a kingfisher")

        def full(*_: object) -> None:
            raise StorageFullError("no room left")

        with monkeypatch.context() as patched:
            patched.setattr("hexamem.recalling.log_recalls", full)
            found = alice.recall("kingfisher")
        assert found.hits[0].text == "a kingfisher"
        assert found.degraded == ("what was shown could not be noted: no room left",)
        alice.feedback(found.id, helped=[found.hits[0].id])


# ---------------------------------------------------------------------------------------------------------- async twins


def test_the_blocking_calls_would_be_caught_on_the_event_loop(alice: UserMemory) -> None:
    async def block() -> None:
        with blockbuster_ctx():
            time.sleep(0.001)

    with pytest.raises(BlockingError):
        asyncio.run(block())


def test_the_async_twins_never_block_the_event_loop(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home") as memory:
        alice = memory.user("alice")
        ticks: list[float] = []
        threads: set[int] = set()
        inner = memory.searcher.find

        def noted(*args: Any) -> Any:
            threads.add(threading.get_ident())
            return inner(*args)

        memory.searcher.find = noted  # type: ignore[method-assign]

        async def tick() -> None:
            while True:
                ticks.append(time.monotonic())
                await asyncio.sleep(0.001)

        async def work() -> list[Any]:
            with blockbuster_ctx():
                ticking = asyncio.create_task(tick())
                await asyncio.gather(
                    *(alice.aremember(f"tide table {number}", f"t{number % 3}") for number in range(12))
                )
                item = await alice.aadd({"kind": "semantic", "name": "tide", "summary": "twice a day"})
                await alice.aedit(item.id, summary="two times a day")
                found = await asyncio.gather(
                    *(alice.arecall(f"tide table {number}", k=1, strategy="bm25") for number in range(12))
                )
                assert (await alice.aget(item.id)).id == item.id
                assert len(await alice.asteps()) == 12
                assert len(await alice.ahistory(item.id)) == 2
                await alice.afeedback(found[0].id, helped=[found[0].hits[0].id])
                await alice.aexport(tmp_path / "out.jsonl")
                assert await alice.aflush()
                await alice.aerase()
                await alice.aimport_(tmp_path / "out.jsonl")
                ticking.cancel()
            return list(found)

        found = asyncio.run(work())
        assert [recall.hits[0].text for recall in found] == [f"tide table {number}" for number in range(12)]
        assert len(ticks) > 10
        assert threading.get_ident() not in threads
        assert len(alice.steps()) == 12


def test_an_async_twin_raises_what_its_twin_raises(alice: UserMemory) -> None:
    async def work() -> None:
        with pytest.raises(InvalidInputError, match="k = 0"):
            await alice.arecall("x", k=0)
        with pytest.raises(HexamemError, match="message 2 of 2 is empty"):
            await alice.aremember(["fine", ""])

    asyncio.run(work())
    assert alice.steps() == []
