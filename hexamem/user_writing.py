"""What a UserMemory stores, changes, removes and takes back."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hexamem.arguments import check_count, check_message_size, check_text, check_texts, json_mapping
from hexamem.calls import public
from hexamem.errors import InvalidInputError
from hexamem.files import MediaReader, add_to
from hexamem.memory_types import MemoryItem, Operation, Remembered, Where
from hexamem.memory_types.files import AddedFile
from hexamem.memory_types.messages import read_messages
from hexamem.memory_types.times import shown
from hexamem.stores import changing
from hexamem.stores.forgetting import forget_records
from hexamem.stores.ledger import check_name, history_of, undo
from hexamem.stores.recording import record
from hexamem.user_base import UserBase

__all__ = ["UserWriting"]


class UserWriting(UserBase):
    """Storing, changing and removing. Part of :class:`~hexamem.UserMemory`."""

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
        ids: Collection[str] | None = None,
        *,
        thread_id: str | None = None,
        where: Where | Mapping[str, Any] | None = None,
        parts: Mapping[str, Collection[str]] | None = None,
        actor: str = "user",
        reason: str = "",
    ) -> Operation:
        """Take steps and items out of every read, and the items that rest on nothing else.

        It takes what it is given, exactly: a reply that says the same again is a step of its own. What was derived from
        the steps (gists, summaries, names of labels, texts of pages) is deleted, and derived anew from what is left.
        ``undo`` of the returned operation brings all of it back; ``erase`` and ``redact`` are the ways without return.

        Args:
            ids: steps and items, such as the hits of a recall.
            thread_id: all steps of this thread.
            where: all steps that meet these conditions: a period, a speaker, a label, metadata.
            parts: step id → sentences or other words, exactly as they stand in it: "[forgotten]" is read in their place,
                and the rest of the step stays. A step that says anything beside its text (files, calls of tools,
                secrets) has no parts.
            actor, reason: kept in the history.

        Raises:
            InvalidInputError: if nothing is given, ids beside conditions, or a part that does not stand in its step.
            NotFoundError: if a step or item does not exist or was forgotten already, or no step meets the conditions.
        """
        ids = [] if ids is None else check_texts(ids, "ids")
        met = self._where(where)
        if thread_id is not None:
            met = (met or Where()).changed(thread_id=check_text(thread_id, "thread_id"))
        cut = _parts_of_steps(parts)
        _check_said(actor, reason)
        with self.memory.ledger.write(self.name, create=False) as tx:
            actor, reason = self._said(tx, actor, reason)
            operation = forget_records(tx, ids, met, cut, actor=actor, reason=reason)
        self.memory.drop_kept(self.name)
        self.memory.wrote(self.name)
        return operation

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
