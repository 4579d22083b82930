"""The text in which RULER's needles are hidden: sentences, words and keys made from a seed, none of them downloaded.

The prose tells of many small matters with names, places, days and figures of their own, so that no sentence stands
out by being the only one with a number in it, and hardly any comes twice.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator

__all__ = ["NOISE", "Prose", "coded_words", "needle_keys", "needle_numbers", "needle_uuids", "pseudo_words"]

NOISE = (
    "The kettle is warm.",
    "The road is long.",
    "The lamp is lit.",
    "We go on.",
    "Out and home again.",
)
"""What ``niah_single_1`` and RULER's own variable tracking repeat in place of prose."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split("|"))


_ADJECTIVES = _words(
    "able agile amber ample ancient arctic ashen astute azure bald balmy barren basic beige bitter blank blithe blond "
    "blue blunt bold brave breezy brief bright brisk bronze bulky calm candid cheery chief chilly civil clean clear "
    "clever cloudy coarse cobalt cold coral cosy crisp crude curly damp daring dark deep dense dim dire distant docile "
    "dry dual dusky dusty eager early earthen easy elder exact faint fair famous fancy fast fatal feral fertile fierce "
    "final firm fiscal flat fleet fluent fond formal frail frank fresh frosty frozen full fuzzy gentle giant glad "
    "glossy golden grand grave gray great green gritty gross hale handy hardy hasty hazy hearty heavy hidden high "
    "hollow honest huge humble hushed icy ideal idle inner ivory jade jolly jovial keen kind lanky late lavish lazy lean "
    "level light limber liquid little lively local lofty lone long loud loyal lucid lucky lunar lush mellow merry "
    "mighty mild minor misty mobile modest moist mossy muted narrow native neat nimble noble"
)
_NOUNS = _words(
    "acorn agate alder alpaca anchor anvil apple apron arbor arrow aspen atlas badger bagel bakery balcony ballad "
    "bamboo banjo banner barge barley barrel basin basket beacon beaver beetle bell bench berry bison blanket blossom "
    "bobbin bonnet border bottle boulder bramble breeze bridge brook broom bucket buckle bugle bumper burrow button "
    "cabin cactus camel candle canoe canvas canyon caravan cardinal carpet carrot castle cedar cellar chalk chapel "
    "cherry chimney chisel cider cinder citron clarinet cliff clover cobbler comet compass copper cottage cotton "
    "cougar cove cradle crane crater cricket crocus crown crystal cupboard curlew current cymbal cypress daisy dagger "
    "delta desert dolphin donkey dove dragon drum dune eagle easel ember emerald engine falcon feather fender fern "
    "ferry fiddle finch flagon flannel flask flint flute forest forge fossil fountain foxglove gable galley garden "
    "garnet gazelle geyser ginger glacier glider goblet gondola gorge granite gravel grotto grouse gull hamlet hammer "
    "hammock harbor harness harp harvest hatchet hazel hedge helmet heron hickory hinge hollyhock honey hornet "
    "horizon hyacinth iceberg inkwell iris island ivy jacket jaguar jasmine javelin jetty jigsaw juniper kayak kernel "
    "kettle kiln kite ladder lagoon lantern larch lark lemon lentil library lilac linen lizard locket locust loom "
    "lotus lynx magnet magpie mallard mango mantle maple marble marigold meadow melon meteor mill mirror mitten "
    "monsoon mosaic moth mulberry mustard nectar needle nettle nutmeg oasis oat obelisk ocean olive onyx orchard orchid "
    "oriole osprey otter oyster paddle pantry parcel parrot pasture pebble pelican pepper piano pigeon pillar pillow "
    "plateau plover plum pocket pond poplar poppy prairie prism puffin quail quarry quartz quill quilt rabbit raccoon "
    "radish raft raven reef ribbon river robin rocket rooster rosemary rowan saddle saffron sandal sapphire satchel"
)
_NAMES = _words(
    "Agnes Alba Amir Anouk Arun Beatriz Bela Bruno Carla Casper Celia Dario Delia Dmitri Edda Elias Emre Farah Felix "
    "Fiona Gita Goran Greta Hanna Hugo Ida Ilse Imran Ines Ivo Jana Jonas Julia Kamal Karin Kofi Lars Leila Lena Luca "
    "Malik Mara Mateo Mina Nadia Nils Noor Olga Omar Petra Pia Rafael Rosa Samir Selma Stefan Tara Tomas Ulla Vera "
    "Victor Wanda Yara Yusuf Zoe"
)
_PLACES = _phrases(
    "the old mill|the harbour office|the east gate|the town library|the market hall|the ferry landing|the upper school|"
    "the bakery on the corner|the station yard|the reading room|the glasshouse|the north pier|the weavers' house|"
    "the museum cellar|the observatory|the village hall|the boatyard|the clinic by the park|the second workshop|"
    "the dairy|the quarry road|the tram depot|the swimming bath|the printing house|the pottery|the lower meadow|"
    "the community kitchen|the archive|the rehearsal room|the lighthouse|the cable car|the allotment gardens"
)
_THINGS = _phrases(
    "a crate of lamps|the spare keys|two rolls of felt|the guest list|a box of seed packets|the rain gauge|"
    "the minutes of the meeting|a bundle of maps|the new curtains|a tin of varnish|the second draft|a pair of oars|"
    "the choir books|a sack of flour|the timetable|a set of drawings|the wall clock|a jar of honey|the tool chest|"
    "three folding chairs|the kitchen scales|a reel of cable|the blue folder|the tide tables|a stack of trays|"
    "the water samples|the loan agreement|a basket of pears|the stage lights|the bicycle pump"
)
_DOINGS = _phrases(
    "repaint the shutters|sort the letters|check the valves|sharpen the saws|count the stock|mend the nets|"
    "rewrite the notice|measure the cellar|oil the hinges|label the shelves|rehearse the second act|sweep the yard|"
    "order new filters|compare the offers|clear the gutter|plant the hedge|calibrate the scales|copy the register|"
    "move the piano|test the pump|water the seedlings|wash the windows|draw up a rota|replace the fuses"
)
_REASONS = _phrases(
    "the rain had not let up|nobody had asked for more|the delivery came a day late|the paint was still wet|"
    "the other room was taken|the figures did not add up|it had worked the year before|the bridge was closed|"
    "the manual said so|the price had gone up again|the light was better there|two of the helpers were ill|"
    "the council wanted a report|the wind turned in the evening|it seemed the simplest way|the lease ran out"
)
_OPINIONS = _phrases(
    "a sensible plan|more trouble than it was worth|the best news of the week|a pity|rather late in the year|"
    "a good deal for everyone|hard to explain to visitors|worth another try|only half of the story|a fine idea|"
    "too loud for a weekday|exactly what was needed|a bit of a gamble|quite unlike the first attempt"
)
_QUALITIES = _phrases(
    "quieter|heavier|brighter|cheaper|drier|older|steadier|warmer|wider|tidier|slower|sturdier|smoother|busier"
)
_MONTHS = _words("January February March April May June July August September October November December")
_DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_UNITS = _phrases("litres|kilometres|visitors|pages|tickets|bricks|seedlings|metres|signatures|crates|steps|panels")

