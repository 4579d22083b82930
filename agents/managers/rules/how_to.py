"""How-to told in passing: recipes in prose over several turns, "to reset it hold the button for 10 s", 先焯水再炖."""

from __future__ import annotations

from .... import lazy_re as re
from .sentences import MASK, Reading, Sentence

__all__ = ["announces_how_to", "condition_steps", "kitchen_steps", "method_steps"]

_NUMBER = r"(?:\d+(?:[./]\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half an?|half|a few|a couple of|couple of)"
_MEASURE = re.compile(
    rf"\b{_NUMBER}\s?(?:heaped\s|level\s|big\s|small\s|large\s)?(?:cups?|teaspoons?|tablespoons?|tbsp|tsp|grams?|g|kg|kilos?|ml|cl"
    r"|litres?|liters?|pinch(?:es)?|cloves?|sticks?|ounces?|oz|lbs?|handfuls?|slices?|knobs?|splash(?:es)?|drops?|spoons?"
    r"|spoonfuls?|glass(?:es)?|tins?|cans?|parts?|minutes?|mins?|seconds?|secs?|hours?|degrees)\b|\bgas mark \d|\bovernight\b",
    re.IGNORECASE,
)
_KITCHEN = re.compile(
    r"\b(?:oven|pan|pot|dough|flour|butter|sugar|salt|pepper|eggs?|milk|cream|stock|broth|rice|onions?|garlic|ginger|oil|vinegar"
    r"|yeast|simmer\w*|boil\w*|bak(?:e|ed|ing)|fr(?:y|ied|ying)|saut[eé]\w*|roast\w*|stir\w*|whisk\w*|knead\w*|marinat\w*|chop\w*"
    r"|slice\w*|dice\w*|peel\w*|grat(?:e|ed)|mash\w*|steam\w*|blend\w*|drain\w*|batter|sauce|spices?|lentils?|beans?|chicken|beef"
    r"|lamb|pork|fish|molasses|honey|lemon|coriander|cumin|paprika|cinnamon|vanilla|cocoa|chocolate|oats|buttermilk|baking soda"
    r"|baking powder|tea towel|crust|sourdough|starter)\b",
    re.IGNORECASE,
)
_KITCHEN_ZH = re.compile(
    r"焯水?|[炒炖煮蒸煎炸焖烤腌拌卤煸熬]|切[块片丝丁末成]|翻炒|收汁|小火|中火|大火|调料|生抽|老抽|料酒|黄酒|蚝油|冰糖|八角|桂皮|香叶|葱|姜|蒜|淀粉"
    r"|面粉|酵母|和面|发酵|醒面|下锅|起锅|热油|一勺|两勺|半勺|克|毫升|盖盖|焖|烤箱|撒|擀|揉"
)
_ANNOUNCES = re.compile(
    r"\b(?:recipe|method|procedure|routine|steps|instructions|how (?:my|our|the|we|i|you|she|he|to|mum|mom|gran\w*|nan)\b[^?]{0,60}"
    r"\b(?:makes?|made|does|do|did|cooks?|cooked|bakes?|baked|fix|clean|set up|start|reset|restart|deploy|release"
    r"|change|fill|use|works?))\b"
    r"|做法|菜谱|食谱|方法|办法|步骤|流程|怎么做|秘方|配方|操作",
    re.IGNORECASE,
)
_KEEP = re.compile(
    r"\b(?:save|keep|remember|write|note|record|store|jot|before i forget|for (?:the )?next time|here's|this is"
    r"|dictat\w+|take down)\b|记|存|教你|写下",
    re.IGNORECASE,
)
_DO = (
    r"(?:switch|turn|open|close|press|hold|wait|mix|stir|heat|pour|cut|put|take|run|type|click|go|start|stop|restart|check|log"
    r"|copy|paste|push|pull|create|install|download|upload|connect|disconnect|select|choose|enter|export|import|print|scan|unplug"
    r"|plug|remove|replace|reset|reboot|flush|clean|wipe|spray|water|lock|unlock|fill|rinse|wash|lift|lower|twist|slide|screw"
    r"|unscrew|tighten|loosen|jiggle|bleed|soak|leave|set|swipe|tap|dial|ring|drop|delete|enable|disable|bump|tag|merge|rebase|ssh"
    r"|kill|clear|drain|charge|pump|shake|squeeze|pinch|bend|kick|knock|push|give it|add|wrap|use|feed|get off|walk|drive|follow"
    r"|keep|bring|sign|fold|roll)"
)
_CONDITION = re.compile(
    rf"^(?:(?:and|but|so|also|oh|note|remember|fyi|btw)[\s,:]+)*(?P<when>(?:to|when|if|whenever|before|after|once|for)\s[^,:;]{{3,80}}?)"
    rf"(?:[,:;]|\s[-–—])\s*(?:then\s|just\s|always\s|first\s|simply\s|you\s(?:have to\s|need to\s|must\s|should\s"
    rf"|just\s|can\s)?|you've got to\s"
    rf"|we\s(?:have to\s|need to\s|always\s|just\s)?)*(?P<do>{_DO})\b(?P<rest>.{{4,}})$"
    rf"|^(?:(?:and|so|also|oh)[\s,]+)*(?P<to>to\s(?!be\b|me\b|you\b|the\b)\w+\s(?:(?:the|it|my|our|that"
    rf"|this)\b\s?)?(?:[\w-]+\s){{0,4}}?)(?:you\s(?:have to\s|need to\s|must\s|just\s)?|just\s)?"
    rf"(?P<do2>hold|press|turn|open|pull|push|unplug|twist|lift|slide|run|type|click|log|dial)\b(?P<rest2>.{{4,}})$",
    re.IGNORECASE,
)
_TO_THE_ASSISTANT = re.compile(
    r"\b(?:me|for me|could you|can you|would you|please|your|i'd|i'll|i'm|if you|if possible|to be|to me|let's)\b",
    re.IGNORECASE,
)
_CONDITION_ZH = re.compile(
    r"^(?:另外|还有|对了|记住|注意|，)*(?P<when>(?:要是|如果|一旦|每当|遇到|当|要|想|碰到)?[^，。：]{2,24}?(?:的话|的时候|时|之前|之后|坏了|死机|卡住?了?|报错|堵了|跳闸|断网|断电|没反应))[，：]\s?"
    r"(?:就|先|要|得|直接|可以|需要)?(?:先|把|按|长按|关|开|拔|重启|打开|拉|点|跑|拧|换|等|用|登录|进|去|插|清|删|执行|联系|转)(?P<rest>[^？?]{3,})$"
)
_WHEN_BROKEN_ZH = re.compile(
    r"(?P<when>[^，。说：]{0,8}(?:断|坏|卡|停|堵|漏|响|闪|死机|没电|报错|跳闸|不动|不亮|变红|亮红灯|打不开)了?(?:的话)?)[，\s]?(?:就|先)(?:先)?"
    r"(?:拔|按|重启|关|拉|打开|拧|换|点|清|插|推|敲|加|倒|长按)(?P<rest>[^？?]{4,})"
)
_METHOD_ZH = re.compile(
    r"(?:办法|方法|做法|步骤|流程|诀窍|秘诀|规矩|配方|操作|顺序|套路|怎么[做弄])[^：:，。]{0,14}(?:[：:]|[，,]\s?(?:就是|先))\s?(?P<body>.+)$"
)
_SPLIT = re.compile(
    r"\s*[,;，；、。]\s*(?:and\s+)?(?:then\s+)?|\s+and then\s+|\s+then\s+|(?<=[\u4e00-\u9fff])(?=然后|接着|最后)",
    re.IGNORECASE,
)
_DICTATED = re.compile(
    r"[\s,.]*(?:(?:okay|ok|right|and)\s)*(?:that's (?:it|all)|stop recording|end of (?:note|recipe)|就这样|完毕)\b.*$",
    re.IGNORECASE,
)
_PAST_SELF = re.compile(
    r"\b(?:i|we|she|he|they)\s(?:just\s|had\s)?(?:went|ate|bought|got|made|ordered|tried|cooked|baked|had"
    r"|burn(?:t|ed)|wanted|felt)\b(?!.*\b(?:so it's|so you)\b)",
    re.IGNORECASE,
)


