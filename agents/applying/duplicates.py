"""Duplicates: which item states already what a new one states, field by field for each kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from ... import lazy_re as re
from ...memory_types import (
    CoreItem,
    EpisodicItem,
    MemoryItem,
    ProceduralItem,
    ResourceItem,
    SemanticItem,
    Source,
    VaultItem,
)
from .likeness import Likeness, Verdict, telling_words

__all__ = ["compare_items", "find_duplicate", "from_same_words", "join_sources"]

_MARKS = " \t\n.,;:!?…。，；：！？\"'“”‘’()（）"
_WHOLE = frozenset(("human", "user", "profile"))
_SENTENCE_END = re.compile(r"[.;](?=\s|$)|[\n。；]")
_FILES = frozenset(("file", "image", "audio", "video"))


def join_sources(one: Sequence[Source], two: Iterable[Source]) -> tuple[Source, ...]:
    """All sources of both, each once; a quote that lies within another of the same step adds nothing."""
    joined = list(one)
    for source in two:
        if not any(_covers(other, source) for other in joined):
            joined.append(source)
    return tuple(joined)


def _covers(one: Source, two: Source) -> bool:
    if one.step_id != two.step_id:
        return False
    if one.start is None or one.end is None or two.start is None or two.end is None:
        return one.quote == two.quote
    return one.start <= two.start and two.end <= one.end


def from_same_words(one: MemoryItem, two: MemoryItem) -> bool:
    """Whether both items quote the same words: spans of one step that overlap."""
    for a in one.sources:
        for b in two.sources:
            if a.step_id != b.step_id:
                continue
            if a.start is None or a.end is None or b.start is None or b.end is None:
                if a.quote and a.quote == b.quote:
                    return True
            elif max(a.start, b.start) < min(a.end, b.end):
                return True
    return False


def find_duplicate(
    known: Iterable[MemoryItem], new: MemoryItem, likeness: Likeness, zone: tzinfo
) -> tuple[MemoryItem, Verdict] | None:
    """The first item that states the same as the new one, with what the new one adds to it; None where none does."""
    found: tuple[MemoryItem, Verdict] | None = None
    for one in known:
        if one.kind != new.kind or one.id == new.id or one.status != "active":
            continue
        verdict = compare_items(one, new, likeness, zone)
        if verdict in ("same", "less"):
            return one, verdict
        if verdict == "more" and found is None:
            found = one, verdict
    return found


def compare_items(known: MemoryItem, new: MemoryItem, likeness: Likeness, zone: tzinfo) -> Verdict:
    """What a new item states beyond a known one of its kind.

    Core items are compared within a label, semantic ones within a name (or where they quote the same words), events
    within a day of the user's zone; a procedure by its steps, a resource by its content, a vault item by its secret.
    """
    if new.valid_from and known.valid_from and known.valid_to and new.valid_from >= known.valid_to:
        return "different"  # it was so, it ended, and now it is so again
    same_words = from_same_words(known, new)
    match known, new:
        case CoreItem(), CoreItem():
            if telling_words(known.label) != telling_words(new.label):
                return "less" if _tells(known, new, likeness) else "different"
            return likeness.compare(known.value, new.value, same_words=same_words)
        case EpisodicItem(), EpisodicItem():
            if known.occurred_at.astimezone(zone).date() != new.occurred_at.astimezone(zone).date():
                return "different"
            return _summaries(known, new, likeness, same_words)
        case SemanticItem(), SemanticItem():
            if telling_words(known.name) != telling_words(new.name) and not same_words:
                return "different"
            return _summaries(known, new, likeness, same_words)
        case ProceduralItem(), ProceduralItem():
            verdict = likeness.compare("\n".join(known.steps), "\n".join(new.steps), same_words=same_words)
            alike = telling_words(known.summary) & telling_words(new.summary) or verdict == "same"
            # Steps are done in their order: fewer or more of them make another procedure unless one goes on from it.
            if len(known.steps) != len(new.steps) and verdict in ("less", "more") and not same_words:
                return "different"
            return verdict if alike else "different"
        case ResourceItem(), ResourceItem():
            if _only_named(new) and known.title.casefold() != new.title.casefold():
                return "different"  # two files may be named in the same words
            if known.content.split() == new.content.split():
                return "same"
            return "less" if _only_named(new) and not _only_named(known) else "different"
        case VaultItem(), VaultItem():
            if known.secret_id or new.secret_id:
                return "same" if known.secret_id == new.secret_id else "different"
            if known.entry_type.casefold() != new.entry_type.casefold():
                return "different"
            return likeness.compare(known.caption, new.caption, same_words=same_words)
    return "different"


def _tells(known: CoreItem, new: CoreItem, likeness: Likeness) -> bool:
    """Whether a block on all that is known of the user holds a sentence that says just what a new one does."""
    if known.label.casefold() not in _WHOLE:
        return False
    said = (part for part in _SENTENCE_END.split(known.value) if part.strip())
    return any(likeness.compare(part.strip(), new.value) == "same" for part in said)


def _only_named(item: ResourceItem) -> bool:
    """Whether all that is known of a file is the words in which it was named."""
    if item.resource_type not in _FILES or item.title not in item.content:
        return False
    words = item.content.strip(_MARKS)  # a quote ends with a word
    return any(words in source.quote for source in item.sources)


def _summaries(
    known: EpisodicItem | SemanticItem, new: EpisodicItem | SemanticItem, likeness: Likeness, same_words: bool
) -> Verdict:
    verdict = likeness.compare(known.summary, new.summary, same_words=same_words)
    if verdict == "different" or not new.details:
        return verdict
    whole = f"{known.summary}\n{known.details}"
    added = likeness.compare(whole, f"{whole}\n{new.summary}\n{new.details}", same_words=True)
    return "more" if added == "more" else verdict
