"""A part of a message is forgotten: the words show nowhere, the rest stays, and undo brings the words back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from hexamem import Memory, UserMemory
from hexamem.aligning import catch_up_thread
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types.cutting import is_cut_from, without_parts

from .taking_away import WORD, asked_everywhere, held
from .test_forgotten_names import TALKS, chroma, labelled, pages, shown, tell

MORE = "The bus was late again today."
BAND = "Arjun plays bass in a band called Slow Lantern."
CELLAR = "They rehearse in our cellar every Thursday evening."

talks = pytest.mark.parametrize(
    ("said", "word"), TALKS.values(), ids=TALKS
)  # a mark of another module has its ids escaped twice


def contents(user: UserMemory) -> list[str]:
    return [" ".join(step.content.split()) for step in user.steps()]


@given(
    st.lists(st.text(min_size=3).filter(lambda one: len(one.strip()) >= 3 and "[" not in one), min_size=1, max_size=5)
)
def test_what_is_left_of_a_text_keeps_its_places(parts: list[str]) -> None:
    whole = "|".join(parts)
    cut = without_parts(whole, parts[:1])
    assert len(cut) == len(whole)
    assert parts[0] not in cut
    assert is_cut_from(cut, whole)
    assert not is_cut_from(whole, whole)


@pytest.mark.parametrize(
    "parts",
    [
        ["I like tea.", "I like tea."],
        ["I like tea.", "And I like tea."],
        ["And I like tea.", "I like tea."],
        ["And I like", "like tea."],
    ],
)
def test_parts_that_are_said_twice_or_overlap_are_cut_together(parts: list[str]) -> None:
    whole = "My dog is ill. And I like tea."
    assert without_parts(whole, parts).startswith("My dog is ill. ")
    assert is_cut_from(without_parts(whole, parts), whole)
    assert "tea" not in without_parts(whole, parts)


@talks
def test_the_words_of_a_part_show_nowhere_until_they_are_restored(
    alice: UserMemory, said: list[str], word: str
) -> None:
    steps = tell(alice, [f"{said[0]} {MORE}", *said[1:]])
    before = [alice.labels.of(step).intent for step in steps]
    assert word in shown(alice, word)
    done = alice.forget(parts={steps[0]: [said[0]]})
    alice.flush()
    question = "what was there?" if word.isascii() else "有什么？"
    assert word not in shown(alice, question) + shown(alice, word) + chroma(alice)
    assert MORE in alice.get(steps[0]).content
    alice.undo(done.id)
    assert alice.get(steps[0]).content == f"{said[0]} {MORE}"
    assert [alice.labels.of(step).intent for step in steps] == before
    assert word in shown(alice, word)


@talks
def test_a_part_stays_forgotten_when_its_message_is_forgotten_whole_and_restored(
    labelled_newcomer: UserMemory, said: list[str], word: str
) -> None:
    steps = tell(labelled_newcomer, [f"{said[0]} {MORE}", *said[1:]])
    part = labelled_newcomer.forget(parts={steps[0]: [said[0]]})
    cut = labelled(labelled_newcomer), pages(labelled_newcomer)
    whole = labelled_newcomer.forget([steps[0]])
    labelled_newcomer.undo(whole.id)
    assert word not in shown(labelled_newcomer, word)
    assert (labelled(labelled_newcomer), pages(labelled_newcomer)) == cut
    labelled_newcomer.undo(part.id)
    assert labelled_newcomer.get(steps[0]).content == f"{said[0]} {MORE}"


def test_items_that_rest_on_a_part_go_with_it_and_those_of_the_rest_stay(labelled_newcomer: UserMemory) -> None:
    labelled_newcomer.remember("I share a house with my brother Arjun.", thread_id="t")
    [step] = labelled_newcomer.remember(f"My sister is called Meera. {BAND}", thread_id="t").step_ids
    labelled_newcomer.flush()
    learned = [one.text for one in labelled_newcomer.items()]
    assert any("Slow Lantern" in one for one in learned)
    done = labelled_newcomer.forget(parts={step: [BAND]})
    left = [one.text for one in labelled_newcomer.items()]
    assert left == [one for one in learned if "Slow Lantern" not in one] != []
    labelled_newcomer.undo(done.id)
    assert [one.text for one in labelled_newcomer.items()] == learned


def test_steps_items_and_parts_are_forgotten_in_one_operation(labelled_newcomer: UserMemory) -> None:
    steps = labelled_newcomer.remember(["I like figs.", f"{BAND} {CELLAR}"]).step_ids
    item = labelled_newcomer.add({"kind": "semantic", "name": "Tea", "summary": "Likes tea"})
    done = labelled_newcomer.forget([steps[0]], item_ids=[item.id], parts={steps[1]: [BAND]})
    assert contents(labelled_newcomer) == [f"[forgotten] {CELLAR}"]
    assert labelled_newcomer.items() == []
    labelled_newcomer.undo(done.id)
    assert contents(labelled_newcomer) == ["I like figs.", f"{BAND} {CELLAR}"]
    assert [one.id for one in labelled_newcomer.items()] == [item.id]


def test_what_cannot_be_forgotten_in_part_is_refused_and_nothing_of_the_call_is_done(
    labelled_newcomer: UserMemory,
) -> None:
    plain, secret = labelled_newcomer.remember(["I like figs. I like tea.", "My PIN is 4711. I like tea."]).step_ids
    for parts, error in (
        ({plain: ["I like dates."]}, InvalidInputError),
        ({plain: ["I"]}, InvalidInputError),
        ({secret: ["I like tea."]}, InvalidInputError),
        ({"step_nope": ["I like tea."]}, NotFoundError),
        (["I like tea."], InvalidInputError),
    ):
        with pytest.raises(error):
            labelled_newcomer.forget(parts=parts)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        labelled_newcomer.forget(parts={plain: ["I like tea."]}, item_ids=["item_nope"])
    assert labelled_newcomer.get(plain).content == "I like figs. I like tea."


@pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without ids"])
def test_a_history_that_still_has_the_part_is_not_stored_again(labelled_newcomer: UserMemory, ids: bool) -> None:
    said = [
        HumanMessage(f"{BAND} {CELLAR}"),
        AIMessage("Noted."),
        HumanMessage("I like figs."),
        AIMessage("Figs, noted."),
    ]
    for at, one in enumerate(said):
        one.id = f"m{at}" if ids else None
    catch_up_thread(labelled_newcomer, said, "t")
    labelled_newcomer.forget(parts={labelled_newcomer.steps()[0].id: [BAND]})
    again = [one.model_copy(update={"id": one.id if ids else f"x{at}"}) for at, one in enumerate(said)]
    caught = catch_up_thread(labelled_newcomer, again, "t")
    assert caught.stored is None
    assert contents(labelled_newcomer) == [f"[forgotten] {CELLAR}", "Noted.", "I like figs.", "Figs, noted."]
    assert {one: " ".join(text.split()) for one, text in caught.forgotten.items()} == {
        again[0].id: f"[forgotten] {CELLAR}"
    }


def test_a_message_that_comes_again_whole_is_not_told_to_be_another(labelled_newcomer: UserMemory) -> None:
    message = HumanMessage(f"{BAND} {CELLAR}", id="m")
    [step] = labelled_newcomer.remember(message).step_ids
    labelled_newcomer.forget(parts={step: [BAND]})
    assert labelled_newcomer.remember(message).degraded == ()


def test_an_export_carries_the_part_in_its_history_alone_and_undoes_it(memory: Memory, tmp_path: Path) -> None:
    alice, bob = memory.user("alice"), memory.user("bob")
    [step] = alice.remember(f"{BAND} {CELLAR}").step_ids
    done = alice.forget(parts={step: [BAND]})
    alice.export(tmp_path / "alice.jsonl")
    bob.import_(tmp_path / "alice.jsonl")
    assert contents(bob) == [f"[forgotten] {CELLAR}"]
    assert not any("Slow Lantern" in hit.text for hit in bob.recall("Slow Lantern").hits)
    bob.undo(done.id)
    assert contents(bob) == [f"{BAND} {CELLAR}"]


def test_words_that_are_redacted_do_not_come_back_with_the_part(labelled_newcomer: UserMemory) -> None:
    [step] = labelled_newcomer.remember(f"{BAND} {CELLAR}").step_ids
    done = labelled_newcomer.forget(parts={step: [BAND]})
    labelled_newcomer.redact("Slow Lantern", caption="a band")
    labelled_newcomer.undo(done.id)
    [now] = contents(labelled_newcomer)
    assert now.startswith("Arjun plays bass in a band called {{vault:")
    assert "Slow Lantern" not in now


def test_no_word_of_a_part_stays_in_memory(memory: Memory) -> None:
    user = memory.user("ann")
    step_id = asked_everywhere(user, f"The gate is green. Our garden is called {WORD}.")
    assert held(memory, WORD), "the walk sees nothing"
    user.forget(parts={step_id: [f"Our garden is called {WORD}."]})
    assert held(memory, WORD) == []
