"""Redacting: words that a person names go from every row, index and file, and lie in the vault alone."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import HomeInUseError, InvalidInputError, NotFoundError, UndoRefusedError
from hexamem.memory_types import MemoryItem, Step, utc_now
from hexamem.stores.ledger import user_key, whole_words
from hexamem.stores.ledger.schema import jobs, vectors
from hexamem.stores.lexical.records import EXACT, LABEL, SPEAKER, STEMMED
from hexamem.stores.secrets import find_references, restore_references

from .ledger_rows import failing_inserts
from .word_everywhere import WORD, fill, indexed_fields, tables_with
from .word_labeler import WordLabeler

Traces = Callable[..., list[str]]


def rows(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [str(row) for table in tables for row in database.execute(f"SELECT * FROM {table}")]


def plain(user: UserMemory, text: str) -> str:
    ids = {found.id for found in find_references(text)}
    return restore_references(text, {secret_id: user.reveal(secret_id, reason="test") for secret_id in ids})


def step(user: UserMemory, step_id: str) -> Step:
    found = user.get(step_id)
    assert isinstance(found, Step)
    return found


def item(user: UserMemory, item_id: str) -> MemoryItem:
    found = user.get(item_id)
    assert isinstance(found, MemoryItem)
    return found


@pytest.mark.embedded
def test_the_words_are_gone_from_every_store_and_file(memory: Memory, alice: UserMemory, traces: Traces) -> None:
    ids = fill(alice, WORD)
    assert indexed_fields(alice.memory.home, "alice", WORD) == sorted([STEMMED, EXACT, SPEAKER, LABEL])
    seen = {line.split("/")[0].split(" ")[0] for line in traces(memory.home, WORD)}
    assert {"ledger.sqlite3-wal", "chroma", "media"} <= seen
    alice.recall(f"and {WORD}?")  # not yet written to the ledger
    receipt = alice.redact(WORD, caption="home town")
    assert traces(memory.home, WORD) == []
    assert indexed_fields(alice.memory.home, "alice", WORD) == []
    assert tables_with(memory.home, WORD) == {}
    assert receipt.step_ids == tuple(sorted(ids["steps"][:3]))
    assert ids["item"] in receipt.item_ids
    assert all(WORD not in str(alice.get(item_id)) for item_id in receipt.item_ids)
    said = [*alice.steps(), *alice.items(), *alice.history()]
    assert not any(WORD in str(one) for one in said)
    memory.close()
    assert traces(memory.home, WORD) == []


def test_the_words_lie_in_the_vault_and_are_found_by_their_caption(alice: UserMemory) -> None:
    ids = fill(alice, WORD)
    receipt = alice.redact(WORD, caption="antipodean settlement", kind="place", sensitivity="low")
    assert receipt.reference == f"{{{{vault:{receipt.secret_id}|antipodean settlement}}}}"
    assert receipt.step_ids == tuple(sorted(ids["steps"][:3]))
    assert receipt.item_ids == (ids["item"],)
    for name in (receipt.secret_id, receipt.reference):
        assert alice.reveal(name, reason="test") == WORD
    (entry,) = alice.items("vault")
    assert (entry.caption, entry.entry_type, entry.sensitivity) == ("antipodean settlement", "place", "low")
    content, made = step(alice, ids["steps"][0]).content, item(alice, ids["item"])
    assert plain(alice, content) == f"I live in {WORD}. In {WORD}, I say!"
    assert plain(alice, made.text) == f"home\nlives in {WORD}\nlikes {WORD}"
    (source,) = made.sources
    assert content[source.start : source.end] == source.quote
    assert source.start == content.rindex("In {{vault")  # the second of the two, as before
    found = [hit.id for hit in alice.recall("antipodean settlement", strategy="bm25", k=20)]
    assert set(ids["steps"][:2]) <= set(found)
    assert alice.recall(WORD, strategy="bm25").hits == ()
    assert indexed_fields(alice.memory.home, "alice", WORD) == []


TEXTS = st.lists(st.sampled_from(["ab", "ab cd", " ", "x", ",", "。", "ab cd ef"]), max_size=12).map("".join)


@settings(max_examples=15, deadline=None)
@given(text=TEXTS, data=st.data())
def test_any_quote_lies_where_its_span_says_and_covers_what_it_covered(
    shared: Memory, text: str, data: st.DataObject
) -> None:
    assume(whole_words("ab cd").search(text))
    user = shared.user("quoting")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    (step_id,) = user.remember([{"role": "user", "content": text}]).step_ids
    source = {"step_id": step_id, "quote": text[start:end], "start": start, "end": end}
    made = user.add({"kind": "core", "label": "a", "value": "b", "sources": [source]})
    user.redact("ab cd", caption="c")
    content = step(user, step_id).content
    (moved,) = item(user, made.id).sources
    assert content[moved.start : moved.end] == moved.quote
    assert plain(user, content) == text
    covered = plain(user, moved.quote)
    assert text[start:end] in covered
    if not any(start < cut < end for found in whole_words("ab cd").finditer(text) for cut in found.span()):
        assert covered in (text[start:end], "ab cd")  # one that cut through the words holds them whole


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    quiet = Settings(
        background=False, mode="off", labels="off", find_secrets=False
    )  # a person chooses what is redacted
    with Memory.open(tmp_path_factory.mktemp("shared"), embedder="static", settings=quiet) as memory:
        yield memory


FOUND = [
    ("1234", "pin 1234, order 91234, 12345 and 1234-5", "pin ⟦⟧, order 91234, 12345 and ⟦⟧-5"),
    ("cat", "a cat, concatenate, cats, CAT, the-Cat", "a ⟦⟧, concatenate, cats, ⟦⟧, the-⟦⟧"),
    ("caf", "caf café", "⟦⟧ café"), ("кот", "Кот и который", "⟦⟧ и который"),
    ("Anna Schmidt", "ANNA Schmidt and Anna Schmidts and Anna  Schmidt", "⟦⟧ and Anna Schmidts and Anna  Schmidt"),
    ("杭州", "我住在杭州市，杭州很美", "我住在⟦⟧市，⟦⟧很美"), ("さくら", "さくらさんは桜さくら", "⟦⟧さんは桜⟦⟧"),
    ("a.b*c", "a.b*c axbbc a.b*cd (a.b*c)", "⟦⟧ axbbc a.b*cd (⟦⟧)"), ("++", "C++ and ++i", "C⟦⟧ and ⟦⟧i"),
    ("two\nlines", "on two\nlines here", "on ⟦⟧ here"), ("😀😀", "so 😀😀😀", "so ⟦⟧😀"),
    ("\ud800x", "a \ud800x b", "a ⟦⟧ b"),
]  # fmt: skip


def test_words_are_found_by_themselves_in_whatever_case(shared: Memory) -> None:
    for number, (words, said, left) in enumerate(FOUND):
        user = shared.user(f"finder {number}")
        (step_id,) = user.remember([{"role": "user", "content": said}]).step_ids
        made = user.add({"kind": "core", "label": "a", "value": said})
        receipt = user.redact(words, caption="X")
        wanted = left.replace("⟦⟧", receipt.reference)
        assert (step(user, step_id).content, item(user, made.id).value) == (wanted, wanted)
        assert user.reveal(receipt.secret_id, reason="test") == words
    user = shared.user("finder of a case")
    user.remember("Bill pays the bill. BILL!")
    receipt = user.redact("Bill", caption="a name", match_case=True)
    assert user.steps()[0].content == f"{receipt.reference} pays the bill. BILL!"
    user.redact("bill", caption="a paper")
    assert "BILL" not in user.steps()[0].content
    value = f"{WORD} " * 3
    made = user.add({"kind": "core", "label": "town", "value": value, "limit": len(value)})  # at its limit
    user.redact(WORD, caption="home town")
    assert plain(user, item(user, made.id).value) == value
    user.edit(made.id, label="a town")


@pytest.mark.embedded
def test_a_redaction_is_not_undone_and_earlier_operations_are_without_the_words(alice: UserMemory) -> None:
    then = utc_now()
    ids = fill(alice, WORD)
    forgotten = alice.forget([ids["steps"][1]])
    receipt = alice.redact(WORD, caption="home town")
    (operation,) = [one for one in alice.history() if one.kind == "redact"]
    assert all(change.before is None and change.after is None for change in operation.changes)
    with pytest.raises(UndoRefusedError, match="reveal"):
        alice.undo(operation.id)
    assert [one.text for one in alice.items(known_at=then)] == []
    added, edited = [one for one in alice.history(ids["item"]) if one.kind in ("add", "update")]
    assert f"lives in {receipt.reference}" in alice.items("semantic", known_at=edited.created_at)[0].text
    alice.undo(edited.id)
    assert (item(alice, ids["item"]).summary, item(alice, ids["item"]).details) == (f"lives in {receipt.reference}", "")
    alice.undo(forgotten.id)
    assert step(alice, ids["steps"][1]).content == f"see {receipt.reference}"
    alice.undo(added.id)
    with pytest.raises(NotFoundError):
        alice.get(ids["item"])
    assert tables_with(alice.memory.home, WORD) == {}


@pytest.mark.embedded
def test_words_that_stand_nowhere_change_nothing_and_redacting_again_keeps_the_entry(
    memory: Memory, alice: UserMemory
) -> None:
    ann = alice
    fill(ann, WORD)
    before = rows(memory.home)
    with pytest.raises(NotFoundError) as caught:
        ann.redact("thylacine")
    assert "thylacine" not in str(caught.value)
    assert rows(memory.home) == before
    receipt = ann.redact(WORD, caption="home town")
    with pytest.raises(NotFoundError):
        ann.redact(WORD, caption="home town")
    assert ann.reveal(receipt.secret_id, reason="test") == WORD
    ann.remember(f"back in {WORD}")
    assert WORD not in ann.steps()[-1].content  # known now, so it is taken out as it comes
    ann.add({"kind": "core", "label": "town", "value": f"{WORD}, of course"})
    again = ann.redact(WORD, caption="home town")
    assert again.secret_id == receipt.secret_id
    assert len(ann.items("vault")) == 1


def test_words_that_stand_everywhere_or_in_their_own_description_are_refused(ann: UserMemory) -> None:
    ann.remember(f"x 密 text {WORD}")
    described = ({"caption": f"of {WORD}"}, {"reason": f"since {WORD.upper()}"}, {"kind": WORD})
    for words, fields in [*((words, {}) for words in ("", " ", "\n", "x", "密")), *((WORD, one) for one in described)]:
        with pytest.raises(InvalidInputError) as caught:
            ann.redact(words, **fields)  # type: ignore[arg-type]
        assert WORD not in str(caught.value).casefold()
    assert ann.steps()[0].content == f"x 密 text {WORD}"
    assert ann.items("vault") == []


def test_what_describes_a_redaction_is_kept_without_secrets_of_its_own(alice: UserMemory, traces: Traces) -> None:
    fill(alice, WORD)
    said = "the wifi password is hunter2-x9Q"
    alice.redact(WORD, caption=said, kind=said, reason=said)
    assert traces(alice.memory.home, "hunter2-x9Q") == []
    assert [one.caption for one in alice.items("vault")] == ["the wifi password is [password of the wifi]"]


@pytest.mark.parametrize("word", ["semantic", "active", "vault", "text", "user", "2024", "id"])
def test_words_that_the_records_are_built_of_do_no_harm(shared: Memory, word: str) -> None:
    user = shared.user(f"builder {word}")
    ids = fill(user, f"{word} {WORD}")
    wifi = user.add({"kind": "vault", "caption": "wifi"}, secret="hunter2-x9Q")
    made = user.add({"kind": "episodic", "summary": f"in {word}", "occurred_at": "2024-05-01T00:00:00Z"})
    before = {one.id: one for one in user.items()}
    recall = user.recall(WORD)
    user.redact(word, caption="X")
    after = {one.id: one for one in user.items()}
    for item_id, old in before.items():
        new = after[item_id]
        assert plain(user, new.text).replace("X", word) == old.text.replace("X", word)
        kept = ("kind", "status", "version", "created_at", "valid_from", "user")
        assert [getattr(new, name) for name in kept] == [getattr(old, name) for name in kept]
    assert item(user, made.id).occurred_at.year == 2024
    assert [block["type"] for block in step(user, ids["steps"][1]).blocks] == ["text", "image", "file"]
    user.feedback(recall.id, helped=[recall.hits[0].id])
    user.undo(next(one.id for one in user.history(made.id) if one.kind == "add"))
    assert user.reveal(wifi.id, reason="test") == "hunter2-x9Q"


@pytest.mark.embedded
def test_references_to_other_secrets_stay_whole(alice: UserMemory) -> None:
    alice.remember("the password of Netflix is hunter2-x9Q")
    assert "password of Netflix" in alice.steps()[0].content
    alice.redact("Netflix", caption="film service")
    content = alice.steps()[0].content
    assert "Netflix" not in content
    assert plain(alice, content) == "the password of Netflix is hunter2-x9Q"
    assert tables_with(alice.memory.home, "Netflix") == {}


@pytest.mark.embedded
def test_a_text_file_is_rewritten_and_its_old_bytes_are_gone(alice: UserMemory) -> None:
    ids = fill(alice, WORD)
    data = b"\x89PNG\xff " + WORD.encode()
    picture = {"type": "image", "base64": base64.b64encode(data).decode(), "mime_type": "image/png", "caption": WORD}
    (shown,) = alice.remember([{"role": "user", "content": [picture]}]).step_ids
    (old,) = [one.sha256 for one in step(alice, ids["steps"][1]).media if one.sha256]
    receipt = alice.redact(WORD, caption="home town")
    after = step(alice, ids["steps"][1])
    (new,) = [one for one in after.media if one.sha256]
    media, key = alice.memory.media, user_key("alice")
    assert media.get(key, new.sha256 or "") == f"log of {receipt.reference}\r\n".encode()
    assert after.blocks[2]["sha256"] == new.sha256 != old
    assert new.name == f"{receipt.reference}.txt"
    with pytest.raises(NotFoundError):
        media.get(key, old or "")
    assert tables_with(alice.memory.home, old or "?") == {}
    (kept,) = step(alice, shown).media  # what is no text stays as it is, but for its caption
    assert media.get(key, kept.sha256 or "") == data
    assert WORD not in str(kept.caption)


@pytest.mark.embedded
def test_a_redaction_that_fails_changes_nothing(alice: UserMemory, traces: Traces) -> None:
    fill(alice, WORD)
    before, files = rows(alice.memory.home), sorted(alice.memory.home.glob("media/*/*"))
    with failing_inserts(alice.memory.home, "operations"), pytest.raises(OSError, match="room") as caught:
        alice.redact(WORD, caption="home town")
    assert WORD not in str(caught.value)
    assert rows(alice.memory.home) == before
    assert sorted(alice.memory.home.glob("media/*/*")) == files
    alice.redact(WORD, caption="home town")
    assert traces(alice.memory.home, WORD) == []


def test_vectors_kept_for_a_paid_embedder_go_with_the_words(tmp_path: Path) -> None:
    quiet = Settings(background=False, mode="off")
    with Memory.open(tmp_path, embedder=DeterministicFakeEmbedding(size=16), settings=quiet) as memory:
        alice = memory.user("alice")
        alice.remember([f"I live in {WORD}", "I like tea"])
        alice.flush()
        before = cached(memory)
        assert len(before) == 2
        alice.redact(WORD, caption="home town")
        alice.flush()
        after = cached(memory)
        assert len(after & before) == 1
        assert len(after) == 3  # the tea, the redacted step and the vault's item


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("step_that_fails", "then"),
    [
        ("purge", "same words"),
        ("checkpoint", "other words"),
        ("retain_only", "recall in a new process"),
        ("purge", "flush"),
    ],
)
def test_a_redaction_that_fails_after_the_ledger_was_written_is_finished_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traces: Traces, step_that_fails: str, then: str
) -> None:
    home, quiet = tmp_path / "home", Settings(background=False, mode="off")
    memory = Memory.open(home, embedder="static", settings=quiet)
    alice = memory.user("alice")
    ids = fill(alice, WORD)
    owner = {"purge": memory.projector, "checkpoint": memory.ledger, "retain_only": memory.media}[step_that_fails]

    with monkeypatch.context() as patched:
        patched.setattr(owner, step_that_fails, busy)
        with pytest.raises(HomeInUseError):
            alice.redact(WORD, caption="home town")
        found = alice.recall("home town", k=20)
        assert ids["steps"][0] in {hit.id for hit in found}
        assert [line for line in found.degraded if "not finished" in line] != []
    assert traces(home, WORD) != []
    if then == "same words":
        receipt = alice.redact(WORD, caption="home town")
        assert (receipt.step_ids, receipt.item_ids) == (tuple(sorted(ids["steps"][:3])), (ids["item"],))
        assert alice.reveal(receipt.secret_id, reason="test") == WORD
        with pytest.raises(NotFoundError):  # finished: now they stand nowhere
            alice.redact(WORD, caption="home town")
    elif then == "other words":
        alice.redact("nothing here", caption="words")
    elif then == "flush":
        memory.flush()
    else:
        memory.close()
        memory = Memory.open(home, embedder="static", settings=quiet)
        assert memory.user("alice").recall("home town").degraded == ()
    with memory.ledger.read("alice") as tx:
        assert [row.kind for row in tx.all(jobs.select())] == ["label"]
    assert traces(home, WORD) == []
    memory.close()


def busy(*_: Any, **__: Any) -> None:
    raise HomeInUseError("somebody reads")


def cached(memory: Memory) -> set[str]:
    with memory.ledger.read("alice") as tx:
        return {row.text_hash for row in tx.all(vectors.select())}


def test_what_labelling_and_managers_cut_out_of_the_words_goes_with_them(tmp_path: Path, traces: Traces) -> None:
    phrase = "crimson walrus tango umbrella velvet sundial"
    with Memory.open(tmp_path / "home", settings=Settings(background=False), labeler=WordLabeler) as memory:
        alice = memory.user("alice")
        (step_id,) = alice.remember(f"The phrase is {phrase}, and the budget is 300 euros.").step_ids
        alice.flush()
        summary = alice.labels.of(step_id).summary
        assert "crimson" in summary
        assert phrase not in summary
        alice.redact(phrase)
        alice.flush()
        left = f"{alice.labels.of(step_id)} {alice.labels.list()} {alice.history()} {alice.items()}"
        assert not [word for word in phrase.split() if word in left.casefold()]
        assert not traces(tmp_path / "home", *phrase.split())


@pytest.mark.parametrize("name", ["Bartholomew", "Bartholomew_the_walrus"])
def test_a_label_named_by_redacted_words_gets_a_neutral_name_for_good(
    tmp_path: Path, traces: Traces, name: str
) -> None:
    with Memory.open(tmp_path, embedder="static", settings=Settings(background=False), labeler=WordLabeler) as memory:
        alice = memory.user("alice")
        steps = alice.remember([f"scope:{name} likes herring.", "Fine, BARTHOLOMEW."]).step_ids
        alice.flush()
        renamed = alice.labels.rename(alice.labels.of(steps[1]).intent.scope, "Mine")
        (undone,) = alice.undo(renamed.id)
        forgotten = alice.forget(steps[:1])
        if name == "Bartholomew":
            alice.undo(forgotten.id)
        alice.redact("Bartholomew", caption="it")
        assert alice.labels.of(steps[1]).scope == "Scope 1"
        (redone,) = alice.undo(undone.id)  # history fits what the redaction left
        assert alice.labels.of(steps[1]).scope == "Mine"
        alice.undo(redone.id)
        assert alice.labels.of(steps[1]).scope == "Scope 1"
        assert not traces(tmp_path, "Bartholomew", "bartholomew", "BARTHOLOMEW")
