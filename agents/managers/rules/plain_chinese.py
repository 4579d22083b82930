"""Plain tellings of the user in Chinese, where no other rule has read anything: 我退休了, 我会弹古筝, 我在加拿大住过三年."""

from __future__ import annotations

from .... import lazy_re as re
from .english_grammar import Fact
from .plain_forms_chinese import COUNT_ZH, PLAIN_FORMS_ZH, TIME_ZH, WHAT_ZH
from .sentences import Clause

__all__ = ["told_plainly_zh"]

_LEAD = r"^(?:(?:其实|另外|还有|对了|然后|而且|不过|但是|但|因为|所以|哦|嗯|说起来|顺便说一下|目前|现在|以前|[，\s])*)"
_I = r"(?:我们家里|我们家|我家里|我家|我们|我自己|我本人|我|咱们家|咱家|咱们)"
_ADV = (
    r"(?:(?:也|都|还|一直|现在|目前|平时|平常|一般|通常|经常|常常|常|从小|已经|其实|只|最近|真的|就|主要|基本上?"
    r"|总是|每次|偶尔|有时|刚|早就|自己|从来|很|特别|非常|比较|有点|有点儿|本来就|天生|今年)*)"
)
_POINTS = re.compile(
    r"[你您他她它这那哪谁吗呢]|什么|怎么|咋|啥|如果|要是|今天|今晚|明天|昨天|后天|前天|刚才|马上|一会儿?|等下"
    r"|等会|待会|差点|快要|上周|下周|这周|上个?月|下个?月|周末要|再说|再见|一下|帮我|帮忙|请|给我|别|吧$|问题"
    r"|报错|代码|觉得|感觉|知道|以为|不知|听说|据说|有人|大家|人们"
)
_SPORTS = (
    r"(?:游泳|跑步|健身|瑜伽|冥想|打坐|太极拳?|广场舞|书法|国画|钓鱼|爬山|骑行|打球|篮球|足球|羽毛球|乒乓球|网球"
    r"|唱歌|跳舞|做饭|烘焙|读书|写日记|遛狗|散步|锻炼|晨跑|夜跑|加班|值班|买菜|带孩子|带娃|接孩子|送孩子|辅导孩子"
    r"|看书|练琴|喝茶|午睡|熬夜|早起)"
)
_ACT = (
    r"(?:起床|睡觉|入睡|上床|在|骑|坐|开|走|去|跑|游|打|练|做|写|看|读|喝|吃|遛|带|陪|给|唱|跳|拉|弹|学|健身|冥想"
    r"|瑜伽|回|加班|上班|下班|值班|运动|锻炼|散步|晨跑|夜跑|爬|踢|钓|听|画|背|参加|打扫|浇|种|烤|煮|煲|泡|午睡"
    r"|休息|祷告|念经|礼拜|直播|录|拍|剪|存|还|交|洗|用|献血|体检|复查|理疗|针灸|聚餐|聚会|轮休|出差|接|送|教|上"
    r"|通勤|工作|睡|花|泡|逛|玩|刷|自己|和|跟|都|会|要|只|能|得|[一二三四五六七八九十两\d]{1,3}点半?)"
)
_OFTEN = (
    rf"(?:每(?:隔{COUNT_ZH}|{COUNT_ZH})?(?:天|晚|早|周|星期|礼拜|个?月|年|个?季度"
    rf"|逢)(?:[一二三四五六日天末](?:[、和][一二三四五六日天末]){{0,3}})?(?:[\d一二三四五六七八九十]{{1,3}}[号日月])?"
    rf"|每个(?:周|星期|礼拜|月)[一二三四五六日天末]?|(?:一|每)(?:周|星期|个?月|年|天){COUNT_ZH}(?:到{COUNT_ZH})?(?:次|天|趟"
    rf"|回)|周[一二三四五六日末](?:和周?[一二三四五六日末])?(?:一般|通常|都|固定|总是)|周末(?:一般|通常|都|经常"
    rf"|常常|总是|喜欢)|(?:夏|冬|春|秋)天都?)"
)

