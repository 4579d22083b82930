"""Where a step ends one goal and enters another: "Book it. Back to day 1: is breakfast included?".

What comes before the turn speaks of the goal that is left, so its references are looked for there.
"""

from __future__ import annotations

from ... import lazy_re as re

__all__ = ["turning_point"]

_SENTENCE = re.compile(r"[.!?;](?:[\"”'’)]*\s+)|[。！？；]+\s*|\n+")
_TURN = re.compile(
    r"\W*(?:(?:ok(?:ay)?|and|so|but|then|great|good|right|also|oh|now|please|next|perfect|thanks|thank you|alright)\b\W*)*"
    r"(?:(?:let['’]?s|let us|let me|can we|could we|shall we|i['’]?d like to|we can|we should)\s+(?:now |please )?)?"
    r"(?:back (?:to|on)|(?:go|going|come|coming|switch|switching|turn|turning|"
    r"jump|jumping|move|moving|head|heading|return|returning|get|getting)\s+"
    r"(?:(?:back|on|over|now|ahead|us|forward) )*to\b|on to\b|onto\b|over to\b|as for\b|regarding\b|concerning\b|what about\b|how about\b|"
    r"for (?:the |our |my )?(?:day|first|second|third|fourth|fifth|last|final|next|evening|morning|\d|mon|tue|wed|thu|fri|sat|sun)|"
    r"(?:the |our |on |on the )?(?:day|week|phase|stage|task|step|sprint|part) (?:\d|one|two|three|four|five|six|[a-e]\b)|"
    r"(?:the |our |on |on the |for )?(?:first|second|third|fourth|fifth|last|final|next|following) (?:day|night|morning|evening)|"
    r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:now|next)(?: up)?(?: for|"
    r" is| comes|[:,])|(?:start|begin)(?:ning)? with\b|plan\b|tomorrow\b)"
    r"|\W*(?:now|next)\b\W*(?:for |the |our |on |to )*[\w'’-]+"
    r"|\s*(?:那么?|好|嗯|对了|现在|然后|接着|接下来|再|先|下面|至于|关于|回到|说回|换到|转到|看看|说说|安排)*\s*[,，]?\s*"
    r"(?:第[一二三四五六七八九十\d]|回到|接下来|下一[天站步]|最后一天|至于|关于|再说|再看|现在看|说说|那(?:第|周)|周[一二三四五六日天])",
    re.IGNORECASE,
)
_READ = 400


def turning_point(text: str) -> int:
    """Where in a text that enters another goal its first sentence about that goal begins; 0 where none comes before it."""
    for match in _SENTENCE.finditer(text, 0, _READ):
        if _TURN.match(text, match.end()):
            return match.end() if match.end() < len(text) else 0
    return 0
