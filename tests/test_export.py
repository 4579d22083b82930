"""Export and import: all comes back as it was; a damaged file brings in nothing; secrets go along only when asked."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

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
from hexamem.stores.ledger import list_secrets, read_entries, read_recall
from hexamem.stores.ledger.schema import feedback
from hexamem.stores.ledger.transfer import export_lines
from hexamem.stores.secrets import KEY_VARIABLE, find_references, new_key

from .ledger_rows import failing_inserts

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
        counts = alice.export(folder / "sealed.jsonl", passphrase=PASSPHRASE)
        yield {
            "alice": alice,
            "ids": ids,
            "counts": counts,
            "plain": folder / "plain.jsonl",
            "sealed": folder / "sealed.jsonl",
        }


@pytest.fixture
def bob(memory: Memory) -> UserMemory:
    """A user in another home, with another vault key."""
    return memory.user("bob")


# -- all comes back ------------------------------------------------------------------------------------------------


def test_another_user_of_another_home_gets_the_same_memory_and_the_owner_after_an_erasure_too(
    memory: Memory, exported: dict[str, Any], tmp_path: Path
) -> None:
    """To the last code point, with the order of keys, media, secrets and their audit, marks, and what recall finds."""
    alice, bob, ids = exported["alice"], memory.user("bob"), exported["ids"]
    read = bob.import_(exported["sealed"], passphrase=PASSPHRASE)
    assert {kind: count for kind, count in exported["counts"].items() if kind != "media"} == read
    assert exported["counts"]["media"] == 1
    before, hits = state(bob), recalled(bob)
    assert before == state(alice)
    assert same(hits, recalled(alice))
    steps = bob.steps()
    assert (steps[4].content, steps[4].metadata) == (ODD, {"odd": ODD, ODD: [ODD]})
    assert list(steps[3].metadata) == ["z", "a"]
    assert list(steps[7].tool_calls[0].arguments) == ["q", "a"]
    assert (steps[1].occurred_at.isoformat(), steps[1].offset_minutes) == ("2024-05-01T03:45:00+00:00", 345)
    changed = [side for one in bob.history() for c in one.changes for side in (c.before, c.after) if side]
    assert {side.get("user", "bob") for side in changed} == {"bob"}
    assert {one.user for one in [*steps, *bob.items(), *bob.history(), *bob.items(known_at=utc_now())]} == {"bob"}
    assert [one.reason for one in bob.reveals()] == ["to open it"]
    assert memory.media.get(bob.key, hashlib.sha256(PICTURE).hexdigest()) == PICTURE
    with memory.ledger.read("bob") as tx:
        assert read_recall(tx, ids["recall"])["query"] == "who paints?"
        marks = {row.hit_id: row.verdict for row in tx.all(feedback.select())}
    assert marks[ids["helped"]] == "helped"
    assert sorted(marks.values()) == ["helped", "hurt"]
    bob.export(tmp_path / "bob.jsonl", passphrase=PASSPHRASE)
    assert [one.actor for one in bob.reveals()[1:]] == ["export", "export"]
    bob.erase()
    assert bob.recall("sunset").hits == ()
    bob.import_(tmp_path / "bob.jsonl", passphrase=PASSPHRASE)
    assert state(bob) == before
    assert same(recalled(bob), hits)
    assert bob.reveal(ids["vault"], reason="test") == "4471-92"
    (reference,) = find_references(bob.steps()[5].content)
    assert bob.reveal(reference.id, reason="test") == SECRET
    assert memory.user("nobody").export(tmp_path / "nobody.jsonl") == bob.import_(tmp_path / "nobody.jsonl") == {}


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
    assert not any(path.is_file() for path in (bob.memory.home / "media").rglob("*"))


def rewritten(file: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The export with changed entries and right checksums, as somebody could make it."""
    return "".join(export_lines(map(change, read_entries(file.open("rb"), "x")))).encode()


# -- damage --------------------------------------------------------------------------------------------------------


