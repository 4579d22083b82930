"""Known secrets in a text that is written down again, such as the query of a recall: found without decrypting any."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import func, select

from .ledger import Transaction, whole_words
from .ledger.schema import secrets
from .secrets import Cipher, find_references, reference

__all__ = ["replace_known"]


def replace_known(tx: Transaction, cipher: Cipher, texts: Sequence[str]) -> list[str]:
    """The texts with every secret of the user replaced by its reference, where it stands as a whole word.

    The vault tells two things of a secret without giving it away: its digest and, by the ciphertext, its length. So
    only pieces of a text that begin and end with a word and have the length of a secret are digested and compared.

    Args:
        tx: of the user; the secrets are those that its transaction sees.
    """
    if not texts or not tx.user_id:
        return list(texts)
    size = func.length(secrets.c.ciphertext)
    rows = tx.all(
        select(secrets.c.digest, secrets.c.id, secrets.c.caption, size.label("size")).where(
            secrets.c.user_id == tx.user_id
        )
    )
    if not rows:
        return list(texts)
    around = len(cipher.encrypt("", context=tx.user))
    put = {row.digest: reference(row.id, row.caption) for row in rows}
    lengths = sorted({row.size - around for row in rows}, reverse=True)  # the longest first: it may hold a shorter one
    return [_replaced(text, tx.user, cipher, put, lengths) for text in texts]


def _replaced(text: str, user: str, cipher: Cipher, put: dict[str, str], lengths: list[int]) -> str:
    pieces: list[str] = []
    end = 0
    for found in (*find_references(text), None):  # these stay whole
        pieces.append(_between(text[end : found.start if found else len(text)], user, cipher, put, lengths))
        if found:
            pieces.append(text[found.start : found.end])
            end = found.end
    return "".join(pieces)


def _between(text: str, user: str, cipher: Cipher, put: dict[str, str], lengths: list[int]) -> str:
    offsets = [0]  # of each character in UTF-8, in which the lengths are
    for char in text:
        offsets.append(offsets[-1] + len(char.encode("utf-8", "surrogatepass")))
    edges = [place for place in range(len(text) + 1) if _is_edge(text, place)]
    place_at = {offsets[place]: place for place in edges}
    pieces: list[str] = []
    done = 0
    for start in edges:
        if start < done:
            continue
        for length in lengths:
            stop = place_at.get(offsets[start] + length)
            if stop is None or stop <= start:
                continue
            stands_for = put.get(cipher.digest(text[start:stop], context=user).hex())
            if stands_for is not None:
                pieces += [text[done:start], stands_for]
                done = stop
                break
    return "".join([*pieces, text[done:]])


def _is_edge(text: str, place: int) -> bool:
    """Whether a whole word may begin or end here, by the rule of :func:`whole_words`."""
    return place in (0, len(text)) or not (_is_spaced(text[place - 1]) and _is_spaced(text[place]))


@lru_cache(maxsize=4_096)
def _is_spaced(char: str) -> bool:
    """Whether it is a letter or digit of a script that puts spaces between words."""
    return whole_words(char).match(f"{char}a") is None
