"""What follows "and" with the subject left out: "I live in Ghent and work as a nurse"."""

from __future__ import annotations

from dataclasses import replace

from .... import lazy_re as re
from .english_grammar import LEAD
from .sentence_parts import Clause

__all__ = ["coordinated"]

_VERBS = (
    r"(?:live|work|study|play|speak|teach|drive|ride|love|like|hate|prefer|enjoy|have|am|run|own|collect|manage|volunteer"
    r"|train|sing|am\sallergic|can't\sstand"
    r"|don't\s(?:eat|drink|like|smoke|drive)|never\s(?:eat|drink)|moved|relocated|started|joined|left|quit|got\s(?:married"
    r"|engaged|divorced|promoted)"
    r"|(?:start|begin)(?=\s(?:at|with|as|work\w*|my\s(?:new\s)?(?:job|role))\b)|join"
    r"|was\sborn|grew\sup|come\sfrom|bought|adopted|turned|retired|became|took\sup|work(?:ing)?\sas)"
)
_ADVERBS = r"(?:(?:now|also|currently|just|recently|still|then|mostly|usually|always|both)\s)*"
_FIRST = re.compile(rf"{LEAD}(?i:(?:my\s[\w-]+\sand\s)?(?P<who>I|we))(?P<be>'m|'re|\sam|\sare)?(?:'ve|\s)")
_AND_DOES = re.compile(rf",?\s(?:and|plus|but)\s(?:(?:I|we)\s)?(?P<does>{_ADVERBS}{_VERBS}\s)", re.IGNORECASE)
_AND_IS = re.compile(r",?\sand\s(?P<is>(?:also\s)?an?\s(?!(?:bit|lot|half|few|little)\b))", re.IGNORECASE)
_IS_ONLY = re.compile(
    r"(?i:(?:\d{1,3}(?:\syears\sold)?|(?:happily\s|recently\s)?married|single|divorced|widowed|retired|vegan|vegetarian"
    r"|(?:an?\s)[a-z-]+(?:\s[a-z-]+){0,2})"
    r"|[A-Z][a-z]+|from\s[A-Z][a-z]+)\Z"
)
_NOT_SAID_OF_BOTH = re.compile(
    r"\b(?:want(?:s|ed)?|hope|plan(?:ning)?|need|going|gonna|will|can|could|should|might|may|must|shall|used|let|help|make"
    r"|see|watch|hear|tell|ask"
    r"|who|which|whose|that|if|when|don't|do not|didn't|won't|can't|cannot|wouldn't|not|decided|try|trying|tried|able|dream)\b|'ll\b|'d\b"
    r"|\bto\s(?!the\b|my\b|an?\b|our\b|work\b|school\b|bed\b|church\b|nuts\b)(?-i:[a-z])",
    re.IGNORECASE,
)
_MOST = 4


def coordinated(clause: Clause) -> list[Clause]:
    """What a clause tells of the user, each thing as a clause with its subject: at most four after the first.

    A clause that tells one thing is given back as it is. What stands under "want to", "will" or a negation is left alone, and
    so is what a relative clause tells.
    """
    text = clause.text
    if " and " not in text and " plus " not in text and " but " not in text:
        return [clause]
    first = _FIRST.match(text)
    if first is None:
        return [clause]
    subject = "We" if first["who"].casefold() == "we" else "I"
    found, end = list[Clause](), len(text)
    for match in [*_AND_DOES.finditer(text, first.end())][:_MOST]:
        if _NOT_SAID_OF_BOTH.search(text[first.end("who") : match.start()]):
            break
        end = min(end, match.start())
        said = f"{subject} {text[match.start('does') :]}"
        found.append(replace(clause, text=said, raw=said))
    is_more = _AND_IS.search(text, first.end()) if first["be"] and subject == "I" else None
    if is_more and _IS_ONLY.match(text[first.end() : is_more.start()]):
        end = min(end, is_more.start())
        said = f"I am {text[is_more.start('is') :]}"
        found.append(replace(clause, text=said, raw=said))
    return [replace(clause, text=text[:end], raw=clause.raw[:end]), *found] if found else [clause]
