"""Forgetting by words: of what says more in one breath nothing is taken, it is listed as not sure."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.errors import NotFoundError
from hexamem.memory_types import Step
from hexamem.tools.clauses import only_says, word_stems
from hexamem.tools.forgetting import Forgotten, forget_by_words


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody who has said nothing yet."""
    return labelled_newcomer


def forget(user: UserMemory, said: str, what: str) -> Forgotten:
    user.remember(said)
    user.flush()
    return forget_by_words(user, what)


def unsure(done: Forgotten) -> list[str]:
    return [one.content for one in done.unsure if isinstance(one, Step)]


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("My brother Tom lives in Rome and owes me 300 euros.", "that Tom owes me 300 euros"),
        ("My brother Tom lives in Rome and owes me 300 euros.", "Tom lives in Rome"),
        ("Karen is in Lisbon and stays at the Anker Hotel.", "Karen stays at the Anker Hotel"),
        ("Ich habe Diabetes und mein Arzt ist Dr. Klein.", "mein Arzt ist Dr. Klein"),
        ("Ich habe Diabetes und mein Arzt ist Dr. Klein.", "dass ich Diabetes habe"),
        ("My neighbour Ida has a parrot and feeds it nuts.", "that Ida has a parrot"),
        ("I like tea and coffee.", "that I like tea"),
        ("Mia is eight and goes to school in Bonn.", "Mia goes to school in Bonn"),
        ("我哥哥住在罗马，还欠我三百块。", "我哥哥住在罗马"),
    ],
)
def test_a_sentence_and_an_item_that_say_more_are_listed_and_not_taken(alice: UserMemory, said: str, what: str) -> None:
    done = forget(alice, said, what)
    assert [step.content for step in alice.steps()] == [said]
    assert done.operation is None
    assert unsure(done) == [said]


@pytest.mark.parametrize(
    ("said", "what", "kept"),
    [
        ("My brother Tom lives in Rome, and he owes me 300 euros.", "that Tom owes me 300 euros", "lives in Rome"),
        ("My brother Tom lives in Rome, and he owes me 300 euros.", "that Tom lives in Rome", "owes me 300 euros"),
        ("I take insulin twice a day and my doctor is Dr. Klein.", "my doctor is Dr. Klein", "insulin"),
        ("I like tea and I like coffee.", "that I like tea", "coffee"),
        ("Karen is in Lisbon; she stays at the Anker Hotel.", "Karen stays at the Anker Hotel", "Lisbon"),
        ("我对花生过敏，而且我住在杭州。", "我对花生过敏", "杭州"),
    ],
)
def test_of_two_items_of_one_sentence_the_one_that_says_it_goes_alone(
    alice: UserMemory, said: str, what: str, kept: str
) -> None:
    done = forget(alice, said, what)
    assert unsure(done) == [said]
    assert done.records
    assert any(kept in item.text for item in alice.items())
    assert not any(kept in getattr(one, "text", "") for one in done.records)


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("My brother Tom owes me 300 euros.", "that Tom owes me 300 euros"),
        ("Tom and Ana live in Rome.", "that Tom and Ana live in Rome"),
        ("I like tea and coffee.", "that I like tea and coffee"),
        ("Arjun's band plays on Friday and Saturday.", "Arjun's band"),
        ("On Monday and Friday I swim.", "that I swim"),
        ("My brother's band is called The Foxes, by the way.", "my brother's band"),
        ("Please keep in mind that Karen stays at the Anker Hotel, okay.", "Karen stays at the Anker Hotel"),
        ("Ich wohne in Bonn und arbeite in Bonn.", "Ich wohne und arbeite in Bonn"),
        ("我对花生和虾过敏。", "我对花生和虾过敏"),
    ],
)
def test_what_says_nothing_else_goes_whole(alice: UserMemory, said: str, what: str) -> None:
    done = forget(alice, said, what)
    assert (alice.steps(), alice.items(), done.unsure) == ([], [], ())


def test_of_two_sentences_the_one_that_says_it_goes(alice: UserMemory) -> None:
    forget(alice, "My brother Tom lives in Rome. He owes me 300 euros.", "that Tom owes me 300 euros")
    assert [" ".join(one.content.split()) for one in alice.steps()] == ["My brother Tom lives in Rome. [forgotten]"]


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("My brother Tom owes me 300 euros.", "that Tom owes me money"),
        ("Karen stays at the Anker Hotel.", "that Karen stays at the Grand Hotel"),
        ("Ich wohne in Köln bei Frau Weber.", "dass ich in Köln wohne"),
        ("我哥哥住在罗马，还欠我三百块。", "我哥哥欠我三百块"),
    ],
)
def test_where_nothing_says_it_what_says_most_of_it_is_listed(alice: UserMemory, said: str, what: str) -> None:
    done = forget(alice, said, what)
    assert done.operation is None
    assert unsure(done) == [said]


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("My brother Tom lives in Rome.", "that Tom owes me money"),
        ("My cousin Ida owes me money.", "that Tom owes me money"),
        ("Does Tom owe me 300 euros?", "that Tom owes me money"),
        ("I stay at the Anker Hotel.", "the Grand Hotel in Rome"),
    ],
)
def test_what_says_little_of_it_or_speaks_of_others_or_asks_is_not_listed(
    alice: UserMemory, said: str, what: str
) -> None:
    with pytest.raises(NotFoundError):
        forget(alice, said, what)
    assert [step.content for step in alice.steps()] == [said]


@pytest.mark.parametrize(
    ("text", "what", "only"),
    [
        ("Tom lives in Rome and owes me money", "Tom owes money", False),
        ("Tom, my brother, owes me money", "Tom owes money", True),
        ("Tom owes me money, and Ana", "Tom owes money", False),
        ("On Monday Tom owes me money", "Tom owes money", True),
        ("Rome is where Tom lives", "Tom lives in Rome", True),
        ("Rome is where Tom lives, Rome is beautiful", "Tom lives in Rome", False),
    ],
)
def test_a_clause_says_it_by_what_it_tells_and_not_by_whom_it_tells_it_of(text: str, what: str, only: bool) -> None:
    assert only_says(text, word_stems(what)) is only
