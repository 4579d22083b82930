"""Train the static model's rows on ``evals/corpus``, and write them to ``stores/embedders/static_model``.

    python scripts/distil_embedder.py              # first: the rows that training starts from
    pip install torch && python scripts/train_static.py

The rows learn, in about six minutes on one core, from the questions of the training part: the turns with evidence against
others of the conversation, and the encoder's distribution over the same turns (distillation). Both hold for the mean of the
rows, the dense vector, and for late interaction (:mod:`hexamem.stores.embedders.late_interaction`). Recall@10 on the
validation part is printed after each epoch. The ranking, the reader, the labels and the kinds of questions that use the
model are to be trained anew afterwards. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import torch
from distil_embedder import DATA_FILES, OUT, dump, quantize
from encoder_training.corpus import Conversation, load
from safetensors.numpy import save
from torch.nn import functional

from hexamem.stores.embedders.encoder import EncoderEmbedder
from hexamem.stores.embedders.static import StaticEmbedder

TEMPERATURE = 0.05
LATE = 0.5
"""The weight of late interaction in the loss; that of the mean is 1."""
QUESTIONS, OTHERS = 24, 150
"""The questions of a batch, and the turns that they are compared with besides their evidence."""
LONGEST = 120
"""Distinct pieces of a turn that late interaction reads in training."""


@dataclass(frozen=True)
class Talk:
    """A conversation as word pieces, with the encoder's vectors of its turns and questions."""

    turns: list[list[int]]
    questions: list[list[int]]
    evidence: list[list[int]]
    turn_vectors: torch.Tensor
    question_vectors: torch.Tensor


def main() -> None:
    arguments = _arguments()
    stored = json.loads((OUT / "metadata.json").read_text(encoding="utf-8"))
    if "distilled" in stored:
        sys.exit(f"The rows in {OUT} are trained already: run scripts/distil_embedder.py first.")
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    model, encoder = StaticEmbedder(), EncoderEmbedder()
    conversations = [conversation for conversation in load(validation=False).conversations if conversation.questions]
    talks = []
    for number, conversation in enumerate(conversations, 1):
        talks.append(read_talk(conversation, model, encoder))
        print(f"\rencoded {number} of {len(conversations)} conversations", end="", flush=True)
    print()
    rows = torch.nn.Parameter(torch.tensor(model.token_rows(np.arange(model.pieces), ())))
    optimizer = torch.optim.Adam([rows], lr=arguments.rate)
    held_out = load(validation=True).conversations
    print("before:", *recalls(model, held_out))
    for epoch in range(1, arguments.epochs + 1):
        total = 0.0
        for talk in random.sample(talks, len(talks)):
            for part in batches(talk):
                loss = loss_of(rows, talk, part)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += float(loss.detach())
        print(f"epoch {epoch}: loss {total:.0f},", *recalls(with_rows(model, rows), held_out), flush=True)
    write(rows.detach().numpy(), stored)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rate", type=float, default=1e-3)
    return parser.parse_args()


def read_talk(conversation: Conversation, model: StaticEmbedder, encoder: EncoderEmbedder) -> Talk:
    """A conversation with what training needs of its questions that have evidence."""
    asked = [question for question in conversation.questions if question.evidence]
    texts = [question.text for question in asked]
    return Talk(
        turns=[pieces for pieces, _ in model.tokenize(conversation.turns)],
        questions=[pieces for pieces, _ in model.tokenize(texts)],
        evidence=[question.evidence for question in asked],
        turn_vectors=torch.tensor(encoder.embed_documents(conversation.turns)),
        question_vectors=torch.tensor(encoder.embed_documents(texts)),
    )


def batches(talk: Talk) -> Iterator[list[int]]:
    """The places of a talk's questions, in random order and parts. Those without a known piece are left out."""
    order = [place for place, pieces in enumerate(talk.questions) if pieces]
    random.shuffle(order)
    for start in range(0, len(order), QUESTIONS):
        yield order[start : start + QUESTIONS]


def loss_of(rows: torch.Tensor, talk: Talk, part: Sequence[int]) -> torch.Tensor:
    """The loss of some questions against their evidence and random turns of their conversation."""
    evidence = {turn for place in part for turn in talk.evidence[place]}
    others = random.sample(range(len(talk.turns)), min(OTHERS, len(talk.turns)))
    turns = sorted({turn for turn in (*evidence, *others) if talk.turns[turn]})
    right = torch.tensor([[float(turn in talk.evidence[place]) for turn in turns] for place in part])
    teacher = (talk.question_vectors[list(part)] @ talk.turn_vectors[turns].T / TEMPERATURE).softmax(dim=1)
    questions, texts = [talk.questions[place] for place in part], [talk.turns[turn] for turn in turns]
    mean = means(rows, questions) @ means(rows, texts).T
    return compared(mean, right, teacher) + LATE * compared(late(rows, questions, texts), right, teacher)


