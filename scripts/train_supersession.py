"""Train the supersession of the cross-encoder further, from the weights that ship, with its relevance held by a copy of it.

    python scripts/train_supersession.py

Pairs of statements from ``evals/corpus/supersession`` are learned; a copy of the network before the training says what
the relevance of questions and turns must remain. It takes about 20 minutes on two cores. The report, with the figures on the
validation pairs before and after, goes to ``docs/encoder.md``.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import torch
from encoder_training.corpus import Pair, Part, load
from encoder_training.network import seed_everything
from encoder_training.pair_network import PairNetwork, export_pair_network, recall_at
from encoder_training.reading import read_pair_network
from sklearn.metrics import average_precision_score
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss
from torch.nn.utils.parametrize import register_parametrization, remove_parametrizations

from hexamem.agents.reader import Reader
from hexamem.evals.sealed import open_files
from hexamem.models.encoder.runtime import read_encoder_tokenizer
from hexamem.models.reranker import Reranker
from hexamem.stores.embedders import open_embedder

DATA = Path(__file__).resolve().parents[1] / "models" / "reranker" / "data"
_BATCH, _UNRELATED, _QUESTIONS = 32, 12, 6
"""Of a step: labelled pairs, pairs of statements of different origins, and pairs of a question and a turn."""


def main() -> None:
    arguments = _arguments()
    seed_everything(arguments.seed)
    train, validation = load(validation=False), load(validation=True)
    network, before = read_pair_network(DATA, read_encoder_tokenizer(), arguments.tokens), Reranker(DATA)
    teacher = copy.deepcopy(network).eval()
    _round_weights(network)
    report: dict[str, Any] = {
        "pairs": [len(train.pairs), len(validation.pairs)],
        "before": evaluate(network, validation.pairs),
    }
    print(json.dumps(report), flush=True)
    optimizer = torch.optim.AdamW(
        [p for p in network.parameters() if p.requires_grad], lr=arguments.rate, weight_decay=0.01
    )
    steps = len(train.pairs) // _BATCH
    for epoch in range(arguments.epochs):
        network.train()
        started, total = time.time(), np.zeros(2)
        order = random.sample(train.pairs, len(train.pairs))
        for step in range(steps):
            share = (epoch * steps + step) / (arguments.epochs * steps)
            for group in optimizer.param_groups:
                group["lr"] = arguments.rate * min(1.0, share / 0.06 + 0.02) * max(0.02, 1 - share)
            replaced = _supersession_loss(network, order[step * _BATCH : (step + 1) * _BATCH], train.pairs)
            relevant = _relevance_loss(network, teacher, train)
            optimizer.zero_grad()
            (replaced + arguments.relevance * relevant).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            total += replaced.item(), relevant.item()
        losses = dict(zip(("supersession", "relevance"), (total / steps).round(3).tolist(), strict=True))
        figures = {"losses": losses, **evaluate(network, validation.pairs), "seconds": round(time.time() - started)}
        print(f"epoch {epoch + 1}:", json.dumps(figures), flush=True)
    report["after"] = evaluate(network, validation.pairs)
    for module in _linear(network):
        remove_parametrizations(module, "weight")
    report["export"] = export_pair_network(network.eval(), arguments.out, {"layers": 4, "seed": arguments.seed})
    report["small memories"] = measure_memories(Reranker(arguments.out))
    report["relevance, correlation with that before"] = _correlation(Reranker(arguments.out), before, validation)
    print(json.dumps(report, indent=1))


class _Rounded(nn.Module):
    """A weight ``(out, in)`` as the export rounds it: 7 bits per output. The gradient passes as if it were not rounded."""

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        step = weight.detach().abs().amax(1, keepdim=True).clamp_min(1e-8) / 64
        return weight + ((weight / step).round() * step - weight).detach()


def _linear(network: PairNetwork) -> list[nn.Linear]:
    return [module for module in network.modules() if isinstance(module, nn.Linear)]


def _round_weights(network: PairNetwork) -> None:
    for module in _linear(network):
        register_parametrization(module, "weight", _Rounded())


def _supersession_loss(network: PairNetwork, chosen: list[Pair], pairs: list[Pair]) -> torch.Tensor:
    """Labelled pairs, beside statements of different origins, of which none replaces the other."""
    others = [(random.choice(pairs).earlier, random.choice(pairs).later) for _ in range(_UNRELATED)]
    texts = [(pair.earlier, pair.later) for pair in chosen] + others
    wanted = torch.tensor([float(pair.supersedes) for pair in chosen] + [0.0] * len(others))
    return binary_cross_entropy_with_logits(network.supersedes(network.pooled(texts)).squeeze(-1), wanted)


def _relevance_loss(network: PairNetwork, teacher: PairNetwork, part: Part) -> torch.Tensor:
    texts = _asked(part, _QUESTIONS)
    with torch.no_grad():
        wanted = teacher.relevance(teacher.pooled(texts)).squeeze(-1)
    return mse_loss(network.relevance(network.pooled(texts)).squeeze(-1), wanted)


def _asked(part: Part, count: int) -> list[tuple[str, str]]:
    """Questions, each with a turn of its conversation: half of them with one that answers it."""
    texts = []
    for number in range(count):
        conversation = random.choice([one for one in part.conversations if one.questions])
        question = random.choice(conversation.questions)
        answers = question.evidence if number % 2 else ()
        texts.append(
            (
                question.text,
                conversation.turns[random.choice(answers)] if answers else random.choice(conversation.turns),
            )
        )
    return texts


def evaluate(network: PairNetwork, pairs: list[Pair]) -> dict[str, float]:
    """Average precision of supersession, and recall at two precisions."""
    network.eval()
    with torch.no_grad():
        pooled = network.pooled([(pair.earlier, pair.later) for pair in pairs])
        scores = network.supersedes(pooled).squeeze(-1).numpy()
    labels = np.array([pair.supersedes for pair in pairs])
    at = {
        f"recall at precision {precision}": round(recall_at(scores, labels, precision), 3) for precision in (0.8, 0.9)
    }
    return {"average precision": round(float(average_precision_score(labels, scores)), 3), **at}


def measure_memories(reranker: Reranker) -> dict[str, int]:
    """Replaced statements of the small memories: how many there are, how many the reader finds, how many others it takes."""
    counts = {"replaced": 0, "found": 0, "false": 0}
    reader = Reader(open_embedder("bundled"), supersedes=reranker.supersedes)
    for path in open_files("supersession_memories"):
        for memory in json.loads(path.read_text(encoding="utf-8"))["memories"]:
            expected = [statement["replaces"] for statement in memory["statements"]]
            superseded = reader.superseded([statement["text"] for statement in memory["statements"]], [])
            for earlier, taken in zip(expected, superseded, strict=True):
                counts["replaced"] += earlier is not None
                counts["found"] += taken is not None and taken == earlier
                counts["false"] += taken is not None and taken != earlier
    return counts


def _correlation(after: Reranker, before: Reranker, part: Part) -> float:
    texts = _asked(part, 600)
    scores = [[float(model.relevance(question, [turn])[0]) for question, turn in texts] for model in (after, before)]
    return round(float(np.corrcoef(*scores)[0, 1]), 4)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1e-4, help="highest learning rate")
    parser.add_argument("--relevance", type=float, default=0.6, help="weight of the loss of relevance")
    parser.add_argument("--tokens", type=int, default=112, help="tokens of a pair that are read")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=DATA)
    return parser.parse_args()


if __name__ == "__main__":
    main()
