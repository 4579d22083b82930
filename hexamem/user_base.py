"""What the methods of a UserMemory share: whose memory it is, times and conditions as they are given, and what is noted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hexamem.errors import HexamemError, InvalidInputError
from hexamem.memory_types import Where
from hexamem.memory_types.times import parse_time
from hexamem.stores import privacy
from hexamem.stores.ledger import Transaction
from hexamem.stores.redaction import redact_texts

if TYPE_CHECKING:
    from hexamem.calls import Calls
    from hexamem.memory import Memory
    from hexamem.recalling import Recalling

__all__ = ["Time", "UserBase"]

Time = datetime | str | int | float


class UserBase:
    """Whose memory it is, for the methods of :class:`~hexamem.UserMemory`, which tells of the attributes."""

    memory: Memory
    name: str
    key: str
    timezone: str
    _calls: Calls
    _recalling: Recalling
    _redacted: bool  # whether it was seen that no redaction is left half done

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
