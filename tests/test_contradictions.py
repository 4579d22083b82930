"""Facts that change: whatever the order of arrival, each time has its value, the last is current, nothing is lost."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hexamem import Memory, SemanticItem, UserMemory
from hexamem.agents.applying.applier import Applied, Applier
from hexamem.agents.applying.slots import slot_name, slot_of
from hexamem.agents.contract import Batch, BatchStep
from hexamem.memory_types import MemoryItem, Step
from hexamem.memory_types.proposals import Evidence, Outcome, Proposal

TOWNS = ("Hangzhou", "Shanghai", "Porto", "Cork", "Galway", "Leeds", "Oslo", "Kyoto", "Lima", "Quito", "Accra")
FIRST = datetime(2020, 1, 1, 12, tzinfo=UTC)
YEAR = timedelta(days=366)
_users = itertools.count(1)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One memory for the module; each test takes users of its own."""
    from hexamem import Settings

    with Memory.open(tmp_path_factory.mktemp("home"), settings=Settings(background=False, labels="off")) as opened:
        yield opened


@pytest.fixture
def ann(shared: Memory) -> UserMemory:
    return new_user(shared)


def new_user(memory: Memory) -> UserMemory:
    return memory.user(f"ann {next(_users)}")


def applier(user: UserMemory) -> Applier:
    memory = user.memory
    return Applier(
        memory.ledger,
        memory.cipher,
        media=memory.media,
        projector=memory.projector,
    )


def say(user: UserMemory, text: str, at: datetime, role: str = "user", thread: str = "t") -> Step:
    receipt = user.remember({"role": role, "content": text, "timestamp": at.isoformat()}, thread)
    step = user.get(receipt.step_ids[0])
    assert isinstance(step, Step)
    return step


def batch_of(user: UserMemory, *steps: Step, **more: Any) -> Batch:
    heard = tuple(BatchStep(step=step, resolved_text=step.content) for step in steps)
    return Batch(user=user.name, steps=heard, zone=UTC, **more)


def applied(user: UserMemory, step: Step, proposal: Proposal, **more: Any) -> Outcome:
    return apply_all(user, [step], [proposal], **more).outcomes[0]


def apply_all(user: UserMemory, steps: Sequence[Step], proposals: Sequence[Proposal], **more: Any) -> Applied:
    return applier(user).apply(user.name, batch_of(user, *steps), proposals, **more)


def home_in(step: Step, town: str, **values: Any) -> Proposal:
    operation = values.pop("operation", "add")
    target = values.pop("target", None)
    return Proposal(
        operation=operation,
        kind="core",
        target=target,
        values={"label": "home", "value": town, "metadata": {"slot": "home_city"}, **values},
        evidence=(Evidence(step_id=step.id, quote=step.content),),
        proposed_by="rules.core",
    )


def lives(user: UserMemory, town: str, at: datetime, **values: Any) -> Outcome:
    """The user says at that time that they live there, and it is applied."""
    step = say(user, values.pop("text", f"I live in {town} now."), at)
    return applied(user, step, home_in(step, town, **values))


def towns(user: UserMemory, **when: Any) -> list[str]:
    return [item.value for item in user.items("core", **when)]  # type: ignore[attr-defined]


def sources_of(user: UserMemory) -> set[str]:
    return {source.step_id for item in user.items(superseded=True) for source in item.sources}


# -- after some changes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [1, 3, 10])
def test_after_changes_the_last_value_is_current_and_each_time_has_its_own(ann: UserMemory, changes: int) -> None:
    for number, town in enumerate(TOWNS[: changes + 1]):
        lives(ann, town, FIRST + number * YEAR)
    assert towns(ann) == [TOWNS[changes]]
    for number, town in enumerate(TOWNS[: changes + 1]):
        assert towns(ann, as_of=FIRST + number * YEAR) == [town]
        assert towns(ann, as_of=FIRST + (number + 1) * YEAR - timedelta(seconds=1)) == [town]


