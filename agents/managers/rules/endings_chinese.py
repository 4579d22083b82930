"""What is over, in Chinese: 我不住在罗马了, 我失业了, 我和小美分手了, 豆豆去世了, 我不喜欢咖啡了."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....memory_types.proposals import OF_THE_ENDED, Ends
from .over import EndingRules, Over, given_up, pets_of, slots_of
from .people import KIN_ZH_PATTERN
from .sentences import Clause, Sentence
from .words import ANIMALS_ZH, HAN, NAME

__all__ = ["chinese_endings"]

_I = (
    r"^(?:其实|对了|因为|所以|现在|然后|但是?|不过|可惜|唉|哎|\s)*(?:我们?|咱们?)?(?:现在|已经|刚|最近"
    r"|上个?(?:周|月|星期)|昨天|今天|去年|今年|前?几天|终于|早就|也|就|都)*"
)
_OTHERS = re.compile(rf"^(?:{KIN_ZH_PATTERN}|他|她|它|你|您|大家|同事|朋友|[小老阿][{HAN}](?=失业|被裁|辞职|离职))")
_PARTNERS = "女朋友|男朋友|女友|男友|对象|老婆|老公|妻子|丈夫|爱人|太太|先生|未婚妻|未婚夫|前任"
_MARRIED = ("老婆", "老公", "妻子", "丈夫", "爱人", "太太")
_TIME = (
    r"(?:[上这]个?(?:周|月|星期|礼拜)[一二三四五六日天末]?|昨天|今天|前天|今早|昨晚|去年|今年|前年|最近"
    r"|刚|已经|突然|不幸|几天前|前几天|前段时间)*"
)
_ORG = rf"(?:[{HAN}A-Za-z0-9& ]{{2,16}}?)"
_ANY_PLACE = re.compile(
    r"[这那本我们家]*(?:公司|单位|学校|校园|大学|医院|诊所|工厂|厂里?|银行|办公[室楼]|写字楼|店里?|商店|餐厅|饭店|酒店|图书馆|机构|工地|家里?)"
)
"""Where one works and what one also just leaves for the day."""
_RULES = EndingRules()


def chinese_endings(sentence: Sentence) -> Iterator[Over]:
    """The endings that a sentence tells of the user and of whom they live with."""
    for clause in sentence.clauses:
        if (
            not clause.holds
            or not re.search(r"[了离裁辞掉再合好卖]", clause.text)
            or re.search(r"想|打算|准备|快要|差点", clause.text)
        ):
            continue
        yield from _RULES.read(clause)


def _over(clause: Clause, label: str, value: str, *ends: Ends, slot: str = "", stated: str = "") -> Over:
    return Over.of(clause, *ends, label=label, value=value, slot=slot, stated=stated or value)


@_RULES.rule(rf"{_I}(?:不再?住在?|没住在?|不在)\s?(?P<place>[{HAN}]{{2,7}}?|{NAME})(?:住|生活|定居)?了$")
def _left_home(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if "住" in match[0] or "生活" in match[0] or "定居" in match[0]:
        place = match["place"]
        if not re.search(r"^(?:一起|学校|宿舍|家|这|那|酒店)|工作|上班", place):
            yield _home(place, clause)


@_RULES.rule(rf"{_I}(?:搬离了?|搬出了?|离开了?(?=.*定居))\s?(?P<place>[{HAN}]{{2,7}}?|{NAME})了?$")
def _moved_away(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    yield _home(match["place"], clause, needed=True)


def _home(place: str, clause: Clause, *, needed: bool = False) -> Over:
    ends = Ends(slots=("home_city",), words=place, needed=needed)
    return _over(clause, "home", f"不住在{place}了", ends, slot="home_city", stated=f"不在{place}了")


@_RULES.rule(
    rf"{_I}(?:又)?(?P<how>失业|下岗|没有?工作|不工作|丢了?工作|辞了?工作|辞职|离职|被(?:公司)?(?:裁员?|炒鱿鱼"
    rf"|炒|辞退|开除|解雇|优化)|把工作辞)(?:掉|了|啦)+$"
)
def _lost_job(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    value = (
        "辞职了"
        if "辞" in match["how"] and "被" not in match["how"]
        else "离职了"
        if match["how"] == "离职"
        else "失业了"
    )
    yield _over(clause, "job", value, Ends(slots=("job_title", "employer")), slot="job_title", stated="没有工作")


@_RULES.rule(rf"{_I}离开(?:了\s?(?P<org>{_ORG})|\s?(?P<org2>{_ORG})了)$")
def _left_employer(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    org = (match["org"] or match["org2"]).strip()
    if _ANY_PLACE.fullmatch(org):
        return
    # It may be a place, or somebody. 上海 is not left as an employer by who works 在上海的一家银行.
    held = {"words": org} if org.isascii() else {"states": (f"在{org}", f"在{org}公司")}
    ends = Ends(slots=("employer", "job_title"), needed=True, **held)
    yield _over(clause, "employer", f"不在{org}工作了", ends, slot="employer", stated=f"不在{org}了")


@_RULES.rule(rf"{_I}(?:不再?在|没在)\s?(?P<org>{_ORG})(?:工作|上班|干|做)了$")
def _left_work(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    org = match["org"].strip()
    ends = Ends(slots=("employer",), words=org)
    yield _over(clause, "employer", f"不在{org}工作了", ends, slot="employer", stated=f"不在{org}了")


@_RULES.rule(rf"{_I}(?:不再?(?:是|做|当)|没(?:做|当))\s?(?P<what>[{HAN}A-Za-z ]{{2,12}}?)了$")
def _is_no_more(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    what = match["what"].strip()
    yield _over(clause, OF_THE_ENDED, f"不再是{what}", Ends(labels=("*",), words=what, needed=True))


@_RULES.rule(
    rf"{_I}(?:[和跟与同]\s?(?:我?(?P<kin>{_PARTNERS})\s?)?(?P<name>{NAME}|(?!我|他|她|女|男|老[婆公]|对象"
    rf"|前任)[{HAN}]{{2,4}}?)?\s?)?{_TIME}(?:和平)?"
    r"(?P<how>分手|分开|离婚|离|分|解除婚约|取消婚约)了?(?:婚|手)?(?:了|啦)?$"
)
def _parted(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    kin, name, how = match["kin"] or "", (match["name"] or "").strip(), match[0]
    if not re.search(r"分了?手|分开|离了?婚|婚约", how) or (re.search("分开", how) and not (kin or name)):
        return
    yield from _separated(kin, name, "离" in match["how"], clause)


@_RULES.rule(
    rf"^(?:我的?)?(?P<kin>{_PARTNERS})?(?P<name>{NAME}|[小老阿][{HAN}])?{_TIME}(?:跟我|和我"
    rf"|把我)(?P<how>提?分手|分开|离婚|甩)(?:掉)?了$"
)
def _was_left(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if match["kin"] or match["name"]:
        yield from _separated(match["kin"] or "", match["name"] or "", "离" in match["how"], clause)


@_RULES.rule(
    rf"{_I}[和跟与同]\s?(?:我?(?:{_PARTNERS})\s?)?(?P<name>{NAME}|(?!我|他|她|女|男|老[婆公])[{HAN}]{{2,3}}?)\s?{_TIME}(?:又|重新)?(?:和好|复合|复婚|在一起)(?:如初)?了$"
)
def _together_again(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    name = match["name"].strip()
    ends = Ends(slots=("partner",), words=f"和{name}分手", needed=True)
    yield _over(clause, "partner", f"和{name}又在一起了", ends, slot="partner.name", stated=name)


def _separated(kin: str, name: str, divorced: bool, clause: Clause) -> Iterator[Over]:
    whom = name or kin
    words = name or ("" if kin in ("对象", "前任") else kin)
    ends = [Ends(slots=("partner",), words=words)]
    if divorced and not words:
        ends = [Ends(slots=("partner",), words=one) for one in _MARRIED]
    if divorced and not words:
        yield _over(clause, "family", "离婚", *ends, slot="marital_status")
        return
    if name:
        ends += [Ends(named=name, words=one) for one in _PARTNERS.split("|")]
    ends.append(Ends(slots=("marital_status",), words="结婚" if divorced else "订婚"))
    done = "离婚了" if divorced else "分手了"
    yield _over(clause, "partner", f"和{whom}{done}" if whom else done, *ends, slot="partner.name", stated=f"已{done}")


_ONLY_VERY = re.compile(r"[累困饿热冷渴笑气急烦吓忙疼痛想爱恨臭吵闷贵难惨美羡慕高兴开心无聊尴尬后悔]$")
"""Before 死了: that somebody is very much so, and dead in no wise."""


@_RULES.rule(
    rf"^(?:我们?家?的?|咱们?家?的?)?(?P<rel>{KIN_ZH_PATTERN}|{ANIMALS_ZH})?(?P<name>{NAME}|(?!我|他|她|手机"
    rf"|电池|电脑)[{HAN}]{{1,4}}?)?{_TIME}"
    rf"(?P<how>去世|过世|离世|病逝|走丢|送人|送走|安乐死|死掉|死|没)了?(?:了|啦)$"
)
def _died(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    name, relation = match["name"] or "", match["rel"] or ""
    if (not name and not relation) or (match["how"] == "死" and not relation and _ONLY_VERY.search(name)):
        return
    who = name or relation
    gone = "走丢了" if match["how"] == "走丢" else "送人了" if match["how"].startswith("送") else "去世了"
    slot = f"pet.{name.lower()}" if name else ""
    yield _over(clause, "pet", f"{who}{gone}", pets_of(name, relation), slot=slot)
    yield _over(
        clause, "partner", f"{who}{gone}", Ends(slots=("partner",), words=who, needed=True), slot="partner.name"
    )
    held = slots_of(who.lower(), "home_city", "employer", "job_title", "age")
    yield Over.of(clause, Ends(slots=held, needed=True), kind="semantic", label=who, value=f"{who}{gone}")


@_RULES.rule(rf"{_I}(?:不再?|没有?那么)(?:喜欢|爱|想)(?P<verb>吃|喝|看|听|玩)?\s?(?P<what>[{HAN}A-Za-z ]{{1,12}}?)了$")
def _likes_no_more(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    what = match["what"].strip()
    if what in ("你", "他", "她", "它", "这样", "这个", "那个"):
        return
    value = f"不喜欢{match['verb'] or ''}{what}"
    yield _over(clause, "dislike", value, Ends(labels=("preference",), words=what))


@_RULES.rule(rf"{_I}(?:不再?|没再?)(?:弹|踢|打|拉|吹|学|练|玩|跑|画|唱|跳|收集)\s?(?P<what>[{HAN}A-Za-z ]{{1,10}}?)了$")
def _does_no_more(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    what = match["what"].strip()
    ends = Ends(labels=("hobby", "studies", "language", "habit", "preference"), words=what, needed=True)
    yield _over(clause, OF_THE_ENDED, re.sub(r"^.*?(?=[不没])", "", clause.raw), ends)
    yield given_up(what, clause)


@_RULES.rule(rf"{_I}(?:现在|最近|已经|又|重新|开始)+(?:开始|可以|能)?吃(?P<food>肉|荤|牛肉|猪肉|鸡肉|羊肉|鱼)了?$")
def _eats_again(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    if re.search(r"又|重新|开始|了$", match[0]):
        diets = [Ends(labels=("diet", "avoids"), words=words) for words in ("吃素", "素食", "纯素", "不吃肉")]
        yield _over(clause, "habit", f"现在吃{match['food']}", *diets)


@_RULES.rule(
    rf"{_I}(?:家)?的?(?:把)?(?:我?的)?(?P<what>[{HAN}A-Za-z]{{0,6}}?(?:车|摩托|摩托车))(?:已经|刚|终于|上?个?[周月]|昨天)*(?:给)?(?:卖|报废|处理)掉?了$"
)
def _sold(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    what = match["what"]
    ends = Ends(slots=("vehicle",), words="" if what in ("车", "汽车", "车子") else what, needed=True)
    yield _over(clause, "vehicle", f"{what}卖掉了", ends, slot="vehicle", stated=f"没有{what}了")


@_RULES.rule(
    rf"{_I}(?:不(?:能|会|再)?(?:参加|去|跑|来)|退出了?|去不了|参加不了"
    rf"|跑不了)\s?(?P<what>[{HAN}A-Za-z ]{{2,14}}?)(?:了)?$"
)
def _will_not(match: re.Match[str], clause: Clause) -> Iterator[Over]:
    yield given_up(match["what"].strip(), clause)
