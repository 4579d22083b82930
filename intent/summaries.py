"""Canonical summaries of steps and running gists of scopes, both extractive and by rules (STITCH, section 3.1).

A summary ``c_t`` is one line: who, what they do, about what, with which values. A gist Σ says of a scope who talks,
what for, which names and values matter and what was last decided. A gist is its own state: the next one follows from
the text of the last one and the new step alone, so a restart changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .. import lazy_re as re
from .phrases.analysis import Analysis, NounPhrase
from .phrases.sentence_splitting import SentenceSplitter

__all__ = ["Gist", "canonical_summary", "readable_gist", "updated_gist"]

_SENTENCE = SentenceSplitter(re.compile(r"(?<=[.!?。！？])[\"”'’)]*\s+|(?<=[。！？])|\n+"))
_CJK = re.compile(r"[\u4e00-\u9fff]")
_VALUE = re.compile(
    r"[$€£¥]\s?\d[\d,.]*\d?(?:\s?(?:k|m|bn)\b)?(?:\s+(?:a|an|per|each)(?:\s+(?:night|person|day|week|month"
    r"|year|head|hour))?\b)?"
    r"|\b\d[\d,.]*\s?(?:euros?|dollars?|pounds?|stars?|minutes?|min|hours?|days?|nights?|km|miles?|kg|gb|mg|%"
    r"|percent)(?:\s+(?:a|per)\s+(?:night|person|day|week|month))?(?!\w)"
    r"|\b\d(?:\.\d)?\s?/\s?(?:5|10)\b|\b(?:[01]?\d|2[0-3]):[0-5]\d(?:\s?[ap]m\b)?|\b(?:1[0-2]|[1-9])\s?[ap]m\b"
    r"|\brated?\s\d(?:\.\d)?"
    r"|\d+(?:元|块|点半?|分钟|小时|天|晚)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d|\brated")
_DATA = re.compile(r"\d+|(?<=[a-z,] )[A-Z][\w'’-]+")
_FILLER = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|no|yeah|sure(?: thing)?|great|perfect|lovely|thanks(?: a lot| so much)?|thank you"
    r"|hi|hey|hello|wow|well|alright|good|cool|awesome|of course|oh|right|noted"
    r"|done|certainly|absolutely|haha|aww?|congrats|nice|sorry|got it|sounds (?:good|great)|that['’]s (?:great"
    r"|awesome|cool|amazing|wonderful|nice)|好的?|嗯|谢谢)"
    r"(?:,? (?-i:[A-Z][a-z]+)(?=[,.!]))?(?:\s*[,.!，。！:–—-]+\s*|(?<=\bso)\s+|$))+(?:(?-i:[A-Z][a-z]{2,})[,!]\s+)?",
    re.IGNORECASE,
)
_SWITCH = re.compile(
    r"(?:let['’]s (?:turn|move|go|do|talk|get)|now (?:for|on|to)|on to|back to|going back|next up|moving on)\b",
    re.IGNORECASE,
)
_VERBS = {
    "ask": ("asks", "问"),
    "inform": ("says", "说"),
    "propose": ("proposes", "提议"),
    "request": ("requests", "请求"),
    "decide": ("decides", "决定"),
    "plan": ("plans", "计划"),
    "compare": ("compares", "比较"),
    "evaluate": ("evaluates", "评价"),
    "report": ("reports", "说"),
    "raise problem": ("raises a problem", "提出问题"),
    "claim": ("claims", "主张"),
    "cite evidence": ("cites evidence", "引证"),
    "rebut": ("rebuts", "反驳"),
    "summarize": ("summarises", "总结"),
    "socialize": ("says", "说"),
}
_MONEY = "$€£¥"
_A_VALUE = (
    r"[$€£¥]\s?\d[\d,.]*\d|[$€£¥]\s?\d|(?:[01]?\d|2[0-3]):[0-5]\d(?:\s?[ap]m\b)?|(?:1[0-2]|[1-9])\s?[ap]m\b|\d+(?:元|块|点半?|个?人|晚|天)|"
    r"\d[\d,]*(?:\.\d+)?(?:\s?(?:euros?|dollars?|pounds?|people|persons?|guests?|nights?|days?|hours?|minutes?|rooms?|km|miles?)\b)?"
)
_ANY_VALUE = re.compile(_A_VALUE, re.IGNORECASE)
_CHANGES = re.compile(
    r"(?:\b(?:make (?:it|that|this|the \w+|our \w+|my \w+)|(?:change|move|switch|"
    r"set|raise|increase|lower|reduce|cut|drop|bump|push|shift|update|extend)"
    r"(?: (?:it|that|this|the|our|my|up|down|back|budget|limit|price|cap|time|start|dinner|lunch|booking|table|\w+)){0,4}? to|"
    r"(?:budget|limit|cap|price|time)(?: is| should be|['’]s)?(?: now| actually)|"
    r"(?:it|that)['’]?s now|actually,? (?:it['’]s |we['’]re |we are )?)"
    r"|改成|改到|改为|换成|提高到|降到|加到|减到|变成|调到)\s*(?:up to |about |around |at |for )?(?P<value>"
    + _A_VALUE
    + r")",
    re.IGNORECASE,
)
_SUBJECTS = frozenset(
    [
        "budget",
        "limit",
        "price",
        "time",
        "start",
        "dinner",
        "lunch",
        "breakfast",
        "booking",
        "table",
        "deadline",
        "party",
        "group",
        "预算",
        "价格",
        "时间",
        "人数",
    ]
)
_DECISIVE = frozenset({"decide", "plan", "request"})
_NAMES_OBJECT = frozenset({"propose", "decide", "request", "compare"})
_MOST_WORDS = 24
_MOST_NAMES = 8
_BAR = " | "


def canonical_summary(speaker: str, act: str, text: str, analysis: Analysis) -> str:
    """One line ``c_t`` of a step: speaker, act, object, values; at most about 25 words, all taken from the text.

    Args:
        act: the coarse event type's name ("Propose"), or empty.
        text: the resolved text.
        analysis: what :func:`~hexamem.intent.phrases.analysis.analyse` makes of it.
    """
    sample = text[:2000]
    chinese = not sample.isascii() and len(_CJK.findall(sample[:200])) * 4 > len(sample[:200].strip())
    key = act.casefold()
    if key not in _VERBS:
        key = next((known for known in _VERBS if key.startswith(known)), "")
    verb = _VERBS.get(key, ("says", "说"))[1 if chinese else 0]
    core = _objects(analysis) if key in _NAMES_OBJECT and not chinese else ""
    who = _line(speaker, 40)
    if core:
        return _short(f"{who} {verb} {core}", _MOST_WORDS)
    core = _best_sentence(sample, key == "ask", analysis)
    if not core:
        return f"{who} {verb}".strip()
    return _short(f"{who}{verb}：{core}" if chinese else f"{who} {verb}: {core}", _MOST_WORDS)


def _objects(analysis: Analysis) -> str:
    """The named things with what they cost, when, how good; empty where the step names none, or too many."""
    if analysis.items:
        return "; ".join(_with_values(item.text, item.line) for item in analysis.items[:4])
    names: dict[str, NounPhrase] = {}
    for phrase in analysis.phrases:
        if phrase.name and phrase.role != "oblique" and phrase.kind not in ("person", "address", "time"):
            names.setdefault(phrase.text.casefold(), phrase)
    if not 1 <= len(names) <= 3:
        return ""
    first = next(iter(names.values()))
    if len(names) == 1 and not first.kind and " " not in first.text:
        return ""
    return "; ".join(
        _with_values(f"the {phrase.text}" if phrase.determiner == "the" else phrase.text, analysis.about(phrase))
        for phrase in names.values()
    )


def _with_values(name: str, about: str) -> str:
    if not _DIGIT.search(about):
        return _line(name, 60)
    values = dict.fromkeys(match[0].strip(" .,") for match in _VALUE.finditer(about[:300]) if match[0] not in name)
    return ", ".join([_line(name, 60), *list(values)[:3]])


def _best_sentence(text: str, question: bool, analysis: Analysis) -> str:
    """The sentence that says most: the last question of who asks, else the one with most names and numbers."""
    whole = _without_filler(text.strip()) or text
    if len(text) < 200 and "\n" not in whole and len(whole.split()) <= 20:
        return _line(whole, 240)  # short enough as it is
    if question and analysis.question:
        asked = analysis.question
        if len(asked.split()) > 5 or _CJK.search(asked) or len(text) > 600:
            return _line(asked, 240)
        return _line(_without_filler(text) or text, 240)  # "Two beds, under 200 a night. What is there?"
    best, best_score = "", -1.0
    for place, sentence in enumerate(_SENTENCE.split(text)[:12]):
        bare = sentence.strip(" \t-*•–—#>")
        if place < 2:
            bare = _without_filler(bare) or bare
        if len(bare) < 2 or not any(character.isalnum() for character in bare[:80]):
            continue
        score = min(4, len(_DATA.findall(bare[:400]))) + min(len(bare), 80) / 40 - place * 0.3
        if len(bare) < 60 and _SWITCH.match(bare):
            score -= 2.0  # says where the talk goes, not what it is about
        if score > best_score:
            best, best_score = bare, score
    return _line(best, 400)


def _without_filler(text: str) -> str:
    """The text behind "ok, great, thanks!" and the like, which stands at its start alone."""
    filler = _FILLER.match(text)
    return text[filler.end() :] if filler else text


def _line(text: str, most: int) -> str:
    """On one line, no longer than that many characters; never cut inside a secret's reference."""
    line = " ".join(text[: most * 2].replace("|", "¦").split()) if "{{vault:" not in text else " ".join(text.split())
    return line if len(line) <= most else _whole_references(line[:most].rstrip(), line)


