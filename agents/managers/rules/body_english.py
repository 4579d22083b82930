"""What the user looks like, wears, takes and eats, in English: "I wear glasses", "I'm on a gluten-free diet"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import Fact, rule_set
from .plain_english import AM, ARE, BE_NOW, COUNT, OFTEN, REST, SOFT, SUBJECT, does, lasting, put, third
from .sentences import Clause

__all__ = ["BODY_RULES"]

BODY_RULES, _rule = rule_set()


@_rule(
    "tall high metres meters cm feet foot weigh",
    rf"{SUBJECT}{AM}\s{BE_NOW}(?i:about\s|around\s)?(?P<tall>(?i:\d(?:[.,]\d+)?\s?(?:m|metres?"
    rf"|meters?)|\d{{3}}\s?(?:cm|centimetres|centimeters)|(?:\d|four|five|six)\s?(?:foot|feet|ft"
    rf"|')\s?(?:\d{{1,2}}|[a-z]+)?(?:\sinches|\")?))(?i:\stall|\sin height)?$"
    rf"|{SUBJECT}\s(?i:weigh)\s(?:(?i:about|around|almost)\s)?(?P<weight>\d{{2,3}}(?:\.\d)?\s?(?i:kilos?|kg"
    rf"|pounds|lbs?|stone))$",
)
def _measures(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["weight"]:
        yield lasting(clause, "weight", f"Weighs {match['weight']}", slot="weight")
    else:
        yield lasting(clause, "height", f"Height: {match['tall']}", slot="height")


_WORN = (
    r"(?:(?:reading |varifocal |thick )?glasses|spectacles|contact lenses|contacts|(?:a )?hearing aids?|braces"
    r"|a brace|dentures|a wig|a hijab|a headscarf|a turban|a kippah|a burqa|a prosthes[ie]s|a prosthetic \w+"
    r"|orthotics|insoles|compression (?:socks|stockings)|an insulin pump|a retainer"
    r"|a mouthguard|a uniform|a suit|black|only black|mostly black|make-?up|a beard|bifocals|a pacemaker|an"
    r" ankle brace|a knee brace|a medical bracelet)"
)


@_rule(
    "wear take",
    rf"{SUBJECT}\s{BE_NOW}{SOFT}(?P<wear>(?i:wear\s(?:{_WORN})))(?P<more>\s(?i:for|to|at|in|when|because"
    rf" of)\s{REST}{{3,40}}|\s{OFTEN})?$"
    rf"|{SUBJECT}\s{SOFT}(?i:wear|take)\s(?:an?\s)?(?P<size>(?i:size)\s[\w./]+(?:\s(?i:shoes|in shoes|dress"
    rf"|trousers|jeans|clothes))?|(?i:shoe size)\s\d+)$",
)
def _wears(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["size"]:
        yield lasting(clause, "size", put("wears", match["size"]))
    else:
        yield lasting(clause, "appearance", does(f"{match['wear']}{match['more'] or ''}"))


_LOOKS = (
    r"(?:(?:(?:very|quite|really|naturally)\s)?(?:(?:long|short|curly|straight|thick|thin|fine|wavy|dry|oily"
    r"|dark|light|natural|dyed|very|bright|pale|freckled|fair|sensitive|greasy|frizzy|grey|gray|white|red"
    r"|black|brown|blonde?|blue|green|hazel|auburn|ginger|silver|pink)(?:,?\s(?:and\s)?))+(?:hair|eyes|skin"
    r"|hands|feet|beard)"
    r"|an?\s(?:[\w-]+\s){0,2}?(?:tattoo|piercing|birthmark|scar|beard|moustache|mustache|dimple|stutter"
    r"|stammer|lisp|limp|accent|squint|pacemaker|stoma|prosthetic \w+|artificial \w+|glass eye|cochlear"
    r" implant|hearing aid|guide dog|service dog|metal plate|curved spine|heart murmur)(?:\s(?:of|on|in|from"
    r"|across|over|at)\s"
    rf"{REST}{{2,50}})?|(?:\w+\s)?(?:tattoos|piercings|freckles|dreadlocks|dimples|flat feet|braces|dentures"
    rf"|perfect pitch|a photographic memory|two left feet|a sweet tooth|a green thumb|green fingers|poor"
    rf" circulation|low blood pressure|high cholesterol|ibs|adhd|ocd|ptsd|pcos|a slipped disc|scoliosis|rosacea"
    rf"|dandruff|bad eyesight|poor eyesight|good eyesight|bad knees|bad teeth|a weak \w+|a food intolerance|a"
    rf" lactose intolerance))"
)


@_rule(
    "have ive got",
    rf"{SUBJECT}(?i:'ve got|\shave got|\s{SOFT}have|'ve)\s(?P<what>(?i:{_LOOKS}))$",
)
def _looks(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield lasting(clause, "appearance", put("has", match["what"]))


_TAKEN = (
    r"(?:blood thinners|beta[- ]?blockers|insulin|antidepressants|the pill"
    r"|(?:an?\s)?(?:multi)?vitamins?(?:\s[a-z]\d*)?|vitamin [a-z]\d*|iron(?: tablets| supplements)?|statins"
    r"|painkillers|antihistamines|sleeping pills|thyroid (?:tablets|medication|hormones|medicine)|blood"
    r" pressure (?:tablets|medication|pills|medicine)|steroids|hormones"
    r"|supplements|magnesium|omega[- ]3|fish oil|probiotics|creatine|an inhaler|aspirin|ibuprofen|lithium"
    r"|methadone|hrt|medication|anticoagulants|diuretics|melatonin|ssris?)"
)


@_rule(
    "take taking on use get see",
    rf"{SUBJECT}(?i:\s{SOFT}(?:take|use)|(?:'m|\sam)\s{BE_NOW}(?:on"
    rf"|taking))\s(?P<what>(?i:(?:\w+\s)?{_TAKEN}))(?P<more>\s(?i:for|against|because of|to)\s{REST}{{3,40}}"
    rf"|\s{OFTEN})?$"
    rf"|{SUBJECT}\s{SOFT}(?i:get|suffer from|am prone to)\s(?P<ill>(?i:(?:bad |terrible |frequent |severe "
    rf"|regular |awful )?(?:migraines?|headaches|nosebleeds|hay fever|heartburn|panic attacks|seasick|carsick"
    rf"|travel sick|motion sick|cold sores|cluster headaches|eczema|hives|cramps|vertigo|kidney stones|back"
    rf" pain|insomnia|nightmares|sinusitis|cystitis|acid reflux|anxiety|sunburnt easily|altitude sickness"
    rf"|seasickness|motion sickness|stage fright))(?:\s(?:easily|a lot|often|quite often|very easily|sometimes"
    rf"|regularly))?(?:\s(?:when|if|in|from|on|after|every|whenever"
    rf"|because)\s(?:I\s)?{REST}{{3,50}})?)$"
    rf"|{SUBJECT}\s{SOFT}(?i:see|go to)\s(?P<sees>(?i:an?\s(?:\w+\s)?(?:therapist|physio\w*|chiropractor"
    rf"|psychologist|psychiatrist|counsellor|counselor|dietitian|dietician|nutritionist|osteopath|speech"
    rf" therapist|acupuncturist|cardiologist|dermatologist|neurologist|personal trainer|tutor"
    rf"|coach)))(?:\s{OFTEN}|\s(?i:for)\s{REST}{{3,30}})?$",
)
def _treated(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["what"]:
        yield lasting(clause, "health", put("takes", f"{match['what']}{match['more'] or ''}"))
    elif match["ill"]:
        yield lasting(clause, "health", put("gets", match["ill"]))
    else:
        yield lasting(clause, "health", put("sees", clause.text[match.start("sees") :]))


@_rule(
    "wheelchair crutches dialysis diet plan remission fast fasting skip eat cook drink",
    rf"{SUBJECT}{ARE}\s{BE_NOW}(?P<state>(?i:(?:in a wheelchair|on dialysis|on oxygen)|(?:on"
    rf"|following|doing|trying) (?:an?|the)\s(?:(?:very|strict|strictly|medically|mostly"
    rf"|so-called)\s)*[\w-]+(?:[ -](?!diet)[\w-]+){{0,3}}\s(?:diet|regime|meal plan)))(?P<more>\s(?i:for"
    rf"|because of|since|after|to)\s{REST}{{3,40}})?$"
    rf"|{SUBJECT}\s{SOFT}(?P<use>(?i:use (?:an? )?(?:wheelchair|walking stick|walker|cane|zimmer frame|cpap"
    rf" machine|inhaler|screen reader|hearing loop)))(?:\s{OFTEN})?$"
    rf"|{SUBJECT}\s{SOFT}(?P<verb>(?i:eat|drink|cook|skip|fast))(?P<food>\s(?i:(?:very little|hardly any"
    rf"|almost no|no|mostly|only|a lot of|lots of|plenty of|mainly|too much|strictly|halal|kosher|organic|vegan"
    rf"|vegetarian|plant-based|low-carb|decaf|gluten-free)(?:\s[\w' -]{{2,40}})?|breakfast|lunch|dinner"
    rf"|for\s(?:the whole|my)\s[\w ]{{2,20}}|from scratch|during (?:ramadan|lent)))(?:\s{OFTEN})?$",
)
def _diet(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if match["state"]:
        state = match["state"]
        label = "diet" if "diet" in state.lower() or "plan" in state.lower() else "health"
        yield lasting(clause, label, put("is", f"{state}{match['more'] or ''}"))
    elif match["use"]:
        yield lasting(clause, "health", does(match["use"]))
    else:
        verb, food = match["verb"].lower(), match["food"].strip()
        if verb == "skip" and not re.match(r"(?:breakfast|lunch|dinner)\b", food, re.IGNORECASE):
            return
        if verb in ("eat", "drink", "cook") and re.match(r"(?:breakfast|lunch|dinner)\b", food, re.IGNORECASE):
            return
        yield lasting(clause, "diet", put(third(verb), clause.text[match.start("food") :]))


@_rule(
    "sleep snore sleepwalk grind bite vape smoke drink talk travel stammer stutter touch write type",
    rf"{SUBJECT}\s{SOFT}(?P<how>(?i:sleep\s(?:with|on|in|badly|well|until|only|about|around"
    rf"|{COUNT}\s)\s?{REST}{{0,40}}|sleep (?:badly|poorly|in separate rooms)|snore|sleepwalk|sleep-?talk|grind"
    rf" my teeth|bite my nails|vape|smoke(?: {COUNT})?(?: (?:a pack|cigarettes|\w+) a day)?|drink socially|talk"
    rf" in my sleep|travel light|stammer|stutter|touch-?type|write with (?:my (?:left|right) hand|an? [\w"
    rf" ]{{3,25}})|type with [\w ]{{3,20}}))(?:\s{OFTEN})?$",
)
def _way(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if not re.search(r"\b(?:on it|with you|well)\b", match["how"]):
        yield lasting(clause, "habit", does(match["how"]))
