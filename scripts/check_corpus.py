"""Check every file of ``evals/corpus`` that training reads: form, ids, dates, evidence; print how much there is.

    python scripts/check_corpus.py            # exit status 1 where a file has a fault, each named with its place

Sealed files are checked too, so a fault names files, ids, places and rules, and never shows what a text says.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hexamem.evals.sealed import CORPUS, sealed_files

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
    """Faults so far, and counts."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.counts: Counter[str] = Counter()
        self.seen: dict[tuple[str, ...], str] = {}

    def require(self, holds: object, place: str, rule: str) -> None:
        """Note a fault where a rule does not hold."""
        if not holds:
            self.faults.append(f"{place}: {rule}")

    def once(self, place: str, *key: str) -> None:
        """Note a fault where the same key was at another place."""
        self.require(key not in self.seen, place, f"is in {self.seen.get(key)} too")
        self.seen.setdefault(key, place)

    def conversation(self, path: Path, place: str) -> None:
        """A conversation with questions: turns numbered, sessions in order, evidence that exists."""
        data = read(path)
        self.require(data.get("license") == "Apache-2.0", place, "names no licence Apache-2.0")
        turns: dict[str, int] = {}
        before, session = datetime.min, 1
        while f"session_{session}" in data:
            moment = datetime.strptime(data[f"session_{session}_date_time"], _SESSION)
            self.require(moment > before, f"{place} session {session}", "is not later than the one before")
            before = moment
            for count, turn in enumerate(data[f"session_{session}"], 1):
                expected = f"D{session}:{count}"
                self.require(turn["dia_id"] == expected, f"{place} {turn['dia_id']}", f"should be {expected}")
                self.require(turn.get("text") or turn.get("blip_caption"), f"{place} {expected}", "is empty")
                turns[turn["dia_id"]] = session
            session += 1
        self.counts.update({"conversations": 1, "turns": len(turns)})
        for number, asked in enumerate(data["qa"], 1):
            where = f"{place} question {number}"
            kind, evidence = asked["type"], asked["evidence"]
            self.once(where, place, asked["question"])
            self.require(kind in QUESTIONS, where, "has an unknown type")
            missing = [turn for turn in [*evidence, *asked.get("near", [])] if turn not in turns]
            self.require(not missing, where, f"cites {missing}, which do not exist")
            self.require(bool(evidence) != (kind == "unanswerable"), where, "needs evidence, or none if unanswerable")
            self.counts["questions"] += 1
            self.counts[f"questions, {kind}"] += 1
            self.counts["questions, set over sessions"] += len({turns.get(turn) for turn in evidence}) > 1
            self.counts[f"questions, language {data['language']}"] += 1

    def sentences(self, path: Path, place: str) -> None:
        """Short conversations with labelled user sentences."""
        for conversation in read(path)["conversations"]:
            here = f"{place} {conversation['id']}"
            self.once(here, place, conversation["id"])
            self.counts["short conversations"] += 1
            for position, message in enumerate(conversation["messages"], 1):
                datetime.fromisoformat(message["timestamp"])
                for number, sentence in enumerate(message.get("sentences", ()), 1):
                    where = f"{here} message {position} sentence {number}"
                    types, negative = set(sentence["types"]), sentence.get("negative")
                    self.require(types <= TYPES, where, "has unknown types")
                    self.require(not (types and negative), where, "is both positive and a negative")
                    self.require(not types or sentence.get("subject"), where, "states something of no subject")
                    self.require(_DATE.fullmatch(sentence.get("date", "2000")), where, "has a date of another form")
                    if negative and negative not in NEGATIVES:
                        self.counts["negatives of other names"] += 1
                    self.counts["sentences"] += 1
                    self.counts["sentences, positive"] += bool(types)
                    self.counts["sentences, hard negative"] += bool(negative)

    def pairs(self, path: Path, place: str) -> None:
        """Pairs of statements."""
        for number, pair in enumerate(read(path)["pairs"], 1):
            earlier, later = (datetime.fromisoformat(pair[name]["date"]) for name in ("earlier", "later"))
            self.require(earlier <= later, f"{place} pair {number}", "its later statement is the earlier one")
            boolean = isinstance(pair["supersedes"], bool)
            self.require(boolean, f"{place} pair {number}", "supersedes is no truth value")
            self.counts.update({"pairs": 1, "pairs, superseding": int(pair["supersedes"])})

    def memories(self, path: Path, place: str) -> None:
        """Small memories: each statement replaces an earlier one at most, and each is replaced once at most."""
        for memory in read(path)["memories"]:
            here = f"{place} {memory['id']}"
            self.once(here, memory["id"])
            dates = [datetime.fromisoformat(statement["date"]) for statement in memory["statements"]]
            self.require(dates == sorted(dates), here, "is not in order of time")
            replaced = [
                (later, one["replaces"])
                for later, one in enumerate(memory["statements"])
                if one["replaces"] is not None
            ]
            self.require(all(0 <= earlier < later for later, earlier in replaced), here, "replaces what is not earlier")
            self.require(len({earlier for _, earlier in replaced}) == len(replaced), here, "replaces a statement twice")
            self.counts.update({"small memories": 1, "statements": len(dates), "statements, replaced": len(replaced)})

    def trajectory(self, path: Path, place: str) -> None:
        """Turns with gold labels, and the questions beside them."""
        turns = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        ids = [turn["id"] for turn in turns]
        self.require(len(set(ids)) == len(ids), place, "has an id twice")
        for turn in turns:
            here = f"{place} {turn['id']}"
            self.require(turn["role"] and turn["content"].strip(), here, "has no role or is empty")
            self.require(turn.get("partition") and turn.get("action"), here, "has no partition or no action")
        self.counts.update({"trajectories": 1, "trajectory turns": len(turns)})
        asked = path.with_name(path.name.replace("_turns", "_questions"))
        for line in asked.read_text(encoding="utf-8").splitlines() if asked.exists() else ():
            question = json.loads(line)
            missing = {*question["answer_turn_ids"], *question.get("question_turn_ids", ())} - set(ids)
            self.require(not missing, f"{asked.name} {question['id']}", f"cites {sorted(missing)}, which do not exist")
            self.counts["trajectory questions"] += 1

    def cases(self, path: Path, place: str) -> None:
        """Write-path cases: what should, may and must not be stored of a few turns."""
        for case in read(path):
            here = f"{place} {case['id']}"
            self.once(here, place, case["id"])
            ZoneInfo(case["timezone"])
            self.require(case["turns"], here, "has no turns")
            moments = [datetime.fromisoformat(turn["timestamp"]) for turn in case["turns"]]
            self.require(moments == sorted(moments), here, "has turns out of order")
            texts = [turn["content"].casefold() for turn in case["turns"]]
            labels = case.get("labels")
            self.require(labels is None or len(labels) == len(texts), here, "has not one label for each turn")
            for question in case.get("questions", ()):
                self.require(all(0 <= turn < len(texts) for turn in question["turns"]), here, "cites an unknown turn")
            for name in ("should", "may", "must_not"):
                for number, item in enumerate(case[name], 1):
                    where = f"{here} {name} {number}"
                    kind = item.get("kind") if name == "must_not" else item["kind"]
                    self.require(kind is None or kind in TYPES, where, "has an unknown kind")
                    self.require(item["values"] and all(item["values"]), where, "has no values")
                    # Training looks for these words in the sentences; a day is resolved, and `may` lists paraphrases too.
                    absent = name == "should" and texts and not all(_in_turns(value, texts) for value in item["values"])
                    self.require(not absent, where, "has a value which no turn holds")
            expected = {"write-path turns": len(case["turns"]), "write-path items expected": len(case["should"])}
            self.counts.update({"write-path cases": 1, **expected})

    def secrets(self, path: Path, place: str) -> None:
        """Messages with secrets: each lies in its text, and no message is in two places, sealed files included.

        Or sentence frames: each with a marked secret has a kind, look-alikes have none.
        """
        data = read(path)
        named = data.get("license") == "Apache-2.0" and data.get("author")
        self.require(named, place, "names no author and licence")
        for part in ("frames", "lookalikes") if "frames" in data else ():
            for number, frame in enumerate(data[part]):
                here, marked = f"{place} {part} {number}", "⟦" in frame["text"]
                self.require(marked == (part == "frames") == ("kind" in frame), here, "is marked wrongly")
                self.once(here, place, frame.get("before", ""), frame["text"])
                self.counts[f"{part} of secrets"] += 1
        for number, message in enumerate(data["messages"] if "frames" not in data else ()):
            here = f"{place} message {number}"
            text, end = message["text"], 0
            for secret in message.get("secrets") or ():
                inside = end <= secret["start"] < secret["end"] <= len(text)
                self.require(inside, here, "a secret is not in its text, in order")
                self.require(text[secret["start"] : secret["end"]].strip(), here, "a secret is blank")
                self.require(re.fullmatch(r"[a-z_]{3,20}", secret["kind"]), here, "a secret has no kind")
                end = secret["end"]
                self.counts["secrets"] += 1
            for start, stop in message.get("about") or ():
                self.require(0 <= start < stop <= len(text), here, "what it is about is not in its text")
            self.once(here, message.get("before", ""), text)
            self.counts["messages with secrets" if message.get("secrets") else "look-alikes of secrets"] += 1


