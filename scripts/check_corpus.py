"""Check every file of ``evals/corpus`` that training reads: form, ids, dates, evidence; print how much there is.

python scripts/check_corpus.py            # exit status 1 where a file has a fault, each named with its place
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).resolve().parents[1] / "evals" / "corpus"
TYPES = {"core", "episodic", "semantic", "procedural", "resource", "vault"}
NEGATIVES = {
    "hypothesis",
    "joke",
    "quote",
    "fiction",
    "other",
    "offer",
    "question",
    "negated_request",
    "momentary",
    "generic",
}
QUESTIONS = {"multi-hop", "temporal", "unanswerable", "single-hop", "knowledge-update", "inference"}
_PART = r"\d{4}(?:-(?:\d\d(?:-\d\d)?|W\d\d|spring|summer|autumn|winter))?"
_DATE = re.compile(rf"{_PART}(?:\.\.{_PART})?")
_SESSION = "%I:%M %p on %d %B, %Y"


class Checked:
    """Faults found so far, and counts."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.counts: Counter[str] = Counter()

    def require(self, holds: bool, place: str, rule: str) -> None:
        """Note a fault where a rule does not hold."""
        if not holds:
            self.faults.append(f"{place}: {rule}")

    def conversation(self, path: Path) -> None:
        """A conversation with questions: turns numbered, sessions in order, evidence that exists."""
        data = read(path)
        place = str(path.relative_to(CORPUS))
        self.require(data.get("license") == "Apache-2.0", place, "names no licence Apache-2.0")
        turns: dict[str, int] = {}
        before, number = None, 1
        while f"session_{number}" in data:
            moment = datetime.strptime(data[f"session_{number}_date_time"], _SESSION)
            self.require(
                before is None or moment > before, f"{place} session {number}", "is not later than the one before"
            )
            before = moment
            for count, turn in enumerate(data[f"session_{number}"], 1):
                expected = f"D{number}:{count}"
                self.require(turn["dia_id"] == expected, f"{place} {turn['dia_id']}", f"should be {expected}")
                self.require(bool(turn.get("text") or turn.get("blip_caption")), f"{place} {expected}", "is empty")
                turns[turn["dia_id"]] = number
            number += 1
        self.counts["conversations"] += 1
        self.counts["turns"] += len(turns)
        seen: set[str] = set()
        for asked in data["qa"]:
            where = f"{place} {asked['question'][:60]!r}"
            self.require(asked["question"] not in seen, where, "is asked twice")
            seen.add(asked["question"])
            kind, evidence = asked["type"], asked["evidence"]
            self.require(kind in QUESTIONS, where, f"has the unknown type {kind!r}")
            missing = [turn for turn in [*evidence, *asked.get("near", [])] if turn not in turns]
            self.require(not missing, where, f"cites {missing}, which do not exist")
            self.require(bool(evidence) != (kind == "unanswerable"), where, "needs evidence, or none if unanswerable")
            self.counts["questions"] += 1
            self.counts[f"questions, {kind}"] += 1
            self.counts["questions, set over sessions"] += len({turns.get(turn) for turn in evidence}) > 1
            self.counts[f"questions, language {data['language']}"] += 1

    def sentences(self, path: Path) -> None:
        """Short conversations with labelled user sentences."""
        data = read(path)
        ids: set[str] = set()
        for conversation in data["conversations"]:
            place = f"{path.relative_to(CORPUS)} {conversation['id']}"
            self.require(conversation["id"] not in ids, place, "occurs twice")
            ids.add(conversation["id"])
            self.counts["short conversations"] += 1
            for message in conversation["messages"]:
                datetime.fromisoformat(message["timestamp"])
                for sentence in message.get("sentences", ()):
                    where = f"{place} {sentence['text'][:50]!r}"
                    types = set(sentence["types"])
                    self.require(types <= TYPES, where, f"has unknown types {sorted(types - TYPES)}")
                    negative = sentence.get("negative")
                    self.require(not (types and negative), where, "is both positive and a negative")
                    if negative and negative not in NEGATIVES:
                        self.counts["negatives of other names"] += 1
                    self.require(not types or bool(sentence.get("subject")), where, "states something of no subject")
                    date = sentence.get("date", "2000")
                    self.require(_DATE.fullmatch(date) is not None, where, f"has the date {date!r}")
                    self.counts["sentences"] += 1
                    self.counts["sentences, positive"] += bool(types)
                    self.counts["sentences, hard negative"] += bool(negative)

    def pairs(self, path: Path) -> None:
        """Pairs of statements."""
        for number, pair in enumerate(read(path)["pairs"], 1):
            place = f"{path.relative_to(CORPUS)} pair {number}"
            earlier, later = pair["earlier"], pair["later"]
            in_order = datetime.fromisoformat(earlier["date"]) <= datetime.fromisoformat(later["date"])
            self.require(in_order, place, "its later statement is the earlier one")
            self.require(isinstance(pair["supersedes"], bool), place, "supersedes is no truth value")
            self.counts["pairs"] += 1
            self.counts["pairs, superseding"] += pair["supersedes"]

    def trajectory(self, path: Path) -> None:
        """Turns with gold labels, and the questions beside them."""
        place = str(path.relative_to(CORPUS))
        turns = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        ids = [turn["id"] for turn in turns]
        self.require(len(set(ids)) == len(ids), place, "has an id twice")
        for turn in turns:
            labelled = turn.get("partition") and turn.get("action")
            self.require(bool(labelled), f"{place} {turn['id']}", "has no partition or no action")
        self.counts["trajectories"] += 1
        self.counts["trajectory turns"] += len(turns)
        asked = path.with_name(path.name.replace("_turns", "_questions"))
        for line in asked.read_text(encoding="utf-8").splitlines() if asked.exists() else ():
            question = json.loads(line)
            missing = set(question["answer_turn_ids"]) - set(ids)
            self.require(not missing, f"{asked.name} {question['id']}", f"cites {sorted(missing)}, which do not exist")
            self.counts["trajectory questions"] += 1


def read(path: Path) -> Any:
    """One JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def main() -> int:
    """Check all files; the number of files with faults decides the exit status."""
    checked = Checked()
    for folder, pattern, check in (
        ("open", "*.json", checked.conversation),
        ("sentences", "*.json", checked.sentences),
        ("supersession", "*.json", checked.pairs),
        ("trajectories", "*_turns.jsonl", checked.trajectory),
    ):
        for path in sorted((CORPUS / folder).glob(pattern)):
            try:
                check(path)
            except (KeyError, ValueError, TypeError) as error:
                checked.faults.append(f"{path.relative_to(CORPUS)}: {type(error).__name__}: {error}")
    for name, count in checked.counts.items():
        print(f"{count:6,} {name}")
    print(*checked.faults, sep="\n")
    return 1 if checked.faults else 0


if __name__ == "__main__":
    sys.exit(main())
