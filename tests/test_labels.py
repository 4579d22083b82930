"""Labels corrected by hand: names, merges, splits and moves, their history and undo, and indexes that follow."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import InvalidInputError, NotFoundError, UndoRefusedError
from hexamem.memory_types import LabelKind
from hexamem.stores.ledger import changed_steps
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.vocabulary import Vocabulary

from .ledger_databases import NewDatabase, new_database  # noqa: F401
from .word_labeler import WordLabeler

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def labelled(new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory on each kind of database whose labels stand in the text; a test takes a user of its own."""
    home: Path = tmp_path_factory.mktemp("home")
    options = {"settings": Settings(background=False), "labeler": WordLabeler}
    with Memory.open(home, ledger_url=new_database(), **options) as memory:
        yield memory


@pytest.fixture
def user(labelled: Memory) -> UserMemory:
    return labelled.user(f"user {next(_numbers)}")


Trip = tuple[UserMemory, list[str]]


@pytest.fixture
def trip(user: UserMemory) -> Trip:
    """Six steps: two days of a trip, work, and a second trip."""
    return _told(user)


@pytest.fixture(scope="module")
def seen(labelled: Memory) -> Trip:
    """The same, for tests that change nothing."""
    return _told(labelled.user("seen"))


def _told(user: UserMemory) -> Trip:
    stored = [
        "scope:Trip/Day_1 event:plan entity:Mia we leave early",
        "scope:Trip/Day_1 event:ask entity:train when does the train go",
        "scope:Trip/Day_2 event:plan entity:museum the museum opens at ten",
        "scope:Work event:plan entity:report it is due",
        "scope:Holiday/Day_2 event:book entity:hotel a room",
        "scope:Work event:say entity:Mia she called",
    ]
    return user, list(user.remember([{"role": "user", "content": text} for text in stored]).step_ids)


def by_density(user: UserMemory, label: str) -> set[str]:
    """The steps that the keyword index finds by a label: its ids, and those of what lies under it."""
    user.flush()
    with user.memory.ledger.read(user.name) as tx:
        vocabulary = Vocabulary(read_labels(tx))
    weights = dict.fromkeys(vocabulary.covering(vocabulary.one(label).id), 1.0)
    return {result for result, _ in user.memory.lexical.label_density(user.key, weights, 100)}


def raw_density(user: UserMemory, label_id: str) -> set[str]:
    user.flush()
    return {result for result, _ in user.memory.lexical.label_density(user.key, {label_id: 1.0}, 100)}


def carrying(user: UserMemory, label: str) -> set[str]:
    """The steps that a filter by a label lets through."""
    result = user.recall("anything at all", k=100, strategy="dense", kinds="step", where={"labels": label})
    return {hit.id for hit in result.hits}


def names(user: UserMemory, kind: LabelKind) -> dict[str, int]:
    return {one.path: one.steps for one in user.labels.list(kind)}


def test_labels_and_steps_are_shown_by_name_with_their_steps_gists_and_resolved_words(seen: Trip) -> None:
    user, steps = seen
    scopes = {"Trip": 0, "Trip / Day 1": 2, "Trip / Day 2": 1, "Work": 2, "Holiday": 0, "Holiday / Day 2": 1}
    assert names(user, "scope") == scopes
    events = {"planning": 0, "planning / plan": 3, "asking": 0, "asking / ask": 1, "planning / book": 1, "say": 1}
    assert names(user, "event") == events
    assert {label.path: label.steps_below for label in user.labels.list("scope")}["Trip"] == 3
    assert len(user.labels.list()) == len(scopes) + len(events) + 5
    shown = user.labels.show("work")
    assert shown.step_ids == (steps[3], steps[5])
    assert shown.gist.endswith("she called")
    assert (shown.kind, shown.pinned, shown.aliases) == ("scope", False, ())
    snippet = user.labels.of(steps[3])
    assert (snippet.scope, snippet.events, snippet.entities) == ("Work", ("plan",), ("report",))
    assert snippet.resolved_text == "scope:Work event:plan entity:report museum is due"
    assert snippet.step.content == "scope:Work event:plan entity:report it is due"
    assert (snippet.antecedents, snippet.intent.scope) == ((steps[2],), shown.id)
    hit = next(hit for hit in user.recall("museum opens", k=6).hits if hit.id == steps[2])
    assert (hit.scope, hit.events, hit.entities) == ("Trip / Day 2", ("plan",), ("museum",))
    induced, ids = user.labels.induced(), {label.path: label.id for label in user.labels.list()}
    assert list(induced) == steps
    assert (induced[steps[0]].scope, induced[steps[0]].events) == (ids["Trip / Day 1"], (ids["planning / plan"],))
    assert induced[steps[0]].coarse_events == induced[steps[4]].coarse_events == (ids["planning"],)
    assert (induced[steps[5]].coarse_events, induced[steps[2]].entities) == ((ids["say"],), (ids["museum"],))


