"""Sentences that give an attribute of somebody or something its one value: "Mark works at Bosch now", 小王跳槽去了阿里.

Only what holds one value at a time is read: where somebody lives and works, and as what; what a thing costs, runs on,
keeps its data in, is called; who leads it. Of two values of such an attribute the later one takes the place of the other.
"""

from __future__ import annotations

from typing import NamedTuple

from ... import lazy_re as re
from ...intent.dates.words_english import WEEKDAY_NAME
from ...intent.phrases.abbreviations import is_abbreviation_stop

__all__ = ["Stated", "stated_by"]


class Stated(NamedTuple):
    """What a sentence states.

    Attributes:
        subject: the words that name who or what it is said of; empty where the sentence does not name it.
        attribute: the last part of a slot.
        value: the bare value.
        certain: whether the sentence cannot be about another subject that only begins with these words.
    """

    subject: str
    attribute: str
    value: str
    certain: bool = False


_NOW = r"(?:now |currently |these days |recently |just |since |also )*"
_HAS = r"(?:(?:has|have|'s|is|was|got) )?" + _NOW
_VALUE = (
    r"(?P<value>[^.;!?,\n]+?)(?=[.;!?,\n]|,? (?:and|but|since|as|with|where|which|because|from|instead|after|until|for"
    r"|in (?:the )?(?:\w+ )?team|these days|now|any ?more|at the moment|again"
    r"|(?:last|this|next) \w+|yesterday|today|in (?:19|20)\d\d|on \w+day|an? \w+ ago)\b|$)"
)
_DATABASE = (
    r"(?P<value>postgres(?:ql)?|mysql|mariadb|sqlite|duckdb|mongo(?:db)?|redis|oracle|sql server|tidb|cassandra|dynamodb"
    r"|clickhouse|cockroachdb|couchdb|firestore|neo4j|elasticsearch|snowflake|bigquery|redshift|db2|supabase)"
    r"(?P<version>\s[\d.]+)?(?![\w-])"
)
_SYSTEM = (
    r"(?P<value>(?:ubuntu|debian|fedora|centos|rhel|windows|macos|alpine|arch|freebsd|rocky|suse)(?:\s(?:server|linux))?"
    r"(?:\s[\w.]+)?)"
)
_CHANGED_TO = (
    r"(?:(?:now |currently |has |have |been |was |is |were )*(?:uses?|using|runs? on|runs?|is on|moved to|switched to"
    r"|changed to|migrated to|ported to|upgraded to|(?:switched|moved|migrated|changed|upgraded) from [\w .]+? to|relies on"
    r"|stores? (?:its|all) data in|is backed by|sits on|goes to|went to))"
)
_MONEY = (
    r"(?P<value>(?:[$€£¥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:euros?|dollars?|pounds?|yuan|rmb|kr|chf|usd|eur|gbp|quid|cents?|pence"
    r"|€|£|\$))[^.;!?\n]{0,30}?)(?=[.;!?,\n]| (?:now|and|but|since|from|instead)\b|$)"
)
_LEADER = (
    r"(?P<role>(?:team |project |tech(?:nical)? |product |line )?(?:lead|leader|manager|owner|director|supervisor|boss)"
    r"|head|ceo|cto|cfo|chair|captain|coach|landlord|landlady|maintainer|headteacher|principal)"
)
_WORKER = (
    r"(?P<value>(?:[\w-]+ ){0,3}?(?:[\w-]+(?:er|or|ist|ian|eer|ant|yst|man|woman|wright|smith)|nurse|chef|cook|vet|nanny|judge"
    r"|pilot|guide|clerk|dentist|tutor|au pair|coach|midwife|intern|student))"
    r"(?=[.;!?,\n]| (?:now|and|but|since|at|in|for|with|these|by)\b|$)"
)
_NO_WORKER = (
    r"(?:member|fan|mother|father|sister|brother|daughter|teetotaller|supporter|dinner|rather|vegetarian|late|big|great|good"
    r"|bad|light|heavy|night|keen|early|singer of)"
)
_RISES = (
    r"(?:costs?|is priced at|went up to|goes up to|rose to|gone up to|came down to|dropped to|fell to|went down to"
    r"|increased to|raised to|sells for|is)"
)
_JOINED = (
    r"(?:joined|(?:started|starts|found|got|took|taken|accepted|has) (?:(?:a|his|her|their|the) )?(?:new )?"
    r"(?:job|position|role|post|work|working) (?:at|with|for)|switched jobs to|left [\w &.-]+? for)"
)
_ZH_END = r"(?=[，。；！？,.;!?\s]|$|[了啦吧]|[一每]?[杯个月年份斤张])"
_ZH_NOW = r"(?:[上这]个?[月周]|今年|去年|现在|目前|如今|已经|最近|刚|又|也|都|就|是)*"
_ZH_VALUE = r"(?P<value>[^，。；！？,;!?\s了啦吧][^，。；！？,;!?了啦吧]{0,24}?)"
_ZH_ATTRIBUTE = (
    r"数据库|服务器|操作系统|系统|框架|负责人|经理|组长|队长|班主任|导师|老板|房东|版本|域名|端口|编程语言|语言|名字|代号|截止日期"
    r"|密码|价格|月租|房租|租金|学费|年费|会费"
)

