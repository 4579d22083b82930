"""What is said of a trip's days while another is in hand, so that they are known when their turn comes.

"We keep Toledo for Thursday" tells Thursday's place; five towns for five days tell a town a day; and where several trips are
told at once, the words around each tell it from the others ("orlando w the kids oct 9-12, then new orleans for our anniversary").
"""

from __future__ import annotations

from collections.abc import Mapping

from ... import lazy_re as re
from .calendar import key_of
from .cues import Cues
from .registry import Key, Registry, Scope
from .return_words import tells
from .text import Words, read_words, stem

__all__ = ["hinted", "learn_hints", "list_places", "telling"]

_MOST = 60  # words that are kept of a day
_SIDES = ".;!?,\n。；！？，"
_N = r"(?:(?:the |el |la |le )?[A-ZÀ-ÖØ-Þ][\w'’-]+(?: (?:(?:de|del|da|do|la|le|di|el|of) )?[A-ZÀ-ÖØ-Þ][\w'’-]+){0,2})"
_LISTED = re.compile(
    rf"{_N}(?:(?:, | ?→ ?| ?-> ?| ?/ ?| – | - )(?:then |and |finally )?{_N}){{1,9}}(?:,? (?:and|then|and then|&|and finally) {_N})?"
)
_SPLIT = re.compile(r",? (?:and then|and finally|and|then|&) (?=[A-ZÀ-ÖØ-Þ])|, | ?→ ?| ?-> ?| ?/ ?| – | - ")
_CN_LISTED = re.compile(r"[\u4e00-\u9fff]{2,5}(?:[、→][\u4e00-\u9fff]{2,5}){1,9}(?:和[\u4e00-\u9fff]{2,5})?")
_CN_SPLIT = re.compile(r"[、→]|(?<=[\u4e00-\u9fff]{2})和")


def telling(text: str) -> set[str]:
    """The words of a text that may tell one day or trip from another."""
    return {term for term in read_words(text).terms if tells(term)}


def _keep(root: Scope, key: Key, terms: set[str]) -> None:
    kept = root.hints.setdefault(key, {})
    for term in terms:
        if term in kept or len(kept) < _MOST:
            kept[term] = kept.get(term, 0) + 1


def list_places(text: str, root: Scope) -> None:
    """Give each day of a trip its place, where a text lists as many as the trip has days."""
    if root.length < 2:
        return
    listed = [(match[0], _SPLIT) for match in _LISTED.finditer(text)]
    listed += [(match[0], _CN_SPLIT) for match in _CN_LISTED.finditer(text)] if not text.isascii() else []
    for run, sides in listed:
        places = [place for place in sides.split(run) if place]
        if len(places) == root.length:
            for number, place in enumerate(places, 1):
                _keep(root, ("day", number), telling(place))


def learn_hints(words: Words, cues: Cues, here: Scope, seen: int, registry: Registry) -> None:
    """Keep what a text says of days other than the one it speaks of.

    Args:
        words: of the text.
        here: the day that it speaks of.
        seen: how many steps its thread has had; a trip's places are listed at its beginning.
    """
    root = here.root
    if root.kind != "trip":
        return
    if seen < 4 and len(registry.roots) == 1 and not root.hints:
        list_places(words.text[:600], root)
    if not cues.goals:
        return
    towns = {stem(token) for token in root.tokens}
    before = 0
    for at, goal in enumerate(cues.goals):
        begin, before = before, goal.end
        key = key_of(goal, root, here)
        if key is None or key == here.key or goal.many:
            continue
        begin = max(begin, *(words.text.rfind(side, 0, goal.start) + 1 for side in _SIDES))
        end = cues.goals[at + 1].start if at + 1 < len(cues.goals) else len(words.text)
        ends = [place for side in _SIDES if (place := words.text.find(side, goal.end, end)) >= 0]
        end = min([*ends, end])
        _keep(root, key, telling(words.text[begin : goal.start] + " " + words.text[goal.end : end]) - towns)


def hinted(root: Scope, terms: Mapping[str, float]) -> list[Key]:
    """The days of a trip of which a text's words were said before their turn."""
    return [key for key, kept in root.hints.items() if not kept.keys().isdisjoint(terms)]
