"""Figures of a network on conversations and sentences that it was not trained on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from encoder_training.corpus import Conversation, Part
from encoder_training.network import SCALE, TYPES, Network
from encoder_training.tasks import Tasks


def evaluate(network: Network, part: Part) -> dict[str, Any]:
    """Dense recall@10, the same with a second hop, and average precision of the heads."""
    network.eval()
    with torch.no_grad():
        return {
            "retrieval": retrieval(network, part.conversations),
            "sentences": _sentences(network, part),
        }


def retrieval(network: Network, conversations: Sequence[Conversation]) -> dict[str, float]:
    """Recall@10 of turns by the vectors alone, over all questions with evidence, by type and by language prefix.

    ``hop`` is the recall@10 of multi-hop questions by the greater of the first score and 0.9 times that of a second
    hop from each of the first three turns.
    """
    rows: dict[str, list[float]] = defaultdict(list)
    for conversation in conversations:
        turns = network.vectors(network.ids(conversation.turns), size=64)
        asked = network.vectors(network.ids([question.text for question in conversation.questions]))
        scores = asked @ turns.T
        first = scores.topk(min(3, len(turns)), dim=1).indices
        for place, question in enumerate(conversation.questions):
            if not question.evidence:
                continue
            recall = _recall(scores[place].cpu().numpy(), question.evidence)
            for name in ("all", question.type, f"language {conversation.name[:2]}"):
                rows[name].append(recall)
            if len(question.evidence) > 1:
                moved = network.hop(asked[place].expand(len(first[place]), -1), turns[first[place]])
                both = torch.maximum(scores[place], 0.9 * (moved @ turns.T).amax(0))
                rows["several, first"].append(recall)
                rows["several, hop"].append(_recall(both.cpu().numpy(), question.evidence))
    return {name: round(float(np.mean(values)), 4) for name, values in sorted(rows.items())}


def _recall(scores: Any, evidence: Sequence[int]) -> float:
    best = set(np.argsort(-scores, kind="stable")[:10].tolist())
    return len(best.intersection(evidence)) / len(evidence)


def _sentence_scores(network: Network, part: Part) -> tuple[Any, Any]:
    """Probabilities and labels of all sentences, ``(n, 7)`` each."""
    tasks = Tasks(Part(), network)
    scores, labels = [], []
    for start in range(0, len(part.messages), 16):
        messages = part.messages[start : start + 16]
        spans, _, wanted, _, _ = tasks.read_sentences(messages)
        scores.append(torch.sigmoid(network.types(SCALE * spans)).cpu().numpy())
        labels.append(wanted.cpu().numpy())
    return np.concatenate(scores), np.concatenate(labels)


def _sentences(network: Network, part: Part) -> dict[str, float]:
    from sklearn.metrics import average_precision_score

    if not part.messages:
        return {}
    scores, labels = _sentence_scores(network, part)
    names = [*TYPES, "dated"]
    figures = {
        f"ap {name}": round(float(average_precision_score(labels[:, i], scores[:, i])), 3)
        for i, name in enumerate(names)
        if labels[:, i].any()
    }
    figures["ap any"] = round(float(average_precision_score(labels[:, :6].any(1), scores[:, :6].max(1))), 3)
    for bound in (0.3, 0.4, 0.5, 0.6):
        predicted = scores[:, :6] > bound
        right = (predicted & (labels[:, :6] > 0)).sum()
        figures[f"precision at {bound}"] = round(float(right / max(1, predicted.sum())), 3)
        figures[f"recall at {bound}"] = round(float(right / labels[:, :6].sum()), 3)
    return figures
