"""What the user is busy with for longer than a moment, in English: "I'm writing a novel", "I'm recovering from an operation"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .abstract_english import CLASSES, OF_A_DAY, OFTEN_AT_END, VAGUE_THINGS
from .english_grammar import Fact, rule_set
from .plain_english import ARE, CASED, HAVE, REST, SOFT, SUBJECT, lasting, put
from .plans_english import BY_WHEN
from .sentences import Clause
from .words import any_of

__all__ = ["IN_HAND_RULES"]

IN_HAND_RULES, _rule = rule_set()

_IN_HAND = (
    "volunteering interning freelancing temping teaching coaching mentoring tutoring fostering"
    " homeschooling recovering convalescing apprenticing moonlighting training studying working retraining"
    " renting subletting house-sitting caring raising dating seeing taking doing trying saving"
    " looking going blogging vlogging podcasting campaigning using tracking collecting growing writing"
    " learning practising practicing preparing applying cutting tapering undergoing nursing breastfeeding"
    " potty-training planning managing running leading building restoring renovating getting living"
)
_OF_HAND = re.compile(
    rf"(?:(?:volunteering|interning|temping|freelancing|moonlighting|working|teaching|coaching|tutoring"
    rf"|apprenticing|retraining|training)\s(?:full-time\s|part-time\s|remotely\s|nights\s|from home\s"
    rf"|currently\s)?(?:at|for|as|in|with|from home|remotely|part-time|nights|full-time|abroad|freelance"
    rf"|shifts)(?:\s(?!(?:that|progress|the moment|it|the meantime|which|some)\b)|\Z)"
    rf"|(?:teaching|coaching|tutoring|mentoring)\s(?!(?:me|us|myself|others|people)\b)[a-z]|homeschooling\s"
    rf"|fostering\s|recovering from\s|retraining as\s|training (?:for|to be|to become|as)\s|studying\s(?!(?:it"
    rf"|hard|the)\b)|renting\s|subletting\s|caring for my\s|raising\s(?:my|our|two|three|four|twins|a\s(?:son"
    rf"|daughter|family|child))"
    rf"|(?:dating|seeing)\s(?:an?\s(?:therapist|physio\w*|psychologist|psychiatrist|dietitian|dietician"
    rf"|nutritionist|counsellor|counselor|specialist|personal trainer|guy|girl|man|woman|nurse|doctor|colleague"
    rf"|teacher)|{CASED})|taking\s(?:{CLASSES}|(?:\w+\s)?(?:antidepressants|antibiotics|medication|vitamins"
    rf"|insulin|painkillers|iron|statins|steroids|supplements|a gap year|a sabbatical|a year off|a career break"
    rf"|time off work|hormones))|doing\s(?:an?\s(?:[\w-]+\s){{0,3}}(?:degree|phd|master's|masters|course"
    rf"|apprenticeship|internship|diploma|mba|residency|certificate|bootcamp|traineeship|detox|diet|challenge"
    rf"|placement|training|qualification|a-levels)|intermittent fasting|ivf|physio\w*|chemo\w*|keto|night"
    rf" shifts|freelance|whole30|dry january)"
    rf"|trying\sto\s(?:lose|quit|give up|cut (?:down|back|out)|stop (?:smoking|drinking|biting|eating|snacking"
    rf"|vaping)|eat (?:less|more|healthier)|get (?:fit|fitter|pregnant|into shape|in shape|back in shape|my"
    rf" (?:driving )?licen[cs]e)|conceive|have (?:a baby|another)|learn (?!more|to be|about|how|from|as)|save"
    rf" (?:up|for|money|\d|£)|gain|reduce|sleep more|drink less|drink more water|spend less|live (?:more"
    rf" sustainably|plastic-free|zero[- ]waste)|go vegan|buy (?:a|our first) (?:house|flat|home|apartment)|sell"
    rf" (?:our|my) (?:house|flat)|find a (?:new )?(?:job|flat|house)|grow|improve my\s[\w ]{{3,25}}|lower my\s"
    rf"|build (?:muscle|up my savings)|read more)\b|saving (?:up )?(?:for|to)\s|looking"
    rf" for\s(?:an?\s(?:[\w-]+\s){{0,3}}(?:job|flat|house|apartment|flatmate|nanny|internship|apprenticeship"
    rf"|school|role|position|place to live|career|roommate|housemate|boat|piano teacher|surrogate|camper van)"
    rf"|work\b)"
    rf"|going (?:through|to)\s(?:an?\sdivorce|the menopause|menopause|ivf|chemo\w*|therapy|night school"
    rf"|physio\w*|a separation|a custody battle|university|college|marriage counselling|couples therapy|evening"
    rf" classes|art school|grad school|law school|medical school|school for)\b|writing\s(?:an?|my"
    rf"|our)\s(?:[\w-]+\s){{0,3}}(?:novel|book|memoir|thesis|dissertation|screenplay|blog|play|cookbook|phd"
    rf"|musical|opera|album)\b|writing up my\s|learning\s(?!(?:a lot|so much|more|that|how to (?:deal|cope|be"
    rf"|use)|about|from|the ropes|something|new things|to (?:be|let|love|accept|trust|deal|cope|live|balance"
    rf"|appreciate|say|take|manage)|every|as)\b)[a-z]|(?:practising|practicing)\s(?:the\s\w+|yoga"
    rf"|my\s(?:\w+\s)?(?:scales|serve|swing|handwriting|vocals|guitar|piano|spanish|french|german|italian)"
    rf"|medicine|law|meditation)"
    rf"|(?:preparing for|applying (?:for|to))\s(?:my|an?|the|our)?\s?(?:[\w-]+\s){{0,3}}(?:exams?|marathon"
    rf"|school|university|universities|jobs?|citizenship|visa|degree|phd|apprenticeship|college|master's"
    rf"|masters|residency|permit|mortgage|adoption|ironman|triathlon|bar exam|scholarships?|promotion"
    rf"|retirement|finals|audition|colleges|internships?)\b|cutting (?:down|out|back)\s(?:on\s)?[a-z]"
    rf"|(?:blogging|vlogging|podcasting|writing|campaigning)\sabout\s|doing\s(?:some\s|a lot of\s|a bit"
    rf" of\s)?(?:[\w-]+\s)?(?:yoga|pilates|weight training|strength training|weights|karate|boxing|meditation"
    rf"|gardening|volunteer work|volunteering|freelance work|photography|pottery|crossfit|cardio|tai chi"
    rf"|physical therapy|martial arts|woodworking|stand-up)\b|using\s(?:an?\s(?:foam roller|meal kit|standing"
    rf" desk|hearing aid|cpap machine|budgeting app|cane|walking stick|wheelchair|light therapy lamp|fitness"
    rf" tracker|bullet journal|planner|inhaler)|[A-Z]\w+\s(?:to|for|as)\s)|tracking\s(?:my|the"
    rf"|our)\s(?:\w+\s){{0,2}}?(?:birds|hummingbirds|sleep|calories|spending|expenses|weight|blood pressure"
    rf"|glucose|cycle|mood|runs|steps|macros|budget)\b|collecting\s[a-z]|growing\s(?:my own\s)?(?!as|up|tired"
    rf"|closer|apart)[a-z]|tapering off\s|undergoing\s|breastfeeding|potty-training\s|planning\s(?:our|my"
    rf"|a)\s(?:wedding|retirement|sabbatical|gap year|career change|honeymoon|move to|trip to|extension|loft"
    rf" conversion)|(?:managing|running|leading)\s(?:an?|my own|our|the)\s(?:[\w-]+\s){{0,3}}(?:team|shop"
    rf"|business|department|project|company|cafe|café|restaurant|charity|store|clinic|school|programme|group"
    rf"|club|workshop|bakery|farm|hotel|branch|non-profit)\b"
    rf"|(?:building|restoring|renovating)\s(?:an?|my|our)\s(?:[\w-]+\s){{0,3}}(?:house|boat|car|cabin|shed"
    rf"|guitar|van|campervan|extension|barn|cottage|greenhouse|pc|motorbike|piano|farmhouse|treehouse|kitchen"
    rf"|telescope|canoe|kayak|sauna|pond|patio|deck|robot|railway|table|bookcase|loom|tiny house)\b"
    rf"|getting\s(?:married|divorced|braces|a (?:hip|knee) replacement|treatment for|a dog|a puppy|a kitten"
    rf"|help for my)\b|living\s(?:in|on|at|with|near|alone|abroad|off|by|next|above|apart|together|out"
    rf" of)\s?(?!(?:my best|fear|hope|it)\b)|(?:getting over|recovering from|nursing)\s(?:an?|my)\s"
    rf"|house-sitting|working (?:towards?|on|for)\s(?:my|an?)\s(?:[\w'-]+\s){{0,3}}(?:licen[cs]e|degree|diploma"
    rf"|black belt|phd|thesis|certificate|qualification|citizenship|master's|exams?)\b)",
    re.IGNORECASE,
)


@_rule(
    "writing editing working drafting publishing renovating restoring building converting doing"
    " remodelling remodeling extending redecorating insulating learning planning training studying teaching"
    " hunting looking",
    rf"{SUBJECT}{ARE}\s(?i:(?:also|currently|actually|slowly|now|still|both|in the middle of"
    rf"|halfway through|busy)\s)*(?P<doing>(?i:(?:writing|editing|working on|drafting"
    rf"|publishing)\s(?:my|an?|the|our)\s(?:[\w-]+\s){{0,3}}?(?:novel|book|memoir|thesis|dissertation"
    rf"|screenplay|cookbook|phd|play|album|poetry collection|autobiography|trilogy)"
    rf"|(?:renovating|restoring|building|converting|doing up|remodelling|remodeling|extending|redecorating"
    rf"|insulating)\s(?:my|an?|our|the)\s(?:[\w-]+\s){{0,3}}?(?:house|flat|apartment|kitchen|bathroom|cottage"
    rf"|barn|van|boat|loft|attic|basement|farmhouse|car|motorbike|motorcycle|home|shed|greenhouse|extension"
    rf"|treehouse|model railway|guitar|campervan|camper van)|learning\s(?:how\s)?to\s(?:play|speak|drive|swim"
    rf"|sail|ski|fly|knit|cook|sew|surf|dance|ride|code|program|paint|draw|sing|read|weld|skate|juggle)\b[\w'"
    rf" ]{{0,35}}?|learning\s(?:\w+\s)?sign language|planning\s(?:my|our)\s(?:wedding|retirement)"
    rf"|training\s(?:as|to be|to become)\s(?:an?\s){REST}{{3,30}}?|studying\s(?:part-time|for (?:my|the"
    rf"|an?)\s{REST}{{3,30}}?)|teaching myself\s{REST}{{3,30}}?|(?:house|job)-hunting"
    rf"|looking after my\s(?:\w+\s)?(?:mother|father|mum|mom|dad"
    rf"|parents|grandmother|grandfather|grandson|granddaughter|grandchildren|husband|wife|nephew"
    rf"|niece)))(?P<more>(?:{BY_WHEN}|\s(?i:in|on|about|at|with|for|as)\s{REST}{{2,50}})?)$",
)
def _is_making(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    doing = match["doing"]
    if re.match(r"(?:working on|editing)\s(?:the|my|our|an?)\s(?:home|play)\b", doing, re.IGNORECASE):
        return
    label = "family" if re.match(r"looking after|planning", doing, re.IGNORECASE) else "project"
    yield lasting(clause, label, put("is", f"{doing}{match['more'] or ''}"))


_WORK = re.compile(
    r"working|volunteering|teaching|coaching|tutoring|mentoring|interning|managing|running|leading|freelancing|temping"
)


@_rule(
    _IN_HAND.replace("-", " "),
    rf"{SUBJECT}(?P<been>{HAVE}\s(?i:(?:also|just|recently|already|always|really"
    rf"|now)\s)*(?i:been))?(?P<be>{ARE})?\s{SOFT}(?i:(?:also|currently|slowly|busy"
    rf"|back)\s)*(?P<doing>(?i:{any_of(_IN_HAND.split())})\b{REST}{{0,80}})$",
)
def _is_doing(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    doing = re.sub(r"\s(?:lately|recently|currently|at present)\Z", "", match["doing"].strip())
    if (
        bool(match["been"]) == bool(match["be"])
        or len(doing.split()) > 13
        or not _OF_HAND.match(doing)
        or OF_A_DAY.search(doing)
    ):
        return
    tail = re.sub(r"^\S+\s(?:(?:at|for|as|in|with|to|from|on|up)\s)?", "", doing)
    if VAGUE_THINGS.search(OFTEN_AT_END.sub("", tail)) and not re.match(
        r"(?:trying|planning|looking|recovering|getting)\b", doing
    ):
        return
    low = doing.lower()
    label = (
        "health"
        if re.match(
            r"(?:recovering|undergoing|tapering|getting over|nursing an?|taking (?!\w+ (?:class|lesson|course)))", low
        )
        and not re.search(r"class|lesson|course|gap year|sabbatical|year off", low)
        else "goal"
        if low.startswith(("trying", "saving", "looking", "planning", "preparing", "applying"))
        else "studies"
        if low.startswith(("studying", "learning", "taking", "doing", "training", "retraining", "writing up"))
        else "family"
        if low.startswith(("raising", "dating", "caring", "fostering", "homeschool", "breastfeeding"))
        else "work"
        if _WORK.match(low)
        else "home"
        if low.startswith(("living", "renting", "subletting"))
        else "project"
    )
    yield lasting(clause, label, put("has been" if match["been"] else "is", doing))
