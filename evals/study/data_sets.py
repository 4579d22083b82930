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
from hexamem.evals.synthetic import FAMILIES, make_conversations

__all__ = ["StudySet", "made_up_sets", "study_sets"]

_PLAIN = {"dev", "test", "train", "data", "conversations"}
_RULER_TOKENS = 2_000
"""Length of RULER's texts."""


@dataclass(frozen=True, slots=True)
class StudySet:
    """Conversations that are one row of the report, and one unit of training and testing."""

    name: str
    conversations: tuple[Conversation, ...]


def study_sets(paths: Sequence[Path], *, limit: int | None = None) -> list[StudySet]:
    """Read the data sets.

    Args:
        paths: a folder is a data set of its name; files of one folder are a data set of that folder's name. The format
            of each file is detected. A file of LongMemEval is the data set ``longmemeval``.
        limit: maximum of conversations of each data set, evenly spread; all when None.

    Raises:
        InvalidInputError: no path, one conversation given twice, or a limit below 1.
        CorruptFileError: a file is damaged.
    """
    if not paths:
        raise InvalidInputError("no path given: name at least one file or folder of conversations")
    if limit is not None and limit < 1:
        raise InvalidInputError(f"limit={limit}: must be at least 1")
    groups: dict[str, list[Conversation]] = {}
    for path in each_once(paths):
        conversations = load_conversations(path)
        groups.setdefault(_name(path.resolve(), conversations), []).extend(conversations)
    for group, conversations in groups.items():
        ids = [conversation.id for conversation in conversations]
        if doubles := [name for name in ids if ids.count(name) > 1]:
            raise InvalidInputError(f"conversation {doubles[0]!r} of {group} is given twice; name each file once")
    return [StudySet(name, tuple(spread(conversations, limit))) for name, conversations in groups.items()]


def made_up_sets(count: int, *, seed: int = 0) -> list[StudySet]:
    """``synthetic``: ``count`` short trajectories per family; ``ruler``: ``count`` samples per task with evidence."""
    if count < 1:
        return []
    # Aggregation has no evidence turns: every turn counts, so there is nothing to rank.
    tasks = [task for family, names in RULER_FAMILIES.items() if family != "aggregation" for task in names]
    samples = [make_ruler(task, _RULER_TOKENS, seed=seed + number) for task in tasks for number in range(count)]
    return [
        StudySet("synthetic", tuple(make_conversations(list(FAMILIES), "S", seed=seed, count=count, split="test"))),
        StudySet("ruler", tuple(samples)),
    ]


def _name(path: Path, conversations: Sequence[Conversation]) -> str:
    if path.is_file() and conversations[0].dataset == "longmemeval":
        return "longmemeval"
    folder = path if path.is_dir() else path.parent
    return f"{folder.parent.name}/{folder.name}" if folder.name in _PLAIN else folder.name
