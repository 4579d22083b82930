"""Evidence: whether the quotes of a proposal are in the steps of the batch, and who wrote those steps.

A memory manager may misquote, quote a step before the batch, or extract again what recall has just shown to the model. So
a quote is accepted only where it is located in a step.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import NamedTuple

from hexamem.agents.applying.own_words import in_own_words
from hexamem.agents.contract import Batch, BatchStep
from hexamem.errors import InvalidInputError
from hexamem.memory_types import Source, Step
from hexamem.memory_types.item_keys import slot_of
from hexamem.memory_types.proposals import Evidence, Proposal
from hexamem.stores.ledger import is_spaced_letter
from hexamem.stores.lexical.tokens import tokenize_document
from hexamem.stores.secrets import find_references

__all__ = ["CheckedEvidence", "check_evidence", "find_quote"]

_ALIKE = str.maketrans("‘’‚‛`´“”„‟«»‐‑‒–—−…", "''''''\"\"\"\"\"\"------.")
_IGNORED = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_HAS_WORD = re.compile(r"[^\W_]")
_CUT_OFF = re.compile(r"^\.{2,} *")
_SHORT_QUOTE, _GRAM, _LONG_QUOTE = 8, 3, 60  # words, words, characters
_REPEATED_BY_OTHERS, _REPEATED_BY_USER = 0.6, 0.8
_THE_USER = frozenset({"user", "the user"})  # the names of the user in prompts


class CheckedEvidence(NamedTuple):
    """The evidence of a proposal.

    Attributes:
        sources: the accepted quotes, in the spelling of their steps, with their spans.
        stated_at: the time of the latest of them.
        own_words: whether any is a user's own words, which changes and removals need.
        notes: why other quotes were left out.
    """

    sources: tuple[Source, ...]
    stated_at: datetime
    own_words: bool
    notes: tuple[str, ...]


def check_evidence(batch: Batch, proposal: Proposal, steps: Mapping[str, Step]) -> CheckedEvidence:
    """Check the quotes of a proposal.

    A quote is accepted if it is in the content of a step of the batch, or in its index text (captions, transcripts), or
    in its resolved text; whitespace, quotation marks, dashes, letter case and width are ignored. Refused are quotes of
    steps before the batch, of system text, and of text that only repeats what recall has just shown. A core item, and a
    semantic item about the user, needs a quote of the user.

    Args:
        steps: the steps of the batch, read from the ledger now, by id; forgotten ones are missing.

    Raises:
        InvalidInputError: no quote is accepted, or none of the user where one is needed.
    """
    accepted: list[tuple[Step, Source]] = []
    refusals: list[str] = []
    for evidence in proposal.evidence:
        try:
            accepted.append(_accepted(batch, evidence, steps))
        except InvalidInputError as error:
            refusals.append(str(error))
    if not accepted:
        raise InvalidInputError("; ".join(refusals) or "no evidence: quote the words of a step")
    by_user = [step for step, _ in accepted if step.role == "user"]
    if not by_user and _is_about_user(proposal):
        roles = " and ".join(sorted({step.role for step, _ in accepted}))
        raise InvalidInputError(f"only the {roles} stated it: a fact about the user needs the user's own words")
    return CheckedEvidence(
        sources=tuple(dict.fromkeys(source for _, source in accepted)),
        stated_at=max(step.occurred_at for step in by_user or [step for step, _ in accepted]),
        own_words=any(in_own_words(step, source.start, source.end) for step, source in accepted),
        notes=tuple(refusals),
    )


def _accepted(batch: Batch, evidence: Evidence, steps: Mapping[str, Step]) -> tuple[Step, Source]:
    step_id = evidence.step_id
    labelled = next((candidate for candidate in batch.steps if candidate.step.id == step_id), None)
    if labelled is None:
        if any(earlier.step.id == step_id for earlier in batch.before):
            raise InvalidInputError(f"step {step_id} came before the batch, from which nothing is learned")
        raise InvalidInputError(f"step {step_id[:80]} is not in the batch")
    step = steps.get(step_id)
    if step is None:
        raise InvalidInputError(f"step {step_id} is forgotten")
    if step.role == "system":
        raise InvalidInputError(f"step {step_id} is system text, which is no evidence about the user")
    source = _cited(labelled, step, evidence.quote)
    if source is None:
        raise InvalidInputError(f"the quote is not in step {step_id}")
    if _repeats(step, source.quote or evidence.quote, batch.shown):
        raise InvalidInputError(f"the quote of step {step_id} repeats what recall has just shown")
    return step, source


def _is_about_user(proposal: Proposal) -> bool:
    if proposal.kind != "semantic":
        return proposal.kind == "core"
    metadata = proposal.values.get("metadata")
    slot = slot_of(metadata) if isinstance(metadata, Mapping) else ""
    named = str(proposal.values.get("name")).strip().casefold()
    return named in _THE_USER or bool(slot and "." not in slot)


# ------------------------------------------------------------------------------------------------------ finding quotes


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """The span of a quote in a text, as character offsets ``(start, end)``; None where it is not in the text.

    Whitespace, quotation marks, dashes, letter case and width are ignored. A quote of less than 60 characters must begin
    and end at word boundaries, so that "Ann" is not located in "planned".
    """
    wanted, _ = _folded(quote)
    wanted = _CUT_OFF.sub("", wanted.strip()).rstrip(". ")
    if not _HAS_WORD.search(wanted):
        return None
    folded, spans = _folded(text)
    if len(wanted) >= _LONG_QUOTE:
        start = folded.find(wanted)
        end = start + len(wanted) if start >= 0 else 0
    else:
        start = _find_whole(wanted, folded)
        end = start + len(wanted)
    return (spans[start][0], spans[end - 1][1]) if start >= 0 else None


def _find_whole(words: str, text: str) -> int:
    """The offset of words in a text at word boundaries, or -1; scripts without spaces have no word boundaries."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        joined_before = start > 0 and is_spaced_letter(words[0]) and is_spaced_letter(text[start - 1])
        joined_after = end < len(text) and is_spaced_letter(words[-1]) and is_spaced_letter(text[end])
        if not joined_before and not joined_after:
            return start
        start = text.find(words, start + 1)
    return -1


