"""Fuzz what reads text from outside: files, imports, conversations, times, queries, records, prompts, commands, patterns.

Each target accepts an input or refuses it with one of its documented errors; anything else is a finding, and so is an
input that takes 50 times as long per byte as the target's median. Input N of a seed is always the same one.
Run: ``python scripts/fuzz.py --inputs 100000 --seed 1`` (needs the ``test`` extra; all targets by their share), or with
``--target times --first 4711 --inputs 1`` to repeat one input.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from hexamem import STRATEGIES, Memory, Settings  # noqa: E402
from hexamem.agents.contract import Batch, BatchStep  # noqa: E402
from hexamem.agents.reader import Reader  # noqa: E402
from hexamem.cli.writing import _read_lines  # noqa: E402
from hexamem.errors import CorruptFileError, HexamemError, InvalidInputError  # noqa: E402
from hexamem.evals import detect_format, load_conversations  # noqa: E402
from hexamem.evals.records import FORMATS  # noqa: E402
from hexamem.intent.dates import find_dates  # noqa: E402
from hexamem.memory_types.coarse_dates import read_coarse_date  # noqa: E402
from hexamem.memory_types.messages import read_messages  # noqa: E402
from hexamem.memory_types.times import parse_time  # noqa: E402
from hexamem.models.sentences import split_sentences  # noqa: E402
from hexamem.stores.file_readers import read_data  # noqa: E402
from hexamem.stores.ledger import read_entries  # noqa: E402
from hexamem.stores.redaction import Redactor  # noqa: E402
from hexamem.stores.secrets import find_references  # noqa: E402
from tests import module_patterns, test_eval_loaders, test_files, test_import_rows, test_prompts  # noqa: E402
from tests.commands import hexamem  # noqa: E402
from tests.test_bad_input import ODD_TEXTS  # noqa: E402
from tests.test_cli_mistakes import LEAVES  # noqa: E402
from tests.test_export import fill  # noqa: E402

SLOW, NOTICED = 50, 1.0  # times the median CPU per byte; shorter ones, in seconds, are never reported
LONGEST = 20.0  # seconds of CPU after which an input is given up
OVERHEAD = 512  # bytes added to each input's size: a call takes time whatever its input
ODD: list[Any] = [
    *test_import_rows.VALUES, *ODD_TEXTS, float("nan"), float("inf"), 2**70, "9" * 5_000, "a" * 300, "../../etc/passwd",
    "' OR 1=1 --", '"; DROP TABLE steps', "%", "_", "*", "{{vault:x|y}}", "$where", {"$gt": 0}, {"$or": [{}, {}]},
    "2024-02-30", "0000-00-00", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "24:00", "-1", "1e999",
]  # fmt: skip
BYTES = [
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\r",
    b'"',
    b"<",
    b">>",
    b"[" * 2_000,
    b"]",
    b"endobj",
    b"9" * 30,
    b"-",
    b"{",
]
SENTENCES = [
    "My daughter Mia starts school in Hangzhou next Monday at 8.", "the wifi password is hunter2-x9Q!", "我下周报名了陶艺课",
    "Call +49 30 1234567 or card 4111 1111 1111 1111, exp 12/29.", "three weeks ago, from June to August 2023", "",
    "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "20 to 24 June; last summer; 上上周六; 3 年后",
    "https://user:pass@example.org/?token=abc#x", "# A\n\n## B\n- one\n- two\n```\n# c\n```", "On the 31st of February at 25:61.",
]  # fmt: skip
TIMES = [
    "2023-05-08T13:56:00+02:00", "1:56 pm on 8 May, 2023", "Tue, 15 Nov 1994 08:12:31 GMT", "1683554160", "2023/05/20 (Sat) 02:21",
    "20230508135600", "2024-W37", "2024-summer", "Mon May  8 13:56:00 2023", "May 8, 2023 1:56 PM", "2023-05-08 13:56:00.123456Z",
]  # fmt: skip


class Target(NamedTuple):
    """What is fuzzed: how an input is made, what is done with it, the errors that may refuse it, and its share of all."""

    make: Callable[[Random], Any]
    run: Callable[[Any], object]
    allowed: tuple[type[Exception], ...]
    share: int


class TooLong(BaseException):
    """An input took more than LONGEST."""


# -- inputs ----------------------------------------------------------------------------------------------------------


def mutated(rng: Random, text: Any, pieces: Sequence[Any], most: int = 4) -> Any:
    """A text or bytes with some pieces cut out, repeated, exchanged, inserted, or all after a place cut off."""
    for _ in range(rng.randint(0, most)):
        start = rng.randint(0, len(text))
        end = min(len(text), start + int(rng.expovariate(0.1)))
        match rng.randrange(6):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:end] + text[start:end] * rng.choice((1, 1, 2, 50)) + text[end:]
            case 2:
                text = text[:start] if rng.random() < 0.3 else text
            case 3 if isinstance(text, bytes):
                text = text[:start] + bytes([rng.randrange(256)]) + text[start + 1 :]
            case 3:
                text = (
                    text[:start]
                    + chr(rng.choice((rng.randrange(256), rng.randrange(0x3000), rng.randrange(0x110000))))
                    + text[start + 1 :]
                )
            case _:
                text = text[:start] + rng.choice(pieces) + text[end if rng.random() < 0.5 else start :]
    return text


def text(rng: Random, seeds: Sequence[str] = SENTENCES) -> str:
    """A text near one of the seeds."""
    return str(mutated(rng, rng.choice(seeds), [*seeds, *(odd for odd in ODD if isinstance(odd, str))]))


def changed(rng: Random, value: Any, most: int = 3) -> Any:
    """A value of JSON with some of its parts replaced, deleted, repeated or renamed."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, most)):
        place, key = None, None
        inner = value
        while isinstance(inner, (dict, list)) and inner and (place is None or rng.random() < 0.8):
            place, key = inner, rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
            inner = inner[key]
        if place is None:
            return rng.choice(ODD)
        match rng.randrange(6):
            case 0:
                del place[key]
            case 1 if isinstance(place, list):
                place.insert(rng.randint(0, len(place)), copy.deepcopy(inner))
            case 1:
                place[rng.choice([*place, *filter(lambda odd: isinstance(odd, str), ODD)])] = copy.deepcopy(inner)
            case 2 | 3 if isinstance(inner, str):
                place[key] = text(rng, [inner or "x", *TIMES])
            case 4:
                place[key] = rng.choice(([inner], {"a": inner}, [inner] * 3))
            case _:
                place[key] = copy.deepcopy(rng.choice(ODD))
    return value


