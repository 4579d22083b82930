"""Export and import: all comes back as it was; a damaged file brings in nothing; secrets go along only when asked."""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import (
    CorruptFileError,
    HexamemError,
    HomeNotWritableError,
    InvalidInputError,
    NotFoundError,
    SecretKeyError,
    StorageFullError,
)
from hexamem.memory_types import utc_now
from hexamem.stores.ledger import Ledger, list_secrets, read_entries, read_recall, user_key
from hexamem.stores.ledger.schema import feedback
from hexamem.stores.ledger.transfer import _line, file_entries, numbered, row_entries
from hexamem.stores.secrets import KEY_VARIABLE, find_references, new_key

Traces = Callable[..., list[str]]
PASSPHRASE = "open sesame 42"
SECRET = "hunter2-x9Q"
PICTURE = b"\x89PNG\r\n\x1a\n\xff picture"
ODD = "NUL \x00, a lone \ud800, two \ud83d\ude00 side by side, 😀, \u2028, \r\n, {{vault:x|y}}, مرحبا"
QUERIES = ["who paints?", "sunset painting", "Melanie", "wifi", "陶艺课", "what did she plan for Saturday?", "picture"]


def fill(user: UserMemory) -> dict[str, str]:
    """A conversation with steps, items of six kinds with their history, a supersession, media and feedback."""
    steps = user.remember(
        [
            {"role": "user", "name": "Melanie", "content": "I painted a sunset last Saturday.", "id": "m1"},
            {"role": "assistant", "content": "How lovely! Did you use oil?", "timestamp": "2024-05-01T09:30:00+05:45"},
            {"role": "user", "name": "Melanie", "content": "No, acrylic. Next week I join a pottery class."},
            {"role": "user", "content": "我下周报名了陶艺课", "metadata": {"z": 1, "a": {"y": None, "b": 1.5e300}}},
            {"role": "user", "content": ODD, "metadata": {"odd": ODD, ODD: [ODD]}},
            {"role": "user", "content": f"the wifi password is {SECRET}"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image", "base64": _base64(PICTURE), "mime_type": "image/png", "caption": "a picture"},
                ],
            },
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c", "name": "find", "args": {"q": "oil", "a": 1}}],
            },
            {"role": "user", "content": "forget this one"},
        ],
        thread_id="painting",
        agent_id="agent",
    ).step_ids
    sources = [{"step_id": steps[0], "quote": "painted a sunset", "start": 2, "end": 18}]
    ids = {"step": steps[0], "forgotten": steps[-1]}
    for item in (
        {"kind": "core", "label": "human", "value": "Melanie paints."},
        {"kind": "episodic", "summary": "painted a sunset", "occurred_at": "2024-04-27T00:00:00Z", "sources": sources},
        {"kind": "semantic", "name": "studio", "summary": "in Lisbon", "labels": ["place"], "metadata": {"odd": ODD}},
        {"kind": "procedural", "summary": "how to paint", "steps": ["prime", "paint"]},
        {"kind": "resource", "title": "notes", "content": "oil and acrylic"},
    ):
        ids[str(item["kind"])] = user.add(item, reason="told").id
    ids["vault"] = user.add({"kind": "vault", "caption": "locker of the studio"}, secret="4471-92").id
    user.edit(ids["core"], value="Melanie paints and pots.")
    ids["new studio"] = user.add(
        {"kind": "semantic", "name": "studio", "summary": "in Porto"}, supersedes=ids["semantic"]
    ).id
    user.remove(ids["resource"], reason="old")
    user.forget([ids["forgotten"]])
    user.reveal(ids["vault"], reason="to open it")
    recall = user.recall("who paints?")
    user.feedback(recall.id, helped=[recall.hits[0].id], hurt=[recall.hits[1].id])
    ids["recall"], ids["helped"] = recall.id, recall.hits[0].id
    return ids


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def state(user: UserMemory) -> dict[str, Any]:
    """All that a user can read, but for the user's name and the numbers of changes."""
    cut = {"user": True, "seq": True}
    return {
        "steps": [step.model_dump(exclude=cut) for step in user.steps()],
        "items": [one.model_dump(exclude=cut) for one in user.items(superseded=True)],
        "history": [
            {
                **one.model_dump(exclude={**cut, "changes": True}),
                "changes": [_change(c.model_dump()) for c in one.changes],
            }
            for one in user.history()
        ],
    }


