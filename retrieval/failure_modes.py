"""In which ways plain similarity search may fail a question, told from its wording, in English and Chinese.

Four modes, of which a question may have several or none: it asks about time, about what has several versions, for what
stands in several places, or for what memory may not hold at all. Rules read the wording; where the embedder is the one
that they were trained with, weights of a logistic regression on the rules' cues and the question's vector decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load, save

from hexamem.retrieval.ranking_weights import read_metadata
from hexamem.retrieval.signals.cues import CUES, LABEL_CUES, cues_of
from hexamem.stores.embedders.base import FloatArray

__all__ = [
    "FAILURE_MODES",
    "FailureModeWeights",
    "failure_mode_cues",
    "failure_mode_probabilities",
    "failure_modes_by_rules",
    "failure_modes_of",
    "learn_failure_modes",
    "shipped_failure_modes",
]

FAILURE_MODES: tuple[str, ...] = ("temporal", "version_conflict", "aggregation", "existence")
"""F1 to F4, in order."""
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|several|various"
_SEVERAL = (
    rf"\bwh(?:at|ich)\s+(?:are\s+the\s+|were\s+the\s+|(?:{_NUMBERS})\s+)?(?:\w+\s+){{0,2}}(?!his\b|this\b|was\b|does\b|is\b|has\b)"
    r"\w{3,}(?<!ss)(?<!us)(?<!is)s\b(?!\s+of\s+\w+\s+is\b)"
)
_RULES: Mapping[str, tuple[str, ...]] = {
    "temporal": (
        r"\bwhen\s+(?:did|does|do|was|were|is|are|will|has|have|had|would|should|can)\b",
        r"\b(?:what|which|for which|on what|on which|in which|in what)\s+(?:exact\s+)?(?:date|dates|day|days|month|months|year|years|week|"
        r"weekday|time|hour|season)\b",
        r"\bhow\s+(?:long|often|old|soon|late|early|recently)\b|\bhow\s+many\s+(?:days|weeks|months|years|hours|nights|times)\b",
        r"\b(?:final|last|start|starting|due|opening|launch)\s+(?:date|day)s?\b",
        rf"\b(?:{_MONTHS})\b|\b(?:in|on|by|since|until|during|from|early|late)\s+may\b|\b(?:19|20)\d\d\b",
        r"\b(?:spring|summer|autumn|winter|christmas|easter)\b",
        r"\b(?:between|from)\b.+\b(?:and|to|until)\b.+\b(?:year|month|fair|end|start)\b",
        r"什么时候|何时|几月|几号|哪(?:一)?[天年月]|几点|多久|多长时间|多少[天年周月]|几[天年周]|周几|星期几|哪个月",
        r"[一二三四五六七八九十0-9]+月|[春夏秋冬]天|五一|国庆|除夕|春节",
    ),
    "version_conflict": (
        r"\b(?:now|currently|current|latest|newest|still|no longer|any ?more|these days|up to date)\b",
        r"\b(?:final|finally|eventually|actually|in the end|at the end|ended up)\b",
        r"\b(?:chang\w+|switch\w*|instead|originally|initially|at first|first plan\w*|used to|re-?schedul\w+|rebook\w*|postpon\w+|"
        r"put off|moved? (?:from|to)|updat\w+|replac\w+|agreed|extended)\b",
        r"\bhow\b.+\b(?:differ|develop|progress)\w*\b.+\b(?:between|from|to|since)\b",
        r"\bbefore\b.+\b(?:agreed|did|changed|moved)\b",
        r"\b(?:quoted?|planned|promised|first deadline)\b.+\b(?:paid|agreed|final|kept|actual)\w*",
        r"最终|最后|后来|现在|目前|如今|原来|原先|本来|原计划|最早|改到|改成|改为|推迟|先后|前后|变化|不再|换[工了成]|最初|定下",
    ),
    "aggregation": (
        _SEVERAL,
        r"\b(?:both|each|all|every|together|in total|altogether|in common|share|between them)\b",
        r"\bhow\s+(?:many|often)\b.+\b(?:between|during|over|fail|times|report|in all|and)\b|\bhow many times\b|\bhow often\b",
        r"\b(?:compare[sd]?|differ(?:ence)?|exceed|more than|less than|by how much)\b",
        r"\band\s+(?:when|where|why|who|whom|what|which|how|for what|in which|until when|through which)\b",
        r"哪些|哪几|哪两|哪三|分别|各是|各为|各自|一共|总共|两次|几次|加起来|相差|多花|少多少|多多少|先后|前后|除了",
    ),
    "existence": (
        r"^\W*(?:did|does|do|is|was|were|are|has|have|had)\b(?!.*\bor\b)",
        r"\bever\b|\bmention(?:ed)?\b|\bat all\b|\bany(?:one|body|thing|where)?\b",
        r"有没有|是否|是不是|曾经|提到过|说过|[吗么][？?]?\s*$",
    ),
}
_COMPILED = {mode: [re.compile(one, re.IGNORECASE) for one in patterns] for mode, patterns in _RULES.items()}
_FORM = "1"
_OWN_CUES = tuple(f"{mode}_{number}" for mode, patterns in _RULES.items() for number in range(len(patterns)))
_SHARED = len(CUES) - len(LABEL_CUES)
_CUE_NAMES = (*FAILURE_MODES, *_OWN_CUES, *CUES[:_SHARED])


def failure_mode_cues(question: str) -> FloatArray:
    """What the wording shows, float32: whether a rule of each mode meets it and which, and the gate's cues.

    Cues that take a memory (who speaks in it, what its embedder knows) are left at 0.
    """
    met = [[float(pattern.search(question) is not None) for pattern in patterns] for patterns in _COMPILED.values()]
    own = [*(max(one) for one in met), *(value for one in met for value in one)]
    words = len(re.findall(r"[\u4e00-\u9fff]{2}|[^\W\u4e00-\u9fff]+", question)) // 2
    shared = cues_of(question, words=words, speakers=0, dated=False, known=0.0)[:_SHARED]
    return np.array([*own, *shared.tolist()], np.float32)


def failure_modes_by_rules(question: str) -> frozenset[str]:
    """The modes of which a rule meets the wording."""
    return frozenset(
        mode for mode, patterns in _COMPILED.items() if any(pattern.search(question) for pattern in patterns)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureModeWeights:
    """A logistic regression a mode on cues and vector, ``d`` inputs.

    Attributes:
        mean, deviation: of each input, ``(d,)``; ``slopes`` ``(4, d)``; ``intercepts`` ``(4,)``.
        fingerprint: of the embedder whose vectors it read.
    """

    mean: FloatArray
    deviation: FloatArray
    slopes: FloatArray
    intercepts: FloatArray
    fingerprint: str

    def to_bytes(self) -> bytes:
        """As a safetensors file."""
        arrays = {name: getattr(self, name) for name in ("mean", "deviation", "slopes", "intercepts")}
        metadata = {
            "form": _FORM,
            "fingerprint": self.fingerprint,
            "cues": json.dumps(_CUE_NAMES),
            "modes": json.dumps(FAILURE_MODES),
        }
        return save(arrays, metadata)


def learn_failure_modes(
    cues: FloatArray,
    vectors: FloatArray,
    labels: npt.NDArray[np.float64],
    *,
    fingerprint: str,
    penalty: float = 3.0,
    vector_penalty: float = 30.0,
) -> FailureModeWeights:
    """Train one logistic regression a mode.

    Args:
        cues: ``(n, c)`` of :func:`failure_mode_cues`.
        vectors: ``(n, v)``; ``v`` may be 0.
        labels: ``(n, 4)``, from 0 to 1: the share of labellers who saw the mode.
        fingerprint: of the embedder.
        penalty: of squared slopes on standardised cues; ``vector_penalty`` on the vector's dimensions.
    """
    from scipy.optimize import minimize

    inputs = np.concatenate([cues, vectors], axis=1).astype(np.float64)
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0)
    deviation = np.where(deviation < 1e-6, 1.0, deviation)
    x = (inputs - mean) / deviation
    weight = np.concatenate([np.full(cues.shape[1], penalty), np.full(vectors.shape[1], vector_penalty)])
    slopes, intercepts = [], []
    for column in range(labels.shape[1]):
        y = labels[:, column]

        def loss(
            theta: npt.NDArray[np.float64], y: npt.NDArray[np.float64] = y
        ) -> tuple[float, npt.NDArray[np.float64]]:
            z = x @ theta[:-1] + theta[-1]
            error = 1 / (1 + np.exp(-z)) - y
            value = float(np.logaddexp(0, z).sum() - (y * z).sum() + 0.5 * (weight * theta[:-1] ** 2).sum())
            return value, np.append(x.T @ error + weight * theta[:-1], error.sum())

        found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B")
        slopes.append(found.x[:-1])
        intercepts.append(found.x[-1])
    return FailureModeWeights(
        mean=mean.astype(np.float32),
        deviation=deviation.astype(np.float32),
        slopes=np.array(slopes, np.float32),
        intercepts=np.array(intercepts, np.float32),
        fingerprint=fingerprint,
    )


@cache
def shipped_failure_modes() -> FailureModeWeights | None:
    """The weights that ship, for the bundled embedder; None where they were made for other cues than today's."""
    file = resources.files(__package__).joinpath("weights", "failure_modes.safetensors")
    if not file.is_file():
        return None
    data = file.read_bytes()
    metadata = read_metadata(data)
    if metadata["form"] != _FORM or json.loads(metadata["cues"]) != list(_CUE_NAMES):
        return None
    return FailureModeWeights(**load(data), fingerprint=metadata["fingerprint"])