def document(rng: Random) -> tuple[str, bytes]:
    """A file near a good one of some kind, sometimes under the name of another."""
    name, data = rng.choice(FILES)
    if name.endswith(".docx") and rng.random() < 0.7:  # a change inside of a part: else its checksum refuses it
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as whole, zipfile.ZipFile(out, "w") as archive:
            part = rng.choice(
                ("word/document.xml", "word/styles.xml", "docProps/core.xml", rng.choice(whole.namelist()))
            )
            for each in whole.namelist():
                read = whole.read(each)
                archive.writestr(each, mutated(rng, read, [*BYTES, *XML]) if each == part else read)
        data = out.getvalue()
    else:
        data = mutated(rng, data, [*BYTES, *HTML, *PDF], 8)
    return (rng.choice(FILES)[0] if rng.random() < 0.1 else name), data


XML = [
    b"<w:p/>",
    b"<w:tc>",
    b'<w:gridSpan w:val="7"/>',
    b"</w:tbl>",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
    b"&a;",
    b'w:val="-1"',
]
HTML = [
    b"<div>" * 50,
    b"</h1>",
    b"<td>",
    b"<pre>",
    b"<!--",
    b"&#xD800;",
    b"&#99999999;",
    b"<![CDATA[",
    b"<table><tr>",
    b"<?xml",
]
PDF = [
    b" 0 R",
    b"<<",
    b"/Kids",
    b"/Parent 1 0 R",
    b"stream\n",
    b"/Length -1",
    b"xref",
    b"(\\",
    b"BT",
    b"Tj",
    b"/Filter /LZWDecode",
]