@pytest.mark.parametrize("changes", [1, 3, 10])
def test_each_change_is_known_only_since_it_was_learned(ann: UserMemory, changes: int) -> None:
    learned = []
    for number, town in enumerate(TOWNS[: changes + 1]):
        lives(ann, town, FIRST + number * YEAR)
        learned.append(datetime.now(UTC))
    assert [towns(ann, known_at=moment) for moment in learned] == [[town] for town in TOWNS[: changes + 1]]


@pytest.mark.parametrize("changes", [1, 3, 10])
def test_undoing_the_last_change_brings_the_value_before_back(ann: UserMemory, changes: int) -> None:
    done = [lives(ann, town, FIRST + number * YEAR) for number, town in enumerate(TOWNS[: changes + 1])]
    assert done[-1].operation_id is not None
    ann.undo(done[-1].operation_id)
    assert towns(ann) == [TOWNS[changes - 1]]
    assert towns(ann, as_of=FIRST + 20 * YEAR) == [TOWNS[changes - 1]]


def test_undoing_every_change_leaves_the_first_value_as_it_was(ann: UserMemory) -> None:
    done = [lives(ann, town, FIRST + number * YEAR) for number, town in enumerate(TOWNS[:4])]
    first = ann.get(done[0].item_id or "")
    for outcome in reversed(done[1:]):
        ann.undo(outcome.operation_id or "")
    assert ann.get(first.id).valid_to is None  # type: ignore[union-attr]
    assert towns(ann, superseded=True) == ["Hangzhou"]


def test_the_outcome_of_another_value_says_superseded(ann: UserMemory) -> None:
    assert lives(ann, "Hangzhou", FIRST).applied == "add"
    assert lives(ann, "Shanghai", FIRST + YEAR).applied == "supersede"


def test_a_date_in_the_words_counts_rather_than_when_they_were_said(ann: UserMemory) -> None:
    lives(ann, "Cork", FIRST)
    lives(ann, "Galway", FIRST + YEAR, valid_from="2020-03-01", text="I moved on 1 March, I'm in Galway now!")
    old, new = ann.items("core", superseded=True)
    assert (old.status, new.status) == ("superseded", "active")
    assert old.valid_to == new.valid_from == datetime(2020, 3, 1, tzinfo=UTC)


def test_a_value_that_ended_before_the_next_began_keeps_its_end(ann: UserMemory) -> None:
    first = say(ann, "I do quality control at Tallow Foods.", FIRST)
    left = say(ann, "I left Tallow last Friday and on Monday I start at Fenwick.", FIRST + YEAR)

    def employer(step: Step, name: str, **more: Any) -> Proposal:
        values = {"label": "employer", "value": name, "metadata": {"slot": "employer"}, **more}
        evidence = (Evidence(step_id=step.id, quote=step.content),)
        return Proposal(operation="add", kind="core", values=values, evidence=evidence)

    known = applied(ann, first, employer(first, "Tallow Foods"))
    ended = Proposal(
        operation="update", kind="core", target=known.item_id, values={"valid_to": "2021-01-01"},
        evidence=(Evidence(step_id=left.id, quote="I left Tallow last Friday"),),
    )  # fmt: skip
    apply_all(ann, [left], [ended, employer(left, "Fenwick", valid_from="2021-01-04")])
    assert towns(ann, as_of="2020-12-31") == ["Tallow Foods"]
    assert towns(ann, as_of="2021-01-02") == []
    assert towns(ann, as_of="2021-01-05") == ["Fenwick"]
    assert towns(ann) == ["Fenwick"]


# -- out of order ------------------------------------------------------------------------------------------------


def test_an_older_conversation_read_later_does_not_replace_the_present_value(ann: UserMemory) -> None:
    lives(ann, "Shanghai", FIRST + 3 * YEAR)
    lives(ann, "Hangzhou", FIRST)
    assert towns(ann) == ["Shanghai"]
    assert towns(ann, as_of=FIRST + YEAR) == ["Hangzhou"]
    assert towns(ann, as_of=FIRST + 4 * YEAR) == ["Shanghai"]


