"""The lexical index: what is found, in which order, for whom, and what is left on disk."""

from __future__ import annotations

import itertools
import math
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.errors import CorruptFileError, InvalidInputError, MissingUserError, StoreClosedError
from hexamem.stores.lexical import LexicalDocument, LexicalFilter, LexicalStore
from hexamem.stores.lexical import query as lexical_query
from hexamem.stores.lexical.files import committed_files
from hexamem.stores.lexical.records import EXACT, STEMMED, open_index
from hexamem.stores.lexical.tokens import tokenize_document

FEW = settings(max_examples=25)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
KEYS = ["../x", "a/b", ".", "", "ü", "x" * 129]


def doc(record_id: str, text: str = "hello", **fields: Any) -> LexicalDocument:
    return LexicalDocument(id=record_id, text=text, **{"kind": "step", **fields})


@pytest.fixture
def store(tmp_path: Path) -> LexicalStore:
    return LexicalStore.open(tmp_path / "lexical")


def found(store: LexicalStore, query: str, k: int = 10, user: str = "u", **filters: Any) -> list[str]:
    return [record for record, _ in store.search(user, query, k, filters=LexicalFilter(**filters) if filters else None)]


def terms(folder: Path) -> set[str]:
    """Every term of the text fields that tantivy's dictionaries hold, of deleted documents too."""
    searcher = open_index(folder).searcher()
    return {term for field in (STEMMED, EXACT) for term, _ in searcher.terms_with_prefix(field, "")}


# -- search ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Which sunrise did Caroline paint?", "painting"),
        *((query, "order") for query in ("ORD-4471", "ord 4471", "4471", "v2.3.1", "anna@example.com", "draft_v2.pdf")),
        ("where is ORD-4472", "parcel"),  # not its scattered parts
        ("你的猫叫什么名字？", "cat"),
        ("猫", "cat"),
        ("他什么时候去的北京", "beijing"),
        ("ＡＢＣ１２ 在哪里", "code"),
        ("カメラはいつ買いましたか", "camera"),
        ("고양이 이름이 뭐예요", "korean"),
        ("lastone", "long"),
        ("What did you do?", "questions"),  # a query of such words alone keeps them
    ],
)
def test_a_document_is_found_by_words_ids_and_text_without_spaces(
    searched: LexicalStore, query: str, expected: str
) -> None:
    assert found(searched, query)[0] == expected


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> LexicalStore:
    store = LexicalStore.open(tmp_path_factory.mktemp("searched"))
    texts = {
        "painting": "Caroline: we were painting sunrises", "race": "Melanie: I ran a race",
        "order": "ORD-4471 runs v2.3.1, ask anna@example.com for draft_v2.pdf", "parts": "4472 things and ORD notes",
        "parcel": "the parcel ORD-4472 left",
        "cat": "我养了一只橘猫，名字叫豆包", "beijing": "上个月我坐火车去了北京", "code": "编号abc12放在抽屉里",
        "camera": "先週新しいカメラを買いました", "korean": "우리 고양이 이름은 나비예요",
        "other": "今天天气很好，我们出去走走吧", "long": "word " * 500_000 + "lastone", "questions": "what did you do",
    }  # fmt: skip
    store.upsert("u", [doc(name, text) for name, text in texts.items()])
    return store


def test_a_query_is_plain_text_whatever_it_holds(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", "something else entirely")])
    signs = ("", " ", "!?", "😀", "\0", "\ud800", "[* TO *]", "/.*/", "\\")
    for query in (*signs, 'zz AND (b OR "', "text:* -x +y ^2 ~", "a" * 10_000):
        assert found(store, query) == [], query


@FEW
@given(text=ANY_TEXT, names=st.sets(ANY_TEXT.filter(bool), min_size=1, max_size=5))
def test_any_text_under_any_id_is_found_by_itself_until_it_is_deleted(
    tmp_path_factory: pytest.TempPathFactory, text: str, names: set[str]
) -> None:
    store = LexicalStore.open(tmp_path_factory.mktemp("any"))
    names = {name[:20] for name in names}
    store.upsert("u", [doc(name, text, thread_id=name, speaker=name, label_ids=(name,)) for name in names])
    assert store.ids("u") == names
    indexed = bool(tokenize_document(text).stemmed)
    assert set(found(store, text)) == (names if indexed else set())
    for name in names:
        assert store.label_density("u", {name: 1.0}, 9) == [(name, 1.0)]
        for condition in ({"ids": [name]}, {"thread_id": name}, {"speakers": frozenset({name})}):
            assert found(store, text, **condition) == ([name] if indexed else [])
    store.delete("u", [min(names), "never seen"])
    assert store.ids("u") == names - {min(names)}


def test_scores_are_bm25_by_the_statistics_of_one_user(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", "tiger lake tiger"), doc("b", "lake boat"), doc("c", "boat hill stone moss")])
    alone = store.search("u", "tiger lake", 10**12)
    store.upsert("v", [doc(f"b{n}", "tiger tiger") for n in range(50)])
    assert store.search("u", "tiger lake", 10**12) == alone
    # idf · frequency · 2.2 / (frequency + 1.2 (0.25 + 0.75 · length / mean length)), in both fields
    rare, common = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    weight = (rare * 4.4 / (2 + 1.2) + common * 2.2 / (1 + 1.2)) / (common * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)))
    assert [name for name, _ in alone] == ["a", "b"]
    assert alone[0][1] / alone[1][1] == pytest.approx(weight, rel=1e-5)