def _folded(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text in the form in which quotes are compared, and for each of its characters the span in the original."""
    characters: list[str] = []
    spans: list[tuple[int, int]] = []
    references = {reference.start: reference for reference in find_references(text)}
    at = 0
    while at < len(text):
        if reference := references.get(at):  # compared by id, whatever its caption
            characters += (name := f"{{{{vault:{reference.id}}}}}")
            spans += [(reference.start, reference.end)] * len(name)
            at = reference.end
            continue
        raw = text[at]
        at += 1
        if raw in _IGNORED:
            continue
        if raw.isspace():
            if characters and characters[-1] == " ":
                spans[-1] = (spans[-1][0], at)
                continue
            characters.append(" ")
            spans.append((at - 1, at))
            continue
        for character in unicodedata.normalize("NFKC", raw.translate(_ALIKE)).casefold():
            characters.append(" " if character.isspace() else character)
            spans.append((at - 1, at))
    return "".join(characters), spans


def _cited(labelled: BatchStep, step: Step, quote: str) -> Source | None:
    """The source of a quote; without a span where it is in a caption or transcript only."""
    if span := find_quote(quote, step.content):
        start, end = span
        return Source(step_id=step.id, quote=step.content[start:end], start=start, end=end)
    if step.index_text != step.content and (span := find_quote(quote, step.index_text)):
        return Source(step_id=step.id, quote=step.index_text[span[0] : span[1]])
    span = find_quote(quote, labelled.resolved_text)
    if span is None:
        return None
    start, end = _in_original(labelled.resolved_text, step.content, *span)
    if start == end:
        return Source(step_id=step.id)
    return Source(step_id=step.id, quote=step.content[start:end], start=start, end=end)


def _in_original(resolved: str, content: str, start: int, end: int) -> tuple[int, int]:
    """The span of the content that corresponds to a span of the resolved text: "she" for "Anna"."""
    first, last = len(content), 0
    matcher = SequenceMatcher(None, resolved, content, autojunk=False)
    for _, left, right, low, high in matcher.get_opcodes():
        if (left < end and right > start) or (left == right and start < left < end):
            whole = right - left != high - low  # replaced words count as a whole
            first = min(first, low if whole else low + max(0, start - left))
            last = max(last, high if whole else high - max(0, right - end))
    return (first, last) if first < last else (0, 0)


# ---------------------------------------------------------------------------------------------- what recall has shown


def _repeats(step: Step, quote: str, shown: Sequence[str]) -> bool:
    """Whether a quote only repeats a text that recall has shown.

    A user may repeat a known fact in a few words, which confirms it. So a quote of the user counts as repeated only if
    it is longer, and not where the shown text is the step itself.
    """
    if not shown:
        return False
    words = tokenize_document(quote).stemmed
    by_user = step.role == "user"
    if not words or (by_user and len(words) < _SHORT_QUOTE):
        return False
    least = _REPEATED_BY_USER if by_user else _REPEATED_BY_OTHERS
    step_words = tokenize_document(step.content).stemmed
    size = _GRAM if len(words) >= _GRAM else 1
    grams = _grams(words, size)
    for text in shown:
        shown_words = tokenize_document(text).stemmed
        if not (by_user and shown_words == step_words) and len(grams & _grams(shown_words, size)) >= least * len(grams):
            return True
    return False


def _grams(words: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
