"""Weights of the model in ``returns``, in the order of its ``FEATURES``; written by ``scripts/learn_scope_returns.py``."""

from __future__ import annotations

from typing import Final

__all__ = ["REPLY_WEIGHTS", "STEP_WEIGHTS"]

STEP_WEIGHTS: Final = (
    2.28,  # name
    1.06,  # plain
    1.54,  # definite
    1.27,  # anchored
    0.06,  # common
    1.51,  # signs
    0.66,  # own_name
    0.71,  # own_plain
    1.66,  # own_signs
    0.12,  # cosine
    -1.36,  # recent
    0.06,  # same_trip
    3.13,  # trip_named
    1.38,  # trip_words
    2.36,  # date_led
    0.95,  # date
    0.0,  # date_mentioned
    1.51,  # stepped
    4.03,  # ruled
    -0.12,  # ruled_near
    1.47,  # hinted
    1.11,  # called
    2.03,  # called_hint
    0.59,  # meal_missing
    4.99,  # back
    0.98,  # new
    1.47,  # new_trip
    1.56,  # whole_day
    1.56,  # untold
    1.92,  # arrives
    2.36,  # leaves
    0.55,  # lodging
    1.6,  # here
    0.58,  # here_asked
    1.69,  # here_offered
    -0.09,  # here_confirmed
    1.75,  # here_short
    -1.02,  # here_question
    -1.39,  # here_turning
    -1.06,  # here_one_more
    -1.41,  # here_goes_to
    -0.81,  # here_resume
    0.27,  # here_and
    -0.09,  # here_anaphoric
    1.72,  # here_young
    1.59,  # here_repeats
    -1.06,  # here_shares
    1.96,  # here_answers
    2.11,  # here_this
    0.85,  # here_tied
    0.48,  # here_said
)
REPLY_WEIGHTS: Final = (
    0.73,  # name
    0.11,  # plain
    0.06,  # definite
    0.39,  # anchored
    0.0,  # common
    0.43,  # signs
    0.07,  # own_name
    0.0,  # own_plain
    0.45,  # own_signs
    0.0,  # cosine
    0.0,  # recent
    0.0,  # same_trip
    1.38,  # trip_named
    0.66,  # trip_words
    1.41,  # date_led
    0.53,  # date
    0.0,  # date_mentioned
    0.0,  # stepped
    0.0,  # ruled
    0.0,  # ruled_near
    0.85,  # hinted
    0.0,  # called
    0.0,  # called_hint
    0.0,  # meal_missing
    0.0,  # back
    0.0,  # new
    0.0,  # new_trip
    0.0,  # whole_day
    0.0,  # untold
    1.01,  # arrives
    1.03,  # leaves
    0.07,  # lodging
    0.0,  # here
    0.0,  # here_asked
    0.0,  # here_offered
    0.0,  # here_confirmed
    0.0,  # here_short
    0.0,  # here_question
    0.0,  # here_turning
    0.0,  # here_one_more
    0.0,  # here_goes_to
    0.0,  # here_resume
    0.0,  # here_and
    0.0,  # here_anaphoric
    0.0,  # here_young
    0.0,  # here_repeats
    0.0,  # here_shares
    0.0,  # here_answers
    0.0,  # here_this
    0.0,  # here_tied
    0.0,  # here_said
)
