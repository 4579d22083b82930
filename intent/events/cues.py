"""What speech acts sound like: phrases with weights, English and Chinese, and how acts group into coarse event types.

The coarse types follow ISO 24617-2 (Bunt et al., LREC 2012): information seeking and giving, directives, commissives,
feedback, discourse structuring and social obligations; what argumentation and project work need is added (claim,
evidence, rebuttal; report, problem). An *act* is what a cue speaks for; several acts may be one coarse type.
The grammar of phrases is that of :class:`~hexamem.intent.phrases.tokens.PhraseTable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..phrases.tokens import PhraseTable
from .cues_exchange import EXCHANGE
from .cues_statement import STATEMENT

__all__ = ["COARSE", "CUES", "coarse_synonyms"]

COARSE: Mapping[str, str] = {
    "ask": "Ask",
    "inform": "Inform",
    "propose": "Propose",
    "request": "Request",
    "decide": "Decide",
    "revise": "Revise",
    "confirm": "Confirm",
    "agree": "Confirm",
    "plan": "Plan",
    "constrain": "Plan",
    "resume": "Plan",
    "compare": "Compare",
    "claim": "Claim",
    "evaluate": "Claim",
    "report": "Report",
    "share": "Report",
    "summarize": "Report",
    "problem": "Raise problem",
    "evidence": "Cite evidence",
    "rebut": "Rebut",
    "correct": "Rebut",
    "social": "Socialize",
}
"""Act → its coarse event type; 15 types.

A Decide settles something, a Revise changes what was settled, a Confirm takes up what another said (or gives in to it).
A Plan opens a goal or a part of it and sets its frame: time, means, number, deadline, effort.
"""

_CUES: Mapping[str, Mapping[float, str]] = {**EXCHANGE, **STATEMENT}

_SYNONYMS = {
    "Ask": "question inquire inquiry enquire query clarify clarification",
    "Inform": "answer explain state describe observe observation provide respond",
    "Propose": "suggest suggestion proposal recommend recommendation offer",
    "Request": "assign assignment instruct command order delegate remind reminder",
    "Decide": "decision choose choice select selection accept commit book approve",
    "Revise": "revision change cancel update switch replace amend adjust",
    "Confirm": "confirmation acknowledge acknowledgement agree concede concession",
    "Plan": "agenda schedule organize structure opening constrain constraint require requirement estimate",
    "Compare": "comparison contrast weigh",
    "Report": "progress share narrate experience summarize summary recap conclude conclusion closing",
    "Raise problem": "block blocker problem issue complain complaint",
    "Claim": "argue argument assert contention evaluate evaluation assess assessment opinion preference rate",
    "Cite evidence": "evidence cite citation support",
    "Rebut": "rebuttal refute counter challenge dispute object correct correction disagree",
    "Socialize": "greet greeting thank thanks apologize congratulate chitchat smalltalk",
}


def _entries() -> list[tuple[str, tuple[str, float]]]:
    return [
        (phrase.strip(), (act, weight))
        for act, groups in _CUES.items()
        for weight, phrases in groups.items()
        for phrase in phrases.split(", ")
    ]


def coarse_synonyms() -> dict[str, str]:
    """Folded words → the coarse type they mean, for names that a model proposes ("suggest" → "Propose")."""
    return {word: name for name, words in _SYNONYMS.items() for word in words.split()}


def _grouped(entries: Iterable[tuple[str, tuple[str, float]]]) -> list[tuple[str, tuple[tuple[str, float], ...]]]:
    """One entry a phrase: a phrase may speak for several acts."""
    groups: dict[str, dict[str, float]] = {}
    for phrase, (act, weight) in entries:
        acts = groups.setdefault(phrase, {})
        acts[act] = max(weight, acts.get(act, 0.0))
    return [(phrase, tuple(acts.items())) for phrase, acts in groups.items()]


CUES: PhraseTable[tuple[tuple[str, float], ...]] = PhraseTable(_grouped(_entries()))
"""Phrases → the acts they speak for, with weights."""
