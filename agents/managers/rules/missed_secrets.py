"""Secrets that record's rules let through, found by the words beside them: "the key box opens with 4471", 密码Qing7!ming."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re

__all__ = ["missed_secrets"]

_CUE = re.compile(
    r"password|passcode|passphrase|\bpin\b|\bcode\b|\bkey\b|token|secret|opens? with|combination"
    r"|密码|口令|密钥|暗号|密匙|wi-?fi|\bsafe\b|\block|\bgate\b|alarm|keypad|门禁|保险[箱柜]|门锁",
)
_TOLD = re.compile(
    r"(?P<what>(?:wi-?fi\s)?(?:password|passcode|passphrase|pin(?: code)?|密码|口令|密钥))(?:\s(?:for|of|to|on)\s(?:the|my|our)"
    r"\s[\w' -]{2,24}?)?(?:\s?(?:(?:is|are)(?:\s(?:now|still|just))?(?=[\s:])|'s\s|was changed to|changed to"
    r"|set to|=|:|：|现在是|还是|是|为"
    r"|就是|我?(?:给)?[设改换][成为]?了?))?\s?(?P<value>[!-~]{4,60})"
    r"|(?P<wifi>wi-?fi(?:\s(?:key|code|network key))?)\s?(?:is|=|:|：|是)\s?(?P<value2>[!-~]{6,60})",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?P<what>\b(?:\w+\s){0,2}?(?:box|safe|lock|gate|door|garage|alarm|shed|locker"
    r"|suitcase|keypad|padlock|entrance|building|intercom|cabinet|mailbox|postbox)\b|门禁|保险[箱柜]|门锁|单元门|大门)"
    r"[^.,\n]{0,25}?(?:opens? with|code is(?: now)?|combination is|is now|is(?=\s\d{4})|combination[,:]?|code[,:]?|密码是?[：:]?|是)"
    r"\s?(?P<value>\d{1,3}(?:-\d{1,3}){2,3}|[*#]?\d{3,8}[*#]?)(?![\w%]|\s?(?:cm|mm|kg|pounds?|euros?|dollars?|quid|metres?|years?|am|pm|号|元|块|年|月|楼|点|[€£$]))",
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
            group = "value2" if match.groupdict().get("value2") else "value"
            start, end = match.span(group)
            value = match[group].rstrip(".,;:!?)'\"”")
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
            what = (
                "wifi password"
                if group == "value2"
                else match["what"].strip().lower()
                if kind != "key"
                else "access key"
            )
            yield start, end, kind, f"code of the {what}" if kind == "code" else what