def _change(change: dict[str, Any]) -> dict[str, Any]:
    for side in ("before", "after"):
        if change[side] is not None:
            change[side].pop("user", None)
    return change


def recalled(user: UserMemory) -> list[list[tuple[str, float]]]:
    strategies = ("rrf_neighbours", "dense", "bm25")
    found = [user.recall(query, k=20, strategy=name).hits for query in QUERIES for name in strategies]
    return [[(hit.id, hit.score) for hit in hits] for hits in found]


def same(one: list[list[tuple[str, float]]], other: list[list[tuple[str, float]]]) -> bool:
    if [[hit for hit, _ in hits] for hits in one] != [[hit for hit, _ in hits] for hits in other]:
        return False
    scores = zip((s for hits in one for _, s in hits), (s for hits in other for _, s in hits), strict=True)
    return all(left == pytest.approx(right, rel=1e-4) for left, right in scores)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A filled home with its user's export, with secrets and without; nothing of it is changed by the tests."""
    folder = tmp_path_factory.mktemp("exported")
    with Memory.open(folder / "home", embedder="static", settings=Settings(background=False)) as memory:
        alice = memory.user("alice", timezone="Asia/Shanghai")
        ids = fill(alice)
        alice.export(folder / "plain.jsonl")
        alice.export(folder / "sealed.jsonl", passphrase=PASSPHRASE)
        yield {"alice": alice, "ids": ids, "plain": folder / "plain.jsonl", "sealed": folder / "sealed.jsonl"}


@pytest.fixture
def bob(memory: Memory) -> UserMemory:
    """A user in another home, with another vault key."""
    return memory.user("bob")


# -- all comes back ------------------------------------------------------------------------------------------------


def test_export_erase_import_gives_the_same_memory_and_the_same_recall(memory: Memory, tmp_path: Path) -> None:
    alice = memory.user("alice", timezone="Asia/Shanghai")
    ids = fill(alice)
    before, hits = state(alice), recalled(alice)
    reveals = alice.reveals()
    written = alice.export(tmp_path / "alice.jsonl", passphrase=PASSPHRASE)
    alice.erase()
    assert alice.recall("sunset").hits == ()
    read = alice.import_(tmp_path / "alice.jsonl", passphrase=PASSPHRASE)
    assert state(alice) == before
    assert same(recalled(alice), hits)
    assert {kind: count for kind, count in written.items() if kind != "media"} == read
    assert written["media"] == 1
    assert memory.media.get(user_key("alice"), hashlib.sha256(PICTURE).hexdigest()) == PICTURE
    assert alice.reveal(ids["vault"], reason="test") == "4471-92"
    # The export itself stands in the audit of the first memory, not in what it wrote before.
    assert [one for one in alice.reveals() if one.reason not in ("test", "export with secrets")] == reveals
    with memory.ledger.read("alice") as tx:
        assert read_recall(tx, ids["recall"])["query"] == "who paints?"
        marks = {row.hit_id: row.verdict for row in tx.all(feedback.select())}
    assert marks[ids["helped"]] == "helped"
    assert sorted(marks.values()) == ["helped", "hurt"]


def test_another_user_of_another_home_gets_the_same_memory(bob: UserMemory, exported: dict[str, Any]) -> None:
    bob.import_(exported["sealed"], passphrase=PASSPHRASE)
    alice = exported["alice"]
    assert state(bob) == state(alice)
    assert same(recalled(bob), recalled(alice))
    assert {one.user for one in [*bob.steps(), *bob.items(), *bob.history()]} == {"bob"}
    owners = {
        side["user"]
        for one in bob.history()
        for c in one.changes
        for side in (c.before, c.after)
        if side and "user" in side
    }
    assert owners == {"bob"}
    assert [item.user for item in bob.items(known_at=utc_now())] == ["bob"] * len(bob.items())
    assert bob.reveal(exported["ids"]["vault"], reason="test") == "4471-92"
    (reference,) = find_references(bob.steps()[5].content)
    assert bob.reveal(reference.id, reason="test") == SECRET


