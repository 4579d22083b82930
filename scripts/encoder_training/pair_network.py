"""The cross-encoder: it reads two texts together, and scores relevance and supersession."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import BertModel

from encoder_training.corpus import Part
from encoder_training.exporting import quantize
from encoder_training.network import DIMENSION, Network
from encoder_training.tasks import listwise

_GROUPS, _NEGATIVES, _FIRST, _POSITIVES = 6, 7, 40, 3
_PAIRS, _EASY_PAIRS = 32, 8


class PairNetwork(nn.Module):
    """A transformer with two linear heads on the mean of its token states.

    Args:
        tokenizer: is set to cut pairs as :class:`~hexamem.models.reranker.Reranker` does, the longer text first.
        tokens: of a pair that are read, the special ones included.

    Heads:
        relevance: of (question, turn), a logit; higher is more relevant.
        supersedes: of (earlier, later), a logit: whether the later statement replaces the earlier one.
    """

    def __init__(self, transformer: BertModel, tokenizer: Tokenizer, tokens: int) -> None:
        super().__init__()
        self.transformer, self.tokenizer, self.mixed = transformer, tokenizer, False
        tokenizer.enable_truncation(tokens, strategy="longest_first")
        self.relevance, self.supersedes = nn.Linear(DIMENSION, 1), nn.Linear(DIMENSION, 1)
        self.dropout = nn.Dropout(0.1)
        for parameter in transformer.embeddings.parameters():
            parameter.requires_grad = False

    def pooled(self, pairs: Sequence[tuple[str, str]], size: int = 48) -> Tensor:
        """Means of the token states of pairs, ``(n, d)``, run in batches of similar length."""
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(list(pairs))]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        rows: list[Tensor | None] = [None] * len(ids)
        for start in range(0, len(order), size):
            part = order[start : start + size]
            width = len(ids[part[-1]])
            batch, mask = (
                torch.zeros(len(part), width, dtype=torch.long),
                torch.zeros(len(part), width, dtype=torch.long),
            )
            for row, place in enumerate(part):
                batch[row, : len(ids[place])], mask[row, : len(ids[place])] = torch.tensor(ids[place]), 1
            device = self.relevance.weight.device
            with torch.autocast(device.type, torch.bfloat16, enabled=self.mixed):
                states = self.transformer(input_ids=batch.to(device), attention_mask=mask.to(device)).last_hidden_state
            weight = mask.to(device).unsqueeze(-1).float()
            means = (states.float() * weight).sum(1) / weight.sum(1)
            for row, place in enumerate(part):
                rows[place] = means[row]
        return self.dropout(torch.stack([row for row in rows if row is not None]))


class PairTasks:
    """Batches of questions with turns, and of pairs of statements.

    Args:
        encoder: ranks the turns of a conversation; negatives come from the first 40.
    """

    def __init__(self, part: Part, encoder: Network) -> None:
        self.part, self.rankings = part, rank(part, encoder)

    def batches(self) -> int:
        """How many steps an epoch takes."""
        return len(self.rankings) // _GROUPS

    def epoch(self, network: PairNetwork) -> Iterator[tuple[str, Tensor]]:
        """One pass over all questions, a batch of statements beside every second one: task and loss."""
        order = random.sample(self.rankings, len(self.rankings))
        for number in range(self.batches()):
            yield "relevance", self._relevance(network, order[number * _GROUPS : (number + 1) * _GROUPS])
            if number % 2 == 0:
                yield "supersedes", self._supersedes(network)

    def _relevance(self, network: PairNetwork, groups: Sequence[tuple[int, int, list[int]]]) -> Tensor:
        pairs: list[tuple[str, str]] = []
        wanted: list[list[int]] = []
        rows: list[list[int]] = []
        for conversation_at, question_at, ranking in groups:
            conversation = self.part.conversations[conversation_at]
            question = conversation.questions[question_at]
            positives = random.sample(question.evidence, min(len(question.evidence), _POSITIVES))
            wrong = [turn for turn in ranking if turn not in question.evidence]
            negatives = [
                *random.sample(wrong[:12], min(len(wrong[:12]), 4)),
                *random.sample(wrong[12:], min(len(wrong[12:]), _NEGATIVES - 4)),
            ]
            rows.append(list(range(len(pairs), len(pairs) + len(positives) + len(negatives))))
            wanted.append(list(range(len(positives))))
            pairs += [(question.text, conversation.turns[turn]) for turn in (*positives, *negatives)]
        scores = network.relevance(network.pooled(pairs)).squeeze(-1)
        return torch.stack([listwise(scores[row], want) for row, want in zip(rows, wanted, strict=True)]).mean()

    def _supersedes(self, network: PairNetwork) -> Tensor:
        chosen = random.sample(self.part.pairs, _PAIRS)
        texts = [(pair.earlier, pair.later) for pair in chosen]
        texts += [(chosen[i].earlier, chosen[i - 1].later) for i in range(_EASY_PAIRS)]
        wanted = torch.tensor([float(pair.supersedes) for pair in chosen] + [0.0] * _EASY_PAIRS)
        logits = network.supersedes(network.pooled(texts)).squeeze(-1)
        return binary_cross_entropy_with_logits(logits, wanted.to(logits.device))


def rank(part: Part, encoder: Network) -> list[tuple[int, int, list[int]]]:
    """Of every question with evidence its conversation, its place there, and the first 40 turns by the encoder."""
    encoder.eval()
    rankings: list[tuple[int, int, list[int]]] = []
    with torch.no_grad():
        for at, conversation in enumerate(part.conversations):
            turns = encoder.vectors(encoder.ids(conversation.turns), size=64)
            asked = encoder.vectors(encoder.ids([question.text for question in conversation.questions]), size=64)
            first = (asked @ turns.T).argsort(dim=1, descending=True)[:, :_FIRST].tolist()
            rankings += [(at, place, first[place]) for place, q in enumerate(conversation.questions) if q.evidence]
    return rankings


def recall_at(scores: Any, labels: Any, precision: float) -> float:
    """The highest recall at which the precision is still the given one."""
    order = np.argsort(-scores)
    right = np.cumsum(labels[order])
    reached = right[right / np.arange(1, len(order) + 1) >= precision]
    return float(reached.max() / labels.sum()) if len(reached) else 0.0


class _Outputs(nn.Module):
    def __init__(self, network: PairNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        states = self.network.transformer(input_ids=ids, attention_mask=mask).last_hidden_state
        weight = mask.unsqueeze(-1).to(states.dtype)
        means = (states * weight).sum(1) / weight.sum(1)
        return self.network.relevance(means).squeeze(-1), self.network.supersedes(means).squeeze(-1)


def export_pair_network(network: PairNetwork, out: Path, card: dict[str, Any]) -> dict[str, int]:
    """Write ``reranker.onnx`` and ``metadata.json``; returns the size of each in bytes."""
    out.mkdir(parents=True, exist_ok=True)
    quantize(_Outputs(network), ("relevance", "supersedes"), out / "reranker.onnx")
    digest = hashlib.sha256((out / "reranker.onnx").read_bytes()).hexdigest()
    metadata = {**card, "licence": "Apache-2.0", "sha256": digest}
    (out / "metadata.json").write_text(json.dumps(metadata, indent=1) + "\n", encoding="utf-8")
    return {path.name: path.stat().st_size for path in sorted(out.iterdir())}
