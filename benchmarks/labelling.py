"""Measure the embedded labelling: the labeler alone, and ingest with labels off and on against raw Chroma.

Prints a table and writes JSON. Figures are steps a second of CPU time, all threads together, the best of several
runs: they hold on a machine that does other things too. Ingest is given by the clock as well.

    python benchmarks/labelling.py                    # all parts
    python benchmarks/labelling.py labeller           # some of them
    python benchmarks/labelling.py --locomo DIR       # real conversations from a folder of LoCoMo ones
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from foundation import ROOT
from rich.console import Console
from rich.table import Table

from hexamem.evals.records import Conversation
from hexamem.intent.contract import Embed, StepView

EPOCH = datetime(2025, 3, 1, 9, tzinfo=UTC)
RUNS = 3
BATCH = 1_000


def conversations(locomo: Path | None) -> dict[str, list[Conversation]]:
    """By data set: synthetic trajectories of the ``dev`` split, and LoCoMo where a folder is given."""
    from hexamem.evals.datasets import load_conversations
    from hexamem.evals.synthetic import make_conversations

    figures = {"synthetic": list(make_conversations(size="M", split="dev"))}
    if locomo is not None:
        figures["locomo"] = list(load_conversations(locomo))
    return figures


def views(conversation: Conversation, embed: Embed) -> list[StepView]:
    """What the labeller sees of a conversation, its turns a minute apart."""
    texts = [one.content if isinstance(one.content, str) else "" for one in conversation.messages]
    vectors = np.asarray(embed(texts), np.float32)
    return [
        StepView(
            id=f"step_{turn}",
            thread_id=one.thread_id or conversation.id,
            turn=turn,
            role=one.role,
            speaker=one.name or one.role,
            text=text,
            occurred_at=EPOCH + timedelta(minutes=turn),
            vector=vector,
        )
        for turn, (one, text, vector) in enumerate(zip(conversation.messages, texts, vectors, strict=True))
    ]


def labelling_seconds(given: Sequence[Sequence[StepView]], embed: Embed) -> float:
    """CPU seconds to label conversations whose vectors are known, each with a new labeler."""
    from hexamem.intent.embedded_labeler import EmbeddedLabeler

    taken = 0.0
    for steps in given:
        labeler = EmbeddedLabeler("ann", embed)
        began = time.process_time()
        for start in range(0, len(steps), BATCH):
            labeler.label(steps[start : start + BATCH])
        taken += time.process_time() - began
    return taken


def measure_labeller(data: Mapping[str, Sequence[Conversation]]) -> dict[str, Any]:
    """Microseconds a step without embedding it, and steps a second."""
    from hexamem.stores.embedders import open_embedder

    embed = open_embedder("bundled").embed_documents
    figures: dict[str, Any] = {}
    for name, listed in data.items():
        given = [views(one, embed) for one in listed]
        count = sum(map(len, given))
        seconds = min(labelling_seconds(given, embed) for _ in range(RUNS))
        figures[f"{name}, {count} steps"] = {
            "us_a_step": round(1e6 * seconds / count),
            "steps_per_cpu_s": round(count / seconds),
        }
    return figures


def ingest(conversation: Sequence[Conversation], labels: str) -> tuple[float, float, np.ndarray]:
    """CPU and clock seconds to store and index conversations, one user each; and the vectors of the texts stored."""
    from hexamem import Memory, Settings
    from hexamem.stores.documents import step_document

    settings = Settings(background=False, mode="off", labels=labels)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as home, Memory.open(home, settings=settings) as memory:
        memory.embedder.embed_documents(["warm"])
        clock, cpu = time.perf_counter(), time.process_time()
        for one in conversation:
            user = memory.user(one.id)
            user.remember([turn.as_message() for turn in one.messages], thread_id=one.id)
            user.flush()
        cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
        texts = [step_document(step).text for one in conversation for step in memory.user(one.id).steps()]
        return cpu, clock, np.asarray(memory.embedder.embed_documents(texts))


def raw_chroma(vectors: np.ndarray) -> tuple[float, float]:
    """CPU and clock seconds to add vectors to an empty collection."""
    import chromadb

    with tempfile.TemporaryDirectory() as folder:
        client = chromadb.PersistentClient(folder, settings=chromadb.Settings(anonymized_telemetry=False))
        collection = client.create_collection("raw", metadata={"hnsw:space": "cosine"}, embedding_function=None)
        clock, cpu = time.perf_counter(), time.process_time()
        for start in range(0, len(vectors), BATCH):
            part = vectors[start : start + BATCH]
            collection.add(ids=[f"step_{start + place}" for place in range(len(part))], embeddings=part)
        return time.process_time() - cpu, time.perf_counter() - clock


def measure_ingest(data: Mapping[str, Sequence[Conversation]]) -> dict[str, Any]:
    """Steps a second through ``remember`` and ``flush`` with labels off and embedded, and of ``Collection.add``."""
    figures: dict[str, Any] = {}
    for name, listed in data.items():
        best: dict[str, tuple[float, float]] = {}
        count = 0
        for _ in range(RUNS):
            for labels in ("off", "embedded"):
                cpu, clock, vectors = ingest(listed, labels)
                count = len(vectors)
                best[labels] = min((cpu, clock), best.get(labels, (cpu, clock)))
                if labels == "off":
                    best["raw Chroma"] = min(raw := raw_chroma(vectors), best.get("raw Chroma", raw))
        for kind, (cpu, clock) in best.items():
            figures[f"{name}: {kind}"] = {"steps_per_cpu_s": round(count / cpu), "steps_per_s": round(count / clock)}
        added = 1e6 * (best["embedded"][0] - best["off"][0]) / count
        figures[f"{name}: labels cost"] = f"{added:.0f} us of CPU time a step"
    return figures


def main() -> None:
    """Run the parts asked for, show them, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["labeller", "ingest"])
    parser.add_argument("--locomo", type=Path, default=ROOT.parent / "shared" / "data" / "locomo")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "labelling.json")
    arguments = parser.parse_args()
    data = conversations(arguments.locomo if arguments.locomo.is_dir() else None)
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "labeller": lambda: measure_labeller(data),
        "ingest": lambda: measure_ingest(data),
    }
    results: dict[str, Any] = {"cpus": psutil.cpu_count(), "python": sys.version.split()[0]}
    console = Console()
    for part in arguments.parts:
        results[part] = parts[part]()
        table = Table(title=part, title_justify="left")
        table.add_column("what")
        table.add_column("figure")
        for name, value in results[part].items():
            shown = "  ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            table.add_row(name, shown)
        console.print(table)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    console.print(f"written to {arguments.json}")


if __name__ == "__main__":
    main()
