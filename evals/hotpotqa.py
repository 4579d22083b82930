"""HotpotQA (EMNLP 2018): questions that need two paragraphs, over as many paragraphs as a length asks for.

Two forms of file are read, both JSON lists:

- the authors' distractor file (``hotpot_dev_distractor_v1.json``): ``_id``, ``question``, ``answer``, ``type``,
  ``supporting_facts`` (pairs of title and sentence number) and ``context`` (ten pairs of title and sentences);
- contexts concatenated already, as the evaluation of GAM reads them (``eval_400.json``, ``eval_1600.json``,
  ``eval_3200.json``: 56K, 224K and 448K tokens): ``context`` (a text of ``Document N:`` blocks), ``input``, ``answers``.
  They do not say which documents hold the answer: answers are scored, evidence is not.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.evals.records import Conversation, EvalMessage, Question, read_json
from hexamem.models.tokens import count_tokens

__all__ = ["is_hotpotqa", "load_hotpotqa"]

_NEEDED = ("_id", "question", "answer", "supporting_facts", "context")
_BLOCK = re.compile(r"^Document \d+:[ \t]*\n?", re.MULTILINE)
_PER_THREAD = 15  # about 2,000 tokens, the size of GAM's pages
_Paragraph = tuple[str, str]  # title and text


def is_hotpotqa(record: object) -> bool:
    """Whether a record of a JSON list is of one of the two forms."""
    return isinstance(record, dict) and (
        {"supporting_facts", "context", "question"} <= record.keys()
        or ({"input", "answers"} <= record.keys() and isinstance(record.get("context"), str))
    )


def load_hotpotqa(
    path: Path, *, tokens: int | None = None, questions: int | None = None, seed: int = 0
) -> list[Conversation]:
    """Read HotpotQA; each question is a conversation of its own, with its own pile of documents.

    A document is one message of role ``user`` under a neutral id ``doc-N``, its title on the first line; 15 in a
    thread. With ``tokens``, paragraphs of other questions of the file are added until the pile is so long, none twice
    and none with a title that supports the answer, and all are shuffled: as GAM (arXiv 2511.18423, section 4) and
    the sets that it uses concatenate them.

    Args:
        path: the file.
        tokens: how long each pile is, by :func:`~hexamem.models.tokens.count_tokens`, to within a paragraph; None
            leaves it at the question's own paragraphs, in the file's order.
        questions: the first so many only.
        seed: of the choice and the order of the paragraphs.

    Returns:
        Conversations ``hotpotqa-<id>``. ``Question.evidence`` are the documents that support the answer (none where
        the file does not say), ``category`` is ``bridge`` or ``comparison``, ``gold["answers"]`` the gold answers.

    Raises:
        CorruptFileError: naming file, record and what does not fit.
        InvalidInputError: the file holds fewer tokens of paragraphs than asked for, or is concatenated already.
    """
    data = read_json(path)
    records = data if isinstance(data, list) else [data]
    if not records or not all(is_hotpotqa(record) for record in records):
        bad = next((index for index, record in enumerate(records, 1) if not is_hotpotqa(record)), 1)
        raise CorruptFileError(
            f"{path}, record {bad}: is no question of HotpotQA; it has {', '.join(_NEEDED)}, or context, input and answers"
        )
    chosen = records[:questions]
    if isinstance(records[0]["context"], str):
        if tokens is not None:
            raise InvalidInputError(f"{path}: its contexts are concatenated already; leave the length out")
        return [_concatenated(f"{path}, record {index}", record) for index, record in enumerate(chosen, 1)]
    every = {title: text for index, record in enumerate(records, 1) for title, text in _paragraphs(path, index, record)}
    return [_distractor(path, index, record, every, tokens, seed) for index, record in enumerate(chosen, 1)]


def _paragraphs(path: Path, index: int, record: dict[str, Any]) -> list[_Paragraph]:
    place = f"{path}, record {index}"
    if missing := [key for key in _NEEDED if key not in record]:
        raise CorruptFileError(f"{place}: {', '.join(missing)} missing; a question of HotpotQA has them")
    found: list[_Paragraph] = []
    if not isinstance(record["question"], str) or not isinstance(record["context"], list):
        raise CorruptFileError(f"{place}: question is no text, or context no list of paragraphs")
    for pair in record["context"]:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], list)):
            raise CorruptFileError(f"{place}, context: holds something else than pairs of a title and its sentences")
        found.append((pair[0], "".join(str(sentence) for sentence in pair[1]).strip()))
    return found


def _distractor(
    path: Path, index: int, record: dict[str, Any], every: dict[str, str], tokens: int | None, seed: int
) -> Conversation:
    own = _paragraphs(path, index, record)
    supporting = {str(fact[0]) for fact in record["supporting_facts"]}
    if lost := supporting - {title for title, _ in own}:
        raise CorruptFileError(f"{path}, record {index}: supporting title {sorted(lost)[0]!r} is not in its context")
    pile = own
    if tokens is not None:
        rng = random.Random(f"{record['_id']} {seed}")
        pile = [*own, *_more(path, own, every, tokens, rng)]
        rng.shuffle(pile)
    evidence = tuple(f"doc-{number}" for number, (title, _) in enumerate(pile, 1) if title in supporting)
    return _conversation(
        str(record["_id"]),
        [f"{title}\n{text}" for title, text in pile],
        question=str(record["question"]),
        answers=[str(record["answer"])],
        category=str(record.get("type") or "hotpotqa"),
        evidence=evidence,
        gold={"supporting_facts": record["supporting_facts"]},
    )


def _more(
    path: Path, own: Sequence[_Paragraph], every: dict[str, str], tokens: int, rng: random.Random
) -> Iterator[_Paragraph]:
    left = tokens - sum(count_tokens(f"{title}\n{text}") for title, text in own)
    titles = [title for title in every if title not in {title for title, _ in own}]
    rng.shuffle(titles)
    for title in titles:
        if left <= 0:
            return
        yield title, every[title]
        left -= count_tokens(f"{title}\n{every[title]}")
    if left > 0:
        raise InvalidInputError(
            f"{path}: its paragraphs have {tokens - left:,} tokens, fewer than the {tokens:,} asked for; ask for fewer, "
            "or give the whole file"
        )


def _concatenated(place: str, record: dict[str, Any]) -> Conversation:
    answers = record["answers"]
    if not isinstance(answers, list) or not answers:
        raise CorruptFileError(f"{place}: answers is no list of gold answers")
    blocks = [block.strip() for block in _BLOCK.split(record["context"])]
    return _conversation(
        str(record.get("index", place.rpartition(" ")[2])),
        [block for block in blocks if block],
        question=str(record["input"]),
        answers=[str(answer) for answer in answers],
        category="hotpotqa",
        evidence=(),
        gold={},
    )


def _conversation(
    name: str,
    documents: Sequence[str],
    *,
    question: str,
    answers: Sequence[str],
    category: str,
    evidence: tuple[str, ...],
    gold: dict[str, Any],
) -> Conversation:
    messages = tuple(
        EvalMessage(
            id=f"doc-{number}",
            role="user",
            name=None,
            content=text,
            thread_id=f"documents_{(number - 1) // _PER_THREAD + 1}",
        )
        for number, text in enumerate(documents, 1)
    )
    asked = Question(
        id=f"hotpotqa-{name}",
        text=question,
        answer=answers[0],
        category=category,
        evidence=evidence,
        gold={**gold, "answers": tuple(answers)},
    )
    return Conversation(id=f"hotpotqa-{name}", messages=messages, questions=(asked,), dataset="hotpotqa")
