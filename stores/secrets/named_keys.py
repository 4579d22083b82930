"""Keys and tokens that only their name identifies: "my weather API key is …", ``SECRET_KEY = "…"``, "私钥：…".

"Key", "token" and "secret" are everyday words, so the value must look drawn at random; how long it must be depends on
how clearly the name ("API key", ``X_TOKEN``) and the link show what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hexamem.stores.secrets.captions import describe
from hexamem.stores.secrets.grammar import (
    Link,
    ends_clause,
    find_link,
    identifier_bounds,
    left_words,
    occurrences,
    read_value,
)
from hexamem.stores.secrets.spans import Candidate, Sensitivity, TextForms
from hexamem.stores.secrets.values import Strength, is_placeholder, is_random, strength

__all__ = ["find_named_keys"]

_PRIORITY = 50
_SIGNS = ("key", "token", "secret", "密钥", "秘钥", "私钥", "令牌", "金鑰")
_NAME = re.compile(r"(?:keys?|tokens?|secrets?)(?![a-z])|密钥|秘钥|私钥|令牌|金鑰")
_QUALIFIERS = (
    "api", "secret", "access", "private", "auth", "authentication", "authorization", "encryption", "signing", "master",
    "client", "app", "application", "account", "service", "ssh", "webhook", "consumer", "deploy", "admin", "bot", "session",
    "refresh", "bearer", "id", "oauth", "personal", "shared", "wallet", "root", "license", "licence", "product", "activation",
    "serial", "windows", "steam", "recovery", "storage", "subscription", "openai", "github", "aws", "stripe", "私",
)  # fmt: skip
_LICENSES = frozenset({"license", "licence", "product", "activation", "serial", "windows", "steam"})
_NOT_SECRET = re.compile(
    r"(?:public|primary|foreign|cache|sort|partition|composite|idempotency|publishable|site|hash|dict(?:ionary)?|map|"
    r"major|minor|translation|i18n|message|row|object|s3|issue|jira|ticket|registry|answer|csrf|next|page|pagination|"
    r"cancellation|commit|etag|fingerprint|checksum|digest|sha\d{0,3}|md5|uuid|recv|send|keyserver|fungible|erc20|contract)[ _-]?$"
)
_SUFFIX = re.compile(r"[_ ]?(?:id|name|type|url|path|file|length|hash|fingerprint)\b")
_LICENSE = re.compile(r"[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,7}", re.IGNORECASE)
_HEX_KEY = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")
_AWS_SECRET = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9/+]{40}")
_BASE32 = re.compile(r"[A-Za-z2-7]{4}(?:[ ][A-Za-z2-7]{4}){3,7}(?![A-Za-z0-9])")
_TWO_FACTOR = re.compile(r"(?:2fa|mfa|totp|otp|authenticator|two-factor)(?: setup| backup)?[ _-]$")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_VALUE = re.compile(r"[A-Za-z0-9_\-+/=.~:!@#$%^*]{8,1024}")
_IDENTIFIER = re.compile(r"[a-z_.]+\d?")


def find_named_keys(forms: TextForms) -> Iterator[Candidate]:
    """Candidates whose name is a key, a token or a secret; at most one a name."""
    low, norm = forms.low, forms.norm
    for start in occurrences(low, _SIGNS):
        cue = _NAME.match(low, start)
        bounds = identifier_bounds(forms, start, cue.end()) if cue else None
        if cue is None or bounds is None:
            continue
        left = low[max(0, start - 24) : start]
        if _NOT_SECRET.search(left) or _SUFFIX.match(low, cue.end()):
            continue
        link = find_link(forms, cue.end())
        if link is None or link.kind == "tag":
            continue
        value = read_value(norm, link.end, link.kind)
        if value is None:
            continue
        groups = _BASE32.match(norm, value.start) if _TWO_FACTOR.search(left) else None
        if groups is not None and any(map(str.isdigit, groups[0])):
            caption = describe("two-factor secret", left_words(norm, start), link.of)
            yield Candidate(*groups.span(), "token", "two-factor secret", "high", _PRIORITY + 1, caption)
            continue
        text = norm[value.start : value.end]
        qualifier = _qualifier(left)
        if cue[0] == "key" and _opens_something(forms, start, text, link, value.end):
            caption = describe("access key", left_words(norm, start), link.of)
            yield Candidate(value.start, value.end, "password", "access key", "high", _PRIORITY - 1, caption)
            continue
        if not _is_key(text, qualifier, link, quoted=value.quoted, identifier=bounds[1]):
            continue
        noun, kind = _noun(qualifier, cue[0].rstrip("s"), text)
        words = left_words(norm, start)
        while words and not set(re.split(r"[-_]", words[-1].casefold())).isdisjoint(noun.casefold().split()):
            words.pop()
        sensitivity: Sensitivity = "medium" if kind == "license_key" else "high"
        yield Candidate(value.start, value.end, kind, noun, sensitivity, _PRIORITY, describe(noun, words, link.of))


def _qualifier(left: str) -> str:
    """The word right before the name that makes it a credential ("api", "refresh"), or an empty text."""
    left = left.rstrip(" _-")
    for word in _QUALIFIERS:
        if left.endswith(word) and not left[: -len(word)][-1:].isalpha():
            return word
    return ""


def _is_key(text: str, qualifier: str, link: Link, *, quoted: bool, identifier: bool) -> bool:
    named = bool(qualifier) or identifier
    if _HEX_KEY.fullmatch(text):
        return named or link.kind != "direct"
    if qualifier in _LICENSES:
        return _LICENSE.fullmatch(text) is not None and any(map(str.isdigit, text))
    if not _VALUE.fullmatch(text) or "=" in text.rstrip("=") or "://" in text:
        return False  # "=" is padding at the end, or the sign of another assignment
    if is_placeholder(text) or text.startswith(("$", "@", "/", "./")):
        return False
    if _UUID.fullmatch(text):
        return named and link.is_explicit
    if named and _AWS_SECRET.fullmatch(text):
        return True
    if text.isdigit() or strength(text) is Strength.NONE:
        return False
    if not (named and link.is_explicit):
        return is_random(text, min_length=20 if link.kind in {"direct", "dash"} and not named else 16)
    # Short keys of small services and "django-insecure-…" count within quotes or in an assignment.
    literal = quoted or (link.kind == "equals" and not _IDENTIFIER.fullmatch(text))
    strong = bool(qualifier) and literal and len(text) >= 8 and strength(text) is Strength.STRONG
    return is_random(text, min_length=10) or strong


_THE_KEY = re.compile(
    r"(?:^|[^\w-])(?:the|my|our|your)[ ](?:(?:wi-?fi|guest|new|old|spare|safe|locker|storage|unit|alarm|door|access|entry)[ ]){0,2}$"
)
_OF_PROGRAMS = re.compile(
    r"json|dict|redis|\bmap\b|column|table|cache|config|hash|field|database|\bdb\b|index|object|array|yaml|\benv\b|lookup|sort|prefix|bucket|row"
    r"|message|event|i18n|translation|song|chord|piano|music|\bkeys\b|keyboard|press|shortcut|hotkey|\bsql\b|session|label|record|score"
)
_CHOSEN = re.compile(
    r"(?=[^a-z]*[a-z][^a-z]*[a-z][^a-z]*[a-z])(?=\D*\d\D*\d)[a-z\d][a-z\d!#$%&*+.?@-]{5,30}", re.IGNORECASE
)


def _opens_something(forms: TextForms, start: int, text: str, link: Link, end: int) -> bool:
    """Whether "the key is …" names a chosen password, letters with digits, outside a talk of programs or music."""
    if link.kind not in {"colon", "copula"} or not _CHOSEN.fullmatch(text) or strength(text) is not Strength.STRONG:
        return False
    if not _THE_KEY.search(forms.low[max(0, start - 40) : start]) or not ends_clause(forms.norm, end):
        return False
    return _OF_PROGRAMS.search(forms.low[max(0, start - 80) : end + 60]) is None


def _noun(qualifier: str, name: str, text: str) -> tuple[str, str]:
    if name == "私钥" or (qualifier in {"private", "wallet", "ssh"} and name == "key" and _HEX_KEY.fullmatch(text)):
        return "private key", "private_key"
    if qualifier in _LICENSES:
        return "license key", "license_key"
    if name in {"token", "令牌"}:
        return f"{qualifier} token".strip(), "token"
    if name == "key" and qualifier not in {"api", "", "openai", "github", "aws", "stripe"}:
        return f"{qualifier} key", "api_key"
    return (f"{qualifier} secret".strip() if name == "secret" else "API key"), "api_key"
