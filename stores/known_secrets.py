"""Secrets of the vault that occur again in a text, such as a message or a query: found without decrypting any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Integer, Row, bindparam, func, select

from hexamem.stores.ledger import Transaction, is_spaced_letter
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import secrets
from hexamem.stores.secrets import Cipher, SecretSpan, find_references, reference

__all__ = ["find_known", "replace_known"]

_MAX_SEEN = 500_000
_BATCH = 50_000
_LONG = 8
"""Least bytes of a secret that is searched for in new messages: a shorter one occurs in other sentences by chance."""


def find_known(tx: Transaction, cipher: Cipher, texts: Iterable[str]) -> dict[str, SecretSpan]:
    """The secrets of the user, of 8 bytes and more, that occur in the texts as whole words.

    Returns:
        plaintext → a span with the kind, caption and sensitivity of the vault; its offsets have no meaning.
    """
    vault = _vault(tx, cipher, _LONG)
    read = [_Read.of(text) for text in texts] if vault.rows else []
    known = _known_pieces(read, tx.user, cipher, vault)
    return {
        text.text(start, stop): SecretSpan(
            start=0, end=stop - start, kind=row.kind, caption=row.caption, sensitivity=row.sensitivity
        )
        for text in (read if known else ())
        for start, stop, row in _places(text, known)
    }


def replace_known(tx: Transaction, cipher: Cipher, texts: Sequence[str]) -> list[str]:
    """The texts with every secret of the user, where it is a whole word, replaced by its reference.

    Without decryption the vault knows the digest of a secret and, by the ciphertext, its length. So the pieces of a
    text that begin and end with a word and have the length of a secret are digested and compared.

    Args:
        tx: a transaction of the user.
        cipher: of the vault.
        texts: read and returned in order; references in them are unchanged.
    """
    vault = _vault(tx, cipher)
    if not vault.rows:
        return list(texts)
    return [_replaced(text, tx.user, cipher, vault) for text in texts]


_SIZE = func.length(secrets.c.ciphertext) - bindparam("overhead", type_=Integer)
_SECRETS_BY_LENGTH = Prepared(
    select(
        *(secrets.c[name] for name in ("digest", "id", "kind", "caption", "sensitivity")), _SIZE.label("size")
    ).where(secrets.c.user_id == bindparam("user"), bindparam("least", type_=Integer) <= _SIZE)
)


class _Vault(NamedTuple):
    rows: dict[str, Row[Any]]  # by digest
    lengths: list[int]  # of the secrets in UTF-8, the longest first: it may contain a shorter one


def _vault(tx: Transaction, cipher: Cipher, least: int = 1) -> _Vault:
    if not tx.user_id:
        return _Vault({}, [])
    rows = tx.all(_SECRETS_BY_LENGTH, user=tx.user_id, overhead=cipher.overhead, least=least)
    return _Vault({row.digest: row for row in rows}, sorted({row.size for row in rows}, reverse=True))


def _replaced(text: str, user: str, cipher: Cipher, vault: _Vault) -> str:
    pieces: list[str] = []
    end = 0
    for mark in (*find_references(text), None):
        between = _Read.of(text[end : mark.start if mark else len(text)])
        done = 0
        for start, stop, row in _places(between, _known_pieces([between], user, cipher, vault)):
            pieces += [between.text(done, start), reference(row.id, row.caption)]
            done = stop
        pieces.append(between.text(done))
        if mark:
            pieces.append(text[mark.start : mark.end])
            end = mark.end
    return "".join(pieces)


class _Read(NamedTuple):
    """A text in UTF-8, and at which of its bytes a whole word may begin or end."""

    data: bytes
    edges: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, text: str) -> _Read:
        data = text.encode("utf-8", "surrogatepass")
        ascii_only = len(data) == len(text)
        points = np.frombuffer(
            data if ascii_only else text.encode("utf-32-le", "surrogatepass"), "u1" if ascii_only else "<u4"
        )
        table = np.zeros(int(points.max(initial=0)) + 1, dtype=bool)
        for char in set(text):
            table[ord(char)] = is_spaced_letter(char)
        spaced = table[points]
        edges = np.ones(len(text) + 1, dtype=bool)  # by the rule of whole_words
        edges[1:-1] = ~(spaced[:-1] & spaced[1:])
        if ascii_only:
            return cls(data, edges)
        widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
        of_bytes = np.zeros(len(data) + 1, dtype=bool)
        of_bytes[np.concatenate(([0], np.cumsum(widths)))[edges]] = True
        return cls(data, of_bytes)

    def text(self, start: int, stop: int | None = None) -> str:
        return self.data[start:stop].decode("utf-8", "surrogatepass")

    def pieces(self, size: int) -> Iterator[set[bytes]]:
        """The pieces of ``size`` bytes that begin and end with a whole word, in batches."""
        if size >= len(self.edges):
            return
        starts = np.flatnonzero(self.edges[:-size] & self.edges[size:])
        for part in range(0, len(starts), _BATCH):
            yield {self.data[at : at + size] for at in map(int, starts[part : part + _BATCH])}


def _known_pieces(read: Sequence[_Read], user: str, cipher: Cipher, vault: _Vault) -> dict[bytes, Row[Any]]:
    """The secrets of the vault that occur in the texts. Tables repeat their words: each is digested once."""
    known: dict[bytes, Row[Any]] = {}
    for size in vault.lengths:
        seen: set[bytes] = set()
        for text in read:
            for pieces in text.pieces(size):
                fresh = list(pieces - seen)
                for piece, digest in zip(fresh, cipher.digests(fresh, user), strict=True):
                    row = vault.rows.get(digest.hex())
                    if row is not None:
                        known[piece] = row
                if len(seen) >= _MAX_SEEN:
                    seen.clear()
                seen.update(fresh)
    return known


def _places(read: _Read, known: Mapping[bytes, Row[Any]]) -> list[tuple[int, int, Row[Any]]]:
    """Start, end (in bytes) and row of the secrets in a text, from left to right without overlap, the longest first."""
    places: list[tuple[int, int, Row[Any]]] = []
    for piece, row in known.items():
        at = read.data.find(piece)
        while at >= 0:
            if read.edges[at] and read.edges[at + len(piece)]:
                places.append((at, at + len(piece), row))
            at = read.data.find(piece, at + 1)
    places.sort(key=lambda place: (place[0], -place[1]))
    apart: list[tuple[int, int, Row[Any]]] = []
    for place in places:
        if not apart or place[0] >= apart[-1][1]:
            apart.append(place)
    return apart
