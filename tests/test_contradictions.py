"""Facts that change: whatever the order of arrival, each time has its value, the last is current, nothing is lost."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hexamem import Memory, UserMemory
from hexamem.memory_types import MemoryItem, Step
from hexamem.memory_types.proposals import Outcome, Proposal

from .proposing import apply, batch_of, propose, store

TOWNS = ("Hangzhou", "Shanghai", "Porto", "Cork", "Galway")
FIRST = datetime(2020, 1, 1, 12, tzinfo=UTC)
YEAR = timedelta(days=366)
FEW = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}
_users = itertools.count(1)


def applied(user: UserMemory, *pairs: tuple[Step, Proposal]) -> list[Outcome]:
    """Apply proposals, each with the step that it is from, as one batch."""
    return list(apply(user, batch_of(*(step for step, _ in pairs)), *(proposal for _, proposal in pairs)).outcomes)


def core(step: Step, values: dict[str, Any], **more: Any) -> Proposal:
    return propose(step, values, **{"kind": "core", **more})


def home_in(step: Step, town: str, operation: str = "add", target: str | None = None, **values: Any) -> Proposal:
    values = {"label": "home", "value": town, "metadata": {"slot": "home_city"}, **values}
    return core(step, values, operation=operation, target=target)


def lives(user: UserMemory, town: str, at: datetime, **values: Any) -> Outcome:
    """The user writes at that time where they live, and it is applied."""
    step = store(user, values.pop("text", f"I live in {town} now."), at=at)
    return applied(user, (step, home_in(step, town, **values)))[0]


def fact(user: UserMemory, at: datetime, text: str, name: str, summary: str, **values: Any) -> Outcome:
    step = store(user, text, at=at)
    return applied(user, (step, core(step, {"name": name, "summary": summary, **values}, kind="semantic")))[0]


def towns(user: UserMemory, **when: Any) -> list[str]:
    return [item.value for item in user.items("core", **when)]  # type: ignore[attr-defined]


def of_years(user: UserMemory, count: int) -> list[list[str]]:
    return [towns(user, as_of=FIRST + number * YEAR) for number in range(count)]


def sources_of(user: UserMemory) -> set[str]:
    return {source.step_id for item in user.items(superseded=True) for source in item.sources}


def test_after_changes_each_time_and_belief_has_its_own_value_and_undo_brings_them_back(ann: UserMemory) -> None:
    outcomes, learned = [], []
    for number, town in enumerate(TOWNS):
        outcomes.append(lives(ann, town, FIRST + number * YEAR))
        learned.append(datetime.now(UTC))
    assert [outcome.applied for outcome in outcomes] == ["add", *["supersede"] * 4]
    assert towns(ann) == ["Galway"]
    assert of_years(ann, 5) == [[town] for town in TOWNS]
    assert towns(ann, as_of=FIRST + YEAR - timedelta(seconds=1)) == ["Hangzhou"]
    assert [towns(ann, known_at=moment) for moment in learned] == [[town] for town in TOWNS]
    for outcome, town in zip(reversed(outcomes[1:]), reversed(TOWNS[:-1]), strict=True):
        ann.undo(outcome.operation_id or "")
        assert towns(ann) == towns(ann, as_of=FIRST + 20 * YEAR) == [town]
    assert ann.get(outcomes[0].item_id or "").valid_to is None  # type: ignore[union-attr]
    assert towns(ann, superseded=True) == ["Hangzhou"]


def test_a_date_in_the_words_counts_rather_than_when_they_were_written(ann: UserMemory) -> None:
    lives(ann, "Cork", FIRST)
    lives(ann, "Galway", FIRST + YEAR, valid_from="2020-03-01", text="I moved on 1 March, I'm in Galway now!")
    old, new = ann.items("core", superseded=True)
    assert (old.status, new.status) == ("superseded", "active")
    assert old.valid_to == new.valid_from == datetime(2020, 3, 1, tzinfo=UTC)
    lived = "I lived in Porto from 2010 to 2015."
    lives(ann, "Porto", FIRST + 2 * YEAR, valid_from="2010", valid_to="2015", text=lived)
    times = [None, "2012-06-01", "2016-06-01", FIRST + 3 * YEAR]
    assert [towns(ann, as_of=at) for at in times] == [["Galway"], ["Porto"], ["Cork"], ["Galway"]]


def test_a_value_that_ended_before_the_next_began_keeps_its_end(ann: UserMemory) -> None:
    known = lives(ann, "Porto", FIRST)
    left = store(ann, "I left Porto last Friday and on Monday I move to Cork.", at=FIRST + YEAR)
    ended = core(left, {"valid_to": "2021-01-01"}, operation="update", target=known.item_id)
    applied(ann, (left, ended), (left, home_in(left, "Cork", valid_from="2021-01-04")))
    days = ["2020-12-31", "2021-01-02", "2021-01-05"]
    assert [towns(ann, as_of=day) for day in days] == [["Porto"], [], ["Cork"]]


@settings(max_examples=12, **FEW)  # type: ignore[arg-type]
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from(TOWNS[:3])), min_size=1, max_size=6, unique_by=lambda p: p[0]
    )
)
@example([(0, "Porto"), (2, "Porto"), (1, "Hangzhou")])
@example([(0, "Porto"), (2, "Hangzhou"), (1, "Hangzhou")])
@example([(5, "Hangzhou"), (1, "Hangzhou"), (4, "Shanghai"), (2, "Shanghai"), (3, "Hangzhou")])
def test_the_order_of_arrival_changes_nothing(static_memory: Memory, arrivals: list[tuple[int, str]]) -> None:
    user = static_memory.user(f"example {next(_users)}")
    for time, town in arrivals:
        lives(user, town, FIRST + time * YEAR)
    in_order = sorted(arrivals)
    assert towns(user) == [in_order[-1][1]]
    for moment in range(-1, 14):
        past = [town for time, town in in_order if time <= moment]
        expected = past[-1] if past else in_order[0][1]
        assert towns(user, as_of=FIRST + moment * YEAR) == [expected], moment
    assert len(sources_of(user)) == len(arrivals)


def intervals(items: Sequence[MemoryItem]) -> list[tuple[datetime, datetime]]:
    """When the items were true, in order."""
    far, long_ago = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)
    spans = [(item.valid_from or long_ago, item.valid_to or far) for item in items
             if item.status == "active" or (item.status == "superseded" and item.valid_to is not None)]  # fmt: skip
    return sorted(span for span in spans if span[0] < span[1])


def action(town: str, **given: Any) -> dict[str, Any]:
    """A step of the property below: at time 0 and without times of its own unless given."""
    return {"do": "add", "town": town, "time": 0, "since": None, "until": None, "pick": 0, **given}


_when, _may_be = st.integers(0, 12), st.none() | st.integers(0, 12)
_do = st.sampled_from(["add", "add", "add", "supersede", "update", "remove", "undo", "again"])
_action = st.builds(
    action, st.sampled_from(TOWNS[:4]), do=_do, time=_when, since=_may_be, until=_may_be, pick=st.integers(0, 20)
)


@settings(max_examples=14, **FEW)  # type: ignore[arg-type]
@given(st.lists(_action, min_size=1, max_size=7))
@example([*[action("Hangzhou")] * 3, action("Shanghai"), action("Hangzhou", do="update", since=0, pick=1),
          action("Hangzhou"), action("Hangzhou", do="again", pick=10)])  # fmt: skip
@example([*[action("Hangzhou")] * 4, action("Shanghai"), action("Hangzhou", do="update", since=1, until=4)])
@example([action("Hangzhou"), action("Shanghai", time=3), action("Shanghai"), action("", do="undo"),
          action("Hangzhou"), action("", do="again", pick=2)])  # fmt: skip
def test_one_value_is_current_and_no_two_overlap(static_memory: Memory, actions: list[dict[str, Any]]) -> None:
    user = static_memory.user(f"example {next(_users)}")
    done: list[tuple[Step, Proposal]] = []
    cited: set[str] = set()
    for position, given_action in enumerate(actions):
        do, pick = given_action["do"], given_action["pick"]
        if do == "again" and done:
            before = [item.model_dump() for item in user.items(superseded=True)]
            assert applied(user, done[pick % len(done)])[0].applied in ("noop", None)
            assert [item.model_dump() for item in user.items(superseded=True)] == before
            continue
        if do == "undo":
            operations = [o for o in user.history() if o.undone_by is None and o.kind not in ("undo", "redact")]
            if operations:
                user.undo(operations[-1].id)
                cited = sources_of(user)
            continue
        at = FIRST + given_action["time"] * YEAR + position * timedelta(days=1)
        step = store(user, f"About {given_action['town']}, number {position}", at=at)
        times = {
            name: (FIRST + given_action[key] * YEAR).isoformat()
            for name, key in (("valid_from", "since"), ("valid_to", "until"))
            if given_action[key] is not None
        }
        targets = [item.id for item in user.items("core", superseded=True)]
        target = targets[pick % len(targets)] if targets and do != "add" else None
        operation = "add" if target is None or do == "again" else do
        wanted = home_in(step, given_action["town"], operation=operation, target=target, **times)
        outcome = applied(user, (step, wanted))[0]
        if outcome.applied:  # one that was refused may have a place later
            done.append((step, wanted))
            cited = sources_of(user) if outcome.applied == "remove" else cited | {step.id}
        items = user.items("core", superseded=True)
        assert sum(item.status == "active" for item in items) <= 1
        spans = intervals(items)
        assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans)), spans
        assert cited <= sources_of(user)


def test_a_corrected_value_was_never_true_but_believed_and_stays_undone(ann: UserMemory) -> None:
    known = lives(ann, "Cork", FIRST)
    before = datetime.now(UTC)
    step = store(ann, "It is Galway really.", at=FIRST + YEAR)
    correction = home_in(step, "Galway", operation="update", target=known.item_id)
    outcome = applied(ann, (step, correction))[0]
    assert outcome.applied == "update"
    assert towns(ann) == towns(ann, superseded=True) == towns(ann, as_of=FIRST) == ["Galway"]
    assert towns(ann, known_at=before) == ["Cork"]
    assert len(sources_of(ann)) == 2
    ann.undo(outcome.operation_id or "")
    assert applied(ann, (step, correction))[0].applied == "noop"  # a resumed job does not do it again
    assert towns(ann) == ["Cork"]


def test_items_that_end_are_closed_with_the_item_that_states_it_unless_stated_again_later(ann: UserMemory) -> None:
    home, job = lives(ann, "Cork", FIRST), fact(ann, FIRST, "I cook at Fenwick.", "job", "cooks at Fenwick")
    ends = (home.item_id or "", job.item_id or "", "item_none")
    for at, operation in ((FIRST - YEAR, "add"), (FIRST + YEAR, "supersede")):
        step = store(ann, f"I am travelling the world from {at:%Y} on.", at=at)
        travels = core(step, {"label": "life", "value": f"travels since {at:%Y}"}, ends=ends)
        outcome = applied(ann, (step, travels))[0]
        assert outcome.applied == operation
    assert [ann.get(item).valid_to for item in ends[:2]] == [FIRST + YEAR] * 2  # type: ignore[union-attr]
    assert not {*ends} & {item.id for item in ann.items()}
    assert applied(ann, (step, travels))[0].applied == "noop"
    ann.undo(outcome.operation_id or "")
    assert {*ends[:2]} <= {item.id for item in ann.items()}


def test_an_event_that_is_moved_or_cancelled_was_true_at_no_time(ann: UserMemory) -> None:
    texts = ("Dentist on 12 May.", "They moved it to 13 May.")
    pairs = []
    for hour, (text, day) in enumerate(zip(texts, ("2020-05-12", "2020-05-13"), strict=True)):
        step = store(ann, text, at=FIRST + timedelta(hours=hour))
        values = {"summary": f"dentist ({day})", "occurred_at": day, "metadata": {"slot": "event.x"}}
        pairs.append((step, core(step, values, kind="episodic")))
    assert [outcome.applied for outcome in applied(ann, *pairs)] == ["add", "supersede"]
    for when in (None, "2020-06-01"):
        (item,) = ann.items(as_of=when)
        assert item.summary == "dentist (2020-05-13)"  # type: ignore[attr-defined]
    step = store(ann, "The dentist is off.", at=FIRST + timedelta(days=9))
    cancelled = core(step, {"summary": "cancelled the dentist"}, kind="episodic", operation="supersede", target=item.id)
    assert applied(ann, (step, cancelled))[0].applied == "supersede"
    assert [each.text.split("\n")[0] for each in ann.items(as_of="2020-07-01")] == ["cancelled the dentist"]


def test_values_exclude_each_other_in_one_slot_of_one_person_alone(ann: UserMemory) -> None:
    def slot(name: str) -> dict[str, Any]:
        return {"metadata": {"slot": name}}

    fact(ann, FIRST, "Declan lives in Porto.", "Declan", "Declan lives in Porto", **slot("declan.home_city"))
    fact(ann, FIRST, "Declan has a dog.", "Declan", "Declan has a dog")
    fact(ann, FIRST, "Nora lives in Leeds.", "Nora", "Nora lives in Leeds", **slot("nora.home_city"))
    same = slot(" Declan . Ｈome City")  # compared without case, spaces and width
    fact(ann, FIRST + YEAR, "Declan moved to Cork!", "Declan", "Declan lives in Cork", **same)
    summaries = [item.summary for item in ann.items("semantic")]  # type: ignore[attr-defined]
    assert summaries == ["Declan has a dog", "Nora lives in Leeds", "Declan lives in Cork"]
    for number, value in enumerate(("walnut", "coriander")):
        step = store(ann, f"There is {value}.", at=FIRST + number * YEAR)
        assert applied(ann, (step, core(step, {"label": "home_city", "value": value})))[0].applied == "add"
    assert towns(ann) == ["walnut", "coriander"]


def test_a_plan_that_came_about_early_or_was_given_up_is_superseded(ann: UserMemory) -> None:
    for plan, town, stated in (("Porto", "Cork", {}), ("Galway", "Sligo", {"valid_from": FIRST + YEAR / 4})):
        planned = lives(ann, plan, FIRST, valid_from=FIRST + YEAR, metadata={})
        now = lives(ann, town, FIRST + YEAR / 2, operation="supersede", target=planned.item_id, metadata={}, **stated)
        assert now.applied == "supersede"
        assert towns(ann) == towns(ann, as_of=FIRST + 2 * YEAR) == [town]
        assert ann.get(planned.item_id or "").status == "superseded"  # type: ignore[union-attr]
        ann.remove(now.item_id or "")


def test_the_same_value_in_other_letters_joins_and_a_longer_one_supersedes(ann: UserMemory) -> None:
    lives(ann, "Galway", FIRST)
    assert lives(ann, "galway.", FIRST + YEAR).applied == "merge"
    assert lives(ann, "Salthill, Galway", FIRST + 2 * YEAR).applied == "supersede"
    assert towns(ann) == ["Salthill, Galway"]
    assert ann.items("core")[0].metadata["slot"] == "home_city"