def test_a_filter_takes_names_paths_and_wider_labels_and_reports_an_unknown_one(seen: Trip) -> None:
    user, steps = seen
    for label, carried in (
        ("Trip", {0, 1, 2}), ("trip / day 2", {2}), ("Trip/Day 2", {2}), ("Day 2", {2, 4}), ("Mia", {0, 5}),
        ("planning", {0, 2, 3, 4}), ("book", {4}),
    ):  # fmt: skip
        assert carrying(user, label) == {steps[n] for n in carried}, label
    recall = user.recall("trip", where={"labels": "musem"})
    assert not recall.hits
    assert any("no label 'musem'" in line for line in recall.degraded)
    assert not user.recall("trip", where={"labels": "museum"}).degraded


def test_an_ambiguous_an_unknown_and_another_users_label_are_refused(seen: Trip, labelled: Memory) -> None:
    user, steps = seen
    with pytest.raises(InvalidInputError, match=r"may mean 2: scope:Trip / Day 2 .*scope:Holiday / Day 2"):
        user.labels.show("Day 2")
    assert user.labels.show("Holiday / Day 2").steps == 1
    with pytest.raises(NotFoundError, match=r"did you mean .*'museum'"):
        user.labels.show("musem")
    other = labelled.user(f"user {next(_numbers)}")
    other.remember("scope:Work hello")
    for refused in (
        lambda: other.labels.show(user.labels.show("Work").id),
        lambda: other.labels.move(steps[0], "Work"),
    ):
        with pytest.raises(NotFoundError):
            refused()
    assert names(other, "scope") == {"Work": 1}


def test_a_renamed_label_touches_no_step_and_may_have_the_name_of_one_elsewhere(trip: Trip) -> None:
    user, steps = trip
    user.flush()
    with user.memory.ledger.read(user.name) as tx:
        before = tx.change
    done = user.labels.rename("Trip", "Lisbon", reason="that is where")
    assert (done.kind, done.reason, user.labels.show("Lisbon").pinned) == ("rename", "that is where", True)
    assert carrying(user, "Lisbon / Day 1") == set(steps[:2])
    user.labels.rename("Lisbon / Day 1", "Work")  # under another scope the name is free
    with pytest.raises(InvalidInputError, match="may mean 2"):
        user.labels.show("Work")
    with user.memory.ledger.read(user.name) as tx:
        assert changed_steps(tx, before, 100) == []


def test_a_merge_is_one_alias_and_both_names_find_all(trip: Trip) -> None:
    user, steps = trip
    holiday, journey = user.labels.show("Holiday").id, user.labels.show("Trip").id
    done = user.labels.merge("Holiday", "Trip")
    assert [(c.target, c.target_id) for c in done.changes] == [("label", holiday)]
    assert carrying(user, "Holiday") == carrying(user, "Trip") == by_density(user, "Trip") == {*steps[:3], steps[4]}
    assert user.labels.show(holiday).id == journey
    assert user.labels.show("Trip").aliases == ("Holiday",)
    assert names(user, "scope")["Trip / Day 2"] == 1
    user.undo(done.id)
    assert carrying(user, "Holiday") == by_density(user, "Holiday") == {steps[4]}
    assert carrying(user, "Trip") == by_density(user, "Trip") == set(steps[:3])


