"""What stands in for the name of a label whose words are forgotten, and which words of a name tell something.

A scope is named again by the rules that named it first (:func:`~hexamem.intent.scopes.introduction.topic_name`), of the
steps that are still there; one that was named as a trip or a project keeps being one, without its name. Where nothing is
left to name it by, it gets the name of its kind, in Chinese where its name was Chinese.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ... import lazy_re as re
from ...memory_types.labels import LabelKind
from ..entities import entity_seeds
from ..events.labeler import event_seeds
from ..phrases.tokens import word_set
from .introduction import topic_name
from .numbers import MONTHS, WEEKDAYS, parse_goal_name
from .registry import PLAN_NAMES, Language, scope_kind
from .text import STOP, stem

__all__ = ["RuleWording"]

_READ = 20_000
_WORD = re.compile(r"[^\W\d_]+|\d+")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_LETTER = re.compile(r"[^\W\d_]")
_COUNTED = re.compile(r" \(\d+\)$")
_TALK = "Talk: "
_QUOTED = "“"  # before what a name quotes as a whole
_OF_KINDS = word_set(
    "trip project operation programme initiative client workstream case epic debate plan work talk topic"
)
_EMPTY = (STOP | _OF_KINDS) - set(MONTHS) - set(WEEKDAYS)
_NAMELESS: dict[LabelKind, dict[Language, str]] = {
    "scope": {"en": "Talk", "zh": "对话"},
    "event": {"en": "Event", "zh": "事件"},
    "entity": {"en": "Entity", "zh": "事物"},
}
_NEUTRAL = {name for names in (*PLAN_NAMES.values(), *_NAMELESS.values()) for name in names.values()}


class RuleWording:
    """How labels are named, for whoever must take a name away; see ``stores/ledger/wording.py``."""

    def telling(self, text: str) -> frozenset[str]:
        """The words of a text, or of a name, that tell something: stems, figures, and pairs of Chinese characters.

        The beginning by which a text is quoted that has nothing to be named by ("Talk: well then") is one more.
        """
        folded = text[:_READ].casefold()
        found = {stem(word) for word in _WORD.findall(folded) if not _CJK.match(word) and word not in _EMPTY}
        if not folded.isascii():
            for run in _CJK.findall(folded):
                found.update([run[at : at + 2] for at in range(len(run) - 1)] or [run])
        about = " ".join(text.removeprefix(_TALK)[:80].split()[:5])[:40].strip(" ,.;:!?/")
        found = {word for word in found if len(word) > 1 or not word.isascii() or word.isdigit()}
        return frozenset({*found, _QUOTED + about.casefold()} if about else found)

    def of_name(self, kind: LabelKind, name: str) -> frozenset[str]:
        """What a name tells that was said: nothing for the types that all talk has, and for "Day 2" and its like."""
        name = _COUNTED.sub("", name)
        if name in _NEUTRAL:
            return frozenset()
        goal = parse_goal_name(name) if kind == "scope" else None
        if goal is not None and goal[0] not in ("weekday", "date"):
            return frozenset()
        if name.startswith(_TALK):
            return self.telling(name)
        words = frozenset(word for word in self.telling(name) if not word.startswith(_QUOTED))
        return words if kind == "scope" else words - _type_words()

    def stand_in(self, kind: LabelKind, name: str, texts: Iterable[str], wider: str | None = None) -> str:
        """Another name for a label.

        Args:
            name: the one that it may not have any more.
            texts: of the steps that carry it and are there, in order.
            wider: the name of the type above an event or entity type.
        """
        said = list(texts)
        nameless = _NAMELESS[kind][_language(name, said)]
        if kind != "scope":
            return wider or nameless
        neutral = PLAN_NAMES.get(scope_kind(_COUNTED.sub("", name)))
        if neutral is not None:
            return neutral[_language(name, said)]
        instead = ""
        for text in said:
            offered, stands_in = topic_name(text)
            if not stands_in:
                return offered
            instead = instead or offered
        return instead or nameless


def _language(name: str, texts: Iterable[str]) -> Language:
    """The language of a name, or of the texts where the name has no letters. Japanese, which has kana, is not Chinese."""
    for text in (name.removeprefix(_TALK), *texts):
        if _LETTER.search(text):
            return "zh" if _HAN.search(text) and not _KANA.search(text) else "en"
    return "en"


@cache
def _type_words() -> frozenset[str]:
    """The words of which the types that the rules know are named ("Propose", "Opening hours")."""
    named = " ".join([*event_seeds(), *entity_seeds()]).casefold()
    return frozenset(stem(word) for word in _WORD.findall(named))