def test_a_later_word_about_an_earlier_time_is_kept_as_past(ann: UserMemory) -> None:
    lives(ann, "Shanghai", FIRST)
    text = "I lived in Hangzhou from 2010 to 2015."
    lives(ann, "Hangzhou", FIRST + YEAR, valid_from="2010", valid_to="2015", text=text)
    assert towns(ann) == ["Shanghai"]
    assert towns(ann, as_of="2012-06-01") == ["Hangzhou"]
    assert towns(ann, as_of="2016-06-01") == ["Shanghai"]
    assert towns(ann, as_of=FIRST + 2 * YEAR) == ["Shanghai"]


def test_a_value_that_comes_back_is_a_new_item(ann: UserMemory) -> None:
    for number, town in enumerate(("Hangzhou", "Shanghai", "Hangzhou")):
        lives(ann, town, FIRST + number * YEAR)
    assert towns(ann) == ["Hangzhou"]
    assert [towns(ann, as_of=FIRST + number * YEAR) for number in range(3)] == [
        ["Hangzhou"],
        ["Shanghai"],
        ["Hangzhou"],
    ]


def test_a_value_said_before_and_after_another_is_parted(ann: UserMemory) -> None:
    lives(ann, "Hangzhou", FIRST)
    lives(ann, "Hangzhou", FIRST + 2 * YEAR)
    lives(ann, "Shanghai", FIRST + YEAR)
    assert towns(ann) == ["Hangzhou"]
    assert [towns(ann, as_of=FIRST + number * YEAR) for number in range(3)] == [
        ["Hangzhou"],
        ["Shanghai"],
        ["Hangzhou"],
    ]


def test_a_value_that_is_found_to_hold_since_earlier_stays_one_item(ann: UserMemory) -> None:
    for number, town in ((0, "Hangzhou"), (2, "Shanghai"), (1, "Shanghai")):
        lives(ann, town, FIRST + number * YEAR)
    past, present = ann.items("core", superseded=True)
    assert past.valid_to == present.valid_from == FIRST + YEAR
    assert len(present.sources) == 2


Said = list[tuple[int, str]]


def told(said: Said, moment: int) -> str:
    """What was true then, from what was said in the order of its times: the plain rule."""
    in_order = sorted(said)
    before = [town for time, town in in_order if time <= moment]
    return before[-1] if before else in_order[0][1]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from(TOWNS[:3])), min_size=1, max_size=6, unique_by=lambda p: p[0]
    )
)
@example([(1, "Hangzhou"), (3, "Hangzhou"), (2, "Shanghai")])
@example([(5, "Hangzhou"), (1, "Hangzhou"), (4, "Shanghai"), (2, "Shanghai"), (3, "Hangzhou")])
def test_the_order_of_arrival_changes_nothing(shared: Memory, said: Said) -> None:
    user = new_user(shared)
    for time, town in said:
        lives(user, town, FIRST + time * YEAR)
    assert towns(user) == [sorted(said)[-1][1]]
    for moment in range(-1, 14):
        assert towns(user, as_of=FIRST + moment * YEAR) == [told(said, moment)], moment
    assert len(sources_of(user)) == len(said)


def whole_line(items: Sequence[MemoryItem]) -> list[tuple[datetime, datetime]]:
    """The intervals in which the items were true, in order."""
    far, long_ago = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)
    lines = [(item.valid_from or long_ago, item.valid_to or far) for item in items if item.status in ("active", "superseded")
             and (item.status == "active" or item.valid_to is not None)]  # fmt: skip
    return sorted(one for one in lines if one[0] < one[1])


def said(town: str, **given: Any) -> dict[str, Any]:
    """A step of the property below: at time 0 and without times of its own unless given."""
    return {"do": "add", "town": town, "time": 0, "since": None, "until": None, "pick": 0, **given}


_when = st.integers(0, 12)
_operation = st.fixed_dictionaries(
    {
        "do": st.sampled_from(["add", "add", "add", "supersede", "update", "remove", "undo", "again"]),
        "town": st.sampled_from(TOWNS[:4]),
        "time": _when,
        "since": st.none() | _when,
        "until": st.none() | _when,
        "pick": st.integers(0, 20),
    }
)


@settings(max_examples=14, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_operation, min_size=1, max_size=7))
@example([*[said("Hangzhou")] * 3, said("Shanghai"), said("Hangzhou", do="update", since=0, pick=1), said("Hangzhou"),
          said("Hangzhou", do="again", pick=10)])  # fmt: skip
