"""The network that is trained: the transformer, and small heads on its vectors."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import normalize
from transformers import BertModel

TYPES = ("core", "episodic", "semantic", "procedural", "resource", "vault")
DIMENSION = 384
SCALE = 8.0
"""The auxiliary heads see unit vectors times this, so that their weights stay near 1."""


class Network(nn.Module):
    """An encoder with its heads.

    Of the embeddings only the rows from ``trained_rows`` on are trained: those of words that were added.

    Attributes:
        mixed: whether the transformer runs in bfloat16, as it does in training.

    Heads that are exported:
        subject: of a token state, a score of whether the token belongs to the name of what the sentence is about.
        hop: of a question's vector and that of a piece of evidence, the vector of what to look for next.

    Heads of auxiliary tasks, which shape the token states and are not exported (the classifiers of sentences that ship are
    fitted on vectors afterwards, by ``scripts/train_reader.py``):
        types: of a sentence's span vector, one logit per memory type, then one for "states when".
        attribute: of a span vector, one logit per frequent attribute.
    """

    def __init__(
        self, transformer: BertModel, tokenizer: Tokenizer, attributes: Sequence[str], tokens: int, trained_rows: int
    ) -> None:
        super().__init__()
        self.transformer, self.tokenizer, self.attributes, self.tokens = (
            transformer,
            tokenizer,
            tuple(attributes),
            tokens,
        )
        self.mixed = False
        self.types = nn.Linear(DIMENSION, len(TYPES) + 1)
        self.subject = nn.Linear(DIMENSION, 1, bias=False)
        self.attribute = nn.Linear(DIMENSION, len(self.attributes))
        self.hop_question = nn.Linear(DIMENSION, DIMENSION, bias=False)
        self.hop_evidence = nn.Linear(DIMENSION, DIMENSION, bias=False)
        self.hop_both = nn.Linear(DIMENSION, DIMENSION, bias=False)
        nn.init.eye_(self.hop_question.weight)
        nn.init.zeros_(self.hop_evidence.weight)
        nn.init.zeros_(self.hop_both.weight)
        for parameter in transformer.embeddings.parameters():
            parameter.requires_grad = False
        rows = transformer.embeddings.word_embeddings.weight
        if trained_rows < len(rows):
            rows.requires_grad = True
            rows.register_hook(lambda gradient: _without_first(gradient, trained_rows))

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of texts, at most ``tokens`` each."""
        limit = self.tokens
        encoded = self.tokenizer.encode_batch(list(texts))
        return [
            encoding.ids if len(encoding.ids) <= limit else [*encoding.ids[: limit - 1], encoding.ids[-1]]
            for encoding in encoded
        ]

    def states(self, ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Token states ``(n, t, d)`` and the mask ``(n, t)``."""
        width = max(map(len, ids))
        batch = torch.zeros(len(ids), width, dtype=torch.long)
        mask = torch.zeros(len(ids), width, dtype=torch.long)
        for row, token_ids in enumerate(ids):
            batch[row, : len(token_ids)] = torch.tensor(token_ids)
            mask[row, : len(token_ids)] = 1
        device = self.types.weight.device
        batch, mask = batch.to(device), mask.to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=self.mixed):
            states = self.transformer(input_ids=batch, attention_mask=mask).last_hidden_state
        return states.float(), mask

    def vectors(self, ids: Sequence[Sequence[int]], *, size: int = 32) -> Tensor:
        """Unit vectors ``(n, d)`` of token id lists, run in batches of similar length."""
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        rows: list[Tensor | None] = [None] * len(ids)
        for start in range(0, len(order), size):
            part = order[start : start + size]
            states, mask = self.states([ids[place] for place in part])
            weight = mask.unsqueeze(-1).to(states.dtype)
            pooled = normalize((states * weight).sum(1) / weight.sum(1), dim=-1)
            for row, place in enumerate(part):
                rows[place] = pooled[row]
        return torch.stack([row for row in rows if row is not None])

    def hop(self, question: Tensor, evidence: Tensor) -> Tensor:
        """Where to look next, unit rows ``(n, d)``."""
        both = self.hop_both(question * evidence * DIMENSION**0.5)
        return normalize(self.hop_question(question) + self.hop_evidence(evidence) + both, dim=-1)


def _without_first(gradient: Tensor, rows: int) -> Tensor:
    gradient = gradient.clone()
    gradient[:rows] = 0
    return gradient


def seed_everything(seed: int) -> None:
    """Fix the seeds of what training draws from."""
    random.seed(seed)
    torch.manual_seed(seed)
