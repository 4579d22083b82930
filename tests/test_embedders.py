"""Embedders: what their vectors promise, what the static model knows, comparison by tokens, and how specs are opened."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from numpy.typing import NDArray

from hexamem.errors import ConfigError, ModelFileError
from hexamem.models.tokens import count_each, count_tokens, word_pieces
from hexamem.stores.embedders import Embedder, open_embedder
from hexamem.stores.embedders.base import unknown_direction
from hexamem.stores.embedders.langchain import within_tokens
from hexamem.stores.embedders.late_interaction import late_interaction
from hexamem.stores.embedders.lexicon import LexiconSettings
from hexamem.stores.embedders.static import StaticEmbedder

DATA = Path(str(resources.files("hexamem.stores.embedders"))) / "static_model"
PAIRS = {
    name: [list(column) for column in zip(*part["rows"], strict=True)]
    for name, part in json.loads(Path(__file__).with_name("static_model_pairs.json").read_text("utf-8")).items()
}
CHINESE, CHINESE_MEMORIES, DISTRACTORS, ENGLISH, ENGLISH_MEMORIES = PAIRS["paraphrases"]
ODD = [
    "", " ", "\x00", "a\x00b", "\ud800", "ok \udfff ok", "😀👩‍👩‍👧", "\u200f\u0645\u0631\u062d", "\u202e reversed", "\ufeff",
    "的", "。", "あ", "가", "é" * 50, "a" * 10_000, "猫" * 10_000, "[UNK]", "[PAD]", "\u0301", "𠮷野家", "ｶﾅ ＡＢＣ", "\x01的",
    "!!!", "龘", "Привет",
]  # fmt: skip
TURNS = [
    "Nora: Morning! Sorry I was quiet all week, the office was chaos, the printer broke, and in the evenings "
    "I practise the cello until the neighbours complain.",
    "Nora: The neighbours moved out last week and the office is quiet.",
    "Ben: We had soup for dinner, then a long walk.",
    "妹妹：这周公司忙疯了，打印机又坏，晚上回家还要练大提琴，邻居都来敲门了。",
    "妹妹：邻居上周搬走了，公司也清静了。",
    "哥哥：晚饭喝了汤，然后散步。",
]


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder()


def ranks(embedder: Embedder, questions: Sequence[str], memories: Sequence[str]) -> NDArray[np.float64]:
    """The rank, from 1, of memory i for question i among all memories."""
    scores = np.stack([embedder.embed_query(question) for question in questions]) @ embedder.embed_documents(memories).T
    return np.asarray(1.0 + (scores > np.diag(scores)[:, None]).sum(axis=1))


# -- vectors ---------------------------------------------------------------------------------------------------------


def test_vectors_are_float32_of_length_one_and_the_same_alone_in_a_batch_and_in_another_instance(
    static: StaticEmbedder,
) -> None:
    texts = [*ODD, "I moved to Lisbon in May.", "我家的猫叫芒果", "mixed 中文 text", "word " * 5000]
    vectors = static.embed_documents(texts)
    assert (vectors.shape, vectors.dtype) == ((len(texts), static.dimension), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(vectors, StaticEmbedder().embed_documents(texts))
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_allclose(static.embed_query(text), vector, atol=1e-6)
        assert 0.0 <= static.known_share(text) <= 1.0
    assert static.embed_documents([]).shape == (0, static.dimension)


def test_texts_of_which_nothing_is_known_share_one_direction_far_from_all_others(static: StaticEmbedder) -> None:
    empty = static.embed_query("")
    np.testing.assert_allclose(empty, unknown_direction(static.dimension))
    np.testing.assert_allclose(static.embed_query("\x00\u200b"), empty)
    english = static.embed_documents(ENGLISH_MEMORIES)
    assert np.abs(english @ empty).max() < 0.3
    hashed = static.embed_documents([f"{a}{b}" for a in "髙豔嶽甍饕" for b in "龘靐齉爩鱻"])
    assert np.abs(hashed @ english.T).mean() < 0.1


def test_megabytes_of_text_take_bounded_time(static: StaticEmbedder) -> None:
    for text in ("we met in Boston " * 150_000, "我家的猫叫芒果" * 120_000, "x" * 2_500_000):
        started = time.process_time()
        static.embed_query(text)
        assert time.process_time() - started < 1.5


def test_english_text_gets_the_vector_of_the_plain_distilled_model_without_the_lexicon(tmp_path: Path) -> None:
    from model2vec import StaticModel

    for file in DATA.iterdir():
        if file.name not in {"lexicon.safetensors", "words.txt"}:
            tmp_path.joinpath(file.name).write_bytes(file.read_bytes())
    alone = StaticEmbedder(tmp_path)
    texts = [*ENGLISH_MEMORIES, "Café in Zürich, 9:30 – “naïve” α-test", "x = f(y) # ünïcode"]
    plain = StaticModel.from_pretrained(str(DATA))
    np.testing.assert_allclose(alone.embed_documents(texts), plain.encode(texts), atol=1e-5)
    assert int(np.argmax(late_interaction(alone, "Which instrument does Nora play?", TURNS[:3]))) == 0
    with pytest.raises(ModelFileError, match=r"lexicon\.safetensors cannot be read"):
        alone.embed_query("猫")


@pytest.mark.parametrize("name", ["metadata.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("place", [0.01, 0.3, 0.6])
def test_one_changed_bit_of_the_data_is_a_damaged_file(name: str, place: float, tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    data = bytearray((tmp_path / "data" / name).read_bytes())
    start = data.index(b'"sha256"') if name == "metadata.json" else 0  # what follows is for people
    data[start + 20 + int(place * 280 if start else place * len(data))] ^= 1
    (tmp_path / "data" / name).write_bytes(data)
    with pytest.raises(ModelFileError, match=r"cannot be read .*install hexamem again"):
        StaticEmbedder(tmp_path / "data")


# -- meaning ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("questions", "memories", "expected"),
    [
        (ENGLISH, ENGLISH_MEMORIES, 0.6),
        (CHINESE, CHINESE_MEMORIES + DISTRACTORS, 0.7),
        (PAIRS["rare words"][0], PAIRS["rare words"][1] + PAIRS["rare words"][2], 0.65),  # by hashed characters: 0.25
        (PAIRS["seen"][0], PAIRS["seen"][1] + PAIRS["seen"][2], 0.40),  # with 1,970 words: 0.19
        (PAIRS["unseen"][0], PAIRS["unseen"][1] + PAIRS["unseen"][2], 0.18),  # 0.15
        (CHINESE, ENGLISH_MEMORIES, 0.65),
        (ENGLISH, CHINESE_MEMORIES + DISTRACTORS, 0.5),
    ],
    ids=["English", "Chinese", "rare words", "seen", "unseen", "Chinese to English", "English to Chinese"],
)
def test_questions_find_what_answers_them_among_distractors(
    static: StaticEmbedder, questions: list[str], memories: list[str], expected: float
) -> None:
    assert float(np.mean(1 / ranks(static, questions, memories))) > expected  # mean reciprocal rank


def test_synonyms_lie_close_and_traditional_and_full_width_forms_count_as_the_same(static: StaticEmbedder) -> None:
    others = static.embed_documents(["天气", "电影", "护照", "钢琴", "发烧"])
    for synonyms in ("车祸 撞车 交通事故", "辞职 离职 请辞", "计程车 出租车 的士", "闺女 女儿"):
        vectors = static.embed_documents(synonyms.split())
        assert (vectors @ vectors.T).min() > (vectors @ others.T).max() + 0.2
    for one, other in (
        ("我養貓和馬", "我养猫和马"),
        ("這週後面的線路和鐘錶", "这周后面的线路和钟表"),
        ("ＡＢ猫", "AB猫"),
    ):
        np.testing.assert_allclose(static.embed_query(one), static.embed_query(other), atol=1e-6)


@pytest.mark.parametrize(
    ("question", "answer", "distractor"),
    [
        ("欧阳明慧住在哪里", "欧阳明慧搬去了青岛", "司马晓峰搬去了青岛"),
        ("さくらはどこに住んでいますか", "さくらは名古屋に引っ越しました", "たけしは毎朝コーヒーを飲みます"),
        ("고양이 이름이 뭐예요", "우리 고양이 이름은 망고예요", "회의는 목요일로 연기되었습니다"),
        ("Где живёт Наташа Ростова?", "Наташа Ростова переехала в Казань.", "Встреча перенесена на четверг."),
        ("أين تسكن ليلى", "ليلى تسكن في الإسكندرية", "الاجتماع يوم الخميس"),
    ],
)
def test_names_and_words_of_other_scripts_are_not_lost(
    static: StaticEmbedder, question: str, answer: str, distractor: str
) -> None:
    right, wrong = static.embed_documents([answer, distractor]) @ static.embed_query(question)
    assert right > wrong + 0.1


def test_known_share_counts_learned_tokens(static: StaticEmbedder) -> None:
    texts = ("My sister moved to Lisbon, finally!", "妈妈对花生过敏", "Привет", "", "妈妈 called 龘靐 yesterday")
    assert [static.known_share(text) for text in texts] == [1.0, 1.0, 0.0, 0.0, 0.6]


# -- comparison token by token ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Which musical instrument does Nora play?", TURNS[:3]),
        ("妹妹会什么乐器？", TURNS[3:]),
        ("Who has trouble because of a musical instrument?", TURNS[3:]),
    ],
)
def test_one_word_that_answers_is_found_in_a_long_text_about_much_else(
    static: StaticEmbedder, question: str, texts: list[str]
) -> None:
    assert int(np.argmax(late_interaction(static, question, texts))) == 0


class Digits:
    """A token model in which each digit is a token."""

    pieces, width = 10, 16

    def __init__(self, table: NDArray[np.float32]) -> None:
        self._table = table

    def tokenize(self, texts: Sequence[str]) -> list[tuple[list[int], list[str]]]:
        return [(list(map(int, text)), []) for text in texts]

    def token_rows(self, numbers: NDArray[np.integer], others: Sequence[str]) -> NDArray[np.float32]:
        return self._table[numbers]


@settings(max_examples=50)
@given(
    question=st.sets(st.integers(0, 7), max_size=4),
    texts=st.lists(st.sets(st.integers(0, 7), max_size=5), max_size=6),
    seed=st.integers(0, 3),
)
def test_scores_are_the_sum_over_tokens_of_the_best_likeness_weighted_by_rarity(
    question: set[int], texts: list[set[int]], seed: int
) -> None:
    table = np.random.default_rng(seed).normal(size=(8, 16)).astype(np.float32)
    scores = late_interaction(Digits(table), "".join(map(str, question)), ["".join(map(str, text)) for text in texts])
    lengths = np.linalg.norm(table, axis=1)
    likeness = table @ table.T / np.outer(lengths, lengths)
    filled, expected = sum(map(bool, texts)), np.zeros(len(texts))
    for token in question:
        best = np.array([max((likeness[token, other] for other in text), default=0.0) for text in texts])
        holding = sum(max(0.0, value) ** 4 for value, text in zip(best, texts, strict=True) if text)
        expected += lengths[token] * math.sqrt(math.log1p((filled - holding + 0.5) / (holding + 0.5))) * best
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3)


@settings(max_examples=6)
@given(st.permutations([*TURNS, *ODD]))
def test_a_score_depends_on_neither_order_nor_history_nor_threads_nor_form(
    static: StaticEmbedder, texts: list[str]
) -> None:
    question = "What does Nora play, 妹妹 too?"
    expected = dict(zip([*TURNS, *ODD], late_interaction(static, question, [*TURNS, *ODD]), strict=True))
    assert np.isfinite(list(expected.values())).all()
    assert expected[""] == 0.0
    with ThreadPoolExecutor(2) as pool:
        for scores in pool.map(partial(late_interaction, static), [question, f"{question} {question}"], [texts, texts]):
            np.testing.assert_allclose(scores, [expected[text] for text in texts], rtol=1e-4, atol=1e-5)
    assert not late_interaction(static, "", texts).any()
    assert late_interaction(static, question, []).shape == (0,)


PLAIN = st.text("abcdefghABCÄéß0123456789 \t\n\r.,;:!?'’“”—…-_[]()@#/\\\"中é😀\x00\x1f\u200b", max_size=80)
WORDS = ["unaffable", "Lisbon", "5023", "re-do", "don't", "[CLS]", "[unk]", "x" * 120, "naïve", "##ing", "猫"]


@settings(max_examples=50)
@given(st.lists(st.one_of(PLAIN, st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)), max_size=6))
def test_word_pieces_are_those_of_the_tokenizer_and_tokens_are_counted_by_them(
    static: StaticEmbedder, texts: list[str]
) -> None:
    tokenizer = static._tokenizer
    assert word_pieces(tokenizer, texts) == [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    assert count_each(texts) == [count_tokens(text) for text in texts]
    assert count_tokens("a \ud800 b") == 3


# -- data and identity -----------------------------------------------------------------------------------------------


def test_the_bundled_data_are_small_and_are_those_that_metadata_describes(static: StaticEmbedder) -> None:
    metadata = json.loads(DATA.joinpath("metadata.json").read_text("utf-8"))
    for name, digest in metadata["sha256"].items():
        assert hashlib.sha256(DATA.joinpath(name).read_bytes()).hexdigest() == digest, name
    assert sum(len(file.read_bytes()) for file in DATA.iterdir()) < 10_000_000
    assert StaticEmbedder().fingerprint == static.fingerprint
    assert StaticEmbedder(settings=LexiconSettings(word_identity=0.31)).fingerprint != static.fingerprint
    assert not static.paid


def test_opening_the_bundled_embedder_loads_no_framework() -> None:
    code = (
        "import sys; from hexamem.stores.embedders import open_embedder; open_embedder('bundled').embed_query('猫');"
        "print([m for m in ('torch', 'langchain_core', 'openai', 'sentence_transformers') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# -- other embedders -------------------------------------------------------------------------------------------------


class Counting(Embeddings):
    """Counts calls; returns vectors that are not normalised, one too few where it is broken."""

    def __init__(self, model: str) -> None:
        self.model, self.broken = model, False
        self.calls: list[int] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(len(texts))
        assert all(text.strip() for text in texts)
        vectors = [[7 * x for x in vector] for vector in DeterministicFakeEmbedding(size=24).embed_documents(texts)]
        return vectors[1:] if self.broken else vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def test_a_langchain_object_becomes_an_embedder_that_is_called_when_needed_and_in_batches() -> None:
    embeddings = Counting("some-model")
    embedder = open_embedder(embeddings)
    assert (embeddings.calls, embedder.name, embedder.paid) == ([], "langchain:Counting:some-model", True)
    vectors = embedder.embed_documents(["one", "", "three\ud800", *(f"text {number}" for number in range(298))])
    assert embeddings.calls == [1, 256, 44]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(vectors[1], unknown_direction(24))
    np.testing.assert_allclose(embedder.embed_query("one"), vectors[0], atol=1e-6)
    assert embedder.token_model is None
    assert open_embedder(embedder) is embedder
    fingerprints = [open_embedder(Counting(model)).fingerprint for model in ("some-model", "other-model")]
    assert (fingerprints[0] == embedder.fingerprint, fingerprints[1] == embedder.fingerprint) == (True, False)
    embeddings.broken = True
    with pytest.raises(ConfigError, match=r"returned 1 vectors of \[24\] dimensions for 2 texts"):
        embedder.embed_documents(["a", "b"])


def test_openai_models_are_opened_by_name_without_a_call_and_long_texts_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert open_embedder("openai:text-embedding-3-small").name == "openai:text-embedding-3-small"
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        open_embedder("openai:text-embedding-3-small")
    lengths = [len(within_tokens(text)) for text in ("short", "a" * 50_000, "龘" * 50_000)]
    assert lengths == [5, 10_921, 4_095]


@pytest.mark.parametrize("spec", ["bundle", "", "openai", "minilm:", 7, None])
def test_an_unknown_spec_is_refused_with_the_choices(spec: object) -> None:
    with pytest.raises(ConfigError) as error:
        open_embedder(spec)  # type: ignore[arg-type]
    assert repr(spec) in str(error.value)
    with pytest.raises(ConfigError, match=r"pip install sentence-transformers|names no folder"):
        open_embedder("minilm:/no/such/folder")
    assert "'bundled', 'static', 'minilm', 'minilm:<folder>', 'openai:<model>'" in str(error.value)