def _in_turns(value: str, texts: list[str]) -> bool:
    choices = value.casefold().split("|")
    return _DATE.fullmatch(value) is not None or any(choice in text for choice in choices for text in texts)


def read(path: Path) -> Any:
    """One JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def check_all() -> Checked:
    """Check all files that training reads."""
    checked = Checked()
    checks: list[tuple[str, str, Callable[[Path, str], None]]] = [
        ("open", "*.json", checked.conversation),
        ("sentences", "*.json", checked.sentences),
        ("supersession", "*.json", checked.pairs),
        ("supersession_memories", "*.json", checked.memories),
        ("trajectories", "*_turns.jsonl", checked.trajectory),
        ("intent/dev", "*_turns.jsonl", checked.trajectory),
        ("write_path", "development*.json", checked.cases),
        ("../prompts", "*.json", checked.cases),
        ("secrets", "*.json", checked.secrets),
    ]
    for folder, pattern, check in checks:
        for path in sorted((CORPUS / folder).glob(pattern)):
            place = str(path.relative_to(CORPUS))
            try:
                check(path, place)
            except (KeyError, ValueError, TypeError) as error:
                # The message of another error than a missing field may hold words of the file.
                field = f" {error}" if type(error) is KeyError else ""
                checked.faults.append(f"{place}: {type(error).__name__}{field}")
    return checked


def main() -> int:
    """Check all files; faults decide the exit status."""
    sealed_files()
    checked = check_all()
    for name, count in checked.counts.items():
        print(f"{count:6,} {name}")
    print(*checked.faults, sep="\n")
    return 1 if checked.faults else 0


if __name__ == "__main__":
    sys.exit(main())
