"""Secrets: their plaintext reaches no file, log or error, wherever they stand; ``reveal`` gives each one back."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import logging
import random
import re
import shutil
import sqlite3
import string
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.doctor import examine
from hexamem.errors import (
    HexamemError,
    HomeNotWritableError,
    InvalidInputError,
    NotFoundError,
    SecretKeyError,
    StorageFullError,
)
from hexamem.stores import redaction
from hexamem.stores.ledger import list_secrets, user_key
from hexamem.stores.media import text_of
from hexamem.stores.secrets import KEY_VARIABLE, find_references, new_key, restore_references

from .ledger_rows import failing_inserts

Traces = Callable[..., list[str]]
ALNUM = string.ascii_letters + string.digits
DIGITS, HEX = string.digits, "0123456789abcdef"


def drawn(length: int, alphabet: str = ALNUM, seed: str = "") -> str:
    """Random-looking text, the same at every run; tokens are made here so that none stands in the repository."""
    source = random.Random(f"vault {seed} {length} {alphabet}")
    text = [source.choice(alphabet) for _ in range(length)]
    if alphabet.startswith(ALNUM) and length >= 8:
        text[2], text[length // 2], text[-1] = "7", "4", "9"
    return "".join(text)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


class Kind(NamedTuple):
    """A kind of secret: a sentence that holds it, the value, and a key under which it may stand alone."""

    name: str
    sentence: str
    value: str
    key: str


PEM = "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----".format(
    "\n".join(drawn(64, ALNUM + "+/", str(line)) for line in range(5))
)
JWT = f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{encoded({'sub': '90210', 'name': 'Ann'})}.{drawn(43)}"
SEED = "abandon ability able about above absent absorb abstract absurd abuse access accident"
KINDS = [
    Kind(name, sentence.replace("⟦⟧", value), value, key)
    for name, sentence, value, key in [
        ("OpenAI key", "here is my key ⟦⟧", f"sk-{drawn(48)}", "key"),
        ("AWS secret", "aws_secret_access_key = ⟦⟧", drawn(40, ALNUM + "+/"), "aws_secret_access_key"),
        ("GitHub token", "clone with ⟦⟧ please", f"ghp_{drawn(36)}", "github"),
        ("Slack hook", "post to ⟦⟧", f"https://hooks.slack.com/services/T{drawn(8)}/B{drawn(8)}/{drawn(24)}", "hook"),
        ("JWT", "jwt is ⟦⟧.", JWT, "jwt"),
        ("bearer", "curl -H 'Authorization: Bearer ⟦⟧' https://api.example.com", drawn(40, seed="b"), "bearer_token"),
        ("private key", "my key:\n⟦⟧\nthanks", PEM, "pem"),
        ("connection string", "DATABASE_URL=postgresql://app:⟦⟧@db.internal:5432/app", "p4ssw0rd!x", "password"),
        ("password", "the wifi password is ⟦⟧, ok?", "hunter2-x9Q", "password"),
        ("passphrase", "my passphrase: ⟦⟧", "correct horse battery staple", "passphrase"),
        ("Chinese password", "我的邮箱密码是⟦⟧，记一下", "qwe789rt", "密码"),
        ("PIN", "my card PIN: ⟦⟧.", "4821", "pin"),
        ("one-time code", "Your verification code is ⟦⟧.", "482913", "verification code"),
        ("door code", "The code for the front door is ⟦⟧", "4471#", "door code"),
        ("recovery codes", "backup codes: ⟦⟧", "8kf2-92la, 77xq-02mn, 1zp0-4rt5", "backup codes"),
        ("seed phrase", "my seed phrase is ⟦⟧.", SEED, "seed phrase"),
        ("card", "my card is ⟦⟧", "4111 1111 1111 1111", "card"),
        ("card code", "and the cvv is ⟦⟧", "739", "cvv"),
        ("IBAN", "IBAN: ⟦⟧", "DE89 3704 0044 0532 0130 00", "iban"),
        ("social security number", "my SSN is ⟦⟧", "219-09-9999", "ssn"),
        ("Chinese identity number", "身份证号⟦⟧", "11010519491231002X", "身份证号"),
        ("licence key", "The Windows license key is ⟦⟧", "VK7JG-NPHTM-C97JM-9MPGT-3V66T", "license key"),
    ]
]


def told(sentence: str) -> str:
    return base64.b64encode(sentence.encode()).decode()


def says(text: Any, **fields: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text, **fields}]


VALUES = [kind.value for kind in KINDS]
FEW = [
    kind
    for kind in KINDS
    if kind.name in ("OpenAI key", "private key", "connection string", "password", "PIN", "card", "door code")
]
"""What is put into every place, and into every error: of each form one."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    settings = Settings(background=False, mode="off", labels="off")
    with Memory.open(tmp_path_factory.mktemp("shared"), embedder="static", settings=settings) as memory:
        yield memory


