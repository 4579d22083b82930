"""Estimating a model's tokens before a call, with a factor a script that learns from what the model reports."""

from __future__ import annotations

import re
from collections.abc import Callable
from threading import Lock
from typing import Literal

from hexamem.models.tokens import count_tokens

__all__ = ["Script", "TokenEstimator", "script_of"]

Script = Literal["cjk", "latin"]

_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_FACTORS: dict[Script, float] = {"cjk": 1.2, "latin": 1.15}  # the bundled tokenizer counts high; this is for safety
_LOWEST, _HIGHEST = 0.8, 4.0
_FEW = 50  # in shorter prompts the frame of a request hides the ratio of its text
_FADE = 0.1


def script_of(text: str) -> Script:
    """Whether a text is mainly Chinese, Japanese or Korean: every fifth character is enough."""
    return "cjk" if len(_CJK.findall(text)) * 5 > len(text) else "latin"


class TokenEstimator:
    """Counts tokens offline, on the high side, and corrects itself by the usage that a model reports.

    One object a model: each model has its own tokenizer. A report above the estimate raises the script's factor at
    once; reports below it lower the factor slowly, since a budget is broken by too little and only delayed by too
    much. Safe to share between threads.

    Args:
        counter: counts the tokens of a text in place of the bundled tokenizer.
    """

    def __init__(self, counter: Callable[[str], int] = count_tokens) -> None:
        self._count = counter
        self._lock = Lock()
        self._factors = dict(_FACTORS)

    def estimate(self, text: str) -> int:
        """About how many tokens the model reads in the text, rather too many than too few."""
        return round(self._count(text) * self.factor(script_of(text))) + 1 if text else 0

    def factor(self, script: Script) -> float:
        """The factor on the offline count that is in force for a script."""
        with self._lock:
            return self._factors[script]

    def observe(self, text: str, reported: int) -> None:
        """Compare the offline count of what was sent with the tokens that the model says it read."""
        counted = self._count(text)
        if counted < _FEW or reported <= 0:
            return
        script = script_of(text)
        seen = reported / counted
        with self._lock:
            old = self._factors[script]
            new = seen * 1.05 if seen > old else old + _FADE * (seen * 1.05 - old)
            self._factors[script] = min(_HIGHEST, max(_LOWEST, new))
