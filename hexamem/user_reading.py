"""The methods of ``UserMemory`` that read and search: records, recall, research and pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Literal

from hexamem.arguments import (
    check_count,
    check_number,
    check_query,
    check_texts,
    kinds_in,
)
from hexamem.calls import in_thread, public
from hexamem.errors import CorruptFileError, InvalidInputError, NotFoundError
from hexamem.memory_types import Hit, ItemKind, LightMemory, MemoryItem, Page, PageWithSteps, Recall, Step, Where
from hexamem.memory_types.research import LANES, AnswerForm, Lane, Research
from hexamem.memory_types.times import shown
from hexamem.retrieval.hits import LeaveOut
from hexamem.stores.ledger import get_items, get_steps, read_items, thread_steps, write_feedback
from hexamem.stores.media import carries_media
from hexamem.user_base import Time, UserBase

_MOST_ROUNDS, _MOST_PASSAGES = 20, 200


class UserReading(UserBase):
    """Reading and searching. Part of :class:`~hexamem.UserMemory`."""

    @public
    def get(self, record_id: str) -> Step | MemoryItem:
        """A step or item by its id, in whatever status, unless it is forgotten."""
        with self.read() as tx:
            record = get_steps(tx, [record_id]).get(record_id) or get_items(tx, [record_id]).get(record_id)
        if record is None:
            raise NotFoundError(f"no step or item {record_id!r} for user {self.name!r}")
        return record

    @public
    def items(
        self,
        kind: ItemKind | Collection[ItemKind] | None = None,
        where: Where | Mapping[str, Any] | None = None,
        *,
        as_of: Time | None = None,
        known_at: Time | None = None,
        superseded: bool = False,
    ) -> list[MemoryItem]:
        """Items in order of creation.

        Args:
            kind: one kind, several, or all.
            where: conditions, see :class:`~hexamem.Where`.
            as_of: items that were true at that time. known_at: items as they were stored at that time.
            superseded: superseded items too.
        """
        kinds = kinds_in(kind, self.memory.types, items_only=True)
        with self.read() as tx:
            return read_items(
                tx,
                kinds=kinds,
                where=self._where(where),
                as_of=self._time(as_of),
                known_at=self._time(known_at),
                superseded=superseded,
            )

    @public
    def steps(self, thread_id: str | None = None) -> list[Step]:
        """The steps of a thread in their order, or all in the order in which they were stored."""
        with self.read() as tx:
            return thread_steps(tx, thread_id)

    @public
    def media(self, sha256: str) -> bytes:
        """The bytes of a picture, recording or file of a step or item, see ``Step.media`` and :meth:`add_file`.

        Raises:
            NotFoundError: if no step or item of this user that is not forgotten or removed has media of this hash.
            CorruptFileError: if the stored file does not have this hash.
        """
        with self.read() as tx:
            if not carries_media(tx, sha256):
                raise NotFoundError(f"no step or item of user {self.name!r} has media with SHA-256 {shown(sha256)}")
        data = self.memory.media.get(self.key, sha256)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise CorruptFileError(
                f"the media {sha256} of user {self.name!r} under {self.memory.media.root} are damaged: restore "
                "the file from a copy"
            )
        return data

    @public
    def recall(
        self,
        query: str,
        k: int | None = None,
        strategy: str | None = None,
        *,
        kinds: str | Collection[str] | None = None,
        where: Where | Mapping[str, Any] | None = None,
        as_of: Time | None = None,
        known_at: Time | None = None,
        token_budget: int | None = None,
        min_probability: float | None = None,
        operations: Mapping[str, bool] | None = None,
    ) -> Recall:
        """The k best steps and items for a query, each with the signals that ranked it.

        Everything that was acknowledged before the call is searched. Calls no LLM.

        Args:
            query: the question or keywords, in any language.
            k: how many hits, at most 1,000; when None the strategy's own number, else ``Settings.k``.
            strategy: a name of ``hexamem.STRATEGIES`` or of the memory's ``rankings``; ``Settings.strategy`` when None.
            kinds: "step" and item kinds; all when None.
            where: conditions. They filter before ranking, so that k hits are returned if as many match.
            as_of: steps that had happened and items that were true at that time.
            known_at: what was stored at that time, in the version of then. A step that was forgotten since stays
                forgotten.
            token_budget: bounds ``Recall.text``, not the hits. The strategy's own, if it has one, when None.
            min_probability: no hits where an answer is less likely; needs a strategy that estimates probabilities.
            operations: switches ``temporal_ordering``, ``latest_filtering``, ``multi_step``, ``threshold_filtering`` and
                ``semantic_reranking`` on (True) or off (False), whatever the gate of a learned strategy decides.
        """
        return self.memory.recalling.recall(
            self.name,
            self._recalls,
            query,
            k,
            strategy,
            kinds=kinds,
            where=self._where(where),
            as_of=self._time(as_of),
            known_at=self._time(known_at),
            token_budget=token_budget,
            min_probability=min_probability,
            operations=operations,
        )

    @public
    def recall_without(
        self,
        query: str,
        k: int,
        strategy: str | None,
        *,
        kinds: Collection[str] | None,
        where: Where | None,
        leave_out: LeaveOut,
    ) -> Recall:
        """As :meth:`recall`, with the next best hits in place of those that are left out, and without ``text``."""
        recall = self.memory.recalling.recall
        return recall(
            self.name, self._recalls, query, k, strategy, kinds=kinds, where=where, leave_out=leave_out, packed=False
        )

    @public
    def feedback(self, recall_id: str, *, helped: Iterable[str] = (), hurt: Iterable[str] = ()) -> None:
        """Store which hits of a recall helped and which hurt: judgements to export and evaluate by.

        Raises:
            InvalidInputError: if an id was not among its hits, or is in both lists.
        """
        good, bad = set(check_texts(helped, "helped")), set(check_texts(hurt, "hurt"))
        if good & bad:
            raise InvalidInputError(f"{', '.join(sorted(good & bad))} is in helped and in hurt; name it once")
        self.write_recalls()
        verdicts: dict[str, Literal["helped", "hurt"]] = {**dict.fromkeys(good, "helped"), **dict.fromkeys(bad, "hurt")}
        with self.memory.ledger.write(self.name, create=False) as tx:
            write_feedback(tx, recall_id, verdicts)

    @public
    def research(
        self,
        question: str,
        max_rounds: int = 3,
        *,
        tier: Literal["auto", "recall", "one_shot", "deep"] = "deep",
        form: AnswerForm = "text",
        passages: int | None = None,
        lanes: Collection[Lane] | None = None,
        calls: int | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        where: Where | Mapping[str, Any] | None = None,
        as_of: Time | None = None,
        known_at: Time | None = None,
        kinds: str | Collection[str] | None = None,
        on_event: Callable[[Mapping[str, Any]], object] | None = None,
    ) -> Research:
        """Answer a question by rounds of planning, searching, integrating and reflecting (GAM, arXiv 2511.18423).

        With a model for the agents ``planner``, ``integrator`` and ``reflector`` a round costs at most 3 calls; without
        one, the embedded engine searches, and the answer is the sentences that it extracts.

        Args:
            question: the question, in any language.
            max_rounds: from 1 to 20.
            tier: ``deep``; ``one_shot``, one search and one call; ``recall``, one search and no call; or ``auto``,
                chosen by how well the first search answers the question.
            form: what ``context`` holds: the answer as ``text``, with its ``passages``, or whole ``pages``.
            passages: how many are read a round at most; 14 when None.
            lanes: ways to search that may be used; all when None.
            calls, tokens, seconds: the budget; None for no limit but the memory's own.
            where: conditions on what may be read. kinds: "step" and item kinds; all when None.
            as_of: only what had happened, or was true, at that time. known_at: only what was stored at that time, in
                the version of then. "Yesterday" in the question is relative to ``as_of``, else to ``known_at``.
            on_event: called with every plan, search and decision.
        """
        from hexamem.graphs.research_state import ResearchInput, ResearchSettings

        for name, limit in {"calls": calls, "tokens": tokens}.items():
            if limit is not None:
                check_count(limit, name, lowest=0)
        if seconds is not None:
            check_number(seconds, "seconds", 0)
        if lanes is not None and (isinstance(lanes, str) or not lanes or set(lanes) - set(LANES)):
            raise InvalidInputError(f"lanes = {lanes!r}: pass some of {', '.join(LANES)}")
        condition, moments, chosen = self._where(where), (as_of, known_at), kinds_in(kinds, self.memory.types)
        then, known = (None if (at := self._time(moment)) is None else at.isoformat() for moment in moments)
        graph_input = ResearchInput(
            question=question,
            max_rounds=check_count(max_rounds, "max_rounds", _MOST_ROUNDS),
            tier=tier,
            form=form,
            where=None if condition is None else condition.model_dump(mode="json"),
            as_of=then,
            known_at=known,
            kinds=None if chosen is None else sorted(chosen),
        )
        if passages is not None:
            graph_input["passages"] = check_count(passages, "passages", _MOST_PASSAGES)
        used = LANES if lanes is None else tuple(lane for lane in LANES if lane in lanes)
        settings = ResearchSettings(lanes=used, calls=calls, tokens=tokens, seconds=seconds)
        return self.memory.researching.research(self.name, self._recalls, graph_input, settings, on_event)

    @public
    def pages(self, thread_id: str | None = None, scope: str | None = None) -> list[Page]:
        """The pages of a thread, or all: consecutive steps with a header and a memo, in the order of their first steps.

        Each step of a thread is in exactly one of its pages. The last page of a thread is open and grows.

        Args:
            thread_id: of this conversation only.
            scope: pages most of whose steps are in this scope or one under it; an id, a name or a path.
        """
        return self.memory.paging.pages(self.name, thread_id, scope)

    @public
    def page(self, page_id: str) -> PageWithSteps:
        """A page with its steps, and with its text: the header followed by the steps.

        Args:
            page_id: its id, or that of one of its steps.

        Raises:
            NotFoundError: if this user has no such page, or all its steps are forgotten.
        """
        return self.memory.paging.page(self.name, page_id)

    @public
    def search_pages(
        self,
        query: str,
        k: int = 5,
        *,
        thread_id: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        scope: str | None = None,
        exclude: Collection[str] = (),
    ) -> list[Hit]:
        """The k best pages for a query, without an LLM call; a hit's text is the page's header and memo.

        Half of the score is that of the whole page (vector, keywords), half that of its best step. Conditions filter
        before ranking.

        Args:
            query: the question or keywords.
            k: how many, at most 1,000.
            thread_id: of this conversation only.
            since, until: pages that overlap this period.
            scope: pages most of whose steps are in this scope or one under it.
            exclude: ids of pages to leave out.
        """
        check_query(query)
        return self.memory.paging.search(
            self.name,
            query,
            check_count(k, "k", 1_000),
            thread_id=thread_id,
            since=self._time(since),
            until=self._time(until),
            scope=scope,
            exclude=check_texts(exclude, "exclude"),
        )

    @public
    def light_memory(self, token_budget: int = 1_500) -> LightMemory:
        """The memos of all closed pages within a token budget: what a planner reads to know where to search.

        If they do not fit, memos of memos replace the older ones; none is left out. Each line has a handle, from which
        :meth:`LightMemory.pages_of` returns its pages.

        Raises:
            InvalidInputError: for a budget below 64 tokens.
        """
        return self.memory.paging.light_memory(self.name, check_count(token_budget, "token_budget"))

    # The twins for asyncio.
    aget = in_thread(get)
    aitems = in_thread(items)
    asteps = in_thread(steps)
    amedia = in_thread(media)
    arecall = in_thread(recall)
    afeedback = in_thread(feedback)
    aresearch = in_thread(research)
    apages = in_thread(pages)
    apage = in_thread(page)
    asearch_pages = in_thread(search_pages)
    alight_memory = in_thread(light_memory)