_RULES = [
    (label, slot, re.compile(rf"{_LEAD}{_I}(?:的)?{_ADV}(?P<said>(?:{form}))(?:了|啦|呀|啊|哦)?[。！]?$"))
    for label, slot, form in PLAIN_FORMS_ZH
]
_ROUTINE = re.compile(
    rf"{_LEAD}(?:{_I}{_ADV}(?P<said>{_OFTEN}(?:都|会|要|得|固定)*{TIME_ZH}?{_ACT}{WHAT_ZH}{{0,24}})"
    rf"|(?P<first>{_OFTEN}{TIME_ZH}?)我们?(?P<does>(?:都|会|要|得|固定)*{_ACT}{WHAT_ZH}{{0,24}}))(?:了|啦)?[。！]?$"
)
_SPORT = re.compile(
    rf"{_LEAD}我(?:平时|平常|一般|周末|经常|常常|偶尔|每天)(?P<said>(?:都|会|喜欢|爱|去|在家|自己|出去|跟朋友"
    rf"|和朋友|陪孩子)*{_SPORTS}{WHAT_ZH}{{0,8}})[。！]?$"
)
_OFTEN_DOES = re.compile(
    rf"{_LEAD}我们?(?P<said>(?:平时|平常|周末|下班后|下班|放学后|早上|晚上|中午|睡前|饭后|业余时间|业余|空闲时"
    rf"|没事|闲的时候"
    rf"|有空|休息日?|放假)*(?:就|都|会)?(?:经常|常常|常|一般|通常|总是|老是|很少|偶尔|从不|从来不|喜欢|习惯|爱"
    rf"|基本不?|不怎么|几乎每天|几乎不){_ACT}{WHAT_ZH}{{1,16}}|(?:业余时间|业余|空闲时间|下班后|下了班|睡前"
    rf"|周末)(?:都|会|就)*{_ACT}{WHAT_ZH}{{1,14}})[。！]?$"
)
_NOT_KEPT = re.compile(
    r"手机|电脑|软件|网页|文件|报告|邮件|会议|快递|外卖到|作业|截图|账号|密码|死了|累|困|饿|开心|高兴|难过"
    r"|生气|无语|崩溃|笑|哭|梦"
)


def told_plainly_zh(clause: Clause) -> list[Fact]:
    """What a clause tells plainly of the user, by the first form that reads it; one in which no other rule has found anything."""
    text = clause.text.strip()
    if len(text) > 40 or ("我" not in text and "咱" not in text) or _POINTS.search(text) or _NOT_KEPT.search(text):
        return []
    shift = clause.text.index(text[0]) if text else 0
    for label, slot, form in _RULES:
        if match := form.match(text):
            return [_fact(label, slot, _raw(clause, shift, *match.span("said")), clause)]
    if match := _ROUTINE.match(text):
        parts = ("said",) if match["said"] else ("first", "does")
        return [_fact("habit", "", "".join(_raw(clause, shift, *match.span(part)) for part in parts), clause)]
    if match := _OFTEN_DOES.match(text):
        return [_fact("habit", "", _raw(clause, shift, *match.span("said")), clause)]
    if match := _SPORT.match(text):
        start, end = match.span("said")
        return [_fact("habit", "", _raw(clause, shift, start - 2, end), clause)]
    return []


def _raw(clause: Clause, shift: int, start: int, end: int) -> str:
    return re.sub(r"[的啦呀啊哦。！]+$", "", clause.raw[start + shift : end + shift].strip(" ，。、"))


def _fact(label: str, slot: str, said: str, clause: Clause) -> Fact:
    said = re.sub(r"^里?(?=有|带)", "家里" if label == "home" else "", said)
    if label == "job" and "退" in said:
        return Fact(
            label=label,
            value="已退休" if len(said) <= 4 else said,
            clause=clause,
            slot=slot,
            starts=True,
            confidence=0.8,
            plain=True,
        )
    return Fact(
        label=label,
        value=said.replace("我们", "").replace("我", ""),
        clause=clause,
        slot=slot,
        confidence=0.75,
        plain=True,
    )