_COUNT = (
    r"\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|twenty"
)
_OVER = r"(?=\s*[.;!?]|\s*$| (?:now|these days|and)\b)"
"""That nothing follows which would hold of a part only: "closes at 8 on Thursdays" is not when it closes."""
_CLOCK = r"(?P<value>\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]\.?m\.?|o'clock)?|noon|midnight|(?:half|quarter) (?:past|to) \w+)"
_WEEKDAY = rf"{WEEKDAY_NAME}s?\b"
_DAYS = f"{WEEKDAY_NAME}s"

_ENGLISH: tuple[tuple[str, str], ...] = (
    ("home_city", rf"{_HAS}(?:lives?|living|resides?|based|lived) {_NOW}in {_VALUE}"),
    (
        "home_city",
        rf"{_HAS}moved {_NOW}(?:back )?to (?!{_WEEKDAY}|the next\b|tears\b|(?:a|an|the|another|his|her|their) ){_VALUE}",
    ),
    (
        "employer",
        rf"{_HAS}(?:works?|working|employed|worked) {_NOW}(?:at|for|by|over at) "
        rf"(?!(?:home|night|weekends?|the (?:weekend|moment))\b){_VALUE}",
    ),
    ("employer", rf"{_HAS}{_JOINED} {_VALUE}"),
    ("job_title", rf"{_HAS}(?:works?|working) {_NOW}as (?:an? |the )?{_VALUE}"),
    ("job_title", rf"(?:is|became|has become|'s) {_NOW}(?:working as )?an? (?!{_NO_WORKER}\b){_WORKER}"),
    ("age", r"is (?:now )?(?P<value>\d{1,3}|\w+(?:-\w+)?)(?: years old|-year-old)\b"),
    ("birthday", rf"(?:birthday is (?:on )?|was born on ){_VALUE}"),
    ("database", rf"{_CHANGED_TO} (?:a |an |the )?{_DATABASE}"),
    ("system", rf"{_CHANGED_TO} (?:a |an |the )?{_SYSTEM}(?=[.;!?,\n]| |$)"),
    ("price", rf"(?:(?:now |currently |only |has |have |been )*{_RISES}) {_NOW}(?:only |just |at )?{_MONEY}"),
    (
        "price",
        rf"(?<=rent |rate ){_HAS}{_RISES} (?P<value>\d[\d.,]*[^.;!?\n]{{0,20}}?)(?=[.;!?,\n]|$)",
    ),
    ("name", rf"(?:is|was) {_NOW}(?:called|renamed(?: to)?|named) {_VALUE}"),
    ("opening_time", rf"{_NOW}opens? {_NOW}at {_CLOCK}{_OVER}"),
    ("closing_time", rf"{_NOW}(?:closes?|shuts?) {_NOW}at {_CLOCK}{_OVER}"),
    ("weekdays", rf"(?:is|are) {_NOW}(?:held )?(?:on |every )?(?P<value>{_DAYS}(?:(?:, | and ){_DAYS})*){_OVER}"),
    ("duration", rf"{_NOW}takes? {_NOW}(?:me |us )?(?:about |around |roughly )?(?P<value>(?:{_COUNT}) (?:minutes?|mins?|hours?)){_OVER}"),
    ("weight", rf"{_NOW}weighs? {_NOW}(?:about |around )?(?P<value>\d[\d.]*\s?(?:kg|kilos?|g|grams?|lbs?|pounds?|stone)){_OVER}"),
    ("size", rf"has {_NOW}(?P<value>(?:{_COUNT}) (?:people|members|employees|staff|players|pupils|students)){_OVER}"),
    ("grade", rf"is {_NOW}in (?P<value>(?:(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|senior) (?:class|grade|year|form))"
              rf"|(?:year|grade|class) (?:{_COUNT})){_OVER}"),
)  # fmt: skip
_SENTENCES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (attribute, re.compile(rf"^(?P<subject>[^,.;!?\n]*?)\s?\b(?<!')(?:{form})", re.IGNORECASE))
    for attribute, form in _ENGLISH
)
_ROLE_OF = re.compile(
    rf"^(?:the |our )?(?:new |current )?{_LEADER} (?:of|on|for|at) (?P<subject>[^,.;!?\n]+?) is {_NOW}{_VALUE}",
    re.IGNORECASE,
)
_ROLE_IN = re.compile(
    rf"^(?P<subject>[^,.;!?\n]+?)(?:'s|’s) (?:new |current )?{_LEADER} is {_NOW}(?!(?:not|away|out|off|on|in|very|so|a|an|the)\b){_VALUE}",
    re.IGNORECASE,
)
_CARER = r"(?:dentist|gp|doctor|hairdresser|barber|therapist|accountant|childminder)"  # people seldom have two of them
_OURS = re.compile(
    rf"^(?P<value>[\w .-]+?)(?: now)? is the user's (?:new )?(?:{_LEADER}|(?P<carer>{_CARER}))$"
    r"|^(?P<value2>[^，。,\s]{1,12})(?:现在)?是用户的(?P<role2>房东|老板|经理|主管|班主任|导师|教练|牙医|家庭医生|组长|队长)$",
    re.IGNORECASE,
)
_IS_OLD = re.compile(
    rf"^(?P<subject>the user's [\w' -]{{2,30}}?) (?:is|turned|has turned) {_NOW}(?P<value>{_COUNT}){_OVER}",
    re.IGNORECASE,
)
_ONE_OF = re.compile(  # one has one of, or says which
    r"^(?:my|our|the user's) (?P<subject>(?:\w+ )?(?:car|van|motorbike|phone|laptop|tablet|gym|bank|broadband provider|insurer))"
    r" is (?:now |currently )?(?:an? )?(?P<value>(?-i:i?[A-Z])[^.;!?,\n]{1,40}?)(?= now\b|[.;!?]|$)",
    re.IGNORECASE,
)
_DEADLINE = re.compile(
    rf"^(?:the |our |my )?(?:new )?deadline (?:of|for) (?P<subject>[^,.;!?\n]+?) is {_NOW}(?:on )?{_VALUE}",
    re.IGNORECASE,
)
_BIRTHDAY = re.compile(
    rf"^(?:my |our |the user's )?(?P<subject>[\w' -]{{2,30}}?)['’]s birthday (?:is|falls) {_NOW}(?:on )?(?:the )?{_VALUE}",
    re.IGNORECASE,
)
_CHINESE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (attribute, re.compile(form))
    for attribute, form in (
        ("home_city", rf"^(?P<subject>\S*?){_ZH_NOW}(?:住在|定居在|搬到了?|搬去了?|搬回了?){_ZH_VALUE}{_ZH_END}"),
        ("employer", rf"^(?P<subject>\S*?){_ZH_NOW}在{_ZH_VALUE}(?:工作|上班|任职|做事)"),
        (
            "employer",
            rf"^(?P<subject>\S*?){_ZH_NOW}(?:跳槽[到去]?了?|入职了?|加入了?|换工作[到去]了?|去了?(?=[^，。]{{2,10}}(?:工作|上班)))"
            rf"{_ZH_VALUE}(?:工作|上班)?{_ZH_END}",
        ),
        ("age", r"^(?P<subject>\S*?)今年(?P<value>\d{1,3}|[一二三四五六七八九十百]+)岁"),
        (
            "age",
            r"^(?P<subject>[^\s，。]{1,6}?)(?:现在|已经|也|都|刚|满)*(?P<value>\d{1,3}|[一二三四五六七八九十百]+)岁半?了?(?=[。！]|$)",
        ),
        (
            "weekdays",
            r"^(?P<subject>[^\s，。]{1,10}?会)(?:现在|改[到成为]了?|都|也|是|在|定在)+(?P<value>每?(?:周|星期|礼拜)[一二三四五六日天])(?:了|开)?(?=[。！]|$)",
        ),
        (
            "",
            rf"^(?P<subject>\S*?)的?(?P<attribute>{_ZH_ATTRIBUTE}){_ZH_NOW}"
            r"(?:用的是|用的|用|是|换成了?|改成了?|改用了?|改为了?|变成了?|升级[到成]了?|迁移?到了?|涨到了?|降到了?|叫)"
            rf"\s?{_ZH_VALUE}{_ZH_END}",
        ),
        (
            "database",
            rf"^(?P<subject>[^\s，。]*?){_ZH_NOW}(?:用的是|换成了?|换到了?|改用了?|迁移?到了?)\s?(?i:{_DATABASE})",
        ),
        (
            "价格",
            rf"^(?P<subject>[^\s，。]*?){_ZH_NOW}(?:卖|要|涨到了?|降到了?|涨价到了?|降价到了?|只要|得|收)?\s?"
            r"(?P<value>\d[\d.,]*\s?(?:块|元|欧元?|美元|刀|镑|英镑|毛))",
        ),
    )
)
_NOT_NOW = re.compile(
    r"\b(?:used to|formerly|previously|wants? to|would like to|plans? to|might"
    r"|(?<!\d\s)(?<!th\s)(?<!st\s)(?<!nd\s)(?<!rd\s)(?<!of\s)(?<!in\s)(?<!since\s)may(?!\s\d)|could|would|should|will|going to|dreams? of"
    r"|not|no|never|n't|if|once|years ago|until|for a while)\b|n't\b|曾|以前|想|打算|计划|准备|不|没|如果|之前|可能",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:\s(?:now|currently|these days|at the moment|any ?more|has|have|is|was|recently|just|finally)|现在?|目前|如今|已经|最近|刚)+$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s?[（(][^（）()]*[）)]")