def announces_how_to(text: str) -> bool:
    """Whether a message says that a way of doing something follows: "I want to save how my gran made the bread"."""
    return bool(_ANNOUNCES.search(text)) and bool(_KEEP.search(text)) and not text.rstrip().endswith(("?", "？"))


def _parts(raw: str) -> tuple[str, ...]:
    return tuple(part for part in (p.strip(" .。!！") for p in _SPLIT.split(raw)) if len(part) > 1)[:40]


def kitchen_steps(reading: Reading, *, announced: bool) -> tuple[int, int, tuple[str, ...]] | None:
    """The span and steps of a recipe told in prose, over all sentences of a message; measures and the kitchen's words tell.

    Args:
        announced: whether a recipe was announced in this message or shortly before; then less is needed.
    """
    kept: list[Sentence] = []
    measures = words = 0
    for sentence in reading.sentences:
        if sentence.asked or MASK in sentence.text:
            continue
        here = len(_MEASURE.findall(sentence.text))
        cooking = len(_KITCHEN.findall(sentence.text))
        if reading.has_han:
            cooking += len(_KITCHEN_ZH.findall(sentence.text))
        if not here + cooking or (_PAST_SELF.search(sentence.text) and not here):
            continue
        kept.append(sentence)
        measures, words = measures + here, words + cooking
    if not kept:
        return None
    enough = measures + words >= (2 if announced else 4) and (
        announced or (words >= 2 and (measures >= 2 or reading.has_han))
    )
    if not announced and reading.has_han and words < 5:
        enough = False
    if not enough:
        return None
    start, end = kept[0].start, kept[-1].end
    if stop := _DICTATED.search(reading.raw, start, end):
        end = stop.start()
    steps = _parts(" ".join(reading.raw[start:end].split("\n")))
    return (start, end, steps) if steps else None


