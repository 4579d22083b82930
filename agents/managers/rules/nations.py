"""Nations and languages in English, which are capitalised and name nobody."""

from __future__ import annotations

from .... import lazy_re as re

__all__ = ["LANGUAGES", "NATIONS"]

LANGUAGES = (
    r"(?:English|Chinese|Mandarin|Cantonese|French|German|Spanish|Italian|Portuguese|Dutch"
    r"|Japanese|Korean|Polish|Irish|Welsh|Hindi|Arabic|Russian|Turkish|Swedish|Norwegian|Danish"
    r"|Finnish|Greek|Hebrew|Urdu|Punjabi|Bengali|Tamil|Vietnamese|Thai|Ukrainian|Czech|Hungarian"
    r"|Romanian|Catalan|Swahili|Gaelic|Malay|Tagalog|Persian|Farsi)"
)


NATIONS = re.compile(
    r"(?:British|English|Scottish|Welsh|Irish|French|German|Dutch"
    r"|Belgian|Swiss|Austrian|Italian|Spanish|Portuguese|Greek|Turkish"
    r"|Danish|Swedish|Norwegian|Finnish|Icelandic|Polish|Czech|Slovak"
    r"|Hungarian|Romanian|Bulgarian|Serbian|Croatian|Bosnian|Slovenian"
    r"|Albanian|Ukrainian|Russian|Belarusian|Latvian|Lithuanian"
    r"|Estonian|Georgian|Armenian|American|Canadian|Mexican|Brazilian"
    r"|Argentinian|Argentine|Chilean|Colombian|Peruvian|Venezuelan"
    r"|Cuban|Jamaican|Australian|Kiwi|Maori|Chinese|Taiwanese|Japanese|Korean"
    r"|Vietnamese|Thai|Malaysian|Singaporean|Indonesian|Filipino"
    r"|Filipina|Indian|Pakistani|Bangladeshi|Nepali|Nepalese|Tamil|Punjabi"
    r"|Afghan|Iranian|Persian|Iraqi|Syrian|Lebanese|Israeli"
    r"|Palestinian|Jordanian|Egyptian|Moroccan|Algerian|Tunisian|Nigerian|Ghanaian"
    r"|Kenyan|Ugandan|Ethiopian|Somali|South African|Zimbabwean"
    r"|European|African|Asian|Latina|Latino|Catholic|Muslim|Jewish|Hindu"
    r"|Buddhist|Protestant|Quaker|Orthodox|Christian)\Z"
)
