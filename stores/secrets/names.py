"""Names of secrets inside identifiers: ``DB_PASSWORD``, ``userPassword``, ``password_2``, but not ``compass``."""

from __future__ import annotations

import re

from hexamem.stores.secrets.grammar import CJK
from hexamem.stores.secrets.spans import TextForms

__all__ = ["identifier_bounds", "identifier_suffix"]

_SUFFIX = re.compile(r"(?:_(?:prod|dev|test|staging|new|old|main|root|admin))?_?\d{0,2}(?![\w])")
# Names long enough to be told apart when another word is glued to them ("wifipassword", "Masterpasswort").
_GLUED = frozenset({"password", "passwd", "passphrase", "token", "passwort", "kennwort", "key"})


def _is_name_char(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def identifier_suffix(low: str, end: int) -> int | None:
    """Where the identifier that a name at ``end`` belongs to ends; None when the name is the start of another word."""
    match = _SUFFIX.match(low, end)
    return match.end() if match else None


def identifier_bounds(forms: TextForms, start: int, end: int) -> tuple[int, bool] | None:
    """Where the identifier around the name ``start:end`` begins, and whether it is one.

    None when the name is part of another word. Chinese, Japanese and Korean names need no boundary.
    """
    low, norm = forms.low, forms.norm
    if CJK.match(low, start):
        return start, False
    after = low[end : end + 1]
    joined = bool(after) and (_is_name_char(after) or (after.isalpha() and not CJK.match(after)))
    if joined and identifier_suffix(low, end) is None:
        return None
    begin = start
    while begin > 0 and start - begin < 40 and (_is_name_char(low[begin - 1]) or low[begin - 1] in "-."):
        begin -= 1
    if begin == start:
        alone = start == 0 or not low[start - 1].isalpha() or CJK.match(low, start - 1) is not None
        return (begin, False) if alone else None
    joint = low[start - 1]
    camel = norm[start].isupper() and norm[start - 1].islower()
    if joint in "_-." or (joint.isalpha() and (camel or low[start:end] in _GLUED)):
        return begin, True
    return None
