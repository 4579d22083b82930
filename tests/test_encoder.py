"""The bundled models: vectors of any text and of its spans, heads, the cross-encoder, damaged files."""

from __future__ import annotations

import itertools
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings
from hexamem.errors import ModelFileError
from hexamem.models import sentences as sentence_splitting
from hexamem.models.encoder import MAX_TOKENS, Encoder, Heads, open_encoder, open_heads
from hexamem.models.encoder.runtime import read_encoder_tokenizer
from hexamem.models.reranker import Reranker, open_reranker
from hexamem.models.sentences import split_sentences
from hexamem.stores.embedders.encoder import EncoderEmbedder

DATA = Path(open_encoder().folder)
ODD = ["", " ", "\x00", "\ud800 half", "x" * 100_000, "مرحبا بالعالم", "我明天要去成都看医生", "a " * 500_000, "\n\n\t"]
QUIET = Settings(mode="off", background=False)
TURNS = [
    "We adopted a greyhound called Biscuit in March.",
    "The invoice of the plumber is due on Friday.",
    "Ben wants to learn the trumpet, of all things.",
    "My sister works at the bakery on the corner.",
]


# -- vectors ---------------------------------------------------------------------------------------------------------


def test_every_text_has_a_unit_vector_and_a_relevance_and_a_long_one_is_read_up_to_its_first_tokens() -> None:
    vectors = open_encoder().vectors(ODD)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)
    assert open_encoder().vectors([]).shape == (0, open_encoder().dimension)
    (encoded,) = open_encoder().encode(["word " * 5_000])
    assert len(encoded.states) <= MAX_TOKENS - 2
    for text in ODD:
        assert open_reranker().relevance(text, [text, "a cat"]).shape == (2,)
        assert 0 <= float(open_reranker().supersedes([(text, text)])[0]) <= 1
    assert open_reranker().relevance("What?", []).shape == (0,)


@pytest.mark.parametrize(
    ("question", "turns", "answer"),
    [
        ("Which pet does the family have?", TURNS, 0),
        ("他们家养了什么宠物？", ["我把车卖给邻居了", "我们领养了一只狗，叫小饼干", "发票周五到期"], 1),
    ],
)
def test_a_question_is_nearest_to_what_answers_it(question: str, turns: list[str], answer: int) -> None:
    assert int((open_encoder().vectors(turns) @ open_encoder().vectors([question])[0]).argmax()) == answer


def test_a_span_has_a_vector_of_its_own_and_one_beyond_what_was_read_that_of_the_text() -> None:
    text = "I live in Porto. My brother repairs clocks."
    (encoded,) = open_encoder().encode([text])
    first, second = (encoded.span(*span) for span in split_sentences(text))
    question = open_encoder().vectors(["What does her brother do for a living?"])[0]
    assert float(second @ question) > float(first @ question)
    assert np.array_equal(encoded.span(900, 950), encoded.vector)
    for array in (encoded.vector, encoded.states, encoded.offsets, encoded.center):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@settings(max_examples=50)
@given(st.text(max_size=300))
def test_sentences_cover_all_but_space(text: str) -> None:
    spans = list(split_sentences(text))
    assert all(start < end and text[start:end].strip() == text[start:end] for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("My doctor is Dr. Weber. She is in St. Paul.", ["My doctor is Dr. Weber.", "She is in St. Paul."]),
        ("Mr. and Mrs. Jones came. I was out.", ["Mr. and Mrs. Jones came.", "I was out."]),
        ("J. K. Rowling wrote it. My U.S. visa ended.", ["J. K. Rowling wrote it.", "My U.S. visa ended."]),
        ("I am 42. My wife is 40. We live in Cork.", ["I am 42.", "My wife is 40.", "We live in Cork."]),
        ("1. Buy milk.\n2. Call Bob. Now.", ["1. Buy milk.", "2. Call Bob.", "Now."]),
        ("Hi!\n\nI moved to Cork. My job is new.", ["Hi!", "I moved to Cork.", "My job is new."]),
        ("a-\nb moved. We like it.", ["a-", "b moved.", "We like it."]),
        ("i moved to cork in may. what about you?", ["i moved to cork in may.", "what about you?"]),
        ("我住在科克；他是医生。", ["我住在科克；", "他是医生。"]),
        ("It means a lot to me. I said no. Fine.", ["It means a lot to me.", "I said no.", "Fine."]),
        ('"Really?" she asked.   (No!)\nNew line', ['"Really?" she asked.', "(No!)", "New line"]),
        ("我明天去北京。你呢？", ["我明天去北京。", "你呢？"]),
    ],
)
def test_a_sentence_ends_neither_at_an_abbreviation_nor_at_the_number_of_a_list(
    text: str, sentences: list[str]
) -> None:
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


def test_sentences_are_found_as_they_are_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[int] = []
    monkeypatch.setattr(sentence_splitting, "_ends_sentence", lambda text, end, lower: ends.append(end) or True)
    assert next(split_sentences("One. " * 100)) == (0, 4)
    assert ends == [4]


def test_a_long_text_is_split_in_bounded_time() -> None:
    texts = {
        "A. " * 400_000: 200,
        "(" * 300_000 + "a. B" + ")" * 300_000: 1,
        "1. " * 400_000: 200,
        "." * 400_000 + "a": 1,
        "!" * 100_000 + " " * 100_000 + ")" * 100_000 + "a": 1,
    }
    for text, count in texts.items():
        started = time.perf_counter()
        assert len(list(itertools.islice(split_sentences(text), 200))) == count
        assert time.perf_counter() - started < 2


