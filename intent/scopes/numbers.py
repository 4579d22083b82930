"""Enumerated goals named in a text: "Day 3", "the third day", "Phase II", "Task B", "第三天", weekdays and dates."""

from __future__ import annotations

from dataclasses import dataclass

from ... import lazy_re as re
from .text import Words

__all__ = ["MONTHS", "WEEKDAYS", "Goal", "day_of_year", "find_goals", "month_of", "parse_goal_name"]

Number = int | str

_WORDS_TEXT = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
_WORDS = _WORDS_TEXT.split()
_ORDINALS_TEXT = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth
"""
_ORDINALS = _ORDINALS_TEXT.split()
_ROMAN_TEXT = """
i ii iii iv v vi vii viii ix x xi xii
"""
_ROMAN = _ROMAN_TEXT.split()
_VALUE: dict[str, int] = {word: n for words in (_WORDS, _ORDINALS, _ROMAN) for n, word in enumerate(words, 1)}

_KINDS_TEXT = """
day week phase stage step chapter sprint task milestone part contention section module lesson iteration round
act leg unit workstream track episode quarter goal session lecture deliverable wave increment
"""
_KINDS = _KINDS_TEXT.split()
_LETTERED = frozenset(["task", "part", "section", "phase", "workstream", "track", "module", "unit", "stage", "goal"])
_OWN_END = frozenset(["day", "phase", "chapter", "part", "stage", "leg", "module", "lesson", "milestone", "contention"])
"""Kinds of which "the last one" is the end of a row; "last week" is a time."""
_OWN_NEXT = _OWN_END | frozenset(["step", "task", "sprint", "iteration", "section"])
_LOOSE_TEXT = """
step part task round section goal session week quarter unit act track lecture episode
"""
_LOOSE = frozenset(_LOOSE_TEXT.split())
"""Kinds that ordinals name in ordinary talk too ("the first week"); these open no row by an ordinal."""
KIND_WORDS = frozenset(kind + end for kind in _KINDS for end in ("", "s", "'s", "’s"))

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS_TEXT = """
january february march april may june july august september october november december
"""
MONTHS = _MONTHS_TEXT.split()
_MONTH = {name[:3]: n for n, name in enumerate(MONTHS, 1)}
_STARTS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)

_K = "|".join(_KINDS)
_W = "|".join(sorted(_WORDS, key=len, reverse=True))
_ROMANS = "viii|vii|iii|xii|xi|ix|iv|vi|ii|x|v|i"
_ORD = "|".join(_ORDINALS) + r"|\d{1,2}(?:st|nd|rd|th)"
_NUMBERED = re.compile(
    rf"\b(?P<kind>{_K})(?P<plural>s)?[ \u00a0]?(?:\#[ ]?|no\.?[ ]|nr\.?[ ]|number[ ]|-)?"
    rf"(?P<num>\d{{1,3}}|(?:{_W})|(?:{_ROMANS})|[a-h])(?![\w%£$€]|['’](?!s\b)|\.\d)"
    rf"(?P<range>[ ]?(?:[-–—/&+,]|to|and|through)[ ]?(?:(?P=kind)[ ])?(?:\d{{1,3}}|{_W})\b(?![ ]?(?:[:.]\d|pm|"
    rf"am|hours?|people|of)))?"
)
_SIDE = re.compile(r"\b(pro|con|affirmative|negative|proposition|opposition|aff|neg)(?:['’]s)?(?:[ -]side)? ?(?:'s )?$")
_SIDES = {
    "pro": "pro", "affirmative": "pro", "proposition": "pro", "aff": "pro",
    "con": "con", "negative": "con", "opposition": "con", "neg": "con",
}  # fmt: skip
_ORDERED = re.compile(
    rf"\b(?P<num>{_ORD}|last|final|closing|departure|going-home|next|following|previous|preceding|opening|"
    rf"arrival|middle)"
    rf"[ ](?:full[ ]|whole[ ]|and[ ]final[ ]|and[ ]last[ ]|complete[ ]|proper[ ]|free[ ])?(?P<kind>{_K}|evening|"
    rf"afternoon|morning|night)\b(?!s)"
)
_BETWEEN = re.compile(rf"\b(?P<num>{_ORD}|last|final)[ ](?P<name>[\w'’-]{{3,}}(?:[ ][\w'’-]{{3,}})?)[ ](?P<kind>day)\b")
_COUNTED = re.compile(
    rf"\bnumber[ ](?P<num>\d{{1,3}}|{_W})[ ](?:of|among|in|out of)[ ](?:the|our|my|your|their|these|those)[ ]"
    rf"(?:[\w'’-]+[ ])?(?P<kind>{_K})s\b"
)
_THERE = re.compile(rf"\b(?P<num>{_ORD}|last|final) (?:one|day) there\b")
_AMONG = re.compile(
    rf"\b(?P<num>{_ORD}|last|final)[ ](?:one[ ])?(?:of|among|in)[ ](?:the|our|my|your|their|these|those)[ ](?:[\w'’-]+[ ])?"
    rf"(?P<kind>day|contention|phase|stage|sprint)s\b"
)
_OTHER_WORDS = frozenset(("there", "trip", "stay", "holiday", "visit", "journey", "vacation", "first", "one", "them"))
_PARTS = frozenset(("evening", "afternoon", "morning", "night"))
_ARRIVE = re.compile(
    r"\b(?:the )?(?:day|evening|night|morning|afternoon) (?:that |when |on which )?(?:we|i) (?P<verb>arrive|land|"
    r"get (?:in|there)|touch down|leave|fly (?:home|back|out)|depart|go home|check out)\b"
)
_ENDS = re.compile(
    r"\b(?:the )?(?:day|morning|evening|night|afternoon) of (?:our |my |the |your )?(?P<of>arrival|"
    r"departure|return|flight home|journey home)\b|"
    r"\b(?:the )?(?P<end>(?:very )?(?:end|beginning|start) of (?:the|our|my|this) (?:trip|stay|holiday|visit|journey|vacation|week))\b|"
    r"\b(?:begin|start|open|starting|beginning) with the (?P<first>first) (?:of (?:them|these|those)|one)\b"
)
_NOW_THE = re.compile(
    rf"^\W*(?:(?:right|ok|okay|so|now|next|then|and|alright)\W+)+(?:for |to |on to |"
    rf"about )?the (?P<num>{_ORD}|last|final) (?:one|of (?:them|these|those))\b"
)
_STEPPED = re.compile(
    r"(?:^|[.!?…\n]|\b(?:on|to|for|with|about)\b)\W*"
    r"(?:(?:and|so|now|ok|okay|then|for|on|with|great|good|perfect|next|what about|how about)\W+){0,3}"
    r"(?P<day>the day (?:after that|before that|(?:after|before)(?=\s*[,?:]))|"
    r"(?:the )?(?:next|following) morning|the morning after)\b"
    r"(?! (?:we|i|the|our|you|tomorrow|yesterday)\b)"
)
_WEEKDAY = re.compile(rf"\b(?P<weekday>{'|'.join(WEEKDAYS)})(?P<many>s)?\b")
_DATE = re.compile(
    r"\b(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]{1,6})?\.? (?P<dom>\d{1,2})(?:st|nd|rd|th)?\b"
    r"(?!:)|\b(?P<dom2>\d{1,2})(?:st|nd|rd|th)?(?: of)? "
    r"(?P<month2>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]{1,6})?\b"
    r"|\bthe (?P<dom3>\d{1,2})(?:st|nd|rd|th)\b(?! (?:century|floor|night|evening|morning|afternoon|one|option|of|"
    r"time|birthday|anniversary|place|" + _K + r")\b)"
    r"|(?:(?<=^)|(?<=[.!?,;] ))(?P<dom4>\d{1,2})(?:st|nd|rd|th)(?=[:,]| ?[–—-] | (?:then|now|please)\b)"
)
_ALONG = re.compile(r"\b(?:and|or|with|than|like) $")
_SHORT_WEEKDAY = re.compile(
    r"(?:(?P<lead>\b(?:on|for|this|by|until|till) )|(?<![\w'’-]))(?P<weekday>mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)\b(?!['’-])"
    r"(?P<date>,? (?:the )?(?P<dom>\d{1,2})(?:st|nd|rd|th)?\b(?![:.]\d|-| ?[ap]m)|:)?"
)
_SHORT_TEXT = """
mon tue tues wed weds thu thur thurs fri sat sun
"""
_SHORT = frozenset(_SHORT_TEXT.split())
_WEEKDAY_WORDS = frozenset(day + end for day in WEEKDAYS for end in ("", "s", "'s", "’s"))
_MONTH_TOKENS = frozenset(MONTHS) | frozenset(_MONTH) | {"sept"}

_CN_DIGIT = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "头": 1}
_CN_KIND = {
    "天": "day", "日": "day", "阶段": "phase", "步": "step", "步骤": "step", "章": "chapter", "周": "week",
    "部分": "part", "期": "phase", "轮": "round", "任务": "task", "里程碑": "milestone", "节": "section",
    "课": "lesson", "站": "leg", "季度": "quarter", "论点": "contention", "冲刺": "sprint", "迭代": "iteration",
    "环节": "stage", "单元": "unit", "模块": "module",
}  # fmt: skip
_CK = "|".join(sorted(_CN_KIND, key=len, reverse=True))
_CHINESE = re.compile(
    rf"(?:第[ ]?(?P<num>[一二两三四五六七八九十]{{1,3}}|\d{{1,3}})[ ]?(?P<many>[、和与到至—-][ ]?第?[一二两三四五六七八九十\d]{{1,3}})?"
    rf"[ ]?(?:个|项|条)?(?P<kind>{_CK}))"
    rf"|(?P<last>最后一(?:个)?|末|最后那)(?P<lkind>{_CK})|(?P<first>头一|首|抵达|到达)(?P<fkind>天|日|周|期)"
    r"|(?P<pkind>任务|阶段|里程碑|步骤|冲刺|迭代|论点|模块|部分)[ ]?(?P<pnum>[一二三四五六七八九十]{1,3}|\d{1,3}|[A-Ha-h])(?![\w一-鿿])"
    r"|(?P<go>(?:走|离开|回家|回程|回去|返程|回来|最后)(?:的)?(?:那|当)(?:一)?天)"
    r"|(?P<come>(?:刚到|抵达|到达|落地|刚落地)(?:[一-鿿]{2,3})?(?:的)?(?:那|当)(?:一)?(?:天|晚)|(?:到|入住)(?:的)?(?:那|"
    r"当)(?:一)?(?:天|晚)|第一(?:个)?(?:晚上?|夜)|头(?:一|天)(?:个)?(?:晚上?|夜))"
    r"|(?P<next>下一|次)(?P<nkind>天|日|阶段|步|章|部分|站)"
    r"|(?:周|星期|礼拜)(?P<cwday>[一二三四五六日天])"
    r"|(?P<cmonth>\d{1,2})月(?P<cdom>\d{1,2})[日号]|(?P<cdom2>\d{1,2})号(?!线|楼|店|馆|院|门|口)"
)


_CN_NEXT_DAY = re.compile(r"(?:早上|一早|上午)?(?:我们|咱们)?(?:再|还|就|又|才|得|要)")
_CN_PAUSE = frozenset("，,；。？?！ ")


@dataclass(slots=True)
class Goal:
    """An enumerated goal in a text.

    Attributes:
        kind: ``day``, ``phase``, …; ``weekday`` (number 0 = Monday) or ``date`` (day of a 365-day year, or
            ``-day of month`` where the month is not said).
        number: its number or letter; -1 the last; 0 relative, see ``step``.
        step: for "the next", "the previous": +1, -1.
        plain: numbered outright ("Day 3"), and so able to open a row of its own.
        many: one of several, a list or a range.
        score: how much the text sets it as its goal; filled by the judge of cues.
    """

    kind: str
    number: Number
    start: int
    end: int
    step: int = 0
    plain: bool = True
    many: bool = False
    chinese: bool = False
    score: float = 0.0
    question: bool = False
    sentence: int = 0

    @property
    def dated(self) -> bool:
        """Whether it is a day of the calendar, rather than one of a row."""
        return self.kind in ("weekday", "date")


def day_of_year(month: int, day: int) -> int:
    """The day's place in a year of 365 days, from 1."""
    return _STARTS[month - 1] + day


