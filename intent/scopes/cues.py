"""Cues of a change of goal: which enumerated goal a text sets rather than mentions, what it returns to, what it offers.

A mention is a switch by where it stands and what leads to it: "Now for day 3" and "Day 3: what is open?" set a goal;
"we need to save energy for day 3", "like on day 1" and a list of all days do not. The scores are sums of such signs;
:data:`SWITCH` is what a person's words must reach.
"""

from __future__ import annotations

from dataclasses import dataclass

from ... import lazy_re as re
from .numbers import Goal, find_goals
from .text import Words

__all__ = ["SWITCH", "Cues", "read_cues"]

SWITCH = 2.0
"""The score from which a mention counts as a switch, in the words of a person; an answer needs one point more."""

_HEAD = 700  # characters in which a switch is looked for: further on, goals are mentioned

_SENTENCE = re.compile(r"(?:[.!?;…](?=[\s”\"')]|$)|\n|[。！？；]|: (?=[a-z]))[”\"')]*\s*")
_NOUNS = (
    "itinerary|plan|plans|schedule|agenda|programme|program|details|rest|remainder|start|beginning|end|morning|"
    "afternoon|"
    "evening|night|dinner|lunch|breakfast|brunch|hotel|topic|subject|matter|question|issue|discussion|budget"
)
_DETERMINERS = re.compile(
    rf"(?:(?:\b(?:the|our|my|your|his|her|their|its|that|this|actual)\s+)|"
    rf"(?:\b(?:the|our|my|your)\s+)?\b(?:{_NOUNS})\s+(?:of|for|on|in|from)\s+(?:the\s+|our\s+|my\s+)?)+$"
)
_FILL = (
    r"(?:ok(?:ay)?|so|and|but|well|right|alright|all right|great|good|fine|perfect|lovely|super|cool|thanks|"
    r"thank you|noted|"
    r"now|then|next(?: up)?(?: is| comes|'s)?|first(?: of all)?|also|oh|ah|hmm+|um+|sorry|actually|wait|anyway|"
    r"anyhow|yes|yep|sure|please|hi|"
    r"hello|hey|great stuff|got it|done|excellent|wonderful|brilliant|nice|just|finally|lastly|hold on|"
    r"one moment|again|"
    r"quick(?:ly)?|before i forget|by the way|btw|there|everyone|team|all|both|let me see|let's see|what's left|"
    r"moving on|ugh+|argh+|phew|whoa|woah|yikes|oof|meh|k|kk|alrighty|yo|ha(?:ha)*|lol|guys|folks|man|dude|damn|oops|whoops)"
)
_FILLER = re.compile(rf"^(?:\W*\b{_FILL}\b\W*)+|^\W+")
_STRONG_END = re.compile(
    r"(?:\b(?:(?:mov|go|switch|jump|skip|turn|return|com|shift|head|pivot|proceed|circl|get|revert|advanc|hop|"
    r"flip|dive|divin|"
    r"transition|pass|progress|continu|onto|back)(?:e|es|ing|ping|ting|ning|ding|ching)?\s+(?:it\s+|us\s+|me\s+|"
    r"now\s+|straight\s+|right\s+)?"
    r"(?:back|on|over|ahead|along|forward|now|straight|round|around|away)?\s*(?:on\s)?(?:with\s+)?(?:in)?(?:to|"
    r"with|into|onto))"
    r"|\b(?:switch|set|change|shift|move|reset|turn|bring)(?:ing)? (?:(?:us|it|me|back|over|(?:the |our |"
    r"my )?(?:current |active |planning )?(?:day|focus|attention|"
    r"planning|itinerary|topic|conversation|context|view|scope|goal|task)) )*(?:back |over |now )*to"
    r"|\b(?:back (?:to|on|with|in)|on ?to|over to|as for|as to|regarding|concerning|with regard to|"
    r"with respect to|re:?|what about|how about|"
    r"now for|next(?: up)?(?: is)?|(?:thing|word|question|questions|point|note|check|look|change|update|tweak|"
    r"detail|details|thoughts|"
    r"follow-up|ideas?) (?:about|on|for|to|at)|about|turning to|(?:start|starting|begin|beginning|kick off|"
    r"kicking off|open|"
    r"opening) (?:with|on|from|by)|that (?:brings|takes|leads) us to|leaves(?: us)?(?: with)?|working on|"
    r"focus(?:ing)? on|work on|look at|talk about|"
    r"discuss|cover|tackle|plan|planning|revisit|rework|redo|rethink|reconsider|finali[sz]e|outline|"
    r"sketch(?: out)?|map out|"
    r"organi[sz]e|arrange|sort out|fill in|flesh out|do|build|draft|address|review|see about|think about|set up|"
    r"start|begin|prepare|schedule|resume|continue|reopen|pick up|bring up|pull up|call up|"
    r"(?:go|talk|run|walk) (?:(?:me|us) )?(?:over|through)|set|argue|defend|rebut|attack|consider|"
    r"examine|adjust|"
    r"change|update|edit|amend|modify|complete|finish|handle|take|remaining is|left is|missing is))\W*$"
)
_STRONG_ANY = re.compile(
    r"\b(?:let'?s|let us|can we|could we|shall we|should we|can you|could you|would you|please|i'd like to|"
    r"i would like to|"
    r"we'd like to|i want to|we want to|what|where|which|when|who|how|any|is there|are there|back to|regarding|as for|"
    r"show me|give me|haven't|time for|choose|pick|select|decide on|go with|confirm|reserve|propose|compare|"
    r"suggest|recommend|ideas|need|book|"
    r"add|include|put|find|looking for|going back|now|help)\b"
)
_NEGATIVE = re.compile(
    r"(?:(?:(?<!'d )(?<!’d )(?<!would )\blike|\b(?:unlike|than|same as|similar to|as with|as on|as in|since|"
    r"until|till|til|before|after|versus|vs\.?|by|"
    r"between|instead of|from|because of|thanks to|due to|besides|despite|given|without|not|except|through|during|"
    r"ahead of|prior to|following|around|also|already|both|either|each|other than|apart from|compared (?:to|with)|"
    r"(?:close|closer|closest|nearer|nearest|next|far|walk|distance) (?:to|from)|near))(?: on| in| for| with)?"
    r"|(?<!'d )(?<!’d )(?<!would )\b(?:like|as|than|same|similar|unlike|again|also|already|until|before|since|"
    r"because|unless|whereas|while|ready|energy|rest up|"
    r"wake up|rested|tired|fresh)\b[^,;:]{0,30}\b(?:on|for|in|to|from|at|of)"
    r"|\b(?:sav(?:e|ing)|keep|keeping|leav(?:e|ing)|reserv(?:e|ing)|spar(?:e|ing)|postpon\w+|defer\w*|"
    r"push(?:ing)?|shift(?:ing)?|swap\w*|mov(?:e|ing|ed)|"
    r"put(?:ting)?|delay\w*|hold|clash\w*|conflict\w*|overlap\w*|interfer\w*|repeat\w*|planned|booked|chose|"
    r"picked|decided|had|did|saw|went|mentioned|"
    r"visited|discussed|agreed|scheduled|reserved|settled)\b[^.;:]{1,70}\b(?:for|to|on|until|till|into|in|with|"
    r"of|from))\W*$"
)
_WEAK_HEAD = re.compile(r"^(?:for|on|in|about|to|at|during)\W*$")
_AFTER_COMMA = re.compile(r",\s+(?:on|for|in|of)\s+$")
_WEAK_END = re.compile(r"\b(?:on|for|in|of|about|to|at|during|into)\W*$")
_REMOVE_FROM = re.compile(r"\b(?:remove|drop|delete|cancel|cut|take)\b[^.;]{1,50}\bfrom\W*$")
_LIKENED = re.compile(
    r"\b(?:near|close|closer|far|further|walk) (?:to|from|where)\b|\bnear\b|\bwhere we (?:eat|stay|are|have|go)\b|"
    r"\bthe ones?\b|\bcompare[sd]? (?:to|with)\b|\bcheaper\b|\bclash|\boverlap|"
    r"\b(?:keep|keeping|leave|leaving)\s+$"
)
_SUBORDINATE = re.compile(
    r"\b(?:since|because|so that|if|when|although|though|as|unless|that|which|"
    r"so(?!,? (?:let|can|could|shall|please|now|how|what|where|maybe|perhaps|i['’]d|we['’]d)\b))\b[^,;:]*$"
)
_DONE = re.compile(
    r"^[\W]*(?:itinerary|plan|schedule|part|then)?\W*(?:is|are|looks?|sounds?|seems?|was|were|will be|would be|"
    r"has been|feels?|'s|’s|’ll be|'ll be)\s+(?:now|all|already|going to be|quite|pretty|very|so|"
    r"just|really|already|a bit|rather|too|basically|mostly|fully|completely)*\s*(?:done|settled|full|busy|packed|"
    r"exhausting|tiring|long|"
    r"early|set|fixed|booked|sorted|finished|complete|completed|covered|good|great|fine|perfect|lovely|over|"
    r"ready|heavy|intense|planned|closed|"
    r"merged|shipped|tight|hectic|fun|amazing|expensive|cheap|already)\b"
)
_PUT_OFF = re.compile(
    r"\W*(?:can wait|could wait|(?:we|i)(?:['’]ll| will| can)? (?:leave|do|plan|see) (?:for )?later|later\b|aside\b|for now\b)|"
    r"(?:先|暂时)(?:放|搁|不)|回头再|以后再|待会|稍后|晚点再"
)
_DONE_BEFORE = re.compile(
    r"\b(?:done with|finished|happy with|settled|wrapped up|that's|that is|that was|completes|concludes|covers|"
    r"wraps up|so much for|enough of|that does it for)\W*(?:for|with)?\W*$"
)
_REQUEST = re.compile(
    r"\?|^\W*(?:please|book|add|plan|find|show|give|suggest|recommend|put|include|help|pick|choose|tell|list|"
    r"compare|draft|write)\b"
    r"|\b(?:i'?d (?:like|love|rather|prefer)|we'?d (?:like|love|rather|prefer)|i want|we want|i need|we need|"
    r"can you|could you|please|let'?s|"
    r"would like|i think we|we should|we could|what else)\b"
    r"|？|吗|呢|请|帮|想|安排|怎么|什么|推荐|吧"
)
_ANAPHORA = re.compile(
    r"^(?:\W*\b(?:yes|yeah|yep|no|nope|ok|okay|sure|great|perfect|good|fine|thanks|thank you|the (?:first|"
    r"second|third|former|latter|other|"
    r"last) (?:one|option|place)|that one|this one|it|that|this|those|these|they|he|she|both|neither|either|"
    r"sounds|agreed|exactly|"
    r"done|noted|go with|let's go with|let's take|i'll take|we'll take|book it|perfect|lovely|brilliant|deal|and)\b)"
)
_RESUME = re.compile(
    r"(?:^|[.!?,;–—-] *|\b(?:and|but|so|ok|oh|sorry|also|wait|hmm+|right)[, ]+)(?:(?:quick|one|another|small|"
    r"last|final|tiny|timing|a)?\s*"
    r"(?:quick |more |small |last |final )*(?:check|question|thing|point|note|word|update|detail|hole|gap|"
    r"correction|change)\w*\b"
    r"(?: (?:about|on|regarding|for|i see|with|to|concerning))?|back to|back on|coming back to|going back to|"
    r"returning to|return to|as for|regarding|"
    r"concerning|speaking of|on the subject of|with regard to|to come back to|revisiting|circling back to|re:|"
    r"let's revisit|"
    r"let'?s (?:go|get|come|return|circle|turn|switch|jump) (?:back )?to|can we (?:go|get|come|return) back to|"
    r"before i forget|"
    r"by the way|btw|switching (?:back )?to|moving (?:back )?(?:on )?to|i (?:just )?(?:saw|heard|read|noticed|"
    r"checked|realised|realized)|"
    r"(?:my|our) \w+ (?:just )?(?:wrote|called|said|told|asked))\W*|^\W*(?:hmm+\W+|oh\W+|and\W+|ah\W+|"
    r"wait\W+)?that \w+ (?:place|restaurant|hotel|tour|bar|caf[eé]|museum|thing)\b|^对了|那边"
)
_REPEAT = re.compile(
    r"\b(?:again|same|like|similar|unlike|as (?:on|in|with)|instead|mentioned|hinted|earlier|already|before|"
    r"already|compared|than|another|"
    r"repeat\w*|back from|too)\b|一样|像|之前|再去"
)
_THE = r"(?:the |our |my |your |that |this |those |these )?"
_TARGET = re.compile(
    r"\b(?:back to|coming back to|going back to|returning to|return to|revisit(?:ing)?|circling back to|as for|"
    r"regarding|concerning|speaking of|"
    rf"(?:quick |one more |another |one )?(?:question|thing|word|note|update|point|check) (?:about|on|regarding|"
    rf"for|from))\s+{_THE}(?P<back>[^.,;:?!\n–—]{{2,60}})"
    r"|\b(?:switch(?:ing)?(?: back| over)? to|moving (?:back |on |over )?to|move (?:back |on |over )to|"
    r"turn(?:ing)?(?: back)? to|now for|"
    r"jump(?:ing)?(?: back)? to|next topic:?|next up:?|next item:?|over to|pivot(?:ing)? to|start(?:ing)? with|"
    r"first up:?|"
    rf"let'?s (?:talk about|discuss|tackle|get to|turn to|work on|move on to|switch to|"
    rf"start with))\s+{_THE}(?P<turn>[^.,;:?!\n–—]{{2,60}})"
    r"|^(?:(?:ok|okay|so|and|right|now|good morning|morning|meanwhile|"
    r"over)\W+)?on the (?P<side>[\w' -]{2,30}?) (?:side|front)\b|^(?:(?:ok|okay|so|and|right|now|good morning|"
    r"morning)\W+)?(?P<header>[a-z][\w'-]{2,20}(?: [a-z][\w'-]{2,20})?):\s(?=\S+ \S+)"
    r"|(?:回到|关于|至于|说到|说回|再说说|再看看)(?P<cnback>[^。，,！？?!；\n]{2,20})|(?:换到|转到|聊聊|接下来说说?|"
    r"接下来看看?)(?P<cnturn>[^。，,！？?!；\n]{2,20})"
)
_NO_HEADERS = re.compile(
    r"\b(?:update|question|questions|note|ps|edit|fyi|reminder|morning|news|plan|problem|done|idea|ideas|first|"
    r"second|today|summary|agenda|answer|"
    r"yes|no|ok|options|option|result|results|status|quick|warning|tip|example|context|http|https|subject|hello|"
    r"hi|thanks|one|two|three|"
    r"swapped|updated|changed|moved|noted|booked|confirmed|added|contention|claim|motion|topic|thing|things|"
    r"full|breaking|spoiler|here|this|that)\b"
)
_ENDS = re.compile(r"[.!?](?=\s)|[。！？]")
_OFFER = re.compile(
    r"\b(?:shall we|should we|would you like|do you want|want me to|ready to|let'?s|next|move on|start|now)\b|"
    r"接下来|要不要|需要"
)
_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|sure|ok(?:ay)?|please|go ahead|sounds good|let'?s|great|perfect|absolutely|"
    r"definitely|of course|do it|"
    r"好|可以|行|嗯|是的|没问题)"
)
_SHIFT = re.compile(
    r"\b(?:by the way|btw|anyway|anyways|on another note|on a different note|changing the subject|"
    r"change of (?:subject|topic)|"
    r"different topic|new topic|another topic|unrelated|completely different|separately|next topic|next item|"
    r"switching gears|"
    r"something else entirely|before i forget|speaking of|oh,? (?:and|also))\b|对了|话说|另外|换个话题|顺便"
)
_THING = (
    r"(?:thing|topic|bit|one|point|question|matter|subject|part|item|thread|conversation|discussion|story|issue|business|"
    r"task|argument|exchange|dispute|debate|strand|line|talk|stuff|step)"
)
_RETURN = re.compile(
    rf"\b(?:previous|earlier|prior|former|preceding|unfinished|interrupted) {_THING}\b|"
    rf"(?<!one )(?<!a )(?<!two )\blast (?:thing|topic|point|subject|matter|bit|"
    r"thread|strand)\b(?! (?:to|we need|i need|for))"
    r"|\bwhat (?:i|we) (?:meant|wanted|was going|were going|was about|were about|was|were)\b[^.?!]{0,16}\b(?:say\w*|said|doing|discuss\w*|"
    r"talking|on about|add|ask)\b|\bas (?:i|we) (?:was|were) saying\b"
    r"|\b(?:left|leave|put) (?:it |that |this |us )?(?:lying|hanging|open|unfinished|aside|a moment ago|earlier|just now|behind us)\b|"
    r"\bleft (?:it |that |this |us )?off\b"
    r"|\bwhere (?:was i|were we|i was|we were|i left|we left|i stopped|we stopped|we broke)\b(?! (?:\w+ing|supposed|to)\b)"
    r"|\binterrupt(?:ed|ion|ing)\b|\bdigress\w*|\bsidetrack\w*|\bgot distracted\b|\bdetour\b(?= over| aside|,)"
    r"|\b(?:one|a|two) steps? back\b|\brewind\b|\bback up a (?:bit|little)\b|\bback-?track\w*"
    r"|\b(?:let me|let's|let us|i(?:'m|'ve|'ll| have| will| am|'d like to)?|we(?:'re|'ve|'ll)?|to|sorry for) (?:just )?"
    r"(?:jump|gone|go|going|went|skip|hop|step|scroll|head|circle|loop|double|switch|com|turn|mov|slip)(?:e|p?ed|p?ing)? back"
    r"(?= to (?:it|that|this|what|where|before|the "
    r"(?:last|previous|earlier|other|former|thing|one|topic|point))\b|\W*(?:$|[,.;:!–—-]|sorry|a (?:bit|little|moment|step)))"
    r"|\bpick(?:ing)? (?:it|this|that|things|up|the thread)\b[^.?!]{0,24}\b(?:again|thread|before|earlier|left)\b"
    r"|\b(?:to|me|us|let's|i|we|now|i'll|we'll) resume\b(?! at)|^\W*resum(?:e|ing)\b"
    r"|\bback to (?:it\b|that\b(?! \w+ (?:place|hotel|bar|one))|where we were|what we were|business|our plan|before\b|just now)"
    r"|\b(?:thread|conversation|talk) (?:from )?before\b"
    r"|\bwhat we left\b|\b(?:hadn't|haven't|hasn't|not) (?:quite |yet )?finished (?:with|the other|that other|the last)\b|"
    r"\bstill stands\b|\banyway, back|\bback on track\b"
    r"|\b(?:the )?one (?:from|of) (?:before|earlier|a moment ago|just now)\b"
    rf"|\b{_THING} before(?: (?:this|that)\b|\W)|\bwhat (?:we had|came|was|stood) before\b|"
    rf"\b(?:again|more|on|to) (?:the )?(?:former\b(?! \w+ (?:of|for))|what came before)|"
    rf"\bbefore (?:we|i) (?:got|went|were|was|drifted|changed|switched|left|moved|broke|stopped|lost|jumped)\b|"
    rf"\bthat other {_THING}\b|\bnot (?:yet )?(?:done|through) with\b|\bwhat (?:i|we) (?:began|started|broke off)\b|"
    rf"(?:^|sorry,? |and |so )\W*(?:jump|go|switch|hop|turn|com)(?:p)?ing back\b"
    r"(?= to (?:it|that|this|what|the (?:last|previous|earlier|other))|\W*[,.:;])"
    r"|(?:前面|前头|之前|先前|方才|刚刚)(?:那(?:个|件|桩|边|事)|的(?:话题|事情?|那))|接着(?:先前|之前|前面)|"
    r"回到(?:刚才|刚刚|之前|前面|前头|上一|先前|原来)|刚才(?:那|说|的|没)|接(?:着)?(?:上文|上面|前面|刚才|之前)|继续(?:没|刚|之前|上|前)|"
    r"上一(?:件|个话题|个事|桩|段|个问题)|倒回|前一(?:件|个话题|桩)|没(?:说|弄|讲|聊|做|谈)?完的|没(?:说|弄|讲|聊|做|谈)完|搁下的?|"
    r"被?打断|说回(?:来|去|正题)|书归正传|言归正传|岔开|扯远"
)
_CORRECTED = re.compile(r"\b(?:i mean|i meant|make that|or rather|no, sorry|sorry, no)\b|我是说|不对|应该是")
_FURTHER = re.compile(r"^\W*(?:and|what about|how about|oh,? and) (?:the |our |my |that )?[\w'’-]+(?: [\w'’-]+)?\?")
_RETURN_TEXT = """
back before previous earlier prior former preceding unfinished interrupted interruption interrupting interrupt left leave
leaving put where resume resuming resumed rewind step steps digress digressed digressing digression sidetrack sidetracked
distracted detour pick picking track still finished done through other began started last backtrack backtracking say
saying said talking discussing doing ask add came
"""
_RETURN_WORDS = frozenset(_RETURN_TEXT.split())
"""Without one of these nothing returns: most texts need no closer look."""
_CN_STRONG = re.compile(
    r"(?:回到|关于|至于|说说|说到|说回|看看|看|聊聊|聊|谈谈|安排|规划|计划|换到|转到|开始|进入|讨论|接下来|接着|然后|现在|那么|那|再说|先定|先排|先说|"
    r"先|到了|轮到|继续|调整|修改|放在|再来|来|排|定|改)(?:一下|下|一个)?(?:是|我们|咱们|的)?[\s,，:：]*$"
)
_CN_WHOSE = re.compile(r"[\u4e00-\u9fff]{2,4}(?:之行|之旅|旅行|行程)?的$")
_CN_NEGATIVE = re.compile(
    r"(?:(?:像|同|比|除了|从|自从|直到|留到|留给|推到|为了|因为|不像|移到|挪到|放到|等到|之前)[^，。]{0,4}|[跟和到])$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cues:
    """What a text says about its goal.

    Attributes:
        goals: enumerated goals named, each with its score as a switch.
        target: words after "back to", "regarding", "on the … side": what the text turns to; empty if there is none.
        target_form: how: ``back`` to something known, ``turn`` to something perhaps new, the ``side`` of a matter, a
            ``header`` before a colon.
        resume: sets out like a return to something known ("One question about …").
        shift: sets out like a change of subject ("By the way …").
        back: returns to what came before without naming it ("where were we").
        anaphoric: sets out as a continuation ("The second one, please").
        yes: begins with consent.
        question: asks something.
        repeats: likens or refers to something said elsewhere ("that place again").
    """

    goals: tuple[Goal, ...]
    target: str
    target_form: str
    resume: bool
    shift: bool
    back: bool
    anaphoric: bool
    yes: bool
    question: bool
    repeats: bool


def _lead(before: str, goal: Goal) -> float:
    """How the words between the sentence's start and a goal lead to it."""
    if goal.chinese:
        before = _CN_WHOSE.sub("", re.split(r"[，,、：:]", before)[-1])
        if _CN_NEGATIVE.search(before[-8:]) and not before.endswith(
            ("回到", "换到", "转到", "说到", "再到", "跳到", "来到", "轮到")
        ):
            return -3.0
        if _CN_STRONG.search(before[-12:]):
            return 3.0
        return 2.0 if len(before.strip(" ，,")) <= 4 else 0.8
    bare = _DETERMINERS.sub("", before)
    bare = _FILLER.sub("", bare)
    if not bare.strip(" ,.-–—*#\"'“"):
        return 2.2
    tail = bare[-70:]
    if _DONE_BEFORE.search(tail):
        return -1.0
    if _REMOVE_FROM.search(tail):
        return 2.4
    if _LIKENED.search(tail[-28:]):
        return -2.0
    if _STRONG_END.search(tail):
        return 3.0 if not _SUBORDINATE.search(tail) or len(bare) < 30 else 1.5
    if _NEGATIVE.search(tail):
        return -3.0
    if _WEAK_HEAD.search(bare):
        return 2.4
    if bare.endswith(", "):
        return 1.2
    if _AFTER_COMMA.search(tail):
        return 1.7
    asked = _STRONG_ANY.search(tail) is not None
    if _WEAK_END.search(tail) or len(before) - len(bare) > 9:
        return 2.0 if asked else 0.6
    if asked and not _SUBORDINATE.search(tail):
        return 1.2
    return 0.0


def judge_goals(words: Words, goals: list[Goal]) -> None:
    """Give each goal its score as a switch."""
    lower = words.lower
    ends = [0]
    for match in _SENTENCE.finditer(lower, 0, _HEAD):
        ends.append(match.end())
        if len(ends) > 12:
            break
    corrected = False
    if len(goals) > 1 and (said := _CORRECTED.search(lower, goals[0].end, min(goals[-1].start, _HEAD))):
        goals[:] = [goal for goal in goals if goal.start >= said.end()]  # "day one – I mean day 2"
        corrected = True
    distinct = len({(goal.kind, goal.number, goal.step) for goal in goals})
    for goal in goals:
        if goal.start >= _HEAD:
            goal.score = -1.0
            continue
        index = 0
        while index + 1 < len(ends) and ends[index + 1] <= goal.start:
            index += 1
        begin = ends[index]
        stop = ends[index + 1] if index + 1 < len(ends) else min(len(lower), _HEAD)
        before, sentence, after = lower[begin : goal.start], lower[begin:stop], lower[goal.end : stop + 1]
        goal.sentence = index
        score = 2.2 if corrected else -2.0 if _PUT_OFF.match(after[:40]) else _lead(before[-120:], goal)
        goal.question = "?" in sentence or "？" in sentence
        if score > 0:
            if _REQUEST.search(sentence):
                score += 0.6
            if distinct == 1:
                score += 0.5
            if after[:3].lstrip().startswith((":", "：", "–", "—", "-", "?")):
                score += 0.8
            if not goal.question and (_DONE.search(after[:60]) or re.match(r"\W*(?:已经|完成|搞定|定了)", after)):
                score -= 2.4
            score -= 0.6 * max(0, index - 1)
            if goal.many:
                score -= 1.5
        goal.score = score


def read_cues(words: Words) -> Cues:
    """Read the cues of a text."""
    goals = find_goals(words)
    if goals:
        judge_goals(words, goals)
    head = words.lower[:_HEAD]
    opening = head[:160]
    target, form = "", "back"
    if match := _TARGET.search(opening):
        form = (match.lastgroup or "back").removeprefix("cn")
        if form != "header" or not _NO_HEADERS.search(match["header"]):
            target = match[match.lastgroup or 0]
    return Cues(
        goals=tuple(goals),
        target=target,
        target_form=form,
        resume=_RESUME.search(opening[:80]) is not None or _FURTHER.search(opening[:48]) is not None,
        shift=_SHIFT.search(opening) is not None,
        back=(words.has_cjk or not words.tokens.isdisjoint(_RETURN_WORDS))
        and _RETURN.search(words.lower[:300]) is not None,
        anaphoric=_ANAPHORA.search(opening[:40]) is not None,
        yes=_YES.search(opening[:30]) is not None,
        question="?" in head or "？" in head,
        repeats=_REPEAT.search(opening) is not None,
    )


def offered(words: Words, goals: tuple[Goal, ...], full: str) -> Goal | None:
    """The goal that an answer offers to go on with in its closing words ("Shall we look at Day 2 next?")."""
    if not goals:
        return None
    last = goals[-1]
    if last.start < len(words.lower) - 160 or len(full) > len(words.text):
        return None
    if _ENDS.search(words.text, last.end, len(words.text.rstrip()) - 1):
        return None  # "Day 2 is your first full day. Shall we begin with breakfast?" offers no day
    sentence = words.lower[max(0, last.start - 80) : last.end + 60]
    return last if not last.many and _OFFER.search(sentence) else None
