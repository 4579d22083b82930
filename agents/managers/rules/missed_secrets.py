"""Secrets that record's rules let through, found by the words beside them: "the key box opens with 4471", 密码Qing7!ming."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["missed_secrets"]

_CUE = re.compile(
    r"password|passcode|passphrase|\bpin\b|\bcode\b|\bkey\b|token|secret|opens? with|combination"
    r"|密码|口令|密钥|暗号|密匙",
)
_TOLD = re.compile(
    r"(?P<what>password|passcode|passphrase|pin(?: code)?|密码|口令|密钥)(?:\s?(?:is|are|'s|=|:|：|是|为"
    r"|就是))?\s?(?P<value>[!-~]{4,60})",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?P<what>\b(?:\w+\s){0,2}?(?:box|safe|lock|gate|door|garage|alarm|shed|locker"
    r"|suitcase)\b)[^.\n]{0,25}?(?:opens? with|code is"
    r"|combination is|combination[,:]?|code[,:]|密码)\s?(?P<value>\d{1,3}(?:-\d{1,3}){2,3}|\d{3,8})\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?<![\w/.-])(?P<value>(?=[\w-]*\d)(?=[\w-]*[A-Z])"
    r"(?=[\w-]*[a-z])[A-Za-z0-9]{2,12}[-_][A-Za-z0-9_-]{8,80})(?![\w/.-])"
)


def missed_secrets(text: str) -> Iterator[tuple[int, int, str, str]]:
    """(start, end, type, caption) of each; references to the vault are no secrets.

    Only what looks like one is taken: four characters or more with a digit, beside a word that says what it is.
    """
    if not _CUE.search(text.lower()):
        return
    taken: list[tuple[int, int]] = []
    for pattern, kind in ((_TOLD, "password"), (_OPENS, "code"), (_TOKEN, "key")):
        for match in pattern.finditer(text):
            start, end = match.span("value")
            value = match["value"].rstrip(".,;:!?)'\"”")
            end = start + len(value)
            if (
                "{{" in value
                or len(value) < 3
                or not any(c.isdigit() for c in value)
                or any(a < end and start < b for a, b in taken)
            ):
                continue
            if kind == "key" and not re.search(
                r"\bkey\b|token|secret|密钥", text[max(0, start - 60) : end + 30], re.IGNORECASE
            ):
                continue
            if kind == "password" and value.isdigit() and len(value) < 4:
                continue
            taken.append((start, end))
            what = match["what"].strip().lower() if kind != "key" else "access key"
            yield start, end, kind, f"code of the {what}" if kind == "code" else what
