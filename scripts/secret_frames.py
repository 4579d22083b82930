"""Messages made from the sentence frames of ``evals/corpus/secrets/frames.json``: slots are filled at random.

A slot is a list of the file's ``fillers``, or one of the generators here: passwords, codes and numbers of the forms that
people choose or are given. ``⟦…⟧`` marks a secret. ``⟪row¦joint⟫`` is a list: as many rows as are drawn, with the joint between
them; ``‖`` separates several ways to write a row, one drawn for each, or a joint, one drawn for all. In a row, ``{row}`` is its
number and ``{series}`` a value of a form that all rows share.
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

__all__ = ["Message", "expand", "odd_text", "password"]

_SLOT = re.compile(r"(?<!\$)\{(\w+)\}")
_MARK = re.compile(r"⟦(.*?)⟧", re.DOTALL)
_ROWS = re.compile(r"⟪(.*?)¦(.*?)⟫", re.DOTALL)
_HAN_WORDS = (
    "春暖花开", "芝麻开门", "天王盖地虎", "今晚吃饺子", "小猫爱吃鱼", "明月几时有", "床前明月光", "老地方见", "我爱北京", "西湖醋鱼",
    "红烧肉", "大白兔", "阳光灿烂", "北极熊", "快乐星期天",
)  # fmt: skip
_PINYIN = (
    "xiao", "wang", "li", "ming", "zhang", "chen", "mei", "hua", "yu", "fei", "tian", "bao", "long", "feng", "yun", "lan", "jia",
    "qiang", "hong", "xue", "an", "le", "kai", "wei",
)  # fmt: skip
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
    number = str(
        draw.choice((draw.randrange(10), draw.randrange(100), draw.randrange(1940, 2027), draw.randrange(1000)))
    )
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
        lambda: (
            "".join(draw.choice(string.ascii_letters + string.digits) for _ in range(draw.randrange(6, 14))) + number
        ),
        lambda: (
            "".join(
                draw.choice(string.ascii_letters + string.digits + _SIGNS[:6]) for _ in range(draw.randrange(6, 12))
            )
            + number
        ),
        lambda: number * 2 + word[:3],
        lambda: draw.choice(("qwerty", "asdf", "abc", "zxcv", "pass", "letmein", "welcome", "admin")) + number,
    )
    return draw.choice(choices)()


def _word(draw: random.Random, words: list[str]) -> str:
    while (word := draw.choice(words)).endswith(_OF_ADJECTIVES):
        pass
    return word


def _phrase(draw: random.Random, words: list[str], joint: str, least: int, most: int) -> str:
    return joint.join(_word(draw, words) for _ in range(draw.randrange(least, most)))


def _adjective(draw: random.Random, words: list[str]) -> str:
    while not (word := draw.choice(words)).endswith(_OF_ADJECTIVES):
        pass
    return word


def _digits(draw: random.Random, size: int) -> str:
    return "".join(draw.choice(string.digits) for _ in range(size))


def _some(draw: random.Random, alphabet: str, size: int) -> str:
    return "".join(draw.choice(alphabet) for _ in range(size))


# What fills a slot, as patterns of which one is drawn: 9 a digit, ^ a capital, % a hexadecimal digit, & a letter or digit.
_PATTERNS = {
    "pin6": ("999999", "999999", "9999", "99999"),
    "code": (
        "9999", "9999", "9999", "99999", "999999", "999", "9999#", "*9999",
        "9999*", "9999^", "^9999", "^999^", "99^99", "9999-9999", "9999-^^9", "99-99-^^",
    ),
    "combo": ("9-9-9-9", "99-99-99", "99-9-99", "99 99 99", "9.9.9.9", "99-99-9", "9 9 9", "99-99-99-99"),
    "otp": ("999999", "999999", "9999", "99999", "99999999", "999 999", "999-999"),
    "cvv": ("999", "999", "9999"),
    "acct": ("99999999", "9999999999", "999999999999", "9999999", "999999999", "9999 9999"),
    "sort": ("99-99-99", "99 99 99", "999999"),
    "routing": ("999999999",),
    "bsb": ("999-999",),
    "passport": ("^^9999999", "^99999999", "999999999", "^99^99999", "^^^999999"),
    "idnum": ("999999999", "9999999999", "99999999999", "99 999 999 999", "^99999999"),
    "license": ("^9999999", "^^^^^999999^^9^^", "99999999"),
    "ssn": ("999-99-9999", "999 99 9999", "999999999"),
    "nino": ("^^ 99 99 99 ^", "^^999999^"),
    "nhs": ("999 999 9999",),
    "aadhaar": ("9999 9999 9999",),
    "pan": ("^^^^^9999^",),
    "dni": ("99999999^",),
    "cncard": ("9" * 16, "9" * 19, "9999 9999 9999 9999", "9999 9999 9999 9999 999"),
    "key": (
        "%%%%%%%%", "%%%%%%%%%%", "%" * 16, "%" * 32, "%" * 40, "&" * 9 + "9", "&" * 15 + "9", "&" * 22 + "9",
        "pk_&&&&&&&&&&99", "mb-&&&&&&&&&&&&99", "sl.&&&&&&&&&&&&&&99", "&&&&-9999-&&&9", "&&&&&&&&&&&&&&==",
    ),
    "key40": (
        "&" * 16 + "9" + "&" * 23,
        "&&&&&&&/&&&&&&&&9&&&&+&&&&&&&&&&&&/&&&&&",
        "&&&&9&&&&&&&&&+" + "&" * 25,
    ),
    "codes3": ("9%%9-99%%, 99%%-99%%, 9%%9-9%%9", "%%9-999, %%9-999, %%9-999", "99999 99999 99999 99999"),
    "license_key": (
        "^^9^^-^9^^^-^99^^-9^^^^-9^99^", "^^9^^-^^^^^-^99^^-9^^^^-^^9^^", "^99^-^9^9-99^^",
        "^9^99-9^^9^-^^999-9^9^^-99^9^", "^^9^-9999-^^99-9^9^", "99^^^-^9^99-^^^99-99999",
    ),
    "backup": ("%%%%-9999, %%%%-9999, %%%%-9999", "99999999 99999999 99999999", "99999999, 99999999", "%%%%%-%%%%9 %%%%%-%%%%9"),
    "backup1": ("99999999", "9999-9999", "%%%%-%%%9"),
    "base32": ("^^^^ ^^^^ ^^^^ ^^^^", "^^^^ ^9^^ ^^9^ ^^^^"),
    "share": ("%%%9", "&&&9"),
    "puk": ("99999999",),
    "n1": ("9",),
    "n6": ("999999", "9999999", "99999999", "999999999"),
    "ref": ("^^9999", "^9^^9^", "999-9999999", "^^^-9999", "999999", "A-9999"),
    "phone": ("+44 7700 900999", "(999) 555-0999", "999-555-9999", "0999 999999", "13999999999", "+1 415 555 9999"),
    "hex": ("%%%%%%%", "%%%%%%%%", "%" * 12, "%" * 32, "%" * 40),
    "uuid": ("%%%%%%%%-%%%%-%%%%-%%%%-%%%%%%%%%%%%",),
    "serial": ("^99^^9^^^^",),
    "plate": ("^^^-9999", "^^99 ^^^", "9^^^999", "粤B99999"),
    "flight": ("^^999", "^^9999"),
    "tracking": ("1Z^99^99^^99999999", "9" * 20, "JD9999999999999999"),
    "imei": ("9" * 15,),
    "b32": ("^^^^^^^^^^^^^^^^", "^9^^^9^^^^^^^9^^", "^^^^ ^^^^ ^^^^ ^^^^"),
    "ownid": (
        "step_" + "%" * 26, "item_" + "%" * 26, "run_01" + "%" * 24, "op_01" + "%" * 24,
        "s-999", "i-9999", "step_99", "item_999", "run-%%%%%%", "scope:9", "ep-99", "x99", "c%%%%%%%"),
}  # fmt: skip
_SERIES = (
    "#9999", "#99", "#-99", "#_999", "#99^", "#999-^%9", "#9999-^&999", "#.^9^9", "#9999-^&9%9999", "^%%%9", "^^9999", "&&&9&&",
    "99-9999", "999999", "%%%%%-9%%%%", "%%%%-9999", "^^^-9999", "9999-99", "^99^9", "&&9&&&&&9&", "#-&&&9-&&9", "^-999",
)  # fmt: skip
"""Forms of values in a list; # is a word."""
_ROW_NUMBERS = (2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 15, 30)
_SPOKEN = ["zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_PROGRAMS = [
    "DB",
    "APP",
    "REDIS",
    "MYSQL",
    "ADMIN",
    "API",
    "SMTP",
    "STRIPE",
    "MAPS",
    "POSTGRES",
    "MAIL",
    "GRAFANA",
    "S3",
    "JWT",
    "ROOT",
]
_ALPHABETS = {
    "9": string.digits,
    "^": string.ascii_uppercase,
    "%": "0123456789abcdef",
    "&": string.ascii_letters + string.digits,
}


