"""``UserMemory``: everything bound to one user. Each method has an ``a…`` twin that runs it in a thread.

Most methods are in ``user_writing``, ``user_reading`` and ``user_privacy``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hexamem.calls import in_thread, public
from hexamem.stores.ledger import jobs as job_queue
from hexamem.stores.ledger.jobs import Job
from hexamem.user_privacy import UserPrivacy
from hexamem.user_reading import UserReading
from hexamem.user_writing import UserWriting

if TYPE_CHECKING:
    from hexamem.labels import UserLabels
    from hexamem.learning import UserExperience

__all__ = ["UserMemory"]


class UserMemory(UserWriting, UserReading, UserPrivacy):
    """One user's memory. No method reads, counts or changes anything of another user.

    Created by :meth:`Memory.user`. Safe to use from several threads. A failed call stores nothing and loses nothing.

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
        """Wait until everything acknowledged is in the indexes and this user's due jobs were run.

        Jobs that are parked, deferred, in their pause after a failure, run by another process or of a kind without a
        handler are not waited for.

        Args:
            timeout: seconds to wait for jobs at most; None waits as long as it takes. A running job is not interrupted,
                and the indexes are brought up completely.

        Returns:
            Whether all is done; where not, :meth:`jobs` lists what is left.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        memory = self.memory
        self.write_recalls()
        memory.redactions.finish(self.name)
        memory.projector.catch_up(self.name)
        with memory.ingesting.flushing(self.name):
            memory.runner.run_due(self.name, deadline)
            if memory.model_tier.hurry(self.name):
                memory.runner.run_due(self.name, deadline)
        memory.projector.catch_up(self.name)  # a job may have written records
        return not job_queue.unfinished(memory.ledger, memory.runner.clock(), self.name)

    aflush = in_thread(flush)

    @public
    def jobs(self) -> list[Job]:
        """This user's jobs that are not done, the first due first: waiting, running, deferred, parked, and why."""
        return job_queue.list_jobs(self.memory.ledger, self.name)

    ajobs = in_thread(jobs)
