"""Words by which events are known: past and future, requests, small talk, and changes of what was said before."""

from __future__ import annotations

from .... import lazy_re as re
from .people import KIN_PATTERN, KIN_ZH_PATTERN

__all__ = [
    "AGREED",
    "ANY_SUCH_DAY",
    "ASKED_IF",
    "ASKS_WHEN",
    "CHANGED_RANGE",
    "CHANGED_ZH",
    "DATE_WORDS",
    "DUE",
    "FUTURE",
    "FUTURE_ZH",
    "IT_STARTS",
    "I_WAS_BORN",
    "LEAD",
    "LOOK_UP",
    "MOST",
    "MOVED",
    "MOVED_AWAY",
    "MOVED_IT",
    "NOT_MOVED",
    "NOT_OFF",
    "NOT_PLANNED",
    "OFF",
    "PAST",
    "PAST_ZH",
    "PERSON_MOVED",
    "PLANNED",
    "PLAN_CHANGED",
    "RECURS",
    "REMIND",
    "REQUEST",
    "SELF",
    "SLIP",
    "SLIP_START",
    "SOMEBODY",
    "STILL_ON",
    "SUBJECT_PAST",
    "THAT_IS",
    "TODAY",
    "TRIVIAL",
    "TYPE_RULES",
    "WEEK_NEXT",
]