def test_what_a_step_says_survives_to_the_last_code_point_and_key_order(
    bob: UserMemory, exported: dict[str, Any]
) -> None:
    bob.import_(exported["plain"])
    steps = bob.steps()
    assert steps[4].content == ODD
    assert steps[4].metadata == {"odd": ODD, ODD: [ODD]}
    assert list(steps[3].metadata) == ["z", "a"]
    assert list(steps[7].tool_calls[0].arguments) == ["q", "a"]
    assert (steps[1].occurred_at.isoformat(), steps[1].offset_minutes) == ("2024-05-01T03:45:00+00:00", 345)
    assert bob.get(exported["ids"]["new studio"]).summary == "in Porto"


TEXT = st.text(st.characters(exclude_categories=()), max_size=8)


@settings(max_examples=25, deadline=None)
@given(said=TEXT.filter(str.strip), key=TEXT)
def test_any_text_survives(shared: Memory, said: str, key: str) -> None:
    alice, bob = shared.user("alice"), shared.user("bob")
    alice.remember([{"role": "user", "content": said, "metadata": {key: [said]}}])
    file = shared.home.parent / "any.jsonl"
    alice.export(file)
    bob.import_(file)
    assert [(step.content, step.metadata) for step in bob.steps()] == [(s.content, s.metadata) for s in alice.steps()]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Memory.open(
        tmp_path_factory.mktemp("shared") / "home", settings=Settings(background=False, find_secrets=False)
    ) as memory:
        yield memory


def test_undo_still_works_after_an_import(bob: UserMemory, exported: dict[str, Any]) -> None:
    bob.import_(exported["sealed"], passphrase=PASSPHRASE)
    ids = exported["ids"]
    history = {(one.kind, one.changes[-1].target_id): one for one in bob.history()}
    bob.undo(history["update", ids["core"]].id)
    assert bob.get(ids["core"]).value == "Melanie paints."
    bob.undo(history["supersede", ids["new studio"]].id)
    assert [item.summary for item in bob.items("semantic")] == ["in Lisbon"]
    bob.undo(history["remove", ids["resource"]].id)
    assert [item.title for item in bob.items("resource")] == ["notes"]
    bob.undo(history["forget", ids["forgotten"]].id)
    assert ids["forgotten"] in {hit.id for hit in bob.recall("forget this one")}
    bob.edit(ids["core"], value="new")
    assert bob.items("core")[0].version == 2


def test_what_is_there_already_stays(bob: UserMemory, exported: dict[str, Any]) -> None:
    bob.import_(exported["plain"])
    before = state(bob)
    assert bob.import_(exported["plain"]) == {}
    assert state(bob) == before
    ids = exported["ids"]
    bob.edit(ids["episodic"], sources=[], summary="painted the sea")
    bob.forget([ids["step"]])
    bob.import_(exported["plain"])
    item = bob.get(ids["episodic"])
    assert (item.summary, item.sources) == ("painted the sea", ())
    with pytest.raises(NotFoundError):
        bob.get(ids["step"])


def test_an_import_joins_what_the_user_has(bob: UserMemory, exported: dict[str, Any]) -> None:
    own = bob.remember("I paint fences", thread_id="mine").step_ids[0]
    bob.remember([{"role": "user", "content": "hello", "id": "m1"}], thread_id="mine")
    note = bob.add({"kind": "core", "label": "a", "value": "b"})
    bob.import_(exported["plain"])
    assert [step.seq for step in bob.steps()] == sorted({step.seq for step in bob.steps()})
    assert {own, exported["ids"]["step"]} <= {hit.id for hit in bob.recall("who paints?", k=20)}
    done = bob.edit(note.id, value="c")
    assert bob.history()[-1].changes[0].after["value"] == done.value == "c"
    assert bob.remember("more", thread_id="painting").step_ids[0] == bob.steps()[-1].id
    assert bob.steps("painting")[-1].turn == 9


