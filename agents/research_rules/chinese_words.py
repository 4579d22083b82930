"""Chinese questions and texts as words: divided by the bundled lexicon, weighed, and compared with what says as much.

Chinese writes no spaces, and pairs of characters cut across words ("的手术" of 她的手术) count against a text that says
just what was asked. The lexicon of the bundled embedder divides; the length of a word's row there holds its rarity in the
language at large; and words with the same English glosses lie close together (老婆 and 妻子, 开刀 and 手术).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import lazy_re as re
from ...intent.references.cues import words
from ...stores.embedders.base import FloatArray
from ...stores.embedders.late_interaction import unit_rows

if TYPE_CHECKING:
    from ...stores.embedders.lexicon import Lexicon

__all__ = ["HAN", "ChineseWords", "divide", "given_name", "is_chinese", "question_words"]

HAN = re.compile(r"[\u3400-\u9fff]+")
_KANA = re.compile(r"[\u3041-\u30ff]")
_LATIN = re.compile(r"[^\W\d_\u3400-\u9fff]+")
_FUNCTION = words(
    """
    的 地 得 了 着 过 吗 呢 吧 啊 呀 嘛 么 哦 嗯 是 在 有 和 与 跟 同 及 或 而 也 都 就 才 又 再 还 很 太 更 最 不 没
    没有 别 把 被 给 对 向 往 从 到 于 为 以 用 让 使 由 比 按 说 要 会 能 该 可以 应该 应当 想 这 那 哪 些 个 位 件
    次 种 样 等 他 她 它 他们 她们 我 你 您 我们 你们 咱们 自己 人家 大家 俩 各 每 某 只 所 其 之 且 若 则 便 即 并 将
    已 已经 正 正在 刚 曾 曾经 一直 还是 而且 但是 但 因为 所以 如果 要是 的话 是否 有没有 是不是 可能 大概 大约 也许
    会不会 多半 恐怕 究竟 到底 请 请问 关于 根据 通过 其中 之间 一 二 两 几 第 第一 头 半 上 下 里 中 间 前 后 内 外
    来 去 出 进 起 回 成 做 干 弄 搞 当 叫 叫做 叫什么 名字 算 点 头一 那个 这个 这次 那次 那时 那天 这些 那些 那边
    这边 什么样 东西 事 事情 地方 情况 问题 方面 分别 先后 一共 总共 共 之后 之前 以后 以前 以来 现在 目前 如今 后来
    最后 最终 最近 最初 当时 当初 原来 原本 本来 时 时候 时间 期间 那会儿 会儿 年 月 日 号 天 岁 点钟 小时 分钟 人 家
    里面 上面 下面 现 总 初 分 长 好 另 中间 一开始 一口气 拿 觉得 俩人 两人 告诉 知道 提到 提过 说过 聊到
    """
)
_MEASURES = words(
    """
    首 条 场 顿 辆 份 套 本 届 档 类 笔 间 层 支 张 名 块 片 双 对 把 台 部 门 步 趟 回 遍 番 盘 口 杯 箱 袋 段 幅 棵
    盆 句 款
    """
)
"""Measure words; most are nouns too, which their neighbours tell."""
_ASKING = re.compile(
    r"多少钱|多长时间|叫什么|是什么|为什么|为何|为啥|什么|何时|何处|谁|怎么样?|怎样|如何|多少|多[长大远高重久快]"
    r"|第?几.?|第?哪(?:一.?|.)?|^啥|^何"
)
"""What asks, within what the lexicon takes for one word: 什么爱好, 第几名, 哪首."""
_TAILS = ("在", "到", "了", "过", "着", "成", "给")
"""What the lexicon's verbs may carry at their end: 定在 and 改到 say 定 and 改."""
_LEAST_WEIGHT, _RARE = 0.6, 4.0
_SAME = 0.88
"""The likeness from which two words say the same; brothers and sisters, days of the week and cities lie below."""
_NEAR, _NEAR_COUNTS = 0.58, 0.5
"""A kind and what is of it (颜色 and 白色) lie above the one, and count as the other."""
_PART_COUNTS = 0.5
"""What a single character counts that stands inside a longer word."""
_PARTED = "[了过着完](?:[一两三几]?[个次场回])?"
"""What may part a verb from its object: 辞了职 says 辞职."""
_COUSINS = re.compile(r"[堂表]")
_COMPOUND = words("欧阳 司马 上官 诸葛 东方 皇甫 尉迟 公孙 慕容 令狐 司徒 端木 夏侯 南宫")
"""Surnames of two characters."""


