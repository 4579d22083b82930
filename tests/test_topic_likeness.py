"""Whether a run has come to talk about something else is told by vectors without what all texts have in common."""

from __future__ import annotations

import numpy as np
import pytest

from hexamem import MiddlewareSettings
from hexamem.intent.topic_likeness import TopicLikeness
from hexamem.stores.embedders import open_embedder

BOUND = MiddlewareSettings().topic_shift or 0.0
LIKENESS = TopicLikeness(open_embedder("bundled").embed_documents)

BAKERY = "I'd like ideas for the window of our bakery, with marzipan pigs. Read me my newest mail first."
OVEN = (
    "Dear Mr Dahl, we have mislaid the sheet for your leaking oven: on which day and at what hour did we agree that our "
    "engineer comes, and what is his name? Kind regards"
)
# What was asked first, what is talked about then, and whether that is something else.
CASES = [
    (BAKERY, OVEN, True),
    (BAKERY, "Which tablets for blood pressure do you take, and at what hour?", True),
    (BAKERY, "The marzipan for the pigs costs four pounds a kilo this year.", False),
    ("Where does the red bicycle stand?", "Aunt Rosa is allergic to walnuts in cakes.", True),
    ("Where does the red bicycle stand?", "The bicycle stands in the cellar.", False),
    ("Plan my trip to Lisbon in May.", "Build 4711 failed: 3 tests of the payment service are red.", True),
    ("Plan my trip to Lisbon in May.", "Flights to Lisbon in May: 7:10 and 18:40, from 89 euros.", False),
    ("Why does the build of the payment service fail?", "test_refund failed in the payment service's build", False),
    ("What should I cook for my parents?", "Your tax return is due; the office wants the receipts for 2025.", True),
    ("What should I cook for my parents?", "A recipe: cook the lentils with carrots and serve them with rice.", False),
    ("我想给孩子买一把吉他。", "医院通知您下周三上午九点复查血压。", True),
    ("我想给孩子买一把吉他。", "这家店的儿童吉他打八折。", False),
]


def test_most_changes_of_topic_are_recognised_and_most_continuations_are_not_taken_for_one() -> None:
    wrong = [case for case in CASES if (LIKENESS.likest(case[1], [case[0]]) < BOUND) is not case[2]]
    assert len(wrong) <= 2, wrong


def test_of_several_topics_the_likest_counts() -> None:
    alone = LIKENESS.likest(OVEN, [OVEN])
    assert alone == pytest.approx(1, abs=1e-5)
    assert LIKENESS.likest(OVEN, [BAKERY, OVEN]) == pytest.approx(alone)


def test_of_what_the_embedder_does_not_know_no_topic_is_told() -> None:
    nothing = TopicLikeness(lambda texts: np.zeros((len(texts), 4), np.float32))
    assert nothing.likest("blorbs", ["What should I cook?"]) == 1


def test_where_there_are_no_topics_nothing_is_like_them() -> None:
    assert LIKENESS.likest(OVEN, []) == -1
