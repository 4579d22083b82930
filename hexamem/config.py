"""Every setting with its default, in one place. No environment variables but keys and URLs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .errors import ConfigError

__all__ = ["DEFAULT_HOME", "LabelTier", "Settings"]

DEFAULT_HOME = "~/.hexamem"
LabelTier = Literal["rules", "off"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How a memory behaves. Frozen: pass another one to ``Memory.open(settings=…)``.

    Attributes:
        timezone: IANA name in which naive times are read, for users who have none of their own.
        strategy: the ranking that ``recall`` uses when none is named.
        k: how many hits ``recall`` gives when not told.
        labels: "rules" to give each step its contextual intent (scope, event types, entity types) by rules before it is
            indexed; "off" to index steps without.
        keep_reasoning: whether reasoning blocks of models are stored with their step.
        find_secrets: whether secrets are looked for and taken out before anything is written.
        background: whether a thread brings the indexes up after each write and runs queued jobs; without it ``recall``
            and ``flush`` do the first, ``flush`` the second.
        max_job_attempts: after so many failed attempts a job of the queue is parked.
        job_lease: seconds for which a job may run without writing before another home on the same ledger takes it over.
        job_stop: seconds that closing gives a job of the background thread to end before it is put back.
        recall_log: how many recalls are gathered before they are written to the ledger.
        max_message_bytes: a longer message is refused. Counted in UTF-8 is everything that is kept of it: text,
            blocks, reasoning, metadata and tool calls as JSON, the bytes of its media, and what is searched where that
            is not the text itself.

    Raises:
        ConfigError: for a value that cannot work. A strategy that there is not is told by ``Memory.open``.
    """

    timezone: str = "UTC"
    strategy: str = "rrf_neighbours"
    k: int = 10
    labels: LabelTier = "rules"
    keep_reasoning: bool = False
    find_secrets: bool = True
    background: bool = True
    max_job_attempts: int = 5
    job_lease: int = 900
    job_stop: int = 10
    recall_log: int = 32
    max_message_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        jobs = ("max_job_attempts", "job_lease", "job_stop")
        for name, highest in (("k", 1_000), *((name, None) for name in (*jobs, "recall_log", "max_message_bytes"))):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or value < 1 or (highest is not None and value > highest):
                rule = "of at least 1" if highest is None else f"from 1 to {highest:,}"
                raise ConfigError(f"Settings.{name} = {value!r}: give a whole number {rule}")
        for name in ("keep_reasoning", "find_secrets", "background"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ConfigError(f"Settings.{name} = {value!r}: give True or False")
        if self.labels not in get_args(LabelTier):
            raise ConfigError(f"Settings.labels = {self.labels!r}: use one of {', '.join(get_args(LabelTier))}")
        if not isinstance(self.strategy, str):
            raise ConfigError(f"Settings.strategy = {self.strategy!r}: give a name of hexamem.STRATEGIES")
        if self.timezone != "UTC" and not _is_zone(self.timezone):
            raise ConfigError(
                f"Settings.timezone = {self.timezone!r} is unknown; give an IANA name such as 'Europe/Dublin' or 'UTC'"
            )


def _is_zone(name: object) -> bool:
    try:
        ZoneInfo(name)  # type: ignore[arg-type]
    # A folder of the database, or a path out of it, raises OSError or ValueError; another type TypeError.
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError, AttributeError):
        return False
    return True