def test_a_pinned_label_is_not_merged_away_and_merged_entities_count_a_step_once(trip: Trip) -> None:
    user, steps = trip
    user.labels.pin("Holiday")
    with pytest.raises(InvalidInputError, match="pinned and cannot be merged"):
        user.labels.merge("Holiday", "Trip")
    user.labels.merge("Trip", "Holiday")
    assert user.labels.show("Trip").name == "Holiday"
    for unchanged in (lambda: user.labels.pin("Holiday"), lambda: user.labels.rename("Holiday", " Holiday ")):
        with pytest.raises(InvalidInputError, match="already"):
            unchanged()
    user.labels.pin("Holiday", False)
    assert not user.labels.show("Holiday").pinned
    user.labels.move(steps[0], "report")
    user.labels.merge("report", "Mia")
    assert (user.labels.show("Mia").steps, user.labels.of(steps[0]).entities) == (3, ("Mia",))


Correction = Callable[[UserMemory, list[str]], object]
REFUSED: list[tuple[Correction, str]] = [
    (lambda user, steps: user.labels.merge("Trip", "Trip / Day 1"), "the other way round"),
    (lambda user, steps: user.labels.merge("Trip", "trip"), "same label already"),
    (lambda user, steps: user.labels.merge("Work", "planning"), "of the same kind"),
    (lambda user, steps: user.labels.merge("Work", "nothing of the sort"), "no scope label"),
    (lambda user, steps: user.labels.merge("Trip", "museum"), "of the same kind"),
    (lambda user, steps: user.labels.split("Work", [steps[0], steps[5]], "Calls"), "step_"),
    (lambda user, steps: user.labels.split("Work", [], "Calls"), "at least one"),
    (lambda user, steps: user.labels.split("Work", [steps[5]], "Holiday"), "already"),
    (lambda user, steps: user.labels.rename("Work", "Holiday"), "merge the two"),
    *(
        (lambda user, steps, name=name: user.labels.rename("Work", name), "name")  # type: ignore[misc]
        for name in ("", "  ", "a / b", "x" * 201)
    ),
]


def test_a_correction_that_makes_no_sense_is_refused_and_changes_nothing(seen: Trip) -> None:
    user, steps = seen
    before = (user.labels.list(), user.history())
    for correction, rule in REFUSED:
        with pytest.raises((InvalidInputError, NotFoundError), match=rule):
            correction(user, steps)
    assert (user.labels.list(), user.history()) == before


def test_a_split_is_undone_with_what_it_was_given_since_and_made_again_by_a_redo(trip: Trip) -> None:
    user, steps = trip
    built = user.labels.split("Work", [steps[5]], "Calls")
    assert (built.name, built.kind, built.pinned, built.step_ids) == ("Calls", "scope", True, (steps[5],))
    assert raw_density(user, built.id) == {steps[5]}
    assert by_density(user, "Work") == carrying(user, "Work") == {steps[3]}
    done = user.history(built.id)[-1]
    assert (done.kind, {change.target for change in done.changes}) == ("split", {"label", "intent"})
    (late,) = user.remember("scope:Calls another call").step_ids
    assert user.labels.of(late).intent.scope == built.id
    (undone,) = user.undo(done.id)
    assert user.labels.of(late).scope == "Work"
    assert by_density(user, "Work") == carrying(user, "Work") == {steps[3], steps[5], late}
    assert steps[5] not in raw_density(user, built.id)
    assert built.id not in {label.id for label in user.labels.list("scope")}
    user.undo(undone.id)
    assert user.labels.show("Calls").id == built.id
    assert by_density(user, "Calls") >= {steps[5]}


def test_a_step_is_moved_and_moved_back(trip: Trip) -> None:
    user, steps = trip
    before = ("Trip / Day 1", ("plan",), ("Mia",))

    def labels() -> tuple[object, ...]:
        snippet = user.labels.of(steps[0])
        return (snippet.scope, snippet.events, snippet.entities)

    for label, after in (
        ("Work", ("Work", ("plan",), ("Mia",))),
        ("asking / ask", ("Trip / Day 1", ("ask",), ("Mia",))),
        ("hotel", ("Trip / Day 1", ("plan",), ("Mia", "hotel"))),
    ):
        assert (labels(), steps[0] in by_density(user, label)) == (before, False)
        done = user.labels.move(steps[0], label)
        assert (labels(), user.labels.of(steps[0]).tier) == (after, "user")
        assert steps[0] in by_density(user, label) & carrying(user, label)
        with pytest.raises(InvalidInputError, match="nothing to move"):
            user.labels.move(steps[0], label)
        assert user.history(steps[0])[-1] == done
        user.undo(done.id)
        assert (labels(), user.labels.of(steps[0]).tier) == (before, "embedded")
        assert steps[0] not in by_density(user, label)


