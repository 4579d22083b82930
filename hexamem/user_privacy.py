"""Secrets, erasing and moving of what a UserMemory holds."""

from __future__ import annotations

import os
from typing import get_args

from hexamem.arguments import check_text, file_path
from hexamem.calls import public
from hexamem.errors import InvalidInputError
from hexamem.memory_types import EraseReceipt, RedactReceipt, Sensitivity
from hexamem.stores import privacy
from hexamem.stores.ledger import Reveal, read_reveals
from hexamem.stores.transfer import export_file, import_file
from hexamem.user_base import UserBase

__all__ = ["UserPrivacy"]


class UserPrivacy(UserBase):
    """Secrets, erasing, export and import. Part of :class:`~hexamem.UserMemory`."""

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
        match_case: bool = False,
    ) -> RedactReceipt:
        """Take words out of everything this user has stored, and keep them in the vault alone.

        Steps, items, their history, recalls, text files and indexes are rewritten in place, and what was derived from
        the steps is derived anew; it cannot be undone, but ``reveal`` shows the words. They are found as whole words, in
        capitals or small letters. What only names something (ids of threads, messages, agents, tool calls) and files
        that are no text are left as they are.

        Args:
            words: what is to go.
            caption, kind, sensitivity: how the vault describes it.
            reason: why, for the history.
            match_case: find the words only as they are written here.

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
        request = privacy.RedactRequest(
            words=words, caption=caption, kind=kind, sensitivity=sensitivity, reason=reason, match_case=match_case
        )
        find = memory.settings.find_secrets
        return privacy.redact(
            self.name, memory.ledger, memory.projector, memory.media, memory.cipher, request, find=find
        )

    @public
    def erase(self) -> EraseReceipt:
        """Erase everything of this user from ledger, indexes, media and logs, physically and for good.

        Returns:
            A receipt with what was erased where. The user may begin anew afterwards.
        """
        self._recalling.forget()
        return privacy.erase(self.name, self.memory.ledger, self.memory.projector, self.memory.media)

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
