"""The label vocabulary: lookup, growth, merging, aliases, pins, restoring."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.errors import InvalidInputError
from hexamem.intent.contract import Vectors
from hexamem.intent.label_names import fold_name, label_id
from hexamem.intent.vocabulary import Vocabulary, VocabularySettings
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
    values = {"seeds": ("Propose", "Ask", "Decide"), "synonyms": {"suggest": "Propose"}, **given}
    return Vocabulary("ada", "event", embed, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["Opening hours", "opening hour", "opening_hours", "OpeningHours", " Opening-Hours "])
def test_case_plural_and_underscores_are_folded_when_a_name_is_looked_up(name: str) -> None:
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


def test_nearest_gives_the_labels_of_a_parent_best_first() -> None:
    words = vocabulary()
    propose, ask = words.add("Propose"), words.add("Ask")
    hotel = words.add("Propose hotel", propose.id)
    words.add("Ask hotel", ask.id)
    found = words.nearest(embed(["propose hotel"])[0], 3)
    assert found[0][0] == hotel
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    assert [label for label, _ in words.nearest(embed(["hotel"])[0], 5, parent=propose.id)] == [hotel]
    assert words.nearest(np.zeros(64, np.float32)) == []


def test_labels_that_mean_the_same_become_one_and_the_rarer_name_lives_on_as_an_alias() -> None:
    words = vocabulary()
    parent = words.add("Propose")
    used, rare = words.add("Propose boutique hotel", parent.id), words.add("Propose hotel boutique", parent.id)
    words.note([rare.id], steps=1)
    words.note([used.id, used.id], steps=1)
    assert words.merge() == 1
    assert words.resolve(rare.id) == used.id
    assert words.find("propose hotel boutique") == words.get(used.id)
    assert {label.id: label.alias_of for label in words.changed()}[rare.id] == used.id


def test_a_look_for_labels_that_mean_the_same_comes_after_every_fifty_steps() -> None:
    words = vocabulary(settings=VocabularySettings(merge_every=50))
    parent = words.add("Propose")
    one, two = words.add("Propose boutique hotel", parent.id), words.add("Propose hotel boutique", parent.id)
    for _ in range(49):
        words.note([one.id])
    assert words.resolve(two.id) == two.id
    words.note([one.id])
    assert words.resolve(two.id) == one.id


def test_pinned_labels_and_seeds_are_never_merged_away() -> None:
    words = vocabulary(seeds=("Boutique hotel",))
    seed = words.add("Boutique hotel")
    other = words.add("Hotel boutique")
    words.restore([seed, other.changed(pinned=True)])
    words.note([other.id] * 9)
    assert words.merge() == 0
    assert words.changed() == ()


def test_labels_with_other_parents_are_not_merged() -> None:
    words = vocabulary()
    propose, ask = words.add("Propose"), words.add("Ask")
    words.add("Propose hotel", propose.id)
    words.add("Ask hotel", ask.id)
    assert words.merge() == 0


def test_changed_gives_each_label_once_as_it_is_now() -> None:
    words = vocabulary()
    made = words.add("Propose")
    assert words.changed() == (made,)
    assert words.changed() == ()
    words.add("propose")
    assert words.changed() == ()


def test_a_full_vocabulary_gives_the_least_used_label_to_its_parent() -> None:
    words = vocabulary(settings=VocabularySettings(max_labels=3))
    parent = words.add("Propose")
    rare, used = words.add("Propose tram", parent.id), words.add("Propose museum", parent.id)
    words.note([used.id])
    words.add("Propose dinner", parent.id)
    assert len(words) == 3
    assert words.resolve(rare.id) == parent.id
    assert words.resolve(used.id) == used.id


def test_a_vocabulary_with_all_records_used_up_gives_what_is_there() -> None:
    words = vocabulary(settings=VocabularySettings(max_records=2))
    parent = words.add("Propose")
    words.add("Propose tram", parent.id)
    assert words.add("Propose museum", parent.id) == parent
    assert words.size == 2


def test_a_model_proposes_names_that_become_existing_labels_synonyms_or_new_ones() -> None:
    words = vocabulary()
    propose = words.add("Propose")
    hotel = words.add("Propose hotel", propose.id)
    ids = words.propose(["propose_hotels", "Suggest hotel", "suggest", "Propose tram"])
    assert ids[:2] == (hotel.id, propose.id)
    tram = words.get(ids[2])
    assert tram is not None
    assert (tram.name, tram.parent_id) == ("Propose tram", propose.id)
    assert len(ids) == 3


@pytest.mark.parametrize("name", ["", "   ", "…", "a\x00b", "line\nbreak", "x" * 61, "\ud800 lone"])
def test_names_that_do_not_do_are_left_out_and_the_reason_is_told(name: str) -> None:
    words = vocabulary()
    assert words.propose([name]) == ()
    assert len(words.refusals()) == 1
    assert words.refusals() == ()
    with pytest.raises(InvalidInputError):
        words.add(name)


def test_a_model_may_make_only_so_many_labels_a_step_and_a_batch() -> None:
    words = vocabulary(settings=VocabularySettings(max_per_step=4, max_new=6))
    names = [f"thing{letter} item{letter}" for letter in "abcdefghij"]
    assert len(words.propose(names)) == 4
    words.propose(names[4:])
    assert words.size == 6
    words.changed()
    words.propose(names[7:])
    assert words.size > 6


def test_labels_of_another_user_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="another user"):
        vocabulary().restore([Label(user="bob", kind="event", name="Propose")])


def test_a_circle_of_aliases_is_opened_and_a_lost_label_stands_for_itself() -> None:
    one, two, three = (Label(id=f"label_{n}", user="ada", kind="event", name=n) for n in ("one", "two", "three"))
    words = vocabulary()
    words.restore([one.changed(alias_of=two.id), two.changed(alias_of=one.id), three.changed(alias_of="label_gone")])
    assert words.resolve(one.id) == words.resolve(two.id)
    assert words.resolve(three.id) == three.id
    assert {label.id for label in words.changed()} == {one.id, three.id}


def test_an_unknown_parent_is_refused_with_its_id() -> None:
    with pytest.raises(InvalidInputError, match="label_nowhere"):
        vocabulary().add("Propose hotel", "label_nowhere")


NAMES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["Propose", "propose hotel", "Propose_Hotels", "Ask", "ask price", "hotel propose", "酒店", "PRICE"]
    ),
)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("propose"), st.lists(NAMES, max_size=4)),
        st.tuples(st.just("use"), st.integers(0, 20)),
        st.tuples(st.just("pin"), st.integers(0, 20)),
        st.tuples(st.just("merge"), st.just(0)),
    ),
    max_size=12,
)


@settings(max_examples=80, deadline=None)
@given(ACTIONS)
def test_whatever_is_done_ids_resolve_pins_survive_names_stay_unique_and_restoring_gives_the_same(
    actions: list[tuple[str, object]],
) -> None:
    words = vocabulary(settings=VocabularySettings(merge_every=3, max_labels=6, max_records=12, merge_similarity=0.6))
    handed_out: set[str] = set()
    pinned: dict[str, str] = {}
    for action, value in actions:
        ids = list(words.records())
        if action == "propose":
            handed_out.update(words.propose(value))  # type: ignore[arg-type]
        elif action == "merge":
            words.merge()
        elif ids and isinstance(value, int):
            label = ids[value % len(ids)]
            if action == "use":
                words.note([label.id])
            elif label.alias_of is None:
                words.restore([one.changed(pinned=True) if one.id == label.id else one for one in ids])
                pinned[label.id] = label.name
    for label in handed_out:
        target = words.resolve(label)
        assert target is not None
        assert words.records()[[one.id for one in words.records()].index(target)].alias_of is None
    for label, name in pinned.items():
        kept = words.get(label)
        assert kept is not None
        assert (kept.id, kept.name, kept.alias_of) == (label, name, None)
    folded = [fold_name(label.name) for label in words.records()]
    assert len(folded) == len(set(folded))
    assert len(words) <= 6 or len(pinned) >= 6
    assert words.size <= 12 + 3
    again = vocabulary()
    again.restore(words.records())
    assert again.records() == words.records()
    assert again.live() == words.live()
    for label_ in words.records():
        assert again.resolve(label_.id) == words.resolve(label_.id)
        assert again.find(label_.name) == words.find(label_.name)


@given(st.text(max_size=40))
def test_folding_a_folded_name_changes_nothing(name: str) -> None:
    assert fold_name(fold_name(name)) == fold_name(name)
