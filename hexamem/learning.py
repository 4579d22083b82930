"""``user.experience``: records runs, recalls what was learned from them, and manages it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hexamem.arguments import check_choice, check_count, check_number, check_text, check_texts, json_mapping
from hexamem.calls import Calls, in_thread, public
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.experience import limits
from hexamem.experience.advising import Include
from hexamem.experience.digest import digest_of
from hexamem.experience.stored import (
    ACTOR,
    ENTRY_TYPE,
    forget_runs,
    item_values,
    metadata_of,
    read_experience,
    stats_of,
)
from hexamem.experience_runs import OFF, UserRuns
from hexamem.memory_types import Operation
from hexamem.memory_types.experience import (
    Advice,
    Experience,
    ExperienceStats,
    Facet,
    OutcomeSource,
    Run,
    RunDigest,
    RunReceipt,
    RunStep,
)
from hexamem.run_recorder import RunRecorder
from hexamem.stores.changing import add_item, edit_item, remove_item
from hexamem.stores.ledger import get_items
from hexamem.stores.ledger.runs import get_run, read_runs

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from hexamem.experience.distilling import Focus
    from hexamem.experience.exploring import Exploration, ExploreMode
    from hexamem.exploring import Runner
    from hexamem.graphs.experience_recording import RunRecordingHandler

_NO_MODEL = "focus points need a model: open the memory with model='openai:…' (or models={'experience': …})"


class UserExperience:
    """What a user's agents learned from their runs. Reached as ``user.experience``.

    Experience belongs to one user and one environment (``env``; "" by default) until a person promotes it. Without a
    model, runs are recorded and recalled by their digests; with one, the durable job ``distil`` distils experience from
    them. Secrets are removed before anything is written, and the user's ``redact``, ``erase``, ``export`` and
    ``import_`` include runs and experience. An unknown run or experience raises NotFoundError. Each method has an
    ``a…`` twin that runs it in a thread.
    """

    def __init__(self, runs: UserRuns, calls: Calls) -> None:
        self._runs, self._calls = runs, calls

    # -- recording ----------------------------------------------------------------------------------------------

    @public
    def start(
        self,
        task: str,
        *,
        env: str = "",
        k: int = 1,
        include: Include = "items",
        recall: bool = True,
        same_task: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> RunRecorder:
        """Start recording a run, and recall advice for its task from earlier runs.

        The run is in the ledger when this returns. It is "unfinished" until it is finished, also if its process is
        killed.

        Args:
            task: the task, in words.
            env: the environment: experience is learned and recalled within it.
            k, include, same_task: as for :meth:`recall`.
            recall: False records without advice, so that the gain can be measured.
            metadata: of the run; JSON values.

        Raises:
            InvalidInputError: for a blank task, or an invalid argument.
        """
        _check_task(task)
        _check_env(env)
        fields = json_mapping(metadata, "metadata")
        advice = Advice()
        if recall and self._runs.on:
            advice = self._runs.advice(task, env, k, include, None, same_task)
        run = self._runs.begin(task, env, fields, advice.ids)
        return RunRecorder(self._runs, self._calls, run, advice, same_task=same_task)

    @public
    def resume(self, run_id: str) -> RunRecorder:
        """Continue recording an unfinished run; a finished one raises InvalidInputError."""
        run = self._runs.run(run_id)
        if run.status == "finished":
            raise InvalidInputError(f"run {run_id} is finished: start another, or set its outcome with decide()")
        return RunRecorder(self._runs, self._calls, run, Advice())

    @public
    def decide(self, run_id: str, outcome: bool, *, evidence: str = "", source: OutcomeSource = "user") -> RunReceipt:
        """Set the outcome of a run, finished or not; a former outcome is replaced.

        If the outcome changes, what was learned from this run alone is retired, and the run is distilled anew.
        """
        return self._runs.finish(run_id, outcome, evidence, source, again=True)

    # -- recalling ----------------------------------------------------------------------------------------------

    @public
    def recall(
        self,
        task: str,
        *,
        env: str = "",
        k: int = 1,
        include: Include = "items",
        facet: Facet | None = None,
        same_task: bool = True,
    ) -> Advice:
        """Advice from earlier runs on a task, a tool or an error. No LLM call.

        The text is compared with the tasks of earlier runs and with title and description of experience; a run without
        experience is represented by its digest. Nothing below a similarity threshold is returned.

        Args:
            task: the task, the tool to be called, or what went wrong.
            env: the environment; promoted experience counts in all of them.
            k: from how many earlier runs, at most 20; at most 3 items within 400 tokens in all.
            include: "items", "trajectories" (the shortest successful runs of similar tasks, within 800 tokens), "both".
            facet: only items about a "tool", the "environment" or an "observation".
            same_task: False leaves out what was learned from the very same task alone: for evaluations.

        Returns:
            The advice; ``text`` is for a prompt, delimited as data.

        Raises:
            InvalidInputError: for a blank task, or an invalid argument.
        """
        _check_task(task)
        _check_env(env)
        if not self._runs.on:
            return Advice(degraded=(OFF,))
        return self._runs.advice(task, env, k, include, facet, same_task)

    # -- agents -------------------------------------------------------------------------------------------------

    @public
    def callback(
        self,
        *,
        env: str = "",
        task: str | None = None,
        outcome: Callable[[Any], bool | None] | None = None,
        k: int = 1,
        include: Include = "items",
        recall: bool = True,
        same_task: bool = True,
    ) -> RunRecordingHandler:
        """A LangChain callback that records each run of an agent or graph, without a change to its code.

        Pass it to the invocation: ``agent.invoke(…, config={"callbacks": [handler]})``. Each invocation of the graph is
        a run, each tool call a step. Advice is shown to an agent by
        :class:`~hexamem.graphs.experience.ExperienceMiddleware`, or by the code that builds its messages.

        Args:
            env, k, include, recall, same_task: as for :meth:`start`.
            task: the task; read from the graph's input when None.
            outcome: ``outcome(graph_output)`` returns whether the task was done. When None, or if it returns None, the
                outcome is unknown, and a model judges it if there is one.
        """
        from hexamem.graphs.experience_recording import RunRecordingHandler

        _check_env(env)
        options: dict[str, Any] = {"k": k, "include": include, "recall": recall, "same_task": same_task}
        return RunRecordingHandler(
            lambda task_text: self.start(task_text, env=env, **options), task=task, outcome=outcome
        )

    @public
    def focus(self, env: str, examples: Sequence[str]) -> Focus:
        """Derive guiding principles for exploring an environment, and store them (CFGM's focus points).

        They are shown only to agents in :meth:`explore`. They are experience of origin "focus": listed, retired and
        undone like any other.

        Args:
            env: the environment.
            examples: texts of some of its tasks, with results that tools may return; at least one.

        Returns:
            All of the environment's points, the new ones included; without a model the existing ones, and why.

        Raises:
            InvalidInputError: if there is no example, or all are blank.
        """
        from hexamem.experience.distilling import Focus, focus_points
        from hexamem.experience.merging import merge

        _check_env(env)
        home, user = self._runs.home, self._runs.user
        texts = [check_text(example, "an example").strip() for example in check_texts(examples, "examples")]
        texts = [home.without_secrets(user, text) for text in texts if text]
        if not texts:
            raise InvalidInputError("examples holds no text; pass the texts of some tasks of the environment")
        known = self._focus_points(env)
        with self._runs.distilling.model_for(user, "focus", "focus") as model:
            if model is None or not self._runs.on:
                return Focus(points=known, degraded=(_NO_MODEL if model is None else OFF,))
            points, degraded = focus_points(model, user, env, texts)
        merged, without_vectors = self._runs.with_vectors(lambda embed: merge(points, known, embed))
        reason = f"a focus point from {len(texts)} example{'' if len(texts) == 1 else 's'}"
        with self._runs.write(create=True) as tx:
            for point in merged.new:
                find = home.settings.find_secrets
                add_item(tx, item_values(point), home.cipher, actor=ACTOR, reason=reason, find=find)
        return Focus(points=self._focus_points(env), degraded=(*degraded, *without_vectors))

    @public
    def explore(
        self,
        task: str,
        runner: Runner,
        k: int = 3,
        *,
        mode: ExploreMode = "parallel",
        env: str = "",
        tools: Sequence[BaseTool] = (),
        include: Include = "items",
        same_task: bool = True,
        success_from: float = 0.5,
    ) -> Exploration:
        """Scale test-time compute on one task, to solve it and to learn from it (MaTTS; ReasoningBank, section 3.2).

        "parallel" makes k attempts at once with the same advice, chooses the best (by reward, by outcome, else a model
        compares, else rules) and distils by contrast over all. "sequential" makes one attempt and re-examines it up to
        k times, until the task is done or a re-examination changes nothing; it is distilled as a whole.

        Args:
            task: the task, in words.
            runner: the caller's agent, ``runner(attempt)``, plain or async; run in a thread, in parallel mode in k of them.
                It records its turns with ``attempt.run`` (or passes ``attempt.callback()`` to a graph), and returns
                True or False, a reward, None, or an :class:`~hexamem.experience.exploring.AttemptResult`.
            k: attempts, or re-examinations; at most 8.
            mode: "parallel" or "sequential".
            env, include, same_task: as for :meth:`start`.
            tools: the agent's. ``attempt.tools`` are the same, but those marked as having side effects are not called
                if more than one attempt is made, and otherwise only once with the same arguments.
            success_from: the lowest reward that counts as a success if the runner returns no outcome. The papers'
                rewards are 0 or 1; for an environment with partial credit pass its own threshold.

        Returns:
            The exploration; ``best_run`` is the chosen run.

        Raises:
            InvalidInputError: for an invalid argument, or an invalid result of the runner.
            Exception: what the runner raised, if every attempt failed with an error.
        """
        from hexamem.experience.exploring import MODES
        from hexamem.exploring import Exploring

        _check_task(task)
        _check_env(env)
        check_count(k, "k", limits.EXPLORED)
        check_choice(mode, "mode", MODES)
        if not callable(runner):
            raise InvalidInputError(f"runner is {type(runner).__name__}; pass a function that takes an attempt")
        check_number(success_from, "success_from")
        exploring = Exploring(self._runs, self._calls, task, runner, env, tools, include, same_task, success_from)
        return exploring.parallel(k) if mode == "parallel" else exploring.sequential(k)

    # -- listing ------------------------------------------------------------------------------------------------

    @public
    def runs(self, env: str | None = None, *, limit: int | None = None) -> list[Run]:
        """The recorded runs, the newest first.

        Args:
            env: only those of this environment; all when None.
            limit: how many at most.
        """
        if env is not None:
            _check_env(env)
        if limit is not None:
            check_count(limit, "limit", 2**31 - 1)
        with self._runs.read() as tx:
            return read_runs(tx, env, limit=limit)

    @public
    def steps(self, run_id: str) -> tuple[RunStep, ...]:
        """The steps of a run, in order."""
        return self._runs.steps(run_id)

    @public
    def digest(self, run_id: str) -> RunDigest:
        """A summary of a run in a few lines, made without a model."""
        return digest_of(self._runs.run(run_id), self._runs.steps(run_id))

    @public
    def items(self, env: str | None = None, *, retired: bool = False) -> tuple[Experience, ...]:
        """What was learned, oldest first, with its counts.

        Args:
            env: experience of this environment and promoted experience; all when None.
            retired: whether retired experience is included.
        """
        if env is not None:
            _check_env(env)
        with self._runs.read() as tx:
            return tuple(read_experience(tx, env, retired=retired))

    @public
    def show(self, experience_id: str) -> Experience:
        """One experience, retired or not."""
        for experience in self.items(retired=True):
            if experience.id == experience_id:
                return experience
        raise NotFoundError(
            f"no experience {experience_id!r} for user {self._runs.user!r}; `hexamem experience list` lists them"
        )

    @public
    def stats(self, env: str | None = None) -> ExperienceStats:
        """Counts of runs, of their outcomes with and without advice, and of what was learned from them."""
        return stats_of(env, self.runs(env), self.items(env, retired=True), self._runs.distilling.waits)

    # -- correcting ---------------------------------------------------------------------------------------------

    @public
    def retire(self, experience_id: str, *, reason: str = "") -> Operation:
        """Retire an experience: it is not recalled any more. ``user.undo`` of the returned operation restores it."""
        self.show(experience_id)
        with self._runs.write() as tx:
            (reason,) = self._runs.home.redacted(tx, reason)
            return remove_item(tx, experience_id, reason=reason or "retired")

    @public
    def promote(self, experience_id: str, *, reason: str = "") -> Experience:
        """Make an experience count in every environment of the user; ``user.undo`` reverses that."""
        experience = self.show(experience_id)
        if not experience.environment:
            return experience
        home = self._runs.home
        with self._runs.write() as tx:
            item = get_items(tx, [experience_id])[experience_id]
            metadata = {**item.metadata, **metadata_of(experience.changed(environment=""))}
            fields = {"metadata": metadata, "tree_path": (ENTRY_TYPE,)}
            find = home.settings.find_secrets
            edit_item(tx, experience_id, fields, home.cipher, reason=reason or "promoted", find=find)
        return self.show(experience_id)

    @public
    def forget(self, run_id: str) -> int:
        """Delete a run with its steps physically, and remove the experience that was learned from it alone.

        The removed experience stays in the history until the user is erased; ``user.redact`` removes words from it.

        Returns:
            How many experiences were removed.
        """
        with self._runs.write() as tx:
            get_run(tx, run_id)
            _, learned = forget_runs(tx, [run_id])
        self._runs.home.ledger.checkpoint()
        return learned

    @public
    def distil(self, env: str | None = None) -> int:
        """Queue the finished runs that are not distilled yet, such as those of an import; returns how many."""
        if env is not None:
            _check_env(env)
        with self._runs.write() as tx:
            waiting = [run for run in read_runs(tx, env, finished=True) if not run.distilled]
            for run in reversed(waiting):
                self._runs.distilling.queue(tx, [run.id])
        return len(waiting)

    # -- inside -------------------------------------------------------------------------------------------------

    def _focus_points(self, env: str) -> tuple[Experience, ...]:
        with self._runs.read() as tx:
            return tuple(point for point in read_experience(tx, env) if point.origin == "focus")

    # The twins for asyncio.
    astart = in_thread(start)
    aresume = in_thread(resume)
    adecide = in_thread(decide)
    arecall = in_thread(recall)
    afocus = in_thread(focus)
    aexplore = in_thread(explore)
    aruns = in_thread(runs)
    asteps = in_thread(steps)
    adigest = in_thread(digest)
    aitems = in_thread(items)
    ashow = in_thread(show)
    astats = in_thread(stats)
    aretire = in_thread(retire)
    apromote = in_thread(promote)
    aforget = in_thread(forget)
    adistil = in_thread(distil)


def _check_task(task: str) -> None:
    if not task.strip():
        raise InvalidInputError(f"task = {task!r} is blank; describe the task")


def _check_env(env: str) -> None:
    if len(env) > 200:
        raise InvalidInputError("env has more than 200 characters; give the environment a short name")
