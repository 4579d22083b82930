"""The command line: what each command does, and what reaches stdout and stderr."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings, UserMemory, __version__

from .commands import Finished, hexamem, write_lines
from .manager_script import answer
from .scripted_server import Reply, ServerFactory, loopback_only, scripted_server  # noqa: F401

pytestmark = pytest.mark.embedded

CHAT: list[dict[str, Any]] = [
    {"role": "user", "name": "Alice", "content": "My daughter Mia starts school in Hangzhou.", "id": "m1",
     "thread_id": "family"},
    {"role": "assistant", "content": "Which school will it be?", "id": "m2", "thread_id": "family"},
    {"role": "user", "name": "Alice", "content": "West Lake Primary, next to the tea market.", "id": "m3",
     "thread_id": "family"},
    {"role": "user", "name": "Bob", "content": "The boiler was serviced.", "timestamp": "2024-05-01T10:00:00Z",
     "id": "m4"},
]  # fmt: skip
PASSWORD = "marmalade-otter-7719"


class At:
    """Runs commands for a user in a home."""

    def __init__(self, home: Path, user: str = "alice") -> None:
        self.home, self.where = home, ("--user", user, "--home", home)

    def __call__(self, *words: object, **given: Any) -> Finished:
        return hexamem(*words, *self.where, **given)

    def json(self, *words: object, **given: Any) -> Any:
        return self(*words, "--json", **given).json


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where nothing is stored yet."""
    return tmp_path / "home"


@pytest.fixture
def alice(home: Path) -> At:
    return At(home)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "chat.jsonl", CHAT)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that tests only read: the chat, one fact and one secret of alice, one message of bob."""
    folder = tmp_path_factory.mktemp("stored") / "home"
    with Memory.open(folder, embedder="static") as memory:
        alice = memory.user("alice")
        for message in CHAT:
            content = {key: value for key, value in message.items() if key != "thread_id"}
            alice.remember([content], message.get("thread_id", "default"))
        alice.add(
            {"kind": "semantic", "name": "Mia", "summary": "daughter", "metadata": {"page": 3}, "labels": ["kin"]}
        )
        alice.add({"kind": "vault", "caption": "wifi password"}, secret=PASSWORD)
        memory.user("bob").remember("The van is booked.")
    return folder


# The program itself.


def test_help_and_refusals_load_nothing_heavy_and_a_recall_loads_no_graph(stored: Path, home: Path) -> None:
    code = """
