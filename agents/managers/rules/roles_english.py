"""What a person is besides their work, in English: of a diet, a family, a belief, a nation, a hobby, a temper.

"I'm a nurse" and "I'm a pescatarian" have one form, and English says "-ist", "-ian" and "-er" of all of them.
"""

from __future__ import annotations

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .english_grammar import JOB_END, NATIONS
from .words import CHILDREN, KIN, PARTNERS, any_of

__all__ = ["BELIEF", "FAMILY_ROLE", "is_occupation"]

_KIN = any_of((KIN & PARTNERS - {"partner"}) | (KIN & CHILDREN) | word_set(
    "mother mum mom mam mama father dad papa parent brother sister twin sibling uncle aunt auntie cousin nephew niece"
    " gran granny nan grandma grandpa grandad granddad bride groom"
))  # fmt: skip
FAMILY_ROLE = (
    rf"(?:(?:great[- ])?(?:grand|step|god|foster[- ]|half[- ]|birth[- ]|adoptive\s)?(?:{_KIN}|parent|child|son"
    rf"|daughter)(?:[- ]in[- ]law|[- ]to[- ]be)?"
    r"|only child|middle child|widow(?:er)?|orphan|newlywed|divorcee|bachelor|spinster)"
)
"""A place in a family, without what belongs to a job ("foster carer", "mother's help")."""
BELIEF = (
    r"(?:buddhist|christian|muslim|hindu|jew|sikh|jain|taoist|daoist|shintoist|confucian|catholic|protestant|anglican"
    r"|lutheran|calvinist|methodist"
    r"|baptist|presbyterian|pentecostalist|evangelical|adventist|quaker|mormon|unitarian|episcopalian|zoroastrian|pagan"
    r"|wiccan|atheist|theist|deist"
    r"|agnostic|secularist|humanist|believer|convert|churchgoer|feminist|pacifist|socialist|communist|marxist|anarchist"
    r"|capitalist|libertarian"
    r"|liberal|conservative|republican|democrat|monarchist|royalist|nationalist|environmentalist|stoic|existentialist|nihilist|materialist)"
)
"""What a person believes, in small letters."""
_DIET = (
    r"(?:\w+tarian|\w*vegan|(?:tee|non-?)\w*total(?:l?er)?"
    r"|(?:non-?)?(?:drinker|smoker|eater|vaper)|omnivore|carnivore|coeliac|celiac|diabetic)"
)
_JOBS_TARIAN = re.compile(r"(?:sani|parliamen|humani)tarian\Z", re.IGNORECASE)
_STATE = word_set(
    "beginner customer member lover owner sleeper starter winner loser supporter user reader runner swimmer walker fighter monster stranger"
    " foreigner newcomer commuter homeowner person man woman human gentleman pedestrian bit fan riser morning owl better worse former other"
    " number matter longer older younger never ever water paper summer winter dinner hater goner sucker perfectionist pessimist optimist"
    " introvert extrovert ambivert patient teenager youngster adolescent infant immigrant migrant emigrant expatriate settler islander"
    " northerner southerner easterner westerner outsider insider local tenant lodger boarder renter voter elector taxpayer passenger"
    " survivor donor recipient applicant participant claimant defendant respondent debtor creditor descendant ancestor finalist entrant"
    " contestant competitor contender gamer golfer skier surfer jogger hiker climber rower camper caravanner knitter cyclist"
    " motorist biker angler birdwatcher birder hobbyist hoarder worrier overthinker thinker dreamer learner listener spender saver"
    " traveller traveler backpacker tourist visitor holidaymaker shopper talker joker giver quitter procrastinator"
    " minimalist maximalist idealist"
    " realist cynic egoist egotist narcissist masochist romanticist nudist naturist stutterer stammerer insomniac"
    " hypochondriac arachnophobe"
    " sufferer addict alcoholic aquarian sagittarian capricorn gemini virgo libra scorpio aries taurus leo pisces cancer"
    " left-hander right-hander lefthander righthander twitcher grown-up adult latecomer follower admirer"
    " subscriber beneficiary teammate housemate flatmate roommate neighbour neighbor friend"
)
_OF_HOBBY = re.compile(
    r"^(?:very\s|really\s|fairly\s|rather\s|such\s|an?\s)*(?:keen|avid|amateur|hobby|passionate|enthusiastic|recreational"
    r"|aspiring|wannabe|budding"
    r"|good|great|terrible|decent|lousy|hopeless|bad|better|worse|quick|slow|light|heavy|deep|fast|picky|fussy|lifelong"
    r"|recovering|devout|lapsed"
    r"|born-again|staunch|big|huge|total|complete|real|same|such|first-time|nervous|cautious|careful|weekend|competitive"
    r"|serial|chronic|secret|frequent)\s",
    re.IGNORECASE,
)
"""What is said of a hobby or a temper, and seldom of work: "a keen gardener", "a heavy sleeper", "a good cook"."""
_NO_TRADE = re.compile(
    r"\b(?:(?:student|learner) (?:driver|rider)|(?:permanent|legal|temporary) resident)\Z", re.IGNORECASE
)
_DEMONYM = re.compile(
    r"(?:[A-Z]\w+(?:er|ian|an|man|woman)|New\s(?:Yorker|Zealander)|[A-Z]\w+\s(?:American|Canadian|African|Islander|Australian))\Z"
)
_JOB_STEM = re.compile(
    r"(?:ician|librarian|veterinarian|historian|guardian|custodian|comedian|each|engine|manag|offic|design|develop|driv|work"
    r"|writ|law|train|bak|butch|plumb"
    r"|carpent|farm|garden|paint|photograph|programm|research|lectur|produc|sing|danc|bank|brok|clean|build|weld|min|dress"
    r"|barb|pott|weav|report|publish"
    r"|plann|buy|trad|deal|keep|mak|fight|car|wait|advis|interpret|examin|lead|own|found|treasur|minist|soldi|preach|test"
    r"|organis|organiz|consult|steward"
    r"|chair|bar|post|fire|police|crafts|sales|fore|draughts|camera|fisher|milk|trades|repair|handy)(?:er|ian|man|woman)?\Z",
    re.IGNORECASE,
)
_STUDENTS = word_set("student pensioner housewife househusband freelancer homemaker")
_AT_HOME = re.compile(
    r"(?:phd |medical |law |exchange )?student|stay-at-home (?:mum|mom|dad|mother|father|parent)", re.IGNORECASE
)
_OTHER_ROLE = re.compile(rf"(?:.*[\s-])?(?:{FAMILY_ROLE}|{BELIEF}|{_DIET})\Z", re.IGNORECASE)


def is_occupation(job: str) -> bool:
    """Whether what somebody says they are is their work: "a nurse", not "a pescatarian", "an uncle" or "a Londoner".

    Args:
        job: the noun with what stands before it, without its article.
    """
    words = job.split()
    if not words:
        return False
    last = words[-1]
    if last.casefold() in _STUDENTS or _AT_HOME.fullmatch(job):
        return True
    if not JOB_END.search(job) or last.casefold() in _STATE or _NO_TRADE.search(job) or NATIONS.match(job):
        return False
    if _OTHER_ROLE.match(job) and not _JOBS_TARIAN.search(job):
        return False
    if _OF_HOBBY.match(job):
        return False
    return not (_DEMONYM.match(job) and not job.isupper() and not _JOB_STEM.search(job))
