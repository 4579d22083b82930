"""The lexical index: what is found, in which order, for whom, and what is left on disk."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import tantivy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hexamem.errors import (
    ConfigError,
    CorruptFileError,
    HomeNotWritableError,
    InvalidInputError,
    MissingUserError,
    StorageFullError,
    StoreClosedError,
)
from hexamem.stores.lexical import LexicalDocument, LexicalFilter, LexicalSettings, LexicalStore
from hexamem.stores.lexical.files import read_segments, storage_errors
from hexamem.stores.lexical.records import EXACT, STEMMED, open_index
from hexamem.stores.lexical.tokens import tokenize_document, tokenize_query

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


def doc(record_id: str, text: str = "hello", **fields: object) -> LexicalDocument:
    return LexicalDocument(id=record_id, text=text, **{"kind": "step", **fields})  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> LexicalStore:
    return LexicalStore.open(tmp_path / "lexical")


def found(store: LexicalStore, query: str, k: int = 10, user: str = "u", **filters: object) -> list[str]:
    given_filter = LexicalFilter(**filters) if filters else None  # type: ignore[arg-type]
    return [record for record, _ in store.search(user, query, k, filters=given_filter)]


def terms(folder: Path) -> set[str]:
    """Every term of the text fields that tantivy's dictionaries hold, of deleted documents too."""
    searcher = open_index(folder).searcher()
    return {term for field in (STEMMED, EXACT) for term, _ in searcher.terms_with_prefix(field, "")}


# ------------------------------------------------------------------------------------------------------------- tokens


def test_an_id_becomes_a_whole_token_and_its_parts() -> None:
    exact = set(tokenize_document("Order ORD-4471, v2.3.1, Anna.Smith@example.com, report_final.pdf, C++").exact)
    assert {
        "ord-4471",
        "ord",
        "4471",
        "v2.3.1",
        "anna.smith@example.com",
        "example",
        "report_final.pdf",
        "c++",
    } <= exact


def test_a_mixed_word_is_split_where_letters_meet_digits() -> None:
    assert {"ord4471", "ord", "4471"} <= set(tokenize_document("ORD4471").exact)


def test_han_text_becomes_bigrams_and_single_characters() -> None:
    streams = tokenize_document("我的iPhone手机，猫")
    assert sorted(streams.stemmed) == sorted(["iphone", "我的", "手机", "猫"])
    assert sorted(streams.exact) == sorted(["iphone", "我", "的", "手", "机", "猫"])


def test_full_width_accents_and_case_are_folded() -> None:
    assert tokenize_document("ＡＢＣ１２ Café Straße").stemmed == ["abc12", "cafe", "strasse"]


def test_vowel_signs_stay_inside_words() -> None:
    assert tokenize_document("हिन्दी में").stemmed == ["हिन्दी", "में"]


def test_question_words_leave_the_query_and_names_among_them_stay() -> None:
    assert tokenize_query("What did Anna's sister eat in May with Will?").stemmed == (
        ["anna", "sister", "eat", "in", "may", "with", "will"]
    )
    assert tokenize_query("他们什么时候去北京").stemmed == ["他们", "去北", "北京"]
    assert tokenize_query("Vitamin D").stemmed == ["vitamin", "d"]


@pytest.mark.parametrize("question", ["What did you do?", "什么时候？", "いつですか", "언제"])
def test_a_query_of_question_words_alone_keeps_them(question: str) -> None:
    assert tokenize_query(question).stemmed


@given(ANY_TEXT)
def test_tokens_hold_no_space_and_no_surrogate(text: str) -> None:
    for stream in (*tokenize_document(text), *tokenize_query(text)):
        for token in stream:
            assert token.split() == [token]
            token.encode()


@given(st.text(st.characters(codec="ascii"), max_size=200))
def test_ascii_text_tokenizes_as_it_does_beside_other_scripts(text: str) -> None:
    beside = tokenize_document("猫 " + text)
    alone = tokenize_document(text)
    assert sorted(beside.stemmed) == sorted([*alone.stemmed, "猫"])
    assert sorted(beside.exact) == sorted([*alone.exact, "猫"])