@pytest.mark.parametrize("message", [{"content": "another"}, {"content": "another", "id": "m1"}])
def test_a_thread_that_holds_other_steps_is_refused_by_name(
    bob: UserMemory, exported: dict[str, Any], message: dict[str, Any]
) -> None:
    if "id" in message:  # the same message at another turn
        for number in range(20):
            bob.remember(f"filler {number}", thread_id="painting")
        bob.forget(thread_id="painting")
    bob.remember([{"role": "user", **message}], thread_id="painting")
    before = state(bob)
    with pytest.raises(InvalidInputError, match="'painting'"):
        bob.import_(exported["plain"])
    assert state(bob) == before
    assert list((bob.memory.home / "media").rglob("*.*")) == []
    assert not any(path.is_file() for path in (bob.memory.home / "media").rglob("*"))


def test_a_zone_that_this_machine_does_not_know_and_line_ends_of_another_are_no_obstacle(
    bob: UserMemory, exported: dict[str, Any], tmp_path: Path
) -> None:
    lines = rewritten(
        exported["plain"], lambda entry: {**entry, "timezone": "Mars/Olympus"} if "timezone" in entry else entry
    )
    (tmp_path / "mars.jsonl").write_bytes(lines.replace(b"\n", b"\r\n"))  # as Windows ends its lines
    bob.import_(tmp_path / "mars.jsonl")
    assert state(bob) == state(exported["alice"])


