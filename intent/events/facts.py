"""Plain statements: what is the case, and who one is. They settle nothing, whatever was proposed before them."""

from __future__ import annotations

from ... import lazy_re as re

__all__ = ["introduces_self", "states_fact"]

_READ = 300
_STATES = (
    r"is|are|was|were|has|have|had|leaves?|costs?|comes?|takes?|starts?|ends|opens?|closes?|lives?|works?|weighs?|wants?|needs?|"
    r"arrives?|begins?|leaks?|contains?|hates?|went|came|lost|got|broke|fell|died|said|told|called|wrote"
)
_LEAD = r"(?i:by the way|also|and|so|note|remember|just so you know|fyi)[,:]? (?:that )?"
_OF_ONES_OWN = r"(?i:i|we) (?:have|had|lost|found|got|broke|forgot) (?:an?|my|our|the) "
_SUBJECT = (
    r"(?:[Tt]he|[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) [\w’'-]+"
    r"|(?!(?:I|We|You|It|That|This|These|Those|Yes|No|Then|Let|What|Which)\b)[A-Z][\w’'-]+"
)
_FACT = re.compile(
    rf"^\W*(?:{_LEAD})?(?:{_OF_ONES_OWN}"
    rf"|(?:{_SUBJECT})(?: (?!that\b|if\b|it\b)[\w’'-]+){{0,4}}? (?:{_STATES})\b(?! (?:it|what|the one)\b))"
)
_TAKES_UP = re.compile(
    r"\b(?:fine|good|great|perfect|ok(?:ay)?|nice|lovely|best|better|right|sounds?|suits?|enough|settled|deal|agreed|decided|go with|"
    r"choose|take (?:it|that|the)|book|reserve|please|yes|instead|one|ones|option|first|second|third|cheaper|"
    r"we(?:['’]ll| will| want)|let['’]s)\b",
    re.IGNORECASE,
)
_FACT_CHINESE = re.compile(
    r"^(?!那|就|好|行|可以)[^，。,！？!?]{1,14}(?:贴在|放在|位于|在|是|有|坏了|漏水|过敏)[^，。,！？!?]{1,14}[。.,，]?"
)
_TAKES_UP_CHINESE = re.compile(r"[就选订定行]|可以|好的|不错|喜欢|家吧|个吧|吧[。！]?$")
_SELF = re.compile(
    r"\b(?:I['’]m|I am|[Mm]y name is|[Cc]all me) (?!I\b)[A-Z][a-z]+\b|\b[Mm]y name is\b|\bI (?:live|work) (?:in|at|as|for|near|with)\b|"
    r"\bI(?:['’]m| am) (?:an? )[a-z]+ (?:from|in|at|by)\b|我叫[\u4e00-\u9fff]|我的名字|我住在|我来自"
)


def states_fact(text: str) -> bool:
    """Whether a text opens by saying what is the case with a thing of its own, and takes up nothing that was proposed."""
    text = text[:_READ]
    if _FACT.match(text):
        return _TAKES_UP.search(text) is None
    return _FACT_CHINESE.match(text) is not None and _TAKES_UP_CHINESE.search(text) is None


def introduces_self(text: str) -> bool:
    """Whether a text says who is speaking: a name, where one lives, what one does."""
    return _SELF.search(text[:_READ]) is not None