def test_of_too_many_query_terms_the_rarest_are_searched(store: LexicalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical_query, "_MAX_TERMS", 4)
    store.upsert("u", [doc("rare", "needle"), *(doc(f"d{n}", "common words everywhere again") for n in range(20))])
    assert found(store, "common words everywhere again needle " + "unknown " * 500)[0] == "rare"


def test_ties_come_latest_first_and_do_not_depend_on_how_the_documents_came(tmp_path: Path) -> None:
    documents = [doc(f"d{n}", "same words", occurred_at=None if n % 10 == 0 else n // 2 - 20) for n in range(60)]
    answers = []
    for seed in range(2):
        store = LexicalStore.open(tmp_path / str(seed))
        shuffled = random.Random(seed).sample(documents, len(documents))
        for start in range(0, len(shuffled), 25):
            store.upsert("u", shuffled[start : start + 25])
        answers.append([found(store, "same words", k) for k in (7, 30, 60)])
    assert answers[0] == answers[1]
    few, some, every = answers[0]
    assert (few, some) == (every[:7], every[:30])
    times = [{document.id: document.occurred_at for document in documents}[record] for record in every]
    assert times == [*sorted((time for time in times if time is not None), reverse=True), *[None] * 6]


# -- filters and labels ----------------------------------------------------------------------------------------------

PEOPLE, KINDS, THREADS = ["Ann", "ann", "王"], ["step", "page", "core"], ["", "t1", "t/2"]


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> tuple[LexicalStore, list[LexicalDocument]]:
    chosen, store = random.Random(3), LexicalStore.open(tmp_path_factory.mktemp("filters"))
    documents = [
        doc(
            f"d{n}",
            chosen.choice(["tiger " * (1 + n % 9), "tiger lake", "lake"]),
            kind=chosen.choice(KINDS),
            thread_id=chosen.choice(THREADS),
            speaker=chosen.choice(PEOPLE),
            occurred_at=chosen.choice([None, -5, 0, 3, 9, 10**17]),
            label_ids=tuple(chosen.choices("abcdé", k=3)),
        )
        for n in range(600)
    ]
    for start in range(0, 600, 200):
        store.upsert("u", documents[start : start + 200])
    return store, documents


@settings(max_examples=50)
@given(
    wanted=st.builds(
        LexicalFilter,
        thread_id=st.sampled_from([None, *THREADS]),
        speakers=st.none() | st.frozensets(st.sampled_from(PEOPLE)),
        kinds=st.none() | st.frozensets(st.sampled_from(KINDS)),
        since=st.sampled_from([None, -6, -5, 1, 9, 1 << 70]),
        until=st.sampled_from([None, -5, 0, 3, 10**17]),
        ids=st.none() | st.frozensets(st.sampled_from([*(f"d{n}" for n in range(600)), "none such"])),
    ),
    share=st.sampled_from([0.0, 0.01, 0.5, 0.9]),
    k=st.sampled_from([1, 2, 20, 600]),
    weights=st.dictionaries(st.sampled_from("abcdéz"), st.sampled_from([0.0, 0.5, 1.0, 2.0])),
)
def test_filters_and_label_density_agree_with_a_scan(
    filtered: tuple[LexicalStore, list[LexicalDocument]],
    wanted: LexicalFilter,
    share: float,
    k: int,
    weights: dict[str, float],
) -> None:
    store, documents = filtered
    every = store.search("u", "tiger", 600)
    if share:  # a filter of many ids, which are those of the worst hits
        wanted = LexicalFilter(ids=frozenset([record for record, _ in reversed(every)][: int(len(every) * share)]))
    passing = {
        d.id: d
        for d in documents
        if wanted.thread_id in (None, d.thread_id)
        and (wanted.speakers is None or d.speaker in wanted.speakers)
        and (wanted.kinds is None or d.kind in wanted.kinds)
        and (wanted.since is None or (d.occurred_at is not None and d.occurred_at >= wanted.since))
        and (wanted.until is None or (d.occurred_at is not None and d.occurred_at <= wanted.until))
        and (wanted.ids is None or d.id in wanted.ids)
    }
    assert {record for record, _ in every} == {d.id for d in documents if "tiger" in d.text}
    assert store.search("u", "tiger", k, filters=wanted) == [hit for hit in every if hit[0] in passing][:k]
    sums = {name: sum(weights.get(label, 0.0) for label in set(d.label_ids)) for name, d in passing.items()}
    dense = store.label_density("u", weights, k, filters=wanted)
    assert [score for _, score in dense] == sorted((score for score in sums.values() if score), reverse=True)[:k]
    assert all(sums[record] == score for record, score in dense)


# -- writing and bad input -------------------------------------------------------------------------------------------


def test_a_known_id_is_replaced_the_later_of_two_counts_and_a_reopened_store_finds_it(tmp_path: Path) -> None:
    store = LexicalStore.open(tmp_path)
    assert (found(store, "lion"), store.count("u"), store.ids("u"), store.damaged("u")) == ([], 0, set(), None)
    store.delete("u", ["nothing yet"])
    assert list(tmp_path.iterdir()) == []
    store.upsert("u", [doc("a", "lion"), doc("a", "tiger"), doc("b", "\0 \ud800")])
    store.upsert("u", [doc("a", "zebra")])
    store = LexicalStore.open(tmp_path)
    assert ([found(store, word) for word in ("lion", "tiger", "zebra")], store.count("u")) == ([[], [], ["a"]], 2)


def test_what_cannot_be_stored_asked_or_set_is_refused(store: LexicalStore) -> None:
    for bad in (doc(""), doc("x" * 9_000), doc("é" * 5_000), doc("a", occurred_at=1 << 63)):
        with pytest.raises(InvalidInputError):
            store.upsert("u", [doc("good"), bad])
    assert store.count("u") == 0
    for key in KEYS:
        for call in (lambda key=key: store.upsert(key, [doc("a")]), lambda key=key: store.reset(key)):
            with pytest.raises(InvalidInputError if key else MissingUserError):
                call()
    for weight in (-1.0, math.nan, math.inf):
        with pytest.raises(InvalidInputError, match="weight"):
            store.label_density("u", {"x": weight}, 5)
    with pytest.raises(InvalidInputError, match="k=0"):
        store.search("u", "x", 0)
    store.close()
    for call in (lambda: store.search("u", "x", 1), lambda: store.upsert("u", [doc("a")])):
        with pytest.raises(StoreClosedError):
            call()


# -- erasing ---------------------------------------------------------------------------------------------------------


def test_text_is_not_stored_and_the_terms_of_deleted_documents_go_with_the_index(
    store: LexicalStore, tmp_path: Path
) -> None:
    folder = tmp_path / "lexical" / "u"
    store.upsert("u", [doc(f"d{n}", f"ordinary number{n}") for n in range(100)])
    store.upsert("u", [doc("deleted", "walrus", speaker="Ann"), doc("replaced", "harmonica 海象"), doc("last", "lion")])
    searcher = open_index(folder).searcher()
    stored = [searcher.doc(address).to_dict() for _, address in searcher.search(tantivy.Query.all_query(), 200).hits]
    assert {tuple(document) for document in stored} == {("id",)}
    store.delete("u", ["deleted"])
    store.upsert("u", [doc("replaced", "redacted")])
    assert {"walrus", "harmonica", "海象"} <= terms(folder)
    store.reset("u")
    store.upsert("u", [doc("last", "lion")])
    assert terms(folder).isdisjoint({"walrus", "harmonica", "海象", "海", "象"})
    assert (store.count("u"), store.ids("u"), store.damaged("u")) == (1, {"last"}, None)


def test_reset_removes_the_folder_of_this_user_alone(store: LexicalStore, tmp_path: Path) -> None:
    store.upsert("u", [doc("a")])
    store.upsert("v", [doc("b")])
    store.reset("u")
    assert [path.name for path in (tmp_path / "lexical").iterdir()] == ["v"]
    assert (store.count("u"), found(store, "hello", user="v")) == (0, ["b"])
    store.upsert("u", [doc("c")])
    assert found(store, "hello") == ["c"]


# -- damage ----------------------------------------------------------------------------------------------------------


def test_damage_to_any_file_is_named_and_a_rebuild_heals_it(tmp_path: Path) -> None:
    suffixes = ("idx", "pos", "term", "store", "fast", "fieldnorm", "del", "json")
    ways = itertools.cycle(("missing", "empty", "cut"))
    for suffix, how in [(suffix, way) for suffix in suffixes for way in ("flipped", next(ways))]:
        home = tmp_path / suffix / how
        writing = LexicalStore.open(home)
        writing.upsert("u", [doc(f"d{n}", f"lion number{n}") for n in range(50)])
        writing.delete("u", ["d3"])
        assert writing.damaged("u") is None
        file = home / "u" / "meta.json" if suffix == "json" else next((home / "u").glob(f"*.{suffix}"))
        data = bytearray(file.read_bytes())
        file.unlink()  # a new file: cutting a mapped one short in place kills the process that maps it
        if how != "missing":
            data[len(data) // 3] ^= 0xFF
            file.write_bytes({"empty": b"", "cut": data[: len(data) // 2], "flipped": data}[how])
        store = LexicalStore.open(home)
        assert file.name in str(store.damaged("u")), (suffix, how)
        assert file.name in str(writing.damaged("u")), "an open index is checked on disk too"
        if how in ("missing", "empty"):
            with pytest.raises(CorruptFileError):
                LexicalStore.open(home).upsert("u", [doc("new")])
        store.reset("u")
        store.upsert("u", [doc("a", "lion")])
        assert (store.damaged("u"), store.ids("u")) == (None, {"a"})


def test_an_index_of_another_schema_is_damaged_and_a_folder_that_was_never_committed_is_an_empty_index(
    store: LexicalStore, tmp_path: Path
) -> None:
    for user in ("u", "v"):
        (tmp_path / "lexical" / user).mkdir()
    tantivy.Index(tantivy.SchemaBuilder().add_text_field("stemmed_0").build(), path=str(tmp_path / "lexical" / "u"))
    assert "schema" in str(store.damaged("u"))
    store.reset("u")
    store.upsert("u", [doc("a", "lion")])
    assert (store.damaged("u"), found(store, "lion")) == (None, ["a"])
    assert (store.damaged("v"), store.count("v")) == (None, 0)
    store.upsert("v", [doc("a")])
    assert store.count("v") == 1


# -- limits of the system, killed writers, threads -------------------------------------------------------------------

LIMITED = """
import os, resource, sys
from pathlib import Path
from hexamem.errors import StorageFullError
from hexamem.stores.lexical import LexicalDocument, LexicalStore, store as lexical_store
def doc(name, text="lion"):
    return LexicalDocument(id=name, text=text, kind="step")
lexical_store._MAX_OPEN = 4
store = LexicalStore.open(Path(sys.argv[1]))
store.upsert("u", [doc("a")])
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, unlimited[1]))
try:
    store.upsert("u", [doc("b", " ".join(f"w{n}" for n in range(50_000)))])
except StorageFullError:
    print("full")
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
store.upsert("u", [doc("c")])
print(sorted(store.ids("u")), store.damaged("u"))
handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 10
resource.setrlimit(resource.RLIMIT_NOFILE, (handles + 30, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
for n in range(40):
    store.upsert(f"u{n}", [doc(f"d{n}")])
print(all(store.search(f"u{n}", "lion", 5)[0][0] == f"d{n}" for n in range(40)))
"""


def test_a_full_disk_stores_nothing_of_a_write_and_many_users_fit_into_few_file_handles(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["full", "['a', 'c'] None", "True"]


WRITER = """
import sys
from pathlib import Path
from hexamem.stores.lexical import LexicalDocument, LexicalStore
store = LexicalStore.open(Path(sys.argv[1]))
n = store.count("u")
while True:
    store.upsert("u", [LexicalDocument(id=f"d{m}", text=f"lion number{m}", kind="step") for m in range(n, n + 10)])
    n += 10
    print(n, flush=True)
    if n % 50 == 0:
        store.upsert("u", [LexicalDocument(id="d0", text="lion once more", kind="step")])
"""


def test_a_killed_writer_leaves_the_last_commit_and_nothing_that_stops_the_next(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    first = writer.stdout.readline()
    time.sleep(0.15)
    writer.send_signal(signal.SIGKILL)
    acknowledged = int((writer.stdout.read().split() or [first])[-1])
    writer.wait()
    writer.stdout.close()
    store = LexicalStore.open(tmp_path)
    assert store.damaged("u") is None
    assert store.count("u") == len(store.ids("u")) in (acknowledged, acknowledged + 10)
    assert found(store, f"number{acknowledged - 1}")[0] == f"d{acknowledged - 1}"
    name, stray = committed_files(tmp_path / "u")[0], tmp_path / "u" / f"{'0' * 32}.term"
    for operation in range(50):
        (tmp_path / "u" / f"{Path(name).stem}.{operation}000.del").write_bytes(b"left behind")
    stray.write_bytes(b"walrus")
    store.delete("u", ["d1"])
    store.upsert("u", [doc("d0", "after the kill"), doc("d1", "again")])
    assert not stray.exists()
    assert (store.damaged("u"), found(store, "again")) == (None, ["d1"])
