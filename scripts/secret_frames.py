"""Messages made from the sentence frames of ``evals/corpus/secrets/frames.json``: slots are filled at random.

A slot is a list of the file's ``fillers``, or one of the generators here: passwords, codes and numbers of the forms that
people choose or are given. ``⟦…⟧`` marks a secret.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stdnum import luhn

__all__ = ["Message", "expand", "password"]

_SLOT = re.compile(r"(?<!\$)\{(\w+)\}")
_MARK = re.compile(r"⟦(.*?)⟧", re.DOTALL)
_HAN_WORDS = (
    "春暖花开 芝麻开门 天王盖地虎 今晚吃饺子 小猫爱吃鱼 明月几时有 床前明月光 老地方见 我爱北京 西湖醋鱼 红烧肉 大白兔 阳光灿烂 北极熊 快乐星期天"
).split()
_PINYIN = "xiao wang li ming zhang chen mei hua yu fei tian bao long feng yun lan jia qiang hong xue an le kai wei".split()
_OF_ADJECTIVES = ("able", "ible", "ed", "ing", "ous", "ive", "ful", "less", "ly", "ant", "ent", "ic", "al", "ary")
_SIGNS = "!@#$%&*+-_.?"
_ABOUT = frozenset({"place", "device", "net", "account", "file", "card", "svc", "acc", "dev"})


class Message(NamedTuple):
    """A message: its text, the one before it, its secrets as (start, end, kind), the words that say what they open."""

    text: str
    before: str
    secrets: tuple[tuple[int, int, str], ...]
    about: tuple[tuple[int, int], ...] = ()


def password(draw: random.Random, words: list[str], *, plain: float = 0.25) -> str:
    """A password as people choose them; with the probability ``plain`` a bare word."""
    word = _word(draw, words)
    if draw.random() < plain:
        return draw.choice((word, word.capitalize(), word + draw.choice(words)))
    number = str(draw.choice((draw.randrange(10), draw.randrange(100), draw.randrange(1940, 2027), draw.randrange(1000))))
    sign, other = draw.choice(_SIGNS), draw.choice(words)
    leet = word.translate(str.maketrans(*draw.choice((("aeio", "4310"), ("eo", "30"), ("as", "@$"), ("i", "!")))))
    choices: tuple[Callable[[], str], ...] = (
        lambda: word + number,
        lambda: word.capitalize() + number,
        lambda: word.capitalize() + sign + number,
        lambda: word.capitalize() + other.capitalize() + number,
        lambda: word + sign + other,
        lambda: word.capitalize() + sign + other.capitalize(),
        lambda: word + "-" + other + "-" + number,
        lambda: word + "_" + number,
        lambda: word.capitalize() + number + sign,
        lambda: leet + number,
        lambda: leet.capitalize() + sign,
        lambda: number + word.capitalize(),
        lambda: word + "." + other + "." + number,
        lambda: "".join(draw.choice(string.ascii_letters + string.digits) for _ in range(draw.randrange(6, 14))) + number,
        lambda: "".join(draw.choice(string.ascii_letters + string.digits + _SIGNS[:6]) for _ in range(draw.randrange(6, 12))) + number,
        lambda: number * 2 + word[:3],
        lambda: draw.choice(("qwerty", "asdf", "abc", "zxcv", "pass", "letmein", "welcome", "admin")) + number,
    )
    return draw.choice(choices)()


def _word(draw: random.Random, words: list[str]) -> str:
    while (word := draw.choice(words)).endswith(_OF_ADJECTIVES):
        pass
    return word


def _adjective(draw: random.Random, words: list[str]) -> str:
    while not (word := draw.choice(words)).endswith(_OF_ADJECTIVES):
        pass
    return word


def _digits(draw: random.Random, size: int) -> str:
    return "".join(draw.choice(string.digits) for _ in range(size))


def _some(draw: random.Random, alphabet: str, size: int) -> str:
    return "".join(draw.choice(alphabet) for _ in range(size))


def _card(draw: random.Random) -> str:
    body = draw.choice(("4", "51", "55", "37", "6217")) + _digits(draw, 12)
    body = body[:14] if body.startswith("37") else body[:15]
    number = body + luhn.calc_check_digit(body)
    return " ".join(number[i : i + 4] for i in range(0, 16, 4)) if len(number) == 16 and draw.random() < 0.4 else number


_UPPER = string.ascii_uppercase
_HEX = "0123456789abcdef"
_ALNUM = string.ascii_letters + string.digits


def _value(slot: str, draw: random.Random, words: list[str]) -> str | None:
    """What a generator puts in a slot; None for a slot that is none."""
    d = lambda size: _digits(draw, size)  # noqa: E731
    u = lambda size: _some(draw, _UPPER, size)  # noqa: E731
    word = lambda: _word(draw, words)  # noqa: E731
    year = str(draw.randrange(1950, 2030))
    made: dict[str, Callable[[], str]] = {
        "pw": lambda: password(draw, words),
        "pwx": lambda: password(draw, words, plain=0.08),
        "pwzh": lambda: draw.choice(
            (
                password(draw, words, plain=0.1),
                draw.choice(_PINYIN) + draw.choice(_PINYIN) + d(draw.randrange(2, 5)),
                draw.choice(_PINYIN).capitalize() + draw.choice("@#_!.") + d(4),
                draw.choice(_PINYIN) + year,
                d(8),
                d(6),
            )
        ),
        "word": word,
        "adjx": lambda: _adjective(draw, words),
        "base32": lambda: " ".join(_some(draw, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 4) for _ in range(4)),
        "Word": lambda: word().capitalize(),
        "phrase": lambda: " ".join(word() for _ in range(draw.randrange(2, 5))) + draw.choice(("", "", " " + d(2))),
        "phrase4": lambda: " ".join(word() for _ in range(draw.randrange(3, 6))),
        "dashed": lambda: "-".join(word() for _ in range(draw.randrange(3, 6))),
        "pin4": lambda: draw.choice((d(4), d(4), d(4), d(5), d(6), year)),
        "pin6": lambda: draw.choice((d(6), d(4), d(6), d(5))),
        "code": lambda: draw.choice(
            (d(4), d(4), d(4), d(5), d(6), d(3), d(4) + "#", "*" + d(4), d(4) + "*", d(4) + u(1), u(1) + d(4), u(1) + d(3) + u(1), d(2) + u(1) + d(2), year)
        ),
        "combo": lambda: draw.choice(("-", "-", " ", ".")).join(d(draw.choice((1, 2, 2))) for _ in range(draw.choice((3, 4)))),
        "otp": lambda: draw.choice((d(6), d(6), d(4), d(5), d(8), d(3) + " " + d(3), d(3) + "-" + d(3))),
        "spoken": lambda: " ".join(
            draw.choice("zero oh one two three four five six seven eight nine".split()) for _ in range(4)
        ),
        "cvv": lambda: draw.choice((d(3), d(3), d(4))),
        "acct": lambda: draw.choice((d(8), d(10), d(12), d(7), d(9), d(4) + " " + d(4))),
        "sort": lambda: draw.choice((f"{d(2)}-{d(2)}-{d(2)}", f"{d(2)} {d(2)} {d(2)}", d(6))),
        "routing": lambda: d(9),
        "bsb": lambda: f"{d(3)}-{d(3)}",
        "passport": lambda: draw.choice((u(2) + d(7), u(1) + d(8), d(9), u(1) + d(2) + u(1) + d(5), u(3) + d(6))),
        "idnum": lambda: draw.choice((d(9), d(10), d(11), f"{d(2)} {d(3)} {d(3)} {d(3)}", u(1) + d(8))),
        "license": lambda: draw.choice((u(1) + d(7), u(5) + d(6) + u(2) + d(1) + u(2), d(8))),
        "ssn": lambda: draw.choice((f"{d(3)}-{d(2)}-{d(4)}", f"{d(3)} {d(2)} {d(4)}", d(9))),
        "nino": lambda: draw.choice((f"{u(2)} {d(2)} {d(2)} {d(2)} {u(1)}", u(2) + d(6) + u(1))),
        "nhs": lambda: f"{d(3)} {d(3)} {d(4)}",
        "aadhaar": lambda: f"{d(4)} {d(4)} {d(4)}",
        "pan": lambda: u(5) + d(4) + u(1),
        "dni": lambda: d(8) + u(1),
        "cnid": lambda: d(6) + year + d(2) + d(2) + d(3) + draw.choice("0123456789X"),
        "cncard": lambda: draw.choice((d(16), d(19), f"{d(4)} {d(4)} {d(4)} {d(4)}", f"{d(4)} {d(4)} {d(4)} {d(4)} {d(3)}")),
        "key": lambda: draw.choice(
            (
                _some(draw, _HEX, draw.choice((8, 10, 16, 32, 40))),
                _some(draw, _ALNUM, draw.randrange(10, 28)) + d(1),
                _some(draw, string.ascii_lowercase, 2) + draw.choice("_-.") + _some(draw, _ALNUM, draw.randrange(8, 20)) + d(2),
                _some(draw, _ALNUM, 4) + "-" + d(4) + "-" + _some(draw, _ALNUM, 4) + d(1),
                _some(draw, _ALNUM, 14) + "==",
            )
        ),
        "license_key": lambda: "-".join(_some(draw, _UPPER + string.digits, draw.choice((4, 5))) for _ in range(draw.choice((3, 4, 5)))),
        "backup": lambda: draw.choice((", ", " ", ", ")).join(
            _some(draw, _HEX, 4) + "-" + d(4) if draw.random() < 0.5 else d(8) for _ in range(draw.randrange(2, 5))
        ),
        "backup1": lambda: draw.choice((d(8), d(4) + "-" + d(4), _some(draw, _HEX, 4) + "-" + _some(draw, _HEX, 4) + d(1))),
        "share": lambda: _some(draw, _HEX + "kmnpqrs", 3) + d(1),
        "hanphrase": lambda: draw.choice(_HAN_WORDS),
        "ssid": lambda: draw.choice((word().capitalize(), word().capitalize() + word().capitalize(), f"FRITZ!Box {d(4)}", "TP-Link_" + _some(draw, _HEX.upper(), 4), word().capitalize() + "-Guest")),
        "ident": lambda: draw.choice("DB APP REDIS MYSQL ADMIN API SMTP STRIPE MAPS POSTGRES MAIL GRAFANA S3 JWT ROOT".split()),
        "n1": lambda: d(1),
        "n2": lambda: str(draw.randrange(10, 100)),
        "n3": lambda: str(draw.randrange(100, 1000)),
        "n4": lambda: str(draw.randrange(1000, 10000)),
        "n5": lambda: str(draw.randrange(10000, 100000)),
        "n6": lambda: d(draw.choice((6, 7, 8, 9))),
        "ref": lambda: draw.choice((u(2) + d(4), u(1) + d(1) + u(2) + d(1) + u(1), d(3) + "-" + d(7), u(3) + "-" + d(4), d(6), word().upper() + d(2), "A-" + d(4))),
        "year": lambda: year,
        "date": lambda: draw.choice((f"{year}-0{draw.randrange(1, 10)}-{draw.randrange(10, 29)}", f"{draw.randrange(1, 29)} May", "Monday", "12/03", "June 3rd")),
        "time": lambda: draw.choice((f"{draw.randrange(1, 13)}:{draw.randrange(10, 60)}", f"{draw.randrange(10, 24)}{draw.randrange(10, 60)}", "8am", "7 pm")),
        "price": lambda: draw.choice((f"{d(2)} euros", f"${draw.randrange(10, 9999)}", f"£{draw.randrange(10, 999)}", f"{draw.randrange(10, 999)}.{d(2)}")),
        "phone": lambda: draw.choice((f"+44 7700 900{d(3)}", f"({d(3)}) 555-0{d(3)}", f"{d(3)}-555-{d(4)}", f"0{d(3)} {d(6)}", "13" + d(9), f"+1 415 555 {d(4)}")),
        "hex": lambda: _some(draw, _HEX, draw.choice((7, 8, 12, 32, 40))),
        "uuid": lambda: "-".join(_some(draw, _HEX, n) for n in (8, 4, 4, 4, 12)),
        "version": lambda: f"{draw.randrange(1, 20)}.{draw.randrange(30)}.{draw.randrange(10)}",
        "serial": lambda: u(1) + d(2) + u(2) + d(1) + u(4),
        "plate": lambda: draw.choice((u(3) + "-" + d(4), u(2) + d(2) + " " + u(3), d(1) + u(3) + d(3), "粤B" + d(5))),
        "flight": lambda: u(2) + d(draw.choice((3, 4))),
        "tracking": lambda: draw.choice(("1Z" + _some(draw, _UPPER + string.digits, 16), d(20), "JD" + d(16))),
        "imei": lambda: d(15),
        "luhn": lambda: _card(draw),
    }  # fmt: skip
    return made[slot]() if slot in made else None


def expand(file: Path, copies: int, seed: int, words: list[str]) -> Iterator[Message]:
    """Each frame ``copies`` times, its slots filled with other values each time.

    Args:
        words: everyday words that passwords are made of.
    """
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    draw = random.Random(seed)

    def fill(text: str, offset: int = 0, about: list[tuple[int, int]] | None = None) -> str:
        pieces: list[str] = []
        size, end = offset, 0
        for match in _SLOT.finditer(text):
            options = data["fillers"].get(match[1])
            made = draw.choice(options) if options else _value(match[1], draw, words)
            if made is None:
                raise ValueError(f"{file}: frame {text!r} has the slot {match[1]!r}, which nothing fills")
            before = text[end : match.start()]
            size += len(before)
            if about is not None and match[1].removesuffix("_zh") in _ABOUT:
                about.append((size, size + len(made)))
            pieces += [before, made]
            size += len(made)
            end = match.end()
        return "".join([*pieces, text[end:]])

    for frame in [*data["frames"], *data["lookalikes"]]:
        for _ in range(copies):
            parts = _MARK.split(_varied(frame["text"], draw))
            text, secrets, about = "", [], list[tuple[int, int]]()
            for place, part in enumerate(parts):
                filled = fill(part, len(text), about)
                if place % 2:
                    secrets.append((len(text), len(text) + len(filled), frame["kind"]))
                text += filled
            yield Message(text, fill(frame.get("before", "")), tuple(secrets), tuple(about))


def _varied(text: str, draw: random.Random) -> str:
    """The frame in another writing: with a capital letter, a full stop, a greeting or a remark around it."""
    if not text.isascii() or "=" in text or '"' in text:
        return text
    if draw.random() < 0.3:
        text = text[0].upper() + text[1:]
    if draw.random() < 0.15 and text[-1:].isalnum() | text.endswith("⟧"):
        text += draw.choice((".", ".", "!", " :)", ", thanks", ", ok?", " btw", " for now", " if you need it"))
    if draw.random() < 0.12:
        text = draw.choice(("hey, ", "ok so ", "fyi ", "btw ", "Hi Jo, ", "also ", "sorry, ", "and ", "Thanks! ", "Two things: bins on Monday, and ")) + text
    if draw.random() < 0.08:
        text += draw.choice((" See you later.", " Let me know if it works.", " I'll be home at six.", " Don't tell anyone.", " Cheers, Tom"))
    return text
