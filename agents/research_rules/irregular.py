"""Forms of words led back: by the stemmer of the index, and irregular ones by a list ("bought" to "What did she buy?")."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...stores.lexical.records import make_stemmer

__all__ = ["BASES", "word_stems"]

_FORMS = """
arise arose arisen; awake awoke awoken; bear bore borne; beat beaten; become became; begin began begun; bend bent;
bind bound; bite bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built;
burn burnt; buy bought; catch caught; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig dug;
draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed;
feel felt; fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten;
forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went gone;
grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known; lay laid;
lead led; lean leant; leap leapt; learn learnt; leave left; lend lent; light lit; lose lost; make made; mean meant;
meet met; mistake mistook mistaken; overcome overcame; pay paid; prove proven; ride rode ridden; ring rang rung;
rise risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken;
shine shone; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept;
slide slid; smell smelt; speak spoke spoken; spend spent; spin spun; spoil spoilt; spring sprang sprung;
stand stood; steal stole stolen; stick stuck; sting stung; strike struck; strive strove; swear swore sworn;
sweep swept; swell swollen; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told;
think thought; throw threw thrown; understand understood; undertake undertook undertaken; wake woke woken;
wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; write wrote written;
child children; foot feet; goose geese; man men; mouse mice; person people; tooth teeth; woman women;
wife wives; knife knives; half halves; shelf shelves; wolf wolves
"""

BASES = {form: words[0] for words in map(str.split, _FORMS.split(";")) for form in words[1:]}
"""Form → base, in lower case. Both a question and what it is compared with are led back, so that a form with two
meanings ("left", "saw") still meets itself."""


def word_stems(text: str) -> list[str]:
    """The stems of a text's words, in order, as the index stems them; irregular forms stay what they are."""
    found: list[str] = _stemmer().analyze(text)
    return found


@cache
def _stemmer() -> Any:
    return make_stemmer()
