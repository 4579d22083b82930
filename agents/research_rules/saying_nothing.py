"""What states nothing: plain questions, requests to look something up or to forget it, bare thanks, calls of tools.

It is stored like all that was said, and holds the words of what it is about, so that a search brings it; but in a prompt
it takes the place of something that tells. A question may tell as well ("Did you know I moved to Porto?", "What can I cook
for Mia, who is allergic to nuts?"): in doubt it does.
"""

from __future__ import annotations

from ... import lazy_re as re
from ...retrieval.asking_replies import only_asks_back
from .asking import is_courtesy

__all__ = ["asks_of_asking", "asks_plainly", "asks_to_forget", "merely_asks", "says_nothing"]

_LONGEST = 240
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_LEAD = re.compile(
    r"^[\W_]*(?:(?:and|so|but|then|now|ok(?:ay)?|hey|hi|hello|well|please|sorry|actually|also|yes|no|thanks"
    r"|thank you|by the way|btw)\b[\s,]*){0,3}"
    r"(?:(?:please )?(?:search|research|check|look)\b[^:;.!?]{0,40}\bmemory\b\s*[:,;]\s*)?"
    r"(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:(?:tell|remind|show) (?:me|us)(?: again)?(?: of)?\s+|do you (?:still )?(?:know|remember|recall)\s+"
    r"|i (?:forgot|forget|don['’]t (?:know|remember)|can['’]t remember)\s+)?",
    re.IGNORECASE,
)
_PLACED = r"(?:(?:with|on|at|in|for|to|from|since|by|of|about)\s+)?"
_ASKS = re.compile(
    rf"{_PLACED}(?:(?:what|which|who|whom|whose|when|where|how (?:many|much|old|long|often|far|tall))\b"
    r"(?!\s+(?:an?|about|if|should|could|can|shall|would|might)\b)"
    r"|(?:did|do|have|had|am|was)\s+(?:i|we)\b(?!\s+(?:tell|mention|say|told|mentioned|said|need|have to)\b))",
    re.IGNORECASE,
)
_WANTED = re.compile(r"\b(?:tell|show|remind)\s+(?:me|us)\b", re.IGNORECASE)
_OF_ALL = re.compile(  # behind "tell me"
    r"(?:(?:all|everything|more|something|anything|what)\s+)?(?:(?:that\s+)?(?:you|we)(?:['’]ve|\s+have)?\s+"
    r"(?:know|remember|stored|saved|noted|learn(?:ed|t))\s+)?(?:about|of|on)\b",
    re.IGNORECASE,
)
_NEWS = re.compile(r"\b(?:did|do|have)\s+you\s+(?:know|hear|heard|see|seen)\b|\bguess\b|你知道", re.IGNORECASE)
_SUPPOSES = re.compile(  # "Why did Jonas leave?", "Isn't it great that Mia won?": he left, she won
    r"(?i:^[\W_]*(?:(?:and|so|but)\s)?(?:why|how\s(?:come|did|has|have|was|were)|would\syou\sbelieve|who\swould\shave)\b)"
    r"|(?i:\b(?:is|was|are|were|do|does|did|has|have)n['’]t\b)|\bthat\s[A-Z]|为什么|怎么会"
)
_INVERTED = re.compile(  # a question without its mark: "where does mia go to school"
    rf"{_PLACED}(?:what|which|who|whom|whose|when|where|how (?:many|much|old|long|often|far|tall))"
    r"(?:\s+(?!(?:is|are|was|were|i|we|you|he|she|it|they|my|our|your|his|her|its|their|the)\b)[\w'’-]+){0,2}?"  # "where I live has …"
    r"(?:\s+(?:do|does|did|am|is|are|was|were|have|has|will|can)\b|['’]s\b)"
    r"(?!.*\s(?:is|are|was|were)\s)[^.!,;:?]+$",
    re.IGNORECASE,
)
_NEXT = re.compile(rf",?\s+(?:and|or|but)\s+(?={_PLACED}(?:wh(?:at|ich|o|om|ose|en|ere)|how|why)\b)", re.IGNORECASE)
_WHY = re.compile(r"(?:why|how)\W*$", re.IGNORECASE)
_TOLD = re.compile(  # "When did I tell you that the exam was moved?": it was told before
    r"(?:when|where|what|which|how (?:many|often|long))\b[^,;:]{0,30}?\bdid\s+(?:i|we)\s+(?:tell\s+you|say|mention)\s+(?:that\s+)?",
    re.IGNORECASE,
)
_TELLS = re.compile(  # what makes a question tell something
    r"\d|['’](?:m|ve|d|ll)\b|[:;(—–]"
    r"|\b(?:because|since(?!\s(?:i|we)\s(?:first\s|last\s)?(?:told|said|mentioned)\b)|although|though|now that|given"
    r"|considering|if)\b"
    r"|\b(?:my|our) (?:new|old|former|ex)\b|.\b(?:who|whom|whose|which|while|when)\b"
    r"|\bthat\s+(?:i|we|he|she|they|it|my|our|the|is|was|has)\b"
    r"|\b(?:january|february|march|april|(?-i:May)|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|tonight|yesterday)\b"
    r"|,\s*(?:i|we|he|she|it|they|my|our|his|her|their|the|a|an|so|as|you)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:my|our|My|Our)\s+(?:[a-z][\w'’-]*\s+){1,2}(?!I\b)[A-Z]")  # "my daughter Mia"