def _short(text: str, most: int) -> str:
    words = text.split()
    if len(words) > most:
        cut = " ".join(words[:most]).rstrip(" ,;:")
        text = _whole_references(cut, " ".join(words)) + " …"
    if not text.isascii() and len(_CJK.findall(text)) > 60:
        text = _whole_references(text[:80], text) + "…"
    return text


def _whole_references(cut: str, line: str) -> str:
    """Finish a ``{{vault:…}}`` that a cut left open."""
    opened = cut.rfind("{{")
    if opened < 0 or "}}" in cut[opened:]:
        return cut
    closed = line.find("}}", opened)
    return line[: closed + 2] if 0 <= closed - opened <= 400 else cut[:opened].rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    """What a scope is about so far, as its four parts.

    Attributes:
        who: speakers, in the order in which they came.
        purpose: what it is for, in the words of the step that opened it.
        names: key names, some with a value, the latest last.
        latest: the latest decision, else the latest proposal.
    """

    who: tuple[str, ...] = ()
    purpose: str = ""
    names: tuple[str, ...] = ()
    latest: str = ""

    def __str__(self) -> str:
        parts = (", ".join(self.who), self.purpose, "; ".join(self.names), self.latest)
        return _BAR.join(parts) if any(parts) else ""

    @classmethod
    def parse(cls, text: str) -> Gist:
        """Read back what ``str`` gave; any other text (a person's, a model's) becomes the purpose."""
        parts = text.split(_BAR)
        if len(parts) != 4:
            return cls(purpose=" ".join(text.replace("|", "¦").split()[:60]))
        return cls(
            who=tuple(name for name in parts[0].split(", ") if name),
            purpose=parts[1],
            names=tuple(name for name in parts[2].split("; ") if name),
            latest=parts[3],
        )