@pytest.mark.parametrize("unit", ["x", "a-", "中", "1,", "a1", "c++", "é", "x.y_"])
def test_megabytes_without_a_space_are_tokenized(unit: str) -> None:
    text = unit * (2_000_000 // len(unit))
    assert max(map(len, tokenize_document(text).exact)) <= 256


# ------------------------------------------------------------------------------------------------------------- search


def test_a_document_is_found_by_an_inflected_word_and_by_a_name(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", "Caroline: we were painting sunrises"), doc("b", "Melanie: I ran a race")])
    assert found(store, "Which sunrise did Caroline paint?") == ["a"]


@pytest.mark.parametrize(
    "query", ["ORD-4471", "ord 4471", "4471", "ord4471", "v2.3.1", "anna@example.com", "draft_v2.pdf"]
)
def test_an_id_is_found_whole_and_by_its_parts(store: LexicalStore, query: str) -> None:
    store.upsert("u", [doc("a", "ORD-4471 runs v2.3.1, ask anna@example.com for draft_v2.pdf"), doc("b", "order 17")])
    assert found(store, query) == ["a"]


def test_the_whole_id_ranks_before_its_scattered_parts(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", "4471 things and ORD notes"), doc("b", "the parcel ORD-4471 left")])
    assert found(store, "where is ORD-4471")[0] == "b"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("你的猫叫什么名字？", "cat"),
        ("猫", "cat"),
        ("他什么时候去的北京", "beijing"),
        ("ＡＢＣ１２ 在哪里", "code"),
        ("カメラはいつ買いましたか", "camera"),
        ("고양이 이름이 뭐예요", "korean"),
    ],
)
def test_text_without_spaces_is_found(store: LexicalStore, query: str, expected: str) -> None:
    store.upsert(
        "u",
        [
            doc("cat", "我养了一只橘猫，名字叫豆包"),
            doc("beijing", "上个月我坐火车去了北京"),
            doc("code", "编号abc12放在抽屉里"),
            doc("camera", "先週新しいカメラを買いました"),
            doc("korean", "우리 고양이 이름은 나비예요"),
            doc("other", "今天天气很好，我们出去走走吧"),
        ],
    )
    assert found(store, query)[0] == expected


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "!?",
        "😀",
        "\0",
        "\ud800",
        'a AND (b OR "',
        "text:* -x +y ^2 ~",
        "[* TO *]",
        "/.*/",
        "\\",
        "a" * 10_000,
    ],
)
def test_a_query_is_plain_text_whatever_it_holds(store: LexicalStore, query: str) -> None:
    store.upsert("u", [doc("a", "something else entirely")])
    assert found(store, query) == []


@FEW
@given(text=ANY_TEXT, query=ANY_TEXT)
def test_any_text_is_found_by_itself_if_it_holds_a_word(
    tmp_path_factory: pytest.TempPathFactory, text: str, query: str
) -> None:
    store = LexicalStore.open(tmp_path_factory.mktemp("any"))
    store.upsert("u", [doc("a", text)])
    store.search("u", query, 3)
    assert found(store, text) == (["a"] if tokenize_document(text).stemmed else [])


def test_of_too_many_query_terms_the_rarest_are_searched(tmp_path: Path) -> None:
    store = LexicalStore.open(tmp_path, settings=LexicalSettings(max_query_terms=4))
    store.upsert(
        "u", [doc(f"d{n}", "common words stand everywhere again") for n in range(20)] + [doc("rare", "needle")]
    )
    assert found(store, "common words stand everywhere again needle " + "unknown " * 500)[0] == "rare"