def month_of(day: int) -> int:
    """The month of a day of a year of 365 days, counted from 1."""
    return max(month for month in range(1, 13) if _STARTS[month - 1] < (day - 1) % 365 + 1)


def _chinese_number(text: str) -> int:
    if text.isdigit():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return (_CN_DIGIT.get(tens, 1) if tens else 1) * 10 + (_CN_DIGIT.get(ones, 0) if ones else 0)
    return _CN_DIGIT.get(text, 1)


def _numbered(words: Words, goals: list[Goal]) -> None:
    for match in _NUMBERED.finditer(words.lower):
        kind, num = match["kind"], match["num"]
        at = match.start("num")
        many = bool(match["plural"] or match["range"])
        number: Number
        if num.isdigit():
            number = int(num)
        elif num in _VALUE and (len(num) > 2 or num in ("ii", "iv", "vi", "ix", "xi")):
            number = _VALUE[num]
        elif words.text[at : match.end("num")].isupper() and kind not in ("day", "week"):
            titled = words.text[match.start()].isupper()
            if num in ("i", "v", "x") and titled:
                number = _VALUE[num]
            elif kind in _LETTERED and num not in ("i", "v", "x"):
                number = num.upper()
            else:
                continue
        else:
            continue
        start = match.start()
        if kind == "contention" and (side := _SIDE.search(words.lower[max(0, start - 16) : start])):
            number = f"{_SIDES[side[1]]} {number}"
            start -= len(side[0])
        goals.append(Goal(kind, number, start, match.end(), many=many))


