"""Find the secrets of a text by rules, before anything is stored, and replace them by references.

No model, no network, no state: the same text always has the same spans. Each rule first searches for a sign (a prefix,
a name, a run of digits), so a chat line without any costs microseconds; every pattern is matched at a known place over
a bounded length, so the time is linear in the length of the text.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from hexamem.errors import InvalidInputError
from hexamem.stores.secrets.captions import safe_caption, words_of
from hexamem.stores.secrets.codes import find_codes
from hexamem.stores.secrets.coordinated import find_coordinated
from hexamem.stores.secrets.named_keys import find_named_keys
from hexamem.stores.secrets.numbers import find_numbers
from hexamem.stores.secrets.passwords import find_passwords
from hexamem.stores.secrets.recovery import find_recovery_secrets
from hexamem.stores.secrets.references import clean_caption, find_references, reference
from hexamem.stores.secrets.spans import Candidate, SecretSpan, TextForms
from hexamem.stores.secrets.tokens import find_tokens

__all__ = ["SecretSpan", "find_secrets", "replace_secrets"]


def find_secrets(text: str) -> tuple[SecretSpan, ...]:
    """The secrets in a text, in order and without overlap; none lies in a ``{{vault:…}}`` reference.

    Found are keys and tokens of some eighty vendors, private keys, passwords in URLs and commands; passwords,
    passphrases, PINs, codes, keys and seed phrases that a sentence names (English, Chinese, and common wordings in
    German, Spanish, French, Italian, Portuguese, Dutch, Japanese, Korean and Russian); cards, bank accounts and
    national identity numbers. Contacts (phone numbers, addresses, names) are not secrets here.
    """
    forms = TextForms(text)
    rules = (find_tokens, find_passwords, find_named_keys, find_recovery_secrets, find_codes, find_numbers)
    candidates = [candidate for rule in rules for candidate in rule(forms)]
    candidates += list(find_coordinated(forms, candidates))
    if not candidates:
        return ()
    chosen = _without_overlaps(candidates, [(r.start, r.end) for r in find_references(text)])
    values = [text[c.start : c.end] for c in chosen]
    words = words_of(values)
    return tuple(
        SecretSpan(
            start=c.start,
            end=c.end,
            kind=c.kind,
            caption=_caption(c, value, words),
            sensitivity=c.sensitivity,
        )
        for c, value in zip(chosen, values, strict=True)
    )


def _caption(candidate: Candidate, value: str, words: frozenset[str]) -> str:
    # References are cleaned the same way, so the caption of a span and of its reference are one string.
    caption = clean_caption(candidate.caption or candidate.noun)
    return safe_caption(caption, candidate.noun, value, words, fixed=candidate.fixed)


def _without_overlaps(candidates: list[Candidate], taken: list[tuple[int, int]]) -> list[Candidate]:
    """The candidates without overlap: higher priority first, then longer, then earlier; none overlaps ``taken``."""
    order = sorted(candidates, key=lambda c: (-c.priority, c.start - c.end, c.start))
    occupied = sorted(taken)
    chosen: list[Candidate] = []
    for candidate in order:
        at = bisect_left(occupied, (candidate.start, candidate.start))
        if candidate.end <= candidate.start:
            continue
        if (at < len(occupied) and occupied[at][0] < candidate.end) or (at and occupied[at - 1][1] > candidate.start):
            continue
        insort(occupied, (candidate.start, candidate.end))
        chosen.append(candidate)
    return sorted(chosen, key=lambda c: c.start)


def replace_secrets(text: str, spans: Sequence[SecretSpan], ids: Sequence[str]) -> str:
    """Replace each span by ``{{vault:ID|caption}}``.

    Args:
        text: the text that the spans were found in.
        spans: in order and without overlap, as :func:`find_secrets` returns them.
        ids: the vault id of each span, as many as there are spans; the same id may occur twice.

    Raises:
        InvalidInputError: the numbers differ, a span lies outside the text or before the end of the one before it, or
            an id is not valid in a reference.
    """
    if len(spans) != len(ids):
        raise InvalidInputError(f"{len(spans)} spans need as many vault ids, got {len(ids)}")
    parts: list[str] = []
    done = 0
    for span, name in zip(spans, ids, strict=True):
        if not done <= span.start < span.end <= len(text):
            raise InvalidInputError(
                f"span {span.start}:{span.end} does not fit: spans must be in order, not overlap, and lie within the "
                f"{len(text)} characters of the text"
            )
        parts += (text[done : span.start], reference(name, span.caption))
        done = span.end
    parts.append(text[done:])
    return "".join(parts)
