"""Find the secrets of texts before anything is written, and put references in their place.

Two ways: values of a defined form (:mod:`~hexamem.stores.secrets.forms`), and the trained tagger for those that only their
context reveals (:mod:`~hexamem.stores.secrets.tagger`). No network, no state: the same texts always have the same spans.
"""

from __future__ import annotations

from collections.abc import Sequence

from hexamem.errors import InvalidInputError
from hexamem.stores.secrets.captions import NOUNS, describe, safe_caption, words_of
from hexamem.stores.secrets.forms import find_forms, is_placeholder
from hexamem.stores.secrets.references import clean_caption, find_references, reference
from hexamem.stores.secrets.spans import Candidate, SecretSpan, Sensitivity
from hexamem.stores.secrets.tagger import TaggedSecret, open_tagger

__all__ = ["find_secrets", "find_secrets_in", "replace_secrets"]

# Full-width letters, digits and the signs that link or bracket a value, one to one; sentence marks stay, they end it.
_TO_ASCII = {0x3000: " ", 0x00A0: " "} | {
    c: chr(c - 0xFEE0) for c in range(0xFF03, 0xFF5F) if chr(c) not in "，；？！．：（）"
}
_MEDIUM = frozenset({"bank_account", "license_key"})


def find_secrets(text: str, before: str = "") -> tuple[SecretSpan, ...]:
    """The secrets in one text; see :func:`find_secrets_in`, which is faster for many."""
    return find_secrets_in([text], [before])[0]


def find_secrets_in(
    texts: Sequence[str], before: Sequence[str] | None = None, *, forms_only: bool = False
) -> list[tuple[SecretSpan, ...]]:
    """The secrets of each text, in order and without overlap; text in ``{{vault:…}}`` references is never one.

    What is found: keys and tokens of some eighty vendors, private keys, passwords in URLs and commands; passwords, PINs,
    codes, keys and numbers of papers and accounts that their context reveals; cards, IBANs, seed phrases. Contacts (phone
    numbers, addresses, names) are not secrets here.

    Args:
        texts: any texts.
        before: for each what was written before it: a password alone may answer a question for it.
        forms_only: leave out what only its context reveals.
    """
    plain = [text if text.isascii() else text.translate(_TO_ASCII) for text in texts]
    forms = [list(find_forms(text)) for text in plain]
    if forms_only:
        tagged: list[tuple[list[TaggedSecret], list[bool]]] = [([], [False] * len(found)) for found in forms]
    else:
        doubtful = [[(one.start, one.end) for one in found if not one.certain] for found in forms]
        tagged = open_tagger().tag(plain, before or [""] * len(texts), doubtful)
    spans = []
    for text, found, (secrets, sure) in zip(texts, forms, tagged, strict=True):
        decided = iter(sure)
        candidates = [one for one in found if one.certain or next(decided)]
        candidates += [_candidate(one) for one in secrets if not _is_no_secret(one.kind, text[one.start : one.end])]
        spans.append(_spans(text, candidates) if candidates else ())
    return spans


def _is_no_secret(kind: str, value: str) -> bool:
    # Words of a seed phrase are secret as a whole, which has a form of its own: a few of them are everyday words.
    return is_placeholder(value) or (kind == "seed_phrase" and value.replace(" ", "").isalpha())


def _candidate(secret: TaggedSecret) -> Candidate:
    sensitivity: Sensitivity = "medium" if secret.kind in _MEDIUM else "high"
    return Candidate(
        secret.start, secret.end, secret.kind, describe(NOUNS[secret.kind], secret.about), sensitivity, certain=False
    )


def _spans(text: str, candidates: Sequence[Candidate]) -> tuple[SecretSpan, ...]:
    taken = [(one.start, one.end) for one in find_references(text)]
    chosen: list[Candidate] = []
    for one in candidates:  # those of a defined form first
        if all(one.end <= start or end <= one.start for start, end in taken):
            chosen.append(one)
            taken.append((one.start, one.end))
    chosen.sort()
    words = words_of(text[one.start : one.end] for one in chosen)
    return tuple(
        SecretSpan(
            start=one.start,
            end=one.end,
            kind=one.kind,
            caption=safe_caption(
                clean_caption(one.caption),
                NOUNS.get(one.kind, one.caption),
                text[one.start : one.end],
                words,
                fixed=one.certain,
            ),
            sensitivity=one.sensitivity,
            certain=one.certain,
        )
        for one in chosen
    )


def replace_secrets(text: str, spans: Sequence[SecretSpan], ids: Sequence[str]) -> str:
    """Put ``{{vault:ID|caption}}`` in place of each span.

    Args:
        text: the text that the spans were found in.
        spans: in order and without overlap, as :func:`find_secrets` returns them.
        ids: the vault id of each span, as many as there are spans; an id may repeat when the same secret is said twice.

    Raises:
        InvalidInputError: the numbers differ, a span lies outside the text or before the end of the one before it, or
            an id cannot stand in a reference.
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
