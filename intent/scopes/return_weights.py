"""Weights of the model in ``returns``, in the order of its ``FEATURES``; written by ``scripts/learn_scope_returns.py``."""

from __future__ import annotations

from typing import Final

__all__ = ["REPLY_WEIGHTS", "STEP_WEIGHTS"]

STEP_WEIGHTS: Final = (
    2.27,  # name
    1.15,  # plain
    1.58,  # definite
    1.35,  # anchored
    0.19,  # common
    1.41,  # signs
    0.68,  # own_name
    0.64,  # own_plain
    1.53,  # own_signs
    0.1,  # cosine
    -1.24,  # recent
    0.17,  # same_trip
    3.11,  # trip_named
    1.34,  # trip_words
    2.35,  # date_led
    1.19,  # date
    -0.04,  # date_mentioned
    1.54,  # stepped
    4.14,  # ruled
    0.05,  # ruled_near
    1.53,  # hinted
    1.06,  # called
    2.02,  # called_hint
    0.6,  # meal_missing
    4.92,  # back
    0.97,  # new
    1.46,  # new_trip
    1.57,  # whole_day
    1.58,  # untold
    2.14,  # arrives
    2.28,  # leaves
    0.57,  # lodging
    1.41,  # here
    0.75,  # here_asked
    1.58,  # here_offered
    -0.31,  # here_confirmed
    1.66,  # here_short
    -0.89,  # here_question
    -1.43,  # here_turning
    -1.02,  # here_one_more
    -1.29,  # here_goes_to
    -0.76,  # here_resume
    0.26,  # here_and
    -0.06,  # here_anaphoric
    1.69,  # here_young
    1.5,  # here_repeats
    -0.99,  # here_shares
    1.96,  # here_answers
    2.11,  # here_this
    0.88,  # here_tied
    0.49,  # here_said
    0.36,  # here_entered
    0.59,  # here_told
    1.03,  # here_yes
    1.53,  # here_recap
    0.23,  # left_untold
    -0.56,  # beside
)
REPLY_WEIGHTS: Final = (
    0.81,  # name
    0.14,  # plain
    0.17,  # definite
    0.56,  # anchored
    0.0,  # common
    0.46,  # signs
    0.12,  # own_name
    0.0,  # own_plain
    0.44,  # own_signs
    0.0,  # cosine
    0.0,  # recent
    0.0,  # same_trip
    1.42,  # trip_named
    0.61,  # trip_words
    1.36,  # date_led
    0.52,  # date
    0.0,  # date_mentioned
    0.0,  # stepped
    0.0,  # ruled
    0.0,  # ruled_near
    0.8,  # hinted
    0.0,  # called
    0.0,  # called_hint
    0.0,  # meal_missing
    0.0,  # back
    0.0,  # new
    0.0,  # new_trip
    0.0,  # whole_day
    0.0,  # untold
    0.98,  # arrives
    1.05,  # leaves
    0.15,  # lodging
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
    0.0,  # here_entered
    0.0,  # here_told
    0.0,  # here_yes
    0.0,  # here_recap
    0.0,  # left_untold
    0.0,  # beside
)