def test_scores_are_bm25_summed_over_the_weighted_fields(tmp_path: Path) -> None:
    texts = {"a": "tiger lake tiger", "b": "lake boat", "c": "boat hill stone moss"}
    store = LexicalStore.open(tmp_path, settings=LexicalSettings(stemmed_weight=1.0, exact_weight=0.25))
    store.upsert("u", [doc(name, text) for name, text in texts.items()])
    average = sum(len(text.split()) for text in texts.values()) / len(texts)

    def bm25(text: str, query: str) -> float:
        words, total = text.split(), 0.0
        for term in query.split():
            frequency, holders = words.count(term), sum(term in other.split() for other in texts.values())
            idf = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
            total += idf * 2.2 * frequency / (frequency + 1.2 * (0.25 + 0.75 * len(words) / average))
        return total

    expected = sorted(
        ((name, 1.25 * bm25(text, "tiger lake")) for name, text in texts.items()), key=lambda hit: -hit[1]
    )
    hits = store.search("u", "tiger lake", 3)
    assert [name for name, _ in hits] == [name for name, score in expected if score]
    assert [score for _, score in hits] == pytest.approx([score for _, score in expected if score], rel=1e-5)


def test_ties_come_latest_first_and_do_not_depend_on_how_the_documents_came(tmp_path: Path) -> None:
    documents = [doc(f"d{n}", "same words", occurred_at=None if n % 10 == 0 else n // 2 - 20) for n in range(120)]
    answers = []
    for seed in range(3):
        store = LexicalStore.open(tmp_path / str(seed))
        shuffled = random.Random(seed).sample(documents, len(documents))
        for start in range(0, len(shuffled), 50):
            store.upsert("u", shuffled[start : start + 50])
        answers.append([found(store, "same words", k) for k in (1, 7, 30, 120)])
    assert answers[0] == answers[1] == answers[2]
    times = {document.id: document.occurred_at for document in documents}
    order = [times[record] for record in answers[0][3]]
    dated = [moment for moment in order if moment is not None]
    assert dated == sorted(dated, reverse=True)
    assert order[len(dated) :] == [None] * 12
    assert answers[0][0] == answers[0][3][:1]
    assert answers[0][2] == answers[0][3][:30]


def test_statistics_and_documents_of_users_stay_apart(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", "tiger")])
    alone = store.search("u", "tiger", 5)
    store.upsert("v", [doc(f"b{n}", "tiger tiger") for n in range(50)])
    assert store.search("u", "tiger", 5) == alone


@pytest.mark.parametrize("text", ["", "\0", "a\0b \ud800 \ud83d\ude00", "\udcff"])
def test_a_document_of_any_text_is_stored(store: LexicalStore, text: str) -> None:
    store.upsert("u", [doc("a", text)])
    assert store.ids("u") == {"a"}


def test_a_text_of_five_megabytes_is_found_by_its_last_word(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", "word " * 1_000_000 + "lastone")])
    assert found(store, "lastone") == ["a"]


# ------------------------------------------------------------------------------------------------------------ filters

PEOPLE, KINDS, THREADS = ["Ann", "ann", "王"], ["step", "page", "core"], ["", "t1", "t/2"]


@FEW
@given(data=st.data())
def test_filters_agree_with_a_scan(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    rng = random.Random(data.draw(st.integers(0, 1 << 30)))
    documents = [
        doc(
            f"d{n}",
            rng.choice(["tiger", "tiger lake", "lake"]),
            kind=rng.choice(KINDS),
            thread_id=rng.choice(THREADS),
            speaker=rng.choice(PEOPLE),
            occurred_at=rng.choice([None, -5, 0, 3, 9, 10**17]),
        )
        for n in range(60)
    ]
    store = LexicalStore.open(tmp_path_factory.mktemp("filters"))
    store.upsert("u", documents[:30])
    store.upsert("u", documents[30:])
    ids = st.one_of(st.none(), st.frozensets(st.sampled_from([d.id for d in documents] + ["none such"])))
    wanted = LexicalFilter(
        thread_id=data.draw(st.sampled_from([None, *THREADS])),
        speakers=data.draw(st.one_of(st.none(), st.frozensets(st.sampled_from(PEOPLE)))),
        kinds=data.draw(st.one_of(st.none(), st.frozensets(st.sampled_from(KINDS)))),
        since=data.draw(st.sampled_from([None, -6, -5, 1, 9, 1 << 70])),
        until=data.draw(st.sampled_from([None, -5, 0, 3, 10**17])),
        ids=data.draw(ids),
    )
    passing = {
        d.id
        for d in documents
        if "tiger" in d.text
        and wanted.thread_id in (None, d.thread_id)
        and (wanted.speakers is None or d.speaker in wanted.speakers)
        and (wanted.kinds is None or d.kind in wanted.kinds)
        and (wanted.since is None or (d.occurred_at is not None and d.occurred_at >= wanted.since))
        and (wanted.until is None or (d.occurred_at is not None and d.occurred_at <= wanted.until))
        and (wanted.ids is None or d.id in wanted.ids)
    }
    everything = store.search("u", "tiger", 100)
    assert store.search("u", "tiger", 100, filters=wanted) == [hit for hit in everything if hit[0] in passing]
    assert store.search("u", "tiger", 2, filters=wanted) == [hit for hit in everything if hit[0] in passing][:2]


@pytest.mark.parametrize("share", [0.002, 0.1, 0.9])
def test_a_filter_of_many_ids_costs_no_recall(store: LexicalStore, share: float) -> None:
    rng = random.Random(3)
    store.upsert("u", [doc(f"d{n}", "tiger " * rng.randint(1, 9), occurred_at=n) for n in range(3_000)])
    ids = rng.sample([f"d{n}" for n in range(3_000)], int(3_000 * share))
    expected = [hit for hit in store.search("u", "tiger", 3_000) if hit[0] in set(ids)]
    for k in (1, 20, 3_000):
        assert store.search("u", "tiger", k, filters=LexicalFilter(ids=ids)) == expected[:k]


# ------------------------------------------------------------------------------------------------------------- labels


@FEW
@given(
    carried=st.lists(st.frozensets(st.sampled_from("abcdé")), min_size=1, max_size=25),
    weights=st.dictionaries(st.sampled_from("abcdéz"), st.sampled_from([0.0, 0.5, 1.0, 2.0])),
    k=st.integers(1, 30),
)
def test_label_density_is_the_sum_of_the_weights_of_the_labels_present(
    tmp_path_factory: pytest.TempPathFactory, carried: list[frozenset[str]], weights: dict[str, float], k: int
) -> None:
    store = LexicalStore.open(tmp_path_factory.mktemp("labels"))
    store.upsert("u", [doc(str(n), label_ids=(*labels, *labels)) for n, labels in enumerate(carried)])
    sums = {str(n): sum(weights.get(label, 0.0) for label in labels) for n, labels in enumerate(carried)}
    hits = store.label_density("u", weights, k)
    assert [score for _, score in hits] == sorted((score for score in sums.values() if score), reverse=True)[:k]
    assert all(sums[record] == score for record, score in hits)


def test_label_density_obeys_filters(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", label_ids=("x",), speaker="Ann"), doc("b", label_ids=("x", "y"), speaker="Bob")])
    assert store.label_density("u", {"x": 1.0, "y": 2.0}, 5, filters=LexicalFilter(speakers=frozenset({"Ann"}))) == [
        ("a", 1.0)
    ]


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_that_cannot_be_summed_is_refused(store: LexicalStore, weight: float) -> None:
    with pytest.raises(InvalidInputError, match="weight"):
        store.label_density("u", {"x": weight}, 5)


# ------------------------------------------------------------------------------------------------------------ writing


def test_a_known_id_is_replaced_and_the_later_of_two_counts(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", "lion"), doc("a", "tiger")])
    assert (found(store, "lion"), found(store, "tiger"), store.count("u")) == ([], ["a"], 1)
    store.upsert("u", [doc("a", "zebra")])
    assert (found(store, "tiger"), found(store, "zebra"), store.count("u")) == ([], ["a"], 1)


def test_deleted_documents_are_not_found_and_unknown_ids_are_ignored(store: LexicalStore) -> None:
    store.delete("u", ["nothing yet"])
    store.upsert("u", [doc("a", "lion"), doc("b", "lion")])
    store.delete("u", ["a", "never seen"])
    assert (found(store, "lion"), store.ids("u")) == (["b"], {"b"})


@FEW
@given(ids=st.sets(st.text(st.characters(exclude_categories=()), min_size=1, max_size=20), min_size=1, max_size=8))
def test_any_id_comes_back_as_it_was_given(tmp_path_factory: pytest.TempPathFactory, ids: set[str]) -> None:
    store = LexicalStore.open(tmp_path_factory.mktemp("ids"))
    store.upsert("u", [doc(one, thread_id=one, speaker=one, label_ids=(one,)) for one in ids])
    assert store.ids("u") == set(found(store, "hello")) == ids
    for one in ids:
        assert found(store, "hello", ids=[one]) == [one]
        assert found(store, "hello", thread_id=one) == [one]
        assert store.label_density("u", {one: 1.0}, 9) == [(one, 1.0)]
    gone = min(ids)
    store.delete("u", [gone])
    assert store.ids("u") == ids - {gone}


@pytest.mark.parametrize("bad", [doc(""), doc("x" * 9_000), doc("é" * 5_000), doc("a", occurred_at=1 << 63)])
def test_a_document_that_cannot_be_kept_stores_none_of_its_batch(store: LexicalStore, bad: LexicalDocument) -> None:
    with pytest.raises(InvalidInputError):
        store.upsert("u", [doc("good"), bad])
    assert store.count("u") == 0


def test_a_reopened_store_finds_what_was_written(tmp_path: Path) -> None:
    LexicalStore.open(tmp_path).upsert("u", [doc("a", "lion")])
    assert found(LexicalStore.open(tmp_path), "lion") == ["a"]


def test_reading_an_unknown_user_finds_nothing_and_makes_no_folder(store: LexicalStore, tmp_path: Path) -> None:
    assert (found(store, "lion"), store.count("u"), store.ids("u"), store.damaged("u")) == ([], 0, set(), None)
    assert list((tmp_path / "lexical").iterdir()) == []


@pytest.mark.parametrize("key", ["../x", "a/b", ".", "", "ü", "x" * 129])
def test_a_user_key_that_is_no_plain_folder_name_is_refused(store: LexicalStore, key: str) -> None:
    with pytest.raises(InvalidInputError if key else MissingUserError):
        store.upsert(key, [doc("a")])
    with pytest.raises(InvalidInputError if key else MissingUserError):
        store.drop_user(key)


def test_k_below_one_is_refused(store: LexicalStore) -> None:
    with pytest.raises(InvalidInputError, match="k=0"):
        store.search("u", "x", 0)


def test_an_enormous_k_returns_all_there_is(store: LexicalStore) -> None:
    store.upsert("u", [doc("a"), doc("b")])
    assert len(found(store, "hello", 10**12)) == 2


def test_a_closed_store_refuses_calls(store: LexicalStore) -> None:
    store.close()
    with pytest.raises(StoreClosedError):
        store.search("u", "x", 1)
    with pytest.raises(StoreClosedError):
        store.upsert("u", [doc("a")])


@pytest.mark.parametrize(
    "wrong",
    [{"max_open": 0}, {"stemmed_weight": -1.0}, {"stemmed_weight": 0.0, "exact_weight": 0.0}, {"bulk_heap_bytes": 1}],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        LexicalSettings(**wrong)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------ erasing


def test_text_is_not_stored(store: LexicalStore, tmp_path: Path) -> None:
    store.upsert("u", [doc("a", "walrus harmonica", speaker="Ann")])
    searcher = open_index(tmp_path / "lexical" / "u").searcher()
    hits = searcher.search(tantivy.Query.all_query()).hits
    assert [searcher.doc(address).to_dict() for _, address in hits] == [{"id": ["a"]}]


def test_purge_takes_the_terms_of_deleted_and_replaced_text_out_of_the_files(
    store: LexicalStore, tmp_path: Path
) -> None:
    folder = tmp_path / "lexical" / "u"
    store.upsert("u", [doc(f"d{n}", f"ordinary number{n}") for n in range(300)])
    store.upsert("u", [doc("deleted", "walrus"), doc("replaced", "harmonica 海象"), doc("kept", "lion")])
    store.delete("u", ["deleted"])
    store.upsert("u", [doc("replaced", "redacted")])
    before = {segment.stem for segment in read_segments(folder) if segment.deleted}
    assert {"walrus", "harmonica", "海象"} <= terms(folder)
    assert store.purge("u") is True
    assert terms(folder).isdisjoint({"walrus", "harmonica", "海象", "海", "象"})
    assert "redacted" in terms(folder)
    assert {path.name.split(".")[0] for path in folder.iterdir()}.isdisjoint(before)
    assert (store.count("u"), len(store.ids("u")), found(store, "number7", 1)) == (302, 302, ["d7"])
    assert store.damaged("u") is None


def test_purge_cleans_up_while_a_search_still_holds_the_old_files(store: LexicalStore, tmp_path: Path) -> None:
    store.upsert("u", [doc("a", "walrus"), doc("b", "lion")])
    held = open_index(tmp_path / "lexical" / "u").searcher()
    own = store._open["u"].searcher()
    store.delete("u", ["a"])
    assert store.purge("u") is True
    named = {name for segment in read_segments(tmp_path / "lexical" / "u") for name in segment.files}
    on_disk = {path.name for path in (tmp_path / "lexical" / "u").iterdir() if len(path.stem.split(".")[0]) == 32}
    assert on_disk <= named
    assert held.num_docs == own.num_docs == 2


def test_a_segment_too_large_to_merge_is_rebuilt_from_the_documents_given(store: LexicalStore, tmp_path: Path) -> None:
    documents = [doc(f"d{n}", "ordinary") for n in range(17_500)]
    store.upsert("u", [*documents, doc("secret", "walrus")])
    store.delete("u", ["secret"])
    assert store.purge("u") is False
    assert "walrus" in terms(tmp_path / "lexical" / "u")
    assert store.purge("u", lambda: iter(documents)) is True
    assert "walrus" not in terms(tmp_path / "lexical" / "u")
    assert store.count("u") == 17_500


def test_fillers_of_a_killed_purge_are_never_seen_and_go_with_the_next_write(store: LexicalStore) -> None:
    store.upsert("u", [doc("a", "lion")])
    store._provoke_merge("u", store._open["u"])
    store._open.clear()
    assert (store.count("u"), store.ids("u"), found(store, "lion")) == (1, {"a"}, ["a"])
    store.upsert("u", [doc("b", "lion")])
    assert store._open["u"].searcher().num_docs == store.count("u") == 2


def test_rebuild_replaces_everything_and_the_later_of_two_counts(store: LexicalStore, tmp_path: Path) -> None:
    store.upsert("u", [doc("old", "walrus")])
    store.rebuild("u", iter([doc("a", "lion"), doc("a", "tiger"), doc("b", "lion")]))
    assert (store.ids("u"), found(store, "lion"), found(store, "tiger")) == ({"a", "b"}, ["b"], ["a"])
    assert "walru" not in terms(tmp_path / "lexical" / "u")
    assert "walrus" not in terms(tmp_path / "lexical" / "u")


def test_a_rebuild_that_fails_leaves_the_old_index_and_reports_the_cause(store: LexicalStore) -> None:
    def broken() -> object:
        yield doc("a")
        raise ValueError("the ledger is unwell")

    store.upsert("u", [doc("old", "walrus")])
    with pytest.raises(ValueError, match="the ledger is unwell"):
        store.rebuild("u", broken())  # type: ignore[arg-type]
    assert store.ids("u") == {"old"}
    store.upsert("u", [doc("new", "walrus")])
    assert sorted(found(store, "walrus")) == ["new", "old"]


@pytest.mark.parametrize("remove", ["reset", "drop_user"])
def test_reset_and_drop_remove_the_folder_of_this_user_alone(store: LexicalStore, tmp_path: Path, remove: str) -> None:
    store.upsert("u", [doc("a")])
    store.upsert("v", [doc("b")])
    getattr(store, remove)("u")
    assert [path.name for path in (tmp_path / "lexical").iterdir()] == ["v"]
    assert (store.count("u"), found(store, "hello", user="v")) == (0, ["b"])
    store.upsert("u", [doc("c")])
    assert found(store, "hello") == ["c"]


# ------------------------------------------------------------------------------------------------------------- damage


def spoil(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    path.unlink()  # a new file: cutting a mapped one short in place kills the process that maps it
    if how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "flipped":
        data[len(data) // 3] ^= 0xFF
        path.write_bytes(data)


@pytest.mark.parametrize("how", ["missing", "empty", "cut", "flipped"])
@pytest.mark.parametrize("suffix", ["idx", "pos", "term", "store", "fast", "fieldnorm", "del", "json"])
def test_damage_to_any_file_is_named_and_a_rebuild_heals_it(tmp_path: Path, suffix: str, how: str) -> None:
    writing = LexicalStore.open(tmp_path)
    writing.upsert("u", [doc(f"d{n}", f"lion number{n}") for n in range(50)])
    writing.delete("u", ["d3"])
    assert writing.damaged("u") is None
    file = tmp_path / "u" / "meta.json" if suffix == "json" else next((tmp_path / "u").glob(f"*.{suffix}"))
    spoil(file, how)
    store = LexicalStore.open(tmp_path)
    assert file.name in str(store.damaged("u"))
    assert file.name in str(writing.damaged("u")), "an open index is checked on disk too"
    if how in ("missing", "empty"):
        with pytest.raises(CorruptFileError):
            LexicalStore.open(tmp_path).upsert("u", [doc("new")])
    store.rebuild("u", [doc("a", "lion")])
    assert (store.damaged("u"), store.ids("u")) == (None, {"a"})


def test_an_index_of_another_schema_is_named_damaged(store: LexicalStore, tmp_path: Path) -> None:
    folder = tmp_path / "lexical" / "u"
    folder.mkdir()
    tantivy.Index(tantivy.SchemaBuilder().add_text_field("stemmed_0").build(), path=str(folder))
    assert "schema" in str(store.damaged("u"))
    store.rebuild("u", [doc("a", "lion")])
    assert (store.damaged("u"), found(store, "lion")) == (None, ["a"])


def test_a_folder_that_was_made_but_never_committed_is_an_empty_index(store: LexicalStore, tmp_path: Path) -> None:
    (tmp_path / "lexical" / "u").mkdir()
    assert (store.damaged("u"), store.count("u")) == (None, 0)
    store.upsert("u", [doc("a")])
    assert store.count("u") == 1


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("IoError { io_error: Os { code: 28, kind: StorageFull } }", StorageFullError),
        ("An IO error occurred: 'No space left on device (os error 28)'", StorageFullError),
        ("Permission denied (os error 13)", HomeNotWritableError),
        ("Read-only file system (os error 30)", HomeNotWritableError),
        ("Data corrupted", CorruptFileError),
    ],
)
def test_errors_of_the_disk_are_told_apart(tmp_path: Path, message: str, error: type[Exception]) -> None:
    with pytest.raises(error), storage_errors(tmp_path):
        raise ValueError(message)


def test_a_write_that_the_disk_refuses_is_reported_and_stores_nothing(tmp_path: Path) -> None:
    code = """
import resource, sys
from pathlib import Path
from hexamem.errors import StorageFullError
from hexamem.stores.lexical import LexicalDocument, LexicalStore
store = LexicalStore.open(Path(sys.argv[1]))
store.upsert("u", [LexicalDocument(id="a", text="lion", kind="step")])
limit = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limit[1]))
try:
    store.upsert("u", [LexicalDocument(id="b", text=" ".join(f"w{n}" for n in range(50_000)), kind="step")])
except StorageFullError:
    print("full")
resource.setrlimit(resource.RLIMIT_FSIZE, limit)
store.upsert("u", [LexicalDocument(id="c", text="lion", kind="step")])
print(sorted(store.ids("u")), store.damaged("u"))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["full", "['a', 'c'] None"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(HomeNotWritableError):
        LexicalStore.open(tmp_path / "lexical")
    tmp_path.chmod(0o700)


# ------------------------------------------------------------------------------------------- processes, threads, many

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
        store.purge("u")
"""


def test_a_killed_writer_leaves_the_last_commit_and_no_lock(tmp_path: Path) -> None:
    for attempt in range(3):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(0.05 + 0.11 * attempt)
        writer.send_signal(signal.SIGKILL)
        acknowledged = int((writer.stdout.read().split() or [first])[-1])
        writer.wait()
        writer.stdout.close()
        store = LexicalStore.open(tmp_path)
        assert store.damaged("u") is None
        assert store.count("u") == len(store.ids("u")) in (acknowledged, acknowledged + 10)
        assert found(store, f"number{acknowledged - 1}")[0] == f"d{acknowledged - 1}"
        store.upsert("u", [doc("d0", "after the kill")])


def test_what_a_killed_write_left_does_not_stop_the_next(store: LexicalStore, tmp_path: Path) -> None:
    folder = tmp_path / "lexical" / "u"
    store.upsert("u", [doc("a", "lion"), doc("b", "lion"), doc("c", "lion")])
    (segment,) = read_segments(folder)
    for operation in range(50):
        (folder / f"{segment.stem}.{operation}.del").write_bytes(b"left behind")
    (folder / f"{'0' * 32}.term").write_bytes(b"walrus")
    store.delete("u", ["a"])
    store.upsert("u", [doc("b", "tiger")])
    assert (store.ids("u"), found(store, "lion"), store.damaged("u")) == ({"b", "c"}, ["c"], None)
    assert not (folder / f"{'0' * 32}.term").exists()


def test_many_users_fit_into_few_file_handles_and_a_bounded_number_of_open_indexes(tmp_path: Path) -> None:
    code = """
import os, resource, sys
from pathlib import Path
from hexamem.stores.lexical import LexicalDocument, LexicalSettings, LexicalStore
handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 10
resource.setrlimit(resource.RLIMIT_NOFILE, (handles + 30, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
store = LexicalStore.open(Path(sys.argv[1]), settings=LexicalSettings(max_open=4))
for n in range(80):
    store.upsert(f"u{n}", [LexicalDocument(id=f"d{n}", text="lion", kind="step")])
assert all(store.search(f"u{n}", "lion", 5)[0][0] == f"d{n}" for n in range(80))
print(len(store._open))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "4"


def test_threads_write_search_and_erase_at_once(tmp_path: Path) -> None:
    store = LexicalStore.open(tmp_path, settings=LexicalSettings(max_open=2))
    errors: list[Exception] = []

    def work(thread: int) -> None:
        rng = random.Random(thread)
        try:
            for n in range(12):
                user = f"u{rng.randrange(3)}"
                store.upsert(user, [doc(f"{thread}-{n}", "lion")])
                store.search(user, "lion", 5)
                store.delete(user, [f"{thread}-{n - 1}"])
                if n % 5 == 0:
                    store.purge(user)
                store.upsert("all", [doc(f"{thread}-{n}", "lion")])
        except Exception as error:  # noqa: BLE001 - whatever it is, the main thread shows it
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert store.ids("all") == {f"{thread}-{n}" for thread in range(4) for n in range(12)}
