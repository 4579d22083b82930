"""Words that the rules of more than one file look for."""

from __future__ import annotations

from collections.abc import Iterable

from .... import lazy_re as re
from ....intent.dates.numbers_english import ONES
from ....intent.phrases.tokens import word_set

__all__ = [
    "ANIMALS",
    "ANIMALS_ZH",
    "CAPITALISED_NOT_NAMES",
    "CHILDREN",
    "FEMALE",
    "HAN",
    "KIN",
    "KIN_ZH",
    "MALE",
    "NAME",
    "NICKNAME_ZH",
    "NO_NICKNAME_ZH",
    "PARTNERS",
    "SURNAME_ZH",
    "TO_TWELVE",
    "any_of",
    "content_words",
]

HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
_UPPER = r"A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĖĘĚĞĢĦĪİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŹŻŽ"
_WORD = rf"(?:(?:St|Mt|Ft)\.\s)?(?!I(?:'|\b))[{_UPPER}][\w'\-]*(?<!')"
NAME = rf"(?:{_WORD}(?:(?:\s(?:de|del|van|von|der|la|le|al|bin|of the|of|and the|&)\s|[\s]|\s?&\s?){_WORD}){{0,4}})"
"""A name in Latin letters; to be used where case counts."""

PARTNERS = word_set(
    "wife husband partner spouse fiance fiancé fiancée girlfriend boyfriend 老公 老婆 丈夫 妻子 爱人 男朋友"
    " 女朋友 男友 女友 先生 太太 未婚妻 未婚夫"
)
CHILDREN = word_set(
    "son daughter child kid baby boy girl stepson"
    " stepdaughter toddler 儿子 女儿 闺女 孩子 宝宝 大宝 二宝 大儿子 小儿子 大女儿 小女儿"
)
_OTHERS = (
    "mother mum mom mam mama father dad papa parents brother sister twin stepbrother stepsister"
    " grandmother grandma gran "
    "granny nan grandfather grandad granddad grandpa aunt auntie uncle cousin nephew niece"
    " mother-in-law father-in-law "
    "brother-in-law sister-in-law grandson granddaughter stepmother stepfather stepmum stepdad godmother godfather "
    "friend mate flatmate roommate housemate neighbour neighbor colleague coworker co-worker boss manager supervisor "
    "landlord landlady teacher tutor coach therapist doctor dentist gp nanny babysitter childminder assistant client "
    "mentor buddy lawyer accountant plumber electrician builder mechanic hairdresser vet ex classmate teammate lead "
    "advisor professor trainer cleaner gardener"
)
KIN = word_set(_OTHERS) | {word for word in PARTNERS | CHILDREN if word.isascii() or "é" in word}
KIN_ZH = tuple(
    sorted(
        {
            *(word for word in PARTNERS | CHILDREN if not word.isascii() and "é" not in word),
            *[
                "爸爸",
                "妈妈",
                "老爸",
                "老妈",
                "爸",
                "妈",
                "父亲",
                "母亲",
                "爸妈",
                "父母",
                "哥哥",
                "姐姐",
                "弟弟",
                "妹妹",
                "哥",
                "姐",
                "弟",
                "妹",
                "公公",
                "婆婆",
                "岳父",
                "岳母",
                "丈母娘",
                "老丈人",
                "外婆",
                "外公",
                "奶奶",
                "爷爷",
                "姥姥",
                "姥爷",
                "姑姑",
                "姑妈",
                "阿姨",
                "姨妈",
                "小姨",
                "叔叔",
                "舅舅",
                "舅妈",
                "伯伯",
                "伯父",
                "婶婶",
                "表哥",
                "表弟",
                "表姐",
                "表妹",
                "堂哥",
                "堂弟",
                "堂姐",
                "堂妹",
                "嫂子",
                "姐夫",
                "妹夫",
                "弟媳",
                "侄子",
                "侄女",
                "外甥",
                "外甥女",
                "孙子",
                "孙女",
                "同事",
                "老板",
                "朋友",
                "闺蜜",
                "室友",
                "舍友",
                "同学",
                "邻居",
                "导师",
                "经理",
                "领导",
                "上司",
                "主管",
                "组长",
                "房东",
                "老师",
                "教练",
                "客户",
                "师傅",
                "徒弟",
                "保姆",
                "医生",
                "律师",
                "发小",
                *[
                    "同行",
                    "学姐",
                    "学姊",
                    "学长",
                    "学弟",
                    "学妹",
                    "师兄",
                    "师姐",
                    "师弟",
                    "师妹",
                    "同门",
                    "搭档",
                    "班主任",
                    "合伙人",
                    "下属",
                    "助理",
                    "助手",
                    "队友",
                    "网友",
                    "大伯",
                    "姑父",
                    "姨父",
                    "干妈",
                    "干爸",
                    "月嫂",
                ],
                "buddy",
                "boss",
                "mentor",
                "roommate",
                "manager",
                "colleague",
                "leader",
                "flatmate",
                "cousin",
                "boyfriend",
                "girlfriend",
                "husband",
                "wife",
                "partner",
                "son",
                "daughter",
            ],
        },
        key=lambda word: (-len(word), word),
    )
)
FEMALE = word_set(
    "wife girlfriend fiancée daughter girl stepdaughter mother mum mom mam mama sister"
    " grandmother grandma gran granny nan nana nanna "
    "aunt auntie niece mother-in-law sister-in-law granddaughter landlady stepmother stepmum"
    " godmother 老婆 妻子 女朋友 女友 太太 "
    "未婚妻 女儿 闺女 大女儿 小女儿 妈妈 老妈 妈 母亲 姐姐 妹妹 姐 妹 婆婆 岳母"
    " 丈母娘 外婆 奶奶 姥姥 姑姑 姑妈 阿姨 姨妈 小姨 舅妈 婶婶 表姐 表妹 堂姐 堂妹 嫂子 "
    "弟媳 侄女 外甥女 孙女 闺蜜"
)
MALE = word_set(
    "husband boyfriend fiancé son boy stepson father dad papa brother grandfather grandad"
    " granddad grandpa uncle nephew "
    "father-in-law brother-in-law grandson landlord"
    " stepfather stepdad godfather 老公 丈夫 男朋友 男友 先生 未婚夫 儿子 大儿子 小儿子 爸爸 "
    "老爸 爸 父亲 哥哥 弟弟 哥 弟 公公 岳父 老丈人 外公 爷爷 姥爷"
    " 叔叔 舅舅 伯伯 伯父 表哥 表弟 堂哥 堂弟 姐夫 妹夫 侄子 外甥 孙子"
)
ANIMALS = word_set(
    "dog puppy pup cat kitten rabbit bunny hamster guinea-pig gerbil parrot budgie canary horse"
    " pony tortoise turtle snake "
    "lizard gecko ferret goldfish fish hen chicken goat donkey lurcher labrador lab retriever"
    " poodle terrier collie spaniel "
    "beagle bulldog dachshund greyhound whippet husky shepherd corgi pug chihuahua rottweiler"
    " boxer dalmatian schnauzer "
    "mongrel mutt tabby siamese persian ragdoll tomcat cockatiel chinchilla hound cockapoo labradoodle westie shiba "
    "setter pointer cockatoo axolotl"
)
ANIMALS_ZH = (
    "(?:猫|狗|犬|兔子|兔|仓鼠|鹦鹉|乌龟|龟|金毛|拉布拉多|柯基|泰迪|哈士奇|柴犬|边牧|布偶"
    "|英短|美短|橘猫|狸花|猫咪|狗狗|小狗|小猫|龙猫|豚鼠|cat|dog|puppy|kitten)"
)
CAPITALISED_NOT_NAMES = word_set(
    "i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december ok okay yes no hi hello hey thanks thank sorry please"
    " well oh ah so and but the a "
    "an my our his her its their this that these those it he she they we you there here what when"
    " where who why how which "
    "if also then now today tomorrow yesterday tonight still not just only maybe perhaps everyone"
    " nobody someone anyone "
    "everything something nothing both all some many most good great right sure at in on from by"
    " to for with since after before "
    "during until without within under over about around between through because although though"
    " while as like unless once "
    "however instead besides meanwhile otherwise again later soon recently finally actually"
    " honestly basically apparently "
    "hopefully luckily sadly unfortunately obviously probably definitely guess sounds looks seems"
    " think let let's don't "
    "can't can could would should will won't did do does is are was were have has had been being"
    " got get glad happy lovely "
    "nice cool wow awesome amazing perfect haha lol yep yeah nope nah morning evening night"
    " cheers congrats hmm ugh any every "
    "each such same another other others people things stuff time life work home day days mum mom"
    " dad one two three four five english chinese british irish american "
    "german french christmas easter"
)
SURNAME_ZH = (
    "[小老阿赵钱孙李周吴郑王冯陈卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹潘葛范彭鲁韦马方俞任袁柳唐罗薛贺倪"
    "汤郝毕安常于傅康余顾孟黄萧姚汪毛禹狄戴宋庞熊项董梁杜蓝季贾江郭林钟徐邱骆夏蔡田胡凌霍万柯卢莫丁邓洪石崔程陆"
    "曾叶苏刘佟关温尹]"
)
"""How a Chinese name begins that nothing else marks as one: a common surname, or 小, 老, 阿."""
NO_NICKNAME_ZH = "[小老阿][师板区时孩心家公婆爸妈弟妹姐哥姨学校店朋友吃说狗猫镇组城人型于费路伙姑舅叔伯爷奶]"
NICKNAME_ZH = rf"(?!{NO_NICKNAME_ZH})[小老阿][{HAN}]"
"""小王, 老李, 阿芳: not 老师 or 小学."""
TO_TWELVE = "|".join(ONES[:12])
"""Numbers in words, as alternatives of a pattern."""
_LATIN = re.compile(r"[^\W\d_][\w'&-]{2,}")
_HAN_RUN = re.compile(rf"[{HAN}]{{2,}}")
_STOP = word_set(
    "the and for with that this from have has had was were are you your our his her its they them"
    " will would not but out "
    "off into over about then than just too very really been being there here what when where who"
    " which how can could "
    "should remind remember note please monday tuesday wednesday thursday friday saturday sunday"
    " january february march "
    "april june july august september october november december today tomorrow yesterday tonight"
    " morning afternoon evening "
    "next last week month year day days weeks time half past i'm i've i'll we're we've it's got"
    " get going booked whole "
    "thing sorry meant mean actually said changed moved 时间 一下 上午 下午 晚上 早上 今天 明天 后天 昨天 记得 提醒"
)


def any_of(words: Iterable[str]) -> str:
    """A pattern's alternatives, the longest first: a word must not be cut short by one that it begins with."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def content_words(text: str) -> frozenset[str]:
    """Folded words that tell what a text is about: Latin words of three letters, and pairs of Chinese characters."""
    words = {word.removesuffix("'s") for word in (m[0].casefold() for m in _LATIN.finditer(text))} - _STOP
    for run in _HAN_RUN.finditer(text):
        part = run[0][:60]
        words.update(part[i : i + 2] for i in range(len(part) - 1))
    return frozenset(words - _STOP)
