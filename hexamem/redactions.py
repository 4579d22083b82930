"""Completes redactions that failed or were killed half way: before anything is read, and by a durable job."""

from __future__ import annotations

from hexamem.background import JobContext, JobHandlers, JobOutcome
from hexamem.errors import HexamemError
from hexamem.home import Home
from hexamem.stores import privacy
from hexamem.stores.projections import Projector


class Redactions:
    """Completes unfinished redactions, for all users of a home."""

    def __init__(self, home: Home, projector: Projector, handlers: JobHandlers) -> None:
        self._home, self._projector = home, projector
        self._finished: set[str] = set()
        handlers.register(privacy.CLEANUP, self._run)

    def begin(self, user: str) -> None:
        """Called before a redaction of this user, which may fail half way."""
        self._finished.discard(user)

    def finish(self, user: str) -> None:
        """Complete a redaction of this user, if one is unfinished: once a process, unless it fails, which is reported."""
        if user in self._finished:
            return
        try:
            self._end(user)
        except HexamemError as error:
            self._home.notices.add(user, f"a redaction of user {user!r} is not finished yet: {error}")
        else:
            self._finished.add(user)

    def _end(self, user: str) -> None:
        privacy.finish_redactions(user, self._home.ledger, self._projector, self._home.media)

    def _run(self, job: JobContext) -> JobOutcome:
        self._end(job.user_name)
        return JobOutcome.done()
