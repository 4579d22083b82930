"""Which part of a clause a date stands in, where several verbs are told: "I lost my key and | fly to Rome on Monday"."""

from __future__ import annotations

from .... import lazy_re as re

__all__ = ["part_with"]

_AUX = r"(?:am|is|are|was|were|has|will|won['’]t|can|must|needs?\sto|have\sto|have\sgot|['’](?:ll|m|re)\b)"
_PLANS = (
    r"(?:fly|go|leave|start|begin|move|meet|see|have|get|come|take|depart|arrive|join|become|marry|retire|attend|submit|sing|teach"
    r"|perform|collect|sign|pay|travel|head|receive|undergo|do|give)"
)
_PLANS_S = (
    r"(?:flies|goes|leaves|starts|begins|moves|meets|sees|gets|comes|takes|departs|arrives|joins|becomes|marries|retires|attends"
    r"|submits|sings|teaches|performs|signs|pays|travels|heads|does|gives|has)"
)
_AS_NOUN = (
    r"(?:visit|run|play|drive|walk|hike|swim|talk|race|interview|present|return|work|host|sail|cook|bake|speak|open|close|turn"
    r"|finish|launch|hand|pick)s?"
)
_PAST = r"(?:went|got|came|saw|met|broke|won|bought|sold|ran|ate|drank|gave|fell|told|said|flew|drove|began|took|was|were|had|did)"
_DATED = (
    r"(?:(?:on|next|this|tomorrow|today|tonight)\b|the\s\d|(?:in|at|by|from)\s(?:\d|the|a\s|jan|feb|mar|apr|may|jun|jul|aug|sep|oct"
    r"|nov|dec|noon|one|two|three|four|five|six|seven|eight|nine|ten))"
)
_ADVERBS = r"(?:(?:now|then|also|still|just|only|already|soon|finally|so|therefore|instead|not)\s)*"
_FRONTED = r"(?:(?:on|next|this)\s(?:next\s|the\s)?[\w’'-]+\s(?:\w+day\s)?|tomorrow\s)?"
_JOINT = re.compile(
    rf"\s?(?:,\s)?\b(?P<and>and|but|so|then|yet|plus)\s{_FRONTED}{_ADVERBS}"
    rf"(?P<verb>(?P<sure>{_AUX}|{_PLANS_S}|{_PAST})|(?P<base>{_PLANS})|(?P<noun>{_AS_NOUN})(?!\s{_DATED})(?=\s))(?![\w’'-])",
    re.IGNORECASE,
)
_DID_ED = re.compile(r"\s(?:and|but|then)\s(?:\w+ly\s)?(?!need\b|speed\b|feed\b)[a-z]{3,}ed(?!\w)", re.IGNORECASE)
_INFINITIVE = re.compile(
    r"\b(?:to|did|didn['’]t|could|couldn['’]t|would|wouldn['’]t|can|will|must|should|may|might)\s"
    r"(?!the\b|my\b|our\b|his\b|her\b|their\b|an?\b|work\b|school\b|bed\b|church\b|town\b|hospital\b|university\b|not\sknow\b)(?-i:[a-z])"
    r"|['’]ll\s[a-z]"
    r"|\b(?:let|made|helped|saw|watched|heard|had)\s(?:me|us|him|her|it|them|you|(?:my|our|the|his|her|their)\s\w+|(?-i:[A-Z])\w+)\s"
    r"(?!and\b|but\b|again\b|yesterday\b|today\b|there\b|off\b|on\b|in\b|at\b|for\b|with\b|a\b|the\b)(?-i:[a-z]+)\s*$",
    re.IGNORECASE,
)
"""Before "and": the verb behind it may be an infinitive too, "I had to pack and leave on Monday"."""
_NOW = (
    rf"(?:(?:is|are|am|will|won['’]t|needs\sto|{_PLANS_S}|opens|closes|finishes|ends|turns|returns|plays|runs)(?![\w’'-])"
    rf"|\b(?:he|she|it|there)['’]s\b|\b(?:I|we|they|you)['’](?:re|m|ll)\b|\b(?:I|we|they|you)\s{_ADVERBS}(?:{_PLANS}|{_AS_NOUN})\b)"
)
_IS_NOW = re.compile(rf"(?<![\w’'-]){_NOW}", re.IGNORECASE)
_HEARD = re.compile(
    r"\b(?:(?:heard|found\sout|learn(?:ed|t)|said|noticed|reali[sz]ed|discovered|forgot|remembered|mentioned|announced|confirmed|wrote"
    r"|(?:was|were|been|got)\stold|told\s(?:me|us|him|her|them|everyone|everybody|(?:my|our|his|her)\s\w+|(?-i:[A-Z])\w+))(?:\sthat)?"
    r"|(?:saw|read|texted|emailed|posted)\sthat)\s",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\b(?:that|which|who)\s(?=(?:is|are|will\sbe|will|starts?|begins?|opens?|takes?\splace|leaves?)\s(?:now\s|only\s)*"
    rf"{_DATED})",
    re.IGNORECASE,
)
_PLAN_ZH = re.compile(
    r"(?:[一二三四五六七八九十两\d]|[周天]|星期|礼拜|[月日号这下个早晚上午明后中点半])+(?:我们?|就|再|也|要)*"
    r"(?:飞|去|出发|开始|入职|上班|搬|考试|开会|见|回|动身|结婚|出差|做?手术|面试|报到|开学|参加)(?!年|了|过)"
)
_DONE_ZH = re.compile(r"[没了过刚的]")


def part_with(text: str, at: int) -> tuple[int, int]:
    """First and last character of the part of a clause whose verb goes with a date; all of it where there is one verb.

    Args:
        at: where in the clause the date stands.
    """
    plan = _PLAN_ZH.match(text, at)
    if plan is not None and _DONE_ZH.search(text, plan.start()) is None:
        return at, len(text)
    first, last = 0, len(text)
    for joint in _JOINT.finditer(text):
        if joint["sure"] is None and _INFINITIVE.search(text[first : joint.start()]):
            continue
        if joint.start() < at:
            first = joint.end("and")
        elif _IS_NOW.search(text, first, joint.start()):
            last = joint.start()
            break
    done = _DID_ED.search(text, at, last)
    if done is not None and _IS_NOW.search(text, first, done.start()):
        last = done.start()
    for found in _HEARD.finditer(text, first, last):
        if _IS_NOW.search(text, found.end(), max(at, found.end())):
            first = found.end()
    for found in _WHICH.finditer(text, first, last):
        if 0 < at - found.end() < 30:
            first = found.end()
    return first, last
