"""The methods of ``UserMemory`` that store, change and remove, and the history that reverses them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hexamem.arguments import (
    check_count,
    check_message_size,
    check_texts,
    file_path,
    json_mapping,
)
from hexamem.calls import in_thread, public
from hexamem.errors import InvalidInputError
from hexamem.files import MediaReader, read_file, tree_levels
from hexamem.memory_types import MemoryItem, Operation, Remembered, Where
from hexamem.memory_types.files import AddedFile
from hexamem.memory_types.messages import read_messages
from hexamem.memory_types.times import shown
from hexamem.stores import changing
from hexamem.stores.adding_files import FileToAdd, add_file
from hexamem.stores.file_readers import load_file
from hexamem.stores.forgetting import forget_records
from hexamem.stores.ledger import check_name, history_of, undo
from hexamem.stores.recording import record
from hexamem.user_base import UserBase


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
        """Store messages as steps: once this returns they are acknowledged and survive a killed process.

        Args:
            messages: one or a sequence of LangChain messages, OpenAI-style dictionaries, (role, text) pairs or plain
                strings. A message whose id the thread holds already is not stored again; one without an id always is.
            thread_id: the conversation. Steps stay in the order of storing, whatever their times.
            agent_id: which agent this is the memory of, for filtering.
            metadata: added to each step; JSON values.

        Returns:
            The step ids in the order of the messages, the references that replace secrets, and what fell back.

        Raises:
            InvalidInputError: for an empty or unreadable message, naming it; nothing of the call is stored.
            StorageFullError, HomeNotWritableError: if the home cannot be written.
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
            self._home.ledger,
            self.name,
            drafts,
            timezone=self.timezone,
            thread_id=thread_id,
            agent_id=agent_id,
            metadata=fields,
            cipher=self._home.cipher,
            media=self._home.media,
            find=settings.find_secrets,
            ready=self.memory.media_readers.ready,
            also=self.memory.ingesting.queue,
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
        """Store an item of one of the memory's types.

        Args:
            item: a record, or a mapping with its ``kind``. It is stored for this user, whatever its field ``user`` says.
            secret: for a vault item, the value to encrypt; it is never part of the record.
            supersedes: the id of the item that this one replaces: that one is valid until this one begins to be.
            actor, reason: stored in the history.

        Returns:
            The item as stored, secrets in its text replaced by references.

        Raises:
            InvalidInputError: for invalid fields, or a source step that does not exist.
            NotFoundError: if ``supersedes`` names no item.
        """
        with self._change(create=True) as tx:
            return changing.add_item(
                tx,
                item,
                self.memory.cipher,
                secret=secret,
                supersedes=supersedes,
                actor=actor,
                reason=reason,
                find=self.memory.settings.find_secrets,
            )

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
        """Store a file: its whole text as a resource item, searchable by passage, and its bytes by hash.

        The same bytes are stored once, under whatever name; other bytes under the same path are a new version, which
        supersedes the one before. Secrets are removed as from messages: from the text, and from the bytes of a text
        file; the bytes of any other file that contains secrets are not stored.

        Args:
            path: a txt, md, html, csv, tsv, pdf or docx file, recognized by its contents; or a picture or recording.
                Html, pdf and docx need the extra ``files``.
            title: the item's title; the document's own title or its file name when None.
            describe, transcribe: describe this picture or transcribe this recording now: ``(data, mime_type) -> text``.
                When None, the memory's own functions do so as a job; if it has none, the file waits for a text.
            keep_bytes: whether the file itself is stored, for :meth:`media` with ``item.metadata["file"]["sha256"]``.
            root: a folder above the file: the folders in between become the item's ``tree_path``.
            tree_path: the item's categories, from wide to narrow; instead of ``root``.
            labels, metadata: of the item; ``metadata["file"]`` is set to name, path, type, size and hash.
            actor, reason: stored in the history.

        Raises:
            InvalidInputError: for a file that is missing, empty, too large, encrypted, damaged or of an unknown
                format, or whose library is not installed; nothing is stored then.
            StorageFullError, HomeNotWritableError: if the home cannot be written.
        """
        home, settings = self._home, self.memory.settings
        place = file_path(path)
        if title is not None and not title.strip():
            raise InvalidInputError("title is blank; pass a title or None")
        fields = json_mapping(metadata, "metadata")
        if "file" in fields:
            raise InvalidInputError("metadata has a field 'file', which add_file sets; rename it")
        data = load_file(place, settings.max_file_bytes)
        readers = {"describe": describe, "transcribe": transcribe}
        read = read_file(data, place.name, settings.max_file_bytes, readers)
        if not read.content and not keep_bytes:
            raise InvalidInputError(f"{place.name} has no text, so without its bytes there is nothing to store")
        file = FileToAdd(
            read=read,
            data=data,
            name=place.name,
            path=os.path.abspath(place),
            title=title,
            tree_path=tree_levels(place, root, tree_path),
            labels=tuple(check_texts(labels, "labels")),
            metadata=fields,
            keep_bytes=keep_bytes,
            actor=actor,
            reason=reason,
        )
        added = add_file(
            home.ledger,
            home.media,
            home.cipher,
            self.name,
            file,
            timezone=self.timezone,
            find=settings.find_secrets,
            ready=self.memory.media_readers.ready,
        )
        if not added.repeated:
            self.memory.wrote(self.name)
        return added

    @public
    def edit(
        self,
        /,
        item_id: str,
        changes: Mapping[str, Any] | None = None,
        *,
        actor: str = "user",
        reason: str = "",
        secret: str | None = None,
        **fields: Any,
    ) -> MemoryItem:
        """Change fields of an item; the previous version stays in the history, and ``undo`` restores it.

        Args:
            item_id: the item.
            changes: new values by field: needed for a field named like an argument here (an event's ``actor``).
            actor, reason: stored in the history.
            secret: a new value for a vault item.
            fields: new values, as keywords.

        Raises:
            NotFoundError: if there is no such item.
            InvalidInputError: for a field that the kind does not have or that may not be set, or an invalid value.
        """
        if changes is not None and not isinstance(changes, Mapping):
            raise InvalidInputError(f"changes = {shown(changes)}: give a mapping of fields to their new values")
        with self._change() as tx:
            return changing.edit_item(
                tx,
                item_id,
                {**{str(name): value for name, value in (changes or {}).items()}, **fields},
                self.memory.cipher,
                secret=secret,
                actor=actor,
                reason=reason,
                find=self.memory.settings.find_secrets,
            )

    @public
    def remove(self, item_id: str, *, actor: str = "user", reason: str = "") -> Operation:
        """Remove an item; ``undo`` of the returned operation restores it."""
        with self._change() as tx:
            actor, reason = self._home.redacted(tx, actor, reason)
            return changing.remove_item(tx, item_id, actor=actor, reason=reason)

    @public
    def forget(
        self,
        ids: Collection[str] | None = None,
        *,
        thread_id: str | None = None,
        where: Where | Mapping[str, Any] | None = None,
        actor: str = "user",
        reason: str = "",
    ) -> Operation:
        """Remove steps and items from every read, with the items whose only sources are removed.

        Only what is passed is forgotten: a reply that repeats it is a step of its own. What was derived from the steps
        (gists, summaries, names of labels, texts of pages) is deleted, and derived anew from what is left. ``undo`` of
        the returned operation restores all of it; ``erase`` and ``redact`` cannot be undone.

        Args:
            ids: steps and items, such as the hits of a recall.
            thread_id: all steps of this thread.
            where: all steps that meet these conditions: a period, a speaker, a label, metadata.
            actor, reason: stored in the history.

        Raises:
            InvalidInputError: if nothing is passed, or if ids are combined with conditions.
            NotFoundError: if a step or item does not exist or was forgotten already, or no step meets the conditions.
        """
        ids = [] if ids is None else check_texts(ids, "ids")
        conditions = self._where(where)
        if thread_id is not None:
            conditions = (conditions or Where()).changed(thread_id=thread_id)
        with self._change() as tx:
            actor, reason = self._home.redacted(tx, actor, reason)
            operation = forget_records(tx, ids, conditions, actor=actor, reason=reason)
        self.memory.drop_caches(self.name)
        return operation

    @public
    def history(self, record_id: str | None = None, *, limit: int | None = None) -> list[Operation]:
        """The operations on one step, item or label, or on all, oldest first; with ``limit`` only the newest."""
        if limit is not None:
            check_count(limit, "limit", 2**31 - 1)
        with self.read() as tx:
            return history_of(tx, record_id, limit)

    @public
    def undo(self, operation_id: str, *, cascade: bool = False, actor: str = "user") -> list[Operation]:
        """Reverse an operation; with ``cascade`` the later ones that build on it first, newest first.

        Raises:
            NotFoundError: if there is no such operation.
            UndoRefusedError: if later operations build on it (named in ``blockers``), or it cannot be undone.
        """
        with self._change() as tx:
            [actor] = self._home.redacted(tx, actor)
            operations = undo(tx, operation_id, cascade=cascade, actor=actor)
        self.memory.drop_caches(self.name)
        return operations

    # The twins for asyncio.
    aremember = in_thread(remember)
    aadd = in_thread(add)
    aadd_file = in_thread(add_file)
    aedit = in_thread(edit)
    aremove = in_thread(remove)
    aforget = in_thread(forget)
    ahistory = in_thread(history)
    aundo = in_thread(undo)