def _drawn(pattern: str, draw: random.Random) -> str:
    return "".join(draw.choice(_ALPHABETS.get(sign, sign)) for sign in pattern)


def _card(draw: random.Random) -> str:
    """A number with a valid check digit of a card that no bank issued."""
    body = draw.choice(("4", "51", "55", "37", "6217")) + _digits(draw, 14)
    body = body[: 14 if body.startswith("37") else 15]
    number = body + luhn.calc_check_digit(body)
    return " ".join(number[i : i + 4] for i in range(0, 16, 4)) if len(number) == 16 and draw.random() < 0.4 else number


def _chinese_password(draw: random.Random, words: list[str]) -> str:
    first, second = draw.choice(_PINYIN), draw.choice(_PINYIN)
    return draw.choice(
        (
            password(draw, words, plain=0.1),
            first + second + _digits(draw, draw.randrange(2, 5)),
            first.capitalize() + draw.choice("@#_!.") + _digits(draw, 4),
            first + str(draw.randrange(1950, 2030)),
            _digits(draw, 8),
            _digits(draw, 6),
        )
    )


def _value(slot: str, draw: random.Random, words: list[str]) -> str | None:
    """What a generator puts in a slot; None for a slot that is none."""
    if slot in _PATTERNS:
        return _drawn(draw.choice(_PATTERNS[slot]), draw)
    year = str(draw.randrange(1950, 2030))
    word = _word(draw, words)
    made: dict[str, Callable[[], str]] = {
        "pw": lambda: password(draw, words),
        "pwx": lambda: password(draw, words, plain=0.08),
        "pwzh": lambda: _chinese_password(draw, words),
        "word": lambda: word,
        "Word": word.capitalize,
        "adjx": lambda: _adjective(draw, words),
        "phrase": lambda: _phrase(draw, words, " ", 2, 5) + draw.choice(("", "", " " + _digits(draw, 2))),
        "phrase4": lambda: _phrase(draw, words, " ", 3, 6),
        "dashed": lambda: _phrase(draw, words, "-", 3, 6),
        "odd": lambda: draw.choice((word, word + _word(draw, words), (word + _word(draw, words)).capitalize())),
        "amp": lambda: draw.choice(("{}&{}", "{}&{}9", "{}&3x", "{}&{}!")).format(
            word.capitalize(), _word(draw, words)
        ),
        "snake": lambda: draw.choice(_PROGRAMS).lower(),
        "hanphrase": lambda: draw.choice(_HAN_WORDS),
        "pin4": lambda: draw.choice((year, *(_digits(draw, size) for size in (4, 4, 4, 5, 6)))),
        "spoken": lambda: " ".join(draw.choice(_SPOKEN) for _ in range(4)),
        "cnid": lambda: _drawn("999999", draw) + year + _drawn(draw.choice(("99999999", "9999999X")), draw),
        "luhn": lambda: _card(draw),
        "ssid": lambda: draw.choice(
            (
                word.capitalize(),
                word.capitalize() + _word(draw, words).capitalize(),
                _drawn("FRITZ!Box 9999", draw),
                word + "-Guest",
            )
        ),
        "ident": lambda: draw.choice(_PROGRAMS),
        "path": lambda: draw.choice(("/{}/{}.txt", "{}/{}.py", "~/{}/{}", "C:\\{}\\{}.doc", "./{}/{}.csv")).format(
            word, _word(draw, words)
        ),
        "branch": lambda: draw.choice(("{}/{}", "{}-{}", "fix/{}-{}", "{}_{}")).format(word, _word(draw, words)),
        "n2": lambda: str(draw.randrange(10, 100)),
        "n3": lambda: str(draw.randrange(100, 1000)),
        "n4": lambda: str(draw.randrange(1000, 10000)),
        "n5": lambda: str(draw.randrange(10000, 100000)),
        "year": lambda: year,
        "date": lambda: draw.choice(
            (
                f"{year}-0{draw.randrange(1, 10)}-{draw.randrange(10, 29)}",
                f"{draw.randrange(1, 29)} May",
                "Monday",
                "12/03",
            )
        ),
        "time": lambda: draw.choice(
            (f"{draw.randrange(1, 13)}:{draw.randrange(10, 60)}", f"{draw.randrange(1000, 2360)}", "8am")
        ),
        "price": lambda: draw.choice(("{} euros", "${}", "£{}", "{}.50")).format(draw.randrange(10, 2000)),
        "version": lambda: f"{draw.randrange(1, 20)}.{draw.randrange(30)}.{draw.randrange(10)}",
    }
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
                owner = len("my ") if made.startswith("my ") else 0
                about.append((size + owner, size + len(made)))
            pieces += [before, made]
            size += len(made)
            end = match.end()
        return "".join([*pieces, text[end:]])

    for frame in [*data["frames"], *data["lookalikes"]]:
        for _ in range(copies):
            parts = _MARK.split(_with_rows(_varied(frame["text"], draw), draw, words))
            text, secrets, about = "", [], list[tuple[int, int]]()
            for place, part in enumerate(parts):
                value, _, kind = part.partition("~") if place % 2 else (part, "", "")
                filled = fill(value, len(text), about)
                if place % 2:
                    secrets.append((len(text), len(text) + len(filled), kind or frame["kind"]))
                text += filled
            yield Message(text, fill(frame.get("before", "")), tuple(secrets), tuple(about))


