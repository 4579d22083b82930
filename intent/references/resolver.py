"""Coreference before storage: references to earlier steps put into words (STITCH, section 3.2).

"Book it" is indexed as "book the Apollo Hotel". A wrong antecedent is worse than none, so a reference is resolved only
where one candidate of the scope's latest steps stands clearly out; whatever the step itself already names, pleonastic
"it", references to events ("that sounds great") and idioms stay as they were. The words around are never touched, and
each replacement is recorded with the step it came from.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from ... import lazy_re as re
from ..contract import LabeledStep, StepView
from ..phrases.analysis import Analysis, analyse, mask
from .antecedents import Found, Source
from .chinese import CHINESE_CUE, chinese_reference
from .cues import ATTRIBUTES
from .pronouns import focus
from .rules import ENGLISH_CUE, english_reference, may_refer

__all__ = ["Resolution", "ResolvedSpan", "Resolver", "joined"]

_ABOUT = re.compile(
    r"^\W*(?:and |so |ok(?:ay)?,? |but )?(?:(?:what|how) about|any|and)\s+(?:the |its "
    r"|their )?([\w-]+(?: [\w-]+){0,2})\s*\?+\s*$",
    re.IGNORECASE,
)
_HAS_CJK = re.compile(r"[\u4e00-\u9fff]")
_NO_ANSWER = re.compile(
    r"^\W*(?:hi|hey|hello|thanks?|thank you|great|wow|awesome|cool|sounds|good|lol|bye|see you|谢谢|你好|再见"
    r"|好的)\b[^,;:]*$",
    re.IGNORECASE,
)
_RHETORICAL = re.compile(
    r"^\W*(?:how are you|how(?:'s| is) it going|what'?s up|what'?s new|anything else|(?:shall|should|may"
    r"|can) i (?:help|do)|right|ok(?:ay)?|huh|really|"
    r"isn'?t it|don'?t you think)\b",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"^\W*(?:yes|no|yeah|yep|nope|sure|definitely|absolutely|of course|not really|at|on|in|about|around|是的?|不是"
    r"|对|没有|有|可以|不)\b|\d",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:i|we|you|he|she|it|they|that|this|there|is|are|was|were|am|sounds?|seems?|looks?|let|please"
    r"|thanks?)\b|['’](?:s|m|re|ve|ll)\b|[了吧呢吗]",
    re.IGNORECASE,
)
_MAX_SPANS = 8
_NEAR = 6  # turns of a thread within which what was said is still at hand
_LATELY = timedelta(hours=24)
_MAX_ANSWER_WORDS = 7
_MAX_QUESTION_WORDS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedSpan:
    """Characters ``start`` to ``end`` of the original text, what took their place, and the step that comes from.

    What was appended rather than put in place has ``start == end == len(original)``.
    """

    start: int
    end: int
    antecedent: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The text with its references in words; ``confidence`` is that of the least sure replacement, 1 without any."""

    text: str
    spans: tuple[ResolvedSpan, ...] = ()
    confidence: float = 1.0

    @property
    def antecedents(self) -> tuple[str, ...]:
        """Ids of the steps that something was taken from, each once, in the order of the text."""
        return tuple(dict.fromkeys(span.antecedent for span in self.spans))


