"""Text to token streams for the lexical index: the same rules for documents and for queries.

A text becomes two streams of space-separated tokens, which tantivy's whitespace tokenizer reads back as they are
(tantivy-py takes no Python analyzer):

* ``stemmed``: words and, for scripts written without spaces, overlapping bigrams (one-character runs stay single).
  The index applies an English stemmer, which does not change numbers and other scripts.
* ``exact``: the same words unstemmed; every compound such as ``ord-4471``, ``v2.3.1``, ``anna@example.com`` or
  ``report_final.pdf`` once more as a whole; the letter and digit parts of a mixed word (``ord4471``); and the single
  characters of the scripts written without spaces.

Both are folded first: NFKC (so full-width becomes half-width), lower case, Latin accents removed. The order of the
tokens does not matter, since the index stores frequencies and no positions. Traditional and simplified Chinese remain
distinct.

Chinese bigrams follow Nie, Gao, Zhang and Zhou, "On the use of words and n-grams for Chinese information retrieval"
(IRAL 2000), which finds bigrams joined with single characters better than either alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["ANALYSIS_VERSION", "TokenStreams", "repair_surrogates", "tokenize_document", "tokenize_query"]

ANALYSIS_VERSION = 1
"""Increased with every change of the rules: an index made by other rules must be rebuilt."""

_MAX_TOKEN = 64  # characters; a longer unbroken run becomes several tokens
_MAX_COMPOUND = 256  # characters; a longer compound is found by its parts only

# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Bopomofo, Han, Hangul.
_UNSPACED = (
    r"\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    r"\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\U00020000-\U000323af"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_WORD_CHARACTER = r"[^\W_]"
_WORD = re.compile(f"{_WORD_CHARACTER}{{1,{_MAX_TOKEN}}}")
_ASCII_WORDS = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
# `\w` lacks the vowel signs of Hebrew, Arabic and the Indic scripts, which occur inside words.
_SIGNS = r"\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u0930-\u0963\u0971-\u0dff"
_SIGN = re.compile(f"[{_SIGNS}]")
_WORD_WITH_SIGNS = re.compile(f"(?:{_WORD_CHARACTER}|[{_SIGNS}]){{1,{_MAX_TOKEN}}}")
# Possessive quantifiers and the look-behind keep these linear on megabytes without a space.
# The last repetition needs no possessive ``++``, which loses the last word in Python before 3.11.5.
_COMPOUND = re.compile(
    rf"(?<!{_WORD_CHARACTER})(?:{_WORD_CHARACTER}++(?:(?:[-._@&+]|(?<=\d)[/:,](?=\d)){_WORD_CHARACTER}++)+"
    r"|[a-z](?:\+\+|\#)(?!\w))"
)
_CONNECTOR = re.compile(r"[-._@&+/:,][^\W_]|\+\+|#")  # every compound has one, and most texts have none
_MIXED = re.compile(rf"(?<!{_WORD_CHARACTER})(?:\d++[^\W\d_]|[^\W\d_]++\d){_WORD_CHARACTER}*+")
_MIXED_PART = re.compile(r"\d{2,64}|[^\W\d_]{2,64}")
_DIGIT = re.compile(r"\d")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _folding() -> dict[int, str | None]:
    table: dict[int, str | None] = dict.fromkeys(range(0x300, 0x370))
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = "".join(c for c in unicodedata.normalize("NFD", chr(code)) if not unicodedata.combining(c)).lower()
        if base != chr(code):
            table[code] = base
    # Letters that Unicode does not decompose, the Greek final sigma, and the typographic apostrophe.
    letters = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h"}
    table.update({ord(letter): base for letter, base in {**letters, "ς": "σ", "’": "'"}.items()})
    return table


_FOLDING = _folding()
_FOLDABLE = re.compile(r"[\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff\u03c2\u2019]")

# Words that ask or point instead of naming a subject. Dropped from queries only, not from documents.
# Prepositions are not dropped, which lost recall.
_ENGLISH = """
what when where who whom whose which why how did do does doing done has have had having will would can could should
might shall must i me my mine we us our ours you your yours he him his she her hers they them their theirs
this that these those there here it its a an the don didn doesn isn wasn
"""
_QUESTION_WORDS = frozenset(_ENGLISH.split())
_CONTRACTION = re.compile(r"(?<=\w)['’](?:s|t|d|ll|m|re|ve)\b", re.IGNORECASE)
# Spelled like this inside a sentence they are names; "may" is never dropped, since it is a month.
_NAME = re.compile(r"(?<=\S )(?:Will|US|IT|WHO)\b")
_QUESTION_WORDS_HAN = re.compile(
    "什么时候|什麼時候|甚么|甚麼|什么|什麼|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣|为什么|為什麼|为何|為何|哪里|哪裡|哪儿|哪个|哪個|哪些|哪种|哪種|哪位"
    "|多少|多长时间|多長時間|多久|多大|是不是|有没有|有沒有|请问|請問|哪|谁|誰|吗|嗎|呢|吧|几(?![何乎率])|幾(?![何乎率])"
)
_QUESTION_WORDS_KANA = re.compile(
    "いつ|どこ|だれ|誰|何|どんな|どうして|どうやって|なぜ|どの|どれ|いくつ|いくら|でしたか|ましたか|ですか|ますか"
)
_QUESTION_WORDS_HANGUL = re.compile(
    "무엇을|무엇이|무엇|무슨|언제|어디에서|어디서|어디에|어디|누구|누가|어느|어떤|어떻게|얼마나|얼마|몇|했나요|인가요|입니까|습니까|나요"
)
_KANA = re.compile(r"[\u3041-\u30ff]")
_HANGUL = re.compile(r"[\u1100-\u11ff\uac00-\ud7ff]")


class TokenStreams(NamedTuple):
    """The tokens of one text for the two fields of the index."""

    stemmed: list[str]
    exact: list[str]


def repair_surrogates(text: str) -> str:
    """`text` as valid Unicode: surrogate pairs become their character, each lone surrogate becomes U+FFFD."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def tokenize_document(text: str) -> TokenStreams:
    """Tokens of a text to be indexed; any string is accepted, one without words has empty lists.

    The two lists may be the same object.
    """
    text, runs = _split(text)
    words = _words(text)
    special = _special(text)
    if not runs:
        return TokenStreams(words, words + special if special else words)
    return TokenStreams(words + _bigrams(runs), words + special + _characters(runs))