def readable_gist(gist: str) -> str:
    """A scope's stored gist as plain sentences, for people to read; a gist in other words as it stands.

    ``user, assistant | We go to Bonn. | Bonn; Hotel Sol (€90) | user decides Hotel Sol`` becomes "Between user and
    assistant. It began with: We go to Bonn. Named: Bonn, Hotel Sol (€90). The latest that counts: user decides Hotel Sol."
    """
    if gist.count(_BAR) != 3:
        return gist
    told = Gist.parse(gist)
    chinese = bool(_CJK.search(told.purpose or told.latest))
    who = told.who
    if chinese:
        parts = [
            f"{'、'.join(who)}的对话" if who else "",
            f"开头：{told.purpose}" if told.purpose else "",
            f"提到：{'、'.join(told.names)}" if told.names else "",
            f"最近：{told.latest}" if told.latest else "",
        ]
        return "".join(part if part[-1] in "。！？!?…" else f"{part}。" for part in parts if part)
    pair = " and ".join([", ".join(who[:-1]), who[-1]]) if len(who) > 1 else "".join(who)
    latest = "" if told.purpose and told.latest.endswith(told.purpose) else told.latest
    parts = [
        f"{'Between' if len(who) > 1 else 'By'} {pair}" if who else "",
        f"It began with: {told.purpose}" if told.purpose else "",
        f"Named: {', '.join(told.names)}" if told.names else "",
        f"The latest that counts: {latest}" if latest else "",
    ]
    return " ".join(part if part[-1] in ".!?…" else f"{part}." for part in parts if part)


def updated_gist(gist: str, *, speaker: str, role: str, act: str, summary: str, text: str, analysis: Analysis) -> str:
    """The gist after one more step, at most about 60 words; a function of its arguments alone.

    Args:
        gist: the scope's gist before.
        act: the step's coarse event type's name.
        summary: the step's canonical summary.
        text: its resolved text.
    """
    known = _corrected(Gist.parse(gist), text) if role not in ("tool", "system") else Gist.parse(gist)
    who = known.who
    name = _line(speaker.replace(",", " "), 24)
    if name and name not in who and len(who) < 4:
        who = (*who, name)
    purpose = known.purpose
    if not purpose and role not in ("tool", "system"):
        purpose = _short(_purpose(text), 14)
    names = _names(known.names, analysis)
    latest = known.latest
    if summary and (not latest or act.casefold() in _DECISIVE):
        latest = _short(summary.replace("|", "¦"), 16)
    return str(Gist(who=who, purpose=purpose, names=names, latest=latest))