class Resolver:
    """Resolves the references of steps, one after the other; keeps the analyses of steps that it has seen.

    Args:
        steps: how many earlier steps of the scope are looked at.
        limit: characters of a text that are analysed.
        cached: analysed steps that are kept.
    """

    def __init__(self, *, steps: int = 6, limit: int = 4000, cached: int = 512) -> None:
        self._steps, self._limit, self._cached = steps, limit, cached
        self._analyses: OrderedDict[tuple[str, int], Analysis] = OrderedDict()

    def analysis(self, id: str, text: str) -> Analysis:
        """What the step ``id`` with this text offers to references; computed once a step."""
        key = (id, hash(text))
        known = self._analyses.get(key)
        if known is None:
            known = self._analyses[key] = analyse(text, self._limit)
            if len(self._analyses) > self._cached:
                self._analyses.popitem(last=False)
        else:
            self._analyses.move_to_end(key)
        return known

    def resolve(
        self, step: StepView, scope_steps: Sequence[LabeledStep | StepView], entities: Sequence[str] = ()
    ) -> Resolution:
        """Put the references of a step into words.

        Args:
            scope_steps: the latest steps of the same scope, newest last; labelled ones count with their resolved text.
            entities: label ids of the step's key entity types; steps that share one are preferred.

        Returns:
            The original text, unchanged, where nothing could safely be resolved.
        """
        text = step.text
        if not scope_steps or not text:
            return Resolution(text=text)
        masked = mask(text[: self._limit])
        found: list[Found] = []
        sources: list[Source] | None = None
        own: Analysis | None = None
        taken: set[str] = set()
        for match, rule in _cues(masked):
            if sources is None or own is None:
                sources = self._sources(step, scope_steps, entities)
                own = self.analysis(step.id, text)
            if found and match.start() < found[-1].end:
                continue
            hit = rule(match, masked, own, sources, step.speaker)
            # The same antecedent in words once is enough for whoever searches.
            if hit is not None and hit.name.casefold() not in taken and hit.name.casefold() not in masked.casefold():
                found.append(hit)
                taken.add(hit.name.casefold())
            if len(found) >= _MAX_SPANS:
                break
        if not found and len(text) <= 200:
            appended = self._elliptic(step, masked, scope_steps, entities)
            if appended is not None:
                found.append(appended)
        if not found:
            return Resolution(text=text)
        return _applied(text, found)

    def _sources(
        self, step: StepView, scope_steps: Sequence[LabeledStep | StepView], entities: Sequence[str]
    ) -> list[Source]:
        wanted = set(entities)
        sources: list[Source] = []
        kinds: dict[str, str] = {}
        for back, earlier in enumerate(reversed(scope_steps[-self._steps :])):
            view, text = _parts(earlier)
            weight = 0.85**back
            if view.thread_id != step.thread_id:
                weight *= 0.6
            labels = earlier.entities if wanted and isinstance(earlier, LabeledStep) else ()
            if labels and wanted.isdisjoint(labels):
                weight *= 0.95
            analysis = self.analysis(view.id, text)
            kinds.update(analysis.named_kinds)
            near = view.thread_id != step.thread_id or step.turn - view.turn <= _NEAR
            lately = abs(step.occurred_at - view.occurred_at) <= _LATELY
            sources.append(Source(view.id, view.speaker, weight, analysis, text, kinds, near, lately))
        return sources

    def _elliptic(
        self, step: StepView, masked: str, scope_steps: Sequence[LabeledStep | StepView], entities: Sequence[str]
    ) -> Found | None:
        """What a short follow-up or a bare answer leaves out, to be put behind it in brackets."""
        end = len(step.text)
        about = _ABOUT.match(masked)
        if about and about[1].split()[-1].lower() in ATTRIBUTES:
            best = focus(self._sources(step, scope_steps, entities))
            if best is None or best[0].text.casefold() in masked.casefold():
                return None
            return Found(end, end, best[1], f" ({best[0].text})", best[0].text, best[2])
        earlier, text = _parts(scope_steps[-1])
        words = len(_HAS_CJK.findall(masked)) // 2 + len(masked.split())
        if (
            earlier.speaker == step.speaker
            or earlier.thread_id != step.thread_id
            or step.turn - earlier.turn != 1
            or words > _MAX_ANSWER_WORDS
            or not any(c.isalnum() for c in masked)
            or masked.rstrip().endswith(("?", "？"))
            or _NO_ANSWER.match(masked)
            or (_STATES.search(masked) and not _ANSWERS.search(masked))
        ):
            return None
        question = self.analysis(earlier.id, text).question
        asked = question.split(", ")[-1] if len(question.split()) > _MAX_QUESTION_WORDS else question
        ends_in_it = text.rstrip().endswith(("?", "？")) and bool(question)
        too_long = len(asked.split()) > _MAX_QUESTION_WORDS or len(asked) > 160
        if (
            not ends_in_it
            or too_long
            or len(asked.split()) + len(_HAS_CJK.findall(asked)) < 3
            or _RHETORICAL.match(asked)
        ):
            return None
        return Found(end, end, earlier.id, f" ({asked})", asked, 0.8)


def _parts(step: LabeledStep | StepView) -> tuple[StepView, str]:
    return (step.step, step.resolved_text) if isinstance(step, LabeledStep) else (step, step.text)


_Rule = Callable[["re.Match[str]", str, Analysis, Sequence[Source], str], "Found | None"]


def _cues(masked: str) -> Iterator[tuple[re.Match[str], _Rule]]:
    """The words that may refer, in order, each with the rule that judges it."""
    for match in ENGLISH_CUE.finditer(masked):
        if may_refer(match):
            yield match, english_reference
    if _HAS_CJK.search(masked):
        for match in CHINESE_CUE.finditer(masked):
            yield match, chinese_reference


def _applied(text: str, found: Sequence[Found]) -> Resolution:
    pieces, spans, position = [], [], 0
    for hit in sorted(found, key=lambda hit: (hit.start, hit.end)):
        if hit.start < position:
            continue
        pieces += [text[position : hit.start], hit.text]
        spans.append(ResolvedSpan(start=hit.start, end=hit.end, antecedent=hit.source, text=hit.text.strip(" ()")))
        position = hit.end
    pieces.append(text[position:])
    return Resolution(text="".join(pieces), spans=tuple(spans), confidence=min(hit.confidence for hit in found))


def joined(text: str, turn: int, head: Resolution, tail: Resolution) -> Resolution:
    """The resolution of a text of which the parts before and from ``turn`` were resolved apart.

    What was appended to the first part is left out: it would stand in the middle.
    """
    spans = [span for span in head.spans if span.start < turn]
    spans += [replace(span, start=span.start + turn, end=span.end + turn) for span in tail.spans]
    if not spans:
        return Resolution(text=text)
    first = head.text if len(spans) == len(head.spans) + len(tail.spans) else text[:turn]
    kept = spans if first is head.text else spans[len(spans) - len(tail.spans) :]
    return Resolution(text=first + tail.text, spans=tuple(kept), confidence=min(head.confidence, tail.confidence))