@example([*[said("Hangzhou")] * 4, said("Shanghai"), said("Hangzhou", do="update", since=1, until=4)])
@example([said("Hangzhou"), said("Hangzhou"), said("", do="undo"), said("", do="undo"), said("", do="again", pick=5)])
@example([said("Hangzhou"), said("Shanghai", time=3), said("Shanghai"), said("", do="undo"), said("Hangzhou"),
          said("", do="again", pick=2)])  # fmt: skip
def test_whatever_is_proposed_one_value_is_current_and_no_two_overlap(
    shared: Memory, wanted: list[dict[str, Any]]
) -> None:
    user = new_user(shared)
    done: list[tuple[Step, Proposal]] = []
    heard: set[str] = set()
    for position, one in enumerate(wanted):
        if one["do"] == "again" and done:
            before = [item.model_dump() for item in user.items(superseded=True)]
            step, proposal = done[one["pick"] % len(done)]
            assert applied(user, step, proposal).applied in ("noop", None)
            assert [item.model_dump() for item in user.items(superseded=True)] == before
            continue
        if one["do"] == "undo":
            operations = [o for o in user.history() if o.undone_by is None and o.kind not in ("undo", "redact")]
            if operations:
                user.undo(operations[-1].id)
                heard = sources_of(user)
            continue
        step = say(
            user, f"About {one['town']}, number {position}", FIRST + one["time"] * YEAR + position * timedelta(days=1)
        )
        times = {
            name: (FIRST + one[key] * YEAR).isoformat()
            for name, key in (("valid_from", "since"), ("valid_to", "until"))
            if one[key] is not None
        }
        targets = [item.id for item in user.items("core", superseded=True)]
        target = targets[one["pick"] % len(targets)] if targets and one["do"] != "add" else None
        operation = "add" if target is None or one["do"] == "again" else one["do"]
        proposal = home_in(step, one["town"], operation=operation, target=target, **times)
        outcome = applied(user, step, proposal)
        if outcome.applied:  # one that was refused may have a place later
            done.append((step, proposal))
        if outcome.applied and outcome.applied != "remove":
            heard.add(step.id)
        elif outcome.applied == "remove":
            heard = sources_of(user)
        items = user.items("core", superseded=True)
        assert sum(item.status == "active" for item in items) <= 1
        line = whole_line(items)
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(line)), line
        assert heard <= sources_of(user)


# -- corrections -------------------------------------------------------------------------------------------------


def test_what_is_corrected_was_never_true_and_is_still_known_to_have_been_believed(ann: UserMemory) -> None:
    first = say(ann, "My sister is called Hannah.", FIRST)
    quote = (Evidence(step_id=first.id, quote="called Hannah"),)
    values = {"label": "family", "value": "Hannah", "metadata": {"slot": "sister.name"}}
    known = applied(ann, first, Proposal(operation="add", kind="core", values=values, evidence=quote))
    before = datetime.now(UTC)
    second = say(ann, "Actually it's Anna, not Hannah.", FIRST + YEAR)
    correction = Proposal(
        operation="update", kind="core", target=known.item_id, values={"value": "Anna"},
        evidence=(Evidence(step_id=second.id, quote="it's Anna"),),
    )  # fmt: skip
    assert applied(ann, second, correction).applied == "update"
    assert towns(ann) == towns(ann, superseded=True) == ["Anna"]
    assert towns(ann, as_of=FIRST) == ["Anna"]
    assert towns(ann, known_at=before) == ["Hannah"]
    assert sources_of(ann) == {first.id, second.id}


def test_a_correction_that_was_undone_is_not_done_again_by_a_resumed_job(ann: UserMemory) -> None:
    known = lives(ann, "Cork", FIRST)
    step = say(ann, "It is Galway really.", FIRST + YEAR)
    proposal = home_in(step, "Galway", operation="update", target=known.item_id)
    done = applied(ann, step, proposal)
    ann.undo(done.operation_id or "")
    assert applied(ann, step, proposal).applied == "noop"
    assert towns(ann) == ["Cork"]


