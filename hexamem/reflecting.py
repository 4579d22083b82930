"""A look back at a run that is stuck: what is read for it, who reflects, and what then counts as given to the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hexamem.errors import InvalidInputError
from hexamem.experience.advising import Lore, advise, advise_on_tool
from hexamem.experience.digest import normal_task
from hexamem.experience.reflecting import (
    KeyInformation,
    Question,
    Reflection,
    answer_by_rules,
    key_information,
    reflection_text,
)
from hexamem.experience.similarity import EmbedTexts, nearness
from hexamem.experience.trouble import Turn, tool_of, trouble_in
from hexamem.memory_types.experience import Advice, AdvicePart, Run, RunStep
from hexamem.stores.ledger.runs import get_run, read_run_steps, set_run
from hexamem.stores.ledger.usage import keep_usage

if TYPE_CHECKING:
    from hexamem.learning import UserExperience

__all__ = ["reflect", "tool_advice"]

_Similar = Sequence[tuple[Run, Sequence[RunStep]]]


def reflect(
    experience: UserExperience,
    run_id: str,
    error: str,
    *,
    same_task: bool = True,
    may_ask: Callable[[], bool] = lambda: True,
) -> Reflection:
    """See :meth:`~hexamem.recording.RunRecorder.reflect`.

    Args:
        same_task: whether runs of the very same task count.
        may_ask: called once before a model is asked, if there is one: whether it may be.
    """
    from hexamem.learning import OFF

    user, learning = experience._user, experience._distilling
    with user.memory.ledger.read(user.name) as tx:
        run = get_run(tx, run_id)
        steps = read_run_steps(tx, [run_id])[run_id]
    wrong = user.memory._without_secrets(user.name, error).strip() or _wrong(experience, steps)
    if not wrong:
        raise InvalidInputError("nothing went wrong in the steps that were recorded; say what did: run.reflect(error)")
    key = key_information(run, steps, wrong)
    if not user.memory.settings.experience:
        return Reflection(key=key, degraded=(OFF,))
    degraded: tuple[str, ...] = ()
    reflecting = _Reflecting(experience)
    lore = experience._recall.lore(run.environment)
    # Where nothing was learned and no run was done yet, a model would have nothing to answer from.
    holds = bool(lore.experience) or any(one.outcome is not None and one.outcome.label for one in lore.runs)
    model = reflecting if reflecting.ready and holds and may_ask() else None
    if model is not None:
        extracted, degraded = model.extract(run, steps, wrong)
        key = extracted or key
    similar, told = experience._recall.with_vectors(
        lambda embed: _similar(run, key, lore, same_task, experience, embed)
    )
    last = next((step.action for step in reversed(steps) if step.action.strip()), "")
    known, also_told = experience._recall.with_vectors(
        lambda embed: advise(
            f"{tool_of(last)} {wrong}", lore, embed, k=3, same_task=same_task, settings=learning.settings
        )
    )
    items = [part for part in known.parts if part.kind == "item"]
    degraded = (*degraded, *dict.fromkeys((*told, *also_told)))
    if model is not None and (similar or items):
        said = model.answer(key, [part.text for part in items], [(other, earlier) for other, earlier, _ in similar])
        if said is not None:
            questions, advice, why = said
            return _kept(experience, run_id, key, questions, advice, items, similar, "model", (*degraded, *why))
        degraded = (*degraded, "the reflection was made by rules: the model gave no usable reply")
    runs = [(other, earlier) for other, earlier, _ in similar]
    questions = answer_by_rules(steps, wrong, runs, learning.settings.reflection_tokens)
    used = similar if questions else []
    advice = "\n".join([*(part.text for part in items), *(one.answer for one in questions)])
    return _kept(experience, run_id, key, questions, advice, items, used, "rules", degraded)


def tool_advice(experience: UserExperience, run_id: str, tool: str, error: str, *, same_task: bool = True) -> Advice:
    """See :meth:`~hexamem.recording.RunRecorder.tool_advice`."""
    from hexamem.learning import OFF

    user, settings = experience._user, experience._distilling.settings
    with user.memory.ledger.read(user.name) as tx:
        run = get_run(tx, run_id)
    if not user.memory.settings.experience:
        return Advice(degraded=(OFF,))
    asked = user.memory._without_secrets(user.name, error)
    lore = experience._recall.lore(run.environment)
    gone = set(run.shown) | (set() if same_task else _of_same_task(run, lore))
    found, told = experience._recall.with_vectors(
        lambda embed: advise_on_tool(tool, asked, lore, embed, left_out=gone, settings=settings)
    )
    _give(experience, run_id, found.ids)
    return found.changed(degraded=told) if told else found


class _Reflecting:
    """The model that reflects, if there is one; what it costs is kept with the user's usage."""

    def __init__(self, experience: UserExperience) -> None:
        self._experience = experience
        memory = experience._user.memory
        models = memory.model_tier.models
        self._model = models.of("experience") or models.of("distiller")
        self.ready = self._model is not None
        if self._model is None:
            return
        from hexamem.experience.reflecting_model import RunReflector
        from hexamem.models import UsageMeter

        self._usage = UsageMeter("reflect")
        self._reflector = RunReflector(
            self._model, method=memory.settings.model_method, budget=memory.model_tier.budget, usage=self._usage
        )

    def extract(self, run: Run, steps: Sequence[RunStep], error: str) -> tuple[KeyInformation | None, tuple[str, ...]]:
        try:
            return self._reflector.extract(run, steps, error, self._experience._distilling.settings)
        finally:
            self._book()

    def answer(
        self, key: KeyInformation, known: Sequence[str], similar: _Similar
    ) -> tuple[tuple[Question, ...], str, tuple[str, ...]] | None:
        try:
            return self._reflector.answer(key, known, similar, self._experience._distilling.settings)
        finally:
            self._book()

    def _book(self) -> None:
        user = self._experience._user
        keep_usage(user.memory.ledger, user.name, self._usage.drain())