def _with_rows(text: str, draw: random.Random, words: list[str]) -> str:
    """The frame with the rows of its lists written out."""
    form = draw.choice(_SERIES)
    word = draw.choice(words)
    word = draw.choice((word, word, word.capitalize()))

    def rows(match: re.Match[str]) -> str:
        ways, joint, first = match[1].split("‖"), draw.choice(match[2].split("‖")), draw.choice((0, 1, 1, 1, 7, 41))
        return joint.join(
            draw.choice(ways)
            .replace("{row}", str(number))
            .replace("{series}", "".join(word if sign == "#" else _drawn(sign, draw) for sign in form))
            for number in range(first, first + draw.choice(_ROW_NUMBERS))
        )

    return _ROWS.sub(rows, text)


def _varied(text: str, draw: random.Random) -> str:
    """The frame in another writing: with a capital letter, a full stop, a greeting or a remark around it."""
    if not re.sub("[⟦⟧⟪¦‖⟫]", "", text).isascii() or "=" in text or '"' in text:
        return text
    if draw.random() < 0.3:
        text = text[0].upper() + text[1:]
    if draw.random() < 0.15 and (text[-1:].isalnum() or text.endswith(("⟧", "⟫"))):
        text += draw.choice((".", ".", "!", " :)", ", thanks", ", ok?", " btw", " for now", " if you need it"))
    if draw.random() < 0.12:
        text = (
            draw.choice(
                (
                    "hey, ",
                    "ok so ",
                    "fyi ",
                    "btw ",
                    "Hi Jo, ",
                    "also ",
                    "sorry, ",
                    "and ",
                    "Thanks! ",
                    "Two things: bins on Monday, and ",
                )
            )
            + text
        )
    if draw.random() < 0.08:
        text += draw.choice(
            (
                " See you later.",
                " Let me know if it works.",
                " I'll be home at six.",
                " Don't tell anyone.",
                " Cheers, Tom",
            )
        )
    return text


