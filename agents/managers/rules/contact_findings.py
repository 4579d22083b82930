"""Findings for the vault: contacts and missed secrets, with captions that say whose they are."""

from __future__ import annotations

import copy
import re
from datetime import tzinfo

from ....memory_types.proposals import Evidence
from ....stores.secrets import find_references
from .contacts import find_contacts
from .finding import Finding
from .introductions import introduced
from .missed_secrets import missed_secrets
from .people import People
from .sentences import Reading
from .words import content_words

__all__ = ["contact_findings"]


def contact_findings(reading: Reading, zone: tzinfo, people: People, owner: str) -> list[Finding]:
    """The contacts of a step, and secrets that were missed: not those of documents, nor references to the vault.

    Args:
        owner: the name of whoever speaks, where it is known.
    """
    spoken = reading.raw
    for start, end in reading.skipped:
        spoken = spoken[:start] + " " * (min(end, len(spoken)) - start) + spoken[end:]
    for reference in find_references(spoken):
        spoken = spoken[: reference.start] + " " * (reference.end - reference.start) + spoken[reference.end :]
    found: list[Finding] = []
    ends: list[int] = []
    for contact in find_contacts(spoken, zone, owner):
        # Apply takes the value out of the quote when it takes it out of the step.
        caption = contact.caption
        pronoun = re.search(
            r"\b(?P<en>his|her)\b|(?P<zh>[他她])的?", reading.raw[contact.before : contact.start], re.IGNORECASE
        )
        if pronoun and ("told in" in caption or "提到" in caption):
            at = contact.before + pronoun.start()
            word = {"his": "he", "her": "she"}.get((pronoun["en"] or "").lower(), pronoun["zh"] or "he")
            meant = _read_up_to(at, reading, people).meant(word, at)
            whose = meant.shown if meant else _named_before(at, reading)
            if whose:
                caption = f"{contact.entry_type} of {whose}" if pronoun["en"] else f"{whose}的联系方式"
        before = max([contact.before, *(end for end in ends if end <= contact.start)])
        ends.append(contact.end)
        quote = reading.raw[before : contact.end].strip(" ,;，；")
        found.append(
            Finding(
                kind="vault",
                secret=contact.value,
                evidence=(Evidence(step_id=reading.step_id, quote=quote),),
                confidence=0.85,
                values={
                    "entry_type": contact.entry_type,
                    "caption": caption,
                    "source": "conversation",
                    "sensitivity": contact.sensitivity,
                },
                reason="contact",
                topics=content_words(caption),
            )
        )
    for start, end, kind, caption in missed_secrets(spoken):
        if any(each.secret == spoken[start:end] for each in found):
            continue
        begin = max(spoken.rfind(mark, 0, start) for mark in "\n.!?。！？,，") + 1
        found.append(
            Finding(
                kind="vault",
                secret=spoken[start:end],
                confidence=0.8,
                reason="secret told beside its name",
                evidence=(Evidence(step_id=reading.step_id, quote=reading.raw[begin:end].strip()),),
                topics=content_words(caption),
                values={"entry_type": kind, "caption": caption, "source": "conversation", "sensitivity": "high"},
            )
        )
    return found


def _read_up_to(at: int, reading: Reading, people: People) -> People:
    """The people known at a character of a step that is yet to be read for what it tells of them."""
    known = copy.deepcopy(people)
    for sentence in reading.sentences:
        if sentence.start <= at and not sentence.supposed:
            known.read(sentence.text, reading.has_han, sentence.start)
    return known


def _named_before(at: int, reading: Reading) -> str:
    """The one person named in the sentence of a pronoun before it: "Hector changed his number"."""
    said = next((reading.raw[each.start : at] for each in reading.sentences if each.start <= at < each.end), "")
    named = list(introduced(said, has_han=reading.has_han))
    return named[0].name if len(named) == 1 else ""
