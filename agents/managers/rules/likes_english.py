"""What the user likes, avoids and usually does, in English."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_english import WEEKDAY_NAME
from .english_grammar import ADV, LANGUAGES, LEAD_ONLY, PHRASE, POINTS, STOP, VAGUE, Fact, clean, rule_set, verb_s
from .habits_english import their
from .roles_english import is_occupation
from .sentences import Clause

__all__ = ["LIKES_RULES"]

LIKES_RULES, _rule = rule_set()

_MY = re.compile(r"\bmy\b")

_DIETS = (
    r"vegetarian|vegan|pescatarian|pescetarian|flexitarian|fruitarian|teetotal|coeliac|celiac"
    r"|lactose[- ]intolerant|gluten[- ]intolerant|diabetic|kosher|halal"
)


_NO_NOUN = ("after", "ever", "over", "rather", "whenever", "however", "altogether", "together")
_JOKED = re.compile(
    r"\b(?:mornings?|mondays?|work|meetings?|people|exercise|drama|nonsense|small talk|effort"
    r"|housework|money|commitment|fun|bad \w+)\b",
    re.IGNORECASE,
)


@_rule(
    "vegetarian vegan pescatarian pescetarian flexitarian fruitarian teetotal teetotaller"
    " teetotaler coeliac celiac lactose gluten diabetic kosher halal",
    rf"(?i:\b(?:as\sa|I'm|I\sam|I've\s(?:always\s)?been|I've become|I became|I\s(?:just\s|recently\s)?turned|I\swent"
    rf"|I'm now|me being)\s{ADV}(?:(?:a|an)\s)?(?:\w+ly\s)?(?P<diet>teetotall?er|{_DIETS})\b)",
)
def _diet(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    after = re.match(r"\s([a-z]+)", clause.text[match.end() :])
    if after and re.search(r"\san?\s", match[0]) and is_occupation(after[1]) and after[1] not in _NO_NOUN:
        return  # "a vegan chef"
    if not re.search(r"\bnot\b|n't", match[0]):
        diet = re.sub("teetotall?er", "teetotal", match["diet"].lower())
        yield Fact(label="diet", value=f"Is {diet}", clause=clause, starts=True)


@_rule(
    "given gave quit stopped",
    r"(?i:^(?:(?:and\s|but\s)?I(?:'ve|\shave)?\s)?(?:just\s|recently\s|finally\s)?(?:given up|gave up"
    r"|quit|stopped)\s)(?P<what>(?:smoking|drinking|eating\s|gluten|dairy|meat|sugar|alcohol"
    r"|coffee|caffeine|bread|fish)[^\ue000,.;:!?()]{0,30}?)(?=\s(?:in|last|since|on|for|this"
    r"|years?|after|when|because|so|and|a)\b|\s*$)",
)
def _gave_up(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="avoids", value=f"Has given up {clean(match['what'])}", clause=clause, starts=True)


@_rule(
    "every each on once twice times",
    rf"(?i:^(?:and\s|but\s|also\s)?(?:I|we)\s(?P<act>(?:drink|eat|have(?=[^\ue000;:!?()]{{2,40}}\s(?:on|every|each)\s{WEEKDAY_NAME})(?!\s(?:to|been|had|got)\b)|go|run|swim|play|do|attend|train|volunteer"
    r"|visit|teach|bake|climb|row|ride|paint|hike|knit|box|skate|sew|fish|surf|draw|practise|practice|cycle|walk|sing|dance|meditate|cook"
    r"|fast)\b[^\ue000;:!?()]{0,60}?\b(?:every\s\w+|each\s(?:day|week|morning|evening|month)"
    rf"|on\s{WEEKDAY_NAME}s(?:\sand\s\w+days)?|(?:once|twice"
    r"|three times|four times)\sa\s(?:day|week|month|year))))",
)
def _routine(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    verb, _, rest = clean(match["act"]).partition(" ")
    if not POINTS.search(rest):
        yield Fact(label="habit", value=f"{verb_s(verb)} {their(rest)}", clause=clause)


@_rule(
    "tea coffee eggs steak porridge toast espresso",
    r"(?i:\bI\s(?:take|drink|have|like)\smy\s(?P<what>(?:tea|coffee|eggs|steak|porridge|toast"
    r"|espresso)\s[^\ue000,.;:!?()]{3,40}))",
)
def _takes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="preference", value=f"Takes {clean(match['what'])}", clause=clause)


@_rule(
    "allergic alergic intolerant allergy intolerance",
    rf"(?i:\b(?:I'm|I\sam|I've always been|I\s(?:turned out"
    rf"|seem) to be)\b[^,]{{0,40}}?\b(?P<not>not\s)?(?:all?ergic"
    rf"|intolerant)\sto\s){PHRASE}(?=\s(?i:so|but|because|since|which|that|though|as|when|now)\b"
    rf"|\s*$)|(?i:\bI\s(?:have|'ve got"
    rf"|got)\s(?:an?\s)?(?:\w+\s)?)(?P<of>[\w ]{{2,25}}?)\s(?i:allergy|intolerance)\b",
)
def _allergy(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"] or match["of"]
    if _JOKED.search(what):
        return
    if match["not"] or VAGUE.match(what) or re.search(r"\bnot\b|n't|\bno longer\b", match[0]):
        return
    yield Fact(label="allergy", value=f"Is allergic to {clean(what)}", clause=clause, confidence=0.9)


_AVOIDED_ALONE = ("drink", "smoke", "drive", "cook", "swim", "fly")
_AVOIDED = ("eat", *_AVOIDED_ALONE)
_LIMIT = re.compile(
    r"\s(?P<when>(?:after|before|unless)\s[^\ue000,.;:!?()]{2,40}?)(?=\s(?:any\s?more|anymore)\b|\W*$)", re.IGNORECASE
)
"""When only one does not: "after noon"."""


@_rule(
    "dont not never cant cannot wont",
    rf"(?i:\bI\s{ADV}(?P<verb>don't|do not|never|can't|cannot|won't)\s(?P<act>eat|drink|smoke|drive"
    rf"|cook|swim|fly|have|touch)\b)(?P<what>[^\ue000,.;:!?()]{{0,40}}?)(?=\s(?i:so|but|because"
    rf"|since|either|as|though|unless|after|before|at all|anymore|any more)\b|\s*$)",
)
def _avoids(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    act, what = match["act"].lower(), clean(match["what"])
    if len(what.split()) > 4:
        what = what.split(" and ")[0]
    limit = _LIMIT.match(clause.text, match.end())
    if (
        VAGUE.match(what)
        or act in ("have", "touch")
        or len(what.split()) > 5
        or re.search(r"\b(?:today|tonight|tomorrow|yet|that|this|much|enough|now|to)\b", what)
    ):
        return
    if not what and act not in _AVOIDED_ALONE:
        return
    if limit is not None:
        what = f"{what} {limit['when']}".strip()
    verb = "Cannot" if match["verb"].lower() in ("can't", "cannot") else "Does not"
    yield Fact(
        label="avoids", value=clean(f"{verb} {act} {what or ('alcohol' if act == 'drink' else '')}"), clause=clause
    )


@_rule(
    "cant cannot hate detest loathe dislike dont like love adore prefer enjoy into fan mad crazy obsessed keen about",
    rf"(?i:\bI\s{ADV}(?P<verb>can't stand|cannot stand|can't bear|hate|detest|loathe|dislike"
    rf"|don't like|do not like|love|adore|like|prefer|enjoy|really like|am into"
    rf"|'m into)\s){PHRASE}(?=\s(?i:so|but|because|since|either|though|which|who|when|if|it|as"
    rf"|and\s(?:I|it|my))\b|\s*$)|(?i:\bI'm\s(?:a\s(?:big|huge|massive|lifelong)\sfan\sof"
    rf"|really into|into|mad about|crazy about|obsessed with|not (?:a fan of|keen on"
    rf"|into))\s)(?P<fan>[^\ue000,.;:!?()]{{2,50}}?)(?=\s(?i:so|but|because|since|which|and\sI)\b"
    rf"|\s*$)|(?i:^I\sam\sall\sabout\s)(?P<about>\w+)",
)
def _likes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = clean(match["what"] or match["fan"] or match["about"] or "")
    what = re.sub(
        r"^(?:also|just|really|to just)\s|\s(?:any\s?more|any longer|these days|now|too|though|either|as well|a lot|so much|as always|lol)$"
        r"|\s(?:and|or)\s\w+ing$",
        "",
        what,
        flags=re.IGNORECASE,
    )
    if not LEAD_ONLY.match(clause.text[: match.start()]) or POINTS.search(what):
        return
    if (
        VAGUE.match(what)
        or len(what) < 3
        or re.match(
            r"(?i:to\s(?:ask|know|book|see|have|get|order|go|hear|thank|do|make|add|change|check|buy|add"
            r"|start|try|talk|say|point))",
            what,
        )
    ):
        return
    lead = clause.text[: match.start()].lower()
    if re.search(r"\b(?:would|'d|do|does|did)\s*$", lead):
        return
    if re.search(r"(?i:\b(?:would|I'd)\s)", match[0]):
        return
    verb = (match["verb"] or "").lower()
    if not verb:
        verb = "dislike" if "not " in match[0].lower() else "like"
    shown = (
        "Dislikes"
        if verb
        in (
            "can't stand",
            "cannot stand",
            "can't bear",
            "hate",
            "detest",
            "loathe",
            "dislike",
            "don't like",
            "do not like",
        )
        else "Prefers"
        if verb == "prefer"
        else "Loves"
        if verb in ("love", "adore")
        else "Likes"
    )
    yield Fact(
        label="dislike" if shown == "Dislikes" else "preference",
        value=f"{shown} {_MY.sub('their', what)}",
        clause=clause,
        confidence=0.8,
    )


_STILL = re.compile(r"^(?:now|still)\s|\s(?:now|these days|nowadays|at the moment)$", re.IGNORECASE)


@_rule(
    "favourite favorite",
    r"(?i:\bmy\s(?:all[- ]time\s)?favou?rite\s(?P<thing>[\w ]{2,30}?)(?:\s(?:is|are|has to be"
    r"|has always been)|'s)\s)(?P<what>[^\ue000,.;:!?()]{2,50}?)(?=\s(?i:so|but|because|since"
    r"|and\s(?:I|my))\b|\s*$)",
)
def _favourite(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    thing, what = clean(match["thing"]).lower(), _STILL.sub("", clean(match["what"]))
    if (
        re.match(r"(?:no longer|not)\b", what)
        or re.match(r"(?:one|part|thing|time|way|ones|moment|memory)\b", thing)
        or POINTS.search(what)
    ):
        return
    yield Fact(
        label=f"favourite {thing}",
        value=f"Favourite {thing}: {what}",
        clause=clause,
        slot=f"favourite.{thing.replace(' ', '_')}",
    )


@_rule(
    "always usually normally generally mostly typically never only",
    r"(?i:^(?:and\s|but\s|so\s)?I\s(?P<how>always|usually|normally|generally|mostly|typically"
    r"|never|only(?=\s(?:eat|drink|run|ride|wear|use|read|fly|travel|work|buy|cook|shop|cycle|swim|listen|take|sleep|write|shower)\b))\s(?P<act>(?!thought|said|knew|wanted|wondered|forget|forgot|find|found|feel|felt"
    r"|mean|remember|liked|had|was|been|loved|get the|seem|hear|heard|saw|went|got|did|tell|say"
    r"|know)[a-z]+(?!ed\b)(?:\s[^\ue000,.;:!?()]{2,60})?)$)",
)
def _habit(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    act = clean(match["act"])
    verb, _, rest = act.partition(" ")
    if not rest or verb.endswith("ed") or VAGUE.match(rest) or POINTS.search(rest):
        return
    how = match["how"].lower()
    if how == "never" and verb.lower() in _AVOIDED and len(rest.split()) <= 4:
        return  # told as what is avoided
    yield Fact(
        label="habit", value=f"{how.capitalize()} {verb_s(verb).lower()} {their(rest)}", clause=clause, confidence=0.75
    )


@_rule(
    "switched moved migrated changed",
    r"(?i:\b(?:I|we)(?:'ve|\shave|'m|\sam)?\s(?:just\s|recently\s|finally\s|now\s)?(?:switched"
    r"|moved|migrated|changed)\s(?:from\s(?P<old>[^\ue000,.;:!?()]{2,30}?)\s)?(?:over\s)?to\s)"
    r"(?P<new>(?!the\s(?:next|other)|a\snew\b|my\b)[^\ue000,.;:!?()]{2,40}?)(?=\s(?i:so|but"
    r"|because|since|last|this|for|in|on|yesterday|and|after|at|now)\b|\s*$)",
)
def _switched(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    verb = re.search(r"switched|migrated|changed|moved", match[0], re.IGNORECASE)
    if verb and verb[0].lower() == "moved" and not match["old"]:
        return
    if verb and verb[0].lower() == "moved" and match["new"][0].isupper():
        return
    old = f" (before: {clean(match['old'])})" if match["old"] else ""
    slot = f"uses.{clean(match['old']).lower()}" if match["old"] else ""
    yield Fact(
        label="uses", value=f"Uses {clean(match['new'])}{old}", clause=clause, slot=slot, starts=True, confidence=0.75
    )


_DOSE = re.compile(r"\d+\s?mg\s(?:of\s)?(?P<drug>[a-z]+)|(?P<drug2>[a-z]+),?\s\d+\s?mg")


@_rule(
    "on take taking",
    r"(?i:\b(?:I'm|I\sam|I)\s(?:also\s|now\s|still\s)?(?:on|taking|take)\s)(?P<what>(?:(?:\d+\s?mg\s(?:of\s)?)?[a-z]{4,}(?:ol|in|ine|ide|one|pril|tan|mab|zole|pam"
    r"|ate|cin|xone|ium)\b(?:,?\s\d+\s?mg)?)(?:\sand\s(?:a\s)?[a-z ]{4,30})?)(?=$|\s(?:for|every|once|twice|with|at|in|daily|now|since)\b)",
)
def _medicine(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if not re.match(
        r"(?i:\w*(?:train|plane|line|phone|routine|wine|caffeine|machine|magazine|cabin|everyone|someone|one|date|gone|certain|main|rain|skin|again"
        r"|captain|holiday|medicine|mine|nine|fine|time|plate|late|side|ride|guide|protein|vitamin|online|offline|cocaine|basin)\b)",
        match["what"],
    ):
        what = clean(match["what"])
        dose = _DOSE.fullmatch(what)
        slot = f"dose.{dose['drug'] or dose['drug2']}" if dose else ""
        yield Fact(label="health", value=f"Takes {what}", clause=clause, slot=slot, confidence=0.75)


@_rule(
    "drums bass guitar vocals keys keyboards sax trumpet violin cello piano",
    r"(?i:\b(?:I'm|I\sam)\son\s(?P<what>drums|bass|(?:lead |rhythm )?guitar|vocals|keys|keyboards|sax|trumpet|violin|cello|piano)\b)",
)
def _instrument(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="hobby", value=f"Plays {match['what'].lower()}", clause=clause, confidence=0.75)


@_rule("drive ride", rf"(?i:\bI\s(?:drive|ride)\s(?:an?\s))(?P<what>[^\ue000,.;:!?()]{{2,35}}?){STOP}")
def _drives(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="vehicle", value=f"Drives a {clean(match['what'])}", clause=clause, slot="vehicle")


@_rule(
    "took taken play taking practise practice collect learning training",
    rf"(?i:\bI(?:'ve|\shave|'m)?\s(?:just\s|recently\s)?(?P<verb>took up|taken up|play|taking up"
    rf"|practise|practice|collect|started learning|am learning|'m learning|learning|training for"
    rf"|'m training for)\s(?:to\splay\s)?(?:the\s)?)(?P<what>[^\ue000,.;:!?()]{{3,35}}?){STOP}",
)
def _hobby(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what, verb = clean(match["what"]), match["verb"].lower()
    if re.match(
        r"(?:with|in|at|on|for|along|regularly|often|there|together|games?|a game|some|around"
        r"|a (?:role|part|big)|how|to)\b",
        what,
        re.IGNORECASE,
    ) or POINTS.search(what):
        return
    if VAGUE.match(what) or re.match(rf"{LANGUAGES}\Z", what):
        return
    shown = {"collect": "Collects", "play": "Plays", "training for": "Trains for", "'m training for": "Trains for"}.get(
        verb, "Learns" if "learn" in verb else "Took up" if "t" in verb[:2] else "Practises"
    )
    yield Fact(label="hobby", value=f"{shown} {what}", clause=clause, confidence=0.75)
