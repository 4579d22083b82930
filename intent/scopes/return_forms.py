"""Forms of speech that tell which day of a trip a text speaks of, or whether it stays with the day in hand."""

from __future__ import annotations

from typing import Final

from ... import lazy_re as re

__all__ = [
    "AMOUNT",
    "ANCHOR",
    "AND",
    "ARRIVES_AT",
    "ASKS",
    "BESIDE",
    "CALLED_DAY",
    "CLOCK",
    "CN_CALLED_DAY",
    "CN_DEFINITE",
    "CN_HEAD",
    "CN_RUN",
    "CONFIRMS",
    "DEFINITE",
    "GOES_TO",
    "LEAVES_FROM",
    "LODGES",
    "MEALS",
    "ONE_MORE",
    "REPEATS",
    "THIS",
    "TIED",
    "TURNS",
    "UNTOLD",
    "WHOLE_DAY",
    "WORD",
    "YES",
]

DEFINITE = re.compile(r"\b(?:the|that|our|those|this)\s+(?P<what>(?:[\w'’-]+\s+){0,2}[\w'’-]+)")
ANCHOR = re.compile(
    r"\b(?:after|before|between|following|regarding|concerning|about|"
    r"back from|as for|once we(?:['’]re| are)? (?:done )?(?:with|at|on|in))"
    r"\s+(?:the\s+|that\s+|our\s+)?(?:st\.\s+)?(?P<what>[\w'’-]+(?:\s+[\w'’-]+){0,4})"
)
BESIDE = re.compile(
    r"\b(?:near|close to|next to|around|not far from|by|from|to|opposite)\s+(?:the\s+|our\s+|my\s+)?(?P<what>[\w'’-]+(?:\s+[\w'’-]+){0,2})"
)
YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|no|nope|nah|sure|right|please|exactly|both|neither|either|是的?|对的?|不|好|可以|嗯|行|都)(?![a-z])"
)
CN_DEFINITE = re.compile(
    r"(?P<what>[\u4e00-\u9fff]{2,4})那(?:天|边|晚|里|顿|家)|那(?:家|个|座|条|艘|顿|间|趟)(?P<that>[\u4e00-\u9fff]{2,4})|"
    r"(?:关于|至于)(?P<about>[\u4e00-\u9fff]{2,4})"
)
CN_RUN = re.compile(r"[\u3400-\u9fff]+")
CN_HEAD = 5  # signs within which a text names what it is about
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HEADS = r"^\W*(?:(?:ok|okay|k|and|oh|um+|uh+|hmm*|so|sorry|right|hey|great|perfect|thanks|thx|good|nice|alright|fine|done|cool)\W+)*"
TURNS = re.compile(
    _HEADS
    + r"(?:also|wait|uh+|actually|quick|before (?:i forget|going|we)|by the way|btw|do we (?:still )?(?:need|have)|did (?:the|we|you)|"
    r"does (?:the|our)|will (?:the|our)|i have had|i(?:'ve| have) (?:just )?(?:had|heard|read|seen))\b|^\W*(?:对了|还有|另外|再说)"
)
ONE_MORE = re.compile(
    _HEADS + r"(?:(?:(?:one|another|a|last|final|small|quick|the)\b )*(?:more |other |last |small |further |quick |"
    r"final )*(?:questions?|things?|check|"
    r"point|word|detail|correction|change|update|request|item)\b|(?:one|two) (?:more|last|other)\b|another one\b)|^\W*(?:问一下|再问|最后)"
)
GOES_TO = re.compile(
    _HEADS
    + r"(?:(?:going |now )?back to|returning to|regarding|concerning|as for|about|for the|now for|on (?:the|our)|what about|how about|"
    r"(?:now|next)\b|(?:let'?s|let us|let me|can we|could we) (?:go|turn|move|jump|skip|switch|get|look|"
    r"do|plan|talk))\b|^\W*(?:关于|至于|回到|说到|再看|现在|接下来)"
)
AND = re.compile(r"^\W*(?:and|then|plus|also|那|再)\b")
CALLED_DAY = re.compile(
    r"\b(?:the|our|that|my|your)\s+(?P<what>(?:[\w'’-]+\s+){1,3}?)(?:day|evening|night|morning|afternoon)\b|"
    r"\b(?:the )?(?:day|evening|night|morning|afternoon) (?:we|i|you|with|of|in|at|after|for)(?:['’]re|['’]ll|['’]d)? "
    r"(?P<after>(?:[\w'’-]+\s*){1,5})"
)
CN_CALLED_DAY = re.compile(r"(?P<what>[\u4e00-\u9fff]{2,6})(?:的)?那(?:一)?(?:天|日|晚)")
THIS = re.compile(r"\b(?:this|that|same) (?:day|morning|afternoon|evening|night)\b|这[天日]|当[天晚日]")
WHOLE_DAY = re.compile(r"\b(?:free|full|whole|other|remaining|spare) day\b")
UNTOLD = re.compile(
    r"\bthat (?:only |just )?leaves\b|\bleaves (?:us )?(?:with |only |just )|\b(?:only|just|"
    r"still)\b[^.?!]{1,24}\b(?:left|missing|blank|empty|open|remains)\b|"
    r"\b(?:haven['’]?t|have not|hasn['’]?t|not) (?:even |yet )?(?:planned|touched|done|talked|discussed|"
    r"looked|started|filled|got)\b|剩下|就剩|只剩|还没(?:排|安排|说|定|聊|看)"
)
TIED = re.compile(
    r"\b(?:before|after|between|around|near|with|from|for|at|to|until|till) (?:that|it|them|those|then|there)\b|\bin between\b|"
    r"\b(?:afterwards?|beforehand|then|there|nearby|first thing)\b|之前|之后|然后|完了|那里|那儿|附近|旁边"
)
ARRIVES_AT = re.compile(
    r"\b(?:when|once|after|as) (?:we|i|you) (?:arrive|land|get (?:in|there)|touch down|come in)\b|"
    r"(?<!should )(?<!must )(?<!could )(?<!can )(?<!would )\b(?:we|i) (?:arrive|land|get in|come in|fly in|touch down|drive in)\b|"
    r"\b(?:when|once|after|as soon as) (?:we|i|you)(?:['’]ve| have)(?: just| finally)? (?:arrived|landed|got (?:in|there)|touched down)\b|"
    r"\b(?:off|from) (?:the|that|our|my) (?:plane|flight|ferry|train)\b(?! (?:home|back))|"
    r"\bget(?:ting)? in(?:to| to) (?:the city|town|the cent(?:re|er))\b|"
    r"\b(?:on|upon|after|before|our) arrival\b|\bcheck(?:ing)?[ -]?in\b|\bfrom the (?:airport|station)\b|"
    r"到达|抵达|刚到|落地|入住|接机|飞到|进城"
)
LEAVES_FROM = re.compile(
    r"\bcheck(?:ing)?[ -]?out\b|\b(?:flight|train|bus|way|fly|flying|drive|go|going|head|heading) (?:home|back|out)\b|"
    r"\b(?:to|for) the airport\b|"
    r"\bbefore (?:we|i|our|my|the|heading)(?: \w+)? (?:leave|fly|flight|"
    r"train|departure|to the flight)\b|\bdepart(?:s|ure|ing)?\b|\bwheels up\b|"
    r"\b(?:collect|pick up|fetch|get back) (?:our |the |my )?(?:bags|luggage|suitcases|cases)\b|"
    r"\b(?:souvenirs?|gifts?)\b|\b(?:leave|store|drop) (?:our |the |my )?(?:bags|luggage|suitcases)\b|\bluggage storage\b|"
    r"退房|返程|回程|去机场|到机场|送机|寄存|伴手礼|带点什么"
)
LODGES = re.compile(
    r"\b(?:stay|staying|sleep|sleeping|hotel|hostel|room|rooms|apartment|"
    r"accommodation|lodging|inn|resort|place to stay|crib)\b|住|酒店|宾馆|客栈|民宿|房间"
)
CLOCK = re.compile(r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]\.?m\b|\d{1,2}[点：]|[一二两三四五六七八九十]{1,2}点")
REPEATS = re.compile(r"\b(?:again|same|repeat\w*|as (?:on|in) (?:the )?(?:day|first|second|third))\b|一样|再去一")
MEALS: Final = (
    ("breakfast", "brunch", "早餐", "早饭", "早点"),
    ("lunch", "luncheon", "午餐", "午饭", "中午"),
    ("dinner", "supper", "晚餐", "晚饭"),
)
CONFIRMS = re.compile(
    r"^\W*(?:(?:great|good|perfect|wonderful|excellent|lovely|sure|ok|okay|all right|very well|so|right|"
    r"fine|oh)\b\W*(?:(?:choice|pick)\W*)?)*"
    r"(?:booked|noted|reserved|done|confirmed|added|changed|moved|set|switched|requested|replaced|scheduled|swapped|cancelled|"
    r"updated|registered|ordered|it is|it's|i've|i have|i'll|you're (?:in|booked)|agreed|kept)\b|"
    r"\b(?:is|are) (?:now )?(?:booked|reserved|confirmed|noted|set|scheduled|fixed)\b|"
    r"^\W*(?:好的?|好嘞|行|明白|没问题|收到)?[,，。!！ ]*(?:已|订好|换好|改好|加好|安排好|记下|预约好|定好)"
)
AMOUNT = re.compile(r"[€$£¥]\s?\d|\d\s?(?:€|euros?|dollars?|lira|dkk|kr|元|块|%)|\b[A-Z]{3} \d")
ASKS = re.compile(r"[?？][\s”\"')*_]*$")
