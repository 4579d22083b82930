"""Weights of the model in ``returns``, in the order of its ``FEATURES``; written by ``scripts/learn_scope_returns.py``."""

from __future__ import annotations

from typing import Final

__all__ = ["REPLY_WEIGHTS", "STEP_WEIGHTS"]

STEP_WEIGHTS: Final = (
    2.96,  # name
    1.22,  # plain
    2.03,  # definite
    1.99,  # anchored
    0.09,  # common
    2.72,  # signs
    1.25,  # own_name
    0.8,  # own_plain
    2.49,  # own_signs
    1.02,  # cosine
    -1.5,  # recent
    -0.49,  # same_trip
    3.79,  # trip_named
    2.23,  # date_led
    1.93,  # date
    0.13,  # date_mentioned
    0.83,  # meal_missing
    5.0,  # back
    1.3,  # new
    1.18,  # whole_day
    2.15,  # arrives
    3.47,  # leaves
    0.82,  # lodging
    1.57,  # here
    0.3,  # here_asked
    2.52,  # here_offered
    -0.37,  # here_confirmed
    1.74,  # here_short
    -0.99,  # here_question
    -2.4,  # here_turning
    -0.21,  # here_anaphoric
    2.11,  # here_young
    2.32,  # here_repeats
    -1.29,  # here_shares
    1.43,  # here_answers
    1.08,  # here_this
)
REPLY_WEIGHTS: Final = (
    0.47,  # name
    0.0,  # plain
    0.0,  # definite
    0.0,  # anchored
    0.0,  # common
    0.31,  # signs
    0.66,  # own_name
    0.0,  # own_plain
    0.11,  # own_signs
    0.0,  # cosine
    0.0,  # recent
    0.0,  # same_trip
    1.55,  # trip_named
    3.2,  # date_led
    0.61,  # date
    0.0,  # date_mentioned
    0.0,  # meal_missing
    0.0,  # back
    0.0,  # new
    0.0,  # whole_day
    0.19,  # arrives
    0.66,  # leaves
    0.0,  # lodging
    0.0,  # here
    0.0,  # here_asked
    0.0,  # here_offered
    0.0,  # here_confirmed
    0.0,  # here_short
    0.0,  # here_question
    0.0,  # here_turning
    0.0,  # here_anaphoric
    0.0,  # here_young
    0.0,  # here_repeats
    0.0,  # here_shares
    0.0,  # here_answers
    0.0,  # here_this
)
