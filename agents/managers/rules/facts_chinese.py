"""Self-reports in Chinese, and in Chinese mixed with English: 我叫文静, 住在成都, 我对芒果过敏, 老公叫陆铭, 一只橘猫叫豆包."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import Fact
from .family_chinese import chinese_family
from .having import HAVING_RULES_ZH
from .life_chinese import LIFE_RULES_ZH
from .people import KIN_ZH_PATTERN, People
from .plain_chinese import told_plainly_zh
from .reported_speech import own_words
from .sentences import Clause, Reading
from .ways_chinese import WAYS_RULES_ZH
from .wishes import WISH_RULES_ZH
from .words import NAME

__all__ = ["chinese_facts"]

_RULES = (*LIFE_RULES_ZH, *WAYS_RULES_ZH, *HAVING_RULES_ZH, *WISH_RULES_ZH)
_ANSWER = re.compile(
    r"回答|回复|答复|说话|表情|emoji|繁体|简体|普通话|中文|英文|英语|日语|句话"
    r"|字以内|简短|简洁|啰嗦|详细|要点|列点|分点|列表|markdown|公制|摄氏|称呼"
    r"|您|客套|语气|术语|举例|结论"
)
_STANDING = re.compile(
    r"平时|你用|以后|今后|往后|从现在起|每次|总是|一律|永远|一直|别再|不要再|都(?:用|要"
    r"|请)|请(?:用|你|一直|都|尽量)|(?:跟|和|给)我(?:说|讲|回|聊)|(?:希望"
    r"|喜欢)你|回[答复](?:的时候|时)|回[答复](?:我|时|的时候)?(?:都|请|要|尽量|用|简)"
)
_OTHER_SUBJECT = re.compile(
    rf"^(?:然后|而且|但是?|因为|所以|还有|我们?家?的?|咱们?家?的?"
    rf"|\s)*(?:{KIN_ZH_PATTERN}|他|她|它|你|您|大家|别人|有人|[小老阿](?!家"
    rf"|师)[\u4e00-\u9fff](?=是|在|有|对|也|很|最|不|喜|从|搬|住|换|跳|入|加|去|来|现|刚|已|上|下|今|明|昨|前)"
    rf"|{NAME}\s?(?=搬|住|跳槽|入职|换工作|现在|也|已经))|^这|^那"
)


_IN_LANGUAGE = re.compile(
    r"(?:请|麻烦|以后|今后|从现在起|都|你|一直|一律|[，,\s])*用(?:简体|繁体)?(?:中文|英文|英语|法语|德语|日语|西班牙语|韩语|粤语|普通话|汉语)"
    r"(?:来)?(?:回答|回复|跟我说|和我说|交流)(?:我|问题)?(?:吧|[。！])*"
)


def chinese_facts(reading: Reading, people: People) -> Iterator[Fact]:
    """The core facts that a reading holds in Chinese, or in Chinese mixed with English."""
    for sentence in map(own_words, reading.sentences):
        if not sentence.holds or not sentence.clauses:
            continue
        family = list(chinese_family(sentence.text, sentence.raw, sentence.clauses))
        yield from family
        named_pet = any(fact.label == "pet" for fact in family)
        if (
            len(sentence.text) <= 120
            and _ANSWER.search(sentence.text)
            and _STANDING.search(sentence.text)
            and not re.search(r"他们|客户|老板|同事", sentence.text)
        ):
            first = next((c for c in sentence.clauses if _STANDING.search(c.text) or _ANSWER.search(c.text)), None)
            if first is not None:
                end = sentence.clauses[-1].end
                raw = sentence.raw[first.start - sentence.start : end - sentence.start]
                yield Fact(
                    label="answers",
                    value=raw,
                    slot="answer_language" if _IN_LANGUAGE.fullmatch(raw) else "",
                    confidence=0.8,
                    clause=Clause(start=first.start, end=end, text=raw, raw=raw, holds=True, sentence=first.sentence),
                )
                continue
        own = True
        for clause in sentence.clauses:
            # Who is spoken of stays so up to the next subject: "我爸血压高，每天吃药" says nothing of the user.
            own = _speaks_of_self(clause.text, own)
            if not clause.holds or not own:
                continue
            found = [
                fact
                for _, pattern, make in _RULES
                if (match := pattern.search(clause.text))
                for fact in make(match, clause)
            ]
            plain = [] if found else told_plainly_zh(clause)
            yield from found or [fact for fact in plain if not (named_pet and fact.label == "pet")]


def _speaks_of_self(text: str, before: bool) -> bool:
    if _OTHER_SUBJECT.match(text):
        return False
    return True if text.startswith("我") or "我" in text[:6] else before