def _wrong(experience: UserExperience, steps: Sequence[RunStep]) -> str:
    """What the steps show to be wrong, in a sentence."""
    turns = [Turn(action=one.action, observation=one.observation, error=one.error or "") for one in steps]
    trouble = trouble_in(turns, experience._distilling.settings)
    if trouble is not None:
        return trouble.error or trouble.said
    return next((one.error for one in reversed(steps) if one.error), "") or ""


def _similar(
    run: Run, key: KeyInformation, lore: Lore, same_task: bool, experience: UserExperience, embed: EmbedTexts | None
) -> list[tuple[Run, Sequence[RunStep], float]]:
    """Runs of similar tasks that were done, the nearest first, with their steps and how near they are."""
    settings = experience._distilling.settings
    own = normal_task(run.task)
    done = [one for one in lore.runs if one.outcome is not None and one.outcome.label and lore.lengths.get(one.id)]
    done = [one for one in done if one.id != run.id and (same_task or normal_task(one.task) != own)]
    by_task = nearness(run.task, [one.task for one in done], embed)
    by_goal = by_task if key.goal == run.task else nearness(key.goal, [one.task for one in done], embed)
    near = sorted(
        ((max(pair), one) for pair, one in zip(zip(by_task, by_goal, strict=True), done, strict=True)),
        key=lambda told: -told[0],
    )
    chosen = [(score, one) for score, one in near if score >= settings.floor][: settings.reflected]
    steps = lore.read_steps([one.id for _, one in chosen]) if chosen else {}
    return [(one, steps.get(one.id, ()), score) for score, one in chosen]


def _of_same_task(run: Run, lore: Lore) -> set[str]:
    """Experience that was learned from runs of this very task alone."""
    same = {one.id for one in lore.runs if normal_task(one.task) == normal_task(run.task)}
    return {one.id for one in lore.experience if one.run_ids and set(one.run_ids) <= same}


def _kept(
    experience: UserExperience,
    run_id: str,
    key: KeyInformation,
    questions: tuple[Question, ...],
    advice: str,
    items: Sequence[AdvicePart],
    similar: Sequence[tuple[Run, Sequence[RunStep], float]],
    tier: str,
    degraded: tuple[str, ...],
) -> Reflection:
    runs = [
        AdvicePart(id=run.id, kind="trajectory", run_id=run.id, score=score, text=run.task) for run, _, score in similar
    ]
    parts = (*items, *runs) if advice.strip() else ()
    _give(experience, run_id, [part.id for part in parts])
    return Reflection(
        key=key,
        questions=questions,
        advice=advice.strip(),
        text=reflection_text(advice),
        parts=parts,
        tier=tier,
        degraded=degraded,
    )


def _give(experience: UserExperience, run_id: str, ids: Sequence[str]) -> None:
    """Count something as given to a run that is under way."""
    user = experience._user
    if not ids:
        return
    with user.memory.ledger.write(user.name, create=False) as tx:
        run = get_run(tx, run_id)
        if run.status != "finished" and not set(ids) <= set(run.shown):
            set_run(tx, run.changed(shown=tuple(dict.fromkeys([*run.shown, *ids]))))
