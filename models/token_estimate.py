"""Estimates the tokens of a call in advance, with a factor for each script that is learned from reported usage."""

from __future__ import annotations

import re
from collections.abc import Callable
from threading import Lock
from typing import Literal

from hexamem.models.tokens import count_tokens

__all__ = ["Script", "TokenEstimator", "script_of"]

Script = Literal["cjk", "latin"]

_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_FACTORS: dict[Script, float] = {"cjk": 1.2, "latin": 1.15}  # for safety, although the bundled tokenizer counts high
_LOWEST, _HIGHEST = 0.8, 4.0
_FEW = 50  # in shorter prompts the frame of a request hides the ratio of its text
_FADE = 0.1


def script_of(text: str) -> Script:
    """The script of a text: CJK if at least a fifth of its characters are Chinese, Japanese or Korean."""
    return "cjk" if len(_CJK.findall(text)) * 5 > len(text) else "latin"


class TokenEstimator:
    """Counts tokens offline, on the high side, and adjusts to the usage that a model reports.

    Use one object for each model, since each has its own tokenizer. A report above the estimate raises the factor of the
    script at once; reports below it lower it slowly, since only a low estimate can exceed a budget. Thread-safe.

    Args:
        counter: counts the tokens of a text in place of the bundled tokenizer.
    """

    def __init__(self, counter: Callable[[str], int] = count_tokens) -> None:
        self._count = counter
        self._lock = Lock()
        self._factors = dict(_FACTORS)

    def estimate(self, text: str) -> int:
        """The estimated tokens of a text, rather too many than too few."""
        return round(self._count(text) * self.factor(script_of(text))) + 1 if text else 0

    def factor(self, script: Script) -> float:
        """The present factor on the offline count of a script."""
        with self._lock:
            return self._factors[script]

    def observe(self, text: str, reported: int) -> None:
        """Adjust the factor to the reported input tokens of a text."""
        counted = self._count(text)
        if counted < _FEW or reported <= 0:
            return
        script = script_of(text)
        ratio = reported / counted
        with self._lock:
            old = self._factors[script]
            new = ratio * 1.05 if ratio > old else old + _FADE * (ratio * 1.05 - old)
            self._factors[script] = min(_HIGHEST, max(_LOWEST, new))
