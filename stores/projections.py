"""Updates the indexes from the ledger, by change number, and rebuilds an index that is damaged or missing.

An index may be behind: the ledger stores up to which change each index is written, and writing a record twice does no
harm. So a process that was killed at any point is continued by the next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from sqlalchemy import bindparam, select

from hexamem.errors import CorruptFileError, HomeInUseError, ModelFileError, VectorServerError
from hexamem.stores.documents import item_documents, step_document
from hexamem.stores.embedders import Embedder
from hexamem.stores.index_reach import IndexReach
from hexamem.stores.index_writer import (
    PAGES,
    RECORDS,
    TARGETS,
    IndexWriter,
    Streams,
    Target,
    keyword_index,
    searched_words,
)
from hexamem.stores.item_set import ItemSet
from hexamem.stores.ledger import (
    Ledger,
    Transaction,
    changed_items,
    changed_steps,
    read_projections,
    set_projection,
    user_key,
)
from hexamem.stores.ledger.prepared import Prepared, of_user
from hexamem.stores.ledger.schema import steps
from hexamem.stores.lexical import LexicalStore
from hexamem.stores.streams import (
    changed_documents,
    count_mismatch,
    expected_count,
    last_change,
    renamed_documents,
)
from hexamem.stores.vectors import Part, VectorIndex
from hexamem.stores.vectors.protocol import PARTS

__all__ = ["LabelStage", "Projector"]

Progress = Callable[[str, int], None]
_MAX_UNINDEXED, _SHARE = 512, 4
"""At most so many new steps and changed items each, and one per so many indexed records, are searched before they are
indexed."""
_FIRST_CHANGED = Prepared(
    select(steps.c.seq)
    .where(of_user(steps), steps.c.change > bindparam("since"))
    .order_by(steps.c.seq)
    .limit(_MAX_UNINDEXED + 1)
)
_LAST_STEP = Prepared(
    select(steps.c.seq)
    .where(of_user(steps), steps.c.change <= bindparam("until"))
    .order_by(steps.c.seq.desc())
    .limit(1)
)


class LabelStage(Protocol):
    """Labels steps before they are indexed."""

    def label(self, user: str) -> int:
        """Label the user's steps without labels; returns the number of steps labelled."""
        ...

    def waiting(self, user: str) -> bool:
        """Whether there are steps to label again, even if the indexes are up to date."""
        ...

    def start_over(self, user: str) -> None:
        """Try every step without labels again."""
        ...


class _SyncPoint(NamedTuple):
    """Up to where all indexes of a user are written.

    Attributes:
        state: :meth:`Ledger.state` if no index was behind; None if one was, or if only a read shows whether it changed.
        change, seq: the change number, and the last step up to it.
        registered: the registration of the user, which another home may have erased and begun anew.
    """

    state: object | None
    change: int
    seq: int
    registered: int


