"""Where "it" stands for nothing ("it is raining", "it seems that"), for an event, or in an idiom; and where for a thing."""

from __future__ import annotations

from ... import lazy_re as re

__all__ = [
    "CLAUSE_END",
    "EVENT_ED",
    "FEELING",
    "HANDLED_BEFORE",
    "IDIOM_BEFORE",
    "INVERTED",
    "PLEONASTIC_AFTER",
    "SUBJECT_AT_START",
    "SUBJECT_VERB",
]

_BE = (
    r"(?:\s*['’]s|\s*['’]ll be|\s*['’]d be|\s+(?:is|was|will be|would be|has been|might be|may be|must be|can be"
    r"|could be|should be))"
)
_ADVERB = (
    r"(?:\s+(?:not|really|so|very|quite|too|just|always|still|already|also|only|now|all|pretty|rather|almost|about"
    r"|nearly|getting|even|never|actually))*"
)
PLEONASTIC_AFTER = re.compile(
    rf"""^(?:
      {_BE}{_ADVERB}\s+(?:raining|snowing|pouring|hailing|drizzling|freezing|cold|hot|warm|sunny|windy|cloudy|foggy|humid|rainy|chilly|dark|late|early
        |time|noon|midnight|spring|summer|winter|autumn|monday|tuesday|wednesday|thursday|friday|saturday
            |sunday|\d|over|done|settled|true|ok(?:ay)?|fine\ (?:with|by)|alright
        |no\ (?:problem|trouble|wonder|big|use|secret)|my\ (?:pleasure|turn)|me|us|you|worth|up\ to|clear
            |obvious|like|as\ if|what|because|why|how|when|where|who|a\ deal|decided)\b
    | {_BE}\s+(?:moments|times|things|people|days|stuff)\b
    | {_BE}{_ADVERB}\s+(?:an?\s+)?[\w-]+(?:\s+[\w-]+)?\s+(?:that|to|for|of\ you|when|if|how|why|what|who
        |whether|because)\b
    | {_BE}{_ADVERB}\s+[\w-]+\s+(?:seeing|being|having|hearing|meeting|knowing|talking|working|watching
        |getting|doing)\b
    | {_BE}{_ADVERB}\s+(?:great|good|nice|lovely|wonderful|amazing|awesome|fun|incredible|tough|hard|crazy
        |important|possible|likely|funny)\s*(?:[.!,;]|$)
    | (?:\s*['’]s|\s+has)\s+been\s+(?:a\ while|ages|years|months|weeks|so\ long|too\ long|an?\b)
    | \s+(?:seems?|seemed|appears?|appeared|turns?\ out|turned\ out|depends?|depended|happens|happened
        |matters?|mattered|makes?\ (?:me|sense|you|us)|made\ (?:me|sense|you|us)
        |means?|meant|feels?|felt|looks?\ (?:like|as)|looked\ (?:like|as)|sounds?|sounded|hurts|helps|helped
            |rains?|rained|snows?|snowed|says|said|goes|gets|got|remains?|remained
        |hit|struck|occurred|would|could|might|may|must|can|will|should|figures|pays|all|just|really|never
            |['’]?d\b)\b(?!\s+(?:have|has|need|cost|close|open|include|fit|work)\b)
    | \s+(?:does\ not|doesn['’]t|did\ not|didn['’]t|wo?n['’]t|isn['’]t|wasn['’]t|ca?n['’]t)\s+(?:matter|seem
        |appear|hurt|depend|make|help|mean|feel|look|happen|get|take\ long|possible|easy|fair|bad|good|like|rain
        |a|that|going|about)\b
    | (?:\s*['’]ll|\s+will|\s+would)?\s+(?:take|takes|took)\s+(?:\w+\s+){{0,4}}(?:minutes?|hours?|days?
        |weeks?|months?|years?|seconds?|while|time|ages|long|effort|courage|practice)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
IDIOM_BEFORE = re.compile(
    r"(?:\b(?:take|taking|took|make|makes|made|making|got|get|gets|getting|let|call|called|hold|believe|damn"
    r"|forget|face|nail(?:ed)?|lov(?:e|ed|ing)|lik(?:e|ed)|do|does|did"
    r"|doing|done|say|said|know|knew|mention|mentioned|appreciat(?:e|ed)|admit|guess|doubt|hear|heard|find"
    r"|found|think|thought|feel|felt|hope|wish|understand|mean|means"
    r"|worth|for|of|about|like|as|rub|screw|blow|cut|stop|wing|kill(?:ed|ing)?|rock(?:ed|ing)?|live|feels?"
    r"|bring|risk|lose|losing|enough of|to|on|with|at|in|into|up|here|where|this is|that['’]?s|that is"
    r"|how['’]?s|how is|how was|what time is|what day is|if|when|because|since|although|though|whether)\s+)$",
    re.IGNORECASE,
)
# After these "it" is an object that one can handle, whatever the idioms with the same verb.
HANDLED_BEFORE = re.compile(
    r"\b(?:(?:book|reserve|rent|order|buy|bought|cancel|purchase|return|sell|sold|wear|eat|ate|drink|read"
    r"|watch|watched|finish|finished|open|fix|fixed|deploy|merge|review|see|saw|visit|try"
    r"|tried|put|send|sent|write|wrote|paint|painted|use|used|keep|kept|pick|choose|chose|add|added|remove"
    r"|removed|move|moved|show|check|change|changed|swap|drop|skip|pay for|look at|go to"
    r"|going to|been to|stay at|eat at|sign up for|join|attend|start|started|install|update|run|build|built"
    r"|adopt|adopted|recommend|tell me about|tell me more about|give me|bring|brought"
    r"|(?:do|did|does) (?:you|they|he|she) (?:like|love|enjoy|find|get|buy|take|make)|get to|buying|enjoy"
    r"|enjoyed|part of|much is|far is|old is|big is|long is|where is|when is|good is|expensive is"
    r"|is|was|does|did|has|will|can|would|could|are|[a-z]{3,}ed)\s+)$",
    re.IGNORECASE,
)
EVENT_ED = re.compile(
    r"\b(?:loved|liked|nailed|appreciated|mentioned|killed|rocked|lived|needed|wanted|happened|hoped|wished"
    r"|deserved|earned|doubted|guessed)\s+$",
    re.IGNORECASE,
)
INVERTED = re.compile(
    r"(?:^|[.!?,;:]\s*|\b(?:how|what|when|where|why|who|which|and|so|but|ok|okay|or|much|many|time|far|old"
    r"|long|often|day)\s+)(?:is|was|does|did|has|will|can|would|could)\s+$",
    re.IGNORECASE,
)
SUBJECT_AT_START = re.compile(r"(?:^|[.!?;:\n,]\s*|\b(?:and|but|so|then|yes|no|ok|okay)\s+)$", re.IGNORECASE)
SUBJECT_VERB = re.compile(
    r"^(?:\s*['’](?:s|ll|d)|\s+(?:is|was|has|have|had|costs?|opens?|closes?|includes?|comes?|arrives?|starts?"
    r"|ends?|works?|leaves?|serves?|offers?|needs?|fits?|failed|fails|broke|crashed"
    r"|takes|looked|looks|smells?|tastes?|weighs?|runs?|says|belongs?|covers?|contains?|lasts?|does|did|will"
    r"|would|can|could|should))\b",
    re.IGNORECASE,
)
CLAUSE_END = re.compile(
    r"\s*(?:$|[.!?,;:)\n]|(?:for|please|on|at|in|and|instead|then|today|tomorrow|now|too|from|right)\b)", re.IGNORECASE
)
FEELING = re.compile(
    r"(?:\s*['’]s|\s+(?:was|is|has been|must be|will be|would be|felt|feels))\s+(?:(?:so|such|really|very"
    r"|quite|just|a|an|all|definitely|absolutely|truly|always|super|pretty|kinda)\s+)*"
    r"(?:amazing|awesome|great|good|nice|lovely|wonderful|fantastic|incredible|beautiful|powerful|fun|cool"
    r"|special|hard|tough|crazy|exciting|inspiring|peaceful|relaxing|calming|perfect|bad|sad|scary|blast"
    r"|pleasure"
    r"|joy|experience|feeling|moment|time|reminder|sense|chance|way|thing|one of)\b",
    re.IGNORECASE,
)