def conversation_file(rng: Random) -> tuple[str, bytes, str, bool]:
    name, records = rng.choice(CONVERSATIONS)
    if rng.random() < 0.8:
        records = changed(rng, records)
    lines = name.endswith("l")
    dump = [json.dumps(record) for record in records] if lines and isinstance(records, list) else [json.dumps(records)]
    data = "\n".join(dump).encode()
    if rng.random() < 0.4:
        data = mutated(rng, data, BYTES)
    return name, data, rng.choice(("auto", "auto", *FORMATS, "lines")), rng.random() < 0.5


def export(rng: Random) -> bytes:
    """An export with changed fields and right checksums, or with changed bytes."""
    lines = EXPORT
    if rng.random() < 0.7:
        lines = list(EXPORT)
        for _ in range(rng.randint(1, 3)):
            number = rng.randrange(len(lines))
            match rng.randrange(8):
                case 0:
                    del lines[number]
                case 1:
                    lines.insert(number, rng.choice(lines))
                case 2:
                    lines[number] = copy.deepcopy(rng.choice(ODD))
                case _:
                    lines[number] = changed(rng, lines[number], 1)
        with suppress(UnicodeError, AttributeError):
            return "".join(test_import_rows.export_lines(lines)).encode("utf-8")
    return bytes(mutated(rng, "".join(test_import_rows.export_lines(EXPORT)).encode(), BYTES, 3))


def words(rng: Random) -> list[str]:
    """The words of a command: the right ones in part, with odd values."""
    command = rng.choice(COMMANDS)
    line = [
        *command,
        *(rng.choice(("x", "FILE", "me", text(rng), "name=x")) for _ in range(rng.choice((0, 1, 1, 1, 2)))),
    ]
    for _ in range(rng.randint(0, 3)):
        value = rng.choice((text(rng), str(rng.choice(ODD)), rng.choice(TIMES), "5", "step", "me", "FILE", "semantic"))
        line += [rng.choice(OPTIONS), value] if rng.random() < 0.8 else [value]
    if rng.random() < 0.8:
        line += ["--user", "me"]
    # No file outside of the working folder; a NUL cannot be in an argument.
    return [word.replace("\0", "").replace("/", "_").replace("FILE", "chat.jsonl")[:2_000] for word in line]


COMMANDS = [leaf for leaf in LEAVES if leaf[0] not in ("demo", "chat", "eval", "train", "reembed", "ask")]
OPTIONS = [
    "--where", "--kind", "--since", "--until", "--thread", "--limit", "-k", "--strategy", "--metadata", "--label", "--as-of",
    "--known-at", "--speaker", "--format", "--timezone", "--reason", "--token-budget", "--json", "--debug", "--passphrase-file",
    "--helped", "--title", "--root", "--tree-path", "--supersedes", "--caption", "--skip-bad", "--timeout", "--cascade", "--yes",
]  # fmt: skip
ARGUMENTS: dict[str, list[Any]] = {
    "query": [*SENTENCES[:4]], "k": [1, 5, 1_000], "strategy": [*STRATEGIES], "kinds": ["step", ["core", "semantic"]],
    "where": [{"thread_id": "painting", "labels": ["place"]}, {"since": TIMES[0], "until": "2025-01-01", "speaker": "Melanie"},
              {"metadata": {"z": 1, "a": {"b": [None]}}, "agent_id": "agent"}],
    "as_of": TIMES, "known_at": TIMES, "token_budget": [1, 500], "min_probability": [0.5],
    "operations": [{"multi_step": True, "latest_filtering": False}], "kind": ["core"], "superseded": [True],
    "thread_id": ["painting"], "record_id": ["step_x"], "limit": [3], "scope": ["x"], "label": ["x"],
    "page_id": ["x"], "sha256": ["0" * 64], "secret_id": ["x"],
}  # fmt: skip
CALLS = {
    "recall": ("query", "k", "strategy", "kinds", "where", "as_of", "known_at", "token_budget", "min_probability", "operations"),
    "items": ("kind", "where", "as_of", "known_at", "superseded"), "history": ("record_id", "limit"), "get": ("record_id",),
    "steps": ("thread_id",), "pages": ("thread_id", "scope"), "search_pages": ("query", "k"), "forget": ("where", "thread_id"),
    "page": ("page_id",), "light_memory": ("token_budget",), "media": ("sha256",), "reveals": ("secret_id",),
}  # fmt: skip