def tokenize_query(text: str) -> TokenStreams:
    """Distinct tokens of a query, in the order in which they first occur.

    The words that ask or point ("what", "did", "your", 什么, 吗, いつ, 언제) are left out, unless the query has no others.
    """
    names = {name.lower() for name in _NAME.findall(text)}
    text, runs = _split(_CONTRACTION.sub("", text))
    words, special = _words(text), _special(text)
    content = [word for word in words if word not in _QUESTION_WORDS or word in names]
    content_runs = [part for run in runs for part in _question_pattern(run).split(run) if part]
    if content or special or content_runs:
        words, runs = content, content_runs
    return TokenStreams(_distinct(words, _bigrams(runs)), _distinct(words, special, _characters(runs)))


def _split(text: str) -> tuple[str, list[str]]:
    """The folded text without its runs of unspaced script, and these runs."""
    if text.isascii():
        return text.lower(), []
    text = unicodedata.normalize("NFKC", repair_surrogates(text)).lower()
    if _FOLDABLE.search(text) is not None:
        text = text.translate(_FOLDING)
    runs = _UNSPACED_RUN.findall(text)
    return (_UNSPACED_RUN.sub(" ", text), runs) if runs else (text, runs)


def _words(text: str) -> list[str]:
    if text.isascii():
        words = text.translate(_ASCII_WORDS).split()
        if max(map(len, words), default=0) <= _MAX_TOKEN:
            return words  # the same as by the pattern below, in a third of the time
    elif _SIGN.search(text) is not None:
        return _WORD_WITH_SIGNS.findall(text)
    return _WORD.findall(text)


def _special(text: str) -> list[str]:
    """Tokens of the exact stream beyond the words: whole compounds, and parts of words of letters and digits."""
    tokens = []
    for compound in _COMPOUND.findall(text) if _CONNECTOR.search(text) is not None else ():
        if len(compound) <= _MAX_COMPOUND:
            tokens.append(compound)
            if "-" in compound or "," in compound:
                tokens.append(compound.replace("-", "").replace(",", ""))  # e-mail and email, 1,200 and 1200
    if _DIGIT.search(text) is not None:
        for word in _MIXED.findall(text):
            tokens += _MIXED_PART.findall(word)
    return tokens


def _bigrams(runs: Iterable[str]) -> list[str]:
    tokens: list[str] = []
    for run in runs:
        if len(run) == 1:
            tokens.append(run)
        else:
            tokens += map(str.__add__, run, run[1:])
    return tokens


def _characters(runs: Iterable[str]) -> list[str]:
    return [character for run in runs for character in run]


def _question_pattern(run: str) -> re.Pattern[str]:
    if _KANA.search(run) is not None:
        return _QUESTION_WORDS_KANA
    return _QUESTION_WORDS_HANGUL if _HANGUL.search(run) is not None else _QUESTION_WORDS_HAN


def _distinct(*lists: list[str]) -> list[str]:
    return list(dict.fromkeys(token for tokens in lists for token in tokens))
