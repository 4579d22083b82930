"""The data sets of a study: conversations given by path, grouped by folder, and some that are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hexamem.errors import InvalidInputError
from hexamem.evals.answers import spread
from hexamem.evals.datasets import each_once, load_conversations
from hexamem.evals.records import Conversation
from hexamem.evals.ruler import FAMILIES as RULER_FAMILIES
from hexamem.evals.ruler import make_ruler
from hexamem.evals.study.msc import is_msc, load_msc
from hexamem.evals.study.out_of_distribution import is_out_of_distribution, load_out_of_distribution
from hexamem.evals.synthetic import FAMILIES, make_conversations

__all__ = ["StudySet", "made_up_sets", "study_sets"]

_PLAIN = {"dev", "test", "train", "data", "conversations", "corpus"}
_RULER_TOKENS = 2_000
"""How long RULER's texts are."""


@dataclass(frozen=True, slots=True)
class StudySet:
    """Conversations that are reported, trained on and tested on together."""

    name: str
    conversations: tuple[Conversation, ...]


def study_sets(paths: Sequence[Path], *, limit: int | None = None) -> list[StudySet]:
    """Read the data sets.

    Args:
        paths: a folder is a data set of its name; files of one folder are a data set of that folder's name. The form
            of each file is found out; the questions of ``evals/corpus/out_of_distribution`` and files of Multi-Session
            Chat are read too. Files of LongMemEval and MSC are called after their form.
        limit: so many conversations of each, evenly spread; all when None.

    Raises:
        InvalidInputError: no path, one conversation given twice, or a limit below 1.
        CorruptFileError: a file is damaged.
    """
    if not paths:
        raise InvalidInputError("a study is made on files: name at least one file or folder of conversations")
    if limit is not None and limit < 1:
        raise InvalidInputError(f"{limit} conversations: take at least one of each data set")
    groups: dict[str, list[Conversation]] = {}
    for path in each_once(paths):
        file = path / "questions.json" if path.is_dir() else path
        if is_out_of_distribution(file):
            found = load_out_of_distribution(file)
        elif is_msc(path):
            found = load_msc(path)
        else:
            found = load_conversations(path)
        groups.setdefault(_name(path.resolve(), found), []).extend(found)
    for name, found in groups.items():
        ids = [one.id for one in found]
        if doubles := [one for one in ids if ids.count(one) > 1]:
            raise InvalidInputError(f"conversation {doubles[0]!r} of {name} is given twice")
    return [StudySet(name, tuple(spread(found, limit))) for name, found in groups.items()]


def made_up_sets(count: int, *, seed: int = 0) -> list[StudySet]:
    """``synthetic``: ``count`` short trajectories a family; ``ruler``: ``count`` samples of each task with evidence."""
    if count < 1:
        return []
    # Aggregation has no evidence turns: every turn counts, so there is nothing to rank.
    tasks = [task for family, names in RULER_FAMILIES.items() if family != "aggregation" for task in names]
    samples = [make_ruler(task, _RULER_TOKENS, seed=seed + number) for task in tasks for number in range(count)]
    return [
        StudySet("synthetic", tuple(make_conversations(list(FAMILIES), "S", seed=seed, count=count, split="test"))),
        StudySet("ruler", tuple(samples)),
    ]


def _name(path: Path, found: Sequence[Conversation]) -> str:
    if is_msc(path):
        return "msc"
    if path.is_file() and found[0].dataset == "longmemeval":
        return "longmemeval"
    folder = path if path.is_dir() else path.parent
    if folder.name not in _PLAIN:
        return folder.name
    return f"{folder.parent.name}/{folder.name}" if folder.name != "corpus" else f"{folder.name} ({_languages(found)})"


def _languages(found: Sequence[Conversation]) -> str:
    return "+".join(sorted({str(one.metadata.get("language", "unknown")) for one in found}))
