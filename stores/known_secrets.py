"""Known secrets in a text that is written down again, such as a message or a query: found without decrypting any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from sqlalchemy import Row, func, select

from .ledger import Transaction, whole_words
from .ledger.schema import secrets
from .secrets import Cipher, SecretSpan, find_references, reference

__all__ = ["find_known", "replace_known"]

_REMEMBERED = 100_000
_LONG = 8
"""Bytes from which a secret is looked for in what is remembered: a shorter one stands in other sentences by chance."""


def find_known(tx: Transaction, cipher: Cipher, texts: Iterable[str]) -> dict[str, SecretSpan]:
    """The secrets of the user, of 8 bytes and more, that stand in the texts as whole words: said again without a cue.

    Returns:
        plaintext → what the vault says of it; the places of the spans mean nothing.
    """
    vault = _vault(tx, cipher, _LONG)
    if not vault.rows:
        return {}
    found: dict[str, SecretSpan] = {}
    for text in texts:
        for start, stop, row in _places(text, tx.user, cipher, vault):
            found[text[start:stop]] = SecretSpan(
                start=0, end=stop - start, kind=row.kind, caption=row.caption, sensitivity=row.sensitivity
            )
    return found


def replace_known(tx: Transaction, cipher: Cipher, texts: Sequence[str]) -> list[str]:
    """The texts with every secret of the user replaced by its reference, where it stands as a whole word.

    The vault tells two things of a secret without giving it away: its digest and, by the ciphertext, its length. So
    only pieces of a text that begin and end with a word and have the length of a secret are digested and compared.

    Args:
        tx: of the user; the secrets are those that its transaction sees.
    """
    vault = _vault(tx, cipher)
    if not vault.rows:
        return list(texts)
    return [_replaced(text, tx.user, cipher, vault) for text in texts]


class _Vault(NamedTuple):
    rows: dict[str, Row[Any]]  # by digest
    lengths: list[int]  # of the secrets in UTF-8, the longest first: it may hold a shorter one


def _vault(tx: Transaction, cipher: Cipher, least: int = 1) -> _Vault:
    if not tx.user_id:
        return _Vault({}, [])
    around = len(cipher.encrypt("", context=tx.user))
    size = func.length(secrets.c.ciphertext) - around
    rows = tx.all(
        select(
            secrets.c.digest,
            secrets.c.id,
            secrets.c.kind,
            secrets.c.caption,
            secrets.c.sensitivity,
            size.label("size"),
        ).where(secrets.c.user_id == tx.user_id, size >= least)
    )
    return _Vault({row.digest: row for row in rows}, sorted({row.size for row in rows}, reverse=True))


def _replaced(text: str, user: str, cipher: Cipher, vault: _Vault) -> str:
    pieces: list[str] = []
    end = 0
    for found in (*find_references(text), None):  # these stay whole
        between = text[end : found.start if found else len(text)]
        done = 0
        for start, stop, row in _places(between, user, cipher, vault):
            pieces += [between[done:start], reference(row.id, row.caption)]
            done = stop
        pieces.append(between[done:])
        if found:
            pieces.append(text[found.start : found.end])
            end = found.end
    return "".join(pieces)


def _places(text: str, user: str, cipher: Cipher, vault: _Vault) -> Iterator[tuple[int, int, Row[Any]]]:
    """Where secrets stand, from left to right, none within another."""
    if len(text) < vault.lengths[-1] // 4:  # a character has at most four bytes
        return
    edges = [place for place in range(len(text) + 1) if _is_edge(text, place)]
    # The offset of each place in UTF-8, in which the lengths are.
    if text.isascii():
        offsets: Sequence[int] = range(len(text) + 1)
    else:
        offsets = [0, *accumulate(len(char.encode("utf-8", "surrogatepass")) for char in text)]
    place_at = {offsets[place]: place for place in edges}
    digests: dict[str, Row[Any] | None] = {}  # tables repeat their words
    done = 0
    for start in edges:
        if start < done:
            continue
        for length in vault.lengths:
            stop = place_at.get(offsets[start] + length)
            if stop is None or stop <= start:
                continue
            piece = text[start:stop]
            if piece not in digests:
                if len(digests) >= _REMEMBERED:
                    digests.clear()
                digests[piece] = vault.rows.get(cipher.digest(piece, context=user).hex())
            row = digests[piece]
            if row is not None:
                yield start, stop, row
                done = stop
                break


def _is_edge(text: str, place: int) -> bool:
    """Whether a whole word may begin or end here, by the rule of :func:`whole_words`."""
    return place in (0, len(text)) or not (_is_spaced(text[place - 1]) and _is_spaced(text[place]))


@lru_cache(maxsize=4_096)
def _is_spaced(char: str) -> bool:
    """Whether it is a letter or digit of a script that puts spaces between words."""
    return whole_words(char).match(f"{char}a") is None
