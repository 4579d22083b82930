"""``user.experience.start(…)``: a run that is being recorded, and reflected on where it is stuck (CFGM)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

from hexamem.calls import Calls, in_thread, public
from hexamem.errors import InvalidInputError
from hexamem.experience import limits
from hexamem.experience.advising import Lore, advise, advise_on_tool
from hexamem.experience.digest import normal_task
from hexamem.experience.merging import EmbedTexts, nearness
from hexamem.experience.reflecting import (
    KeyInformation,
    Reflection,
    answer_by_rules,
    key_information,
    reflection_text,
)
from hexamem.experience.trouble import TroubleSettings, Turn, tool_of, trouble_in
from hexamem.experience_runs import OFF, UserRuns
from hexamem.memory_types.experience import Advice, AdvicePart, OutcomeSource, Run, RunReceipt, RunStep
from hexamem.stores.ledger.runs import append_run_step, get_run

_MOST_ASKED = 3  # times that a model looks back at a run


class RunRecorder:
    """A run that is being recorded. Made by :meth:`UserExperience.start`; safe to use from several threads.

    Attributes:
        id: of the run.
        run: as it was when it began.
        advice: what earlier runs have to say about its task.
    """

    def __init__(
        self, runs: UserRuns, calls: Calls, run: Run, advice: Advice, *, same_task: bool = True, queue: bool = True
    ) -> None:
        self._runs, self._calls, self._same_task, self._queue = runs, calls, same_task, queue
        self.run, self.advice, self.id = run, advice, run.id
        self._asked = 0  # how often a model was asked to reflect
        self._guard = threading.Lock()

    def __repr__(self) -> str:
        return f"RunRecorder({self.id!r})"

    @public
    def step(self, *, thought: str = "", action: str = "", observation: str = "", error: str | None = None) -> RunStep:
        """Write one turn of the agent to the ledger, at once and without an LLM call.

        Args:
            thought, action, observation: what it thought and did, and what came back; any may be left out.
            error: what went wrong, if something did.

        Raises:
            InvalidInputError: for a step without anything in it, or a run that is finished.
            NotFoundError: if the run was forgotten.
        """
        values = {"thought": thought, "action": action, "observation": observation, "error": error}
        if not any(value and value.strip() for value in values.values()):
            raise InvalidInputError("the step is empty: pass a thought, an action, an observation or an error")
        clean = self._runs.prepared(dict(values), "the step")
        with self._runs.write(wakes=False) as tx:
            if get_run(tx, self.id).status == "finished":
                raise InvalidInputError(f"run {self.id} is finished and takes no more steps; start another run")
            return append_run_step(tx, RunStep(run_id=self.id, position=0, **clean(tx)))

    @public
    def finish(
        self, outcome: bool | None = None, *, evidence: str = "", source: OutcomeSource = "environment"
    ) -> RunReceipt:
        """End the run, and queue its distilling.

        Args:
            outcome: whether the task was done; None if unknown: a model judges it, if there is one.
            evidence: for the outcome, such as a reward or the output of a test.
            source: of the outcome: the "environment", a "test" or the "user".

        Raises:
            InvalidInputError: if it is finished already.
            NotFoundError: if it was forgotten.
        """
        return self._runs.finish(self.id, outcome, evidence, source, queue=self._queue)

    @public
    def reflect(self, error: str = "") -> Reflection:
        """Reflect on a run that is stuck, and advise what to do next (CFGM: KIE and KIR).

        The key information of the situation is compared with similar successful runs and with experience on the error.
        With a model that takes up to two calls, at most three times per recorder, and none without experience and
        successful runs. Without a model, or beyond that, rules collect what those runs did after the same error, with
        the same tool, and next. The runs and experience used count as shown to the run.

        Args:
            error: what went wrong; when empty, what the recorded steps show.

        Returns:
            The reflection; ``text`` is for a prompt, delimited as data, and "" if there is no advice.

        Raises:
            InvalidInputError: if neither the error nor a step says what went wrong.
            NotFoundError: if the run was forgotten.
        """
        runs, same_task = self._runs, self._same_task
        run, steps = runs.run(self.id), runs.steps(self.id)
        wrong = runs.home.without_secrets(runs.user, error).strip() or _trouble(steps)
        if not wrong:
            raise InvalidInputError("the recorded steps show no error; pass what went wrong: run.reflect(error)")
        key = key_information(run, steps, wrong)
        if not runs.on:
            return Reflection(key=key, degraded=(OFF,))
        lore = runs.lore(run.environment)
        # Without experience and successful runs, a model would have no material.
        has_material = bool(lore.experience) or any(other.outcome and other.outcome.label for other in lore.runs)
        with runs.distilling.model_for(runs.user, "reflection", "reflect") as available:
            model = available if has_material and available is not None and self._may_ask() else None
            degraded: tuple[str, ...] = ()
            if model is not None:
                from hexamem.experience.reflecting import answer_by_model, extract_key_information

                extracted, degraded = extract_key_information(model, run, steps, wrong)
                key = extracted or key
            similar, similar_degraded = runs.with_vectors(lambda embed: _similar_runs(run, key, lore, same_task, embed))
            last_action = next((step.action for step in reversed(steps) if step.action.strip()), "")
            question = f"{tool_of(last_action)} {wrong}"
            known, known_degraded = runs.with_vectors(
                lambda embed: advise(question, lore, embed, k=3, same_task=same_task)
            )
            items = [part for part in known.parts if part.kind == "item"]
            degraded = (*degraded, *dict.fromkeys((*similar_degraded, *known_degraded)))
            done = [(other.run, other.steps) for other in similar]
            answered = None
            if model is not None and (similar or items):
                answered = answer_by_model(model, key, [part.text for part in items], done)
                if answered is None:
                    degraded = (*degraded, "the reflection was made by rules: the model's reply was not usable")
        if answered is not None:
            questions, advice, reply_degraded = answered
            degraded = (*degraded, *reply_degraded)
        else:
            questions = answer_by_rules(steps, wrong, done, limits.REFLECTION_TOKENS)
            advice = "\n".join([*(part.text for part in items), *(answer.answer for answer in questions)])
            similar = similar if questions else []
        advice = advice.strip()
        sources = [
            AdvicePart(id=other.run.id, kind="trajectory", run_id=other.run.id, score=other.score, text=other.run.task)
            for other in similar
        ]
        parts = (*items, *sources) if advice else ()
        runs.add_shown(self.id, [part.id for part in parts])
        return Reflection(
            key=key,
            questions=questions,
            advice=advice,
            text=reflection_text(advice),
            parts=parts,
            tier="rules" if answered is None else "model",
            degraded=degraded,
        )

    def _may_ask(self) -> bool:
        """Whether a model may be asked once more; counts it."""
        with self._guard:
            self._asked += 1
            return self._asked <= _MOST_ASKED

    @public
    def tool_advice(self, tool: str, error: str = "") -> Advice:
        """Advice on a tool that is about to be called or has failed, without an LLM call. It counts as shown to the run.

        Args:
            tool: its name.
            error: its error, if it failed.

        Returns:
            Items of the facet "tool" that name it or are near; without those that the run was shown before.
        """
        if not tool.strip():
            raise InvalidInputError(f"tool = {tool!r} is blank; pass its name")
        runs = self._runs
        run = runs.run(self.id)
        if not runs.on:
            return Advice(degraded=(OFF,))
        clean_error = runs.home.without_secrets(runs.user, error)
        lore = runs.lore(run.environment)
        left_out = set(run.shown) | (set() if self._same_task else _learned_from_task(run, lore))
        advice, degraded = runs.with_vectors(
            lambda embed: advise_on_tool(tool, clean_error, lore, embed, left_out=left_out)
        )
        runs.add_shown(self.id, advice.ids)
        return advice.changed(degraded=degraded) if degraded else advice

    # The twins for asyncio.
    astep = in_thread(step)
    afinish = in_thread(finish)
    areflect = in_thread(reflect)
    atool_advice = in_thread(tool_advice)


class _Similar(NamedTuple):
    """A successful run of a similar task, and its similarity."""

    run: Run
    steps: Sequence[RunStep]
    score: float


def _trouble(steps: Sequence[RunStep]) -> str:
    """The trouble that the steps show, in a sentence; "" for none."""
    turns = [Turn(action=step.action, observation=step.observation, error=step.error or "") for step in steps]
    trouble = trouble_in(turns, TroubleSettings())
    if trouble is not None:
        return trouble.error or trouble.summary
    return next((step.error for step in reversed(steps) if step.error), "") or ""


def _similar_runs(
    run: Run, key: KeyInformation, lore: Lore, same_task: bool, embed: EmbedTexts | None
) -> list[_Similar]:
    """Successful runs of similar tasks, the nearest first."""
    own = normal_task(run.task)
    done = [
        other
        for other in lore.runs
        if other.outcome is not None
        and other.outcome.label
        and lore.lengths.get(other.id)
        and other.id != run.id
        and (same_task or normal_task(other.task) != own)
    ]
    tasks = [other.task for other in done]
    by_task = nearness(run.task, tasks, embed)
    by_goal = by_task if key.goal == run.task else nearness(key.goal, tasks, embed)
    scored = [(max(pair), other) for pair, other in zip(zip(by_task, by_goal, strict=True), done, strict=True)]
    near = sorted((pair for pair in scored if pair[0] >= limits.FLOOR), key=lambda pair: -pair[0])
    chosen = near[: limits.REFLECTED]
    steps = lore.read_steps([other.id for _, other in chosen]) if chosen else {}
    return [_Similar(other, steps.get(other.id, ()), score) for score, other in chosen]


def _learned_from_task(run: Run, lore: Lore) -> set[str]:
    """Ids of experience that was learned from runs of this very task alone."""
    same = {other.id for other in lore.runs if normal_task(other.task) == normal_task(run.task)}
    return {item.id for item in lore.experience if item.run_ids and set(item.run_ids) <= same}