def failure_mode_probabilities(
    questions: Sequence[str], vectors: FloatArray | None, weights: FailureModeWeights
) -> npt.NDArray[np.float64]:
    """How likely each mode is of each question, ``(n, 4)``.

    Args:
        vectors: ``(n, v)`` by the embedder of the weights; None for weights that read none.
    """
    cues = np.stack([failure_mode_cues(one) for one in questions])
    inputs = cues if vectors is None else np.concatenate([cues, vectors], axis=1)
    z = ((inputs - weights.mean) / weights.deviation) @ weights.slopes.T + weights.intercepts
    return np.asarray(1 / (1 + np.exp(-np.clip(z, -30, 30))), np.float64)


def failure_modes_of(
    questions: Sequence[str], vectors: FloatArray | None = None, fingerprint: str | None = None
) -> list[frozenset[str]]:
    """The modes of each question: by the shipped weights where they are of this embedder, else by the rules.

    Args:
        vectors: of the questions, ``(n, v)``.
        fingerprint: of the embedder that made them.
    """
    weights = shipped_failure_modes()
    if not questions or vectors is None or weights is None or weights.fingerprint != fingerprint:
        return [failure_modes_by_rules(one) for one in questions]
    likely = failure_mode_probabilities(questions, vectors, weights) >= 0.5
    return [frozenset(mode for mode, there in zip(FAILURE_MODES, row, strict=True) if there) for row in likely]
