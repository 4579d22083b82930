"""Scopes that a text introduces by what they are called: their names, their parents, and what is kept of the text.

"Next up for project Marble: the warehouse screens, mainly in fir-gateway" opens
``Project Marble / Warehouse screens – fir-gateway``.
The dash marks a scope that was introduced so; the text itself is kept as the purpose in the label's gist, from which a
later process reads again what the scope is called by.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ... import lazy_re as re
from ..summaries import Gist
from .anchor import company_of
from .identity import GENERIC, IDENTIFIER, Features, read_features
from .naming import said_names
from .registry import DASH, SEPARATOR, Registry, Scope, reads_as_topic, topic_tokens
from .text import STOP, Words, same_length_lower

__all__ = ["introduce", "is_quoted", "name_topic", "open_introduced", "take_up", "topic_name"]

_WORD = re.compile(r"[^\W\d_][\w]*(?:[-.'’&/](?=\w)\w+)*|[^\s\w]")
_FILLER_TEXT = """
introduce introducing introduced created creating approved approve board starting launched launching submit submitting
touches touch heart core mainly mostly proof allow permit hear beforehand please agree basics understood owe build
draws rests based called named everyone knows know argument effect regards members jury eye let kick off project
begins plank short round read opening new start starts launch order court chair
"""
_FILLER = frozenset(_FILLER_TEXT.split())
_PROJECT = re.compile(r"\b[Pp]roject (?P<name>[A-Z][\w-]+)|\b(?P<pre>[A-Z][\w-]+) project\b(?! [A-Z])")
_READ = 300
_PURPOSE = 40
_LONGEST = 48  # characters of a topic's name
_QUOTED = "Talk: "


def _purpose_gist(words: Words) -> str:
    """The gist of a scope that a text opens: its first words as the purpose."""
    said = words.text[:_READ].replace("|", "¦").split()[:_PURPOSE]
    return str(Gist(purpose=" ".join("".join(c for c in word if c.isprintable()) for word in said).strip()))


def open_introduced(words: Words, registry: Registry, speakers: AbstractSet[str]) -> Scope:
    """Open the scope that a text introduces, under its project where it names one."""
    text = words.text[:_READ]
    runs = _runs(text, speakers)
    parent_name = ""
    if match := _PROJECT.search(text):
        parent_name = match["name"] or match["pre"]
    else:
        single = [run for run in runs if len(run) == 1 and _is_name(run[0])]
        if single and not any(len(run) > 1 and _is_name(run[0]) for run in runs):
            parent_name = single[0][0]
    identifiers = [" ".join(run) for run in runs if _is_identifier(run) and run[0] != parent_name]
    subjects = [
        " ".join(run)
        for run in runs
        if not _is_identifier(run) and run[0] != parent_name and " ".join(run) not in identifiers
    ]
    identifiers.sort(key=lambda name: registry.identities.spread(same_length_lower(name)))
    if not subjects and len(identifiers) > 1:
        subjects = [identifiers.pop(0)]
    subjects = list(dict.fromkeys(subjects))
    if parent_name and len(subjects) > 1:  # what is said next to the project's name is its part
        at = next((i for i, run in enumerate(runs) if parent_name in run), 0)
        where = {" ".join(run): abs(i - at) - 0.1 * len(run) for i, run in reversed(list(enumerate(runs)))}
        subjects = [min(subjects, key=lambda name: where.get(name, 99.0))]
    subjects = subjects[:3]
    own = ", ".join(subjects) or "Work"
    own = f"{own[:1].upper()}{own[1:60]}{DASH}{identifiers[0] if identifiers else 'work'}"
    scope = registry.open("work", own, parent=_parent(parent_name, registry) if parent_name else None)
    scope.introduced = True
    return scope


def introduce(scope: Scope, words: Words, features: Features, registry: Registry, *, whole: bool) -> None:
    """Keep what the step that opens a scope says of it.

    Args:
        whole: the step speaks of this scope alone; else it opens a plan among other things, and only names are its own.
    """
    if whole:
        label = registry.labels[scope.id]
        if not label.gist and scope.kind != "topic":
            registry.set_label(label.model_copy(update={"gist": _purpose_gist(words)}))
        registry.identities.introduce(scope.index, features)
        return
    roots = {token for root in registry.roots for token in root.tokens}
    if words.count <= _PURPOSE:
        names = {
            one: weight for one, weight in features.items() if weight >= IDENTIFIER and roots.isdisjoint(one.split())
        }
        registry.identities.introduce(scope.index, names)


def take_up(scope: Scope, registry: Registry) -> None:
    """Read again, from its label, what a scope was introduced with."""
    if scope.kind == "trip":
        scope.company |= company_of(scope.own)
    purpose = Gist.parse(registry.labels[scope.id].gist).purpose
    if purpose and (scope.introduced or (scope.kind == "goal" and company_of(scope.root.own))):
        registry.identities.introduce(scope.index, read_features(purpose))


def _parent(name: str, registry: Registry) -> Scope:
    token = same_length_lower(name)
    for scope in registry.by_token.get(token, ()):
        if scope.kind == "project":
            return scope
    return registry.open("project", f"Project {name}", tokens=(token,))


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word[1:].islower() and len(word) > 2


def _is_identifier(run: list[str]) -> bool:
    coded = any(mark in run[0] for mark in "-._/") or (run[0][:1].isupper() and not run[0][1:].islower())
    return (len(run) == 1 and coded and len(run[0]) > 4) or (len(run) > 1 and _is_name(run[0]))


def _runs(text: str, speakers: AbstractSet[str]) -> list[list[str]]:
    """Runs of words that say something, as they are written; a capital that only begins a sentence is lowered."""
    runs: list[list[str]] = [[]]
    begins = True
    for token in _WORD.findall(text):
        lower = same_length_lower(token)
        if not token[0].isalpha():
            begins = token in ".!?:;"
            runs.append([])
            continue
        if len(token) < 3 or lower in STOP or lower in GENERIC or lower in _FILLER or lower in speakers:
            runs.append([])
        else:
            follows = begins and _is_name(token) and "-" not in token
            runs[-1].append(lower if follows and not _named_later(token, text) else token)
        begins = False
    return [run[:3] for run in runs if run]


def _named_later(token: str, text: str) -> bool:
    """Whether a capital at a sentence's start is a name: it stands so before a colon, or within a sentence too."""
    return f"{token}:" in text or re.search(rf"[a-z,] {re.escape(token)}\b", text) is not None


def topic_name(text: str) -> tuple[str, bool]:
    """The name of a topic that nobody named, and whether it only stands for a better one.

    It is a noun phrase of the text (see :mod:`~hexamem.intent.scopes.naming`) that does not read like the name of
    another kind of scope; where the text has none, its first words.
    """
    for name in said_names(text):
        if len(name) <= _LONGEST and reads_as_topic(name):
            return name, False
    about = " ".join(text[:80].split()[:5])[:40].strip(" ,.;:!?/")
    return (f"{_QUOTED}{about}" if about else "Talk"), True


def is_quoted(name: str) -> bool:
    """Whether a topic's name only quotes its first words, for want of a better one."""
    return name.rpartition(SEPARATOR)[2].startswith(_QUOTED)


def name_topic(scope: Scope, words: Words, registry: Registry) -> None:
    """Give a topic that has no name of its own yet the one that a later step offers."""
    name, stands_in = topic_name(words.text)
    if not stands_in:
        registry.rename(scope, name, tokens=topic_tokens(name))