def is_chinese(text: str) -> bool:
    """Whether a text is Chinese rather than another language with a Chinese name in it."""
    characters = sum(map(len, HAN.findall(text)))
    return characters > len(_LATIN.findall(text)) and _KANA.search(text) is None


def given_name(name: str) -> str | None:
    """The given name by which people call somebody: 晓梅 of 林晓梅; None of a name of two characters or none in Han."""
    if HAN.fullmatch(name) is None:
        return None
    if len(name) == 4 and name[:2] in _COMPOUND:
        return name[2:]
    return name[1:] if len(name) == 3 and name[:2] not in _COMPOUND else None


def _lexicon() -> Lexicon:
    from ...stores.embedders.bundled import shipped_lexicon  # its data are read only for what is Chinese

    return shipped_lexicon()


def divide(text: str) -> tuple[str, ...]:
    """The words of a text's Han runs, in order; traditional characters become simplified."""
    return tuple(_lexicon().segmenter.split(text).tokens)


def question_words(text: str) -> tuple[str, ...]:
    """The words of a question's Han runs that carry it, in order, each once.

    Function words, measure words and words that ask are none of them.
    """
    found: dict[str, None] = {}
    for word in divide(text):
        rest = _ASKING.sub("", word)
        for part in (word,) if rest == word else divide(rest):
            bare = part[:-1] if len(part) > 1 and part.endswith(_TAILS) else part
            if bare not in _FUNCTION and bare not in _MEASURES:
                found[bare] = None
    return tuple(found)


class ChineseWords:
    """Weighs and compares words, and remembers what it read as long as it lives: that of one run at most."""

    def __init__(self) -> None:
        self._lexicon = _lexicon()
        self._rows: dict[str, FloatArray] = {}
        self._divided: dict[str, tuple[str, ...]] = {}
        self._held: dict[tuple[tuple[str, ...], str], tuple[float, ...]] = {}
        self._alike: dict[tuple[str, ...], dict[str, list[float]]] = {}

    def weight(self, word: str) -> float:
        """How much a word says, from its rarity; a word of another script as much as a rare one."""
        if HAN.search(word) is None:
            return _RARE
        length = float(np.linalg.norm(self._lexicon.rows([word], self._rows)[0]))
        return max(0.0, length - _LEAST_WEIGHT)

    def divided(self, text: str) -> tuple[str, ...]:
        """As :func:`divide`."""
        found = self._divided.get(text)
        if found is None:
            found = self._divided[text] = divide(text)
        return found

    def holds(self, asked: tuple[str, ...], text: str) -> tuple[float, ...]:
        """How far a text holds each of some words, from 0 to 1: as it stands, by another word, or by one of its kind."""
        held = self._held.get((asked, text))
        if held is None:
            tokens = frozenset(self.divided(text))
            whole, plain = "".join(self.divided(text)), text.casefold()
            near = self._near(asked, tokens)
            held = self._held[asked, text] = tuple(
                max(one, _as_it_stands(word, tokens, whole, plain)) for word, one in zip(asked, near, strict=True)
            )
        return held

    def _near(self, asked: tuple[str, ...], tokens: frozenset[str]) -> list[float]:
        """How far the likest of some tokens says each of some words."""
        known = self._alike.setdefault(asked, {})
        new = sorted(token for token in tokens if token not in known)
        told = [token for token in new if token not in _FUNCTION and self._lexicon.knows(token)]
        known.update((token, []) for token in new)
        if told and asked:
            likeness = (
                unit_rows(self._lexicon.rows(told, self._rows)) @ unit_rows(self._lexicon.rows(asked, self._rows)).T
            )
            for token, row in zip(told, likeness.tolist(), strict=True):
                values = [self._counts(word, token, one) for word, one in zip(asked, row, strict=True)]
                known[token] = values if any(values) else []
        rows = [known[token] for token in tokens if known[token]]
        return [max(column) for column in zip(*rows, strict=True)] if rows else [0.0] * len(asked)

    def _counts(self, word: str, token: str, likeness: float) -> float:
        if likeness < _NEAR or not self._lexicon.knows(word):
            return 0.0
        if word[0] != token[0] and (_COUSINS.match(word) or _COUSINS.match(token)):  # another side of the family
            return 0.0
        return 1.0 if likeness >= _SAME else _NEAR_COUNTS


def _as_it_stands(word: str, tokens: frozenset[str], whole: str, plain: str) -> float:
    if word in tokens:
        return 1.0
    if word in whole or word.casefold() in plain:
        return 1.0 if len(word) > 1 else _PART_COUNTS
    parted = len(word) == 2 and re.search(f"{re.escape(word[0])}{_PARTED}{re.escape(word[1])}", whole) is not None
    return float(parted)
