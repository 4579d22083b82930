"""Estimates the tokens of a call in advance, with a factor that is learned from reported usage."""

from __future__ import annotations

from threading import Lock

from hexamem.models.tokens import count_tokens

__all__ = ["TokenEstimator"]

_FACTOR = 1.2  # at first, for safety, although the bundled tokenizer counts high
_LOWEST, _HIGHEST = 0.8, 4.0
_FEW = 50  # in shorter prompts the frame of a request hides the ratio of its text
_FADE = 0.1


class TokenEstimator:
    """Counts tokens offline, on the high side, and adjusts to the usage that a model reports.

    Use one object for each model, since each has its own tokenizer. A report above the estimate raises the factor at once;
    reports below it lower it slowly, since only a low estimate can exceed a budget. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._factor = _FACTOR

    def estimate(self, text: str) -> int:
        """The estimated tokens of a text, rather too many than too few."""
        return round(count_tokens(text) * self._factor) + 1 if text else 0

    def observe(self, text: str, reported: int) -> None:
        """Adjust the factor to the reported input tokens of a text."""
        counted = count_tokens(text)
        if counted < _FEW or reported <= 0:
            return
        with self._lock:
            ratio, old = 1.05 * reported / counted, self._factor
            new = ratio if ratio > old else old + _FADE * (ratio - old)
            self._factor = min(_HIGHEST, max(_LOWEST, new))