def test_an_undo_is_refused_with_the_corrections_that_build_on_it(trip: Trip) -> None:
    user, steps = trip
    moved = user.labels.move(steps[0], "Work")
    user.forget([steps[1]])  # of no concern to the labels of another
    again = user.labels.move(steps[0], "Holiday")
    with pytest.raises(UndoRefusedError) as refused:
        user.undo(moved.id)
    assert refused.value.blockers == (again.id,)
    user.undo(moved.id, cascade=True)
    assert user.labels.of(steps[0]).scope == "Trip / Day 1"


def test_a_step_that_was_moved_and_forgotten_is_moved_back_and_a_name_is_stored_without_its_secret(trip: Trip) -> None:
    user, steps = trip
    moved = user.labels.move(steps[0], "Work")
    gone = user.forget([steps[0]])
    user.undo(moved.id)
    user.undo(gone.id)
    assert user.labels.of(steps[0]).scope == "Trip / Day 1"
    user.labels.rename("Work", "the password is hunter2-x9Q")
    assert "hunter2" not in str(user.labels.list()) + str(user.history())


async def test_each_method_has_an_async_twin(trip: Trip) -> None:
    user, steps = trip
    await user.labels.arename("Work", "Office")
    assert await user.labels.alist("scope") == user.labels.list("scope")
    assert (await user.labels.aof(steps[3])).scope == "Office"


STEPS = st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True)
SCOPES = st.sampled_from(["Trip", "Trip / Day 1", "Trip / Day 2", "Work", "Holiday", "Holiday / Day 2"])
ACTIONS = st.one_of(
    st.tuples(st.just("move"), STEPS, SCOPES),
    st.tuples(st.just("merge"), SCOPES, SCOPES),
    st.tuples(st.just("split"), SCOPES, STEPS),
    st.tuples(st.just("rename"), SCOPES, st.sampled_from(["A", "B"])),
    st.tuples(st.just("undo"), st.integers(0, 5), st.none()),
)


@settings(max_examples=6, deadline=None)
@given(actions=st.lists(ACTIONS, min_size=1, max_size=7))
def test_after_any_corrections_filters_and_index_agree_and_all_can_be_undone(
    labelled: Memory, actions: list[tuple[str, object, object]]
) -> None:
    user = labelled.user(f"user {next(_numbers)}")
    stored = ["scope:Trip/Day_1 a", "scope:Trip/Day_2 b", "scope:Work c", "scope:Holiday/Day_2 d", "scope:Work e", "f"]
    steps = list(user.remember([{"role": "user", "content": text} for text in stored]).step_ids)
    began = user.labels.induced()
    for number, (what, one, other) in enumerate(actions):
        try:
            if what == "move":
                user.labels.move([steps[n] for n in one], str(other))  # type: ignore[attr-defined]
            elif what == "split":
                user.labels.split(str(one), [steps[n] for n in other], f"new {number}")  # type: ignore[attr-defined]
            elif what == "undo":
                user.undo(user.history()[int(one)].id if user.history() else "none")  # type: ignore[call-overload]
            else:
                getattr(user.labels, what)(one, other)
        except (InvalidInputError, NotFoundError, UndoRefusedError, IndexError):
            continue
    induced, above = user.labels.induced(), {one.id: one.parent_id for one in user.labels.list()}

    def widening(label_id: str | None) -> Iterator[str]:  # by id: a merge may leave two labels of one path
        while label_id is not None:
            yield label_id
            label_id = above[label_id]

    for label_id in above:
        given = {
            step_id
            for step_id, labels in induced.items()
            for carried in (labels.scope, *labels.events, *labels.coarse_events)
            if label_id in widening(carried)
        }
        assert by_density(user, label_id) == carrying(user, label_id) == given
    for done in reversed(user.history()):
        if done.undone_by is None and done.undoes is None:
            user.undo(done.id)
    assert user.labels.induced() == began


