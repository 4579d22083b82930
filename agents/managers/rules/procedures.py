"""How-to in a conversation: numbered steps, steps told in prose, and standing instructions."""

from __future__ import annotations

from dataclasses import dataclass

from .... import lazy_re as re
from .facts_english import is_answer_wish
from .how_to import announces_how_to, condition_steps, kitchen_steps, method_steps
from .sentences import MASK, Reading, Sentence
from .wishes import wishes_of_suggestions

__all__ = ["Procedure", "find_procedures"]

_VERBS = (
    r"(?:switch|turn|open|close|press|hold|wait|mix|stir|heat|bake|boil|add|pour|cut|chop|wrap|put"
    r"|take|run|type|click|go|start|stop|pause|resume|deploy|restart|check|log|sign|copy|paste"
    r"|push|pull|merge|create|build|install|download|upload|send|call|fill|rinse|wash|dry|let"
    r"|leave|set|remove|unplug|plug|connect|disconnect|select|choose|enter|save|export|import"
    r"|print|scan|write|update|make|measure|fold|roll|knead|shape|cool|serve|season|simmer|fry"
    r"|drain|soak|peel|slice|grate|whisk|beat|combine|preheat|cover|place|flip|lift|lower|push"
    r"|screw|unscrew|tighten|loosen|replace|reset|reboot|flush|clean|wipe|spray|feed|water|lock"
    r"|unlock|bring|get|use|find|give|ask|tell|email|e-mail|approve|submit|attach|tag|drop|delete"
    r"|enable|disable|verify|test|back up|unpack|apply|rub|do|keep|keep|draw|mark|drill|sand|paint"
    r"|glue|top up|squeeze|trim|bleed|ping|tidy|tick|book|release|commit|schedule|ship|touch|share|reply|forward|order|buy|change|iron"
    r"|count|hang)"
)
_NUMBERED = re.compile(
    r"^[ \t]*(?:(?:step\s?)?\d{1,2}[.):、．]|第[一二三四五六七八九十]{1,2}步[:：,，]?"
    r"|[①-⑳])[ \t]*(?P<step>\S[^\n]{0,400})$",
    re.MULTILINE | re.IGNORECASE,
)
_NUMBERED_INLINE = re.compile(
    r"(?<![\w.])(?P<number>\d{1,2})[.)](?=\s?[^\d\s])\s?(?P<step>[^\n]{2,200}?)(?=[;,.]?\s+\d{1,2}[.)]\s?[^\d\s]|[.;]?\s*$"
    r"|\.\s)",
    re.MULTILINE,
)
_SEQUENCE = re.compile(
    r"\b(?:first(?:ly)?|then|after that|afterwards|next|finally|once|lastly|second(?:ly)?"
    r"|before (?:you|that)|until|after \w+ing)\b",
    re.IGNORECASE,
)
_SEQUENCE_ZH = re.compile(r"先|再|然后|接着|最后|之后|随后|等到|完了?以后")
_LEAD = r"(?:(?:first(?:ly)?|then|next|finally|after that|and|lastly|now|please|also|always|just|so)[\s,:]+)*"
_IMPERATIVE = re.compile(
    rf"^{_LEAD}(?:(?:remember for|to) .{{2,40}}[\s,:]+{_LEAD})?"
    r"(?:you(?:'ll)?\s(?:have to\s|need to\s|should\s|must\s|just\s)?)?" + _VERBS + r"\b",
    re.IGNORECASE,
)
_YOU = re.compile(
    r"\byou\s(?:\w+\s)?(?:switch|turn|open|press|take|put|go|start|have to|need to|hold|run|pour"
    r"|mix|click|type|set|lift|pull|push)\b",
    re.IGNORECASE,
)
_KEEP = re.compile(
    r"\b(?:write (?:this|that|it) down|remember|keep|save|note|for (?:the )?next time|here's how"
    r"|this is how|how to|the way (?:to|I|we)|the steps|the routine|recipe|procedure|checklist"
    r"|from now on|for every|each time|every time|whenever)\b"
    r"|记住|记一下|存一下|做法|步骤|流程|教你|方法|以后|每次|菜谱|食谱|帮我记|记下|怎么做",
    re.IGNORECASE,
)
_ALWAYS = re.compile(
    r"\b(?:from now on|in future|going forward|every time|each time|whenever (?:I|we|you|there|the"
    r"|a)|always (?!been|had|was|wanted|thought|loved|liked|the|a\b|so|my)|never (?:deploy|push"
    r"|merge|run|use|touch|send|delete|restart|book|schedule|commit|release|share|call|reply|put|ship|change|add|add|cut|wash|iron"
    r"|forward|order|buy|open))",
    re.IGNORECASE,
)
_LASTING = re.compile(r"[Ff]rom now|[Ii]n future|[Gg]oing f|[Ee](?:very|ach) time|[Ww]henever|[Aa]lways|[Nn]ever")
_PARTS = re.compile(r"[,;]|\band\b|\bthen\b|\.\s")
_DO_ALWAYS = re.compile(
    r"(?:^|[,:;]\s*|\band\s|\bso\s|\bbut\s)(?:please\s|and\s)?(?:never|always)\s" + _VERBS + r"\b(?!\s(?:going|it up))",
    re.IGNORECASE,
)
_NEVER_DO = re.compile(
    r"(?:^|[,;:]\s*)(?:and\s|but\s|so\s|please\s)?(?:never|don't ever|do not ever)\s(?!mind\b|been\b|ever\b"
    r"|again\b|had\b|an?\b|the\b|my\b|knew\b|thought\b|heard\b"
    r"|seen\b|said\b|really\b|got\b|in\b|have\b|would\b|will\b|could\b|gonna\b|felt\b|saw\b|did\b|was\b|is\b|too\b|not\b|to\b|once\b|even\b|know\b|have\b)[a-z]{2,}(?<!ed)(?<!ing)(?<!s)\b\s\w+",
    re.IGNORECASE,
)
_EACH_TIME = re.compile(
    rf"(?:^|[,;:]\s*|\bso\s|\band\s|\bplease\s)(?:please\s)?(?:remind me|cc|copy|include|convert|{_VERBS})\b[^.]*"
    r"\b(?:whenever|every time|each time|any ?time)\b|\b(?:whenever|every time|each time|any ?time)\b[^,]{3,60},\s(?:please\s)?"
    rf"(?:remind me|cc|include|convert|{_VERBS})\b",
    re.IGNORECASE,
)
_ALWAYS_ZH = re.compile(
    r"(?:以后|今后|往后|从现在起|每次)[^，。]{0,24}(?:都?要|都得|必须|一律"
    r"|先|不要|别|记得|请|务必)|(?:以后|每次).{0,16}(?:先.{2,30}再)"
    r"|[^，。]{1,16}(?:之前|以前|之后|的时候|完成?后)[，\s]?(?:一定|必须|务必|千万|都得|记得|都要)[^，。]{2,}"
    r"|(?:记住|注意|切记)[，：,: ].{0,24}(?:必须|一定要|要先|务必|不能|千万)"
)
_PAST = re.compile(
    r"\b(?:I|we|he|she|they)\s(?:then\s|just\s|had\s|have\s)?(?:went|was|were|had|did|got|took"
    r"|came|saw|\w+ed)\b",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"\s*[,;，；]\s*(?:and\s+)?(?:then\s+|after that\s+|next\s+|finally\s+)?|\s+(?:and\s+then|then"
    r"|and)\s+(?=(?:you\s)?[a-z]+\b)|(?<=[\u4e00-\u9fff])(?=然后|接着|最后|再(?!次|见|说|也))",
    re.IGNORECASE,
)
_ORDINAL = re.compile(rf"^(?:first(?:ly)?|last(?:ly)?|finally|next),?\s(?:of all,?\s)?(?={_VERBS}\b)", re.IGNORECASE)
_CUE_ALONE = re.compile(
    r"from now on|in future|going forward|remember|note|please|记住|注意|切记|以后|今后|每次", re.IGNORECASE
)
_ANSWERS = re.compile(
    r"\b(?:answer|reply|replies|respond|call me|address me|emoji|bullet)|回答|回复|叫我|称呼", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """Ordered steps: characters ``start`` to ``end`` of the text.

    Attributes:
        entry_type: ``recipe``, ``workflow`` or ``instruction`` (one standing wish).
    """

    start: int
    end: int
    summary: str
    steps: tuple[str, ...]
    entry_type: str
    confidence: float


def find_procedures(
    reading: Reading, before: str, *, in_document: bool = False, announced: str = ""
) -> list[Procedure]:
    """The procedures of a user's step.

    Args:
        reading: the step's own words.
        before: what the user said last before it; it may name what the steps are for.
        in_document: whether the step brings a document, whose own lists are none of the user's instructions.
        announced: what the user said when they announced, a little before, that they would tell how something is done.
    """
    text = reading.raw
    found: list[Procedure] = []
    numbered = [m for m in _NUMBERED.finditer(text) if not any(a <= m.start() < b for a, b in reading.skipped)]
    if len(numbered) < 2 and len(inline := list(_NUMBERED_INLINE.finditer(text))) >= 3:
        numbered = inline if [m["number"] for m in inline[:3]] == ["1", "2", "3"] else numbered
    if len(numbered) >= 2:
        intro = text[: numbered[0].start()].strip()
        steps = tuple(m["step"].strip() for m in numbered)
        if not (
            intro
            and re.search(
                r"\b(?:questions?|options?|choices|which|ideas|reasons)\b|问题|选项|哪个", intro, re.IGNORECASE
            )
        ) and not sum(step.endswith(("?", "？")) for step in steps) * 2 > len(steps):
            found.append(
                Procedure(
                    start=numbered[0].start(),
                    end=numbered[-1].end(),
                    summary=_title(intro, before, steps[0]),
                    steps=steps,
                    entry_type=_kind(text),
                    confidence=0.9,
                )
            )
            return found
    if in_document:
        return found
    here = announces_how_to(text)
    kitchen = kitchen_steps(reading, announced=here or bool(announced))
    if kitchen is not None:
        start, end, steps = kitchen
        title = text[:140] if here else announced or before
        return [
            Procedure(
                start=start,
                end=end,
                summary=_title("" if here else title, title if here else "", steps[0]),
                steps=steps,
                entry_type="recipe",
                confidence=0.75,
            )
        ]
    asked_before = bool(_KEEP.search(before))
    lasting = reading.has_han or bool(_LASTING.search(text))
    for number, sentence in enumerate(reading.sentences):
        if sentence.asked:
            continue
        prose = _prose(reading, number, sentence, before, asked_before)
        told = None if prose else method_steps(sentence) or condition_steps(sentence)
        if prose:
            found.append(prose)
        elif told and not is_answer_wish(sentence.text):
            found.append(
                Procedure(
                    start=sentence.start,
                    end=sentence.end,
                    summary=told[0][:300],
                    steps=told[1],
                    entry_type="instruction",
                    confidence=0.7,
                )
            )
        elif (
            lasting
            and (
                _ALWAYS.search(sentence.text)
                or _NEVER_DO.search(sentence.text)
                or (reading.has_han and _ALWAYS_ZH.search(sentence.text))
            )
            and not _ANSWERS.search(sentence.text)
            and not is_answer_wish(sentence.text)
            and not any(map(wishes_of_suggestions, (sentence.text, *(one.text for one in sentence.clauses))))
        ):
            if (
                re.search(
                    r"\bI\s(?:always|never|usually)\b|\b(?:he|she|they)\s(?:always|never)\b",
                    sentence.text,
                    re.IGNORECASE,
                )
                or MASK * 20 in sentence.text
            ):
                continue
            if reading.has_han or _DO_ALWAYS.search(sentence.text) or _wished(sentence.text):
                end = _rule_end(sentence)
                body = sentence.raw[: end - sentence.start].strip()
                found.append(
                    Procedure(
                        start=sentence.start,
                        end=end,
                        summary=body[:200],
                        steps=_steps(body) or (body,),
                        entry_type="instruction",
                        confidence=0.75,
                    )
                )
    return found[:4]


def _rule_end(sentence: Sentence) -> int:
    """Where a standing rule ends: what follows with a subject of its own, such as "my boss will kill me", is no part of it."""
    end = sentence.end
    begun = False
    for clause in sentence.clauses:
        if begun and re.match(
            r"(?:my|i|i'm|i'll|he|she|it|it's|they|you'll|otherwise|or else|lol|haha|no exceptions)\b",
            clause.text,
            re.IGNORECASE,
        ):
            return end
        begun = begun or bool(
            _ALWAYS.search(clause.text) or _NEVER_DO.search(clause.text) or _EACH_TIME.search(clause.text)
        )
        end = clause.end
    return sentence.end


def _wished(text: str) -> bool:
    """Whether a sentence asks for something to be done each time: an imperative, or a rule from now on."""
    rest = _ALWAYS.sub("", text).strip(" ,")
    if re.match(r"(?:let me know|have a|take care|keep (?:it up|up|going|me posted|on)|thank)", rest, re.IGNORECASE):
        return False
    if _IMPERATIVE.match(rest) or _NEVER_DO.search(text) or _EACH_TIME.search(text):
        return True
    return bool(
        re.search(r"\b(?:from now on|in future|going forward|please)\b", text, re.IGNORECASE)
        and re.search(r"\b(?:please|must|should|has to|have to|need to|don't|make sure|never)\b", text, re.IGNORECASE)
    )


def _prose(reading: Reading, number: int, sentence: Sentence, before: str, asked_before: bool) -> Procedure | None:
    """Steps told in running text: at least three of them, in order."""
    text = sentence.text
    if len(text) < 16 or (not reading.has_han and len(_PARTS.findall(text)) < 2) or _PAST.search(text):
        return None
    steps = _steps(sentence.raw)
    told = len(_SEQUENCE.findall(text)) + (len(_SEQUENCE_ZH.findall(text)) if reading.has_han else 0)
    acting = sum(1 for step in steps if _IMPERATIVE.match(step)) + (
        sum(
            1
            for step in steps
            if re.match(
                r"(?:先|再|然后|最后|接着|把|用|在|发|放|加|倒|点|按"
                r"|打开|关|等|拿|煮|炒|切|洗|拌|扫|跑|重启|登录|提交|上传)",
                step,
            )
        )
        if reading.has_han
        else 0
    )
    context = reading.raw[: sentence.start][-200:]
    kept = asked_before or bool(_KEEP.search(context)) or bool(_KEEP.search(text))
    kept = kept or bool(re.match(r"\W*(?:to|before|after|when|每次|要)\s?[^,，:：]{4,60}[:：]", text, re.IGNORECASE))
    if (
        len(steps) >= 3
        and acting >= 2
        and (told >= 1 or (acting >= 3 and kept))
        and (kept or bool(_YOU.search(text)) or told >= 2)
    ):
        summary = _title(context.strip() or (before if not _KEEP.search(text) else text), before, steps[0])
        head, colon, _ = sentence.raw.partition(":" if ":" in sentence.raw else "：")
        if colon and 6 <= len(head) <= 90:
            summary = head.strip()
        if re.search(r"\bfor (?:every|each|the next|any)\b", text, re.IGNORECASE):
            summary = text.split(":")[0][:120]
        return Procedure(
            start=sentence.start,
            end=sentence.end,
            summary=summary,
            steps=steps,
            entry_type=_kind(reading.raw),
            confidence=0.8,
        )
    return None


def _steps(raw: str) -> tuple[str, ...]:
    raw = raw.strip()
    body = re.sub(
        r"^(?:then\s|so\s|and\s)?(?:remember\s)?(?:for (?:every|each|the next)[^:]{2,60}"
        r"|.{0,60}\b(?:steps|routine|how|this|做法|流程|步骤)[^:：]{0,20}"
        r"|(?:(?:this|that|it)(?:'s|\sis)|here(?:'s|\sis))\show\s[^:：]{3,80}|(?:to|when|before|after"
        r"|if)\s[^:：,]{3,60})[:：]\s*",
        "",
        raw,
        flags=re.IGNORECASE,
    )
    parts = [_ORDINAL.sub("", part.strip(" ,;，；.")) for part in _SPLIT.split(body)]
    return tuple(part for part in parts if len(part) > 1 and not _CUE_ALONE.fullmatch(part))[:40]


def _kind(text: str) -> str:
    return (
        "recipe"
        if re.search(
            r"\b(?:oven|bake|flour|teaspoons?|tablespoons?|tbsp|tsp|simmer|recipe|grams?|butter|onions?"
            r"|salt)\b|做法|小火|生抽|勺|葱|盐|面粉|烤箱|克",
            text,
            re.IGNORECASE,
        )
        else "workflow"
    )


def _title(intro: str, before: str, first: str) -> str:
    """What the steps are for: what announces them, else what was said before, else the first step."""
    for source in (intro, before):
        line = " ".join(source.split()).rstrip(" :：,，")
        if len(line) >= 3:
            return line if len(line) <= 140 else line[:137].rstrip() + "…"
    return first[:140]
