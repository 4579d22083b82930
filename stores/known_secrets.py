"""Known secrets in a text that is written down again, such as a message or a query: found without decrypting any."""

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

_REMEMBERED = 500_000
_AT_ONCE = 50_000
_LONG = 8
"""Bytes from which a secret is looked for in what is remembered: a shorter one stands in other sentences by chance."""


def find_known(tx: Transaction, cipher: Cipher, texts: Iterable[str]) -> dict[str, SecretSpan]:
    """The secrets of the user, of 8 bytes and more, that stand in the texts as whole words: said again without a cue.

    Returns:
        plaintext → what the vault says of it; the places of the spans mean nothing.
    """
    vault = _vault(tx, cipher, _LONG)
    read = [_Read.of(text) for text in texts] if vault.rows else []
    held = _held(read, tx.user, cipher, vault)
    found: dict[str, SecretSpan] = {}
    for one in read if held else ():
        for start, stop, row in _places(one, held):
            found[one.text(start, stop)] = SecretSpan(
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


_SIZE = func.length(secrets.c.ciphertext) - bindparam("around", type_=Integer)
_HELD = Prepared(
    select(
        *(secrets.c[name] for name in ("digest", "id", "kind", "caption", "sensitivity")), _SIZE.label("size")
    ).where(secrets.c.user_id == bindparam("user"), bindparam("least", type_=Integer) <= _SIZE)
)


class _Vault(NamedTuple):
    rows: dict[str, Row[Any]]  # by digest
    lengths: list[int]  # of the secrets in UTF-8, the longest first: it may hold a shorter one


def _vault(tx: Transaction, cipher: Cipher, least: int = 1) -> _Vault:
    if not tx.user_id:
        return _Vault({}, [])
    rows = tx.all(_HELD, user=tx.user_id, around=cipher.around, least=least)
    return _Vault({row.digest: row for row in rows}, sorted({row.size for row in rows}, reverse=True))


def _replaced(text: str, user: str, cipher: Cipher, vault: _Vault) -> str:
    pieces: list[str] = []
    end = 0
    for found in (*find_references(text), None):  # these stay whole
        between = _Read.of(text[end : found.start if found else len(text)])
        done = 0
        for start, stop, row in _places(between, _held([between], user, cipher, vault)):
            pieces += [between.text(done, start), reference(row.id, row.caption)]
            done = stop
        pieces.append(between.text(done))
        if found:
            pieces.append(text[found.start : found.end])
            end = found.end
    return "".join(pieces)


class _Read(NamedTuple):
    """A text in UTF-8, in which the lengths of secrets are, and at which of its bytes a whole word may begin or end."""

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
        """What begins and ends with a word and has this length, in parts of a bounded number."""
        if size >= len(self.edges):
            return
        starts = np.flatnonzero(self.edges[:-size] & self.edges[size:])
        for part in range(0, len(starts), _AT_ONCE):
            yield {self.data[at : at + size] for at in map(int, starts[part : part + _AT_ONCE])}


def _held(read: Sequence[_Read], user: str, cipher: Cipher, vault: _Vault) -> dict[bytes, Row[Any]]:
    """The secrets of the vault that stand somewhere in the texts. Tables repeat their words: each is digested once."""
    found: dict[bytes, Row[Any]] = {}
    for size in vault.lengths:
        seen: set[bytes] = set()
        for one in read:
            for pieces in one.pieces(size):
                fresh = list(pieces - seen)
                for piece, digest in zip(fresh, cipher.digests(fresh, user), strict=True):
                    row = vault.rows.get(digest.hex())
                    if row is not None:
                        found[piece] = row
                if len(seen) >= _REMEMBERED:
                    seen.clear()
                seen.update(fresh)
    return found


def _places(read: _Read, held: Mapping[bytes, Row[Any]]) -> list[tuple[int, int, Row[Any]]]:
    """Where secrets stand, in bytes, from left to right, none within another; of those that begin at one the longest."""
    places: list[tuple[int, int, Row[Any]]] = []
    for piece, row in held.items():
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