_FORGETTING = re.compile(
    r"^[\W_]*(?:(?:please|now|yes|ok(?:ay)?|sorry|actually|and|so)\b[\s,]*){0,3}(?:(?:can|could|would) you (?:please )?)?"
    r"(?:forget\b(?!-|\sme[\s-]nots?\b)|(?:delete|erase|remove|wipe)\b(?=.*\b(?:memory|(?:i|we)(?:['’]ve| have)? (?:said|told))\b))"
    r"(?!.*[,;:]\s*(?:and |but |because )?(?:(?:i|we|he|she|it|they)\b(?!['’]d\b|\s(?:would|might)\b)|(?:my|our)\b))"
    r"(?!.*[,;:–—-]\s.*(?:\b(?:is|are|was|were|am|has|had|will|died|moved|left)\b|['’](?:s|re|ll)\s|n['’]t\b))"  # "Forget it, Mia is ill"
    r"(?!.*\s(?:but|instead|from now on|(?:and|then)\s(?:(?:please|also|then|just)\s)*(?:add|book|buy|call|change|do|give|go|keep|let|make"
    r"|note|put|record|remember|remind|save|say|send|set|store|take|tell|update|use|write|(?:i|we|he|she|they|it)\s(?:am|are|is|was"
    r"|were|have|has|had|will|moved|left|live|lives|work|works|like|likes|hate|hates|prefer|prefers))\b))",  # "… and use 12 Elm Street"
    re.IGNORECASE,
)
_CALL = re.compile(r"\s*(?:[A-Za-z_][\w.-]*\((?:[^()]|\([^()]*\))*\)\s*)+")
_DONE = re.compile(r"\W*(?:done|noted|stored|saved|forgotten|will do|all set)\W*", re.IGNORECASE)
_FORGOT = re.compile(  # "Done, that's forgotten.": neither what nor of whom
    r"(?=.{0,100}$)(?=.*\bforg(?:et|ot|otten)\b)(?:Done|Okay|OK|Ok|You asked me|I|I['’]ve|That|That['’]s|It|It['’]s)\b"
    r"(?:[^A-Z\d]|\bI\b|[.!] (?:It|You|I|That|This|Anything|Is|Shall|Should|Would|Let|Just|Please)\b)*",
    re.DOTALL,
)
_OTHER_TONGUE = re.compile(
    r"[\W_]*(?:wer|wem|wen|wann|wo|wohin|woher|wie (?:viele|alt|oft|lange|heißt|hieß)|welche[rnsm]?|wessen"
    r"|quién(?:es)?|cuándo|dónde|cuál(?:es)?|cuánt[oa]s?|qui|quand|où|combien|quels?|quelles?)\b[^,.;:!?\d]{1,80}\?\s*",
    re.IGNORECASE,
)
_HAN_FORGETTING = r"(?:请你?(?:忘掉|忘记|忘了)|忘掉)(?!告诉|跟|和你)[^，。；：\d]{1,24}[。！]?\s*"
_HAN_FORGETS = re.compile(_HAN_FORGETTING)
_HAN = re.compile(
    r"(?!.*(?:知道|记得|听说|因为|如果))[^，。；：、\d？?！!]{0,20}"
    r"(?:什么时候|什么|谁|哪[里儿个些位天年家座]|几[个号点岁月时次天年]|多少)[^，。；：、\d？?！!]{0,16}[？?]?\s*"
    rf"|{_HAN_FORGETTING}"
)
_ASKS_WHETHER = re.compile(  # with the answer "Yes." it tells
    r"(?:^|[.!?,]\s+|\b(?:and|so|but)\s)(?:are|were|is|was|do|does|did|have|has)(?:n['’]t)?\s(?:you|your|he|she|they|his|her|their)\b"
    r"(?!\s+(?:want|need|like|prefer|mean|mind|know|remember|looking|going to tell|ready|sure|okay|ok|well|any|anything|have any)\b)"
    r"\s+\w+\s+\w|你(?:是不是|有没有|会不会|是|有|在)[^，。？?]{2,}吗",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\W*(?:yes|yep|yeah|yup|no|nope|exactly|indeed|true|right|是的?|对的?|不是|没有)\b\W*", re.IGNORECASE
)
_OF_ASKING = re.compile(r"\bask(?:s|ed|ing)?\b|\bquestions?\b|问", re.IGNORECASE)