_LEADING = re.compile(
    r"^(?:the|our|my|this|that|project|我们?家?的?|咱们?的?|这家店的?|这个|那个|公司的?)\s?", re.IGNORECASE
)
_CLASS = re.compile(r"\s(?:project|app)$", re.IGNORECASE)
_PRICE_OF = re.compile(r"^(?:the )?(?:price|cost|rate|fee) (?:of|for) (?:the |our |a |an )?", re.IGNORECASE)
_LONGEST = 40  # characters of a subject
_READ = 600  # characters that are read: the forms begin with any subject, and would try each place of a longer one
_END = re.compile(r"[.!?;。！？；]\s")


def stated_by(sentence: str) -> Stated | None:
    """What a sentence states in the present, or None where it states no attribute that has one value.

    Of a text of more than 600 characters whole sentences within them are read, and nothing of a longer sentence.
    """
    sentence = _ASIDE.sub("", sentence.strip())
    if _NOT_NOW.search(sentence):
        return None
    if len(sentence) > _READ:
        ends = [
            match.start() + 1
            for match in _END.finditer(sentence[: _READ + 1])
            if not is_abbreviation_stop(sentence, match.start())
        ]
        if not ends:
            return None
        sentence = sentence[: ends[-1]]
    if ours := _OURS.match(sentence):
        role = ours["role"] or ours["carer"] or ours["role2"]
        return Stated("user", _role(role), (ours["value"] or ours["value2"]).strip(), certain=True)
    for attribute, form in (
        ("age", _IS_OLD),
        ("model", _ONE_OF),
        ("deadline", _DEADLINE),
        ("birthday", _BIRTHDAY),
    ):
        if match := form.match(sentence):
            return _stated(match["subject"], attribute, match["value"], certain=attribute != "age")
    for role in (_ROLE_OF, _ROLE_IN):
        if match := role.match(sentence):
            return _stated(match["subject"], _role(match["role"]), match["value"], certain=True)
    for attribute, form in (*_SENTENCES, *_CHINESE):
        match = form.match(sentence)
        if match is None:
            continue
        return _stated(match["subject"], attribute or match["attribute"], match["value"])
    return None


def _role(words: str) -> str:
    return re.sub("leader$", "lead", words.casefold()).replace(" ", "_")


def _stated(subject: str, attribute: str, value: str, *, certain: bool = False) -> Stated | None:
    subject = _TRAILING.sub("", _PRICE_OF.sub("", subject.strip())).strip()
    while (shorter := _CLASS.sub("", _LEADING.sub("", subject)).strip()) != subject:
        subject = shorter
    value = re.sub(
        r"(?:\s(?:now|currently|these days|actually)|现在)+$", "", value.strip(), flags=re.IGNORECASE
    ).strip()
    if (
        not value
        or len(subject) > _LONGEST
        or subject.casefold() in ("it", "he", "she", "they", "who", "which", "there")
    ):
        return None
    return Stated(subject, attribute, value, certain)