# -- what is one slot, and what is not ---------------------------------------------------------------------------


def test_what_has_no_slot_excludes_nothing(ann: UserMemory) -> None:
    for number, value in enumerate(("walnut", "coriander")):
        step = say(ann, f"There is {value}.", FIRST + number * YEAR)
        proposal = Proposal(
            operation="add", kind="core", values={"label": "home_city", "value": value},
            evidence=(Evidence(step_id=step.id, quote=value),),
        )  # fmt: skip
        assert applied(ann, step, proposal).applied == "add"
    assert towns(ann) == ["walnut", "coriander"]


def test_a_slot_is_compared_without_case_spaces_and_the_user() -> None:
    assert {slot_name(name) for name in ("home_city", "Home City", "user.home_city", "ｈome-city")} == {"home_city"}
    assert {slot_name(name) for name in ("mark.employer", "Mark . Employer")} == {"mark.employer"}
    assert slot_of({"slot": "小王.雇主"}) == "小王.雇主"
    assert slot_of({"slot": "about", "overflow_of": "item_a"}) == slot_of({"slot": 3}) == slot_of({}) == ""


def fact(user: UserMemory, at: datetime, text: str, name: str, summary: str, **values: Any) -> Outcome:
    step = say(user, text, at)
    evidence = (Evidence(step_id=step.id, quote=text),)
    values = {"name": name, "summary": summary, **values}
    return applied(user, step, Proposal(operation="add", kind="semantic", values=values, evidence=evidence))


def test_what_is_known_of_a_friend_changes_by_slot(ann: UserMemory) -> None:
    home = {"metadata": {"slot": "declan.home_city"}}
    fact(ann, FIRST, "Declan lives in Porto.", "Declan", "Declan lives in Porto", **home)
    fact(ann, FIRST, "Declan has a dog.", "Declan", "Declan has a dog")
    fact(ann, FIRST + YEAR, "Declan moved to Cork!", "Declan", "Declan lives in Cork since January", **home)
    texts = [item.summary for item in ann.items("semantic")]  # type: ignore[attr-defined]
    assert texts == ["Declan has a dog", "Declan lives in Cork since January"]


def test_two_people_live_in_two_towns(ann: UserMemory) -> None:
    for name, town in (("Declan", "Porto"), ("Nora", "Cork")):
        text, slot = f"{name} lives in {town}.", {"metadata": {"slot": f"{name}.home_city"}}
        assert fact(ann, FIRST, text, name, text, **slot).applied == "add"
    assert len(ann.items("semantic")) == 2


def test_the_same_value_in_other_letters_joins_and_a_longer_one_supersedes(ann: UserMemory) -> None:
    lives(ann, "Galway", FIRST)
    assert lives(ann, "galway.", FIRST + YEAR).applied == "merge"
    assert lives(ann, "Salthill, Galway", FIRST + 2 * YEAR).applied == "supersede"
    assert towns(ann) == ["Salthill, Galway"]


def test_items_that_end_are_closed_with_the_item_that_states_it(ann: UserMemory) -> None:
    home, job = lives(ann, "Cork", FIRST), fact(ann, FIRST, "I cook at Fenwick.", "job", "cooks at Fenwick")
    step = say(ann, "I am travelling the world from now on.", FIRST + YEAR)
    proposal = Proposal(
        operation="add", kind="core", values={"label": "life", "value": "travels the world"},
        ends=(home.item_id or "", job.item_id or "", "item_none"), evidence=(Evidence(step_id=step.id, quote=step.content),),
    )  # fmt: skip
    done = applied(ann, step, proposal)
    assert done.applied == "supersede"
    assert [item.id for item in ann.items()] == [done.item_id]
    assert [ann.get(one.item_id or "").valid_to for one in (home, job)] == [FIRST + YEAR] * 2  # type: ignore[union-attr]
    assert applied(ann, step, proposal).applied == "noop"
    ann.undo(done.operation_id or "")
    assert {item.id for item in ann.items()} == {home.item_id, job.item_id}


