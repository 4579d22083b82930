"""Words that tell no day of a trip from another: they are said of every day."""

from __future__ import annotations

from .identity import EMPTY_SIGNS
from .numbers import KIND_WORDS
from .text import stem

__all__ = ["CN_COMMON", "COMMON", "tells"]

_COMMON_TEXT = """
breakfast lunch luncheon dinner supper brunch meal coffee tea table room hotel hostel flight train taxi bus tram metro
ticket price cost euro dollar pound yen yuan peso book booking booked reserve reservation restaurant cafe bar museum
tour child kid husband wife person people walk walking queue station airport luggage bag suitcase weather rain budget
garden seat seats hour half quarter minute nine eight seven six five four eleven twelve open closed closing opening
fee guest guide visit sight street city town centre center view option near nearby food eat drink vegetarian vegan
allergy allergic shellfish mother father mum dad parent son daughter friend sister brother early later change changed
swap swapped move moved cancel cancelled add added keep ask asked bring hold gluten dairy nut meat spot manage
recommend special magical quiet worth walkable expensive cheap happy tired evening night morning afternoon stop line
house home door name card cash photo check land arrive leave head fly return trip stay plan itinerary average free
entire adult per cover include included available rated rating minimum maximum total group party everyone easy easier
close closer light nice love lovely sounds great perfect proposal propose choose pick picked work works suit suits
fit fits start finish end schedule activity stuff local popular famous idea ideas two three both between compare
expect occasion voice note touch mention mentioned notice noticed remember forget forgot believe guess suppose imagine feel
felt seemed appear happen happened become became remain stay stayed carry send sent spend spent save saved serve served
show shown pay paid sell sold run running turn turned reach reached join joined follow followed meet met read wrote write
written call called leave left miss missed need needed turn change choose chose chosen decide decided agree prefer
preferred allow allowed offer offered require required accept accepted avoid consider considered confirm confirmed
arrange arranged request requested reserve check checked recommend recommended suggest suggested combine enjoy enjoyed
worry worried mind matter matters care hate fear afraid sure certain clear able ready free busy full empty big large small
little tiny short long high low early late fast slow quick easy hard difficult simple cheap pricey expensive fancy casual
formal cosy cozy comfortable bright dark warm cold hot cool dry wet fresh clean noisy loud new old young main whole half
single double extra special general usual normal typical real true false right wrong bad worse worst better best good
fine okay decent safe safer strict flexible possible impossible available ideal suitable necessary important interesting
romantic famous beautiful pretty gentle relaxed lazy tired hungry nothing something anything everything somewhere anywhere
nobody someone anyone everybody people crowd crowds group couple pair bit lot kind sort type way place spot area corner side
front inside outside indoors outdoors above below behind beside across along toward towards around away ahead together apart
instead rather quite almost nearly roughly exactly simply really mostly usually often sometimes always never again once
twice ever yet still already soon later earlier afterwards beforehand meanwhile otherwise however although though unless
while during within without against despite except per via plus minus maybe perhaps probably possibly surely certainly
obviously honestly actually basically apparently fortunately unfortunately especially particularly mainly today tomorrow
yesterday tonight week weekend month year date time moment while daytime afternoon noon midday midnight sunset sunrise
reason problem issue question answer point fact case detail number amount price range rate fee deposit discount deal total
difference advantage distance minute second metre meter mile kilometre mile block floor level top bottom left straight
gap hole nuisance bad news forecast sun sunny rain rainy wind windy storm degree temperature outfit dress code clothes shoes
jacket anniversary birthday holiday vacation break getaway tourist touristy visitor local guide family kid boy girl man woman
"""
COMMON = frozenset(stem(word) for word in _COMMON_TEXT.split()) | KIND_WORDS
_CN_COMMON_TEXT = """
早餐 早饭 午餐 午饭 晚餐 晚饭 酒店 宾馆 客栈 民宿 房间 几点 时间 多少 门票 地铁 打车 公交 司机 机场 航班 高铁 火车 预订 订好 预约 安排 行程
推荐 附近 下午 上午 晚上 早上 中午 今天 明天 第一 第二 第三 第四 第五 一天 二天 三天 四天 最后 后一 可以 建议 每晚 人均 评分 入住 退房 行李
餐厅 饭店 好的 小时 分钟 方便 合适 免费 孩子 老人 妈妈 爸爸 阿姨 我妈 左右 我爸 爸妈
需要 要不 有没 没有 什么 怎么 哪个 哪家 那家 这家 大概 出发 回来 那天 当天 天气
去哪 哪儿 哪里 哪些 有哪 哪种 方式 选择 怎样 逛逛 之后 之前 以后 以前 完之 吃完 逛完 看完
还是 比较 觉得 想去 我们 你们 他们 那里 这里 时候
换成 取消 改成 改到 走路 开车 公里 起床 吃饭 好吃 想吃 喜欢 不用 一起 两个 两位 三位 一位 一点 再去 然后 还有 对了 问一 一下 直接
"""
CN_COMMON = frozenset(_CN_COMMON_TEXT.split())
_CN_EMPTY = EMPTY_SIGNS | frozenset("一二两三四五六七八九十半点分元块号几多少不没可以会能先早晚好")


def tells(term: str) -> bool:
    """Whether a term may tell one day of a trip from another: no figure, no word that is said of every day."""
    if term[0] > "\u2e80":
        return len(term) > 1 and term not in CN_COMMON and _CN_EMPTY.isdisjoint(term)
    return term not in COMMON and not term[0].isdigit()