@pytest.fixture
def alice(shared: Memory, request: pytest.FixtureRequest) -> UserMemory:
    return shared.user(request.node.name)


Place = Callable[[UserMemory, Kind], Any]


def _step(user: UserMemory, messages: list[dict[str, Any]], **fields: Any) -> str:
    return user.remember(messages, **fields).step_ids[0]


def _call(kind: Kind, arguments: Any) -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "log_in", "arguments": arguments}}
    return [{"role": "assistant", "content": "", "tool_calls": [call]}]


def _image(**fields: Any) -> list[dict[str, Any]]:
    return says([{"type": "image", "base64": told("\x89picture"), "mime_type": "image/png", **fields}])


def _file(data: bytes, mime: str) -> list[dict[str, Any]]:
    return says([{"type": "file", "base64": base64.b64encode(data).decode(), "mime_type": mime, "filename": "notes"}])


def _item(user: UserMemory, **fields: Any) -> str:
    return user.add({"kind": "semantic", "name": "a note", "summary": "a fact", **fields}).id


def _edited(user: UserMemory, kind: Kind) -> str:
    return user.edit(_item(user), details=kind.sentence, labels=[kind.sentence], tree_path=[kind.sentence]).id


def _quoted(user: UserMemory, kind: Kind) -> str:
    step_id = _step(user, says(kind.sentence))
    source = {"step_id": step_id, "quote": kind.sentence, "start": 0, "end": len(kind.sentence)}
    return _item(user, sources=[source])


def _done_and_undone(user: UserMemory, kind: Kind) -> str:
    item_id = user.add({"kind": "core", "label": "x", "value": "y"}, reason=kind.sentence, actor=kind.sentence).id
    user.edit(item_id, value="z", reason=kind.sentence, actor=kind.sentence)
    removed = user.remove(item_id, reason=kind.sentence, actor=kind.sentence)
    user.undo(removed.id, actor=kind.sentence)
    forgotten = user.forget([_step(user, says("hello"))], reason=kind.sentence, actor=kind.sentence)
    user.undo(forgotten.id)
    return item_id


def _revealed(user: UserMemory, kind: Kind) -> str:
    item = user.add({"kind": "vault", "caption": "a thing"}, secret=drawn(20, seed="v"))
    user.reveal(item.id, reason=kind.sentence, actor=kind.sentence)
    return item.id


def _asked(user: UserMemory, kind: Kind) -> None:
    recall = user.recall(kind.sentence)
    user.recall(f"is it true that {kind.sentence}")
    user.flush()
    assert recall.query == kind.sentence