class Projector:
    """Updates a home's indexes from its ledger. Thread-safe.

    Args:
        notices: receives the user and a message for each index that is rebuilt.
        home: the id of the home of the indexes: several homes may share a ledger, each with its own indexes.
        reach: records outside of the ledger how far the indexes are written.
        labelling: labels steps before they are indexed; None to index them without labels.
    """

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorIndex,
        lexical: LexicalStore,
        embedder: Embedder,
        notices: Callable[[str, str], None],
        home: str,
        reach: IndexReach,
        labelling: LabelStage | None = None,
    ) -> None:
        self.labelling = labelling
        self.ledger, self.vectors, self.lexical, self.embedder = ledger, vectors, lexical, embedder
        self._notices = notices
        self._home = home
        self._reach = reach
        ledger.on_first_use = self._compare
        self.writer = IndexWriter(ledger, vectors, lexical, embedder)  # its source of pages is set by their owner
        self.on_removal: Callable[[str], None] = lambda user: None
        """Called with a user whose words were removed from the ledger; set by the owner of caches in memory."""
        self._locks: dict[str, threading.RLock] = {}
        self._guard = threading.Lock()
        self._checked: set[tuple[str, Streams]] = set()
        self._synced: dict[str, _SyncPoint] = {}
        self.embedder_error: str | None = None
        """Why the embedder's model cannot be loaded; the vector indexes are then not updated."""

    def lock(self, user: str) -> threading.RLock:
        """The lock of all index writes of this user."""
        with self._guard:
            return self._locks.setdefault(user, threading.RLock())

    def behind(self, user: str) -> int:
        """The number of changes that the slowest index of the user is behind."""
        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return 0
            return tx.change - self.indexed(tx)

    def catch_up(self, user: str, progress: Progress | None = None) -> int:
        """Label the steps that are waiting for labels, and update every index of the user, up to what the ledger holds at
        the time of the call: it does not chase a writer.

        Returns the number of records written.

        The first call for a user in a process also checks the number of records of each index, and rebuilds an index
        that is wrong. So does a call that fails on a damaged or missing index.
        """
        again = self.labelling is not None and self.labelling.waiting(user)
        checked = (user, RECORDS) in self._checked
        if checked and not again and self._is_current(user):
            return 0
        wanted = self._change(user)
        with self.lock(user):
            if checked and not again and self._reaches(user, wanted):
                return 0  # another thread has indexed it meanwhile
            if self.labelling is not None:
                self.labelling.label(user)
            return self.advance(user, RECORDS, progress)

    def advance(self, user: str, streams: Streams, progress: Progress | None = None) -> int:
        """Update the indexes of streams, up to what the ledger holds; returns the number of records written.

        The first call checks them, and rebuilds a wrong one, as does a call that fails on a damaged or missing index.
        """
        with self.lock(user):
            try:
                self._empty_outdated(user)
                if (user, streams) not in self._checked:
                    self._check(user, streams)
                    self._checked.add((user, streams))
                return self._advance_all(user, streams, progress)
            except VectorServerError:  # keywords are searched meanwhile
                for stream in streams:
                    self._advance(user, stream, progress, index="lexical")
                raise
            except (CorruptFileError, HomeInUseError):  # a missing folder cannot be locked either
                if not self._check(user, streams):
                    raise
                return self._advance_all(user, streams, progress)

    def _compare(self, tx: Transaction) -> None:
        """Compare how far the user's indexes were written with the ledger, before this process writes either."""
        self._reach.compare(user_key(tx.user), tx.change, tx.registered, exclusive=self.ledger.exclusive)

    def _empty_outdated(self, user: str) -> None:
        """Empty the user's indexes if they have changes that the ledger lost, or are of a former user of that name."""
        key = user_key(user)
        with self.ledger.read(user) as tx:
            registered = tx.registered
        if not self._reach.outdated(key, registered):
            return
        if self._reach.lost(key):
            self._notices(
                user,
                f"the indexes of user {user!r} are rebuilt from the ledger, which is older than they are: a backup of it "
                "was restored, or its log lost its end; what it stored since then is gone",
            )
            self._reset(user, TARGETS)
        else:
            self._reset(user, TARGETS)
            self.vectors.drop_user(key)  # the former user was erased, by another home
        self._reach.forget(key)

    def _is_current(self, user: str) -> bool:
        """Whether no index of the user is behind; the ledger is not read if nothing was written since the last call."""
        state, synced = self.ledger.state(user), self._synced.get(user)
        if state is not None and synced is not None and synced.state is state:
            return True
        with self.ledger.read(user) as tx:
            if (self.indexed(tx) if tx.user_id else 0) < tx.change:
                return False
            self._synced[user] = _sync_point(tx, state, tx.change)
        return True

    def indexed(self, tx: Transaction) -> int:
        """The change number up to which every index of the transaction's user is written."""
        return _slowest(read_projections(tx, self._home))

    def _change(self, user: str) -> int:
        with self.ledger.read(user) as tx:
            return tx.change if tx.user_id else 0

    def _reaches(self, user: str, change: int) -> bool:
        """Whether every index is written up to a change, and its steps are labelled."""
        with self.ledger.read(user) as tx:
            return bool(tx.user_id) and self.indexed(tx) >= change

    def unindexed(self, user: str) -> dict[str, str] | None:
        """The texts of new steps and changed items that may not be indexed yet, by id, if they are few and no other step
        changed.

        A recall that searches these texts directly need not wait until they are indexed. None: call :meth:`catch_up`
        first.
        """
        synced = self._synced.get(user)
        if synced is None or (user, RECORDS) not in self._checked:
            return None
        if synced.state is not None and self.ledger.state(user) is synced.state:
            return {}
        with self.ledger.read(user) as tx:
            if not tx.user_id or tx.registered != synced.registered or tx.change < synced.change:
                return None
            if self.indexed(tx) < synced.change:  # an index is being rebuilt
                return None
            if tx.change == synced.change:
                return {}
            changed = tx.all(_FIRST_CHANGED, user=tx.user_id, since=synced.change)
            if len(changed) > _MAX_UNINDEXED or (changed and changed[0].seq <= synced.seq):
                return None
            items = changed_items(tx, synced.change, _MAX_UNINDEXED + 1)
            if len(items) > _MAX_UNINDEXED or (items and not ItemSet.fits(tx)):
                return None
            new = [step_document(step) for _, step in changed_steps(tx, synced.change)]
        changed_records = (document for _, item in items for document in item_documents(item))
        unindexed = [*new, *(document for document in changed_records if document.active)]
        if not all(step.active for step in new) or _SHARE * len(unindexed) > self.lexical.count(user_key(user)):
            return None
        return {document.id: searched_words(document) for document in unindexed}

    def repair(self, user: str, streams: Streams = RECORDS) -> bool:
        """Rebuild the damaged indexes of streams, after a search failed; returns whether there was one."""
        with self.lock(user):
            damaged = self._check(user, streams)
            if damaged:
                self._advance_all(user, streams)
            return damaged

    def rebuild(self, user: str, progress: Progress | None = None) -> int:
        """Rebuild all indexes of the user from the ledger; returns the number of records written."""
        with self.lock(user):
            self._reset(user, TARGETS)
            self._reach.forget(user_key(user))
            if self.labelling is not None:
                self.labelling.start_over(user)
                self.labelling.label(user)
            self._checked.add((user, RECORDS))
            written = self._advance_all(user, RECORDS, progress)
            if self.writer.pages is not None:
                self._checked.add((user, PAGES))
                self.writer.pages.assign(user)
                written += self._advance_all(user, PAGES)
            return written

    def purge(self, user: str) -> None:
        """Update the indexes and remove all traces of replaced text, after a redaction.

        Names of labels, speakers and threads are metadata of vectors, and those of deleted records may remain anywhere
        in the files of the vector store. So the user is erased there and written again, with the same vectors; the keyword
        indexes too are written again.
        """
        with self.lock(user):
            self.catch_up(user)
            key = user_key(user)
            vectors = [self.vectors.vectors(key, stream, self.vectors.ids(key, stream)) for stream in RECORDS]
            with self.ledger.read(user) as tx:
                begun = read_projections(tx, self._home) if tx.user_id else {}
            self.vectors.drop_user(key)
            self._reset(user, [target for target in TARGETS if target.name in begun])
            self.writer.preserved[user] = vectors[0] | vectors[1]
            try:
                self._advance_all(user, RECORDS)
            finally:
                del self.writer.preserved[user]
            if self.writer.pages is not None and "lexical.pages" in begun:
                self.writer.pages.assign(user)
                self._advance_all(user, PAGES)

    def drop_user(self, user: str) -> tuple[int, int]:
        """Erase the user's indexes physically, damaged or not; returns the numbers of vectors and documents.

        The content of a damaged index is not counted.
        """
        key = user_key(user)
        with self.lock(user):
            vectors = sum(self._count_vectors(key, stream)[0] for stream in PARTS)
            documents = 0
            self.vectors.drop_user(key)
            for streams in (RECORDS, PAGES):
                name = keyword_index(user, streams)
                documents += 0 if self.lexical.damaged(name) else self.lexical.count(name)
                self.lexical.reset(name)
                self._checked.discard((user, streams))
            self._synced.pop(user, None)
            self._reach.forget(key)
            if self.writer.pages is not None:
                self.writer.pages.drop(user)
        return vectors, documents

    def _check(self, user: str, streams: Streams) -> bool:
        """Empty every index that is damaged or has a wrong number of records; returns whether there was one."""
        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return False
            done = read_projections(tx, self._home)
            reached = {
                target: (target.stream, done.get(target.name, 0)) for target in TARGETS if target.group == streams
            }
            counted = {key: expected_count(tx, *key) for key in set(reached.values())}
            expected = {target: counted[key] for target, key in reached.items()}
        name = keyword_index(user, streams)
        reasons: dict[Target, str] = {}
        reason = self.lexical.damaged(name)
        if reason is None:
            least, most = map(sum, zip(*(expected[t] for t in expected if t.index == "lexical"), strict=True))
            reason = count_mismatch(self.lexical.count(name), least, most)
        if reason is not None:
            reasons[Target("lexical", streams[0])] = reason
        for target, bounds in expected.items():
            if target.index == "vectors":
                count, damage = self._count_vectors(user_key(user), target.stream)
                if (reason := damage or count_mismatch(count, *bounds)) is not None:
                    reasons[target] = reason
        for target, reason in reasons.items():
            what = "keyword index" if target.index == "lexical" else f"vector index ({target.stream})"
            of = "pages of " if streams == PAGES else ""
            self._notices(user, f"the {what} of {of}user {user!r} is rebuilt from the ledger: {reason}")
        self._reset(user, reasons)
        return bool(reasons)

    def _count_vectors(self, key: str, stream: Part) -> tuple[int, str | None]:
        """The number of vectors; 0 and the reason if they cannot be read."""
        try:
            return self.vectors.count(key, stream), None
        except CorruptFileError as error:
            return 0, str(error)

    def _reset(self, user: str, targets: Iterable[Target]) -> None:
        """Empty indexes; the streams of a group share their keyword index."""
        self._synced.pop(user, None)
        for target in targets:  # recorded one by one: the next may fail, as while its server is down
            if target.index == "vectors":
                self.vectors.reset(user_key(user), target.stream)
                self._set(user, {target.name: 0})
            else:
                self.lexical.reset(keyword_index(user, target.group))
                self._set(user, {f"lexical.{stream}": 0 for stream in target.group})

    def _set(self, user: str, values: dict[str, int]) -> None:
        with self.ledger.write(user, create=False) as tx:
            if tx.user_id:
                for name, change in values.items():
                    set_projection(tx, self._home, name, change)

    def _advance_all(self, user: str, streams: Streams, progress: Progress | None = None) -> int:
        try:
            if self.embedder_error is None:
                return sum(self._advance(user, stream, progress) for stream in streams)
        except ModelFileError as error:
            self.embedder_error = str(error)
            self._notices(user, f"{error}; meanwhile messages are stored, and found by keywords alone")
        return sum(self._advance(user, stream, progress, index="lexical") for stream in streams)

    def _advance(self, user: str, stream: Part, progress: Progress | None, index: str = "") -> int:
        """Update both indexes of a stream, or only ``index``; changes that both lack are read once.

        It ends at the last change at the time of the call, so that it does not chase a writer.
        """
        targets = [target for target in TARGETS if target.stream == stream and target.index.startswith(index)]
        written = 0
        until: int | None = None
        while True:
            state = self.ledger.state(user)
            with self.ledger.read(user) as tx:
                if not tx.user_id:
                    return written
                last = last_change(tx, stream)
                until = last if until is None else until
                done = read_projections(tx, self._home)
                since = min(done.get(target.name, 0) for target in targets)
                if since >= min(until, last):
                    slowest = _slowest(done)
                    self._synced[user] = _sync_point(tx, state if slowest >= tx.change else None, slowest)
                    return written
                change, registered = tx.change, tx.registered  # pages have change numbers of their own
                batch, reached = changed_documents(tx, stream, since)
                renamed = (
                    renamed_documents(tx, done.get("vectors.steps", 0)) if Target("vectors", "steps") in targets else []
                )
            behind = {target: done.get(target.name, 0) for target in targets if done.get(target.name, 0) < reached}
            lacking = {
                target: [document for change, document in batch if change > come] for target, come in behind.items()
            }
            self._reach.record(user_key(user), change, registered)
            if renamed:
                self.writer.rename(user, renamed)
            self.writer.write(user, {target: documents for target, documents in lacking.items() if documents})
            for target, documents in lacking.items():
                written += len(documents)
                if progress is not None and documents:
                    progress(target.name, len(documents))
            self._set(user, {target.name: reached for target in behind})


def _slowest(done: Mapping[str, int]) -> int:
    """The change number up to which every index is written."""
    return min(done.get(target.name, 0) for target in TARGETS if target.group == RECORDS)


def _sync_point(tx: Transaction, state: object | None, change: int) -> _SyncPoint:
    last = tx.first(_LAST_STEP, user=tx.user_id, until=change)
    return _SyncPoint(state, change, 0 if last is None else int(last.seq), tx.registered)
