"""Train the cross-encoder of ``strategy="rerank"`` and of supersession, and write it to ``models/reranker/data``.

    python scripts/train_reranker.py            # after scripts/train_encoder.py, whose weights it starts from

Seeds are fixed, progress is shown, and a stopped run goes on after its last whole pass (state lies in ``.training``),
from the same encoder, on the same data and with the same arguments alone.
The report that is printed, with the figures on the validation part of the corpus, goes to ``docs/encoder.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import torch
from encoder_training.bases import load_base
from encoder_training.corpus import Part, load
from encoder_training.network import Network, seed_everything
from encoder_training.pair_network import PairNetwork, PairTasks, export_pair_network, rank, recall_at
from encoder_training.resuming import SavedTraining
from sklearn.metrics import average_precision_score
from torch import Tensor

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "models" / "reranker" / "data"
_MEASURED = 300
"""Questions of the validation part that are reordered after each pass."""


def main() -> None:
    arguments = _arguments()
    seed_everything(arguments.seed)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    folder = arguments.work / arguments.base
    train, validation = load(validation=False), load(validation=True)
    state = torch.load(folder / "network.pt", map_location="cpu")["weights"]
    encoder = _encoder(state, folder, arguments.base)
    rankings = rank(validation, encoder)
    tasks = PairTasks(train, encoder)
    transformer = encoder.transformer
    if arguments.layers < len(transformer.encoder.layer):
        transformer.encoder.layer = transformer.encoder.layer[: arguments.layers]
        transformer.config.num_hidden_layers = arguments.layers
    network = PairNetwork(transformer, encoder.tokenizer, arguments.tokens)
    if torch.cuda.is_available():
        network.to("cuda")
    data = train, hashlib.sha256((folder / "network.pt").read_bytes()).hexdigest()
    saved = SavedTraining(folder / "reranker.pt", data, arguments)
    history = _train(network, tasks, validation, rankings, arguments, saved)
    report: dict[str, Any] = {"layers": arguments.layers, "epochs": history}
    if not arguments.no_export:
        report["export"] = export_pair_network(
            network.to("cpu").eval(), arguments.out, {"layers": arguments.layers, "seed": arguments.seed}
        )
    print(json.dumps(report, indent=1))


def _encoder(state: dict[str, Tensor], folder: Path, base: str) -> Network:
    transformer, tokenizer, added_from = load_base(base, folder)
    network = Network(transformer, tokenizer, [""] * len(state["attribute.weight"]), 112, added_from)
    network.load_state_dict(state)
    return network


def _train(
    network: PairNetwork,
    tasks: PairTasks,
    validation: Part,
    rankings: Any,
    arguments: argparse.Namespace,
    saved: SavedTraining,
) -> list[dict[str, Any]]:
    optimizer = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], weight_decay=0.01)
    history = saved.resume(network, optimizer)
    total = arguments.epochs * tasks.batches()
    for epoch in range(len(history), arguments.epochs):
        seed_everything(arguments.seed + epoch + 1)
        network.train()
        network.mixed = True
        started, losses, done = time.time(), Counter[str](), Counter[str]()
        for task, loss in tasks.epoch(network):
            share = (epoch * tasks.batches() + done["relevance"]) / total
            for group in optimizer.param_groups:
                group["lr"] = arguments.rate * min(1.0, share / 0.06 + 0.02) * max(0.02, 1 - share)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses[task] += float(loss.detach())
            done[task] += 1
            if task == "relevance" and done[task] % 50 == 0:
                means = {name: round(losses[name] / done[name], 3) for name in losses}
                print(
                    f"epoch {epoch + 1} step {done[task]}/{tasks.batches()} {time.time() - started:.0f} s {means}",
                    flush=True,
                )
        figures = {"seconds": round(time.time() - started), **evaluate(network, validation, rankings)}
        history.append(figures)
        saved.save(network, optimizer, history)
        print(f"epoch {epoch + 1}:", json.dumps(figures), flush=True)
    return history


def evaluate(network: PairNetwork, part: Part, rankings: list[tuple[int, int, list[int]]]) -> dict[str, float]:
    """Recall@10 of a reordering of the encoder's first 40, and average precision of supersession."""
    network.eval()
    before, after, several = [], [], []
    with torch.no_grad():
        for at, place, ranking in rankings[:: max(1, len(rankings) // _MEASURED)]:
            conversation = part.conversations[at]
            question = conversation.questions[place]
            scores = network.relevance(network.pooled([(question.text, conversation.turns[turn]) for turn in ranking]))
            order = [ranking[row] for row in scores.squeeze(-1).argsort(descending=True).tolist()]
            evidence = set(question.evidence)
            before.append(len(evidence.intersection(ranking[:10])) / len(evidence))
            after.append(len(evidence.intersection(order[:10])) / len(evidence))
            if len(evidence) > 1:
                several.append(after[-1])
        pooled = network.pooled([(pair.earlier, pair.later) for pair in part.pairs])
        scores = network.supersedes(pooled).squeeze(-1).cpu().numpy()
    labels = np.array([pair.supersedes for pair in part.pairs])
    figures = {
        "recall@10 of the encoder": round(float(np.mean(before)), 4),
        "reordered": round(float(np.mean(after)), 4),
        "reordered, several": round(float(np.mean(several)), 4),
        "supersession ap": round(float(average_precision_score(labels, scores)), 3),
    }
    for precision in (0.8, 0.9):
        figures[f"supersession recall at precision {precision}"] = round(recall_at(scores, labels, precision), 3)
    return figures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="minilm")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=5e-5, help="highest learning rate")
    parser.add_argument("--tokens", type=int, default=112, help="tokens of a pair that are read")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--work", type=Path, default=ROOT / ".training")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--no-export", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