def call(rng: Random) -> tuple[str, dict[str, Any]]:
    method = "recall" if rng.random() < 0.4 else rng.choice(list(CALLS))
    arguments = {}
    for name in CALLS[method]:
        if name in ("query", "page_id", "sha256") or method == "get" or rng.random() < 0.35:
            value, odd = rng.choice(ARGUMENTS[name]), rng.random()
            if odd < 0.1:
                value = rng.choice(ODD)
            elif odd < 0.6:
                value = text(rng, [value]) if isinstance(value, str) else changed(rng, value)
            arguments[name] = value
    return method, arguments


MESSAGES: list[Any] = [
    {"role": "user", "name": "Ann", "content": "I moved to Lisbon.", "id": "m1", "timestamp": TIMES[0], "metadata": {"a": [1]}},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    ]},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "done"}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}, {"type": "text", "text": "x"}]},
    {"type": "human", "content": [{"type": "image", "base64": "aGk=", "mime_type": "image/png", "caption": "c"}]},
    ["user", "hello"],
    {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "r"}, {"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
]  # fmt: skip
ITEMS: list[Any] = [
    {"kind": "core", "label": "human", "value": "Ann paints."}, {"kind": "vault", "caption": "gym"},
    {"kind": "episodic", "summary": "moved", "occurred_at": TIMES[0], "labels": ["x"], "valid_from": "2024", "confidence": 0.5},
    {"kind": "semantic", "name": "Ann", "summary": "s", "metadata": {"a": 1}, "sources": [{"step_id": "x", "quote": "q"}]},
    {"kind": "procedural", "summary": "how", "steps": ["a", "b"]}, {"kind": "resource", "title": "t", "content": "c", "tree_path": ["a"]},
]  # fmt: skip


# -- what is done with them ------------------------------------------------------------------------------------------