PLACES: dict[str, Place] = {
    "text": lambda user, kind: _step(user, says(kind.sentence)),
    "text among blocks": lambda user, kind: _step(
        user, says([{"type": "text", "text": "hello"}, {"type": "text", "text": kind.sentence}])
    ),
    "text cut into blocks": lambda user, kind: _step(
        user, says([{"type": "text", "text": f"{kind.key}:"}, {"type": "text", "text": f"{kind.value}"}])
    ),
    "name": lambda user, kind: _step(user, says("hello", name=kind.sentence)),
    "metadata of a message": lambda user, kind: _step(user, says("hello", metadata={"note": kind.sentence})),
    "metadata by its key": lambda user, kind: _step(user, says("hello", metadata={"a": [{kind.key: kind.value}]})),
    "metadata in a list": lambda user, kind: _step(user, says("hello", metadata={kind.key: ["none", kind.value]})),
    "metadata by name and value": lambda user, kind: _step(
        user, says("hello", metadata={"env": [{"name": kind.key, "value": kind.value}]})
    ),
    "metadata as a key": lambda user, kind: _step(user, says("hello", metadata={kind.sentence: True})),
    "metadata of the call": lambda user, kind: _step(user, says("hello"), metadata={"note": kind.sentence}),
    "tool arguments": lambda user, kind: _step(user, _call(kind, json.dumps({"text": kind.sentence}))),
    "tool arguments by their key": lambda user, kind: _step(user, _call(kind, json.dumps({kind.key: kind.value}))),
    "tool arguments as text": lambda user, kind: _step(user, _call(kind, kind.sentence)),
    "tool result": lambda user, kind: _step(user, [{"role": "tool", "tool_call_id": "c1", "content": kind.sentence}]),
    "caption": lambda user, kind: _step(user, _image(caption=kind.sentence)),
    "file name": lambda user, kind: _step(user, _image(filename=kind.sentence)),
    "transcript": lambda user, kind: _step(
        user, says([{"type": "audio", "base64": told("\x89sound"), "mime_type": "audio/wav", "transcript": kind.sentence}])
    ),
    "document of text": lambda user, kind: _step(
        user, says([{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": kind.sentence}}])
    ),
    "text-plain block": lambda user, kind: _step(user, says([{"type": "text-plain", "text": kind.sentence}])),
    "unknown block": lambda user, kind: _step(user, says([{"type": "text", "text": "x"}, {"type": "odd", "a": kind.sentence}])),
    "text file": lambda user, kind: _step(user, _file(f"dear diary\n{kind.sentence}\n".encode(), "text/plain")),
    "file said to be binary": lambda user, kind: _step(user, _file(kind.sentence.encode(), "application/octet-stream")),
    "text file in UTF-16": lambda user, kind: _step(user, _file(f"\ufeff{kind.sentence}".encode("utf-16-le"), "text/plain")),
    "data URL": lambda user, kind: _step(
        user, says([{"type": "image_url", "image_url": {"url": f"data:text/plain;base64,{told(kind.sentence)}"}}])
    ),
    "reasoning": lambda user, kind: _step(
        user, [{"role": "assistant", "content": [{"type": "reasoning", "reasoning": kind.sentence}, {"type": "text", "text": "ok"}]}]
    ),
    "item": lambda user, kind: _item(user, summary=kind.sentence, source=kind.sentence),
    "item's label and value": lambda user, kind: user.add({"kind": "core", "label": kind.key, "value": kind.value}).id,
    "item's lists and metadata": lambda user, kind: _item(
        user, labels=[kind.sentence], tree_path=["home", kind.sentence], metadata={"a": {"b": [kind.sentence]}}
    ),
    "item's quote": _quoted,
    "steps of a procedure": lambda user, kind: user.add(
        {"kind": "procedural", "summary": "how to", "steps": ["begin", kind.sentence]}
    ).id,
    "caption of a vault item": lambda user, kind: user.add({"kind": "vault", "caption": kind.sentence}, secret=drawn(20, seed="v")).id,
    "edited item": _edited,
    "history": _done_and_undone,
    "audit": _revealed,
    "query": _asked,
}  # fmt: skip


def _whole(value: str) -> re.Pattern[str]:
    return re.compile(f"(?<![0-9A-Za-z]){re.escape(value)}(?![0-9A-Za-z])")


def _rows(home: Path) -> Iterator[str]:
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in database.execute(f"SELECT * FROM {table}"):
                yield from (value for value in row if isinstance(value, str))


def visible(home: Path, values: list[str], traces: Traces) -> list[str]:
    """Where a value stands in the clear: long ones in any form in any file, short ones as words of the ledger."""
    found = traces(home, *(value for value in values if len(value) >= 8))
    short = [value for value in values if len(value) < 8]
    for text in _rows(home):
        found += [
            f"ledger (word {value}) in {text[:200]}" for value in short if value in text and _whole(value).search(text)
        ]
    return found


class Filled(NamedTuple):
    """A home in which secrets were put into every place, one user a place, each in a call of its own."""

    home: Path
    while_open: Path
    revealed: dict[str, set[str]]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    folder = tmp_path_factory.mktemp("vault")
    home, settings = folder / "home", Settings(background=False, keep_reasoning=True)
    with Memory.open(home, embedder="static", settings=settings) as memory:
        for place, put in PLACES.items():
            user = memory.user(place)
            for kind in KINDS if place == "text" else FEW:
                put(user, kind)
            if place in ("text", "item", "query"):  # what is derived is derived from what was stored
                user.flush()
        copy = shutil.copytree(home, folder / "copy")  # with what the write-ahead log holds
        revealed = {place: _revealed_by(memory.user(place)) for place in PLACES}
    return Filled(home, copy, revealed)


def _revealed_by(user: UserMemory) -> set[str]:
    """What every reference that stands in the user's steps, items, history, audit and files gives back."""
    key = user_key(user.name)
    media = [user.memory.media.get(key, one.sha256) for step in user.steps() for one in step.media if one.sha256]
    texts = [text for data in media if (text := text_of(data, "text/plain")[0]) is not None]
    said = [*user.steps(), *user.items(), *user.history(), *user.reveals(), *texts]
    ids = {reference.id for one in said for reference in find_references(_readable(one))}
    return {user.reveal(secret_id, reason="test") for secret_id in ids}


def _readable(value: Any) -> str:
    return value if isinstance(value, str) else str(value.model_dump())


@pytest.mark.embedded
def test_no_file_holds_a_secret_in_the_clear_and_each_is_given_back_by_its_reference(
    filled: Filled, traces: Traces
) -> None:
    assert visible(filled.home, VALUES, traces) == []
    assert visible(filled.while_open, VALUES, traces) == []
    for place in PLACES.keys() - {"query"}:
        tried = {kind.value for kind in (KINDS if place == "text" else FEW)}
        assert (place, tried - filled.revealed[place]) == (place, set())


def test_no_log_line_holds_a_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("", "sqlalchemy.engine", "sqlalchemy.pool", "chromadb", "hexamem"):
        caplog.set_level(logging.DEBUG, logger=name)
    with Memory.open(tmp_path / "home", embedder="static") as memory:
        alice = memory.user("alice")
        for place in ("text", "tool arguments", "text file", "item", "edited item", "history", "query"):
            for kind in FEW:
                PLACES[place](alice, kind)
        assert "hunter2-x9Q" in _revealed_by(alice)
        alice.export(tmp_path / "export.jsonl", passphrase="open sesame")
        memory.user("bob").import_(tmp_path / "export.jsonl", passphrase="open sesame")
        alice.redact("diary")
        alice.erase()
    lines = "\n".join(f"{record.name}: {record.getMessage()}" for record in caplog.records)
    assert "INSERT INTO steps" in lines
    assert [kind.name for kind in KINDS if len(kind.value) >= 8 and kind.value in lines] == []
    assert "open sesame" not in lines


@pytest.mark.embedded
def test_without_finding_secrets_every_text_is_stored_as_it_is_which_the_scan_sees(
    tmp_path: Path, traces: Traces
) -> None:
    settings = Settings(background=False, find_secrets=False)
    with Memory.open(tmp_path, embedder="static", settings=settings) as memory:
        alice = memory.user("alice")
        alice.remember([kind.sentence for kind in KINDS])
        alice.remember(_file(KINDS[0].sentence.encode(), "text/plain"))
        assert [step.content for step in alice.steps()[:-1]] == [kind.sentence for kind in KINDS]
        assert kept(alice) == KINDS[0].sentence.encode()
    found = visible(tmp_path, VALUES, traces)
    assert {value for value in VALUES if any(value in line for line in found)} == set(VALUES)
    assert any("media" in line for line in found)


# -- what is left around a secret ---------------------------------------------------------------------------------


PIECES = st.one_of(
    st.sampled_from([kind.sentence for kind in KINDS]),
    st.text(max_size=20),
    st.sampled_from(
        ["password: ", "\ud800", "\0", "{{vault:x|y}}", "\r\n", "4821", "hunter2-x9Q", "my pin is", "😀", "}}"]
    ),
)


def plain(user: UserMemory, text: str) -> str:
    """The text with what its references stand for."""
    known = {}
    for found in find_references(text):
        with contextlib.suppress(NotFoundError):  # a reference that the text had from the start
            known[found.id] = user.reveal(found.id, reason="test")
    return restore_references(text, known)


@settings(max_examples=20, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=6).map(" ".join).filter(str.strip))
def test_all_but_the_secrets_is_kept_byte_for_byte(shared: Memory, text: str) -> None:
    user = shared.user("of any text")
    step = user.get(user.remember([{"role": "user", "content": text}]).step_ids[0])
    assert plain(user, step.content) == text
    assert plain(user, step.index_text) == text


def test_the_words_around_a_secret_stay_where_they_are(alice: UserMemory) -> None:
    done = alice.remember("the wifi password is hunter2-x9Q!\n  and  tabs\t stay")
    (put,) = done.secrets
    assert alice.steps()[0].content == f"the wifi password is {put}!\n  and  tabs\t stay"
    assert put.endswith("|password of the wifi}}")
    assert alice.recall("what is the wifi password?").hits[0].id in {done.step_ids[0], alice.items()[0].id}
    assert alice.remember("my password is too long, I forgot it").secrets == ()
    assert alice.steps()[1].content == "my password is too long, I forgot it"
    assert len(alice.items()) == 1


def test_a_whole_number_that_is_a_secret_becomes_a_reference(alice: UserMemory) -> None:
    alice.remember(_call(KINDS[0], json.dumps({"card": 4111111111111111, "pin": 4821, "amount": 4821000, "ok": True})))
    (call,) = alice.steps()[0].tool_calls
    assert [plain(alice, call.arguments[name]) for name in ("card", "pin")] == ["4111111111111111", "4821"]
    assert (call.arguments["amount"], call.arguments["ok"]) == (4821000, True)


def test_a_long_secret_is_taken_out_of_the_whole_call_a_short_one_out_of_its_message(alice: UserMemory) -> None:
    alice.remember(["my pin is 4821", "the wifi password is hunter2-x9Q", "room 4821, and hunter2-x9Q works"])
    assert alice.steps()[2].content.startswith("room 4821, and {{vault:")
    alice.remember("my pin is 4821, the same as room 4821 but not room 48210")
    assert plain(alice, alice.steps()[3].content) == "my pin is 4821, the same as room 4821 but not room 48210"
    assert re.fullmatch(
        r"my pin is \{\{.*?\}\}, the same as room \{\{.*?\}\} but not room 48210", alice.steps()[3].content
    )
    alice.remember("the invoice number is 4821-B")  # said again, a short one may stand there by chance
    assert alice.steps()[-1].content == "the invoice number is 4821-B"


@pytest.mark.embedded
def test_a_caption_does_not_tell_another_secret_of_the_call(alice: UserMemory) -> None:
    alice.remember(["my Netflix password is popcorn77x", "the password for the popcorn77x account is Zebra-41-blue"])
    assert not any("popcorn77x" in row for row in _rows(alice.memory.home))
    assert {alice.reveal(item.id, reason="test") for item in alice.items("vault")} == {"popcorn77x", "Zebra-41-blue"}


# -- media ---------------------------------------------------------------------------------------------------------


def kept(user: UserMemory) -> bytes:
    step = user.steps()[-1]
    return user.memory.media.get(user_key(user.name), step.media[0].sha256 or "")


@pytest.mark.embedded
def test_a_text_file_is_kept_without_its_secrets_under_the_hash_of_what_is_kept(alice: UserMemory) -> None:
    data = "naïve diary\r\nthe wifi password is hunter2-x9Q\r\n".encode()
    alice.remember(_file(data, "text/plain"))
    (step,) = alice.steps()
    assert plain(alice, kept(alice).decode()).encode() == data
    digest = hashlib.sha256(kept(alice)).hexdigest()
    assert step.media[0].sha256 == digest != hashlib.sha256(data).hexdigest()
    assert step.blocks[0]["sha256"] == digest
    assert step.media[0].size == len(kept(alice))
    assert hashlib.sha256(data).hexdigest() not in str(list(_rows(alice.memory.home)))  # it would let one guess


def test_a_text_file_keeps_its_encoding_and_one_without_secrets_or_of_no_text_its_bytes(alice: UserMemory) -> None:
    for encoding in ("utf-16-le", "utf-16-be", "latin-1"):
        mark = "\ufeff" if encoding.startswith("utf-16") else ""
        text = f"{mark}Grüße\nthe wifi password is hunter2-x9Q\n"
        alice.remember(_file(text.encode(encoding), "text/plain"))
        assert plain(alice, kept(alice).decode(encoding)) == text
    for data, mime_type in (
        (b"\x89PNG\r\n\x1a\n\xff\xfe password: hunter2-x9Q \x00\xff", "image/png"),
        (b"\xef\xbb\xbfnothing here\r\n\x00", "text/plain"),
    ):
        alice.remember(_file(data, mime_type))
        assert kept(alice) == data


# -- reveal --------------------------------------------------------------------------------------------------------


def test_reveal_is_audited_needs_a_reason_and_what_is_not_there_is_refused(shared: Memory, alice: UserMemory) -> None:
    (put,) = alice.remember("the wifi password is hunter2-x9Q").secrets
    (item,) = alice.items("vault")
    note, bob = alice.add({"kind": "core", "label": "a", "value": "b"}), shared.user("bob")
    for reason in ("", "   "):
        with pytest.raises(InvalidInputError, match="reason"):
            alice.reveal(item.id, reason=reason)
    for user, name in ((bob, put), (alice, "vault_unknown"), (alice, note.id)):
        with pytest.raises(NotFoundError):
            user.reveal(name, reason="test")
    assert alice.reveals() == bob.reveals() == []
    for name in (put, item.id, item.secret_id):
        assert alice.reveal(name, reason="to log in", actor="agent-7") == "hunter2-x9Q"
    assert [(one.secret_id, one.actor, one.reason) for one in alice.reveals()] == [
        (item.secret_id, "agent-7", "to log in")
    ] * 3
    assert len(alice.reveals(item.secret_id)) == 3
    assert alice.reveals("another") == []


@pytest.mark.embedded
def test_another_key_reveals_nothing_and_keeps_new_secrets_under_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: Any = {"embedder": "static", "settings": Settings(background=False, mode="off", labels="off")}
    with Memory.open(tmp_path, **options) as memory:
        alice = memory.user("alice")
        (old,) = alice.remember("the wifi password is hunter2-x9Q").secrets
        item = alice.add({"kind": "semantic", "name": "wifi", "summary": "the password is hunter2-x9Q"})
        alice.edit(item.id, name="the wifi at home")
        alice.edit(item.id, summary="gone")
        alice.undo(alice.history(item.id)[-1].id)
    monkeypatch.setenv(KEY_VARIABLE, base64.b64encode(new_key()).decode())
    with Memory.open(tmp_path, **options) as memory:
        assert any("key" in notice for notice in memory.notices)
        alice = memory.user("alice")
        with pytest.raises(SecretKeyError, match="key") as caught:
            alice.reveal(old, reason="test")
        assert not leaks(caught.value, "hunter2-x9Q")
        assert alice.reveals() == []
        (new,) = alice.remember("my card PIN: 4821.").secrets
        assert alice.reveal(new, reason="test") == "4821"
        assert alice.recall("wifi").hits
    monkeypatch.delenv(KEY_VARIABLE)
    with Memory.open(tmp_path, **options) as memory:
        alice = memory.user("alice")
        assert alice.reveal(old, reason="test") == "hunter2-x9Q"
        assert plain(alice, alice.get(item.id).summary) == "the password is hunter2-x9Q"


@pytest.mark.embedded
def test_a_lost_key_is_not_replaced_by_one_that_its_restoring_would_overwrite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: Any = {"embedder": "static", "settings": Settings(background=False, mode="off", labels="off")}
    key = tmp_path / "vault.key"
    with Memory.open(tmp_path, **options) as memory:
        memory.user("alice").remember("We moved to Porto.")
    key.unlink()
    with Memory.open(tmp_path, **options) as memory:  # without a secret, no key is lost
        (secret,) = memory.user("alice").remember("the wifi password is hunter2-x9Q").secrets
    kept = key.read_bytes()
    key.unlink()
    with pytest.raises(SecretKeyError, match="restore it from your backup"):
        Memory.open(tmp_path, **options)
    assert not key.exists()
    monkeypatch.setenv(KEY_VARIABLE, base64.b64encode(new_key()).decode())
    with Memory.open(tmp_path, **options) as memory:
        assert [finding.status for finding in examine(memory) if finding.name == "vault key"] == ["wrong"]
    monkeypatch.delenv(KEY_VARIABLE)
    key.write_bytes(kept)
    key.chmod(0o600)
    with Memory.open(tmp_path, **options) as memory:
        assert memory.user("alice").reveal(secret, reason="test") == "hunter2-x9Q"
        assert [finding.status for finding in examine(memory) if finding.name == "vault key"] == ["ok"]


def test_homes_that_share_a_ledger_share_the_key_of_the_environment_or_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(name: str) -> Memory:
        options = {"embedder": "static", "settings": Settings(background=False, mode="off", labels="off")}
        return Memory.open(tmp_path / name, ledger_url=f"sqlite:///{tmp_path}/shared.sqlite3", **options)

    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with pytest.raises(SecretKeyError, match=KEY_VARIABLE):
        opened("no key")
    monkeypatch.setenv(KEY_VARIABLE, base64.b64encode(new_key()).decode())
    with opened("first") as first, opened("second") as second:
        item = first.user("alice").add({"kind": "vault", "caption": "wifi"}, secret="blue-fish-77")
        assert second.user("alice").reveal(item.id, reason="test") == "blue-fish-77"
    monkeypatch.setenv(KEY_VARIABLE, base64.b64encode(new_key()).decode())
    with pytest.raises(SecretKeyError, match="were encrypted with"):
        opened("third")


def test_the_same_secret_stated_twice_is_one_entry(alice: UserMemory) -> None:
    first = alice.remember("the wifi password is hunter2-x9Q").secrets
    second = alice.remember("my email password: hunter2-x9Q").secrets
    alice.add({"kind": "semantic", "name": "wifi", "summary": "the password is hunter2-x9Q"})
    alice.add({"kind": "vault", "caption": "the one of the wifi"}, secret="hunter2-x9Q")
    assert {find_references(put)[0].id for put in (*first, *second)} == {alice.items("vault")[0].secret_id}
    assert len({item.secret_id for item in alice.items("vault")}) == 1


def test_a_secret_of_ones_own_must_not_stand_in_the_words_around_it(alice: UserMemory) -> None:
    with pytest.raises(InvalidInputError, match="caption") as caught:
        alice.add({"kind": "vault", "caption": "my blue-fish"}, secret="blue-fish")
    assert not leaks(caught.value, "blue-fish")
    with pytest.raises(InvalidInputError, match="reason"):
        alice.add({"kind": "vault", "caption": "wifi"}, secret="blue-fish", reason="it is blue-fish now")
    item = alice.add({"kind": "vault", "caption": "wifi"}, secret="blue-fish")
    with pytest.raises(InvalidInputError, match="source"):
        alice.edit(item.id, source="says green-fish", secret="green-fish")
    assert alice.reveal(item.id, reason="test") == "blue-fish"
    alice.edit(item.id, secret="green-fish")
    assert alice.reveal(item.id, reason="test") == "green-fish"


# -- errors --------------------------------------------------------------------------------------------------------


_RECORD_ID = re.compile(r"\b[a-z]+_[0-9a-z]{26}\b")


def leaks(error: BaseException, value: str) -> list[str]:
    """Where an error tells the value: in its own words, or in those of an error behind it."""
    found, seen, queue = [], set(), [error]
    while queue:
        one = queue.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        said = [str(one), repr(one), *map(str, one.args), *traceback.format_exception_only(one)]
        said = [_RECORD_ID.sub("", text) for text in said]  # a random id may hold three digits by chance
        found += [f"{type(one).__name__}: {text}" for text in said if value in text]
        queue += [other for other in (one.__cause__, one.__context__) if other is not None]
    return found


WRONG: dict[str, Callable[[UserMemory, str], Any]] = {
    "a role": lambda user, said: user.remember([{"role": [said], "content": "x"}]),
    "a time": lambda user, said: user.remember([{"role": "user", "content": "x", "timestamp": said}]),
    "no content": lambda user, said: user.remember([{"role": "user", "text": said, said: 1}]),
    "broken base64": lambda user, said: user.remember(says([{"type": "image", "base64": f"{said}?"}])),
    "a message after the secret": lambda user, said: user.remember([said, 5]),
    "metadata": lambda user, said: user.remember("x", metadata={said: object()}),
    "a kind": lambda user, said: user.add({"kind": said}),
    "a missing field": lambda user, said: user.add({"kind": "semantic", "name": said}),
    "an unknown field": lambda user, said: user.add({"kind": "core", "label": "a", "value": "b", said: said}),
    "a wrong type": lambda user, said: user.add({"kind": "core", "label": {"a": said}, "value": [said]}),
    "a wrong time": lambda user, said: user.add({"kind": "episodic", "summary": "x", "occurred_at": said}),
    "an id": lambda user, said: user.add({"kind": "core", "label": "a", "value": "b", "id": said}),
    "a status": lambda user, said: user.add({"kind": "core", "label": "a", "value": "b", "status": said}),
    "a source": lambda user, said: user.add(
        {"kind": "core", "label": "a", "value": "b", "sources": [{"step_id": said}]}
    ),
    "a source of no kind": lambda user, said: user.add({"kind": "core", "label": "a", "value": "b", "sources": said}),
    "a value over its limit": lambda user, said: user.add(
        {"kind": "core", "label": said, "value": said * 9, "limit": 5}
    ),
    "what it supersedes": lambda user, said: user.add({"kind": "core", "label": "a", "value": "b"}, supersedes=said),
    "an edit": lambda user, said: user.edit(said, value=said),
    "a field to edit": lambda user, said: user.edit(user.items("core")[0].id, **{said: said}),
    "a strategy": lambda user, said: user.recall("x", strategy=said),
    "a condition": lambda user, said: user.recall("x", where={said: said}),
    "a time to look at": lambda user, said: user.recall("x", as_of=said),
    "kinds": lambda user, said: user.items(said),
    "what to get": lambda user, said: user.get(said),
    "what to reveal": lambda user, said: user.reveal(said, reason="test"),
    "what to undo": lambda user, said: user.undo(said),
    "what to forget": lambda user, said: user.forget([said]),
    "a thread to forget": lambda user, said: user.forget(thread_id=said),
    "what helped": lambda user, said: user.feedback(user.recall("x").id, helped=[said]),
    "what to redact": lambda user, said: user.redact(said, caption=said),
}


def test_an_errors_own_words_stay_and_a_secret_that_it_quotes_goes() -> None:
    @redaction.safe_errors
    def read(position: int) -> None:
        raise InvalidInputError(f"the vault's password is hunter2-x9Q, line {position} is {FEW[0].value!r}")

    with pytest.raises(InvalidInputError, match=r"^the vault's password is hunter2-x9Q, line 7 is '.+'$") as caught:
        read(7)
    assert not leaks(caught.value, FEW[0].value)


@pytest.mark.parametrize("what", WRONG)
def test_no_error_tells_a_secret(shared: Memory, what: str) -> None:
    user = shared.user("erring")
    if not user.items("core"):
        user.add({"kind": "core", "label": "a", "value": "b"})
    before = (user.steps(), user.items(), user.history())
    for kind in FEW:
        for said in (kind.sentence, kind.value) if kind.value.startswith("sk-") else (kind.sentence,):
            with pytest.raises(HexamemError) as caught:
                WRONG[what](user, said)
            assert leaks(caught.value, kind.value) == []
    assert (user.steps(), user.items(), user.history()) == before
    with shared.ledger.read("erring") as tx:
        assert list_secrets(tx) == []


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("table", "message", "kind"),
    [
        ("steps", "UNIQUE constraint failed", HexamemError),
        ("secrets", "database or disk is full", StorageFullError),
        ("changes", "database or disk is full", StorageFullError),
    ],
)
def test_a_database_or_a_folder_that_fails_after_the_secret_was_found_shows_and_keeps_nothing(
    memory: Memory, traces: Traces, table: str, message: str, kind: type[Exception]
) -> None:
    alice = memory.user("alice")
    alice.remember("hello")
    picture = _image(caption="the wifi password is hunter2-x9Q")
    with failing_inserts(memory.home, table, message), pytest.raises(kind) as caught:
        alice.remember([*picture, *says("the wifi password is hunter2-x9Q")])
    assert leaks(caught.value, "hunter2-x9Q") == []
    assert "picture" not in str(caught.value)
    assert [step.content for step in alice.steps()] == ["hello"]
    assert traces(memory.home, "hunter2-x9Q") == []
    assert [path for path in (memory.home / "media").rglob("*") if path.is_file()] == []
    shutil.rmtree(memory.home / "media")
    (memory.home / "media").write_text("in the way")
    with pytest.raises(HomeNotWritableError) as refused:
        alice.remember([*says("the wifi password is hunter2-x9Q"), *_image(caption="x")])
    assert leaks(refused.value, "hunter2-x9Q") == []
    assert (len(alice.steps()), alice.items()) == (1, [])
    (memory.home / "media").unlink()
    alice.remember([*picture, *says("the wifi password is hunter2-x9Q")])
    assert len(alice.steps()) == 3


def test_many_secrets_of_one_call_are_each_taken_out_wherever_they_stand(alice: UserMemory) -> None:
    words = [f"kiwi{number:04}-Xq7{number * 7919 % 10_007:05}" for number in range(60)]
    told = "\n".join(f"the password of server{number} is {word}" for number, word in enumerate(words))
    alice.remember([*says(told), *says(" and ".join(reversed(words)))])
    first, second = alice.steps()
    assert not any(word in first.content + second.content for word in words)
    assert [plain.id for plain in find_references(second.content)] == [
        plain.id for plain in reversed(find_references(first.content))
    ]
    assert {item.secret_id: item.sources[0].start for item in alice.items("vault")} == {
        found.id: found.start for found in find_references(first.content)
    }


def test_a_secret_that_answers_a_question_is_hidden_in_the_same_words_elsewhere_in_the_call(alice: UserMemory) -> None:
    words = "swordfish77 and 4111 1111 1111 1111"
    alice.remember(
        [
            ("assistant", "What is the password, and your card number?"),
            ("user", words),
            ("user", "Noted?"),
            ("user", words),
        ]
    )
    assert not any("swordfish77" in step.content or "4111" in step.content for step in alice.steps())


def test_a_big_message_is_searched_for_secrets_while_others_write(
    shared: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    find = redaction.find_all_secrets

    def slow(texts: list[str], before: list[str]) -> Any:
        if "big" in texts[0] and not order:
            order.append("looking")
            shared.user("bob").remember("hello")  # with the lock held this would wait for itself
            order.append("bob is through")
        return find(texts, before)

    monkeypatch.setattr(redaction, "find_all_secrets", slow)
    alice.remember("a big message: the wifi password is hunter2-x9Q")
    assert order == ["looking", "bob is through"]
    assert len(alice.items("vault")) == 1


def test_a_secret_in_the_words_of_an_item_gets_a_vault_item_that_cites_what_the_item_cites(alice: UserMemory) -> None:
    (step_id,) = alice.remember("my door").step_ids
    made = alice.add(
        {
            "kind": "semantic",
            "name": "door",
            "summary": "the door password is hunter2-x9Q",
            "sources": [{"step_id": step_id, "quote": "my door"}],
        }
    )
    (entry,) = alice.items("vault")
    assert [found.id for found in find_references(made.text)] == [entry.secret_id]
    assert [source.step_id for source in entry.sources] == [step_id]
    assert alice.reveal(entry.id, reason="test") == "hunter2-x9Q"
    alice.edit(made.id, details="the door password is hunter2-x9Q, the wifi password is tr0ub4dor-3")
    assert len(alice.items("vault")) == 2


def test_a_core_item_near_its_limit_grows_by_the_reference_put_into_it(alice: UserMemory) -> None:
    value = "the wifi password is hunter2-x9Q"
    made = alice.add({"kind": "core", "label": "a", "value": value, "limit": len(value)})
    assert "hunter2-x9Q" not in made.value
    assert made.limit == len(made.value)
    other = alice.add({"kind": "core", "label": "b", "value": "x", "limit": len(value)})
    edited = alice.edit(other.id, value=value)
    assert edited.limit == len(edited.value)
    with pytest.raises(InvalidInputError, match="limit"):
        alice.add({"kind": "core", "label": "c", "value": value, "limit": len(value) - 1})


def test_a_forgotten_message_that_is_sent_again_stays_forgotten_and_the_receipt_says_so(alice: UserMemory) -> None:
    history = [{"role": "user", "content": f"hedgehog {number}", "id": f"m{number}"} for number in range(3)]
    ids = alice.remember(history).step_ids
    one = alice.forget([ids[0]])
    receipt = alice.remember(history)
    assert receipt.repeated == ids
    assert receipt.degraded == (f"message m0 was forgotten before and stays so; undo {one.id} brings it back",)
    assert [step.id for step in alice.steps()] == list(ids[1:])
    both = alice.forget(ids[1:])
    assert alice.remember(history).degraded == (
        receipt.degraded[0],
        f"messages m1, m2 were forgotten before and stay so; undo {both.id} brings them back",
    )
    alice.undo(one.id)
    alice.undo(both.id)
    assert alice.remember(history).degraded == ()
    assert [step.id for step in alice.steps()] == list(ids)
