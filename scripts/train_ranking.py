"""Train the weights of the learned ranking that ship with the package, and write them to ``retrieval/weights``.

    python scripts/train_ranking.py                  # for the bundled encoder
    python scripts/train_ranking.py --embedder static

For the encoder the conversations and trajectories are those of the validation part, which it was not trained on: on others
its vectors would seem better than they are. The static model has seen none, so all that are not sealed are used. Both also
learn from made-up trajectories.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from encoder_training.corpus import validation_files

from hexamem.evals.sealed import CORPUS, open_files

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run ``hexamem train`` on the files; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=("bundled", "static"), default="bundled")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--more", nargs=argparse.REMAINDER, default=[], help="further options of `hexamem train`")
    arguments = parser.parse_args()
    unseen = validation_files if arguments.embedder == "bundled" else open_files
    conversations = unseen("open", "*.json")
    trajectories = [
        path
        for path in (*open_files("intent/dev", "*_turns.jsonl"), *unseen("trajectories", "*_turns.jsonl"))
        if path.with_name(path.name.replace("_turns", "_questions")).exists()
    ]
    out = arguments.out or ROOT / "retrieval" / "weights" / f"{arguments.embedder}.safetensors"
    print(f"{len(conversations)} conversations and {len(trajectories)} trajectories of {CORPUS} → {out}", flush=True)
    command = [
        str(Path(sys.executable).with_name("hexamem")), "--embedder", arguments.embedder, "train", *map(str, conversations + trajectories),
        "--synthetic", "4", "--medium", "1", "--license", "Apache-2.0", "--out", str(out), *arguments.more,
    ]  # fmt: skip
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