def _ordered(words: Words, goals: list[Goal]) -> None:
    lower = words.lower
    for match in _ORDERED.finditer(lower):
        kind, num = match["kind"], match["num"]
        step, number = 0, 0
        if kind in _PARTS:  # of the day of that number; "last night" and "the next morning" are times
            ours = num == "last" and lower[: match.start()].endswith(("our ", "my ", "the very "))
            if num not in _VALUE and num != "final" and not num[0].isdigit() and not ours:
                continue
            kind = "day"
        if num in ("next", "following", "previous", "preceding"):
            if kind not in _OWN_NEXT:
                continue
            step = 1 if num in ("next", "following") else -1
        elif num in ("last", "final", "closing", "departure", "going-home"):
            if kind not in _OWN_END:
                continue
            number = -1
        elif num in ("opening", "arrival"):
            if kind != "day":
                continue
            number = 1
        elif num == "middle":
            if kind != "day":
                continue
            number = -2
        else:
            number = _VALUE[num] if num in _VALUE else int(num[:-2])
        before = lower[max(0, match.start() - 18) : match.start()]
        many = re.search(rf"(?:{_ORD}) (?:and|or|to|&) (?:the )?$", before) is not None
        goals.append(Goal(kind, number, match.start(), match.end(), step=step, plain=False, many=many))
    for match in _BETWEEN.finditer(lower):  # "our second Dublin day"
        if all(word[:1].isupper() for word in words.text[match.start("name") : match.end("name")].split()):
            num = match["num"]
            number = -1 if num in ("last", "final") else _VALUE[num] if num in _VALUE else int(num[:-2])
            goals.append(Goal(match["kind"], number, match.start(), match.end(), plain=False))
    for match in _THERE.finditer(lower):  # "the last one there"
        num = match["num"]
        number = -1 if num in ("last", "final") else _VALUE[num] if num in _VALUE else int(num[:-2])
        goals.append(Goal("day", number, match.start(), match.end(), plain=False))
    for match in _AMONG.finditer(lower):  # "the second of our days"
        num = match["num"]
        number = -1 if num in ("last", "final") else _VALUE[num] if num in _VALUE else int(num[:-2])
        goals.append(Goal(match["kind"], number, match.start(), match.end(), plain=False))
    for match in _COUNTED.finditer(lower):  # "number 2 of our days"
        num = match["num"]
        number = int(num) if num.isdigit() else _VALUE[num]
        goals.append(Goal(match["kind"], number, match.start(), match.end(), plain=False))
    for match in _STEPPED.finditer(lower):  # "And the day after that is …"
        step = -1 if " before" in match["day"] else 1
        goals.append(Goal("day", 0, match.start("day"), match.end("day"), step=step, plain=False))
    for match in _NOW_THE.finditer(lower):  # "Now the third one."
        num = match["num"]
        number = -1 if num in ("last", "final") else _VALUE[num] if num in _VALUE else int(num[:-2])
        goals.append(Goal("day", number, match.start("num"), match.end(), plain=False))
    for match in _ENDS.finditer(lower):
        said = match["of"] or match["end"] or match["first"]
        first = said in ("arrival", "first") or "beginning of" in said or "start of" in said
        goals.append(Goal("day", 1 if first else -1, match.start(), match.end(), plain=False))
    for match in _ARRIVE.finditer(lower):
        arrives = match["verb"].startswith(("arr", "lan", "get", "tou"))
        goals.append(Goal("day", 1 if arrives else -1, match.start(), match.end(), plain=False))


