"""The reference that replaces a secret in a text: ``{{vault:ID|caption}}``.

The ID names the vault record; the caption describes the secret for people and models. A reference is plain text: it
passes prompts, indexes and exports unchanged, and :func:`restore_references` inserts the plaintext again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hexamem.errors import InvalidInputError

__all__ = [
    "VaultReference",
    "clean_caption",
    "find_references",
    "format_references",
    "named_ids",
    "reference",
    "replaced_texts",
    "restore_references",
    "with_captions",
]

_MAX_CAPTION_LENGTH = 120

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,80}")
_REFERENCE = re.compile(r"\{\{vault:([A-Za-z0-9_.:-]{1,80})\|([^{}|\r\n]{0,200})\}\}")
_NAMED = re.compile(r"\{\{vault:([^{}|]*)")
_OF_THE = re.compile(r"([\w -]{2,30}) of the ([\w'’-]+(?: [\w'’-]+){0,2})")
_UNSAFE = str.maketrans({"{": "(", "}": ")", "|": "/"})
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f\u2028\u2029]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultReference:
    """One reference in a text: characters ``start`` to ``end`` are ``{{vault:id|caption}}``."""

    start: int
    end: int
    id: str
    caption: str


def clean_caption(caption: str) -> str:
    """The caption in the form that a reference allows: one line, no braces or pipes, at most 120 characters."""
    cleaned = _BLANKS.sub(" ", caption.translate(_UNSAFE)).strip()
    return cleaned[:_MAX_CAPTION_LENGTH].rstrip() or "secret"


def reference(id: str, caption: str) -> str:
    """Write ``{{vault:id|caption}}``; the caption is cleaned first.

    Raises:
        InvalidInputError: the id is not 1 to 80 letters, digits, ``_``, ``.``, ``:`` or ``-``.
    """
    if not _ID.fullmatch(id):
        raise InvalidInputError(
            f"vault id {id!r} is not valid in a reference: use 1 to 80 ASCII letters, digits, '_', '.', ':' or '-'"
        )
    return f"{{{{vault:{id}|{clean_caption(caption)}}}}}"


def find_references(text: str) -> tuple[VaultReference, ...]:
    """All references in the text, in order. Text that only resembles one is left out."""
    if "{{vault:" not in text:
        return ()
    return tuple(VaultReference(start=m.start(), end=m.end(), id=m[1], caption=m[2]) for m in _REFERENCE.finditer(text))


def named_ids(text: str) -> set[str]:
    """What a text names as ids of secrets, in references that may lack their caption, as in the reply of a model."""
    return set(_NAMED.findall(text))


def replaced_texts(text: str, with_references: str) -> tuple[str, ...] | None:
    """What a text contains at the place of each reference of another; None when they differ in anything else.

    Args:
        text: without references, or with some of them.
        with_references: the text with a reference in place of each secret.
    """
    references = find_references(with_references)
    if text == with_references:
        return tuple(with_references[place.start : place.end] for place in references)
    pattern, end = "", 0
    for place in references:
        pattern += re.escape(with_references[end : place.start]) + "(.+?)"
        end = place.end
    match = re.fullmatch(pattern + re.escape(with_references[end:]), text, re.DOTALL) if end else None
    return match.groups() if match is not None else None


def with_captions(text: str) -> str:
    """The text with the caption alone in place of each reference."""
    return _REFERENCE.sub(lambda m: m[2], text) if "{{vault:" in text else text


def restore_references(text: str, plaintexts: Mapping[str, str]) -> str:
    """Insert the plaintext where its id is known; other references are unchanged.

    Inserted plaintext is not searched again, so a secret that contains a reference cannot pull in another.
    """
    if "{{vault:" not in text:
        return text
    return _REFERENCE.sub(lambda m: plaintexts.get(m[1], m[0]), text)


def format_references(text: str) -> str:
    """The text for people: each reference as ``[secret: …]`` with its caption in the order of a sentence.

    "My wifi password is {{vault:s1|password of the wifi}}." becomes "My wifi password is [secret: wifi password]."
    """
    if "{{vault:" not in text:
        return text
    return _REFERENCE.sub(lambda m: f"[secret: {_OF_THE.sub(_turned, m[2]) or 'hidden'}]", text)


def _turned(match: re.Match[str]) -> str:
    return f"{match[2]} {match[1]}" if match.end() == len(match.string) and not match.start() else match[0]