def condition_steps(sentence: Sentence) -> tuple[str, tuple[str, ...]] | None:
    """ "If the boiler shows E133, turn the knob and wait": when, and what to do then; None for requests to the assistant."""
    text = sentence.text
    if sentence.asked or MASK in text or len(text) > 300:
        return None
    match = _CONDITION.match(text)
    if match and not _TO_THE_ASSISTANT.search(text):
        when = (match["when"] or match["to"]).strip()
        do = match.start("do") if match["do"] else match.start("do2")
        steps = _parts(sentence.raw[do:])
        rest = match["rest"] or match["rest2"] or ""
        if (
            steps
            and len(rest.split()) >= 2
            and not re.match(r"for (?:now|me|once|example|sure|work|lunch|dinner)\b", when, re.IGNORECASE)
        ):
            return sentence.raw.strip(), steps
    han = _CONDITION_ZH.match(text) or _WHEN_BROKEN_ZH.search(text)
    if han and not re.search(r"你|帮我|提醒我|告诉我|叫我", text):
        return sentence.raw.strip(), _parts(sentence.raw[han.end("when") :])
    return None


def method_steps(sentence: Sentence) -> tuple[str, tuple[str, ...]] | None:
    """我背单词的办法：早上看三十个，晚上默写: a method by its name and its parts."""
    match = None if sentence.asked else _METHOD_ZH.search(sentence.text)
    if match is None:
        return None
    steps = tuple(step for step in _parts(sentence.raw[match.start("body") :]) if not re.match(r"你?(?:帮我|记)", step))
    return (sentence.raw.strip(), steps) if len(steps) >= 2 else None