def _dates(words: Words, goals: list[Goal]) -> None:
    for match in _WEEKDAY.finditer(words.lower):
        if not match["many"]:
            number = WEEKDAYS.index(match["weekday"])
            along = _ALONG.search(words.lower, max(0, match.start() - 6), match.start()) is not None
            owns = along and words.lower[match.end() : match.end() + 2] in (
                "'s",
                "’s",
            )  # "that one and Tuesday's things"
            goals.append(Goal("weekday", number, match.start(), match.end(), plain=False, many=owns))
    if not words.tokens.isdisjoint(_SHORT):
        for match in _SHORT_WEEKDAY.finditer(words.lower):
            at, end = match.start("weekday"), match.end("weekday")
            capital = (
                words.text[at].isupper() and at > 0 and words.text[at - 1] == " " and words.text[at - 2] not in ".!?"
            )
            if match["lead"] or match["date"] or capital:  # "thurs 13", "on fri", "the Sat"; "the sun sat low" is none
                number = [name[:3] for name in WEEKDAYS].index(match["weekday"][:3])
                goals.append(Goal("weekday", number, at, end, plain=False))
                if match["dom"] and 1 <= int(match["dom"]) <= 31:
                    goals[-1] = Goal("date", -int(match["dom"]), at, match.end("dom"), plain=False)
    for match in _DATE.finditer(words.lower):
        month = match["month"] or match["month2"]
        dom = int(match["dom"] or match["dom2"] or match["dom3"] or match["dom4"])
        if 1 <= dom <= 31:
            number = day_of_year(_MONTH[month], dom) if month else -dom
            goals.append(Goal("date", number, match.start(), match.end(), plain=False))