FUTURE = re.compile(
    r"\b(?:will|'ll|won't|going to|gonna|off to|about to|due|next|tomorrow|booked|remind|starts?"
    r"|begins?|arrives?|comes|leaves?|by|until|deadline|flying|moving|opening|having|meeting"
    r"|seeing|visiting|getting|is|are|am|'re|i'm|fly|turns?)\b",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:born|was|were|did|didn't|had|went|took|(?<!ve )(?<!have )(?<!has )"
    r"(?<!'s )got|came|saw|met|broke|left|lost|won|bought|sold|ran"
    r"|ate|drank|gave|made|found|fell|felt|told|said|moved|flew|drove|began|spent|sent|paid|built"
    r"|wrote|read|caught|taught|thought|hit|cut|hurt|quit|became|swam|rode|sang|slept|stood|struck"
    r"|threw|woke|wore|ago|yesterday|last|since|(?!need|feed|speed|seed|bleed|indeed|breed|weed"
    r"|embed|red|bed|shed|wed|hundred)[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
PAST_ZH = re.compile(
    r"了|啦|过(?![^，。,]{0,6}大?寿|来|去|年|节|生日|敏|期|几|两|会儿|马路|滤)|刚|昨|上周|上个?月|前天|之前|去年|(?:天|周|星期|月|年|礼拜|禮拜)前|剛"
)
FUTURE_ZH = re.compile(
    r"要|会|将|打算|准备|明|下周|下个?月|后天|提醒|记得|约|预定|订了|(?:买|订|定|约|排)好|截止|之前|前(?:交|完成)|改到|推到|定在"
)
REMIND = re.compile(
    r"^\W*(?:(?:hi|hey|hello|ok|okay|and|also|so|please)[\s,]+)*(?:(?:can|could|would|will) you\s)?(?:(?:please|just|also)\s)*"
    r"(?:remind me|(?:set|make|create|add)\s(?:me\s)?(?:up\s)?(?:a\s|an\s)?(?:reminder|alarm)(?:\sfor me)?)"
    r"(?:[\s,]+please)?(?:[\s,]+again)?\s(?:to|that|about|of|for)\s(?!\d)"
    r"|^(?:[请麻烦你能可以帮我]{0,6})提醒我(?:一下|要)?[，,]?",
    re.IGNORECASE,
)
"""The words that ask for a reminder, before what is to be done."""
REQUEST = re.compile(
    r"\b(?:remind me|(?:set|make|create|add) (?:me )?(?:up )?(?:a |an )?(?:reminder|alarm)"
    r"|remember that|note that|put .{1,40} (?:in|on) (?:my|the) (?:calendar|diary|schedule)"
    r"|(?:draft|write|send) .{1,60}? (?:saying|to say|telling)|book|find me|reserve|schedule|get me"
    r"|order|i need|set up)\b|提醒我|帮我(?:记|订|定|约|买)"
    r"|记一下|记上|记下|订一",
    re.IGNORECASE,
)
TRIVIAL = re.compile(
    r"\b(?:weather|rain(?:ing|y|ed)?|sunny|grey|gray|cold|hot|windy|snow(?:ing|ed)?|how are you"
    r"|good (?:morning|night|evening)|have a (?:good|nice|lovely|great)|long day|busy day|tired"
    r"|see you|talk (?:to you )?(?:later|tomorrow)"
    r"|what a|thanks|thank you|notes from today|happy (?:monday|friday)|that's all for"
    r"|can't believe)\b|天气|还没睡|睡不着|好热|好冷|下雨|晚安|早安|早上好|晚上好|困死|累死|无聊|再聊|拜拜|好久不见",
    re.IGNORECASE,
)
TODAY = re.compile(r"^(?:today|tonight|this\s(?:morning|afternoon|evening)|今.)", re.IGNORECASE)
SELF = re.compile(r"\b(?:I|we|I've|I'm|we've|we're|I'll|we'll|my|our|me|us)\b|我|咱", re.IGNORECASE)
SOMEBODY = re.compile(
    rf"\b(?:{KIN_PATTERN})\b|\b(?:he|she|they|somebody|someone)\b|{KIN_ZH_PATTERN}|他|她", re.IGNORECASE
)
LEAD = re.compile(
    r"^(?:(?:and|but|so|also|oh|well|yes|yeah|yep|no|nope|hi|hey|hello|ok|okay|right|anyway|btw"
    r"|by the way|thanks|ah|haha|lol|it worked)[\s,.!]+)+|^(?:还有|对了|另外|然后|哦|啊|嗯|好消息|那个|，|\s)+",
    re.IGNORECASE,
)
SLIP = re.compile(
    r"\b(?:i meant|meant|sorry,? (?:no|it's|i)|no,? (?:wait|it's|sorry|on|that's|make it)"
    r"|correction|my mistake|i was wrong|not (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|actually it's|actually,? it'?s|make that|"
    r"(?:got|had|told you|gave you) (?:that|it|this) wrong|wrong (?:day|date|time)|scratch that|mixed up)\b|不对|说错|搞错"
    r"|记错|更正|弄错|应该是|口误|不是.{1,8}(?:，|,)?\s?是|写错",
    re.IGNORECASE,
)
NOT_OFF = re.compile(
    r"(?:n['’]t|\bnot|\bnever|\bcannot)\s"
    r"(?:(?:yet|even|actually|really|just|be|been|have|able|allowed|want|wanting|need|having|going|trying|planning|officially|to)\s){0,4}"
    r"(?:cancel|call(?:ed|ing)?\s(?:\w+\s){0,2}off|scrap|fallen through)"
    r"|\b(?:almost|nearly|might|may|could|would|forgot to|forget to|forgotten to|thinking (?:of|about)|thought (?:of|about)"
    r"|consider(?:ing|ed)?|(?:wo|do|did|does)n['’]t let (?:us|me|him|her|them)|afraid (?:of|to))\s"
    r"(?:(?:just|even|simply|also|well|be|been|have|had to)\s){0,2}"
    r"(?:cancel|call(?:ed|ing)?\s(?:\w+\s){0,2}off|scrap|f(?:ell|allen) through)"
    r"|(?:差点|差一点|还没|没有|不想|不能|没法|不打算|忘了|忘记|可能|也许|考虑)(?:会|要|去|把[^，。,]{1,10})?取消",
    re.IGNORECASE,
)
"""That something is not called off, or not yet: "we almost cancelled", "I forgot to cancel"."""
SLIP_START = re.compile(
    r"^\W*(?:(?:oh|ah|hmm|ugh|argh|ok)\W+)?(?:no(?!\W+(?:not yet|thanks?|need|problem|worries)\b)"
    r"|sorry|wait|oops|actually|hang on|hold on|whoops)\b|^\W*(?:不对|不是|等等|哎)",
    re.IGNORECASE,
)
MOVED = re.compile(
    r"\b(?:moved|moves|moving|postponed|pushed|put back|rescheduled|shifted"
    r"|(?<!night )(?<!day )(?<!late )(?<!early )(?<!morning )(?<!evening )(?<!weekend )(?<!work )(?<!works )(?<!double )shifts"
    r"|brought forward|delayed|changed|put off|slipped|slips|switched)\b[^.]{0,40}\b(?:to|until|till|from)\b"
    r"|(?:reschedule|move|postpone|push)d?\s?到"
    r"|\bis now (?:on\b|at\b|\w+day\b)|\bnow (?:on|at)\b|(?:推迟?|改|延期?|挪|提前|换|顺延|调)到|改(?:成|为|期)",
    re.IGNORECASE,
)
OFF = re.compile(
    r"(?<!who )(?<!that )(?<!which )\b(?:cancel(?:led|ed|s|ling|ing)?|call(?:ed|ing)? (?:it "
    r"|the \w+ )?off|f(?:ell|allen) through(?!\s(?:the|an?|my|our|his|her|their|its)\s(?!last\b|other\b|day\b|week\b|moment\b))"
    r"|scrap(?:ped)? (?:that|the|it)|(?:is|are) off(?!\s(?:sick|work|duty|school|on (?:holiday|leave|vacation))\b)|not going (?:to"
    r"|after all)|no longer (?:going|happening)|won't be going|isn't happening|not happening)\b"
    r"|'s off(?=\W|$)|取消|不去了|不办了|泡汤|作罢|去不成|黄了|不搞了",
    re.IGNORECASE,
)
PERSON_MOVED = re.compile(
    r"\b(?:I|we|he|she|they|who|you)(?:'ve|'m|'re|'s)?\s(?:\w+\s)?(?:have\s|am\s|are\s"
    r"|is\s)?(?:just\s)?(?:moved|moving|switched|changed)\b",
    re.IGNORECASE,
)
_NO_PLACE = r"(?:the\s)?(?:same|next|following|early|late|mid|end|beginning|morning|afternoon|evening|night|noon|\w+day|weekend)\b"
MOVED_AWAY = re.compile(
    rf"\bmov(?:ed|es|ing)\s(?:back\s|over\s|away\s|out\s)?to\s(?!{_NO_PLACE})[^\W\d][\w'’.-]*(?:\s[\w'’.-]+){{0,4}}?"
    r"(?:\s(?:on|in|at|around|about|by|since))?(?:\sthe)?\s*$",
    re.IGNORECASE,
)
"""What stands before a day where somebody moved to a place, and nothing to another day: "Mark moved to Leeds on"."""
MOVED_IT = re.compile(
    r"\b(?:moved|changed|switched|shifted|pushed|put|rescheduled|postponed|delayed|brought)\s"
    r"(?:it|that|them|everything|(?:the|my|our|his|her|their|your)\s(?:[\w'’-]+\s){0,6}?[\w'’-]+)\s"
    r"(?:(?:back|forward|up)\s)?(?:from\s[^,.;]{1,30}\s)?(?:to|until|till|for)\s(?:(?:the|next|this|coming)\s)*$",
    re.IGNORECASE,
)
"""What stands before the day to which somebody moves something: "they moved the interview to"."""
NOT_MOVED = re.compile(
    r"(?:n['’]t|\b(?:not|never))\s(?:(?:be|been|being|get|have|has|yet|actually|really|going to|to)\s)*$"
    r"|(?:别|不要|不用|没有?|不会|不想|不能|不)(?:被|再|把[^，。]{1,12})?$",
    re.IGNORECASE,
)
"""What stands before the words of a move that is none: "the exam wasn't moved to Friday"."""
ASKED_IF = re.compile(
    r"\b(?:ask\w*|wonder\w*|check\w*|sure|know|find out)\s(?:(?:me|us|him|her|them)\s)?(?:if|whether)\b", re.IGNORECASE
)
ASKS_WHEN = re.compile(
    r"\b(?:when|date|day|what time|did you|have you|which|how long ago)\b|什么时候|哪天|几号|几点|日期|哪一天",
    re.IGNORECASE,
)
IT_STARTS = re.compile(
    r"^(?:it|that|this|they)(?:'s|'re|'ll|\s(?:is|are|was|were|will|comes?|starts?|begins?"
    r"|arrives?|takes?|happens?|has|have|goes|ends?|opens?))\b|^(?:它|那个?|这个?)",
    re.IGNORECASE,
)
I_WAS_BORN = re.compile(r"\bI was born\b|^我是?(?!.*[女儿孩子弟妹]).{0,12}出生", re.IGNORECASE)
STILL_ON = re.compile(
    r"\b(?:isn't|not|never|wasn't|don't|didn't) (?:been )?(?:cancel|called off|off)|没取消|别取消|不取消"
    r"|day off|time off|week off|off to",
    re.IGNORECASE,
)
TYPES = (
    (
        "appointment",
        r"dentist|doctor|appointment|gp\b|hairdresser|vet\b|check-?up|interview|体检|看病|牙医|面试|预约|复诊",
    ),
    ("birthday", r"birthday|turns? \d|生日"),
    ("wedding", r"wedding|married|婚礼|结婚"),
    ("trip", r"trip|flight|fly|flying|holiday|travel|off to|train to|visit|出差|旅行|旅游|飞|去.{1,4}玩|火车"),
    ("meeting", r"meeting|call with|demo|sync|stand-?up|开会|会议|评审"),
    (
        "deadline",
        r"deadline|due|by (?:mon|tue|wed|thu|fri|sat|sun)|finished by|hand(?:ed)? in|submit|截止|之前交|交给|发给",
    ),
    ("move", r"moved? (?:to|in|out|house)|搬"),
    ("purchase", r"bought|ordered|purchased|买|下单"),
    ("work", r"start(?:ed|s)? (?:at|work|my)|new job|left .{2,30}|joined|launch|release|deploy|上线|入职|离职|发布"),
    ("health", r"broke (?:his|her|my|their)|hospital|surgery|operation|diagnosed|ill\b|手术|住院|绝育|生病"),
)
TYPE_RULES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in TYPES)
CHANGED_RANGE = re.compile(
    r"(?:mov|shift|chang|postpon|push|delay|reschedul|slip|brought)\w*\s(?:\w+\s)?from\s*$", re.IGNORECASE
)
CHANGED_ZH = re.compile(r"(?:推迟?|改|延期?|挪|提前|换|顺延|调)(?:到|成|为)\s*$")
MOST = 12
WEEK_NEXT = re.compile(r"\s(?:of\s)?(?:next week|the week after|after next)\b", re.IGNORECASE)
"""After a weekday: one of another week than the next such day."""
PLAN_CHANGED = re.compile(
    r"\b(?:change of plans?|plans? (?:has |have )?changed|new plan|pushed (?:back )?by|moved by|put (?:back|off) by"
    r"|(?:shifted|slipped|delayed|postponed|brought forward) by)\b"
    r"|计划(?:有)?变|改计划|计划改",
    re.IGNORECASE,
)
"""That the next date told is a new one for what was planned."""
AGREED = re.compile(
    r"\b(?:I|we|they|he|she)(?:'ve)?\s(?:all\s|both\s)?(?:said|agreed(?:\son)?|settled\son|went\s(?:for|with)|picked|chose|decided\son"
    r"|fixed|pencilled\sin)\s(?:on\s|for\s)?(?:the\s)?\d",
    re.IGNORECASE,
)
"""That a date was agreed on: it is one to come."""
PLANNED = re.compile(
    r"(?:\b(?:I|we|you|they)(?:['’]?ve|\shave)|\b(?:he|she)(?:['’]s|\shas)|\b(?:I['’]?m|am|is|are|['’]re|['’]s|got|have|has))"
    r"\s(?:(?:just|now|all|both|also|already|finally|been|got|gotten|me|us|him|her|them|myself|ourselves)\s)*"
    r"(?:signed\s(?:\w+\s)?up|(?:registered|enrolled|entered)\s(?:(?:\w+|the\skids)\s)?(?:for|in|into|on)(?!\s\d)|scheduled|planned|booked|reserved"
    r"|pencilled\sin|penciled\sin|lined\sup|down\sfor)\b"
    r"|\b(?:signed\s(?:\w+\s)?up|registered|enrolled|entered)\s(?:for|in|on|into)\s(?:(?:the|a|an|my|our|this|that)\s)?(?:[\w’'-]+\s){0,4}?"
    r"(?:\w*marathon|triathlon|race|run|ride|swim|walk|hike|\d+k|course|class|classes|workshop|seminar|webinar|lecture|talk|exam|test"
    r"|conference|congress|summit|tournament|competition|contest|championship|match|game|concert|festival|camp|retreat|lesson|session"
    r"|meetup|event|fair|trip|tour|hackathon|audition|interview)\b"
    r"|\b(?:booked|reserved|scheduled|planned|pencilled\sin)\s(?:[\w’'-]+\s){0,5}?for\s(?:(?:the|next|early|late)\s)?(?=\d|jan|feb|mar|apr|may\b|jun|jul|aug"
    r"|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|easter|christmas)"
    r"|\b(?:got|bought|have|has)\s(?:[\w’'-]+\s){0,2}?tickets?\s(?:for|to)\b"
    r"|(?:报了?名?|买到?|抢到?|订到?|约到?|选|申请到?|挂到?)了?(?:[^，。,\d]{0,4})(?:\d{1,2}月|[一二三四五六七八九十]+月)[^，。,]{0,6}的",
    re.IGNORECASE,
)
"""What is entered for or set for a day: the day lies ahead, though the words are of the past."""
NOT_PLANNED = re.compile(
    r"\b(?:was|were|had|['’]d)\s(?:(?:been|already|just)\s)*(?:signed|registered|enrolled|entered|scheduled|planned|booked)\b"
    r"|\b(?:ago|yesterday|last|since|back in)\b|昨|上周|上个?月|前天|去年",
    re.IGNORECASE,
)
THAT_IS = re.compile(r"^(?:也?就是|即|that is\b|that's\b|i\.e\.)", re.IGNORECASE)
"""Beginning of a clause that tells the date before it once more."""