def compared(scores: torch.Tensor, right: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Each piece of evidence against all turns without evidence, and the cross entropy with the teacher.

    Args:
        scores: ``(questions, turns)``, at most 1. right: 1 for evidence. teacher: a distribution a question.
    """
    scores = scores / TEMPERATURE
    wrong = scores.masked_fill(right > 0, -1e9).logsumexp(dim=1, keepdim=True)
    surprise = (torch.logaddexp(scores, wrong.expand_as(scores)) - scores) * right
    contrast = surprise.sum(dim=1) / right.sum(dim=1).clamp(min=1)
    return (contrast - (teacher * scores.log_softmax(dim=1)).sum(dim=1)).mean()


def means(rows: torch.Tensor, texts: Sequence[Sequence[int]]) -> torch.Tensor:
    """The unit vectors of texts ``(n, d)``."""
    flat = torch.tensor([piece for text in texts for piece in text])
    starts = torch.tensor(np.cumsum([0, *map(len, texts[:-1])]))
    return functional.normalize(functional.embedding_bag(flat, rows, starts, mode="sum"), dim=1)


def late(rows: torch.Tensor, questions: Sequence[Sequence[int]], texts: Sequence[Sequence[int]]) -> torch.Tensor:
    """Late interaction ``(questions, texts)``, divided by the weights of a question's pieces. The rarity has no gradient."""
    distinct = [list(dict.fromkeys(text))[:LONGEST] for text in texts]
    used = sorted({piece for text in distinct for piece in text})
    place_of = {piece: place for place, piece in enumerate(used)}
    longest = max(map(len, distinct))
    places = torch.tensor(
        [[place_of[piece] for piece in text] + [len(used)] * (longest - len(text)) for text in distinct]
    )
    asked = [list(dict.fromkeys(question)) for question in questions]
    of_question = rows[torch.tensor([piece for question in asked for piece in question])]
    similar = functional.normalize(of_question, dim=1) @ functional.normalize(rows[torch.tensor(used)], dim=1).T
    padded = torch.cat([similar, torch.full((len(similar), 1), -1.0)], dim=1)
    best = padded[:, places.reshape(-1)].reshape(len(padded), *places.shape).amax(dim=2)
    holding = (best.clamp(0, 1) ** 4).sum(dim=1).detach()
    weights = of_question.norm(dim=1) * torch.sqrt(torch.log1p((len(texts) - holding + 0.5) / (holding + 0.5)))
    parts = zip((weights[:, None] * best).split([*map(len, asked)]), weights.split([*map(len, asked)]), strict=True)
    return torch.stack([scores.sum(dim=0) / weight.sum() for scores, weight in parts])


def with_rows(model: StaticEmbedder, rows: torch.Tensor) -> StaticEmbedder:
    """A copy of the model with other rows, as they would be stored."""
    other = copy.copy(model)
    other._matrix, other._scales = quantize(rows.detach().numpy())
    return other


def recalls(model: StaticEmbedder, conversations: Sequence[Conversation]) -> tuple[str, str]:
    """Recall@10 of evidence by the mean and by late interaction, for people."""

    def measured(score: Callable[[Conversation], Iterator[np.ndarray]]) -> float:
        shares = [
            len({*np.argsort(-scores, kind="stable")[:10].tolist()} & {*question.evidence}) / len({*question.evidence})
            for conversation in conversations
            for question, scores in zip(conversation.questions, score(conversation), strict=True)
            if question.evidence
        ]
        return float(np.mean(shares))

    def by_mean(conversation: Conversation) -> Iterator[np.ndarray]:
        turns = model.embed_documents(conversation.turns)
        yield from (turns @ model.embed_query(question.text) for question in conversation.questions)

    def by_late(conversation: Conversation) -> Iterator[np.ndarray]:
        bags = model.token_bags(conversation.turns)
        yield from (model.compare_bags(question.text, bags) for question in conversation.questions)

    return f"recall@10 {measured(by_mean):.3f},", f"late interaction {measured(by_late):.3f}"


def write(rows: np.ndarray, metadata: dict[str, object]) -> None:
    """Write the rows, and the metadata with the fingerprint of what was distilled before."""
    matrix, scales = quantize(rows)
    (OUT / "model.safetensors").write_bytes(save({"embeddings": matrix, "weights": scales.astype(np.float32)}))
    files = {name: hashlib.sha256((OUT / name).read_bytes()) for name in DATA_FILES}
    metadata["distilled"] = metadata["fingerprint"]
    metadata["fingerprint"] = hashlib.sha256(b"".join(file.digest() for file in files.values())).hexdigest()
    metadata["sha256"] = {name: file.hexdigest() for name, file in files.items()}
    metadata["script"] = "scripts/distil_embedder.py, scripts/train_static.py"
    (OUT / "metadata.json").write_bytes(dump(metadata))
    print(f"{OUT}: {len(rows)} rows, fingerprint {metadata['fingerprint']}")


if __name__ == "__main__":
    main()