_BLOCKS = (
    (0x20, 0x7F), (0xA0, 0x250), (0x370, 0x400), (0x400, 0x500), (0x590, 0x600), (0x600, 0x700), (0x900, 0x980), (0xE00, 0xE80),
    (0x2000, 0x2070), (0x2190, 0x2300), (0x3040, 0x3100), (0x4E00, 0x9FA0), (0xAC00, 0xD7A0), (0xE000, 0xE100), (0x1F300, 0x1F700),
)  # fmt: skip


def odd_text(draw: random.Random, words: list[str]) -> str:
    """Text that holds no secret and is no sentence: odd scripts, control characters, tables, lists, rows of words."""

    def letters(size: int) -> str:
        low, high = draw.choice(_BLOCKS)
        return "".join(chr(draw.randrange(low, high)) for _ in range(size))

    def cell() -> str:
        return draw.choice((draw.choice(words), draw.choice(words).capitalize(), _digits(draw, draw.randrange(1, 7))))

    def table(joint: str) -> str:
        columns = draw.randrange(2, 7)
        return "\n".join(joint.join(cell() for _ in range(columns)) for _ in range(draw.randrange(1, 6)))

    def mixed() -> str:
        parts = [letters(draw.randrange(1, 9)) if draw.random() < 0.6 else cell() for _ in range(draw.randrange(1, 9))]
        return draw.choice((" ", "", " \u202e", "\0", "\x1b[31m ", "\u200b", "\n")).join(parts)

    kinds: tuple[Callable[[], str], ...] = (
        lambda: table(draw.choice((",", ", ", ";", "\t", " | "))),
        lambda: " ".join(draw.choice(words) for _ in range(draw.randrange(3, 40))),
        lambda: " ".join(draw.choices(draw.sample(words, 10), k=draw.randrange(10, 120))),
        lambda: "\n".join(", ".join(draw.choices(draw.sample(words, 8), k=4)) for _ in range(draw.randrange(2, 12))),
        lambda: " ".join(cell() for _ in range(draw.randrange(1, 20))),
        lambda: "\n".join(f"- {cell()}" for _ in range(draw.randrange(2, 8))),
        lambda: " ".join(letters(draw.randrange(1, 9)) for _ in range(draw.randrange(1, 9))),
        lambda: "".join(
            chr(draw.choice((draw.randrange(0x80), draw.randrange(0xFFFF)))) for _ in range(draw.randrange(1, 40))
        ),
        lambda: json.dumps({draw.choice(words): cell() for _ in range(draw.randrange(1, 5))}),
        mixed,
        mixed,
    )
    return draw.choice(kinds)()