def _chinese(words: Words, goals: list[Goal]) -> None:
    for match in _CHINESE.finditer(words.text):
        start, end = match.span()
        if num := match["num"]:
            kind = _CN_KIND[match["kind"]]
            if (
                match[0] == "第二天"
                and _CN_NEXT_DAY.match(words.text, end)
                and words.text[start - 1 : start] in _CN_PAUSE
            ):
                goals.append(
                    Goal("day", 0, start, end, step=1, plain=False, many=True, chinese=True)
                )  # "…, back the next day"
                continue
            goals.append(
                Goal(
                    kind,
                    _chinese_number(num),
                    start,
                    end,
                    plain=kind not in _LOOSE and kind != "day",
                    many=bool(match["many"]),
                    chinese=True,
                )
            )
        elif match["last"]:
            goals.append(Goal(_CN_KIND[match["lkind"]], -1, start, end, plain=False, chinese=True))
        elif match["go"] or match["come"]:
            goals.append(Goal("day", -1 if match["go"] else 1, start, end, plain=False, chinese=True))
        elif match["first"]:
            goals.append(Goal(_CN_KIND[match["fkind"]], 1, start, end, plain=False, chinese=True))
        elif match["pkind"]:
            num = match["pnum"]
            letter: Number = num.upper() if num.isascii() and num.isalpha() else _chinese_number(num)
            goals.append(Goal(_CN_KIND[match["pkind"]], letter, start, end, chinese=True))
        elif match["next"]:
            goals.append(Goal(_CN_KIND[match["nkind"]], 0, start, end, step=1, plain=False, chinese=True))
        elif wday := match["cwday"]:
            number = "一二三四五六日天".index(wday)
            goals.append(Goal("weekday", min(number, 6), start, end, plain=False, chinese=True))
        elif match["cmonth"]:
            month, dom = int(match["cmonth"]), int(match["cdom"])
            if 1 <= month <= 12 and 1 <= dom <= 31:
                goals.append(Goal("date", day_of_year(month, dom), start, end, plain=False, chinese=True))
        elif 1 <= int(match["cdom2"]) <= 31:
            goals.append(Goal("date", -int(match["cdom2"]), start, end, plain=False, chinese=True))


