"""Scores of an answer in words against gold answers, each as its benchmark's own evaluation computes it.

- LoCoMo (``task_eval/evaluation.py`` of its repository): F1 over stemmed words, by category; 5 asks for abstention.
- HotpotQA (``hotpot_evaluate_v1.py``): exact match and F1 over words, after SQuAD.
- BLEU-1 and the plain F1 as the papers on agent memory report them for LoCoMo (A-Mem; GAM, arXiv 2511.18423).

Word counts overlap as bags: ``same = Σ_w min(count in one, count in the other)``.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from hexamem.errors import ConfigError, InvalidInputError

__all__ = [
    "ABSTENTIONS",
    "bleu1",
    "exact_match",
    "list_f1",
    "locomo_score",
    "plain_f1",
    "squad_f1",
    "stemmed_f1",
]

ABSTENTIONS = ("no information available", "not mentioned")
"""One of these must be in an answer to an unanswerable question of LoCoMo, in any case."""
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LOCOMO_ARTICLES = re.compile(r"\b(a|an|the|and)\b")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_WORD = re.compile(r"[^\w\s]")
_YES_NO = ("yes", "no", "noanswer")


def locomo_score(prediction: str, answer: str, category: str) -> float:
    """LoCoMo's score of one answer, 0 to 1.

    Categories 2 (temporal), 3 (open-domain) and 4 (single-hop): :func:`stemmed_f1`; of category 3's gold answers only
    the part before the first semicolon. 1 (multi-hop): :func:`list_f1`. 5 (adversarial): 1 if the prediction contains
    one of :data:`ABSTENTIONS`, else 0; ``answer`` is not looked at.

    Raises:
        InvalidInputError: for another category.
        ConfigError: the stemmer's package is missing.
    """
    if category == "5":
        return float(any(words in prediction.lower() for words in ABSTENTIONS))
    if category == "1":
        return list_f1(prediction, answer)
    if category in ("2", "3", "4"):
        return stemmed_f1(prediction, answer.partition(";")[0].strip() if category == "3" else answer)
    raise InvalidInputError(f"category {category!r} is none of LoCoMo's: 1, 2, 3, 4, 5")


def stemmed_f1(prediction: str, answer: str) -> float:
    """F1 of the bags of Porter stems. Lower case; punctuation and the words a, an, the, and are left out.

    0 where no word is shared, also where both are empty. The stemmer is NLTK's, in its default (extended) mode.
    """
    stem = _stemmer()
    return _f1([stem(word) for word in _locomo_words(prediction)], [stem(word) for word in _locomo_words(answer)])


def list_f1(prediction: str, answer: str) -> float:
    """For answers that are lists: of each gold part between commas the best F1 with a part of the prediction; the mean.

    What the prediction lists beyond the gold parts costs nothing.
    """
    parts = [part.strip() for part in prediction.split(",")]
    golds = [part.strip() for part in answer.split(",")]
    return math.fsum(max(stemmed_f1(part, gold) for part in parts) for gold in golds) / len(golds)


def plain_f1(prediction: str, answer: str) -> float:
    """F1 of the bags of words: no stems, no lists. 1 where both are empty, 0 where one is."""
    predicted, gold = _plain_words(prediction), _plain_words(answer)
    return 1.0 if not predicted and not gold else _f1(predicted, gold)


def bleu1(prediction: str, answer: str) -> float:
    """BLEU with single words (Papineni et al., 2002): clipped precision times the brevity penalty.

    ``same / |prediction| · min(1, exp(1 - |answer| / |prediction|))``; 0 where either has no words. One reference, no
    smoothing.
    """
    predicted, gold = _plain_words(prediction), _plain_words(answer)
    if not predicted or not gold:
        return 0.0
    return _same(predicted, gold) / len(predicted) * min(1.0, math.exp(1 - len(gold) / len(predicted)))


def squad_f1(prediction: str, answers: Sequence[str]) -> float:
    """HotpotQA's F1, the best over the gold answers; ``yes``, ``no`` and ``noanswer`` must match exactly.

    Raises:
        InvalidInputError: there is no gold answer.
    """
    return _best(_squad_f1, prediction, answers)


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """1 if the prediction is one of the gold answers, case, punctuation and articles aside. Raises as `squad_f1`."""
    return _best(lambda predicted, gold: float(_squad_words(predicted) == _squad_words(gold)), prediction, answers)


def _squad_f1(prediction: str, answer: str) -> float:
    predicted, gold = _squad_words(prediction), _squad_words(answer)
    if predicted != gold and any(" ".join(words) in _YES_NO for words in (predicted, gold)):
        return 0.0
    return _f1(predicted, gold)


def _best(score: Callable[[str, str], float], prediction: str, answers: Sequence[str]) -> float:
    if not answers:
        raise InvalidInputError("a question without a gold answer has no score")
    return max(score(prediction, answer) for answer in answers)


def _f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    same = _same(predicted, gold)
    if not same:
        return 0.0
    precision, recall = same / len(predicted), same / len(gold)
    return 2 * precision * recall / (precision + recall)


def _same(predicted: Sequence[str], gold: Sequence[str]) -> int:
    return (Counter(predicted) & Counter(gold)).total()


def _locomo_words(text: str) -> list[str]:
    return _LOCOMO_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def _squad_words(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def _plain_words(text: str) -> list[str]:
    return _ARTICLES.sub(" ", _NO_WORD.sub(" ", text.lower())).split()


@cache
def _stemmer() -> Callable[[str], str]:
    try:
        from nltk.stem.porter import PorterStemmer  # type: ignore[import-untyped]
    except ImportError:
        raise ConfigError("LoCoMo's F1 stems words with NLTK, which is not installed; run: pip install nltk") from None
    stem: Callable[[str], str] = PorterStemmer().stem
    return cache(stem)
