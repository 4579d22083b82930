"""Pages of a user's conversations: lists, single pages, the light memory, search (GAM, arXiv 2511.18423)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from hexamem.agents.light_memory import LEAST_BUDGET, light_memory
from hexamem.agents.memorizer import Memorizer
from hexamem.errors import CorruptFileError, InvalidInputError, NotFoundError
from hexamem.home import Home
from hexamem.intent.page_bounds import PageLimits
from hexamem.memory_types import Hit, LightMemory, Page, PageWithSteps
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.times import read_zone
from hexamem.models.tokens import count_tokens
from hexamem.retrieval.page_search import PageRequest, search_pages
from hexamem.stores.index_writer import PAGES
from hexamem.stores.label_writes import vocabulary_of
from hexamem.stores.ledger import Transaction, get_steps
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.pages import PageRow, PageStep, get_pages, page_steps, pages_holding, read_pages
from hexamem.stores.page_index import PageIndex
from hexamem.stores.projections import Projector
from hexamem.stores.vocabulary import Vocabulary


class Paging:
    """The pages of a home's users. Each call first brings them up to the stored steps."""

    def __init__(self, home: Home, projector: Projector) -> None:
        """The projector erases, purges and rebuilds the index of pages with the others."""
        settings = home.settings
        self._ledger, self._settings, self._projector = home.ledger, settings, projector
        limits = PageLimits(
            steps=settings.page_steps, tokens=settings.page_tokens, gap=timedelta(hours=settings.page_gap)
        )
        self.memorizer = Memorizer(home.ledger, limits)
        self.index = PageIndex(projector, self.memorizer)

    def pages(self, user: str, thread_id: str | None, scope: str | None) -> list[Page]:
        """See ``UserMemory.pages``."""
        self.index.catch_up(user)
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return []
            chosen = read_pages(tx, thread_id)
            if scope is not None:
                scope_ids = self._scope_ids(tx, scope)
                chosen = [page for page in chosen if page.scope_id in scope_ids]
            return self._records(tx, chosen)

    def page(self, user: str, page_id: str) -> PageWithSteps:
        """See ``UserMemory.page``."""
        self.index.catch_up(user)
        with self._ledger.read(user) as tx:
            rows = get_pages(tx, [page_id])
            if not rows and page_id.startswith("step_"):
                rows = get_pages(tx, pages_holding(tx, [page_id]).values())
            records = self._records(tx, list(rows.values()))
            if not records:
                raise NotFoundError(f"no page {page_id!r} for user {user!r}; `hexamem pages list` lists them")
            page = records[0]
            steps = get_steps(tx, page.step_ids)
            zone = read_zone(tx.timezone)
        ordered = tuple(steps[step_id] for step_id in page.step_ids)
        lines = [page.header] if page.header else []
        lines += [
            f"[{in_zone(step.occurred_at, zone):%Y-%m-%d %H:%M}] {step.speaker}: {step.index_text}" for step in ordered
        ]
        return PageWithSteps.model_construct(**{**page.__dict__, "steps": ordered, "text": "\n".join(lines)})

    def light_memory(
        self,
        user: str,
        budget: int,
        permitted: Callable[[Transaction, Collection[str]], Collection[str]] | None = None,
    ) -> LightMemory:
        """See ``UserMemory.light_memory``; ``permitted`` filters step ids: only pages all of whose steps pass count."""
        if budget < LEAST_BUDGET:
            raise InvalidInputError(f"token_budget = {budget}: pass at least {LEAST_BUDGET} tokens")
        self.index.catch_up(user)
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return LightMemory()
            pages = [page for page in read_pages(tx) if page.closed and page.memo]
            if permitted is not None:
                ids_of = {page_id: [step.id for step in steps] for page_id, steps in page_steps(tx, pages).items()}
                passing = set(permitted(tx, [step_id for step_ids in ids_of.values() for step_id in step_ids]))
                pages = [page for page in pages if passing.issuperset(ids_of[page.id])]
            names = _scope_names(tx, pages)
            zone = read_zone(tx.timezone)
        return light_memory(pages, budget, zone=zone, count=count_tokens, scopes=names)

    def search(
        self,
        user: str,
        query: str,
        k: int,
        *,
        thread_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        scope: str | None = None,
        exclude: Collection[str] = (),
    ) -> list[Hit]:
        """See ``UserMemory.search_pages``."""
        self.index.catch_up(user)
        scope_ids = None
        if scope is not None:
            with self._ledger.read(user) as tx:
                scope_ids = frozenset(self._scope_ids(tx, scope)) if tx.user_id else frozenset()
        request = PageRequest(
            query=query, k=k, thread_id=thread_id, since=since, until=until, scope=scope_ids, exclude=frozenset(exclude)
        )
        try:
            return search_pages(self.index, user, request)
        except CorruptFileError:
            if not self._projector.repair(user, PAGES):
                raise
            return search_pages(self.index, user, request)

    def cut(self, user: str) -> None:
        """Assign all steps of the user to pages, without indexing the pages."""
        with self._projector.lock(user):
            self.memorizer.page(user)

    def tidy(self, user: str) -> None:
        """Bring the user's pages up to the ledger, if the settings ask for it."""
        if self._settings.pages:
            self.index.catch_up(user)

    @staticmethod
    def _scope_ids(tx: Transaction, scope: str) -> set[str]:
        """The ids of a scope and those under it."""
        vocabulary = vocabulary_of(tx)
        return vocabulary.covering(vocabulary.one(scope, "scope").id)

    def _records(self, tx: Transaction, chosen: Sequence[PageRow]) -> list[Page]:
        steps = page_steps(tx, chosen)
        names = _scope_names(tx, chosen)
        return [
            _record(tx.user, self.memorizer.shown(tx, page), steps[page.id], names) for page in chosen if steps[page.id]
        ]


def _scope_names(tx: Transaction, pages: Sequence[PageRow]) -> dict[str, str]:
    scope_ids = {page.scope_id for page in pages if page.scope_id}
    vocabulary = Vocabulary(read_labels(tx, scope_ids))
    return {scope_id: vocabulary.path(scope_id) for scope_id in scope_ids}


def _record(user: str, page: PageRow, steps: Sequence[PageStep], names: Mapping[str, str]) -> Page:
    values = {name: getattr(page, name) for name in Page.model_fields if hasattr(page, name)}
    scope = names.get(page.scope_id or "")
    values |= {"user": user, "step_ids": tuple(step.id for step in steps), "scope": scope}
    return Page.model_construct(**values)