class Actions:
    """The stores and folders that the targets use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = Settings(background=False, mode="off", labels="off")
        self.memory = Memory.open(folder / "home", embedder="static", settings=settings)
        self.me = self.memory.user("me")
        fill(self.me)
        (folder / "chat.jsonl").write_text('{"role": "user", "content": "hi"}\n')
        self.reader = Reader(self.memory.reading_embedder)
        self.step = self.me.steps()[0]
        self.turn = 0

    def load(self, given: tuple[str, bytes, str, bool]) -> None:
        name, data, form, skip_bad = given
        path = self.folder / "loading" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        if form == "lines":
            _read_lines(path, None, skip_bad, "UTC")
        else:
            detect_format(path)
            [
                message.as_message()
                for each in load_conversations(path, form, skip_bad=skip_bad)
                for message in each.messages
            ]  # type: ignore[arg-type]

    def read_file(self, given: tuple[str, bytes]) -> None:
        name, data = given
        self.turn += 1
        if self.turn % 20:
            read_data(data, name, max_bytes=1_000_000)
        else:
            (self.folder / name).write_bytes(data)
            self.me.add_file(self.folder / name)

    def import_(self, data: bytes) -> None:
        path = self.folder / "export.jsonl"
        path.write_bytes(data)
        before = self.memory.users()
        try:
            self.memory.user("yan").import_(path)
        except HexamemError:
            assert self.memory.users() == before
            raise
        test_import_rows.use(self.memory, "yan", self.folder)

    def call(self, given: tuple[str, dict[str, Any]]) -> None:
        method, arguments = given
        getattr(self.me, method)(**arguments)

    def record(self, given: Any) -> None:
        kind, value = given
        if kind == "message":
            read_messages(value, timezone="Europe/Dublin")
            return
        self.me.get(self.me.add(value).id)

    def read_text(self, given: str) -> None:
        redactor = Redactor(None)
        cleaned = redactor.clean({"text": given}, redactor.scan({"text": given}))["text"]
        find_references(cleaned)
        assert all(0 <= start <= end <= len(given) for start, end in split_sentences(given))
        self.memory.embedder.embed_query(given)
        self.turn += 1
        if self.turn % 10 == 0:
            step = self.step.changed(content=cleaned)
            self.reader.findings(Batch(user="me", steps=(BatchStep(step=step, resolved_text=cleaned),), zone=UTC))

    def command(self, given: list[str]) -> None:
        done = hexamem(*given, "--home", self.folder / "commands", stdin="y\n")
        assert "unexpected error" not in done.err, done.err
        assert "Traceback" not in done.err or "--debug" in given, done.err
        assert done.code in (0, 1, 2), done


def read_date(given: tuple[str, str]) -> None:
    find_dates(given[0], datetime(2025, 3, 4, 9, 15, tzinfo=UTC), ZoneInfo("Asia/Shanghai"), prefer=given[1])  # type: ignore[arg-type]


def read_time(given: tuple[Any, str]) -> None:
    value, zone = given
    if isinstance(value, str):
        read_coarse_date(value)
    assert parse_time(value, timezone=zone).utc.tzinfo is UTC


def render(given: tuple[str, str, str, str]) -> None:
    test_prompts.test_no_field_of_a_record_forges_a_line_or_ends_the_block_of_memory.hypothesis.inner_test(*given)  # type: ignore[attr-defined]
    test_prompts.test_a_document_is_indented_so_that_none_of_its_lines_passes_for_another_record.hypothesis.inner_test(
        given[1]
    )  # type: ignore[attr-defined]


def fields(rng: Random) -> tuple[str, str, str, str]:
    pieces = [*test_prompts.FIELD_PIECES, *SENTENCES]
    made = ["".join(rng.choices(pieces, k=rng.randint(0, 10))) if rng.random() < 0.7 else text(rng) for _ in range(3)]
    return (made[0], made[1], made[2][:2_000], rng.choice(("step", "semantic", "episodic", "core", "procedural")))


FILES: list[tuple[str, bytes]] = []
CONVERSATIONS: list[tuple[str, Any]] = [
    ("7.json", [test_eval_loaders.LOCOMO]), ("lme.json", [test_eval_loaders.LONGMEMEVAL]),
    ("a_turns.jsonl", test_eval_loaders.CAME), ("a_questions.jsonl", [test_eval_loaders.CAME_QUESTION]),
    ("chat.jsonl", MESSAGES[:4]), ("chat.json", MESSAGES[:4]),
    ("hotpot.json", [{"_id": "1", "question": "Who?", "answer": "Ann", "type": "bridge",
                      "supporting_facts": [["T", 0]], "context": [["T", ["Ann sat."]], ["U", ["x"]]]}]),
    ("others.json", [{"conversation": "x/7.json", "kind": "k", "question": "q", "answer": "a", "evidence": ["D1:1"]}]),
]  # fmt: skip
EXPORT: list[dict[str, Any]] = []


def targets(folder: Path) -> dict[str, Target]:
    """All targets by name; homes and files are made in the folder."""
    act = Actions(folder)
    lease = test_files.pdf(["First page of the lease", "Second page"], "Lease")
    FILES[:] = [
        ("a.pdf", lease), ("b.docx", test_files.docx([("Rent", "Due on the first."), ("Money", "In trust.")])),
        ("c.html", b"<html><head><title>T</title></head><body><h1>Porto</h1><p>Two <b>x</b></p><ul>"
         b"<li>a</ul><table><tr><td>1</td></tr></table><pre> x\n</pre>"),
        ("d.csv", b'name;note\r\nMia;"first\r\nsecond"\r\n\r\nBo;x\r\n'), ("e.tsv", b"a\tb\n1\t2\n"),
        ("f.md", b"# Setup\n\n```\n# a\n```\n\n## Use\n\nRun it.\n"), ("g.txt", "Größe\f我们 password: hunter2-x9Q".encode()),
        ("h.txt", "José García".encode("latin-1")), ("i.txt", "我们在杭州".encode("gb18030")),
        ("j.png", test_files.PNG), ("k.mp3", test_files.MP3),
    ]  # fmt: skip
    act.me.export(folder / "seed.jsonl")
    with (folder / "seed.jsonl").open("rb") as lines:
        EXPORT[:] = read_entries(lines, "seed.jsonl")
    zones = ["UTC", "Europe/Dublin", "Asia/Shanghai", "America/New_York"]
    patterns: list[Any] = []

    def attack(rng: Random) -> Any:
        patterns[:] = patterns or module_patterns.patterns()
        return module_patterns.attack(rng, rng.choice(patterns))

    return {
        "times": Target(
            lambda rng: (
                rng.choice(ODD) if rng.random() < 0.05 else rng.randint(-(10**18), 10**18) if rng.random() < 0.1 else text(rng, TIMES),
                text(rng, zones) if rng.random() < 0.1 else rng.choice(zones),
            ),
            read_time, (InvalidInputError,), 300,
        ),
        "loaders": Target(conversation_file, act.load, (InvalidInputError, CorruptFileError), 250),
        "files": Target(document, act.read_file, (InvalidInputError,), 100),
        "records": Target(
            lambda rng: (
                ("message", changed(rng, rng.sample(MESSAGES, rng.randint(1, 3))))
                if rng.random() < 0.98
                else ("item", changed(rng, rng.choice(ITEMS)))
            ),
            act.record, (HexamemError,), 100,
        ),
        "prompts": Target(fields, render, (), 95),
        "texts": Target(text, act.read_text, (), 60),
        "queries": Target(call, act.call, (HexamemError,), 50),
        "imports": Target(export, act.import_, (HexamemError,), 30),
        "dates": Target(lambda rng: (text(rng), rng.choice(("past", "future", "near"))), read_date, (), 10),
        "commands": Target(words, act.command, (), 3),
        "patterns": Target(attack, module_patterns.check, (), 2),
    }  # fmt: skip


# -- the run ---------------------------------------------------------------------------------------------------------


def fuzz(name: str, target: Target, seed: int, first: int, count: int) -> int:
    """Try ``count`` inputs, or as many as there are until Ctrl-C; prints each finding once, and returns how many there are."""
    findings: set[str] = set()
    costs: list[float] = []
    tried = accepted = 0
    began, shown_at = time.process_time(), time.monotonic()

    def found(what: str, given: Any) -> None:
        if what not in findings:
            findings.add(what)
            print(f"{name}, input {first + tried}: {what}\n    {given!r}"[:800], flush=True)

    try:
        for tried in range(count):
            given = target.make(Random(f"{seed} {name} {first + tried}"))
            start, failed = time.process_time(), False
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            try:
                target.run(given)
                accepted += 1
            except target.allowed:
                pass
            except (Exception, TooLong) as error:  # noqa: BLE001 - what is looked for
                failed = True
                frames = [frame for frame in traceback.extract_tb(error.__traceback__) if str(ROOT) in frame.filename]
                where = f"{Path(frames[-1].filename).relative_to(ROOT)}:{frames[-1].lineno}" if frames else "?"
                found(f"{type(error).__name__} at {where}: {str(error)[:120]!r}", given)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            cost = time.process_time() - start
            if tried % 20 == 0 or cost > NOTICED:
                costs = [*costs[-1_000:], cost / (OVERHEAD + len(repr(given)))]
                times = costs[-1] / max(sorted(costs)[len(costs) // 2], 1e-9)
                if cost > NOTICED and len(costs) > 20 and times > SLOW and not failed:
                    where = given[0] if isinstance(given, (list, tuple)) and isinstance(given[0], str) else ""
                    found(f"slow {where[:30]}: more than {SLOW} times the median a byte ({cost:.1f} s)", given)
            if time.monotonic() - shown_at > 10:
                shown_at = time.monotonic()
                print(f"{name}: {tried:,} of {count:,}, {len(findings)} findings", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
    seconds = time.process_time() - began
    print(
        f"{name}: {tried + 1:,} inputs, {accepted:,} accepted, {seconds:,.0f} s of CPU, {len(findings)} findings",
        flush=True,
    )
    return len(findings)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="of all targets together, by their shares")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input of each target")
    parser.add_argument("--target", action="append", help="only this one; repeat it for more")
    options = parser.parse_args()

    def give_up(*_: object) -> None:
        raise TooLong(f"more than {LONGEST:g} s")

    signal.signal(signal.SIGPROF, give_up)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without
    failed = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        os.chdir(folder)
        every = targets(Path(folder))
        chosen = {name: every[name] for name in options.target or every}
        shares = sum(target.share for target in chosen.values())
        for name, target in chosen.items():
            count = max(1, options.inputs * target.share // shares)
            failed += fuzz(name, target, options.seed, options.first, count)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
