"""Weights of the model in ``returns``, in the order of its ``FEATURES``; written by ``scripts/learn_scope_returns.py``."""

from __future__ import annotations

from typing import Final

__all__ = ["REPLY_WEIGHTS", "STEP_WEIGHTS"]

STEP_WEIGHTS: Final = (
    2.27,  # name
    1.15,  # plain
    1.62,  # definite
    1.39,  # anchored
    0.12,  # common
    1.42,  # signs
    0.67,  # own_name
    0.64,  # own_plain
    1.55,  # own_signs
    0.11,  # cosine
    -1.25,  # recent
    0.14,  # same_trip
    3.11,  # trip_named
    1.34,  # trip_words
    2.32,  # date_led
    1.21,  # date
    -0.04,  # date_mentioned
    1.51,  # stepped
    4.11,  # ruled
    0.02,  # ruled_near
    1.5,  # hinted
    1.07,  # called
    2.03,  # called_hint
    0.63,  # meal_missing
    4.92,  # back
    1.01,  # new
    1.46,  # new_trip
    1.57,  # whole_day
    1.58,  # untold
    2.14,  # arrives
    2.29,  # leaves
    0.59,  # lodging
    1.38,  # here
    0.77,  # here_asked
    1.6,  # here_offered
    -0.36,  # here_confirmed
    1.68,  # here_short
    -0.92,  # here_question
    -1.44,  # here_turning
    -1.02,  # here_one_more
    -1.3,  # here_goes_to
    -0.76,  # here_resume
    0.23,  # here_and
    -0.08,  # here_anaphoric
    1.7,  # here_young
    1.5,  # here_repeats
    -1.02,  # here_shares
    1.96,  # here_answers
    2.13,  # here_this
    0.89,  # here_tied
    0.5,  # here_said
    0.32,  # here_entered
    0.6,  # here_told
    1.03,  # here_yes
    1.53,  # here_recap
    0.22,  # left_untold
    -0.58,  # beside
)
REPLY_WEIGHTS: Final = (
    0.8,  # name
    0.13,  # plain
    0.13,  # definite
    0.57,  # anchored
    0.0,  # common
    0.45,  # signs
    0.1,  # own_name
    0.0,  # own_plain
    0.43,  # own_signs
    0.0,  # cosine
    0.0,  # recent
    0.0,  # same_trip
    1.41,  # trip_named
    0.62,  # trip_words
    1.39,  # date_led
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
    0.08,  # lodging
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
