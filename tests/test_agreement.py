"""Agreement of induced with gold labels: small cases worked by hand, and what the runner makes of them."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from hexamem.errors import InvalidInputError
from hexamem.evals import Conversation, EvalMessage, InducedLabels, Question, evaluate, print_report
from hexamem.evals.agreement import NOT_MEASURABLE, AgreementTally, agreement, induced_labels


def test_equal_partitions_agree_whatever_the_labels_are_called() -> None:
    found = agreement(["a", "a", "b", "b"], ["2", "2", "1", "1"])
    assert found == {
        "ami": pytest.approx(1),
        "v_measure": pytest.approx(1),
        "homogeneity": pytest.approx(1),
        "completeness": pytest.approx(1),
        "n_labels": 2,
        "n_gold": 2,
        "n_steps": 4,
        "n_unlabelled": 0,
    }


def test_one_label_for_everything_is_complete_and_tells_nothing() -> None:
    found = agreement(["a", "a", "b", "b"], ["x"] * 4)
    assert (found["ami"], found["homogeneity"], found["completeness"], found["v_measure"]) == (0, 0, 1, 0)


def test_a_class_cut_in_two_is_homogeneous_and_half_complete() -> None:
    # H(gold) = ln 2, H(induced) = 3/2 ln 2, both gold classes pure: completeness = 1 - (1/2 ln 2)/(3/2 ln 2) = 2/3.
    found = agreement(["a", "a", "b", "b"], ["1", "2", "3", "3"])
    assert found["homogeneity"] == pytest.approx(1)
    assert found["completeness"] == pytest.approx(2 / 3)
    assert found["v_measure"] == pytest.approx(0.8)


def test_mutual_information_is_adjusted_for_chance() -> None:
    # Pairs against crossed pairs: MI = 0. Of 3 ways to pair 4 steps one equals gold, so E[MI] = (ln 2) / 3, and
    # AMI = (0 - ln2/3) / (ln2 - ln2/3) = -1/2.
    assert agreement(["a", "a", "b", "b"], ["1", "2", "1", "2"])["ami"] == pytest.approx(-0.5)


def test_a_label_of_its_own_for_every_step_is_worth_nothing() -> None:
    found = agreement(["a", "a", "b", "b"], ["1", "2", "3", "4"])
    assert found["ami"] == pytest.approx(0, abs=1e-9)
    assert found["homogeneity"] == pytest.approx(1)
    assert found["completeness"] == pytest.approx(math.log(2) / math.log(4))


def test_steps_without_a_label_count_as_one_label_but_are_not_counted_as_one() -> None:
    found = agreement(["a", "a", "b", "b"], ["1", "1", None, None])
    assert (found["ami"], found["n_labels"], found["n_unlabelled"]) == (pytest.approx(1), 1, 2)


def test_one_gold_class_is_not_measurable_and_says_so() -> None:
    found = agreement(["a", "a"], ["1", "2"])
    assert found["ami"] is None
    assert found["v_measure"] is None
    assert (found["n_labels"], found["n_gold"], found["note"]) == (2, 1, NOT_MEASURABLE)


def test_labels_of_different_steps_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="2 gold labels for 1"):
        agreement(["a", "b"], ["1"])


def talk(
    gold: Sequence[tuple[Sequence[str] | str | None, str | None]], name: str = "one"
) -> tuple[Conversation, dict[str, str]]:
    """A conversation whose turn ``t0``, … has that partition and action; step ``s0`` is turn ``t0``."""
    turns = [f"t{number}" for number in range(len(gold))]
    marks = {
        turn: {"partition": partition, "action": action} for turn, (partition, action) in zip(turns, gold, strict=True)
    }
    messages = tuple(EvalMessage(turn, "user", None, f"words {turn}", thread_id="x") for turn in turns)
    question = Question(f"{name}-q", "words t0?", "t0", "type 1", ("t0",))
    return Conversation(name, messages, (question,), gold=marks), {f"s{turn[1:]}": turn for turn in turns}


def labels(*scopes: str | None, events: Sequence[Sequence[str]] | None = None) -> dict[str, InducedLabels]:
    kinds = events or [()] * len(scopes)
    return {
        f"s{number}": InducedLabels(scope, coarse_events=tuple(kind))
        for number, (scope, kind) in enumerate(zip(scopes, kinds, strict=True))
    }


def test_scopes_are_compared_with_the_whole_partition_and_the_best_level_is_told() -> None:
    gold = [(["trip-1", "day-1"], None), (["trip-1", "day-2"], None), (["trip-2", "day-1"], None)] * 2
    conversation, turn_of = talk(gold)
    tally = AgreementTally()
    tally.add(conversation, turn_of, labels(*["lisbon", "lisbon", "oslo"] * 2))
    found = tally.scope()
    assert found is not None
    assert found["n_gold"] == 3
    assert found["homogeneity"] < 1
    assert found["best_level"]["level"] == 1
    assert found["best_level"]["n_gold"] == 2
    assert found["best_level"]["ami"] == pytest.approx(1)


def test_the_same_inner_name_under_two_outer_ones_is_two_gold_classes() -> None:
    conversation, turn_of = talk([(["trip-1", "day-1"], None), (["trip-2", "day-1"], None)] * 2)
    tally = AgreementTally()
    tally.add(conversation, turn_of, labels("a", "b", "a", "b"))
    assert (tally.scope() or {})["n_gold"] == 2


def test_the_main_coarse_event_is_compared_with_the_action() -> None:
    conversation, turn_of = talk([("x", "ASK"), ("x", "TELL"), ("y", "ASK"), ("y", "TELL")])
    tally = AgreementTally()
    induced = labels(*"abcd", events=[["q", "z"], ["r"], ["q"], ["r", "q"]])
    tally.add(conversation, turn_of, induced)
    assert (tally.events() or {})["ami"] == pytest.approx(1)


def test_steps_without_gold_are_left_out() -> None:
    conversation, turn_of = talk([("x", None), (None, None), ("y", "ASK"), ([], None)])
    tally = AgreementTally()
    tally.add(conversation, turn_of, labels("1", "1", "2", "2"))
    scope, events = tally.scope(), tally.events()
    assert scope is not None
    assert (scope["n_steps"], scope["ami"]) == (2, pytest.approx(1))
    assert events is not None
    assert (events["n_steps"], events["note"]) == (1, NOT_MEASURABLE)


def test_conversations_count_by_their_steps_and_unmeasurable_ones_only_in_the_note() -> None:
    tally = AgreementTally()
    for gold, scopes in (
        ("aabb", "1122"),  # AMI 1, 4 steps
        ("aabbaabb", "11111111"),  # AMI 0, 8 steps
        ("aa", "12"),  # not measurable
    ):
        conversation, turn_of = talk([(one, None) for one in gold])
        tally.add(conversation, turn_of, labels(*scopes))
    found = tally.scope()
    assert found is not None
    assert found["ami"] == pytest.approx(1 / 3)
    assert (found["n_steps"], found["n_gold"]) == (14, 5)
    assert found["note"] == f"1 of 3 conversations {NOT_MEASURABLE}"


class _User:
    """Recalls nothing; its labels are what a memory with labels would give, or missing."""

    def __init__(self, induced: Mapping[str, InducedLabels] | None) -> None:
        if induced is not None:
            self.labels = SimpleNamespace(induced=lambda: induced)

    def remember(self, messages: list[dict[str, Any]], *, thread_id: str) -> Any:
        return SimpleNamespace(step_ids=[f"s{number}" for number in range(len(messages))], degraded=())

    def flush(self) -> None:
        pass

    def recall(self, query: str, *, k: int, strategy: str) -> Any:
        return SimpleNamespace(hits=(), text="", tokens=0, degraded=())


def memory_of(user: _User) -> AbstractContextManager[Any]:
    return nullcontext(SimpleNamespace(user=lambda user_id: user))


def test_the_runner_reads_the_labels_after_storing_and_the_report_shows_them() -> None:
    conversation, _ = talk([("x", "ASK"), ("y", "TELL")] * 2)
    user = _User(labels("1", "2", "1", "2", events=[["q"], ["q"], ["q"], ["q"]]))
    (result,) = evaluate(lambda: memory_of(user), [conversation], ["none"])
    assert result["scope"]["ami"] == pytest.approx(1)
    assert result["events"]["homogeneity"] == 0
    assert {"ami", "v_measure", "homogeneity", "completeness", "n_labels", "n_gold"} <= result["scope"].keys()
    shown = io.StringIO()
    print_report([result], Console(file=shown, width=120))
    assert "induced labels against gold labels" in shown.getvalue()


def test_a_memory_without_labels_gives_null() -> None:
    conversation, _ = talk([("x", "ASK"), ("y", "TELL")])
    (result,) = evaluate(lambda: memory_of(_User(None)), [conversation], ["none"])
    assert (result["scope"], result["events"]) == (None, None)


def test_labels_may_come_from_elsewhere() -> None:
    conversation, _ = talk([("x", "ASK"), ("y", "TELL")])
    given = labels("1", "2", events=[["q"], ["r"]])
    (result,) = evaluate(lambda: memory_of(_User(None)), [conversation], ["none"], induced=lambda user: given)
    assert result["scope"]["n_labels"] == 2


def test_labels_are_asked_of_a_user_that_has_them() -> None:
    assert induced_labels(_User(None)) is None
    assert induced_labels(_User(labels("1"))) == labels("1")