def lines_of(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


# Each damage, and the number of the line in the message: the last one where only the checksum shows it.
DAMAGES: dict[str, Callable[[list[bytes]], tuple[list[bytes], int]]] = {
    "a changed character": lambda lines: (
        [line.replace(b"No, acrylic", b"No, acrylix") for line in lines],
        len(lines),
    ),
    "white space": lambda lines: ([*lines[:4], lines[4].replace(b'","', b'", "', 1), *lines[5:]], len(lines)),
    "a broken character": lambda lines: ([*lines[:4], lines[4].replace(b"a", b"\xff", 1), *lines[5:]], 5),
    "a removed line": lambda lines: ([*lines[:6], *lines[7:]], len(lines) - 1),
    "a removed header": lambda lines: (lines[1:], 1),
    "swapped lines": lambda lines: ([*lines[:3], lines[4], lines[3], *lines[5:]], len(lines)),
    "a doubled line": lambda lines: ([*lines[:4], lines[3], *lines[4:]], len(lines) + 1),
    "an appended line": lambda lines: ([*lines, lines[3]], len(lines) + 1),
    "cut before the end": lambda lines: (lines[:-1], len(lines) - 1),
    "cut in a line": lambda lines: ([*lines[:9], lines[9][:40]], 10),
    "another file": lambda lines: ([b'{"role": "user", "content": "hello"}\n'], 1),
    "deep nesting": lambda lines: ([*lines[:2], b"[" * 100_000 + b"\n"], 3),
    "no object": lambda lines: ([b"5\n"], 1),
    "empty": lambda lines: ([], 0),
}


def test_a_damaged_or_forged_file_is_named_with_its_line_and_brings_in_nothing(
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
    for change in FORGED:
        file.write_bytes(rewritten(exported["plain"], change))
        with pytest.raises(CorruptFileError, match=r"damaged\.jsonl"):
            bob.import_(file)
    assert bob.memory.users() == []
    assert not any(path.is_file() for path in (bob.memory.home / "media").rglob("*"))


def test_a_line_of_a_gigabyte_is_refused_before_it_is_read(exported: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes(lines_of(exported["plain"])[0])
    os.truncate(file, 1 << 30)  # with a hole, which takes no room
    settings = Settings(background=False, max_message_bytes=1_000, max_file_bytes=1_000)
    with Memory.open(tmp_path / "home", embedder="static", settings=settings) as memory:
        tracemalloc.start()
        with pytest.raises(
            CorruptFileError, match=r"line 2: the line has more than 1,048,576 bytes.*nothing was imported"
        ):
            memory.user("bob").import_(file)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
        tracemalloc.stop()
        assert memory.users() == []


def test_what_is_longer_than_the_limits_of_the_importing_home_comes_back_from_an_export_that_was_not_changed(
    tmp_path: Path,
) -> None:
    def opened(home: str, limit: int) -> Memory:
        settings = Settings(background=False, labels="off", mode="off", find_secrets=False, max_message_bytes=limit)
        return Memory.open(tmp_path / home, embedder="static", settings=settings)

    file, text = tmp_path / "long.jsonl", "\x01" * 200_000  # 1.2 MB as JSON
    with opened("large", 1 << 20) as memory:
        memory.user("alice").remember(text)
        memory.user("alice").export(file)
    lines = file.read_bytes()
    with opened("small", 1_000) as memory:
        for number, data in enumerate((lines, lines.replace(b"\n", b"\r\n"))):
            file.write_bytes(data)
            memory.user(f"user {number}").import_(file)
            assert [step.content for step in memory.user(f"user {number}").steps()] == [text]
        for changed in (lines.replace(b"\\u0001", b"\\u0002", 1), lines[:-40], lines[:1_100_000], lines + lines):
            file.write_bytes(changed)
            with pytest.raises(CorruptFileError, match=r"line [0-9]+: .*checksum.*nothing was imported"):
                memory.user("bob").import_(file)


FORGED: list[Callable[[dict[str, Any]], dict[str, Any]]] = [
    lambda entry: {**entry, "hexamem_export": 99} if "hexamem_export" in entry else entry,
    lambda entry: {**entry, "table": "strange"} if entry.get("table") == "steps" else entry,
    lambda entry: {**entry, "data": _base64(b"other bytes")} if "file" in entry else entry,
    lambda entry: {"table": "steps", "row": {"id": "step_x"}} if entry.get("table") == "steps" else entry,
    lambda entry: {"table": "steps", "row": 5} if entry.get("table") == "steps" else entry,
    lambda entry: {**entry, "data": "no base64!"} if "file" in entry else entry,
    lambda entry: {**entry, "file": "../../evil"} if "file" in entry else entry,
]


def test_a_place_that_cannot_be_read_or_written_is_named_and_left_as_it_was(
    memory: Memory, bob: UserMemory, exported: dict[str, Any], tmp_path: Path
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
    bob.remember({"role": "user", "content": [{"type": "image", "base64": _base64(PICTURE), "mime_type": "image/png"}]})
    memory.media.put(bob.key, b"\x89PNG that a killed call left")
    assert bob.export(place / "alice.jsonl") == {"steps": 1, "files": 1, "media": 1}
    before = (place / "alice.jsonl").read_bytes()
    for media in (memory.home / "media").rglob("*"):
        if media.is_file():
            media.write_bytes(b"damaged")
    with pytest.raises(CorruptFileError, match="media"):
        bob.export(place / "alice.jsonl")
    assert (place / "alice.jsonl").read_bytes() == before
    assert (place / "alice.jsonl.partial").read_text() == "mine"
    assert sorted(path.name for path in place.iterdir()) == ["alice.jsonl", "alice.jsonl.partial", "folder"]


@pytest.mark.embedded
def test_a_failure_half_way_leaves_nothing_half_in_and_no_export_without_its_audit(
    bob: UserMemory, exported: dict[str, Any], tmp_path: Path
) -> None:
    with failing_inserts(bob.memory.home, "feedback"), pytest.raises(StorageFullError):
        bob.import_(exported["sealed"], passphrase=PASSPHRASE)
    assert bob.memory.users() == []
    assert bob.recall("sunset").hits == ()
    assert not any(path.is_file() for path in (bob.memory.home / "media").rglob("*"))
    bob.import_(exported["sealed"], passphrase=PASSPHRASE)
    assert state(bob) == state(exported["alice"])
    folder = tmp_path / "exports"
    folder.mkdir()
    with failing_inserts(bob.memory.home, "reveals"):
        with pytest.raises(StorageFullError):
            bob.export(folder / "bob.jsonl", passphrase=PASSPHRASE)
        assert list(folder.iterdir()) == []
        bob.export(folder / "bob.jsonl")  # without secrets there is nothing to audit


# -- secrets -------------------------------------------------------------------------------------------------------


@pytest.mark.embedded
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
    assert json.loads(lines[-1])["lines"] == len(list(map(json.loads, lines[:-1])))
    bob.import_(exported["plain"])
    (item,) = [one for one in bob.items("vault") if one.caption == "locker of the studio"]
    with pytest.raises(NotFoundError):
        bob.reveal(item.id, reason="test")
    assert "{{vault:" in bob.steps()[5].content


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


def test_a_secret_that_is_there_under_another_id_is_revealed_under_both_and_all_under_the_key_of_the_home(
    tmp_path: Path, exported: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, _base64(new_key()))
    with Memory.open(tmp_path, embedder="static", settings=Settings(background=False)) as memory:
        bob = memory.user("bob")
        (own,) = bob.remember(f"the wifi password is {SECRET}", thread_id="mine").secrets
        bob.import_(exported["sealed"], passphrase=PASSPHRASE)
        theirs = next(step for step in bob.steps("painting") if "wifi" in step.content)
        (reference,) = find_references(theirs.content)
        assert reference.id != find_references(own)[0].id
        assert bob.reveal(reference.id, reason="test") == bob.reveal(own, reason="test") == SECRET
        assert bob.reveal(exported["ids"]["vault"], reason="test") == "4471-92"
        with memory.ledger.read("bob") as tx:
            assert len(list_secrets(tx)) == 3


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


@pytest.mark.parametrize(
    ("zone", "chosen", "expected", "offset"),
    [
        ("Asia/Shanghai", None, "Asia/Shanghai", 480),
        ("Asia/Shanghai", "Europe/Lisbon", "Europe/Lisbon", 60),
        ("Mars/Olympus", None, "UTC", 0),
    ],
)
def test_a_new_user_takes_the_timezone_over_unless_another_was_chosen_whatever_the_line_ends(
    memory: Memory, exported: dict[str, Any], tmp_path: Path, zone: str, chosen: str | None, expected: str, offset: int
) -> None:
    data = rewritten(exported["plain"], lambda entry: {**entry, "timezone": zone} if "timezone" in entry else entry)
    (tmp_path / "windows.jsonl").write_bytes(data.replace(b"\n", b"\r\n"))
    bob = memory.user("bob", timezone=chosen)
    bob.import_(tmp_path / "windows.jsonl")
    assert state(bob) == state(exported["alice"])
    assert bob.timezone == memory.ledger.timezone("bob") == expected
    (step_id,) = bob.remember([{"role": "user", "content": "hello", "timestamp": "2024-05-01T09:30:00"}]).step_ids
    assert {step.id: step.offset_minutes for step in bob.steps()}[step_id] == offset
