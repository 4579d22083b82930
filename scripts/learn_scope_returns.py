"""Learn the weights by which scope tracking tells which day of a trip a text speaks of (``intent/scopes/returns.py``).

Conversations with gold partitions are read with the tracker held to the gold days, so that each text is weighed in the right
surroundings; at each text that names no day outright, the features of all days are recorded. A conditional logit (McFadden
1974) with a quadratic penalty is fitted to a person's texts alone, and to them together with their answers. Run::

    python scripts/learn_scope_returns.py FILE_turns.jsonl … [--penalty 0.005] [--leave-one-out] [--out WEIGHTS.py]

``--leave-one-out`` prints, for each file, how the weights learnt on all others agree with it (adjusted mutual information).
Without ``--out`` nothing is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from hexamem.evals.agreement import agreement
from hexamem.evals.came_bench import load_came_bench
from hexamem.evals.records import Conversation
from hexamem.intent.contract import StepView, Vectors
from hexamem.intent.scopes import returns, tracker, weighing
from hexamem.intent.scopes.registry import Scope
from hexamem.intent.scopes.text import Words
from hexamem.intent.scopes.thread import Thread
from hexamem.stores.embedders import Embedder, open_embedder

Floats = npt.NDArray[np.float64]
CONTENT = (
    *returns.FEATURES[: returns.FEATURES.index("cosine")],
    *("trip_named", "trip_words", "date_led", "date", "date_mentioned", "hinted", "arrives", "leaves", "lodging"),
)
"""What an answer is weighed by: all else it has from its question."""
PRIOR = {
    "name": 2.0, "plain": 1.0, "definite": 1.0, "anchored": 1.0, "signs": 1.0, "own_name": 0.5, "own_plain": 0.5, "own_signs": 1.0,
    "recent": -0.7, "trip_named": 3.0, "trip_words": 1.0, "date_led": 2.0, "date": 1.0, "stepped": 1.5, "ruled": 4.0, "hinted": 1.5,
    "called": 1.0, "called_hint": 2.0, "meal_missing": 0.5, "back": 5.0, "new": 0.5, "new_trip": 1.5, "whole_day": 1.5, "untold": 1.5,
    "arrives": 2.0, "leaves": 2.0, "lodging": 0.7, "here": 2.0, "here_asked": 0.5, "here_offered": 1.5, "here_short": 1.5,
    "here_question": -0.7, "here_turning": -1.2, "here_one_more": -1.0, "here_goes_to": -1.2, "here_resume": -0.7,
    "here_and": 0.3, "here_young": 1.5, "here_repeats": 1.5, "here_shares": -0.7, "here_answers": 2.0, "here_this": 2.0,
    "here_tied": 0.7, "here_said": 0.5, "here_entered": 1.0, "here_told": 0.3, "here_yes": 1.0, "left_untold": 0.5, "beside": -0.5,
    "here_confirmed": -0.4, "here_recap": 1.5,
}  # fmt: skip
JUST_LEFT = -1.5
TURNS_COUNT = 2.0  # how much a change of day counts against staying, which is more frequent


@dataclass
class Sample:
    """One text, or a text with its answer: features of each day (rows), and which row is the gold one."""

    step: Floats
    reply: Floats | None
    gold: int


@dataclass
class Lesson:
    """What one conversation teaches."""

    name: str
    samples: list[Sample] = field(default_factory=list)


def views(conversation: Conversation, embedder: Embedder) -> list[StepView]:
    """A conversation as labelling sees it."""
    vectors = embedder.embed_documents([message.content for message in conversation.messages])
    found = []
    for turn, (message, vector) in enumerate(zip(conversation.messages, vectors, strict=True)):
        at = datetime.fromisoformat(message.timestamp) if message.timestamp else datetime(2026, 1, 1)
        found.append(
            StepView(
                id=message.id, thread_id="t", turn=turn, role=message.role, speaker=message.name or message.role,
                text=message.content, occurred_at=at.replace(tzinfo=at.tzinfo or UTC), vector=vector,
            )
        )  # fmt: skip
    return found


class HeldTracker(tracker.ScopeTracker):
    """A tracker that is told, after each decision, which day was right."""

    def __init__(self, gold: dict[str, str], embedder: Embedder, lesson: Lesson) -> None:
        super().__init__("user", embedder.embed_documents)
        self.gold, self.lesson = gold, lesson
        self.days: dict[str, Scope] = {}
        self.before: list[returns.Candidate] | None = None
        self.asked: list[returns.Candidate] | None = None

    def _settle(self, thread: Thread, scope: Scope | None) -> tuple[str, ...]:
        return super()._settle(thread, None)

    def _enter(
        self, thread: Thread, scope: Scope, step: StepView, words: Words, vector: Vectors | None, provisional: bool
    ) -> None:
        gold, heard = self.gold[step.id], RECORDED[:]
        RECORDED.clear()
        right = self.days.get(gold)
        if right is None:
            taken = {id(day) for day in self.days.values()}
            if id(scope) in taken or scope.kind != "goal":
                root = self._root(gold) or scope.root
                key = ("day", int(gold.rpartition("-")[2]))
                scope = root.children.get(key) or self._registry.open("goal", gold, parent=root, key=key)
            right = self.days[gold] = scope
        user = step.role not in ("assistant", "tool")
        weighed = heard[-1] if heard else None
        if user:
            self.asked = weighed
            if weighed is not None:
                self._note(weighed, None, right, gold)
        elif self.asked is not None:
            if weighed is not None:
                self._note(self.asked, weighed, right, gold)
            self.asked = None
        super()._enter(thread, right, step, words, vector, user and weighed is not None)
        thread.doubt = {0: 0.0} if self.asked is not None else None

    def _root(self, gold: str) -> Scope | None:
        """The trip of a gold day, where another day of it is known."""
        trip = gold.rpartition("/")[0]
        return next((day.root for name, day in self.days.items() if name.rpartition("/")[0] == trip), None)

    def _note(
        self, step: list[returns.Candidate], reply: list[returns.Candidate] | None, right: Scope, gold: str
    ) -> None:
        def right_row(one: returns.Candidate) -> bool:
            return one.index == right.index or (one.root is right.root and one.key == right.key and one.index < 0)

        rows = [at for at, one in enumerate(step) if right_row(one)]
        if not rows:
            return  # a day that nothing told: no matter of weighing
        answers = {(one.root.index, one.key): one.values for one in reply} if reply is not None else None
        none = [0.0] * len(returns.FEATURES)
        self.lesson.samples.append(
            Sample(
                np.array([one.values for one in step]),
                None if answers is None else np.array([answers.get((one.root.index, one.key), none) for one in step]),
                rows[0],
            )
        )


RECORDED: list[list[returns.Candidate]] = []


def _recorded(*args: object, **options: object) -> list[returns.Candidate]:
    found = returns.features(*args, **options)  # type: ignore[arg-type]
    RECORDED.append(found)
    return found


def teach(path: Path, embedder: Embedder) -> Lesson:
    """What a file teaches."""
    conversation = load_came_bench(path)[0]
    lesson = Lesson(path.stem)
    gold = {message.id: "/".join(conversation.gold[message.id]["partition"][:2]) for message in conversation.messages}
    held = HeldTracker(gold, embedder, lesson)
    weighing.features = _recorded  # type: ignore[attr-defined]
    try:
        for step in views(conversation, embedder):
            RECORDED.clear()
            held.assign(step)
    finally:
        weighing.features = returns.features  # type: ignore[attr-defined]
    return lesson


def fit(lessons: Sequence[Lesson], penalty: float) -> tuple[Floats, Floats]:
    """The weights of a step's and an answer's features."""
    size = len(returns.FEATURES)
    free = np.array([name in CONTENT for name in returns.FEATURES])
    start = np.array([PRIOR.get(name, 0.0) for name in returns.FEATURES])
    samples = [sample for lesson in lessons for sample in lesson.samples]

    def loss(both: Floats) -> tuple[float, Floats]:
        step, reply = both[:size], both[size:] * free
        total, slope = 0.0, np.zeros_like(both)
        for sample in samples:
            score = sample.step @ step
            if sample.reply is not None:
                score = score + sample.reply @ reply
            score = score - score.max()
            chance = np.exp(score)
            chance /= chance.sum()
            weight = 1.0 if sample.gold == 0 else TURNS_COUNT
            total -= weight * float(np.log(chance[sample.gold] + 1e-12))
            chance[sample.gold] -= 1.0
            chance *= weight
            slope[:size] += chance @ sample.step
            if sample.reply is not None:
                slope[size:] += (chance @ sample.reply) * free
        away = both - np.concatenate([start, 0.5 * start * free])
        count = max(1, len(samples))
        return total / count + penalty * float(away @ away), slope / count + 2 * penalty * away

    # What a text shares with a day never speaks against that day; that it was left just now does, but not for much.
    least = [
        None if name == "date_mentioned" else 0.0 if name in CONTENT else JUST_LEFT if name == "recent" else None
        for name in returns.FEATURES
    ]
    bounds = [(low, None) for low in [*least, *least]]
    found = minimize(loss, np.concatenate([start, 0.5 * start * free]), jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x[:size], found.x[size:] * free


def measure(path: Path, embedder: Embedder) -> tuple[float, float]:
    """Agreement of the tracker's scopes with a file's partition: AMI and V-measure."""
    conversation = load_came_bench(path)[0]
    followed = tracker.ScopeTracker("user", embedder.embed_documents)
    scope: dict[str, str] = {}
    for step in views(conversation, embedder):
        decision = followed.assign(step)
        scope.update(dict.fromkeys((step.id, *decision.revised), decision.scope_id))
    gold = ["/".join(conversation.gold[message.id]["partition"]) for message in conversation.messages]
    found = agreement(gold, [followed.canonical(scope[message.id]) for message in conversation.messages])
    return found["ami"] or 0.0, found["v_measure"] or 0.0


def use(step: Floats, reply: Floats) -> None:
    """Weigh by these weights from now on."""
    returns.STEP_WEIGHTS = tuple(float(value) for value in step)  # type: ignore[assignment,misc]
    returns.REPLY_WEIGHTS = tuple(float(value) for value in reply)  # type: ignore[assignment,misc]


def written(step: Floats, reply: Floats) -> str:
    """The module that keeps the weights."""
    lines = [
        '"""Weights of the model in ``returns``, in the order of its ``FEATURES``; written by ``scripts/learn_scope_returns.py``."""',
        "", "from __future__ import annotations", "", "from typing import Final", "", '__all__ = ["REPLY_WEIGHTS", "STEP_WEIGHTS"]', "",
    ]  # fmt: skip
    for name, values in (("STEP_WEIGHTS", step), ("REPLY_WEIGHTS", reply)):
        lines.append(f"{name}: Final = (")
        lines += [f"    {round(float(v), 2)},  # {f}" for f, v in zip(returns.FEATURES, values, strict=True)]
        lines.append(")")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the arguments, learn, print, and write where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--penalty", type=float, default=0.005)
    parser.add_argument("--leave-one-out", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    embedder = open_embedder("bundled")
    use(*(np.array([PRIOR.get(name, 0.0) for name in returns.FEATURES]),) * 2)  # not what was learnt before
    lessons = [teach(path, embedder) for path in options.files]
    print(sum(len(lesson.samples) for lesson in lessons), "decisions")
    if options.leave_one_out:
        found = []
        for path, lesson in zip(options.files, lessons, strict=True):
            use(*fit([other for other in lessons if other is not lesson], options.penalty))
            found.append(measure(path, embedder))
            print(f"{path.stem:24} AMI {found[-1][0]:.3f}  V {found[-1][1]:.3f}")
        print(f"{'mean':24} AMI {np.mean([a for a, _ in found]):.3f}  V {np.mean([v for _, v in found]):.3f}")
    step, reply = fit(lessons, options.penalty)
    for name, one, other in zip(returns.FEATURES, step, reply, strict=True):
        print(f"{name:16} {one:6.2f} {other:6.2f}")
    use(step, reply)
    if options.out is not None:
        options.out.write_text(written(step, reply), encoding="utf-8")


if __name__ == "__main__":
    main()
