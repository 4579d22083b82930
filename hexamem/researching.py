"""Deep research: builds the research graph over a home's stores, and runs questions through it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hexamem.errors import HexamemError
from hexamem.home import Home
from hexamem.memory_types import LightMemory, utc_now
from hexamem.memory_types.research import Research
from hexamem.model_tier import ModelTier
from hexamem.paging import Paging
from hexamem.recalling import RecallLog
from hexamem.redactions import Redactions
from hexamem.retrieval.search import Searcher
from hexamem.retrieval.strategies import strategy_named
from hexamem.stores.ledger import recall_row
from hexamem.stores.ledger.labels import count_labels, read_labels
from hexamem.stores.projections import Projector
from hexamem.stores.vocabulary import Vocabulary

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from hexamem.graphs.research_lanes import EvidenceFilter
    from hexamem.graphs.research_state import PlainRecall, ResearchInput, ResearchParts, ResearchSettings
    from hexamem.models import UsageMeter
    from hexamem.models.encoder import EncodedText
    from hexamem.retrieval.label_density import QueryIntent

_SCOPES = 40  # shown to the planner at most
_RECALLED = 60  # hits of a plain recall, whose order is one of two in which research reads


class Researching:
    """Implements :meth:`hexamem.UserMemory.research` for all users of a home."""

    def __init__(
        self,
        home: Home,
        projector: Projector,
        searcher: Searcher,
        paging: Paging,
        tier: ModelTier,
        redactions: Redactions,
        query_intent: QueryIntent,
    ) -> None:
        self._home, self._ledger, self._settings = home, home.ledger, home.settings
        self._projector, self._searcher, self._paging = projector, searcher, paging
        self._tier, self._redactions, self._query_intent = tier, redactions, query_intent
        self.runner: asyncio.Runner | None = None
        """See :meth:`cancellable`."""

    @cached_property
    def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled research graph, built when first needed."""
        from hexamem.graphs.research import build_research_graph

        return build_research_graph(self.parts())

    def research(
        self,
        user: str,
        log: RecallLog,
        graph_input: ResearchInput,
        settings: ResearchSettings,
        on_event: Callable[[Mapping[str, Any]], object] | None,
    ) -> Research:
        """Run a question through the graph; the passages are added to the user's ``log``."""
        from hexamem.graphs.research_state import ResearchContext

        notices, before, erasures = self._home.notices, self._home.notices.count, log.erasures
        self._redactions.finish(user)
        output: dict[str, Any] = {}

        def receive(mode: str, part: Any) -> None:
            if mode == "values":
                output.update(part)
            elif on_event is not None:
                on_event(part)

        async def run_async() -> None:
            async for mode, part in self.graph.astream(graph_input, context=context, stream_mode=modes):
                receive(mode, part)

        modes: list[Any] = ["custom", "values"]
        with self.metered(user) as usage:
            context = ResearchContext(user=user, usage=usage, settings=settings)
            if self.runner is not None and not self.runner.get_loop().is_running():
                self.runner.run(run_async())
            else:
                for mode, part in self.graph.stream(graph_input, context=context, stream_mode=modes):
                    receive(mode, part)
        values = output["research"]
        degraded = list(dict.fromkeys((*values["degraded"], *notices.of(user, before))))
        try:  # logged, so that what was shown is not extracted again
            scores = [(passage["id"], passage["score"]) for passage in values["passages"]]
            row = recall_row(values["id"], values["question"], "research", scores, utc_now())
            log.add(row, erasures)
        except HexamemError as error:
            degraded.append(f"the research could not be logged: {error}")
        return Research(**{**values, "degraded": tuple(degraded)})

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Within this context Ctrl-C cancels the call of a model, for which the graph would otherwise wait.

        Research then runs in one event loop, that of ``runner``, if the caller has one for the models already: the
        clients of models belong to the first loop that they are used in. Not for several threads.
        """
        if self.runner is not None:
            yield
            return
        try:
            with asyncio.Runner() as self.runner:
                yield
        finally:
            self.runner = None

    def metered(self, user: str) -> AbstractContextManager[UsageMeter]:
        """A meter of the model calls of one research, which are added to the user's usage at the end."""
        return self._tier.metered(user, "research")

    def parts(self) -> ResearchParts:
        """The stores, lanes and agents of the graph."""
        from hexamem.graphs.research_lanes import ResearchLanes
        from hexamem.graphs.research_state import ResearchParts

        home, projector = self._home, self._projector
        lanes = ResearchLanes(
            ledger=home.ledger,
            vectors=home.vectors,
            lexical=home.lexical,
            embedder=home.embedder,
            find=self._searcher.find,
            search_pages=self._paging.search,
            query_intent=self._query_intent,
        )
        return ResearchParts(
            ledger=home.ledger,
            lanes=lanes.by_name(),
            catch_up=projector.catch_up,
            kinds=lanes.item_kinds,
            light_memory=self._light_memory,
            scopes=self._scopes,
            clean=home.without_secrets,
            encode=self._encode,
            repair=projector.repair,
            cut_pages=self._paging.cut,
            recalled=self._recalled,
            budget=self._tier.budget,
            **self._models(),
        )

    def _recalled(self, user: str, question: str, filters: EvidenceFilter) -> PlainRecall:
        """A plain recall by the learned ranking; empty if the embedder has no weights."""
        from hexamem.graphs.research_state import PlainRecall

        if isinstance(self._searcher.ranker, str):
            return PlainRecall()
        result = self._searcher.find(user, filters.request(question, _RECALLED), strategy_named("learned"))
        return PlainRecall(tuple(hit.id for hit in result.hits), result.answerable)

    def _encode(self, texts: Sequence[str]) -> list[EncodedText]:
        """Texts encoded by the bundled encoder, which is loaded when first needed."""
        from hexamem.models.encoder import open_encoder

        return open_encoder().encode(texts)

    def _models(self) -> dict[str, Any]:
        tier, method = self._tier, self._settings.model_method
        models = tier.models
        agents: dict[str, Any] = {}
        if not models:
            return agents
        from hexamem.agents.integrator import ModelIntegrator
        from hexamem.agents.planner import ModelPlanner
        from hexamem.agents.reflector import ModelReflector

        for name, agent in (
            ("planner", ModelPlanner),
            ("integrator", ModelIntegrator),
            ("reflector", ModelReflector),
        ):
            model = models.of(name)
            if model is not None:
                agents[name] = agent(model, prompts=tier.prompts, method=method)
        return agents

    def _light_memory(self, user: str, tokens: int, filters: EvidenceFilter) -> LightMemory:
        """The light memory; with a filter only of pages all of whose steps pass it."""
        if not self._settings.pages or filters.known_at is not None:  # memos have no earlier versions
            return LightMemory()
        return self._paging.light_memory(user, tokens, filters.among if filters else None)

    def _scopes(self, user: str) -> tuple[str, ...]:
        """Paths of the scopes that a planner may search by, those with most steps first."""
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return ()
            scopes = [label for label in read_labels(tx) if label.kind == "scope"]
            counts = count_labels(tx)
        vocabulary = Vocabulary(scopes)
        steps_below: dict[str, int] = {}
        for scope in scopes:
            for scope_id in (canonical := vocabulary.canonical(scope.id), *vocabulary.above(canonical)):
                steps_below[scope_id] = steps_below.get(scope_id, 0) + counts.get(scope.id, 0)
        pinned = {vocabulary.canonical(scope.id) for scope in scopes if scope.pinned}
        shown = [scope_id for scope_id, count in steps_below.items() if scope_id in pinned or count > 1]
        return tuple(map(vocabulary.path, sorted(shown, key=lambda scope_id: -steps_below[scope_id])[:_SCOPES]))
