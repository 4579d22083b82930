"""Countries of well-known towns, so that "the Greek Sunday" finds the day in Athens."""

from __future__ import annotations

from collections.abc import Iterable

from ... import lazy_re as re

__all__ = ["OTHER_TRIP", "country_words"]

OTHER_TRIP = re.compile(
    r"\b(?:the|our|my) other (?:trip|city|place|holiday|getaway|journey|vacation)\b|另(?:外)?一(?:个|趟|次)(?:行程|旅行|地方|城市)|另一趟"
)
"""Where there are two trips: the one that is not in hand."""

_COUNTRIES_TEXT = """
greece greek: athens thessaloniki crete santorini rhodes corfu heraklion
italy italian: rome milan venice florence naples bologna turin sicily palermo verona genoa bari
spain spanish: madrid barcelona seville valencia granada bilbao malaga mallorca
portugal portuguese: lisbon porto faro madeira azores
france french: paris lyon marseille nice bordeaux strasbourg provence
germany german: berlin munich hamburg cologne dresden frankfurt leipzig heidelberg
austria austrian: vienna salzburg innsbruck graz
switzerland swiss: zurich geneva lucerne bern basel
netherlands dutch holland: amsterdam rotterdam utrecht hague
belgium belgian: brussels bruges ghent antwerp
ireland irish: dublin cork galway belfast
scotland scottish: edinburgh glasgow inverness skye
england english: london oxford cambridge bath york manchester liverpool bristol
denmark danish: copenhagen aarhus
sweden swedish: stockholm gothenburg malmo
norway norwegian: oslo bergen tromso trondheim
finland finnish: helsinki tampere rovaniemi
iceland icelandic: reykjavik
poland polish: warsaw krakow gdansk wroclaw
czechia czech: prague brno
hungary hungarian: budapest
croatia croatian: zagreb dubrovnik split
slovenia slovenian: ljubljana bled
romania romanian: bucharest brasov
bulgaria bulgarian: sofia plovdiv
estonia estonian: tallinn
latvia latvian: riga
lithuania lithuanian: vilnius
turkey turkish: istanbul ankara cappadocia izmir antalya
morocco moroccan: marrakech marrakesh fez casablanca
egypt egyptian: cairo luxor alexandria aswan
japan japanese: tokyo kyoto osaka nara hiroshima sapporo fukuoka kanazawa
china chinese: beijing shanghai xian chengdu guangzhou hangzhou
korea korean: seoul busan jeju
thailand thai: bangkok phuket
vietnam vietnamese: hanoi saigon danang hue
india indian: delhi mumbai jaipur agra goa kolkata
mexico mexican: oaxaca cancun merida guadalajara
canada canadian: vancouver toronto montreal quebec ottawa calgary
america american: chicago boston seattle miami washington philadelphia denver
cuba cuban: havana
peru peruvian: lima cusco
argentina argentinian argentine: buenos mendoza
brazil brazilian: rio salvador recife
australia australian: sydney melbourne brisbane perth adelaide hobart
zealand kiwi: auckland wellington queenstown
"""
_WORDS: dict[str, tuple[str, ...]] = {
    town: tuple(line.partition(":")[0].split())
    for line in _COUNTRIES_TEXT.strip().splitlines()
    for town in line.partition(":")[2].split()
}


def country_words(towns: Iterable[str]) -> tuple[str, ...]:
    """Lower-case names and adjectives of the countries in which towns lie; none for towns that are not known."""
    return tuple(word for town in towns for word in _WORDS.get(town, ()))
