"""Train the weights of the learned ranking that ship with the package, and write them to ``retrieval/weights``.

    python scripts/train_ranking.py                  # for the bundled encoder
    python scripts/train_ranking.py --embedder static

For the encoder the conversations are those of the validation part, which it was not trained on: on others its vectors
would seem better than they are. The static model has seen no conversation, so all that are not sealed are used. Both
also learn from trajectories with questions and from made-up ones.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from encoder_training.corpus import CORPUS, files, validation_files

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run ``hexamem train`` on the files; gives its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=("bundled", "static"), default="bundled")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--trees", type=int, default=200)
    arguments = parser.parse_args()
    conversations = validation_files("open") if arguments.embedder == "bundled" else files("open")
    trajectories = [
        path
        for folder in ("intent/dev", "trajectories")
        for path in files(folder, "*_turns.jsonl")
        if path.with_name(path.name.replace("_turns", "_questions")).exists()
    ]
    out = arguments.out or ROOT / "retrieval" / "weights" / f"{arguments.embedder}.safetensors"
    print(f"{len(conversations)} conversations and {len(trajectories)} trajectories of {CORPUS} → {out}", flush=True)
    command = [
        str(Path(sys.executable).with_name("hexamem")), "--embedder", arguments.embedder, "train", *map(str, conversations + trajectories),
        "--synthetic", "4", "--medium", "2", "--license", "Apache-2.0", "--trees", str(arguments.trees), "--out", str(out),
    ]  # fmt: skip
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
