"""Weights of the model in ``returns``, in the order of its ``FEATURES``; written by ``scripts/learn_scope_returns.py``."""

from __future__ import annotations

from typing import Final

__all__ = ["REPLY_WEIGHTS", "STEP_WEIGHTS"]

STEP_WEIGHTS: Final = (
    2.31,  # name
    1.1,  # plain
    1.56,  # definite
    1.39,  # anchored
    0.06,  # common
    1.5,  # signs
    0.71,  # own_name
    0.72,  # own_plain
    1.66,  # own_signs
    0.1,  # cosine
    -1.26,  # recent
    0.11,  # same_trip
    3.12,  # trip_named
    1.39,  # trip_words
    2.33,  # date_led
    1.13,  # date
    0.02,  # date_mentioned
    1.51,  # stepped
    4.08,  # ruled
    0.04,  # ruled_near
    1.49,  # hinted
    1.08,  # called
    2.03,  # called_hint
    0.63,  # meal_missing
    4.99,  # back
    1.1,  # new
    1.47,  # new_trip
    1.57,  # whole_day
    1.57,  # untold
    2.07,  # arrives
    2.3,  # leaves
    0.57,  # lodging
    1.39,  # here
    0.74,  # here_asked
    1.61,  # here_offered
    -0.38,  # here_confirmed
    1.71,  # here_short
    -0.93,  # here_question
    -1.42,  # here_turning
    -1.04,  # here_one_more
    -1.32,  # here_goes_to
    -0.76,  # here_resume
    0.24,  # here_and
    -0.12,  # here_anaphoric
    1.7,  # here_young
    1.58,  # here_repeats
    -1.14,  # here_shares
    1.96,  # here_answers
    2.15,  # here_this
    0.85,  # here_tied
    0.47,  # here_said
    0.22,  # here_entered
    0.65,  # here_told
    1.03,  # here_yes
    0.2,  # left_untold
    -0.55,  # beside
)
REPLY_WEIGHTS: Final = (
    0.79,  # name
    0.14,  # plain
    0.07,  # definite
    0.58,  # anchored
    0.0,  # common
    0.47,  # signs
    0.11,  # own_name
    0.0,  # own_plain
    0.48,  # own_signs
    0.0,  # cosine
    0.0,  # recent
    0.0,  # same_trip
    1.4,  # trip_named
    0.62,  # trip_words
    1.37,  # date_led
    0.52,  # date
    0.0,  # date_mentioned
    0.0,  # stepped
    0.0,  # ruled
    0.0,  # ruled_near
    0.81,  # hinted
    0.0,  # called
    0.0,  # called_hint
    0.0,  # meal_missing
    0.0,  # back
    0.0,  # new
    0.0,  # new_trip
    0.0,  # whole_day
    0.0,  # untold
    0.97,  # arrives
    1.06,  # leaves
    0.09,  # lodging
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
    0.0,  # left_untold
    0.0,  # beside
)