def _corrected(gist: Gist, text: str) -> Gist:
    """The gist with the value in it that a text supersedes ("make it 400") put right; as it was where that is not clear.

    The old value is of the same kind as the new one: money, a time, or a count of the same thing. It is the one behind a
    word that the text names too ("the budget"), else the only one of its kind.
    """
    said = _CHANGES.search(text[:300])
    if said is None:
        return gist
    new = said["value"]
    kind = _kind(new)
    about = set(re.findall(r"[a-z]{4,}|[\u4e00-\u9fff]{2}", said[0].lower())) & _SUBJECTS
    parts = {"purpose": gist.purpose, "latest": gist.latest}
    places = [
        (name, match)
        for name, part in parts.items()
        for match in _ANY_VALUE.finditer(part)
        if _fits(_kind(match[0]), kind, part[max(0, match.start() - 14) : match.start()].lower()) and match[0] != new
    ]
    told = [
        (name, match)
        for name, match in places
        if any(word in parts[name][max(0, match.start() - 24) : match.end() + 12].lower() for word in about)
    ]
    places = told or ([] if about else places)
    if not places or len({_number(match[0]) for _, match in places}) != 1:
        return gist
    for name, match in reversed(places):
        part = parts[name]
        shown = new if new[:1] in _MONEY or match[0][:1] not in _MONEY or not new[:1].isdigit() else match[0][0] + new
        parts[name] = part[: match.start()] + shown + part[match.end() :]
    return replace(gist, purpose=parts["purpose"], latest=parts["latest"])


def _kind(value: str) -> str:
    """What a value counts: ``$``, ``time``, the noun behind the number, or nothing where it is bare."""
    if value[:1] in _MONEY or value[-1:] in "元块":
        return "$"
    if ":" in value or re.search(r"\d\s?[ap]m$|点", value, re.IGNORECASE):
        return "time"
    unit = value.lstrip("0123456789.,").strip().lower()
    return "$" if unit.startswith(("euro", "dollar", "pound")) else unit.rstrip("s")


def _fits(old: str, new: str, before: str) -> bool:
    """Whether two values are of one kind; a bare number is one of money, or any, only right behind what it is of."""
    if old == new and old:
        return True
    named = any(word in before for word in _SUBJECTS)
    return (old in ("", "$") and new in ("", "$")) and (old == "$" or named)


def _number(value: str) -> str:
    return "".join(character for character in value if character.isdigit() or character in ".:")


def _purpose(text: str) -> str:
    """The first words that say something, more than one sentence where they are short."""
    said: list[str] = []
    for sentence in _SENTENCE.split(text[:1500])[:6]:
        bare = _without_filler(sentence.strip(" \t-*•#>"))
        if len(bare.split()) >= 4 or len(_CJK.findall(bare)) >= 6:
            said.append(bare)
        if sum(len(part.split()) for part in said) >= 8 or len(_CJK.findall("".join(said))) >= 12:
            break
    return _line(" ".join(said), 200)


def _names(known: tuple[str, ...], analysis: Analysis) -> tuple[str, ...]:
    """Names as they were, the new step's at the end; those not spoken of longest fall out first."""
    fresh = [
        phrase
        for phrase in analysis.phrases
        if phrase.name and phrase.role != "oblique" and phrase.kind not in ("address", "time", "abstract", "amount")
    ]
    if not fresh:
        return known
    kept = {_bare(name): name for name in known}
    values = _DIGIT.search(analysis.text) is not None
    for phrase in fresh[-_MOST_NAMES:]:
        shown = _line(phrase.text.replace(";", ","), 40)
        key = shown.casefold()
        if len(key) < 3 and not _CJK.search(key):
            continue
        price = _first_value(analysis.about(phrase)[len(phrase.text) : 140]) if values and phrase.kind else None
        if price:
            shown = f"{shown} ({price[0].strip(' .,').replace(';', ',')})"
        before = kept.pop(key, "")
        kept[key] = shown if price or not before else before
    return tuple(list(kept.values())[-_MOST_NAMES:])


def _first_value(text: str) -> re.Match[str] | None:
    return _VALUE.search(text) if _DIGIT.search(text) else None


def _bare(name: str) -> str:
    return name.partition(" (")[0].casefold()