import contextlib, io, sys
from hexamem.cli import main
asked = ["--user", "alice", "--embedder", "static", "--home"]
for words in (["recall", "--help"], ["recall", "x", *asked, sys.argv[2]], ["recall", "x", *asked, sys.argv[1]]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(words)
    print(*{name.split(".")[0] for name in sys.modules})
"""
    done = subprocess.run(
        [sys.executable, "-c", code, stored, home], capture_output=True, text=True, timeout=300, check=True
    )
    by_help, by_refusal, by_recall = (set(line.split()) for line in done.stdout.splitlines())
    heavy = {"chromadb", "langgraph", "langchain_core", "sqlalchemy", "tantivy", "numpy"}
    assert heavy & by_help == heavy & by_refusal == set()
    assert "chromadb" in by_recall
    libraries = {"langgraph", "langchain", "langchain_core", "langsmith", "detect_secrets", "requests", "phonenumbers"}
    assert libraries & by_recall == set()


def test_shared_options_work_before_and_after_the_command_and_the_later_one_wins(stored: Path, tmp_path: Path) -> None:
    assert hexamem("--version") == Finished(0, f"hexamem {__version__}\n", "")
    before = hexamem("--home", stored, "--json", "users")
    assert before.json
    assert before == hexamem("users", "--json", "--home", stored)
    assert hexamem("--home", tmp_path / "nowhere", "users", "--home", stored, "--json") == before
    assert not (tmp_path / "nowhere").exists()


def test_an_unexpected_error_is_one_line_and_a_traceback_only_when_asked_for(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import IntegrityError

    def failing(error: BaseException, *options: str) -> Finished:
        def broken(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(UserMemory, "recall", broken)
        return hexamem("recall", "x", "--user", "alice", "--home", stored, *options)

    plain = failing(RuntimeError("the cable is cut\nand more"))
    assert (plain.code, plain.out, plain.err.count("\n")) == (1, "", 1)
    assert "the cable is cut" in plain.err
    assert "Traceback" in failing(RuntimeError("x"), "--debug").err
    private = failing(IntegrityError("INSERT INTO steps VALUES (?)", (PASSWORD,), ValueError("constraint")), "--debug")
    assert (private.code, PASSWORD in private.err) == (1, False)
    stopped = failing(KeyboardInterrupt())
    assert (stopped.code, stopped.out, stopped.err.count("\n")) == (130, "", 1)


def test_output_is_plain_as_wide_as_columns_and_obeys_nothing_in_stored_text(
    alice: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = hexamem("doctor", "--home", alice.home).out
    assert "\x1b" not in shown
    assert all(line == line.rstrip() and len(line) <= 40 for line in shown.splitlines())
    monkeypatch.delenv("COLUMNS")
    text = "\x1b]0;owned\x07 [red]not markup[/red] end"
    alice("ingest", write_lines(tmp_path / "x.jsonl", [{"role": "user", "content": text}]))
    shown = alice("steps").out
    assert ("\x1b" in shown, "[red]not markup[/red]" in shown) == (False, True)
    assert alice.json("steps")[0]["content"] == text


# Ingest.


def test_ingest_stores_a_file_by_thread_and_repeats_nothing_that_has_an_id(alice: At, chat: Path) -> None:
    done = alice("ingest", chat, "--thread", "house", "--json")
    assert "there was no memory" in done.err
    counts = {key: done.json[key] for key in ("format", "threads", "steps", "repeated", "secrets")}
    assert counts == {"format": "jsonl", "threads": 2, "steps": 4, "repeated": 0, "secrets": 0}
    family = alice.json("steps", "--thread", "family")
    assert [step["content"] for step in family] == [line["content"] for line in CHAT[:3]]
    for words in (("--thread", "house"), ("--last", "1")):
        assert [step["message_id"] for step in alice.json("steps", *words)] == ["m4"]
    again = alice("ingest", chat, "--thread", "house")
    assert (again.code, "stored 0 steps in 2 threads of 'alice', 4 were there already" in again.out) == (0, True)


def test_ingest_reads_naive_times_in_a_zone_further_keys_as_metadata_and_more_than_one_batch(
    alice: At, tmp_path: Path
) -> None:
    line = {"role": "user", "content": "hello there", "timestamp": "2024-01-01 12:00", "channel": "support"}
    alice("ingest", write_lines(tmp_path / "x.jsonl", [line]), "--timezone", "Asia/Shanghai")
    (step,) = alice.json("steps")
    assert (step["occurred_at"], step["metadata"]["channel"]) == ("2024-01-01T04:00:00Z", "support")
    lines = [{"role": "user", "content": f"remark {n}", "thread_id": f"t{n % 2}"} for n in range(1_003)]
    off = ("--mode", "off", "--label-by", "off")
    assert alice.json("ingest", write_lines(tmp_path / "y.jsonl", lines), *off)["steps"] == 1_003
    odd = alice.json("steps", "--thread", "t1")
    assert [step["content"] for step in odd] == [f"remark {n}" for n in range(1, 1_003, 2)]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('{"role": "user", "content": "hal', "not valid JSON"),
        ("[1, 2]", "list"),
        ('{"content": "hello"}', "role is missing"),
        ('{"role": "user"}', "content is missing"),
        ('{"role": "u", "content": "hello"}', "role = 'u': use one of user, human, assistant, ai"),
        ('{"role": "user", "content": " "}', "empty"),
        ('{"role": "user", "content": "hello", "timestamp": "soon"}', "soon"),
        ('{"role": "user", "content": "hello", "thread_id": 7}', "thread_id"),
    ],
)
def test_a_bad_line_is_named_and_nothing_of_the_file_is_stored_unless_it_may_be_skipped(
    alice: At, tmp_path: Path, line: str, rule: str
) -> None:
    file = write_lines(tmp_path / "x.jsonl", [CHAT[0], CHAT[1], line])
    error = alice("ingest", file).error
    assert f"{file}, line 3: " in error
    assert rule in error
    assert not alice.home.exists()
    done = alice("ingest", file, "--mode", "off", "--skip-bad", "--json")
    assert (done.json["steps"], len(done.json["notes"])) == (2, 1)
    assert ("line 3: " in done.err, "leave it out" in done.err) == (True, False)


def test_ingest_stops_extracting_at_its_timeout_and_says_what_waits_and_what_a_model_cost(
    tmp_path: Path,
    scripted_server: ServerFactory,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = scripted_server(lambda request: Reply(content=answer(request).content, usage=(30, 10)))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    file = tmp_path / "chat.jsonl"
    lines = ({"role": "user", "content": f"FACT Bo{n}: paints boat {n}", "id": f"m{n}"} for n in range(3))
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    words = ("ingest", file, "--user", "alice", "--home", tmp_path / "home", "--model", "openai:scripted", "--json")
    stopped = hexamem(*words, "--timeout", "0").json
    assert (stopped["items"], stopped["waiting"], stopped["llm_calls"], server.calls) == (0, 3, 0, 0)
    assert any(note.startswith("3 steps were not read yet") for note in stopped["notes"])
    done = hexamem(*words).json
    assert (done["items"], done["waiting"], done["llm_calls"], done["llm_tokens"]) == (3, 0, 1, 40)


def test_ingest_refuses_or_notes_what_is_no_conversation(alice: At, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("costs.csv", "x.json", "empty.jsonl")}
    for file, text in zip(files.values(), ("what,euros\nrent,900\n", '{"a": 1}', ""), strict=True):
        file.write_text(text)
    assert f"hexamem add {files['costs.csv']}" in alice("ingest", files["costs.csv"]).error
    assert "not a conversation" in alice("ingest", files["x.json"]).error
    empty = alice("ingest", files["empty.jsonl"])
    assert (empty.code, f"note: {files['empty.jsonl']} holds no message" in empty.err) == (0, True)


# Reading.


def test_recall_returns_the_message_and_explains_it_when_asked(stored: Path) -> None:
    words = ("recall", "Where does Mia go to school?", "--user", "alice", "--home", stored)
    recall = hexamem(*words, "-k", "3", "--json").json
    assert len(recall["hits"]) == 3
    assert any("Mia" in hit["text"] for hit in recall["hits"])
    assert {"id", "query", "strategy", "hits", "text", "tokens", "degraded", "elapsed_ms"} <= recall.keys()
    assert "why: " not in hexamem(*words).out
    assert "why: " in hexamem(*words, "--why").out
    assert 0 < len(hexamem(*words, "--token-budget", "25").out) < len(hexamem(*words, "--text").out)


def test_recall_narrows_by_every_filter(stored: Path) -> None:
    for option, value, word in (
        ("--kind", "semantic", "daughter"),
        ("--thread", "default", "boiler"),
        ("--speaker", "bob", "boiler"),
        ("--until", "2024-05-02", "boiler"),
        ("--label", "kin", "daughter"),
        ("--metadata", "page=3", "daughter"),
    ):
        hits = At(stored).json("recall", "boiler daughter school", option, value)["hits"]
        words = {word for word in ("boiler", "daughter", "school") if word in str([hit["text"] for hit in hits])}
        assert words == {word}, option


def test_one_user_never_sees_another_and_an_unknown_one_is_named(stored: Path) -> None:
    alice, bob = At(stored), At(stored, "bob")
    assert [hit["text"] for hit in bob.json("recall", "Mia school boiler van")["hits"]] == ["The van is booked."]
    assert "no step or item" in alice("show", bob.json("steps")[0]["id"]).error
    unknown = At(stored, "alcie")("recall", "x")
    assert (unknown.code, unknown.out) == (0, "")
    assert all(part in unknown.err for part in ("no user 'alcie'", "'alice'"))
    rows = hexamem("users", "--home", stored, "--json").json
    assert rows == [{"user": "alice", "steps": 4, "items": 2}, {"user": "bob", "steps": 1, "items": 0}]


def test_items_show_and_history_give_what_is_stored(stored: Path) -> None:
    alice = At(stored)
    items = alice.json("items")
    assert [item["kind"] for item in items] == ["semantic", "vault"]
    assert alice.json("items", "--kind", "semantic") == items[:1]
    assert "wifi password" in alice("items").out
    assert alice.json("show", items[0]["id"]) == items[0]
    assert 'metadata: {"page": 3}' in alice("show", items[0]["id"]).out
    step = alice.json("steps")[0]
    shown = alice.json("show", step["id"])
    assert {name: value for name, value in shown.items() if name != "labels"} == step
    assert [operation["kind"] for operation in alice.json("history", items[0]["id"])] == ["add"]
    assert len(alice.json("history", "--limit", "1")) == 1
    for group in ("pages", "labels", "jobs", "experience"):
        listed = alice(group, "--json")
        assert listed == alice(group, "list", "--json")
        assert listed.code == 0


def test_an_item_of_the_past_is_shown_with_its_times_in_the_users_zone(alice: At) -> None:
    block = ("add", "--kind", "core", "label=home")
    former = alice.json(*block, "value=Lives in Bristol", "valid_from=2026-03-02")
    alice(*block, "value=Lives in Bath", "valid_from=2026-06-02", "--supersedes", former["id"])
    for words in (("items",), ("recall", "Where do I live?")):
        then = alice(*words, "--kind", "core", "--as-of", "2026-04-01").out
        assert ("Lives in Bristol" in then, "superseded" in then) == (True, False)
    assert "superseded" in alice("items", "--kind", "core", "--superseded").out
    zone = ("--timezone", "Europe/London")
    alice("add", "--kind", "semantic", "name=flat", "summary=Mill Lane", "valid_from=2025-07-01", *zone)
    alice("add", "--kind", "episodic", "summary=The boiler broke", "occurred_at=2025-01-05 08:30")
    listed = alice("items", *zone).out
    assert all(time in listed for time in ("from 2025-07-01 00:00 +01:00", "2025-01-05 08:30 +00:00"))


def test_history_describes_what_changed_in_words(alice: At) -> None:
    words = ("--kind", "semantic", "name=flat", "summary=old", 'metadata={"page": 3}')
    item = alice.json("add", *words)["id"]
    long = "Mill Lane 4, above the bakery, with the key under the third pot from the left " * 2
    alice("edit", item, f"summary={long}", 'labels=["home", "lease"]', 'metadata={"page": 4, "seen": true}')
    shown = alice("history", item).out
    for line in ("labels: – → home, lease", "metadata: page 3 → page 4, seen yes", "summary: old → Mill Lane"):
        assert line in shown
    assert (shown.count("third pot from the left"), "{" in shown) == (2, False)


# Changing.


def test_an_item_is_added_edited_removed_and_brought_back(alice: At) -> None:
    picture = alice.home.parent / "cat.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    captioned = alice.json("add", picture, "--caption", "A cat on a mat.")[0]["item"]
    assert captioned["content"] == "A cat on a mat."
    alice("remove", captioned["id"])
    words = ("--kind", "semantic", "name=Mia", "summary=daughter", "labels=kin", "labels=school")
    added = alice.json("add", *words, "valid_from=2024-09-01")
    assert (added["labels"], added["valid_from"]) == (["kin", "school"], "2024-09-01T00:00:00Z")
    edited = alice.json("edit", added["id"], "summary=daughter, 7", "labels=kin", "valid_from=")
    changed = (edited["summary"], edited["labels"], edited["valid_from"], edited["version"])
    assert changed == ("daughter, 7", ["kin"], None, 2)
    removed = alice.json("remove", added["id"])
    assert (removed["kind"], alice.json("items")) == ("remove", [])
    assert [operation["undoes"] for operation in alice.json("undo", removed["id"])] == [removed["id"]]
    assert [item["summary"] for item in alice.json("items")] == ["daughter, 7"]
    first = alice.json("history", added["id"])[0]["id"]
    assert "--cascade" in alice("undo", first).error
    alice("undo", first, "--cascade")
    assert alice.json("items") == []


def test_a_secret_comes_from_stdin_and_is_seen_nowhere_but_in_reveal(alice: At) -> None:
    added = alice("add", "--kind", "vault", "caption=wifi", "--secret-stdin", stdin=PASSWORD + "\n")
    listed, history = alice("items", "--json"), alice("history", "--json")
    assert PASSWORD not in added.out + added.err + listed.out + history.out
    revealed = alice("reveal", listed.json[0]["id"], "--reason", "guests are here")
    assert revealed == Finished(0, PASSWORD + "\n", "")


def test_a_forgotten_thread_is_gone_until_undone_and_redacted_words_until_revealed(alice: At, chat: Path) -> None:
    alice("ingest", chat)
    done = alice.json("forget", "--thread", "family", "--reason", "asked to")
    assert (done["kind"], done["reason"]) == ("forget", "asked to")
    assert [step["message_id"] for step in alice.json("steps")] == ["m4"]
    alice("undo", done["id"])
    assert len(alice.json("steps")) == 4
    for words, typed in (("West Lake Primary", ""), ("-", "tea market\n")):
        receipt = alice("redact", words, "--caption", "school", "--json", stdin=typed)
        text = typed.strip() or words
        assert len(receipt.json["step_ids"]) == 1
        assert text not in alice("steps").out + receipt.out
        assert alice("reveal", receipt.json["reference"], "--reason", "forms").out == f"{text}\n"


def test_erase_asks_first_and_leaves_nothing_of_the_user_after_a_yes(alice: At, chat: Path) -> None:
    for words, stdin in (((), "y\n"), (("--yes",), "")):
        alice("ingest", chat, "--mode", "off")
        unanswered, refused = alice("erase"), alice("erase", stdin="n\n")
        assert (unanswered.code, unanswered.out, refused.code, refused.out) == (2, "", 1, "")
        assert "--yes" in unanswered.err.splitlines()[-1]
        assert "4 steps" in refused.err
        assert alice.json("erase", *words, stdin=stdin)["rows"]["steps"] == 4
        assert hexamem("users", "--home", alice.home, "--json").json == []


def test_an_export_is_imported_for_another_user_with_secrets_under_their_passphrase_alone(
    stored: Path, home: Path, tmp_path: Path
) -> None:
    file, phrase, wrong, damaged = (tmp_path / name for name in ("alice.hexamem", "phrase", "wrong", "damaged.hexamem"))
    phrase.write_text("correct horse\n")
    wrong.write_text("battery staple")
    alice, carol = At(stored), At(home, "carol")
    assert alice.json("export", file)["counts"]["steps"] == 4
    assert PASSWORD not in file.read_text()
    damaged.write_text(file.read_text().replace("Hangzhou", "Hongkong"))
    assert "checksum" in carol("import", damaged).err
    assert not home.exists()  # a command that failed leaves no empty home behind
    bare = At(home, "bare")
    assert "1 vault items have no secret here" in bare("import", file).err
    assert (
        "an export without secrets"
        in bare("reveal", bare.json("items", "--kind", "vault")[0]["id"], "--reason", "x").err
    )
    assert alice("export", file, "--with-secrets", "--passphrase-file", phrase).code == 0
    assert PASSWORD not in file.read_text()
    assert "--passphrase-file" in carol("import", file).error
    assert "passphrase" in carol("import", file, "--passphrase-file", wrong).error
    assert carol.json("import", file, "--passphrase-file", phrase)["counts"]["steps"] == 4
    assert any("Mia" in hit["text"] for hit in carol.json("recall", "Mia school")["hits"])
    vault = carol.json("items", "--kind", "vault")[0]["id"]
    assert carol("reveal", vault, "--reason", "test").out == PASSWORD + "\n"


# Upkeep.


def test_doctor_names_a_readable_key_a_parked_job_and_a_lost_vector_and_reindex_repairs(alice: At, chat: Path) -> None:
    def doctor(*words: str) -> Finished:
        return hexamem("doctor", "--home", alice.home, *words)

    alice("add", "--kind", "semantic", "name=Mia", "summary=daughter")
    assert ("indexes", "note") in [(found["name"], found["status"]) for found in doctor("--json").json["findings"]]
    alice("ingest", chat, "--mode", "off")
    (alice.home / "vault.key").chmod(0o644)
    report = doctor()
    assert report.code == 1
    assert all(part in report.out for part in ("chmod 600", "1 thing wrong"))
    (alice.home / "vault.key").chmod(0o600)
    with Memory.open(alice.home, embedder="static", settings=Settings(background=False)) as memory:
        user = memory.user("alice")
        memory.vectors.delete(user.key, "steps", [user.steps()[0].id])
    report = doctor("--json")
    assert (report.code, "3 of 4 vectors" in report.out) == (1, True)
    assert alice.json("reindex")["users"] == ["alice"]
    assert doctor().code == 0
    with sqlite3.connect(alice.home / "ledger.sqlite3") as ledger:
        ledger.execute(
            "INSERT INTO jobs (user_id, id, kind, payload, status, attempts, error, created_at, due_at) "
            "VALUES (1, 'job_1', 'label', '{}', 'parked', 5, 'the model is gone', 0, 0)"
        )
    ledger.close()
    report = doctor()
    assert (report.code, "the model is gone" in " ".join(report.out.split())) == (1, True)


def test_flush_learns_what_a_short_program_stored_and_reembed_makes_every_vector_anew(home: Path) -> None:
    with Memory.open(home, embedder="static", settings=Settings(background=False)) as memory:
        memory.user("bob").remember("My boss is called Priya.")
    bob = At(home, "bob")
    assert "hexamem flush -u bob" in bob("items").err
    assert "hexamem flush" in hexamem("doctor", "--home", home).out
    assert hexamem("flush", "--home", home, "--json").json == {"users": ["bob"], "left": []}
    done = hexamem("reembed", "--embedder", "bundled", "--home", home, "--json").json
    assert (done["embedder"], done["records"] > 0) == ("bundled", True)
    assert "Priya" in bob("items", embedder=None).out
    assert "static" in bob("items").error
