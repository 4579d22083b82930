"""Every setting with its default, in one place. No environment variables but keys and URLs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hexamem.errors import ConfigError

__all__ = ["DEFAULT_HOME", "IngestMode", "LabelTier", "MemoTier", "ModelMethod", "QueryTier", "Settings", "settings_of"]
_S = TypeVar("_S")

DEFAULT_HOME = "~/.hexamem"
LabelTier = Literal["embedded", "model", "uncertain", "off"]
IngestMode = Literal["auto", "embedded", "single_call", "agents", "off"]
QueryTier = Literal["embedded", "model"]
MemoTier = Literal["embedded", "model"]
ModelMethod = Literal["json_schema", "function_calling", "json_mode"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How a memory behaves. Frozen: pass another one to ``Memory.open(settings=…)``.

    Attributes:
        timezone: IANA name in which naive times are read, for users who have none of their own.
        strategy: the ranking that ``recall`` uses when none is named.
        weights: file with weights of the learned ranking, from ``hexamem train``; None for those that ship.
        explore: how often, 0 to 1, a learned recall tries another set of the operations that cost nothing, so that feedback
            tells what they are worth to this user.
        k: how many hits ``recall`` gives when not told.
        labels: "embedded" to give each step its contextual intent (scope, event types, entity types) by small classifiers
            before it is indexed; "model" to have a model refine all of them in the background, "uncertain" only those of
            which the classifiers are not sure (both need a model); "off" to index steps without.
        label_batch: steps that one call of the model labels, 8 to 20.
        label_below: with labels "uncertain", the confidence, 0 to 1, below which a step goes to the model.
        label_wait: seconds after which steps go to the model though they fill no batch; ``flush`` does not wait.
        label_tokens: the most tokens that one batch may cost, its repair included; None for no limit.
        query_intent: "embedded" to classify which labels a question names; "model" to ask a model at each recall
            whose strategy matches labels.
        model_method: how models are asked for structured output.
        budget_calls: the most model calls while the memory is open; None for no limit.
        budget_tokens: the most tokens, likewise. What does not fit waits in the queue.
        mode: how items are extracted from stored messages, in the background: "embedded" (the encoder's heads, no calls),
            "single_call" (one call a batch, which labels too), "agents" (the meta-manager and each manager that it names,
            a call each), "off" for not at all, or "auto": "embedded" without a model; with one "single_call",
            or "agents" where `labels` asks for a model too.
        batch_size: so many steps are read together.
        batch_idle: seconds after the last message until fewer steps are read; ``flush`` does not wait.
        batch_tokens: the most tokens that one batch may cost; the embedded engine does what is left. None for no limit.
        day_calls, day_tokens: what the model calls of a day (UTC) may come to before a batch waits for the next day;
            None for no limit.
        pages: whether the background thread makes pages when there is nothing else to do; without it they are made when
            somebody reads them. Recall waits for neither.
        page_steps, page_tokens: a page has no more steps, and no more tokens unless one step has.
        page_gap: hours; a longer pause in a thread, or another ``session`` in the metadata, begins a new session, and a
            new page.
        memos: "embedded" to make memos of memos from their first sentences; "model" to have a model write them anew in the background, a
            call each (it needs one). Headers and memos of pages are a model's where it labels, without further calls.
        experience: whether agents are given what earlier runs teach, and it is learned; without it runs are recorded
            and counted only, so that the gain can be measured.
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
        max_file_bytes: a larger file is refused by ``add_file``, and so is one that unpacks to more.

    Raises:
        ConfigError: for a value that cannot work. A strategy that there is not is told by ``Memory.open``.
    """

    timezone: str = "UTC"
    strategy: str = "learned"
    weights: str | None = None
    explore: float = 0.0
    k: int = 10
    labels: LabelTier = "embedded"
    label_batch: int = 12
    label_below: float = 0.5
    label_wait: int = 600
    label_tokens: int | None = 60_000
    query_intent: QueryTier = "embedded"
    model_method: ModelMethod = "json_schema"
    budget_calls: int | None = None
    budget_tokens: int | None = None
    mode: IngestMode = "auto"
    batch_size: int = 10
    batch_idle: int = 60
    batch_tokens: int | None = 120_000
    day_calls: int | None = None
    day_tokens: int | None = None
    pages: bool = True
    page_steps: int = 24
    page_tokens: int = 1_200
    page_gap: int = 6
    memos: MemoTier = "embedded"
    experience: bool = True
    keep_reasoning: bool = False
    find_secrets: bool = True
    background: bool = True
    max_job_attempts: int = 5
    job_lease: int = 900
    job_stop: int = 10
    recall_log: int = 32
    max_message_bytes: int = 64 * 1024 * 1024
    max_file_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        jobs = ("max_job_attempts", "job_lease", "job_stop")
        for name, highest in (
            ("k", 1_000),
            *(
                (name, None)
                for name in (
                    *jobs,
                    "page_steps",
                    "page_tokens",
                    "page_gap",
                    "recall_log",
                    "max_message_bytes",
                    "max_file_bytes",
                )
            ),
        ):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or value < 1 or (highest is not None and value > highest):
                rule = "of at least 1" if highest is None else f"from 1 to {highest:,}"
                raise ConfigError(f"Settings.{name} = {value!r}: give a whole number {rule}")
        share = self.explore
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ConfigError(f"Settings.explore = {share!r}: give a number from 0 to 1")
        for name in ("pages", "experience", "keep_reasoning", "find_secrets", "background"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise ConfigError(f"Settings.{name} = {value!r}: give True or False")
        choices_of = (
            ("labels", LabelTier),
            ("query_intent", QueryTier),
            ("model_method", ModelMethod),
            ("mode", IngestMode),
            ("memos", MemoTier),
        )
        for name, choices in choices_of:
            if getattr(self, name) not in get_args(choices):
                raise ConfigError(
                    f"Settings.{name} = {getattr(self, name)!r}: use one of {', '.join(get_args(choices))}"
                )
        self._check_model_tier()
        if not isinstance(self.strategy, str):
            raise ConfigError(f"Settings.strategy = {self.strategy!r}: give a name of hexamem.STRATEGIES")
        if self.timezone != "UTC" and not _is_zone(self.timezone):
            raise ConfigError(
                f"Settings.timezone = {self.timezone!r} is unknown; give an IANA name such as 'Europe/Dublin' or 'UTC'"
            )

    def _check_model_tier(self) -> None:
        for name, lowest, highest in (
            ("label_batch", 8, 20),
            ("label_wait", 0, None),
            ("label_tokens", 1, None),
            ("budget_calls", 0, None),
            ("budget_tokens", 0, None),
            ("batch_size", 1, 40),
            ("batch_idle", 0, None),
            ("batch_tokens", 1, None),
            ("day_calls", 0, None),
            ("day_tokens", 0, None),
        ):
            value = getattr(self, name)
            if value is None and name not in ("label_batch", "label_wait", "batch_size", "batch_idle"):
                continue
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or value < lowest or (highest is not None and value > highest):
                rule = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"
                raise ConfigError(f"Settings.{name} = {value!r}: give a whole number {rule}")
        below = self.label_below
        if isinstance(below, bool) or not isinstance(below, int | float) or not 0 <= below <= 1:
            raise ConfigError(f"Settings.label_below = {below!r}: give a number from 0 to 1")


def settings_of(given: _S | None, kind: type[_S], where: str) -> _S:
    """Settings as they were given, or with every default for None.

    Args:
        kind: their class.
        where: who was given them, for the message.

    Raises:
        ConfigError: for anything else, such as a mapping.
    """
    if given is None:
        return kind()
    if not isinstance(given, kind):
        hint = f"(**{given!r})" if isinstance(given, dict) else "(…)"
        raise ConfigError(f"{where} = {given!r} is of type {type(given).__name__}: give {kind.__name__}{hint}")
    return given


def _is_zone(name: object) -> bool:
    try:
        ZoneInfo(name)  # type: ignore[arg-type]
    # A folder of the database, or a path out of it, raises OSError or ValueError; another type TypeError.
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError, AttributeError):
        return False
    return True