_TEMPLATES = _phrases(
    "{name} carried {thing} to {place} before noon|{name} and {name2} agreed to {doing} once {place} is open again|"
    "On {day} {name} had to {doing}, because {reason}|{place:cap} took in {number} {unit} in {month}|"
    "Nobody at {place} could say who had ordered {thing}|{name} called it {opinion}, and {name2} did not argue|"
    "In {month} the team spent {small} days at {place} to {doing}|{thing:cap} came back {quality} than it went out|"
    "The count at {place} stood at {number} {unit}, which {name} found {opinion}|"
    "{name} wrote that {reason}, so {thing} stayed at {place}|By {hour} on {day} {name} had left {thing} with {name2}|"
    "If {name} has time, somebody will {doing} before {month}|{place:cap} is {quality} since they began to {doing}|"
    "It took {name} {small} attempts to {doing}|{name} paid {number} for {thing} and thought it {opinion}|"
    "After {month} only {name2} still went to {place} to {doing}|{reason:cap}, and {name} went home by {place}|"
    "{name} keeps {thing} in {place}, next to {thing2}|They meant to {doing} on {day}, but {reason}|"
    "{name} asked {name2} whether {thing} could wait until {month}|Of the {number} {unit} that were promised, {name} "
    "counted {small} dozen|{name} found {thing} behind {place} {small} weeks later|"
    "The note on {thing} said that {name} would {doing} at {hour}|{place:cap} closes at {hour} from {month} onwards|"
    "{name2} remembered {place} as {quality} and {quality2}|What {name} said about {thing} was {opinion}|"
    "Between {month} and the spring fair {name} did little but {doing}|{name} swapped {thing} for {thing2}|"
    "A clerk at {place} noted {number} {unit} and signed for {thing}|Since {day} {name} has been trying to {doing}"
)
_ONSETS = _words(
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sk sl sm sn sp st t th tr v w z"
)
_VOWELS = _words("a e i o u ai ea ee oa ou")
_CODAS = ("", "", "n", "r", "l", "m", "nd", "rk", "st", "sh", "t", "p", "ck", "ng")


