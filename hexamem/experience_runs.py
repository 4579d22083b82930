"""What a user's experience has to say: the runs and items of an environment, read for one question after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from langgraph.errors import GraphBubbleUp

from hexamem.arguments import check_count
from hexamem.errors import HexamemError, InvalidInputError
from hexamem.experience import limits
from hexamem.experience.advising import Include, Lore, advise
from hexamem.experience.care import read_experience
from hexamem.memory_types.experience import Advice, Facet, RunStep
from hexamem.stores.ledger.runs import count_run_steps, read_run_steps, read_runs

if TYPE_CHECKING:
    from hexamem.experience.similarity import EmbedTexts
    from hexamem.user import UserMemory

__all__ = ["ExperienceRecall"]

T = TypeVar("T")
_MOST_K = 20


class ExperienceRecall:
    """Recalls for one user; nothing is written."""

    def __init__(self, user: UserMemory) -> None:
        self._user = user

    def advice(self, task: str, env: str, k: int, include: Include, facet: Facet | None, same_task: bool) -> Advice:
        """See :meth:`~hexamem.learning.UserExperience.recall`."""
        check_count(k, "k", _MOST_K)
        for value, name, known in ((include, "include", get_args(Include)), (facet, "facet", (*get_args(Facet), None))):
            if value not in known:
                raise InvalidInputError(f"{name} = {value!r}: use one of {', '.join(map(str, known))}")
        lore = self.lore(env)
        if not lore.runs and not lore.experience:
            return Advice()
        memory = self._user.memory
        asked = memory._without_secrets(self._user.name, task)
        options: dict[str, Any] = {"k": k, "include": include, "facet": facet, "same_task": same_task}
        found, told = self.with_vectors(lambda embed: advise(asked, lore, embed, **options))
        return found.changed(degraded=told) if told else found

    def lore(self, env: str) -> Lore:
        """What there is to recall from in an environment."""
        ledger, name = self._user.memory.ledger, self._user.name

        def read_steps(run_ids: Any) -> Mapping[str, list[RunStep]]:
            with ledger.read(name) as tx:
                return read_run_steps(tx, run_ids)

        with ledger.read(name) as tx:
            runs = read_runs(tx, env, finished=True, limit=limits.MOST_RUNS)
            experience = read_experience(tx, env)
            lengths = count_run_steps(tx, [run.id for run in runs])
        return Lore(runs=runs, experience=experience, lengths=lengths, read_steps=read_steps)

    def with_vectors(self, work: Callable[[EmbedTexts | None], T]) -> tuple[T, tuple[str, ...]]:
        """What work gives with vectors; where those fail, by words alone, and then why."""
        try:
            return work(self._user.memory.distilling.embed_for(self._user.name)), ()
        except (HexamemError, GraphBubbleUp):
            raise
        except Exception as error:  # noqa: BLE001 - a remote embedder's own errors; words alone serve meanwhile
            told = f"the embedder failed ({type(error).__name__}): what is near was found by words alone"
            return work(None), (told,)