def says_nothing(speaker: str, text: str) -> bool:
    """Whether a step states nothing: thanks alone, a call of a tool, what a user only asks or wants forgotten, or what an
    assistant only asks back.

    Args:
        speaker: who said it; people who are named tell each other things by asking, so that nothing is taken for a question
            of theirs.
    """
    if is_courtesy(text):
        return speaker == "assistant" or not _ANSWER.fullmatch(text)
    if speaker == "user":
        return asks_plainly(text)
    if _CALL.fullmatch(text) or _DONE.fullmatch(text):
        return True
    if speaker != "assistant":
        return False
    return (only_asks_back(text) and not _ASKS_WHETHER.search(text)) or _FORGOT.fullmatch(text) is not None


def asks_plainly(text: str) -> bool:
    """Whether a text is nothing but questions for a fact ("When is my exam, and with whom do I train?"), requests to tell
    one, or to forget something. One that asks for advice or tells something beside is not."""
    if len(text) > _LONGEST:
        return False
    if _HAN.fullmatch(text) or _OTHER_TONGUE.fullmatch(text):
        return True
    asked = False
    for sentence in _SENTENCE.findall(text):
        if is_courtesy(sentence):
            continue
        if not (_FORGETTING.match(sentence) or _only_wants_to_know(sentence)):
            return False
        asked = True
    return asked


def merely_asks(text: str) -> bool:
    """Whether a text is nothing but questions that tell nothing beside, for advice too: "What should I get Jonas?"."""
    if asks_plainly(text):
        return True
    asked = [one for one in _SENTENCE.findall(text[:_LONGEST]) if not is_courtesy(one)]
    return len(text) <= _LONGEST and bool(asked) and all(map(_asks_alone, asked))


def _asks_alone(sentence: str) -> bool:
    if not sentence.rstrip().endswith(("?", "？")) or _NEWS.search(sentence):
        return False
    return not any(one.search(sentence, at) for one, at in ((_TELLS, 1), (_NAMED, 0), (_SUPPOSES, 0)))


def asks_to_forget(text: str) -> bool:
    """Whether a text is nothing but a request to forget something: like a plain question it tells nothing itself."""
    if len(text) > _LONGEST:
        return False
    told = [one for one in _SENTENCE.findall(text) if not is_courtesy(one)]
    return _HAN_FORGETS.fullmatch(text) is not None or (bool(told) and all(map(_FORGETTING.match, told)))


def asks_of_asking(text: str) -> bool:
    """Whether it is asked what was asked: then questions are what tells."""
    return _OF_ASKING.search(text) is not None


def _only_wants_to_know(sentence: str) -> bool:
    plain = _LEAD.sub("", sentence, count=1)
    if not sentence.rstrip().endswith("?") and plain == sentence.lstrip() and not _INVERTED.match(plain):
        return False
    first, wanted = True, _WANTED.search(sentence, 0, len(sentence) - len(plain)) is not None
    for part in _NEXT.split(plain):
        began = _ASKS.match(part) or (_OF_ALL.match(part) if wanted else None)
        if began is None:
            if first or not _WHY.match(part):  # "and why?"
                return False
        else:
            told = _TOLD.match(part)
            if _TELLS.search(part, (told or began).end()) or _NAMED.search(part):
                return False
        first = False
    return True
