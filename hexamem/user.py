"""UserMemory: everything bound to one user. Each method has an ``a…`` twin that runs it in a thread."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from .arguments import check_count, check_message_size, check_text, check_texts, file_path, json_mapping, kinds_in
from .async_twins import AsyncTwins
from .calls import public
from .errors import CorruptFileError, HexamemError, InvalidInputError, NotFoundError
from .files import MediaReader, add_to
from .memory_types import (
    EraseReceipt,
    Hit,
    ItemKind,
    LightMemory,
    MemoryItem,
    Operation,
    Page,
    PageWithSteps,
    Recall,
    RedactReceipt,
    Remembered,
    Sensitivity,
    Step,
    Where,
)
from .memory_types.files import AddedFile
from .memory_types.messages import read_messages
from .memory_types.research import AnswerForm, Lane, Research
from .memory_types.times import parse_time, read_zone, shown
from .recalling import Recalling
from .retrieval.feedback_learning import RankingAdjustment
from .retrieval.hits import LeaveOut
from .stores import changing, privacy
from .stores.ledger import (
    Reveal,
    Transaction,
    check_name,
    get_items,
    get_steps,
    history_of,
    read_items,
    read_reveals,
    thread_steps,
    undo,
    user_key,
    write_feedback,
)
from .stores.ledger import jobs as job_queue
from .stores.ledger.jobs import Job
from .stores.media import carries_media
from .stores.recording import record
from .stores.redaction import redact_texts
from .stores.transfer import export_file, import_file

if TYPE_CHECKING:
    from .labels import UserLabels
    from .learning import UserExperience
    from .memory import Memory

__all__ = ["UserMemory"]

Time = datetime | str | int | float


class UserMemory(AsyncTwins):
    """One user's memory. Nothing it does reads, counts or changes anything of another user.

    Made by :meth:`Memory.user`. Safe to use from several threads. A failed call stores nothing and loses nothing.

    Attributes:
        name: the user.
        key: the user as 32 hexadecimal digits, as it stands in folder and collection names.
        timezone: the zone in which naive times are read.
    """

    def __init__(self, memory: Memory, name: str, timezone: str) -> None:
        self.memory, self.name, self.timezone = memory, name, timezone
        self.key = user_key(name)
        read_zone(timezone)  # refuses an unknown one now, not at the first message
        self._calls = memory._calls
        self._recalling = Recalling(self)
        self._redacted = False  # whether it was seen that no redaction is left half done

    @property
    def labels(self) -> UserLabels:
        """The labels of the user's steps, to look at and to correct: see :class:`~hexamem.labels.UserLabels`."""
        from .labels import UserLabels

        return UserLabels(self)

    @property
    def experience(self) -> UserExperience:
        """Runs of the user's agents and what they teach: see :class:`~hexamem.learning.UserExperience`."""
        from .learning import UserExperience

        return UserExperience(self)

    def __repr__(self) -> str:
        return f"UserMemory({self.name!r}, home={str(self.memory.home)!r})"

    # -- writing ------------------------------------------------------------------------------------------------

    @public
    def remember(
        self,
        messages: Any,
        thread_id: str = "default",
        *,
        agent_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Store messages as steps: what is returned is acknowledged and survives a killed process.

        Args:
            messages: one or a sequence of LangChain messages, OpenAI-style dictionaries, (role, text) pairs or plain
                strings. A message whose id the thread holds already is stored once; without an id, each time.
            thread_id: the conversation. Steps keep its order, whatever their times say.
            agent_id: which agent this is the memory of, for filtering.
            metadata: goes onto each step; JSON values.

        Returns:
            The step ids in the order of the messages, the references put in place of secrets, and what fell back.

        Raises:
            InvalidInputError: for an empty or unreadable message, naming it; nothing of the call is stored.
            StorageFullError, HomeNotWritableError: if the home cannot take it.
        """
        check_name(thread_id, "thread_id")
        if agent_id is not None:
            check_name(agent_id, "agent_id")
        settings = self.memory.settings
        fields = json_mapping(metadata, "metadata")
        drafts = read_messages(messages, timezone=self.timezone, keep_reasoning=settings.keep_reasoning)
        for position, draft in enumerate(drafts, 1):
            check_message_size(draft, fields, position, settings.max_message_bytes)
            if draft.message_id is not None:
                check_name(draft.message_id, "message id")
        if not drafts:
            return Remembered()
        receipt = record(
            self.memory.ingesting.recording(len(drafts)),
            self.name,
            drafts,
            timezone=self.timezone,
            thread_id=thread_id,
            agent_id=agent_id,
            metadata=fields,
            cipher=self.memory.cipher,
            media=self.memory.media,
            find=settings.find_secrets,
            ready=self.memory.media_readers.ready,
        )
        self.memory.wrote(self.name)
        return receipt

    @public
    def add(
        self,
        item: MemoryItem | Mapping[str, Any],
        *,
        secret: str | None = None,
        supersedes: str | None = None,
        actor: str = "user",
        reason: str = "",
    ) -> MemoryItem:
        """Store an item of one of the six kinds.

        Args:
            item: a record, or a mapping with its ``kind``. Its user is this one, whatever it says.
            secret: for a vault item, the value to encrypt; it is never part of the record.
            supersedes: the id of the item that this one replaces: that one ends where this one begins to hold.
            actor, reason: kept in the history.

        Returns:
            The item as stored, secrets in its text replaced by references.

        Raises:
            InvalidInputError: for fields that do not fit, or a source step that does not exist.
            NotFoundError: if ``supersedes`` names no item.
        """
        _check_said(actor, reason)
        for value, what in ((secret, "secret"), (supersedes, "supersedes")):
            if value is not None:
                check_text(value, what)
        with self.memory.ledger.write(self.name, timezone=self.timezone) as tx:
            stored = changing.add_item(
                tx,
                item,
                self.memory.cipher,
                secret=secret,
                supersedes=supersedes,
                actor=actor,
                reason=reason,
                find=self.memory.settings.find_secrets,
            )
        self.memory.wrote(self.name)
        return stored

    @public
    def add_file(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        describe: MediaReader | None = None,
        transcribe: MediaReader | None = None,
        keep_bytes: bool = True,
        root: str | os.PathLike[str] | None = None,
        tree_path: Sequence[str] | None = None,
        labels: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        actor: str = "user",
        reason: str = "",
    ) -> AddedFile:
        """Store a file: its text whole as a resource item, found by any of its passages, and its bytes by hash.

        The same bytes are stored once, under whatever name; other bytes under the same path are a new version, which
        supersedes the former. Secrets are taken out as from messages: of the text, and of the bytes of a text file;
        the bytes of another file that holds some are not kept.

        Args:
            path: a txt, md, html, csv, tsv, pdf or docx file, whatever its name says; or a picture or recording. Html,
                pdf and docx need the extra ``files``.
            title: what it is called; the document's own title or its file name when None.
            describe, transcribe: put this picture or recording into words, now: ``(data, mime_type) -> text``. Where
                they are None, the memory's own do so as a job; where there are none, it waits.
            keep_bytes: whether the file itself is kept, for :meth:`media` with ``item.metadata["file"]["sha256"]``.
            root: a folder above it: the folders in between become the item's ``tree_path``.
            tree_path: where it belongs, from wide to narrow; instead of ``root``.
            labels, metadata: of the item; ``metadata["file"]`` is set to name, path, type, size and hash.
            actor, reason: kept in the history.

        Raises:
            InvalidInputError: for a file that is missing, empty, too large, encrypted, damaged or of no kind that can
                be read, or whose library is not installed; nothing is stored then.
            StorageFullError, HomeNotWritableError: if the home cannot take it.
        """
        added = add_to(
            self,
            path,
            title=title,
            describe=describe,
            transcribe=transcribe,
            keep_bytes=keep_bytes,
            root=root,
            tree_path=tree_path,
            labels=labels,
            metadata=metadata,
            actor=actor,
            reason=reason,
        )
        if not added.repeated:
            self.memory.wrote(self.name)
        return added

    @public
    def edit(
        self,
        item_id: str,
        changes: Mapping[str, Any] | None = None,
        *,
        actor: str = "user",
        reason: str = "",
        secret: str | None = None,
        **fields: Any,
    ) -> MemoryItem:
        """Change fields of an item; the version before stays in the history and can be brought back with ``undo``.

        Args:
            item_id: which item.
            changes: new values by field: needed for a field named like an argument here (an event's ``actor``).
            actor, reason: kept in the history.
            secret: a new value for a vault item.
            fields: new values, as keywords.

        Raises:
            NotFoundError: if there is no such item.
            InvalidInputError: for a field that the kind does not have, that may not be set, or does not fit.
        """
        check_text(item_id, "item_id")
        _check_said(actor, reason)
        if secret is not None:
            check_text(secret, "secret")
        with self.memory.ledger.write(self.name, create=False) as tx:
            stored = changing.edit_item(
                tx,
                item_id,
                {**(changes or {}), **fields},
                self.memory.cipher,
                secret=secret,
                actor=actor,
                reason=reason,
                find=self.memory.settings.find_secrets,
            )
        self.memory.wrote(self.name)
        return stored

    @public
    def remove(self, item_id: str, *, actor: str = "user", reason: str = "") -> Operation:
        """Take an item out of memory; ``undo`` of the returned operation brings it back.

        Raises:
            NotFoundError: if there is no such item, or it was removed already.
        """
        check_text(item_id, "item_id")
        _check_said(actor, reason)
        with self.memory.ledger.write(self.name, create=False) as tx:
            actor, reason = self._said(tx, actor, reason)
            operation = changing.remove_item(tx, item_id, actor=actor, reason=reason)
        self.memory.wrote(self.name)
        return operation

    @public
    def forget(
        self,
        step_ids: Collection[str] | None = None,
        *,
        thread_id: str | None = None,
        item_ids: Collection[str] = (),
        parts: Mapping[str, Collection[str]] | None = None,
        actor: str = "user",
        reason: str = "",
    ) -> Operation:
        """Take steps out of every read, and with them the items that rest on nothing else.

        Give ``step_ids``, or a ``thread_id`` for all its steps, or both for the steps named that are in the thread.
        It takes what it is given, exactly: that a reply says the same again is seen by the tool ``forget`` and the chat.
        ``undo`` of the returned operation brings all of it back; ``erase`` and ``redact`` are the ways without return.

        Args:
            step_ids, thread_id: which steps go.
            item_ids: items that go too, whatever they rest on.
            parts: step id → sentences or other words, exactly as they stand in it: "[forgotten]" is read in their place,
                and the rest of the step stays. A step that says anything beside its text (files, calls of tools,
                secrets) has no parts.
            actor, reason: kept in the history.

        Raises:
            InvalidInputError: if nothing is given, or a part does not stand in its step.
            NotFoundError: if a step or item does not exist or was forgotten already, or the thread has none.
        """
        if step_ids is not None:
            step_ids = check_texts(step_ids, "step_ids")
        if thread_id is not None:
            check_text(thread_id, "thread_id")
        item_ids = check_texts(item_ids, "item_ids")
        cut = _parts_of_steps(parts)
        _check_said(actor, reason)
        with self.memory.ledger.write(self.name, create=False) as tx:
            actor, reason = self._said(tx, actor, reason)
            operation = changing.forget_steps(
                tx, step_ids, thread_id, item_ids=item_ids, parts=cut, actor=actor, reason=reason
            )
        self.memory.drop_kept(self.name)
        self.memory.wrote(self.name)
        return operation

    # -- reading ------------------------------------------------------------------------------------------------

    @public
    def get(self, record_id: str) -> Step | MemoryItem:
        """A step or item by its id, in whatever status, unless it is forgotten.

        Raises:
            NotFoundError: if this user has none with that id.
        """
        check_text(record_id, "record_id")
        with self.memory.ledger.read(self.name) as tx:
            found = get_steps(tx, [record_id]).get(record_id) or get_items(tx, [record_id]).get(record_id)
        if found is None:
            raise NotFoundError(f"no step or item {record_id!r} for user {self.name!r}")
        return found

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
            as_of: what was true at that time. known_at: what was believed at that time, in the words of then.
            superseded: also what is no longer believed.
        """
        kinds = kinds_in(kind, items_only=True)
        with self.memory.ledger.read(self.name) as tx:
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
        if thread_id is not None:
            check_text(thread_id, "thread_id")
        with self.memory.ledger.read(self.name) as tx:
            return thread_steps(tx, thread_id)

    @public
    def media(self, sha256: str) -> bytes:
        """The bytes of a picture, recording or file that a step or item carries, see ``Step.media`` and
        :meth:`add_file`; their hash is checked.

        Raises:
            NotFoundError: if no step or item of this user carries them, unless it is forgotten or removed.
            CorruptFileError: if the file that is kept is not what was stored.
        """
        check_text(sha256, "sha256")
        with self.memory.ledger.read(self.name) as tx:
            if not carries_media(tx, sha256):
                raise NotFoundError(f"no step or item of user {self.name!r} carries media with SHA-256 {shown(sha256)}")
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
        """The k best steps and items for a query, each with the reasons why it came back. No LLM call, except
        with ``Settings.query_intent="model"``: then one for a strategy that matches labels.

        What was acknowledged before the call is found by it.

        Args:
            query: what is asked, in any words or language.
            k: how many hits, at most 1,000; when None the strategy's own number, else ``Settings.k``.
            strategy: a name of ``hexamem.STRATEGIES``; ``Settings.strategy`` when None.
            kinds: "step" and item kinds; all when None.
            where: conditions. A filter narrows the search itself, so it never costs a hit that meets it.
            as_of: steps that had happened and items that were true at that time.
            known_at: what was stored and believed at that time, in the words of then. A step that was forgotten
                since stays forgotten.
            token_budget: bounds ``Recall.text``; the hits stay all. The strategy's own, if it has one, when None.
            min_probability: no hits where an answer is less likely; needs a strategy that estimates probabilities.
            operations: of ``temporal_ordering``, ``latest_filtering``, ``multi_step``, ``threshold_filtering`` and
                ``semantic_reranking`` those that are on (True) or off (False) whatever the gate of a learned strategy says.

        Raises:
            InvalidInputError: for an argument that does not fit, with the rule.
        """
        return self._recalling.recall(
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
    def _recall_without(
        self,
        query: str,
        k: int,
        strategy: str | None,
        *,
        kinds: Collection[str] | None,
        where: Where | None,
        leave_out: LeaveOut,
    ) -> Recall:
        """As :meth:`recall`, with the next best hits in place of those that are left out, and no text of them."""
        return self._recalling.recall(
            query,
            k,
            strategy,
            kinds=kinds,
            where=self._where(where),
            as_of=None,
            known_at=None,
            token_budget=None,
            min_probability=None,
            leave_out=leave_out,
            packed=False,
        )

    @public
    def feedback(self, recall_id: str, *, helped: Iterable[str] = (), hurt: Iterable[str] = ()) -> None:
        """Say which hits of a recall helped and which hurt; kept for learning.

        Raises:
            NotFoundError: if there was no such recall.
            InvalidInputError: if an id was not among its hits, or is named in both lists.
        """
        check_text(recall_id, "recall_id")
        good, bad = set(check_texts(helped, "helped")), set(check_texts(hurt, "hurt"))
        if good & bad:
            raise InvalidInputError(f"{', '.join(sorted(good & bad))} is in helped and in hurt; name it once")
        self.write_recalls()
        verdicts: dict[str, Literal["helped", "hurt"]] = {**dict.fromkeys(good, "helped"), **dict.fromkeys(bad, "hurt")}
        with self.memory.ledger.write(self.name, create=False) as tx:
            write_feedback(tx, recall_id, verdicts)

    @public
    def learn_ranking(self, *, reset: bool = False) -> RankingAdjustment:
        """Learn from this user's :meth:`feedback` which operations of the learned ranking help; only this user's recalls change.

        Each recall with feedback (strategies ``learned`` and ``learned_full``, the latest 1,000) is asked again, under every set
        of the operations that cost nothing. What that teaches is kept in the ledger, goes with :meth:`erase`, is in no export, and
        counts for the weights that it was learned with. It is refused, and nothing changes, where on recalls left out of
        learning it is not better than the weights as they ship.

        Args:
            reset: forget what was learned instead.

        Raises:
            ConfigError: there are no weights for the embedder, or they have no gate of operations.
        """
        if reset:
            self._recalling.unlearn()
            return RankingAdjustment(accepted=True, reason="what was learned is forgotten")
        self.write_recalls()
        return self._recalling.learn()

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
        one, rules do the work and the answer is the sentences that carry it. More rounds only add to what is read.

        Args:
            question: what is asked, in any words or language.
            max_rounds: from 1 to 20.
            tier: ``deep``; ``one_shot``, one search and one call; ``recall``, one search and none; or ``auto``, as deep
                as the first search leaves doubts.
            form: what ``context`` holds: the answer as ``text``, with the ``passages`` that carry it, or whole ``pages``.
            passages: how many are read a round at most; 14 when None.
            lanes: ways to search that may be used; all when None.
            calls, tokens, seconds: what it may cost; None for no limit but the memory's own.
            where: conditions on what may be read. kinds: "step" and item kinds; all when None.
            as_of: only what had happened, or was true, at that time. known_at: only what was stored and believed at that
                time, in the words of then. The question is read as asked at that time, the former of the two.
            on_event: told of every plan, search and decision as it is made.

        Raises:
            InvalidInputError: for an argument that does not fit, with the rule.
        """
        return self.memory.researching.research(
            self,
            question,
            max_rounds,
            tier=tier,
            form=form,
            passages=passages,
            lanes=lanes,
            calls=calls,
            tokens=tokens,
            seconds=seconds,
            where=self._where(where),
            as_of=self._time(as_of),
            known_at=self._time(known_at),
            kinds=kinds,
            on_event=on_event,
        )

    # -- pages --------------------------------------------------------------------------------------------------

    @public
    def pages(self, thread_id: str | None = None, scope: str | None = None) -> list[Page]:
        """The pages of a thread, or all: consecutive steps with a header and a memo, in the order of their first steps.

        Joined in order, the pages of a thread give back its steps exactly. The last page of a thread is open and grows.

        Args:
            thread_id: of this conversation only.
            scope: pages most of whose steps are in this scope or one under it; an id, a name or a path.

        Raises:
            NotFoundError: if there is no such scope. InvalidInputError: if several may be meant.
        """
        for value, what in ((thread_id, "thread_id"), (scope, "scope")):
            if value is not None:
                check_text(value, what)
        return self.memory.paging.pages(self.name, thread_id, scope)

    @public
    def page(self, page_id: str) -> PageWithSteps:
        """A page with its steps, and as one text behind its header.

        Args:
            page_id: its id, or that of one of its steps.

        Raises:
            NotFoundError: if this user has no such page, or all its steps are forgotten.
        """
        return self.memory.paging.page(self.name, check_text(page_id, "page_id"))

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
        """The k best pages for a query: half by the page as a whole (vector, words), half by its best step; a hit's text is its
        header and memo.

        Conditions narrow the search itself. No LLM call.

        Args:
            query: what is asked.
            k: how many, at most 1,000.
            thread_id: of this conversation only.
            since, until: pages of which some part lies between.
            scope: pages most of whose steps are in this scope or one under it.
            exclude: ids of pages that were read already.
        """
        if not isinstance(query, str) or not query.strip():
            raise InvalidInputError(f"query = {query!r}: ask something")
        for value, what in ((thread_id, "thread_id"), (scope, "scope")):
            if value is not None:
                check_text(value, what)
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
        """The memos of all closed pages within a token budget: what a planner reads to know where to look.

        Where they do not fit, memos of memos stand for the older ones; nothing is cut off. Each line has a handle,
        by which :meth:`LightMemory.pages_of` names its pages.

        Raises:
            InvalidInputError: for a budget below 64 tokens.
        """
        return self.memory.paging.light_memory(self.name, check_count(token_budget, "token_budget"))

    # -- history ------------------------------------------------------------------------------------------------

    @public
    def history(self, record_id: str | None = None, *, limit: int | None = None) -> list[Operation]:
        """The operations on one step, item or label, or on all, oldest first; ``limit`` keeps the newest."""
        if record_id is not None:
            check_text(record_id, "record_id")
        if limit is not None:
            check_count(limit, "limit")
        with self.memory.ledger.read(self.name) as tx:
            return history_of(tx, record_id, limit)

    @public
    def undo(self, operation_id: str, *, cascade: bool = False, actor: str = "user") -> list[Operation]:
        """Reverse an operation, and with ``cascade`` first the later ones that build on it, newest first.

        Raises:
            NotFoundError: if there is no such operation.
            UndoRefusedError: if later operations build on it (named in ``blockers``), or it cannot be undone.
        """
        check_text(operation_id, "operation_id")
        check_text(actor, "actor")
        with self.memory.ledger.write(self.name, create=False) as tx:
            [actor] = self._said(tx, actor)
            done = undo(tx, operation_id, cascade=cascade, actor=actor)
        self.memory.drop_kept(self.name)
        self.memory.wrote(self.name)
        return done

    # -- privacy ------------------------------------------------------------------------------------------------

    @public
    def reveal(self, record_id: str, *, reason: str, actor: str = "user") -> str:
        """The plaintext of a secret; who asked, when and why is kept in :meth:`reveals`.

        Args:
            record_id: a vault item's id, a secret's id, or a whole reference ``{{vault:ID|caption}}``.
            reason: why it is needed.

        Raises:
            NotFoundError: if there is no such secret. InvalidInputError: without a reason.
            SecretKeyError: if the vault's key is not the one that encrypted it.
        """
        check_text(record_id, "record_id")
        check_text(actor, "actor")
        with self.memory.ledger.write(self.name, create=False) as tx:
            if isinstance(reason, str):  # the vault says what is wrong with any other
                actor, reason = self._said(tx, actor, reason)
            return privacy.reveal(tx, self.memory.cipher, record_id, reason=reason, actor=actor)

    @public
    def reveals(self, secret_id: str | None = None) -> list[Reveal]:
        """The audit of revealed secrets, oldest first."""
        if secret_id is not None:
            check_text(secret_id, "secret_id")
        with self.memory.ledger.read(self.name) as tx:
            return read_reveals(tx, secret_id)

    @public
    def redact(
        self,
        words: str,
        *,
        caption: str = "secret",
        kind: str = "secret",
        sensitivity: Sensitivity = "high",
        reason: str = "",
    ) -> RedactReceipt:
        """Take words out of everything this user has stored, and keep them in the vault alone.

        Steps, items, their history, recalls, text files and indexes are rewritten in place; it cannot be undone, but
        ``reveal`` gives the words back. They are found as whole words, exactly as given. What only names something
        (ids of threads, messages, agents, tool calls) and files that are no text are left as they are.

        Raises:
            InvalidInputError: for empty words, or a caption that holds them.
            NotFoundError: if they stand nowhere.
        """
        for value, what in ((caption, "caption"), (kind, "kind"), (reason, "reason")):
            check_text(value, what)
        if sensitivity not in get_args(Sensitivity):
            raise InvalidInputError(f"sensitivity = {sensitivity!r}: use one of {', '.join(get_args(Sensitivity))}")
        self.write_recalls()
        memory = self.memory
        self._redacted = False
        return privacy.redact(
            self.name,
            memory.ledger,
            memory.projector,
            memory.media,
            memory.cipher,
            words,
            caption=caption,
            kind=kind,
            sensitivity=sensitivity,
            reason=reason,
            find=memory.settings.find_secrets,
        )

    @public
    def erase(self) -> EraseReceipt:
        """Erase everything of this user from ledger, indexes, media and logs, physically and for good.

        Returns:
            A receipt with what was erased where. The user may begin anew afterwards.
        """
        self._recalling.forget()
        return privacy.erase(self.name, self.memory.ledger, self.memory.projector, self.memory.media)

    # -- moving -------------------------------------------------------------------------------------------------

    @public
    def export(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> dict[str, int]:
        """Write everything of this user to a JSON Lines file with checksums; returns how many entries of each kind.

        Secrets are left out unless a passphrase is given: then each goes along sealed under it.

        Raises:
            HomeNotWritableError: if the file cannot be written; a half-written file is never left.
        """
        target = file_path(path)
        if passphrase is not None:
            check_text(passphrase, "passphrase")
        self.write_recalls()
        return export_file(
            target, self.name, self.memory.ledger, self.memory.cipher, self.memory.media, passphrase=passphrase
        )

    @public
    def import_(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> dict[str, int]:
        """Take in a file written by :meth:`export`, of this or another user; what is there already stays.

        A user who begins with it takes over its timezone, unless another than the home's was chosen.

        Returns:
            How many entries of each kind came in.

        Raises:
            CorruptFileError: naming file and line, if any checksum does not fit; nothing is imported then.
            InvalidInputError: if it holds secrets and no passphrase is given, or clashes with a thread that is there.
        """
        if passphrase is not None:
            check_text(passphrase, "passphrase")
        learned = not self.memory.ingesting.waiting(self.name)
        counts = import_file(
            file_path(path),
            self.name,
            self.memory.ledger,
            self.memory.cipher,
            self.memory.media,
            passphrase=passphrase,
            timezone=self.timezone,
            chosen=self.timezone != self.memory.settings.timezone,
        )
        self.timezone = self.memory.ledger.timezone(self.name) or self.timezone
        if learned:  # what there is to learn from the steps comes with them, as items
            self.memory.ingesting.skip(self.name)
        self.memory.wrote(self.name)
        return counts

    @public
    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything acknowledged is in the indexes and this user's due jobs were run.

        Jobs that are parked, deferred, in their pause after a failure, run by another process or of a kind without a
        handler are not waited for.

        Args:
            timeout: seconds to wait for jobs at most; None waits as long as it takes. A job that runs is not broken
                off, and the indexes are brought up whole.

        Returns:
            Whether all is done; where not, :meth:`jobs` tells what is left.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        memory = self.memory
        self.write_recalls()
        self._finish_redactions()
        memory.projector.catch_up(self.name)
        with memory.ingesting.flushing(self.name):
            memory.runner.run_due(self.name, deadline)
            if memory.model_tier.hurry(self.name):
                memory.runner.run_due(self.name, deadline)
        memory.projector.catch_up(self.name)  # a job may have written what is to be indexed
        return not job_queue.unfinished(memory.ledger, memory.runner.clock(), self.name)

    @public
    def jobs(self) -> list[Job]:
        """This user's jobs that are not done, the first due first: waiting, running, deferred, parked, and why."""
        return job_queue.list_jobs(self.memory.ledger, self.name)

    # -- inside -------------------------------------------------------------------------------------------------

    def write_recalls(self) -> None:
        """Write the recalls made since the last time to the ledger, without the secrets it knows by then."""
        self._recalling.write()

    def _finish_redactions(self) -> None:
        """End, once a process, what a redaction that failed or was killed has left; what fails is noticed."""
        if self._redacted:
            return
        memory = self.memory
        try:
            privacy.finish_redactions(self.name, memory.ledger, memory.projector, memory.media)
        except HexamemError as error:  # reading goes on; the next call tries again
            memory._notice(self.name, f"a redaction of user {self.name!r} is not finished yet: {error}")
        else:
            self._redacted = True

    def _said(self, tx: Transaction, *texts: str) -> list[str]:
        """Who and why, as they may stand in the history."""
        return redact_texts(tx, self.memory.cipher, self.memory.settings.find_secrets, *texts)

    def _time(self, value: Time | None) -> datetime | None:
        return None if value is None else parse_time(value, timezone=self.timezone).utc

    def _where(self, where: Where | Mapping[str, Any] | None) -> Where | None:
        if where is None or isinstance(where, Where):
            return where
        if not isinstance(where, Mapping):
            raise InvalidInputError(f"where = {where!r}: give a Where or a mapping of its fields")
        times = {name: self._time(where[name]) for name in ("since", "until") if where.get(name) is not None}
        return Where.parse({**where, **times})


def _parts_of_steps(parts: object) -> dict[str, list[str]]:
    if parts is None:
        return {}
    if not isinstance(parts, Mapping):
        raise InvalidInputError(f"parts = {shown(parts)}: give a mapping of step ids to words that stand there")
    return {
        check_text(step_id, "a step id in parts"): check_texts(words, f"parts[{step_id!r}]")
        for step_id, words in parts.items()
    }


def _check_said(actor: object, reason: object) -> None:
    check_text(actor, "actor")
    check_text(reason, "reason")