@pytest.mark.parametrize("read", ["vectors", "encode"])
def test_a_text_that_is_forgotten_while_it_is_read_is_not_cached(read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder()
    run = encoder._model.run

    def forgetting(*arguments: Any) -> Any:
        encoder.forget()
        return run(*arguments)

    monkeypatch.setattr(encoder._model, "run", forgetting)
    getattr(encoder, read)(["My name is Ann."])
    assert not encoder._vectors
    assert not encoder._states


# -- heads and cross-encoder -----------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["Idris", "Arbour Lane", "Biscuit", "Kirwan Row", "espresso"]), min_size=2))
def test_the_subject_of_a_sentence_is_made_of_whole_words(words: list[str]) -> None:
    (subject,) = open_heads().subjects([" ".join(words)])
    assert set(subject.split()) <= set(" ".join(words).split())


def test_a_changed_value_supersedes_and_another_persons_does_not() -> None:
    old = "I work at Siemens as a technician."
    changed, other = open_reranker().supersedes(
        [(old, "I started at Bosch last Monday, new badge and all."), (old, "My neighbour has a new job at Bosch.")]
    )
    assert changed > other


def test_a_reranked_recall_says_what_the_cross_encoder_adds_and_without_it_keeps_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Reranker:
        raise ModelFileError("the model reranker.onnx cannot be read: install hexamem again")

    with Memory.open(tmp_path / "home", settings=QUIET) as memory:
        user = memory.user("ana")
        user.remember(TURNS)
        reranked = user.recall("What kind of pet does the family have?", k=2, strategy="rerank")
        assert (reranked.hits[0].text, len(reranked.hits)) == (TURNS[0], 2)
        assert any(signal.name == "reranker" for signal in reranked.hits[0].why)
        assert [hit.score for hit in reranked.hits] == sorted((hit.score for hit in reranked.hits), reverse=True)
        monkeypatch.setattr("hexamem.recalling.open_reranker", missing)
        reranked, learned = (user.recall("Which pet is there?", k=3, strategy=name) for name in ("rerank", "learned"))
        assert [hit.id for hit in reranked.hits] == [hit.id for hit in learned.hits]
        assert any("the hits are not reranked" in line for line in reranked.degraded)


# -- files -----------------------------------------------------------------------------------------------------------


def test_a_missing_damaged_or_foreign_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: str, content: bytes | None, message: str, opened: Any = Encoder) -> None:
        folder = tmp_path / "data"
        folder.mkdir()
        for file in DATA.iterdir():
            if file.name != name:
                (folder / file.name).symlink_to(file)
            elif content is not None:
                (folder / name).write_bytes(content)
        with pytest.raises(ModelFileError, match=message) as refusal:
            opened(folder)
        assert "\n" not in str(refusal.value)
        shutil.rmtree(folder)

    def reranker_with_tokenizer_of(folder: Path) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(
                "hexamem.models.reranker.runtime.read_encoder_tokenizer", lambda: read_encoder_tokenizer(folder)
            )
            Reranker()

    def damaged_reranker(folder: Path) -> None:
        reranker = shutil.copytree(Path(__file__).parents[1] / "models" / "reranker" / "data", folder / "reranker")
        (reranker / "reranker.onnx").write_bytes(b"damage")
        Reranker(reranker)

    for name in ("encoder.onnx", "tokenizer.json", "metadata.json"):
        refused(name, None, name)
    model = (DATA / "encoder.onnx").read_bytes()
    refused("encoder.onnx", model[:1_000_000] + b"damage" + model[1_000_006:], "SHA-256")
    tokenizer = json.loads((DATA / "tokenizer.json").read_text("utf-8"))
    words = tokenizer["model"]["vocab"]
    words["cat"], words["dog"] = words["dog"], words["cat"]
    for opened in (Encoder, reranker_with_tokenizer_of):
        refused("tokenizer.json", json.dumps(tokenizer).encode(), r"tokenizer\.json.*fingerprint", opened)
    metadata = json.loads((DATA / "metadata.json").read_text("utf-8")) | {"heads_sha256": "0" * 64}
    refused("metadata.json", json.dumps(metadata).encode(), "heads", lambda folder: Heads(Encoder(folder)))
    refused("metadata.json", (DATA / "metadata.json").read_bytes(), "install hexamem again", damaged_reranker)


class Unreadable(EncoderEmbedder):
    """The bundled embedder of an installation whose model file is damaged."""

    @property
    def _encoder(self) -> Encoder:
        raise ModelFileError("the model encoder.onnx cannot be read: install hexamem again")


def test_without_the_model_messages_are_stored_and_found_by_their_words(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", embedder=Unreadable()) as memory:
        user = memory.user("ana")
        user.remember(TURNS)
        recall = user.recall("Whose invoice is due?")
        assert recall.hits[0].text == TURNS[1]
        assert any("keywords alone" in line and "install hexamem again" in line for line in recall.degraded)
    with Memory.open(tmp_path / "home") as memory:
        assert memory.user("ana").recall("Which dog do we have?").degraded == ()
