"""HotpotQA (EMNLP 2018): questions that need two paragraphs, over as many paragraphs as a length asks for.

The authors' distractor file (``hotpot_dev_distractor_v1.json``) is read: a JSON list with ``_id``, ``question``,
``answer``, ``type``, ``supporting_facts`` (pairs of title and sentence number) and ``context`` (ten pairs of title and
sentences).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, model_validator

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.evals.records import Conversation, EvalMessage, Question, listed, parsed, read_json
from hexamem.models.tokens import count_tokens

__all__ = ["is_hotpotqa", "load_hotpotqa"]

_PER_THREAD = 15  # about 2,000 tokens, the size of GAM's pages


class _Distractor(BaseModel):
    id: str = Field(alias="_id")
    question: str
    answer: str
    supporting_facts: list[tuple[str, Any]]
    context: list[tuple[str, list[str]]]
    type: str | None = None

    @model_validator(mode="after")
    def _supported(self) -> _Distractor:
        if lost := {title for title, _ in self.supporting_facts} - {title for title, _ in self.context}:
            raise ValueError(f"supporting title {sorted(lost)[0]!r} is not in its context")
        return self

    def paragraphs(self) -> dict[str, str]:
        return {title: f"{title}\n{''.join(sentences).strip()}" for title, sentences in self.context}


def is_hotpotqa(record: object) -> bool:
    """Whether a record of a JSON list is of this form."""
    return isinstance(record, dict) and {"supporting_facts", "context", "question"} <= record.keys()


def load_hotpotqa(
    path: Path, *, tokens: int | None = None, questions: int | None = None, seed: int = 0
) -> list[Conversation]:
    """Read HotpotQA; each question is a conversation of its own, with its own documents.

    A document is one message of role ``user`` under a neutral id ``doc-N``, its title on the first line; 15 in a
    thread. With ``tokens``, paragraphs of other questions of the file are added until there are so many, none twice
    and none with a title that supports the answer, and all are shuffled: as GAM (arXiv 2511.18423, section 4) and
    the sets that it uses concatenate them.

    Args:
        path: the file.
        tokens: the length of the documents together, by :func:`~hexamem.models.tokens.count_tokens`, to within a
            paragraph; None leaves the question's own paragraphs, in the file's order.
        questions: the first so many only.
        seed: of the choice and the order of the paragraphs.

    Returns:
        Conversations ``hotpotqa-<id>``. ``Question.evidence`` are the documents that support the answer,
        ``category`` is ``bridge`` or ``comparison``, ``gold["answers"]`` the gold answers.

    Raises:
        CorruptFileError: naming file, record and what does not fit.
        InvalidInputError: the file holds fewer tokens of paragraphs than asked for.
    """
    records = listed(read_json(path))
    bad = next((number for number, record in enumerate(records, 1) if not is_hotpotqa(record)), None)
    if bad is not None or not records:
        raise CorruptFileError(
            f"{path}, record {bad or 1}: is no question of HotpotQA; it has _id, question, answer, supporting_facts and context"
        )
    every = [parsed(_Distractor, record, f"{path}, record {at}") for at, record in enumerate(records, 1)]
    paragraphs = {title: text for record in every for title, text in record.paragraphs().items()}
    conversations = []
    for record in every[:questions]:
        own = record.paragraphs()
        titles = list(own)
        if tokens is not None:
            rng = random.Random(f"{record.id} {seed}")
            titles += _further(path, own, paragraphs, tokens, rng)
            rng.shuffle(titles)
        conversations.append(_conversation(record, {title: paragraphs[title] for title in titles} | own, titles))
    return conversations


def _further(
    path: Path, own: Mapping[str, str], every: Mapping[str, str], tokens: int, rng: random.Random
) -> list[str]:
    """Titles of paragraphs of other questions that fill the length."""
    left = tokens - sum(map(count_tokens, own.values()))
    titles = [title for title in every if title not in own]
    rng.shuffle(titles)
    taken: list[str] = []
    while left > 0 and titles:
        taken.append(titles.pop(0))
        left -= count_tokens(every[taken[-1]])
    if left > 0:
        raise InvalidInputError(
            f"{path}: its paragraphs have {tokens - left:,} tokens, fewer than the {tokens:,} asked for; ask for fewer, "
            "or give the whole file"
        )
    return taken


def _conversation(record: _Distractor, texts: Mapping[str, str], titles: list[str]) -> Conversation:
    supporting = {title for title, _ in record.supporting_facts}
    name = f"hotpotqa-{record.id}"
    messages = tuple(
        EvalMessage(f"doc-{n + 1}", "user", None, texts[title], thread_id=f"documents_{n // _PER_THREAD + 1}")
        for n, title in enumerate(titles)
    )
    asked = Question(
        id=name,
        text=record.question,
        answer=record.answer,
        category=record.type or "hotpotqa",
        evidence=tuple(f"doc-{n}" for n, title in enumerate(titles, 1) if title in supporting),
        gold={"supporting_facts": [list(fact) for fact in record.supporting_facts], "answers": (record.answer,)},
    )
    return Conversation(name, messages, (asked,), dataset="hotpotqa")
