"""The bundled cross-encoder: the order of the best hits, and which statement replaces which."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hexamem import Memory, Settings
from hexamem.errors import ModelFileError
from hexamem.models.reranker import Reranker, open_reranker

TURNS = (
    "We adopted a greyhound called Biscuit in March.",
    "The invoice of the plumber is due on Friday.",
    "Ben wants to learn the trumpet, of all things.",
    "My sister works at the bakery on the corner.",
)


def test_the_text_that_answers_is_most_relevant() -> None:
    scores = open_reranker().relevance("What kind of pet does the family have?", TURNS)
    assert int(scores.argmax()) == 0


def test_a_changed_value_supersedes_and_another_persons_does_not() -> None:
    changed, other = open_reranker().supersedes(
        [
            ("I work at Siemens as a technician.", "I started at Bosch last Monday, new badge and all."),
            ("I work at Siemens as a technician.", "My neighbour has a new job at Bosch."),
        ]
    )
    assert changed > other


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "x" * 100_000, "مرحبا", " "])
def test_every_pair_of_texts_has_a_score(text: str) -> None:
    assert open_reranker().relevance(text, [text, "a cat"]).shape == (2,)
    assert 0 <= float(open_reranker().supersedes([(text, text)])[0]) <= 1


def test_a_text_behind_much_space_is_read() -> None:
    question = "What kind of pet does the family have?"
    plain, behind = open_reranker().relevance(question, [TURNS[0], "\n" * 1_100 + TURNS[0]])
    assert float(behind) == pytest.approx(float(plain), abs=0.5)


def test_no_texts_give_no_scores() -> None:
    assert open_reranker().relevance("What?", []).shape == (0,)


def test_a_damaged_model_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = shutil.copytree(Path(__file__).parents[1] / "models" / "reranker" / "data", tmp_path / "data")
    (folder / "reranker.onnx").write_bytes(b"damage")
    with pytest.raises(ModelFileError, match="install hexamem again") as caught:
        Reranker(folder)
    assert "\n" not in str(caught.value)


def test_a_reranked_recall_says_what_the_cross_encoder_adds(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(mode="off")) as memory:
        user = memory.user("ana")
        user.remember(list(TURNS))
        found = user.recall("What kind of pet does the family have?", k=2, strategy="rerank")
        assert found.hits[0].text == TURNS[0]
        assert len(found.hits) == 2
        assert any(signal.name == "reranker" for signal in found.hits[0].why)
        assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_without_the_cross_encoder_the_order_is_that_of_the_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Reranker:
        raise ModelFileError("the model reranker.onnx cannot be read: install hexamem again")

    monkeypatch.setattr("hexamem.recalling.open_reranker", missing)
    with Memory.open(tmp_path / "home", settings=Settings(mode="off")) as memory:
        user = memory.user("ana")
        user.remember(list(TURNS))
        reranked = user.recall("Which pet is there?", k=3, strategy="rerank")
        learned = user.recall("Which pet is there?", k=3, strategy="learned")
        assert [hit.id for hit in reranked.hits] == [hit.id for hit in learned.hits]
        assert any("order is that of the ranking" in line for line in reranked.degraded)
