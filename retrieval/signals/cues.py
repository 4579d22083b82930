"""What the wording of a question tells about what it wants, in English and Chinese: the inputs of the gate.

Each cue is 0 or 1 (or a share); rules give them, and training learns what each is worth for each signal. The five
operations (temporal ordering, latest filtering, multi-step, threshold filtering, reranking) are shown as the strongest
of their cues.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from hexamem.stores.embedders.base import FloatArray

__all__ = ["CUES", "LABEL_CUES", "OPERATIONS", "cues_of", "operations_of"]

_PATTERNS: Mapping[str, str] = {
    "when": r"\bwhen\b|\bwhat (?:date|day|time)\b|\b(?:which|what) (?:month|year|day|week)\b|什么时候|何时|哪[一]?[天年]|几月|几号|哪个月",
    "where": r"\bwhere\b|\bwhich (?:city|country|place|town|restaurant|hotel)\b|哪里|哪儿|什么地方|哪个(?:城市|地方|国家)|在哪",
    "who": r"\bwho(?:m|se)?\b|谁|哪位",
    "what": r"^\W*what\b|什么",
    "which": r"\bwhich\b|哪个|哪些|哪种|哪家",
    "how_many": r"\bhow (?:many|much|long|often|far|old|tall|big)\b|多少|几[个次位家天年岁]|多久|多长|多大|一共|总共",
    "how": r"^\W*how\b|怎么|怎样|如何",
    "why": r"\bwhy\b|\bwhat (?:made|prompted|caused|motivated|inspired)\b|\breason\b|为什么|为何|原因",
    "yes_no": r"^\W*(?:did|is|was|were|does|do|has|have|had|are|would|could|will|can|should)\b|[吗么][？?]?\s*$|是不是|有没有",
    "inference": r"\b(?:would|might|likely|could|probably|may be|considered|seem)\b|可能|会不会|应该会|大概|推测|适合",
    "list": r"\b(?:kinds?|types?|activities|things|hobbies|items|names|events|places|ways|books|all|both|list|different|various)\b"
    r"|哪些|各|分别|所有|都有|都",
    "plural": r"\b(?:what|which|whose)\s+(?:\w+\s+){0,2}\w{3,}s\b",
    "both": r"\bboth\b|\band\b|\btogether\b|\bin common\b|\bshare[sd]?\b|和|跟|与|都|共同",
    "order": r"\b(?:after|before|during|since|until|first|last|earliest|latest|while|then)\b"
    r"|之前|之后|以前|以后|期间|首先|第一|最后|先|后来",
    "liking": r"\b(?:favou?rite|likes?|loves?|enjoys?|prefers?|hates?|dislikes?)\b|喜欢|最爱|爱|讨厌|偏好",
    "latest": r"\b(?:recent(?:ly)?|currently?|now|latest|still|these days|any ?more|at the moment|up to date|newest)\b"
    r"|最近|目前|现在|如今|最新|还在|眼下",
    "change": r"\b(?:chang\w+|switch\w*|instead|mov\w+ from|used to|originally|at first|no longer|updat\w+|new)\b"
    r"|改|换|原来|原先|本来|不再|最初|最终|后来",
    "compare": r"\b(?:more|less|than|difference|compare[sd]?|longer|earlier|later|between)\b|比|相差|差|多了|少了|之间",
}
_COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _PATTERNS.items()}
LABEL_CUES = ("scope_clear", "scope_wide", "asks_event", "asks_entity")
"""What its labels tell: how clear it is which scope is meant, whether all parts of one are, and what kinds it names."""
CUES: tuple[str, ...] = (*_PATTERNS, "words", "speakers", "two_speakers", "dated", "han", "known", *LABEL_CUES)
"""The names of what :func:`cues_of` gives, in order."""

OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "temporal_ordering": ("when", "order", "dated"),
    "latest_filtering": ("latest", "change"),
    "multi_step": ("list", "plural", "both", "two_speakers", "compare", "how_many"),
    "threshold_filtering": ("yes_no",),
    "semantic_reranking": ("inference", "why", "how"),
}
"""Operation → the cues that call for it."""


def cues_of(question: str, *, words: int, speakers: int, dated: bool, known: float) -> FloatArray:
    """The cues of a question, float32 ``(len(CUES),)``, each from 0 to about 1; those of labels are 0.

    Args:
        question: in English, Chinese, or both.
        words: how many words it has that say something.
        speakers: how many of those who speak in memory it names.
        dated: whether it names a date.
        known: share of its tokens that the embedder has learned.
    """
    values = [float(pattern.search(question) is not None) for pattern in _COMPILED.values()]
    han = float(re.search(r"[\u4e00-\u9fff]", question) is not None)
    values += [
        min(2.0, words / 8.0),
        float(speakers > 0),
        float(speakers > 1),
        float(dated),
        han,
        known,
        *(0.0 for _ in LABEL_CUES),
    ]
    return np.array(values, np.float32)


def operations_of(cues: Sequence[float] | FloatArray) -> dict[str, float]:
    """How much a question calls for each operation, from 0 to 1: the strongest of its cues."""
    given = dict(zip(CUES, map(float, cues), strict=True))
    return {name: min(1.0, max(given[cue] for cue in needed)) for name, needed in OPERATIONS.items()}
