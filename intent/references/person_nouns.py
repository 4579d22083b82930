"""Which nouns say what a person is, by their form: "apprentice", "trainee", "lodger", "new hire".

No list holds all trades and places in life. Most end as such words do; those that do not, and the things that end alike,
are listed.
"""

from __future__ import annotations

from ... import lazy_re as re
from .cues import FUNCTION_WORDS, KINDS, PERSON_NOUNS, VERBS, words

__all__ = ["is_person_noun"]

_ENDING = re.compile(
    r"(?:[a-z]{2}(?:er|or|ist|ian|ee)|[a-z]{3}ant|(?:wait|act|host|heir|steward|mistr|seamstr|prin|duch|count)ess|(?:stud|ag|cli|resid|presid|pati|superintend|correspond|adolesc|dec)ent"
    r"|[a-z]+(?:man|woman|boy|girl|person|mate|maid|smith|wright|herd|child|father|mother|sister|brother|wife))\Z"
)
_PERSONS = words(
    "apprentice intern cook chef sous-chef nurse vet clerk guide aide maid nun priest monk judge pilot guest host bride groom heir pupil"
    " cadet recruit hire temp rep pal chum associate mechanic stand-in locum captain sergeant mayor pastor rabbi imam vicar dean"
    " midwife barista paramedic medic physio au-pair nanny sitter paperboy scout champion wizard poet athlete convict orphan toddler"
    " infant twin triplet youth elder junior senior novice expert critic colonel lieutenant corporal private coroner magistrate sheriff"
    " architect chemist psychic mystic cleric comic bailiff concierge protégé protégée fiancé fiancée guy lad lass bloke chap gent buddy"
    " ward tot granny mum mom dad"
)
_THINGS = words(
    "letter number summer winter paper water weather dinner supper corner counter computer printer charger router "
    "order offer answer matter quarter power tower flower poster newsletter chapter error floor door motor sensor "
    "monitor colour color favour favor humour harbour harbor elevator escalator refrigerator mirror restaurant "
    "plant grant warrant tumor tumour fever shower filter folder holder container trailer tractor sweater jumper "
    "layer border river lever finger shoulder liver bladder cancer disorder disaster transfer laser timer meter "
    "metre litre server tree fee coffee toffee knee decree marquee spree toupee committee jubilee degree guarantee process address dress "
    "stress mess mattress fortress access success business wilderness happiness illness fitness progress compress "
    "congress loss chess guess press express cypress other another either neither rather further former latter "
    "upper lower inner outer over under after never ever cluster register roster trigger browser parser compiler "
    "debugger scanner buffer pointer controller adapter docker cooker toaster dishwasher washer dryer drier "
    "heater boiler freezer blender mixer cutter grinder opener strainer peeler duster hoover mower chipper "
    "stapler marker rubber ruler eraser pager speaker amplifier receiver recorder laptop scooter cruiser lorry "
    "tanker freighter ferry chopper helicopter hovercraft roller stroller pusher locker drawer dresser cupboard "
    "chair ladder gutter shutter chandelier lantern cracker burger butter pepper ginger copper silver amber "
    "timber lumber leather feather sugar cider liquor tenor minor prior interior exterior superior vapour vapor "
    "labor labour parlour parlor rigor vigour anchor razor indoor outdoor decor meteor bumper hanger slipper "
    "sneaker pullover blazer cardigan trouser zipper banner calendar pillar collar dollar cellar solar beaver "
    "badger hamster spider lobster oyster rooster panther tiger setter terrier retriever easter december november "
    "october september centre theatre theater manner wonder murder slaughter laughter encounter adventure venture "
    "lecture sector factor vector tensor corridor reactor generator accelerator calculator indicator radiator "
    "ventilator alligator humidor pleasant elegant instant constant distant brilliant important relevant "
    "significant elephant croissant currant pageant deodorant coolant disinfectant lubricant covenant remnant "
    "variant slant chant pennant hydrant giant list mist fist wrist twist gist waist checklist playlist wishlist "
    "shortlist waitlist blacklist whitelist cyst forest italian indian russian brazilian norwegian american"
)


def is_person_noun(noun: str) -> bool:
    """Whether a noun in small letters, in the singular, tells what a person is: never a thing, an animal or a place."""
    if noun in PERSON_NOUNS or noun in _PERSONS:
        return True
    if noun in FUNCTION_WORDS or noun in KINDS or noun in VERBS or noun in _THINGS:
        return False
    last = noun.rpartition("-")[2]
    return last not in _THINGS and last not in KINDS and (last in _PERSONS or _ENDING.search(noun) is not None)
