"""Find the secrets of a text before anything is stored, and replace them by references.

Values of a defined form are found by it (:mod:`~hexamem.stores.secrets.forms`), those that only their context reveals by a
trained tagger (:mod:`~hexamem.stores.secrets.tagger`). No network, no state: the same text always has the same spans.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hexamem.errors import InvalidInputError
from hexamem.stores.secrets.captions import NOUNS, describe, safe_caption, words_of
from hexamem.stores.secrets.forms import find_forms, is_placeholder
from hexamem.stores.secrets.references import clean_caption, find_references, reference
from hexamem.stores.secrets.spans import Candidate, SecretSpan, Sensitivity
from hexamem.stores.secrets.tagger import TaggedSecret, load_tagger

__all__ = ["SecretSpan", "find_all_secrets", "find_secrets", "replace_secrets"]

# Full-width letters, digits and marks that link or bracket a value, one to one; sentence marks are unchanged: they end it.
_TO_ASCII = {0x3000: " ", 0x00A0: " "} | {
    c: chr(c - 0xFEE0) for c in range(0xFF03, 0xFF5F) if chr(c) not in "，；？！．：（）"
}
_RECORD_ID = re.compile(r"(?<![^\W_])[a-z]{2,12}_[0-9a-hjkmnp-tv-z]{26}(?![^\W_])")  # see ``memory_types.base.new_id``
_OF_FORM = frozenset({"seed_phrase"})  # kinds that the tagger may confirm and not find
_AT_ONCE = 1 << 18  # characters
_MEDIUM = frozenset({"bank_account", "license_key", "one_time_code"})


def find_secrets(text: str, before: str = "") -> tuple[SecretSpan, ...]:
    """The secrets in a text, in order and without overlap; none lies in a ``{{vault:…}}`` reference.

    Found are keys and tokens of some eighty vendors, private keys, passwords in URLs and headers, cards, IBANs and seed
    phrases; passwords, passphrases, PINs, codes, keys, and numbers of accounts and papers that their context reveals (English,
    Chinese, and to a lesser degree German, Spanish, French, Italian, Portuguese, Dutch, Japanese, Korean and Russian).
    Contacts (phone numbers, addresses, names) are not secrets here.

    Args:
        before: the message before: a password alone may answer its question.
    """
    return find_all_secrets([text], [before])[0]


def find_all_secrets(texts: Sequence[str], before: Sequence[str]) -> list[tuple[SecretSpan, ...]]:
    """The same for several texts at once, which takes half of the time.

    Args:
        before: for each text the message before it, or an empty text.
    """
    plain = [text if text.isascii() else text.translate(_TO_ASCII) for text in texts]
    tagger, found = load_tagger(), list[tuple[SecretSpan, ...]]()
    while len(found) < len(texts):  # bounded in characters, so that memory is too
        first, size = len(found), 0
        last = first
        while last < len(texts) and (last == first or size + len(plain[last]) <= _AT_ONCE):
            size += len(plain[last])
            last += 1
        part = slice(first, last)
        tagged = tagger.tag(plain[part], before[part])
        found += [_found(*each, tagger.threshold) for each in zip(texts[part], plain[part], tagged, strict=True)]
    return found


def _found(text: str, plain: str, tagged: Sequence[TaggedSecret], threshold: float) -> tuple[SecretSpan, ...]:
    """The secrets of a text: those of a defined form, and those of the tagger."""
    candidates = [
        form
        for form in find_forms(plain)
        if not form.doubtful or any(t.start < form.end and form.start < t.end for t in tagged)
    ]
    candidates += [
        _candidate(secret)
        for secret in tagged
        if secret.probability >= threshold
        and secret.kind not in _OF_FORM
        and not is_placeholder(plain[secret.start : secret.end])
    ]
    return _spans(text, candidates) if candidates else ()


def _candidate(secret: TaggedSecret) -> Candidate:
    noun = NOUNS[secret.kind]
    sensitivity: Sensitivity = "medium" if secret.kind in _MEDIUM else "high"
    return Candidate(secret.start, secret.end, secret.kind, noun, describe(noun, secret.about), sensitivity)


def _spans(text: str, candidates: Sequence[Candidate]) -> tuple[SecretSpan, ...]:
    """The candidates without overlap, the earlier of the sequence first; none overlaps a reference or an id of a record."""
    taken = [(found.start, found.end) for found in find_references(text)]
    taken += [match.span() for match in _RECORD_ID.finditer(text)]
    chosen: list[Candidate] = []
    for candidate in candidates:
        if all(candidate.end <= start or end <= candidate.start for start, end in taken):
            chosen.append(candidate)
            taken.append((candidate.start, candidate.end))
    chosen.sort()
    words = words_of(text[candidate.start : candidate.end] for candidate in chosen)
    return tuple(
        SecretSpan(
            start=candidate.start,
            end=candidate.end,
            kind=candidate.kind,
            # References are cleaned the same way, so the caption of a span and of its reference are one string.
            caption=safe_caption(
                clean_caption(candidate.caption),
                candidate.noun,
                text[candidate.start : candidate.end],
                words,
                fixed=candidate.fixed,
            ),
            sensitivity=candidate.sensitivity,
        )
        for candidate in chosen
    )


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