def test_what_was_stated_again_after_the_end_does_not_end(ann: UserMemory) -> None:
    known = lives(ann, "Cork", FIRST + 2 * YEAR)
    step = say(ann, "I left Cork.", FIRST)
    values = {"label": "life", "value": "left Cork"}
    evidence = (Evidence(step_id=step.id, quote=step.content),)
    ends = (known.item_id or "",)
    applied(ann, step, Proposal(operation="add", kind="core", values=values, ends=ends, evidence=evidence))
    assert towns(ann) == ["Cork", "left Cork"]


def test_an_item_keeps_the_name_that_its_manager_gave_the_slot(ann: UserMemory) -> None:
    for number, value in enumerate(("radiographer", "midwife")):
        step = say(ann, f"I work as a {value} now.", FIRST + number * YEAR)
        metadata = {"slot": "occupation"}
        values = {"label": "job", "value": f"Works as a {value}", "metadata": metadata}
        evidence = (Evidence(step_id=step.id, quote=value),)
        applied(ann, step, Proposal(operation="add", kind="core", values=values, evidence=evidence))
    [item] = ann.items("core")
    assert item.metadata["slot"] == "occupation"
    assert towns(ann, as_of=FIRST) == ["Works as a radiographer"]


def test_an_event_that_is_moved_in_the_same_batch_is_one_event(ann: UserMemory) -> None:
    said = [say(ann, "Dentist on 12 May.", FIRST), say(ann, "They moved it to 13 May.", FIRST + timedelta(hours=1))]
    proposals = [
        Proposal(
            operation="add", kind="episodic", evidence=(Evidence(step_id=step.id, quote=step.content),),
            values={"summary": f"dentist ({day})", "occurred_at": day, "metadata": {"slot": "event.x"}},
        )
        for step, day in zip(said, ("2020-05-12", "2020-05-13"), strict=True)
    ]  # fmt: skip
    outcomes = apply_all(ann, said, proposals).outcomes
    assert [one.applied for one in outcomes] == ["add", "supersede"]
    assert [item.summary for item in ann.items()] == ["dentist (2020-05-13)"]  # type: ignore[attr-defined]
    assert [item.summary for item in ann.items(as_of="2020-06-01")] == ["dentist (2020-05-13)"]  # type: ignore[attr-defined]


def test_a_cancelled_event_is_superseded_and_was_true_at_no_time(ann: UserMemory) -> None:
    booked = say(ann, "We are off to Lisbon from 20 June.", FIRST)
    trip = Proposal(
        operation="add", kind="episodic", values={"summary": "trip to Lisbon", "occurred_at": "2020-06-20"},
        evidence=(Evidence(step_id=booked.id, quote="off to Lisbon"),),
    )  # fmt: skip
    known = applied(ann, booked, trip)
    off = say(ann, "Lisbon's off, I'm afraid.", FIRST + timedelta(days=9))
    cancelled = Proposal(
        operation="supersede", kind="episodic", target=known.item_id,
        values={"summary": "cancelled the trip to Lisbon"}, evidence=(Evidence(step_id=off.id, quote="Lisbon's off"),),
    )  # fmt: skip
    assert applied(ann, off, cancelled).applied == "supersede"
    assert [item.status for item in ann.items("episodic", superseded=True)] == ["superseded", "active"]
    assert [item.text.split("\n")[0] for item in ann.items(as_of="2020-07-01")] == ["cancelled the trip to Lisbon"]


def test_what_is_learned_of_an_old_conversation_is_of_the_time_at_which_it_was_stated(ann: UserMemory) -> None:
    fact(ann, FIRST, "Ben is a pilot.", "Ben", "Ben is a pilot")
    learned = [hit for hit in ann.recall("Ben pilot").hits if hit.kind == "semantic"]
    assert [hit.occurred_at for hit in learned] == [FIRST]


def test_a_time_that_a_person_wrote_into_metadata_is_taken_only_where_it_is_one(ann: UserMemory) -> None:
    for told in ("yesterday", "2021-05-06", 7, None):
        item = ann.add(SemanticItem(name="Ben", summary=f"Ben flies, it says {told}", metadata={"said_at": told}))
        (hit,) = [hit for hit in ann.recall(f"Ben flies {told}").hits if hit.id == item.id]
        assert hit.occurred_at == item.created_at