SUBJECT_PAST = re.compile(
    r"\b(?:I|we|he|she|they|it)\s(?:just\s|also\s|had\s)?(?:told|said"
    r"|went|was|were|had|did|got|met|saw|bought|sold|left|lost|won|took"
    r"|came|made|found|gave|ran|heard|spoke|wrote|paid|moved"
    r"|started|finished|visited|called|asked|decided|[a-z]{3,}ed)\b",
    re.IGNORECASE,
)
DUE = re.compile(
    r"(?:'s|'re|'m|\b(?:is|are|am))\s(?:not\s|also\s|now\s)?(?!been|being|missing"
    r"|dying)[a-z]+ing\b|\b(?:has to|have to|must|needs? to|should be|due)\b[^.]{0,40}\b(?:by"
    r"|before|on|in)\b|\b(?:is|are) due\b",
    re.IGNORECASE,
)
RECURS = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\s(?:to|through|till|until|-|–)\s(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"\b(?!\s(?:the\s)?\d)|\bdays?\soff\s(?:is|are|was)\b|\b\w+day\s(?:night|morning|evening|afternoon)s\b|\b(?:is|are)\s(?:now\s)?(?:on\s)?(?:mon|tues|wednes|thurs|fri|satur|sun)days\b",
    re.IGNORECASE,
)
ANY_SUCH_DAY = re.compile(
    r"\b(?:on|by|for|until|before|after|of|never|any|every|each)\s(?:an?|any|every|each)\s$"
    r"|,\s(?:still\s|also\s|which is\s|that\'s\s)?an?\s$|\b(?:days?|weeks?|fortnight|months?)\s(?:from|after|before)\s$",
    re.IGNORECASE,
)
LOOK_UP = re.compile(
    r"^\W*(?:(?:can|could|please|pls|hey|hi|ok)[\s,]+(?:you\s)?)*(?:show|check|look up|find out|tell me|list|search|translate|pull up|see)"
    r"\s(?:me\s)?(?:what|which|my|the|if|whether|how|when|who)\b.{0,40}\b(?:calendar|diary|schedule|weather|forecast|agenda|flights?|trains?)\b"
    r"|^(?:帮我|给我|你)?(?:看看?一?下?|查一?下?|查查|看一下|翻译|算一?下?|搜一?下?|找找?).{0,20}(?:有什么|有啥|天气|日程|安排|怎么|什么|哪|多少|calendar|schedule)"
    r"|(?:英文|中文|英语|日语|法语|翻译)(?:怎么|咋)[说写讲]|怎么翻译|(?:什么|啥)意思",
    re.IGNORECASE,
)
DATE_WORDS = re.compile(
    r"\d|day|week|month|year|night|morning|afternoon|evening|tomorrow| ago\b|end of|from now|fortnight"
    r"|christmas|valentine|halloween|spring|summer|autumn|winter|decade|\bthe \w+(?:first|second|third|th)\b"
    r"|\b(?:first|second|third|jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)"
)
