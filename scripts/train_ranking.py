"""Train the weights of the learned ranking that ship with the package, and write them to ``retrieval/weights``.

    python scripts/train_encoder.py --without 0 --out .training/half0        # for the bundled encoder
    python scripts/train_encoder.py --without 1 --out .training/half1
    python scripts/train_ranking.py --halves .training/half0 .training/half1
    python scripts/train_ranking.py --embedder static

Vectors of conversations that an encoder was trained on seem better than those of others. So conversations of the
validation part are read by the encoder that ships, and those of each half of the rest by an encoder that was trained without
that half; without ``--halves`` the rest is left out. The static model has seen none, so it reads all that are not sealed. Both
also learn from made-up trajectories.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from encoder_training.corpus import files, half, validation_files
from tqdm import tqdm

from hexamem import Memory
from hexamem.evals import load_conversations
from hexamem.evals.records import Conversation
from hexamem.evals.small_memories import small_memories
from hexamem.evals.synthetic import FAMILIES, make_conversations
from hexamem.evals.training import AskedQuestion, ask_all, learned_card, train
from hexamem.models.encoder import Encoder
from hexamem.retrieval.gate_learning import GateSettings
from hexamem.retrieval.learning import LearningSettings
from hexamem.retrieval.ranking_weights import save_weights
from hexamem.retrieval.signals.cues import KINDS, load_question_kinds
from hexamem.stores.embedders import Embedder, open_embedder
from hexamem.stores.embedders.encoder import EncoderEmbedder

ROOT = Path(__file__).resolve().parents[1]
SEED = 100  # `hexamem eval synthetic` makes other trajectories


class HalfEmbedder(EncoderEmbedder):
    """An encoder that was trained without one half of the corpus; the classifiers that ship do not fit it."""

    @property
    def name(self) -> str:
        return "half"


class Measured(NamedTuple):
    """Conversations with the features of the candidates of their questions, and of small memories cut from them."""

    conversations: list[Conversation]
    questions: list[AskedQuestion]
    small: list[AskedQuestion]


def measure(paths: Sequence[Path], made_up: Sequence[Conversation], embedder: Embedder, operations: bool) -> Measured:
    """Store conversations in a temporary memory and measure the candidates of every question."""
    conversations = [c for path in paths for c in load_conversations(path)] + list(made_up)
    with (
        tempfile.TemporaryDirectory(prefix="hexamem-") as home,
        Memory.open(home, embedder=embedder) as memory,
        tqdm(unit="question") as bar,
    ):

        def advance(what: str, done: int, total: int) -> None:
            bar.total = total
            bar.set_description(what, refresh=False)
            bar.update(done - bar.n)

        questions = ask_all(memory, conversations, advance, operations=operations)
        bar.reset()
        small = ask_all(memory, small_memories(conversations), advance, operations=False)
    if embedder.name == "half":
        questions, small = with_kinds(questions), with_kinds(small)
    return Measured(conversations, questions, small)


def with_kinds(questions: Sequence[AskedQuestion]) -> list[AskedQuestion]:
    """Questions with the kind that the encoder that ships reads in them."""
    kinds = load_question_kinds("bundled")
    assert kinds is not None
    vectors = open_embedder("bundled").embed_documents([asked.question.text for asked in questions])
    changed = []
    for asked, vector in zip(questions, vectors, strict=True):
        cues = asked.features.cues.copy()
        cues[: len(KINDS)] = kinds.shares(vector)
        changed.append(replace(asked, features=replace(asked.features, cues=cues)))
    return changed


def open_corpus(chosen: Sequence[Path]) -> list[Path]:
    """Of the chosen conversations and trajectories, those with questions."""
    return [
        path
        for path in chosen
        if not path.stem.endswith("_turns") or path.with_name(path.name.replace("_turns", "_questions")).exists()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=("bundled", "static"), default="bundled")
    parser.add_argument("--halves", type=Path, nargs=2, help="encoders trained --without 0 and --without 1")
    parser.add_argument("--operations", action="store_true", help="also train the gate of the operations")
    parser.add_argument("--measured", type=Path, default=ROOT / ".training", help="where the features are cached")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    embedder = open_embedder(arguments.embedder)
    made_up = [
        conversation
        for size, count in (("S", 4), ("M", 1))
        for conversation in make_conversations(list(FAMILIES), size, seed=SEED, count=count, split="dev")
    ]
    everything = [*files("open"), *files("trajectories", "*_turns.jsonl")]
    validation = {*validation_files("open"), *validation_files("trajectories", "*_turns.jsonl")}
    unseen = everything if arguments.embedder == "static" else [path for path in everything if path in validation]
    parts = [("unseen", [*files("intent/dev", "*_turns.jsonl"), *unseen], made_up, embedder)]
    for number, folder in enumerate(arguments.halves or ()):
        rest = [path for path in everything if path not in validation and half(path) == number]
        parts.append((f"half{number}", rest, [], HalfEmbedder(Encoder(folder))))
    measured = []
    for name, paths, more, reader in parts:
        cached = arguments.measured / f"ranking_{arguments.embedder}_{name}_{arguments.operations}.pickle"
        if not cached.exists():
            cached.parent.mkdir(parents=True, exist_ok=True)
            cached.write_bytes(pickle.dumps(measure(open_corpus(paths), more, reader, arguments.operations)))
        measured.append(pickle.loads(cached.read_bytes()))
    conversations = [conversation for part in measured for conversation in part.conversations]
    questions = [asked for part in measured for asked in part.questions]
    settings, gate = LearningSettings(), GateSettings() if arguments.operations else None
    card = learned_card(conversations, questions, settings, arguments.embedder, "Apache-2.0", gate)
    weights = train(
        questions,
        settings,
        fingerprint=embedder.fingerprint,
        card=card,
        gate=gate,
        small=[asked for part in measured for asked in part.small],
    )
    out = arguments.out or ROOT / "retrieval" / "weights" / f"{arguments.embedder}.safetensors"
    save_weights(weights, out)
    print(
        f"{out}: {weights.parameters:,} numbers from {len(questions)} questions of {len(conversations)} conversations"
    )


if __name__ == "__main__":
    main()