def find_goals(words: Words) -> list[Goal]:
    """The enumerated goals that a text names, in its order."""
    goals: list[Goal] = []
    tokens = words.tokens
    if not tokens.isdisjoint(KIND_WORDS) or not tokens.isdisjoint(_OTHER_WORDS) or not tokens.isdisjoint(_PARTS):
        _numbered(words, goals)
        _ordered(words, goals)
    if (
        not tokens.isdisjoint(_WEEKDAY_WORDS)
        or not tokens.isdisjoint(_MONTH_TOKENS)
        or not tokens.isdisjoint(("th", "st", "nd", "rd"))
        or not tokens.isdisjoint(_SHORT)
    ):
        _dates(words, goals)
    if words.has_cjk:
        _chinese(words, goals)
    if len(goals) > 1:
        goals.sort(key=lambda goal: (goal.start, -goal.end))
        kept: list[Goal] = []
        for goal in goals[:40]:  # a longer list is a table
            if kept and kept[-1].kind == "weekday" and goal.kind == "date" and goal.start - kept[-1].end <= 6:
                goal.start = kept.pop().start  # "Friday the 6th" is one date
            if not kept or goal.start >= kept[-1].end:
                kept.append(goal)
        return kept
    return goals


def may_open(goal: Goal) -> bool:
    """Whether the goal may open a row by itself in a plan that has none of its kind yet."""
    return goal.plain or goal.kind not in _LOOSE


def parse_goal_name(name: str) -> tuple[str, Number] | None:
    """The kind and number that a scope's own name says ("Day 2", "Task B", "第2天"); None if it is no such name."""
    from .text import read_words

    goals = find_goals(read_words(name))
    if len(goals) == 1 and goals[0].start == 0 and goals[0].end == len(name) and goals[0].step == 0:
        return goals[0].kind, goals[0].number
    return None
