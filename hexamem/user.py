"""The methods of ``UserMemory`` for secrets, erasure, export and import."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, get_args

from hexamem.arguments import file_path
from hexamem.calls import in_thread, public
from hexamem.errors import InvalidInputError
from hexamem.memory_types import EraseReceipt, RedactReceipt, Sensitivity
from hexamem.stores import privacy
from hexamem.stores.ledger import Reveal, read_reveals
from hexamem.stores.ledger import jobs as job_queue
from hexamem.stores.ledger.jobs import Job
from hexamem.stores.transfer import export_file, import_file
from hexamem.user_base import UserBase
from hexamem.user_reading import UserReading
from hexamem.user_writing import UserWriting

if TYPE_CHECKING:
    from hexamem.labels import UserLabels
    from hexamem.learning import UserExperience


class UserPrivacy(UserBase):
    """Secrets, erasing, export and import. Part of :class:`~hexamem.UserMemory`."""

    @public
    def reveal(self, record_id: str, *, reason: str, actor: str = "user") -> str:
        """The plaintext of a secret; actor, time and reason are recorded in the audit, see :meth:`reveals`.

        Args:
            record_id: a vault item's id, a secret's id, or a whole reference ``{{vault:ID|caption}}``.
            reason: why it is needed.
            actor: who asks.

        Raises:
            NotFoundError: if there is no such secret. InvalidInputError: without a reason.
            SecretKeyError: if the vault's key is not the one that encrypted it.
        """
        with self.memory.ledger.write(self.name, create=False) as tx:
            actor, reason = self._home.redacted(tx, actor, reason)
            return privacy.reveal(tx, self.memory.cipher, record_id, reason=reason, actor=actor)

    @public
    def reveals(self, secret_id: str | None = None) -> list[Reveal]:
        """The audit of revealed secrets, oldest first."""
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
        """Remove words from everything this user has stored; from then on only the vault holds them.

        Steps, items, their history, recalls, text files and indexes are rewritten in place, and what was derived from
        the steps is derived anew. This cannot be undone, but ``reveal`` shows the words. Whole words are matched, in
        upper or lower case. Ids (of threads, messages, agents, tool calls) and binary files are left as they are.

        Args:
            words: the words to remove.
            caption, kind, sensitivity: how the vault describes them.
            reason: why, for the history.
            match_case: match the case of ``words`` too.

        Raises:
            InvalidInputError: for empty words, or a caption that contains them.
            NotFoundError: if they occur nowhere.
        """
        if sensitivity not in get_args(Sensitivity):
            raise InvalidInputError(f"sensitivity = {sensitivity!r}: use one of {', '.join(get_args(Sensitivity))}")
        self.write_recalls()
        memory = self.memory
        memory.redactions.begin(self.name)
        request = privacy.RedactRequest(
            words=words, caption=caption, kind=kind, sensitivity=sensitivity, reason=reason, match_case=match_case
        )
        find = memory.settings.find_secrets
        return privacy.redact(
            self.name, memory.ledger, memory.projector, memory.media, memory.cipher, request, find=find
        )

    @public
    def erase(self) -> EraseReceipt:
        """Delete everything of this user from ledger, indexes, media and logs, physically. This cannot be undone.

        Returns:
            A receipt with what was erased where. The user may store again afterwards.
        """
        self._recalls.forget()
        return privacy.erase(self.name, self.memory.ledger, self.memory.projector, self.memory.media)

    @public
    def export(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> dict[str, int]:
        """Write everything of this user to a JSON Lines file with a checksum.

        Args:
            path: the file.
            passphrase: encrypts the secrets that are exported too; None leaves secrets out.

        Returns:
            How many entries of each kind were written.

        Raises:
            InvalidInputError: if the file would be inside the home folder, whose files it might replace.
            HomeNotWritableError: if the file cannot be written; a half-written file is never left.
        """
        target = file_path(path)
        if target.resolve().is_relative_to(self.memory.home.resolve()):
            raise InvalidInputError(f"path = {str(target)!r} is inside the home folder; give a path outside of it")
        self.write_recalls()
        return export_file(
            target, self.name, self.memory.ledger, self.memory.cipher, self.memory.media, passphrase=passphrase
        )

    @public
    def import_(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> dict[str, int]:
        """Import a file written by :meth:`export`, of this or another user; existing records stay as they are.

        Its messages and files may exceed the limits of this home's settings. The whole file is held in memory.
        A new user gets the file's timezone, unless a zone other than the home's was chosen.

        Args:
            path: the file.
            passphrase: the one that its secrets were exported with.

        Returns:
            How many entries of each kind were imported.

        Raises:
            CorruptFileError: naming file and line, if a checksum does not match, or the row that does not fit the ledger;
                nothing is imported then.
            InvalidInputError: if it holds secrets and no passphrase is passed, or conflicts with an existing thread.
        """
        none_waits = not self.memory.ingesting.waiting(self.name)
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
        if none_waits:  # the imported steps come with the items that were extracted from them
            self.memory.ingesting.skip(self.name)
        self.memory.wrote(self.name)
        return counts

    # The twins for asyncio.
    areveal = in_thread(reveal)
    areveals = in_thread(reveals)
    aredact = in_thread(redact)
    aerase = in_thread(erase)
    aexport = in_thread(export)
    aimport_ = in_thread(import_)


class UserMemory(UserWriting, UserReading, UserPrivacy):
    """One user's memory. No method reads, counts or changes anything of another user.

    Created by :meth:`Memory.user`. Safe to use from several threads. A failed call stores nothing and loses nothing. An
    id that is not this user's raises NotFoundError, and an argument of a wrong form InvalidInputError, with the rule.

    Attributes:
        name: the user.
        key: the user as 32 hexadecimal digits, as in the names of folders and collections.
        timezone: the zone in which naive times are read.
    """

    def __repr__(self) -> str:
        return f"UserMemory({self.name!r}, home={str(self.memory.home)!r})"

    @property
    def labels(self) -> UserLabels:
        """The labels of the user's steps, to read and to correct: see :class:`~hexamem.labels.UserLabels`."""
        from hexamem.labels import UserLabels

        memory = self.memory
        return UserLabels(self._home, self.name, self._calls, catch_up=memory.projector.catch_up, wrote=memory.wrote)

    @property
    def experience(self) -> UserExperience:
        """Runs of the user's agents and what they teach: see :class:`~hexamem.learning.UserExperience`."""
        from hexamem.experience_runs import UserRuns
        from hexamem.learning import UserExperience

        memory = self.memory
        runs = UserRuns(self._home, memory.distilling, memory.wrote, self.name, self.timezone)
        return UserExperience(runs, self._calls)

    @public
    def flush(self, timeout: float | None = None) -> bool:
        """As :meth:`hexamem.Memory.flush`, for this user; the timeout is for jobs: the indexes are brought up completely."""
        deadline = None if timeout is None else time.monotonic() + timeout
        memory = self.memory
        self.write_recalls()
        memory.redactions.finish(self.name)
        memory.projector.catch_up(self.name)
        finished = memory.ingesting.run_due(self.name, deadline)
        memory.projector.catch_up(self.name)  # a job may have written records
        return finished

    @public
    def jobs(self) -> list[Job]:
        """This user's jobs that are not done, the first due first: waiting, running, deferred, parked, and why."""
        return job_queue.list_jobs(self.memory.ledger, self.name)

    # The twins for asyncio.
    aflush = in_thread(flush)
    ajobs = in_thread(jobs)
