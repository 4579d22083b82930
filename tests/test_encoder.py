"""The bundled encoder: vectors of any text, spans, damaged files."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory
from hexamem.errors import ModelFileError
from hexamem.models.encoder import MAX_TOKENS, Encoder, Heads, open_encoder, open_heads
from hexamem.models.encoder.runtime import read_encoder_tokenizer
from hexamem.models.reranker import Reranker
from hexamem.models.sentences import split_sentences
from hexamem.stores.embedders.encoder import EncoderEmbedder

DATA = Path(open_encoder().folder)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x00",
        "\ud800 half",
        "x" * 100_000,
        "مرحبا بالعالم",
        "我明天要去成都看医生",
        "a " * 2_000_000,
        "\n\n\t",
    ],
)
def test_every_text_has_a_unit_vector(text: str) -> None:
    (vector,) = open_encoder().vectors([text])
    assert vector.shape == (open_encoder().dimension,)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-3)


def test_a_long_text_is_read_up_to_its_first_tokens() -> None:
    (encoded,) = open_encoder().encode(["word " * 5_000])
    assert len(encoded.states) <= MAX_TOKENS - 2


def test_no_texts_give_no_vectors() -> None:
    assert open_encoder().vectors([]).shape == (0, open_encoder().dimension)


def test_vectors_come_in_the_order_of_the_texts_whatever_their_lengths() -> None:
    texts = ["A cat.", "The heating engineer comes on Thursday to look at the boiler again. " * 3, "Tea?", "A cat."]
    vectors = open_encoder().vectors(texts)
    alone = np.stack([Encoder().vectors([text])[0] for text in texts])
    assert np.abs((vectors * alone).sum(axis=1) - 1).max() < 0.02  # int8 activations vary a little with the batch


def test_a_question_is_nearest_to_what_answers_it() -> None:
    turns = ["We adopted a greyhound called Biscuit.", "The invoice is due on Friday.", "I sold my car to a neighbour."]
    question = open_encoder().vectors(["Which pet does the family have?"])[0]
    assert int((open_encoder().vectors(turns) @ question).argmax()) == 0


def test_a_chinese_question_is_nearest_to_what_answers_it() -> None:
    turns = ["我把车卖给邻居了", "我们领养了一只狗，叫小饼干", "发票周五到期"]
    question = open_encoder().vectors(["他们家养了什么宠物？"])[0]
    assert int((open_encoder().vectors(turns) @ question).argmax()) == 1


def test_a_span_has_a_vector_of_its_own() -> None:
    text = "I live in Porto. My brother repairs clocks."
    (encoded,) = open_encoder().encode([text])
    first, second = (encoded.span(*span) for span in split_sentences(text))
    question = open_encoder().vectors(["What does her brother do for a living?"])[0]
    assert float(second @ question) > float(first @ question)


def test_a_span_beyond_what_was_read_has_the_vector_of_the_text() -> None:
    (encoded,) = open_encoder().encode(["short"])
    assert np.array_equal(encoded.span(900, 950), encoded.vector)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_sentences_cover_all_but_space(text: str) -> None:
    spans = split_sentences(text)
    assert all(start < end and text[start:end].strip() == text[start:end] for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())


def test_sentences_end_at_marks_of_both_languages_and_at_line_breaks() -> None:
    text = "I moved. We pay 3.50 for tea!\nNext line 他搬家了。我没有？"
    assert [text[a:b] for a, b in split_sentences(text)] == [
        "I moved.", "We pay 3.50 for tea!", "Next line 他搬家了。", "我没有？",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["encoder.onnx", "tokenizer.json", "metadata.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(DATA, tmp_path / "data")
    (folder / name).unlink()
    with pytest.raises(ModelFileError, match=name):
        Encoder(folder)


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA, tmp_path / "data")
    with (folder / "encoder.onnx").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"damage")
    with pytest.raises(ModelFileError, match="SHA-256"):
        Encoder(folder)


def test_a_tokenizer_with_two_words_swapped_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(DATA, tmp_path / "data")
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    words = tokenizer["model"]["vocab"]
    words["cat"], words["dog"] = words["dog"], words["cat"]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"tokenizer\.json.*fingerprint"):
        Encoder(folder)
    monkeypatch.setattr(
        "hexamem.models.reranker.runtime.read_encoder_tokenizer", lambda: read_encoder_tokenizer(folder)
    )
    with pytest.raises(ModelFileError, match=r"tokenizer\.json.*fingerprint"):
        Reranker()


def test_cached_arrays_cannot_be_changed_by_a_caller() -> None:
    (encoded,) = open_encoder().encode(["I live in Lisbon"])
    for array in (encoded.vector, encoded.states, encoded.offsets, encoded.center):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("filler", ["\n" * 1_100, " \t" * 8_000, "\x00" * 1_100, "\u200b \n" * 1_000])
def test_a_text_is_read_behind_any_amount_of_space(filler: str) -> None:
    encoder = open_encoder()
    plain, behind, amid = encoder.vectors(
        ["I live in Lisbon", f"{filler}I live in Lisbon", f"I live{filler} in Lisbon"]
    )
    assert float(plain @ behind) > 0.97
    assert float(plain @ amid) > 0.97


def test_spans_behind_space_are_those_of_the_text() -> None:
    text = "\n" * 1_100 + "I live in Porto. My brother repairs clocks."
    (plain,) = open_encoder().encode([text.strip()])
    (encoded,) = open_encoder().encode([text])
    for start, end in split_sentences(text):
        assert float(encoded.span(start, end) @ plain.span(start - 1_100, end - 1_100)) > 0.97


def test_heads_of_another_encoder_are_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA, tmp_path / "data")
    metadata = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    (folder / "metadata.json").write_text(json.dumps({**metadata, "heads_sha256": "0" * 64}), encoding="utf-8")
    with pytest.raises(ModelFileError, match="heads"):
        Heads(Encoder(folder))


@pytest.mark.parametrize("read", ["vectors", "encode"])
def test_what_is_forgotten_while_it_is_read_is_not_cached(read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder()
    run = encoder._model.run

    def forgetting(*given: Any) -> Any:
        encoder.forget()
        return run(*given)

    monkeypatch.setattr(encoder._model, "run", forgetting)
    getattr(encoder, read)(["My name is Ann."])
    assert not encoder._vectors
    assert not encoder._states


def test_the_heads_of_a_given_encoder_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Encoder] = []

    class Counted(Heads):
        def __init__(self, encoder: Encoder) -> None:
            made.append(encoder)
            super().__init__(encoder)

    monkeypatch.setattr("hexamem.stores.embedders.encoder.Heads", Counted)
    embedder = EncoderEmbedder(open_encoder())
    vectors = embedder.embed_documents(["Where does the baker live?", "Anna is a baker."])
    for _ in range(3):
        embedder.hop(vectors[0], vectors[1:])
    assert len(made) == 1


def test_a_second_hop_gives_unit_vectors() -> None:
    vectors = open_encoder().vectors(["Where does the baker live?", "Anna is a baker.", "Ben is a cook."])
    hops = open_heads().hop(vectors[0], vectors[1:])
    assert np.allclose(np.linalg.norm(hops, axis=1), 1.0, atol=1e-4)


class Unreadable(EncoderEmbedder):
    """The bundled embedder of an installation whose model file is damaged."""

    @property
    def _encoder(self) -> Encoder:
        raise ModelFileError("the model encoder.onnx cannot be read: install hexamem again")


def test_without_the_model_messages_are_stored_and_found_by_their_words(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", embedder=Unreadable()) as memory:
        user = memory.user("ana")
        user.remember(["The boiler was repaired on Tuesday.", "We adopted a greyhound called Biscuit."])
        found = user.recall("Who repaired the boiler?")
        assert found.hits[0].text == "The boiler was repaired on Tuesday."
        assert any("keywords alone" in line and "install hexamem again" in line for line in found.degraded)
    with Memory.open(tmp_path / "home") as memory:
        assert memory.user("ana").recall("Which dog do we have?").degraded == ()


@given(
    st.lists(
        st.sampled_from(["Idris", "Arbour Lane", "Biscuit", "Tomasz", "Kirwan Row", "espresso", "seventeenth"]),
        min_size=2,
    )
)
@settings(max_examples=30, deadline=None)
def test_the_subject_of_a_sentence_is_made_of_whole_words(words: list[str]) -> None:
    sentence = " ".join(words)
    (subject,) = open_heads().subjects([sentence])
    assert set(subject.split()) <= set(sentence.split())
