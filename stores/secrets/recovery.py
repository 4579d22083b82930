"""Secrets that are lists: the words of a wallet's seed phrase, the backup codes of an account."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hexamem.stores.secrets.captions import describe
from hexamem.stores.secrets.grammar import find_link, left_words, occurrences
from hexamem.stores.secrets.spans import Candidate, TextForms

__all__ = ["find_recovery_secrets"]

_PRIORITY = 50
_SEED_SIGNS = (
    "seed", "mnemonic", "recovery phrase", "recovery words", "wallet phrase", "wallet words", "backup phrase",
    "backup words", "secret phrase", "助记", "助記",
)  # fmt: skip
_SEED = re.compile(
    r"(?:seed|mnemonic)(?:[ -]?(?:phrase|words))?|(?:recovery|wallet|backup|secret) (?:phrase|words)|助[记記][词詞]"
)
_SEED_WORD = re.compile(r"[\s,;]{0,3}(?:\d{1,2}[.):]?[ ]{0,2})?([a-z]{3,8})(?![a-z])")
# BIP-39 has words of three to eight letters, and none of these.
_NOT_SEED_WORDS = frozenset(
    ("the", "and", "your", "with", "for", "are", "was", "has", "not", "from", "should", "their", "which", "would")
)
_LENGTHS = (12, 15, 18, 21, 24)

_BACKUP_SIGNS = ("backup code", "recovery code", "scratch code", "恢复码", "备用码")
_BACKUP = re.compile(r"(?:backup|recovery|scratch) codes?|恢复码|备用码")
_CODE = r"(?=[a-z0-9-]{0,12}\d)[a-z0-9]{4,12}(?:-[a-z0-9]{4,12})?(?![a-z0-9])"
_CODES = re.compile(rf"{_CODE}(?:[\s,;]{{1,3}}{_CODE}){{0,19}}")


def find_recovery_secrets(forms: TextForms) -> Iterator[Candidate]:
    """Seed phrases and backup codes after their name; a list is one secret."""
    if any(map(forms.low.__contains__, ("seed", "mnemonic", " phrase", " words", "助"))):
        yield from _seed_phrases(forms)
    if " code" in forms.low or "码" in forms.low:
        yield from _backup_codes(forms)


def _seed_phrases(forms: TextForms) -> Iterator[Candidate]:
    low, norm = forms.low, forms.norm
    done = 0
    for begin in sorted(occurrences(low, _SEED_SIGNS)):
        cue = _SEED.match(low, begin)
        if cue is None or begin < done:
            continue
        link = find_link(forms, cue.end())
        at = link.end if link else cue.end()
        while at < len(low) and low[at] in " \t\r\n\"“'`:":
            at += 1
        start = at
        ends: list[int] = []
        # Read in the text's own case: a seed phrase is in lower case, a sentence starts with a capital.
        while len(ends) < _LENGTHS[-1] and (word := _SEED_WORD.match(norm, at)) and word[1] not in _NOT_SEED_WORDS:
            at = word.end()
            ends.append(at)
        done = at  # a name among the words of a list is not read again
        counts = [n for n in _LENGTHS if n <= len(ends)]
        if counts:
            caption = describe("seed phrase", left_words(norm, begin))
            yield Candidate(start, ends[counts[-1] - 1], "seed_phrase", "seed phrase", "high", _PRIORITY + 20, caption)


def _backup_codes(forms: TextForms) -> Iterator[Candidate]:
    low, norm = forms.low, forms.norm
    for begin in occurrences(low, _BACKUP_SIGNS):
        cue = _BACKUP.match(low, begin)
        link = find_link(forms, cue.end()) if cue else None
        if link is None or not (link.is_explicit or link.kind == "dash"):
            continue
        match = _CODES.match(low, link.end)
        if match is not None and sum(map(str.isdigit, match[0])) >= 4:
            caption = describe("recovery codes", left_words(norm, begin), link.of)
            yield Candidate(*match.span(), "recovery_code", "recovery codes", "high", _PRIORITY + 1, caption)
