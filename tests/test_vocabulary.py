"""The label vocabulary: lookup, growth, aliases, restoring."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.errors import InvalidInputError
from hexamem.intent.contract import Vectors
from hexamem.intent.label_names import fold_name, label_id
from hexamem.intent.vocabulary import Vocabulary
from hexamem.memory_types.labels import Label


def embed(texts: Sequence[str]) -> Vectors:
    """Words to axes: names that share words are near."""
    rows = np.zeros((len(texts), 64), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.casefold().split():
            row[zlib.crc32(word.encode("utf-8", "surrogatepass")) % 64] += 1
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def vocabulary(**given: object) -> Vocabulary:
    values = {"types": ("Propose", "Ask", "Decide"), **given}
    return Vocabulary("ada", "event", embed, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["Opening hours", "opening hours", "opening_hours", "OpeningHours", " Opening-Hours "])
def test_case_and_underscores_are_folded_when_a_name_is_looked_up(name: str) -> None:
    words = vocabulary()
    made = words.add("Opening hours")
    assert words.find(name) == made
    assert words.add(name).id == made.id


@pytest.mark.parametrize(
    ("one", "two"), [("酒店", "餐厅"), ("address", "addresses x"), ("bus", "bu"), ("C++", "C"), ("status", "stat")]
)
def test_names_that_differ_stay_apart(one: str, two: str) -> None:
    words = vocabulary()
    assert words.add(one).id != words.add(two).id or fold_name(one) == fold_name(two)


def test_the_same_name_gets_the_same_id_in_every_process_and_another_for_every_user() -> None:
    assert vocabulary().add("Propose").id == vocabulary().add("propose").id == label_id("ada", "event", "Propose")
    assert label_id("ada", "event", "Propose") != label_id("bob", "event", "Propose")
    assert label_id("ada", "entity", "Propose") != label_id("ada", "event", "Propose")


def test_a_label_renamed_by_a_person_is_found_under_its_first_name_too() -> None:
    words = vocabulary()
    made = words.add("Propose")
    words.restore([made.changed(name="Ideas", pinned=True)])
    assert words.find("propose") == words.find("ideas")
    assert words.add("Propose").id == made.id


def test_nearest_gives_labels_best_first() -> None:
    words = vocabulary()
    propose, ask = words.add("Propose"), words.add("Ask")
    hotel = words.add("Propose hotel", propose.id)
    words.add("Ask hotel", ask.id)
    found = words.nearest(embed(["propose hotel"])[0], 3)
    assert found[0][0] == hotel
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    assert words.nearest(np.zeros(64, np.float32)) == []


def test_changed_gives_each_label_once_as_it_is_now() -> None:
    words = vocabulary()
    made = words.add("Propose")
    assert words.changed() == (made,)
    assert words.changed() == ()
    words.add("propose")
    assert words.changed() == ()


def test_a_model_proposes_names_that_become_existing_labels_or_new_ones() -> None:
    words = vocabulary()
    propose = words.add("Propose")
    hotel = words.add("Propose hotel", propose.id)
    ids = words.propose(["propose_hotel", "Propose", "Propose tram", "Book tram"])
    assert ids[:2] == (hotel.id, propose.id)
    tram, booked = words.get(ids[2]), words.get(ids[3])
    assert tram is not None
    assert (tram.name, tram.parent_id) == ("Propose tram", propose.id)
    assert booked is not None
    assert booked.name == "Book tram"


def test_labels_of_another_user_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="another user"):
        vocabulary().restore([Label(user="bob", kind="event", name="Propose")])


def test_an_unknown_parent_is_refused_with_its_id() -> None:
    with pytest.raises(InvalidInputError, match="label_nowhere"):
        vocabulary().add("Propose hotel", "label_nowhere")


def test_a_full_vocabulary_gives_the_parent_or_the_nearest_label() -> None:
    words = vocabulary()
    parent = words.add("Propose")
    for number in range(199):
        words.add(f"Propose tram {number}", parent.id)
    assert words.add("Propose museum", parent.id) == parent
    assert words.add("tram 7").id == words.find("Propose tram 7").id  # type: ignore[union-attr]
    assert len(words.live()) == 200


def test_an_alias_stands_for_its_label_and_a_circle_or_a_lost_label_does_no_harm() -> None:
    one, two, three, four = (Label(id=f"label_{n}", user="ada", kind="event", name=n) for n in ("a", "b", "c", "d"))
    words = vocabulary()
    words.restore(
        [one.changed(alias_of=two.id), two.changed(alias_of=one.id), three.changed(alias_of="label_gone"), four]
    )
    assert words.get(one.id) is not None
    assert words.get(three.id) is not None
    words.merge(three.id, four.id)
    assert words.get(three.id) == words.find("c") == four
    assert [label.alias_of for label in words.changed()] == [four.id]


@pytest.mark.parametrize("name", ["", "   ", "…", "a\x00b", "line\nbreak", "x" * 61, "\ud800 lone"])
def test_names_that_do_not_do_are_left_out(name: str) -> None:
    words = vocabulary()
    assert words.propose([name]) == ()
    with pytest.raises(InvalidInputError):
        words.add(name)


def test_a_model_may_make_only_so_many_labels_a_step_and_a_batch() -> None:
    words = vocabulary()
    names = [f"a{number**5} b{number**6} c{number**7} d{number**8}" for number in range(3, 29)]
    assert len(words.propose(names)) == 8
    words.propose(names[8:16])
    words.propose(names[16:])
    made = len(words.live())
    assert made == 20
    words.changed()
    words.propose(names[18:])
    assert len(words.live()) > made


@given(st.lists(st.lists(st.one_of(st.text(max_size=12), st.sampled_from(["Propose", "Propose_Hotels", "酒店"])))))
def test_whatever_is_proposed_names_stay_unique_and_restoring_gives_the_same(batches: list[list[str]]) -> None:
    words = vocabulary()
    handed_out = {label for names in batches for label in words.propose(names)}
    assert all(words.get(label) is not None for label in handed_out)
    folded = [fold_name(label.name) for label in words.live()]
    assert len(folded) == len(set(folded))
    again = vocabulary()
    again.restore(words.live())
    assert again.live() == words.live()
    assert all(again.find(one.name) == words.find(one.name) for one in words.live())


@given(st.text(max_size=40))
def test_folding_a_folded_name_changes_nothing(name: str) -> None:
    assert fold_name(fold_name(name)) == fold_name(name)


def test_no_names_have_no_vectors() -> None:
    assert vocabulary().vectors([]).shape == (0, embed(["a"]).shape[1])