def rewritten(file: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The export with changed entries and right checksums, as somebody could make it."""
    entries = [change(entry) for entry in read_entries(file.open("rb"), "x")]
    lines = [_line(number, entry).encode() + b"\n" for number, entry in enumerate(entries, 1)]
    total = hashlib.sha256(b"".join(lines)).hexdigest()
    end = {"end": True, "lines": len(lines), "sha256": total}
    return b"".join([*lines, _line(len(lines) + 1, end).encode() + b"\n"])


def test_an_export_of_nothing_can_be_imported(memory: Memory, bob: UserMemory, tmp_path: Path) -> None:
    assert memory.user("nobody").export(tmp_path / "nobody.jsonl") == {}
    assert bob.import_(tmp_path / "nobody.jsonl") == {}
    assert bob.steps() == []


# -- damage --------------------------------------------------------------------------------------------------------


def lines_of(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


def _changed(line: bytes) -> bytes:
    return line.replace(b"acrylic", b"acrylix")


def number_of(lines: list[bytes], word: bytes) -> int:
    return next(number for number, line in enumerate(lines, 1) if word in line)


Damage = Callable[[list[bytes]], tuple[list[bytes], int]]
DAMAGES: dict[str, Damage] = {
    "a changed character": lambda lines: (
        [_changed(line) if b"No, acrylic" in line else line for line in lines],
        number_of(lines, b"No, acrylic"),
    ),
    "a changed number": lambda lines: (
        [line.replace(b'"turn":2', b'"turn":7') for line in lines],
        number_of(lines, b'"turn":2'),
    ),
    "a changed checksum": lambda lines: ([*lines[:4], lines[4].replace(b'"sum":"', b'"sum":"0', 1), *lines[5:]], 5),
    "white space": lambda lines: ([*lines[:4], lines[4].replace(b'","', b'", "', 1), *lines[5:]], 5),
    "a broken character": lambda lines: ([*lines[:4], lines[4].replace(b"a", b"\xff", 1), *lines[5:]], 5),
    "a removed line": lambda lines: ([*lines[:6], *lines[7:]], 7),
    "a removed header": lambda lines: (lines[1:], 1),
    "swapped lines": lambda lines: ([*lines[:3], lines[4], lines[3], *lines[5:]], 4),
    "a doubled line": lambda lines: ([*lines[:4], lines[3], *lines[4:]], 5),
    "an empty line": lambda lines: ([*lines[:4], b"\n", *lines[4:]], 5),
    "an appended line": lambda lines: ([*lines, lines[3]], len(lines) + 1),
    "appended text": lambda lines: ([*lines, b"hello\n"], len(lines) + 1),
    "cut between lines": lambda lines: (lines[:-3], len(lines) - 3),
    "cut before the end": lambda lines: (lines[:-1], len(lines) - 1),
    "cut in a line": lambda lines: ([*lines[:9], lines[9][:40]], 10),
    "cut in the last line": lambda lines: ([*lines[:-1], lines[-1][:-9]], len(lines)),
    "another file": lambda lines: ([b'{"role": "user", "content": "hello"}\n'], 1),
    "a picture": lambda lines: ([PICTURE], 1),
    "deep nesting": lambda lines: ([*lines[:2], b"[" * 100_000 + b"\n"], 3),
    "no object": lambda lines: ([b"5\n"], 1),
    "empty": lambda lines: ([], 0),
}


def test_a_damaged_file_is_named_with_its_line_and_brings_in_nothing(
    bob: UserMemory, exported: dict[str, Any], tmp_path: Path
) -> None:
    before = lines_of(exported["plain"])
    file = tmp_path / "damaged.jsonl"
    for name, damage in DAMAGES.items():
        lines, number = damage(before)
        assert lines != before, name
        file.write_bytes(b"".join(lines))
        with pytest.raises(CorruptFileError, match=rf"damaged\.jsonl, line {number}:"):
            bob.import_(file)
    assert bob.memory.users() == []
    assert not (bob.memory.home / "media").exists()


FORGED: list[Callable[[dict[str, Any]], dict[str, Any]]] = [
    lambda entry: {**entry, "hexamem_export": 99} if "hexamem_export" in entry else entry,
    lambda entry: {**entry, "table": "strange"} if entry.get("table") == "steps" else entry,
    lambda entry: {**entry, "data": _base64(b"other bytes")} if "file" in entry else entry,
    lambda entry: {"table": "steps", "row": {"id": "step_x"}} if entry.get("table") == "steps" else entry,
    lambda entry: {"table": "steps", "row": 5} if entry.get("table") == "steps" else entry,
    lambda entry: {**entry, "data": "no base64!"} if "file" in entry else entry,
    lambda entry: {**entry, "file": "../../evil"} if "file" in entry else entry,
]


def test_a_forged_file_brings_in_nothing(bob: UserMemory, exported: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "forged.jsonl"
    for change in FORGED:
        file.write_bytes(rewritten(exported["plain"], change))
        with pytest.raises(CorruptFileError, match=r"forged\.jsonl"):
            bob.import_(file)
        assert bob.memory.users() == []
        assert not any(path.is_file() for path in (bob.memory.home / "media").rglob("*"))


def test_a_place_that_cannot_be_read_or_written_is_named_and_left_as_it_was(
    bob: UserMemory, exported: dict[str, Any], tmp_path: Path
) -> None:
    place = tmp_path / "place"
    (place / "folder").mkdir(parents=True)
    (place / "alice.jsonl.partial").write_text("mine")
    for name in ("nowhere.jsonl", "folder"):
        with pytest.raises(InvalidInputError, match=name):
            bob.import_(place / name)
    for target in (place / "missing" / "alice.jsonl", place / "folder"):
        with pytest.raises(HomeNotWritableError, match=r"missing|folder"):
            exported["alice"].export(target)
    exported["alice"].export(place / "alice.jsonl")
    assert (place / "alice.jsonl.partial").read_text() == "mine"
    assert sorted(path.name for path in place.iterdir()) == ["alice.jsonl", "alice.jsonl.partial", "folder"]


def test_an_export_that_fails_leaves_the_earlier_file(memory: Memory, tmp_path: Path) -> None:
    alice = memory.user("alice")
    fill(alice)
    file = tmp_path / "alice.jsonl"
    alice.export(file)
    before = file.read_bytes()
    for media in (memory.home / "media").rglob("*"):
        if media.is_file():
            media.write_bytes(b"damaged")
    with pytest.raises(CorruptFileError, match="media"):
        alice.export(file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.glob("*.jsonl*")] == ["alice.jsonl"]


def test_a_failure_half_way_leaves_nothing_half_in(bob: UserMemory, exported: dict[str, Any]) -> None:
    database = sqlite3.connect(bob.memory.home / "ledger.sqlite3")
    with closing(database):
        database.execute(
            "CREATE TRIGGER failing BEFORE INSERT ON feedback BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    with pytest.raises(StorageFullError):
        bob.import_(exported["sealed"], passphrase=PASSPHRASE)
    assert bob.memory.users() == []
    assert bob.recall("sunset").hits == ()
    assert not any(path.is_file() for path in (bob.memory.home / "media").rglob("*"))
    with closing(sqlite3.connect(bob.memory.home / "ledger.sqlite3")) as database:
        database.execute("DROP TRIGGER failing")
    bob.import_(exported["sealed"], passphrase=PASSPHRASE)
    assert state(bob) == state(exported["alice"])


def test_media_that_a_killed_call_left_are_not_exported(memory: Memory, tmp_path: Path) -> None:
    alice = memory.user("alice")
    alice.remember("hello")
    memory.media.put(user_key("alice"), PICTURE)
    assert alice.export(tmp_path / "alice.jsonl") == {"steps": 1}


# -- secrets -------------------------------------------------------------------------------------------------------


def test_secrets_go_along_under_a_passphrase_alone_or_not_at_all(
    bob: UserMemory, exported: dict[str, Any], traces: Traces, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(exported["alice"].memory.home / "ledger.sqlite3")) as database:
        ciphertexts = [row[0] for row in database.execute("SELECT ciphertext FROM secrets")]
    assert len(ciphertexts) == 2
    for kind in ("plain", "sealed"):
        data = exported[kind].read_bytes()
        (tmp_path / f"{kind}.jsonl").write_bytes(data)
        assert not any(form in data for one in ciphertexts for form in (one, one.hex().encode(), base64.b64encode(one)))
    assert traces(tmp_path, SECRET, "4471-92", PASSPHRASE) == []
    assert exported["sealed"].stat().st_mode & 0o077 == 0
    tables = {entry.get("table") for entry in read_entries(exported["plain"].open("rb"), "x")}
    assert tables & {"secrets", "reveals"} == set()
    lines = exported["plain"].read_text(encoding="utf-8").split("\n")[:-1]  # JSON that other tools read
    assert [json.loads(line)["n"] for line in lines] == list(range(1, len(lines) + 1))
    bob.import_(exported["plain"])
    (item,) = [one for one in bob.items("vault") if one.caption == "locker of the studio"]
    with pytest.raises(NotFoundError):
        bob.reveal(item.id, reason="test")
    assert "{{vault:" in bob.steps()[5].content


def test_an_import_with_another_vault_key_keeps_the_secrets_under_that_one(
    tmp_path: Path, exported: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, _base64(new_key()))
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        bob = memory.user("bob")
        bob.import_(exported["sealed"], passphrase=PASSPHRASE)
        assert bob.reveal(exported["ids"]["vault"], reason="test") == "4471-92"
        again = bob.remember(f"the wifi password is {SECRET}").secrets
        assert find_references(again[0])[0].id == find_references(bob.steps()[5].content)[0].id


def test_a_wrong_or_missing_passphrase_brings_in_nothing(
    bob: UserMemory, exported: dict[str, Any], tmp_path: Path
) -> None:
    wrong: list[tuple[str | None, type[Exception]]] = [
        ("wrong", SecretKeyError),
        (None, InvalidInputError),
        ("", HexamemError),
    ]
    for given_, kind in wrong:
        with pytest.raises(kind):
            bob.import_(exported["sealed"], passphrase=given_)
    assert bob.memory.users() == []
    assert not (bob.memory.home / "media").exists()
    with pytest.raises(InvalidInputError, match="passphrase"):
        exported["alice"].export(tmp_path / "x.jsonl", passphrase="")
    assert not (tmp_path / "x.jsonl").exists()


def test_a_secret_that_is_there_under_another_id_is_revealed_under_both(
    bob: UserMemory, exported: dict[str, Any]
) -> None:
    (own,) = bob.remember(f"the wifi password is {SECRET}", thread_id="mine").secrets
    bob.import_(exported["sealed"], passphrase=PASSPHRASE)
    theirs = next(step for step in bob.steps("painting") if "wifi" in step.content)
    (reference,) = find_references(theirs.content)
    assert reference.id != find_references(own)[0].id
    assert bob.reveal(reference.id, reason="test") == bob.reveal(own, reason="test") == SECRET
    with bob.memory.ledger.read("bob") as tx:
        assert len(list_secrets(tx)) == 3


def test_an_export_with_secrets_is_written_to_the_audit(memory: Memory, tmp_path: Path) -> None:
    alice = memory.user("alice")
    fill(alice)
    alice.export(tmp_path / "a.jsonl")
    before = len(alice.reveals())
    alice.export(tmp_path / "b.jsonl", passphrase=PASSPHRASE)
    assert [one.actor for one in alice.reveals()[before:]] == ["export", "export"]


def test_lines_are_made_one_at_a_time(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    with ledger.write("alice") as tx:
        lines = numbered(chain(row_entries(tx), file_entries((name, b"x") for name in ("a" * 64,))))
        assert next(lines).kind is None
        assert [line.kind for line in lines] == ["media", None]
    ledger.close()


def test_others_write_while_an_export_runs(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = memory.user("alice")
    ids = fill(alice)
    get = memory.media.get

    def slow(key: str, sha256: str) -> bytes:
        memory.user("bob").remember("hello")  # with the lock held this would wait for itself
        memory.ledger.checkpoint()  # nor does the export hold back a redaction while it copies media
        return get(key, sha256)

    monkeypatch.setattr(memory.media, "get", slow)
    counts = alice.export(tmp_path / "alice.jsonl", passphrase=PASSPHRASE)
    assert len(memory.user("bob").steps()) == 1
    assert counts["secrets"] == 2
    assert ids["step"] in (tmp_path / "alice.jsonl").read_text("utf-8")


def test_an_export_whose_audit_cannot_be_written_is_not_given(memory: Memory, tmp_path: Path) -> None:
    alice = memory.user("alice")
    fill(alice)
    with closing(sqlite3.connect(memory.home / "ledger.sqlite3")) as database:
        database.execute(
            "CREATE TRIGGER failing BEFORE INSERT ON reveals BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    folder = tmp_path / "exports"
    folder.mkdir()
    with pytest.raises(StorageFullError):
        alice.export(folder / "alice.jsonl", passphrase=PASSPHRASE)
    assert list(folder.iterdir()) == []
    alice.export(folder / "alice.jsonl")  # without secrets there is nothing to audit


@pytest.mark.parametrize(("chosen", "kept"), [(None, "Asia/Shanghai"), ("Europe/Lisbon", "Europe/Lisbon")])
def test_a_user_who_begins_with_an_import_takes_its_timezone_over_unless_another_was_chosen(
    memory: Memory, exported: dict[str, Any], chosen: str | None, kept: str
) -> None:
    bob = memory.user("bob", timezone=chosen)
    bob.import_(exported["plain"])
    assert bob.timezone == kept
    assert memory.ledger.timezone("bob") == kept
    (step_id,) = bob.remember([{"role": "user", "content": "hello", "timestamp": "2024-05-01T09:30:00"}]).step_ids
    assert {step.id: step.offset_minutes for step in bob.steps()}[step_id] == (480 if chosen is None else 60)
