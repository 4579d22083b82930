"""In a memory of a few messages: a reply that only asks stands behind the message that it replies to.

"Nice, how is Porto?" holds no more than what it was said to. Among hundreds of candidates such a reply is nothing; among
four, what echoes the words of the question may stand first.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import lazy_re as re
from ..stores.ledger import Transaction
from ..stores.ledger.said_steps import index_texts
from ..stores.working_set import WorkingSet
from .fusion import Candidate, best

__all__ = ["only_asks_back", "put_behind"]

_BEHIND = 1e-3  # by how much, as a share of the better score
_SENTENCE = re.compile(r"[^.!?。！？…]+[.!?。！？…]*")
_WORD = re.compile(r"[^\W_\u3400-\u9fff][\w'’-]*|[\u3400-\u9fff]")
_SHORT, _SHORT_HAN = 3, 6
"""Up to so many words, or Han characters, an exclamation says nothing: "That's lovely!", 好的，"""


def only_asks_back(text: str) -> bool:
    """Whether a message asks and says nothing: each of its sentences is a question or a short exclamation."""
    asks = False
    for sentence in _SENTENCE.findall(text):
        if sentence.rstrip()[-1:] in ("?", "？"):
            asks = True
            continue
        words = _WORD.findall(sentence)
        short = _SHORT_HAN if any(one >= "\u3400" for one in words) else _SHORT
        if len(words) > short or any(character.isdigit() for character in sentence):
            return False
    return asks


def put_behind(tx: Transaction, candidates: Mapping[str, Candidate], steps: WorkingSet, count: int) -> None:
    """Put those of the best steps behind the user's message before them that are an assistant's and only ask.

    Args:
        count: how many of the best candidates are looked at.
    """
    asked: list[tuple[str, str]] = []
    for one in best(candidates, count):
        row = steps.row_of.get(one.id)
        before = -1 if row is None else int(steps.before[row])
        if row is None or before < 0 or steps.role_of(row) != "assistant" or steps.role_of(before) != "user":
            continue
        said = candidates.get(steps.ids[before])
        if said is not None and said.score < one.score:
            asked.append((one.id, said.id))
    texts = index_texts(tx, [reply for reply, _ in asked]) if asked else {}
    for reply, said_id in asked:
        if only_asks_back(texts.get(reply, "")):
            candidate, score = candidates[reply], candidates[said_id].score
            lower = score - _BEHIND * max(1.0, abs(score))
            candidate.reasons().append(("only_asks", None, None, lower - candidate.score))
            candidate.score = lower