class Prose:
    """Sentences about everyday matters, one after the other.

    Args:
        rng: where all choices come from.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def sentence(self) -> str:
        """One sentence of 6 to 25 words, with its full stop."""
        pick = self._rng.choice
        name, name2 = self._rng.sample(_NAMES, 2)
        thing, thing2 = self._rng.sample(_THINGS, 2)
        quality, quality2 = self._rng.sample(_QUALITIES, 2)
        slots = {
            "name": name,
            "name2": name2,
            "thing": thing,
            "thing2": thing2,
            "quality": quality,
            "quality2": quality2,
            "place": pick(_PLACES),
            "doing": pick(_DOINGS),
            "reason": pick(_REASONS),
            "opinion": pick(_OPINIONS),
            "month": pick(_MONTHS),
            "day": pick(_DAYS),
            "unit": pick(_UNITS),
            "number": str(self._rng.randrange(11, 9_800)),
            "small": pick(("two", "three", "four", "five", "six", "seven")),
            "hour": f"{self._rng.randrange(7, 20)}:{self._rng.choice(('00', '15', '30', '45'))}",
        }
        slots |= {f"{slot}:cap": text[0].upper() + text[1:] for slot, text in slots.items()}
        sentence = pick(_TEMPLATES)
        for slot, text in slots.items():
            sentence = sentence.replace(f"{{{slot}}}", text)
        return f"{sentence}."


def needle_keys(rng: random.Random) -> Iterator[str]:
    """Keys such as ``brisk-otter``, none twice; about 45,000 of them."""
    pairs = [f"{adjective}-{noun}" for adjective in _ADJECTIVES for noun in _NOUNS]
    rng.shuffle(pairs)
    yield from pairs


def needle_numbers(rng: random.Random) -> Iterator[str]:
    """Numbers of seven digits, none twice."""
    yield from _distinct(lambda: str(rng.randrange(1_000_000, 10_000_000)))


def needle_uuids(rng: random.Random) -> Iterator[str]:
    """Random UUIDs (version 4), none twice."""
    yield from _distinct(lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)))


def pseudo_words(rng: random.Random) -> Iterator[str]:
    """Words of two syllables or three that are in no dictionary, none twice."""

    def word() -> str:
        syllables = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(rng.choice((2, 2, 3)))]
        return "".join(syllables) + rng.choice(_CODAS)

    yield from _distinct(word)


def coded_words(rng: random.Random, length: int = 6) -> Iterator[str]:
    """Words of random letters, as RULER's frequent words are, none twice."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    yield from _distinct(lambda: "".join(rng.choices(letters, k=length)))


def _distinct(make: Callable[[], str]) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        one = make()
        if one not in seen:
            seen.add(one)
            yield one
