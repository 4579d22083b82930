"""The time of day in Chinese: 下午三点, 19点, 七点半; of a bare 七点, what the words beside it tell. For simplified text."""

from __future__ import annotations

import re

from hexamem.intent.dates.hours import Hour, HourWords, half_by_words, read_hour
from hexamem.intent.dates.words_chinese import NUM, chinese_number

__all__ = ["CLOCK_ZH", "chinese_hour"]

CLOCK_ZH = re.compile(
    rf"(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|今晚|明晚|昨晚|明早|今早)? ?(?:(?<![周期拜])(?P<hour>{NUM}) ?点钟?"
    rf"(?: ?(?:(?P<half>半)|(?P<quarter>一刻|三刻)"
    rf"|(?P<minute>{NUM}) ?分?))?|(?P<h>[01]?\d|2[0-3])[:：](?P<m>[0-5]\d))"
)
"""A time of day, for simplified text."""
_LATE = ("下午", "傍晚", "晚上", "今晚", "明晚", "昨晚")
_WORDS = HourWords(
    early=re.compile(r"凌晨|清晨|早上|早晨|上午|早饭|早餐|早茶|日出|[明今]早|上学前|上班前"),
    late=re.compile(r"下午|傍晚|日落|下班后|放学后"),
    night=re.compile(r"晚上|[今明昨后]晚|夜里|夜间|半夜|深夜"),
    journeys=re.compile(
        r"飞机|航班|机票|起飞|登机|机场|飞往|火车|高铁|动车|列车|大巴|班车|巴士|轮船|渡轮|车站|打车|闹钟|起床|上班|值班|换班|夜班|早班"
    ),
    parting=re.compile(r"出发|动身|启程|到达|抵达|接我|接你|来接|走人|离开"),
    evenings=re.compile(
        r"晚饭|晚餐|聚餐|夜宵|宵夜|电影|影院|演唱会|音乐会|话剧|歌剧|剧院|酒吧|喝酒|晚会|晚宴|年夜饭|火锅|KTV|ktv"
    ),
    feasts=re.compile(r"派对|聚会|烧烤|宴会|婚宴|生日宴|吃饭"),
    noons=re.compile(r"午饭|午餐|中饭"),
    work=re.compile(
        r"开会|会议|例会|评审|面试|牙医|牙科|医生|医院|看病|看牙|体检|复诊|复查|门诊|挂号|打疫苗|手术|考试|面谈|讲座|答辩|讲课|演示|汇报"
        r"|银行|律师|公证|法院|开庭|验房|看房|师傅|快递|送货|上门|搬家公司|学校|幼儿园|家长会|毕业典礼|博物馆|爬山|散步"
    ),
)


def chinese_hour(text: str, around: str = "") -> Hour | None:
    """The first time of day in a simplified text; of a bare hour, the half of the day by the words beside it.

    Args:
        around: the words of the sentence that stand beside the text.
    """
    match = CLOCK_ZH.search(text)
    if match is None:
        return None
    try:
        if match["h"]:
            hour, minute = int(match["h"]), int(match["m"])
        else:
            hour, minute = int(chinese_number(match["hour"])), 0
            if match["half"]:
                minute = 30
            elif match["quarter"]:
                minute = 15 if match["quarter"] == "一刻" else 45
            elif match["minute"]:
                minute = int(chinese_number(match["minute"]))
        part, said = match["part"] or "", match[0].strip()
        if hour < 12 and (part in _LATE or (part == "中午" and hour < 11)):
            hour += 12
        beside = f"{text[max(0, match.start() - 12) : match.start()]} {text[match.end() : match.end() + 12]}"
        around = f"{around} {text}"
        if part or not 1 <= hour <= 12:
            return read_hour(hour % 24, minute, hour % 24 < 12, sure=True, words=said)
        if match["h"]:  # "7:30" is told by the 24 hours, unless the words tell of an evening
            late, told = half_by_words(hour, beside, around, _WORDS) if 6 <= hour < 10 else (None, False)
            told = told or (len(match["h"]) == 2 and hour < 10)
            return read_hour(hour, minute, hour < 12 and late is not False, sure=told, words=said)
        morning, told = half_by_words(hour, beside, around, _WORDS)
        return read_hour(hour, minute, morning, sure=told, words=said)
    except ValueError:
        return None