def test_homes_on_one_ledger_share_labels_and_corrections(new_database: NewDatabase, tmp_path: Path) -> None:
    url, options = new_database(), {"settings": Settings(background=False), "labeler": WordLabeler}
    with (
        Memory.open(tmp_path / "a", ledger_url=url, **options) as here,
        Memory.open(tmp_path / "b", ledger_url=url, **options) as there,
    ):
        (one,) = here.user("alice").remember("scope:Work hello").step_ids
        here.flush()
        (two,) = there.user("alice").remember("good morning").step_ids
        assert by_density(there.user("alice"), "Work") == {one, two}
        there.user("alice").labels.rename("Work", "Office")
        (three,) = here.user("alice").remember("good night").step_ids
        for user in (here.user("alice"), there.user("alice")):
            assert by_density(user, "Office") == carrying(user, "Office") == {one, two, three}
            assert [label.name for label in user.labels.list("scope")] == ["Office"]


def test_a_split_on_which_a_merge_hangs_is_not_undone(labelled: Memory) -> None:
    user = labelled.user(f"user {next(_numbers)}")
    steps = list(user.remember(["scope:Work a", "scope:Work b"]).step_ids)
    user.labels.split("Work", steps[:1], "Office")
    split = user.history()[-1].id
    user.labels.merge("Work", "Office")
    with pytest.raises(UndoRefusedError, match="Work"):
        user.undo(split)
    assert [one.name for one in user.labels.list("scope") if one.steps] == ["Office"]


def test_a_rename_whose_old_name_is_taken_says_so_when_it_is_undone(labelled: Memory) -> None:
    user = labelled.user(f"user {next(_numbers)}")
    user.remember("scope:Trip a")
    user.labels.rename("Trip", "Journey")
    renamed = user.history()[-1].id
    user.remember("scope:Journey b")
    steps = list(user.remember(["scope:Other c", "scope:Other d"]).step_ids)
    user.labels.split("Other", steps[:1], "Trip")
    with pytest.raises(UndoRefusedError, match="called 'Trip' now"):
        user.undo(renamed)


def test_a_label_is_found_by_a_name_that_says_the_same(user: UserMemory) -> None:
    stored = ["scope:Reise/第2天 a", "scope:Reise/第3天 b", "scope:Trip/Day_4 c", "scope:Trip/Day_3 d"]
    user.remember([{"role": "user", "content": text} for text in stored])
    assert user.labels.show("day 2").path == "Reise / 第2天"
    assert user.labels.show("Reise/the 2nd day").path == "Reise / 第2天"
    assert user.labels.show("第四天").path == "Trip / Day 4"
    assert user.labels.show("Day 3").path == "Trip / Day 3"
    assert user.labels.show("第3天").path == "Reise / 第3天"
    with pytest.raises(InvalidInputError, match=r"may mean 2: scope:Reise / 第3天 .*; scope:Trip / Day 3"):
        user.labels.show("day three")


def test_an_old_name_finds_a_renamed_label_until_that_is_undone(trip: Trip) -> None:
    user, steps = trip
    done = user.labels.rename("Trip / Day 2", "Museum day")
    shown = user.labels.show("Trip / Day 2")
    assert (shown.name, shown.aliases, shown.step_ids) == ("Museum day", ("Day 2",), (steps[2],))
    assert carrying(user, "trip / day 2") == {steps[2]}
    assert user.labels.show("Day 2").path == "Holiday / Day 2"  # a name of its own goes before
    user.labels.rename("Trip", "Lisbon")
    assert user.labels.show("Trip / Day 2").path == "Lisbon / Museum day"
    user.undo(done.id)
    assert user.labels.show("Trip / Day 2").path == "Lisbon / Day 2"
    assert user.labels.show("Trip / Day 2").aliases == ()
    with pytest.raises(NotFoundError):
        user.labels.show("Museum day")
    for name in ("Office", "Work", "Office", "Work"):
        user.labels.rename("Work", name)
    assert user.labels.show("Office").aliases == ("Office",)


def test_a_scope_that_was_renamed_goes_on_under_its_new_name(tmp_path: Path) -> None:
    for text in ("PROJ-41: the export loses umlauts.", "PROJ-41: the export of umlauts works now."):  # opened anew
        with Memory.open(tmp_path / "home", embedder="static", settings=Settings(background=False)) as memory:
            alice = memory.user("alice")
            step = alice.remember(text).step_ids[0]
            if alice.labels.of(step).scope == "PROJ-41":
                alice.labels.rename("PROJ-41", "Export")
            scope = alice.labels.of(step).scope
    assert scope == "Export"
