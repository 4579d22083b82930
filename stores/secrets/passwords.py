"""Passwords, passphrases and logins in sentences: "the wifi password is hunter2!", "密码：abc12345".

A *name* (password, passphrase, 口令 …) is joined to a *value* by a *link*. The weaker the link, the more the value must look
like a secret by itself: after "password:" a plain last word is enough, after "password" alone it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hexamem.stores.secrets.captions import describe
from hexamem.stores.secrets.grammar import (
    CJK,
    Link,
    Value,
    ends_clause,
    find_link,
    followed_by_unit,
    identifier_bounds,
    identifier_end,
    left_words,
    read_value,
)
from hexamem.stores.secrets.spans import Candidate, Sensitivity, TextForms
from hexamem.stores.secrets.values import FUNCTION_WORDS, NOT_VALUES, Strength, is_placeholder, is_plain_word, strength

__all__ = ["find_passwords"]

_PRIORITY = 50

_PASSWORD_SIGNS = (
    "pass", "pwd", "pw", "psw", "kennwort", "contrase", "clave", "mdp", "parola", "senha", "palavra", "wachtwoord",
    "fi key", "fi-key", "wlan key", "wlan-key", "wpa key", "wpa2 key", "wireless key", "router key", "hotspot key",
    "network key", "парол", "パスワード", "비밀번호", "비번", "密码", "密碼", "口令", "暗号",
)  # fmt: skip
_PASSWORD = re.compile(
    r"pass[ -]?(?:words?|phrases?|codes?)|pass(?:wort|wd)?|pwd|psw|pw|kennwort|contrase(?:ñ|n)a|clave|"
    r"mot de passe|mdp|phrase de passe|frase de contrase(?:ñ|n)a|parola d['’]ordine|senha|palavra-passe|wachtwoord|"
    r"пароль|パスワード|비밀번호|비번|(?:wi-?fi|wlan|wpa2?|wireless|router|hotspot|network)[ -]key|"
    r"密[码碼]|口令|暗号"
)
_PHRASES = frozenset({"passphrase", "pass phrase", "pass-phrase", "phrase de passe", "passphrases", "pass phrases"})
_COMMON_WORDS = frozenset({"pass", "clave", "pw", "psw", "暗号", "passcode", "pass code", "pass-code"})
_FOREIGN = frozenset({"passwort", "kennwort", "contrasena", "clave", "mot de passe", "mdp", "senha", "wachtwoord"})
_LOGIN_NEARBY = re.compile(r"login|log-in|user|account|email|e-mail|wifi|wi-fi|\bpw\b|ssid|网|账|用户")
_GENERAL = frozenset(
    {"if", "whether", "a", "any", "every", "no", "ensure", "your", "each", "whose", "une", "eine", "una"}
)
_TO = re.compile(r"[ ]{1,2}(?:to|as|auf|a|en)[ ]{1,2}")
_CHANGE = re.compile(r"(?:chang|set|reset|updat|switch|geändert|cambi)\w*[^.!?\n]{0,40}$")
_WIFI = re.compile(r"wi-?fi|wlan|guest|router")
_MYSQL = re.compile(r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,120}?\s-p([^\s'\"]{3,64})")
_SSHPASS = re.compile(r"\bsshpass\s+-p\s{0,2}['\"]?([^\s'\"]{3,64})")
_CURL = re.compile(r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]{1,64}:([^\s'\"]{3,64})")

_TEMPLATE = re.compile(r"https?://|\{\{|\$\{|os\.environ")
_PHRASE = re.compile(r"[^\W\d_][\w'’-]{0,24}(?:[ -]{1,2}[\w'’-]{1,24}){2,11}")

_REVERSED = re.compile(
    r"(?:\"([^\"\n]{3,80})\"|“([^”\n]{3,80})”|`([^`\n]{3,80})`|'([^'\n]{3,80})'|([^\s\"“”`]{4,80}))"
    r"(?:[ ]{1,2}(?:is|was|as|=)|,? that['’]s|,? which is)[ ]{1,2}(?:now |still )?(?:the|my|our|your|his|her|their|a)[ ]"
    r"(?:new )?((?:[\w'’-]{1,24}[ ]){0,3})$"
)
_REVERSED_CJK = re.compile(r"([!-~]{4,64})[ ]{0,2}(?:就)?(?:是|为)[^\s，。,.;!?]{0,8}$")
_GOES_ON = re.compile(r"[,;][ ]|[ ](?:and|but|for|or|while|on|in)[ ]|\)")
_DIGIT_GROUPS = re.compile(r"\d{2}(?:[ ]\d{2}){1,5}(?!\d)|\d{4}(?:[ ]\d{4}){1,3}(?!\d)|\d{3}(?:[ ]\d{3}){1,3}(?!\d)")
_OTHER_ONE = re.compile(r"(?:new|old|other|current|previous|second|first) one (?:is|was)[ ]")
_HAN_VALUE = re.compile(r"[\u4e00-\u9fff]{4,12}(?![\u4e00-\u9fff])")
_HAN_FUNCTION = re.compile(
    "[的了是不没请吗呢什怎我你您他她它这那有在要会能可和与或就都也还很太错忘改必须为被由用户设置统发放]"
)


def _passwords(forms: TextForms) -> Iterator[Candidate]:
    low, norm = forms.low, forms.norm
    for cue in _PASSWORD.finditer(low):
        name = cue[0]
        bounds = identifier_bounds(forms, cue.start(), cue.end())
        if bounds is None:
            continue
        begin, identifier = bounds
        end = cue.end()
        if identifier or not CJK.match(name):
            end = identifier_end(low, end) or end
        before = left_words(norm, cue.start())
        preceding = _value_before(forms, cue.start(), end)
        if preceding is not None:
            yield _password(*preceding, name, before, "")
        link = find_link(forms, end)
        if link is None or (link.kind == "tag" and norm[begin - 1 : begin] not in ("<", "/")):
            continue
        if name in _COMMON_WORDS and link.kind == "direct" and name not in {"pw", "psw"}:
            continue
        if name == "pass" and link.kind not in {"colon", "equals", "copula"}:
            continue
        place = _password_value(forms, link, name, cue.start(), identifier)
        if place is None and link.kind == "direct":
            place = _changed_to(forms, cue.start(), end)
        if place is not None:
            yield _password(*place, name, before, link.of)


def _password(start: int, end: int, name: str, before: list[str], of: str) -> Candidate:
    noun = kind = "passphrase" if name in _PHRASES else "password"
    if not name.isascii() or name in _FOREIGN:
        noun = f"{noun} ({name})"  # found by a search in the language of the text
    if name.startswith("passcode") or name in {"pass code", "pass-code"}:
        noun = "passcode"
    words = f"{' '.join(before)} {of}".casefold()
    sensitivity: Sensitivity = "medium" if _WIFI.search(words) else "high"
    return Candidate(start, end, kind, noun, sensitivity, _PRIORITY, describe(noun, before, of))


def _changed_to(forms: TextForms, start: int, end: int) -> tuple[int, int] | None:
    """ "changed the password to hunter2": the preposition links only after a verb of change."""
    match = _TO.match(forms.low, end)
    if match is None or not _CHANGE.search(forms.low[max(0, start - 60) : start]):
        return None
    value = read_value(forms.norm, match.end(), "copula")
    if value is None:
        return None
    text = forms.norm[value.start : value.end]
    quoted = value.quoted and (_is_quoted_secret(text) or text.isalnum())
    strong = strength(text) is Strength.STRONG and not followed_by_unit(forms.low, value.end)
    return (value.start, value.end) if quoted or strong else None


def _password_value(forms: TextForms, link: Link, name: str, start: int, identifier: bool) -> tuple[int, int] | None:
    low, norm = forms.low, forms.norm
    if link.kind == "equals" and low[link.end : link.end + 1] == "=":
        return None
    value = read_value(norm, link.end, link.kind, keep_marks=CJK.match(name) is not None)
    if value is None:
        return None
    value = _with_its_mark(norm, value, link)
    text = norm[value.start : value.end]
    if value.quoted:
        if link.kind == "direct" and strength(text) is not Strength.STRONG:
            return None
        return (value.start, value.end) if _is_quoted_secret(text) else None
    if CJK.match(text):
        return _han_value(forms, value, link, name)
    power = strength(text)
    if name.startswith("passcode") and text.isdigit():
        return None  # a short code: find_codes finds it
    if power is Strength.STRONG:
        if followed_by_unit(low, value.end) and (text.replace("-", "").isdigit() or len(text) < 6):
            return None
        if name == "pass" and text.isdigit() and not _LOGIN_NEARBY.search(low[max(0, start - 60) : start]):
            return None
        if link.kind in {"direct", "dash"} and not (ends_clause(norm, value.end) and len(text) >= 4):
            return None
        if link.kind == "direct" and not (CJK.match(name) or len(text) >= 6):
            return None
        if text.isdigit() and (groups := _DIGIT_GROUPS.match(norm, value.start)) is not None:
            return groups.span()
        return value.start, value.end
    if text.isdigit() and link.kind != "dash" and (groups := _DIGIT_GROUPS.match(norm, value.start)) is not None:
        return groups.span() if ends_clause(norm, groups.end()) else None
    if power is Strength.NONE and link.kind == "direct":
        return None
    return _weak_value(forms, value, link, name, start, identifier)


def _with_its_mark(norm: str, value: Value, link: Link) -> Value:
    """The value with a "!" or "?" that belongs to it: the sentence goes on after the mark, or the value needs it."""
    mark = norm[value.end : value.end + 1]
    if value.quoted or mark not in ("!", "?") or norm[value.end + 1 : value.end + 2] == mark:
        return value
    text = norm[value.start : value.end]
    whole = value._replace(end=value.end + 1)
    if not any(map(str.isdigit, text)) or strength(f"{text}{mark}") is not Strength.STRONG:
        return value
    if _GOES_ON.match(norm, value.end + 1):
        return whole
    alone = link.kind in {"colon", "equals"} and norm[value.end + 1 : value.end + 2].strip() == ""
    return whole if alone and (strength(text) is Strength.NONE or any(c in "!?#$%&*@" for c in text)) else value


def _weak_value(
    forms: TextForms, value: Value, link: Link, name: str, start: int, identifier: bool
) -> tuple[int, int] | None:
    low, norm = forms.low, forms.norm
    text = norm[value.start : value.end]
    phrase = _spoken_phrase(norm, value.start, least=3 if name in _PHRASES else 4)
    if phrase is not None and link.is_explicit and not _is_general(low, start) and name not in _COMMON_WORDS:
        return phrase
    if strength(text) is not Strength.WEAK or not is_plain_word(text) or not ends_clause(norm, value.end, words=False):
        return None
    above = norm.rfind("\n", start, value.start)
    if above >= 0 and (value.start > above + 1 or norm[value.end : value.end + 1].strip(" \r\n")):
        return None  # "if password:" and the next line of the program
    if link.kind == "copula":
        is_value = name not in _COMMON_WORDS and not identifier and not _is_general(low, start)
    elif link.kind in {"colon", "equals"}:
        is_value = name not in _COMMON_WORDS or _LOGIN_NEARBY.search(low[max(0, start - 60) : start]) is not None
    else:
        is_value = link.kind == "tag"
    return (value.start, value.end) if is_value else None


def _is_general(low: str, start: int) -> bool:
    """Whether the clause is about passwords in general or under a condition: "if your password is …"."""
    return not _GENERAL.isdisjoint(left_words(low, start))


def _is_quoted_secret(text: str) -> bool:
    """Whether a text between quotes may be a password: no placeholder, no single common word, no plain sentence."""
    stripped = text.strip()
    words = stripped.casefold().split()
    if len(stripped) < 3 or len(words) > 12 or is_placeholder(stripped):
        return False
    if len(words) == 1:
        return words[0].strip(".,;:!?") not in NOT_VALUES and not _TEMPLATE.match(stripped)
    return sum(w.strip(".,;:!?") in FUNCTION_WORDS for w in words) * 2 < len(words)


def _spoken_phrase(norm: str, at: int, *, least: int) -> tuple[int, int] | None:
    """A passphrase of several plain words that fills its clause: "correct horse battery staple"."""
    match = _PHRASE.match(norm, at)
    if (
        match is None
        or not ends_clause(norm, match.end(), words=False)
        or norm.startswith(("'", "’", "("), match.end())
    ):
        return None
    words = match[0].casefold().split()
    if "-" in match[0]:
        words = re.split(r"[ -]+", match[0].casefold())
    if len(words) < least or (least > 3 and any(not w.isalpha() or len(w) < 3 for w in words)):
        return None
    if any(w in FUNCTION_WORDS for w in words):
        return None
    return match.start(), match.end()


def _han_value(forms: TextForms, value: Value, link: Link, name: str) -> tuple[int, int] | None:
    if name not in {"口令", "暗号"} or not link.is_explicit:
        return None
    match = _HAN_VALUE.match(forms.norm, value.start)
    if match is None or _HAN_FUNCTION.search(match[0]) or not ends_clause(forms.norm, match.end(), words=False):
        return None
    return match.start(), match.end()


def _value_before(forms: TextForms, start: int, end: int) -> tuple[int, int] | None:
    """The value before its name: '"hunter2" is my password', "use hunter2 as the wifi password"."""
    low, norm = forms.low, forms.norm
    offset = max(0, start - 110)
    window = low[offset:start]
    if not any(map(window.__contains__, (" is ", " as ", "that's ", " was ", "是"))) or not ends_clause(norm, end):
        return None
    match = _REVERSED.search(window) if " " in window else None
    if match is not None:
        group = next(i for i in range(1, 6) if match[i] is not None)
        text = norm[offset + match.start(group) : offset + match.end(group)]
        if (group < 5 and _is_quoted_secret(text)) or strength(text) is Strength.STRONG:
            return offset + match.start(group), offset + match.end(group)
    cjk = _REVERSED_CJK.search(window)
    if cjk is not None and CJK.match(low[start]):
        text = norm[offset + cjk.start(1) : offset + cjk.end(1)]
        if strength(text) is Strength.STRONG and not text.isdigit():
            return offset + cjk.start(1), offset + cjk.end(1)
    return None


def _other_ones(forms: TextForms) -> Iterator[Candidate]:
    """ "The password was hunter2. The new one is hunter3": a name in the sentence before."""
    for match in _OTHER_ONE.finditer(forms.low):
        value = read_value(forms.norm, match.end(), "copula")
        named = "password" in forms.low[max(0, match.start() - 100) : match.start()]
        if named and value is not None and strength(forms.norm[value.start : value.end]) is Strength.STRONG:
            yield Candidate(value.start, value.end, "password", "password", "high", _PRIORITY)


def _in_commands(forms: TextForms) -> Iterator[Candidate]:
    for sign, pattern in ((" -p", _MYSQL), ("sshpass", _SSHPASS), ("curl", _CURL)):
        if sign in forms.low:
            for match in pattern.finditer(forms.norm):
                if strength(match[1]) is not Strength.NONE:
                    yield Candidate(*match.span(1), "password", "password in a command", "high", _PRIORITY)


_LOGIN_SIGNS = ("login", "log-in", "credential", "creds", "username", "user name", "zugangsdaten")
_LOGIN = re.compile(
    r"(?<![^\W_])(?<![_-])(?:log-?in(?: (?:details|info|data|credentials))?|credentials?|creds|zugangsdaten)(?![\w-])"
)
_PAIR = re.compile(r"[\w.@+\-]{2,64}[ ]{0,2}[/:|][ ]{0,2}(?=[^\s/])")


def _logins(forms: TextForms) -> Iterator[Candidate]:
    """ "creds are bob:hunter2", "login: admin / s3cret"; a value after "pass:" is found by :func:`_passwords`."""
    low, norm = forms.low, forms.norm
    for cue in _LOGIN.finditer(low):
        link = find_link(forms, cue.end())
        pair = _PAIR.match(norm, link.end) if link is not None and link.is_explicit else None
        value = read_value(norm, pair.end(), "copula") if pair is not None else None
        if link is None or value is None:
            continue
        text = norm[value.start : value.end]
        if strength(text) is Strength.STRONG and not text.isdigit() and "://" not in norm[link.end : value.end]:
            caption = describe("password", left_words(norm, cue.start()), link.of)
            yield Candidate(value.start, value.end, "password", "password", "high", _PRIORITY - 5, caption)


_RULES = (
    (_PASSWORD_SIGNS, _passwords),
    ((" one is ", " one was "), _other_ones),
    (("mysql", "mariadb", "sshpass", "curl"), _in_commands),
    (_LOGIN_SIGNS, _logins),
)


def find_passwords(forms: TextForms) -> Iterator[Candidate]:
    """Passwords that the words around them name. Each rule runs only when the text contains one of its signs."""
    low = forms.low
    for signs, rule in _RULES:
        if any(map(low.__contains__, signs)):
            yield from rule(forms)
