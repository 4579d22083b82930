"""Every setting with its default, in one place. No environment variables but keys and URLs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hexamem.memory_types.settings import check_zone, validated_settings

DEFAULT_HOME = "~/.hexamem"
LabelTier = Literal["embedded", "off"]
IngestMode = Literal["auto", "embedded", "single_call", "agents", "off"]
ModelMethod = Literal["json_schema", "function_calling", "json_mode"]
Count = Annotated[int, Field(ge=1)]
Limit = Annotated[int | None, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


@validated_settings
class Settings:
    """How a memory behaves. Frozen: pass another one to ``Memory.open(settings=…)``.

    Attributes:
        timezone: IANA name in which naive times are read, for users who have none of their own.
        strategy: the ranking that ``recall`` uses when none is named.
        weights: file with weights of the learned ranking, from ``hexamem train``; None for those that ship.
        k: how many hits ``recall`` returns by default.
        labels: "embedded" to give each step its contextual intent (scope, event types, entity types) by small classifiers
            before it is indexed, "off" to index steps without. With ``mode`` "single_call" the model labels them anew.
        model_method: how models are asked for structured output.
        model_timeout: seconds for one request to a model given by name; a local model on a CPU may need more.
        budget_calls: the most model calls while the memory is open; None for no limit.
        budget_tokens: the most tokens, likewise. What does not fit waits in the queue.
        mode: how items are extracted from stored messages, in the background: "embedded" (the encoder's heads, no calls),
            "single_call" (one call a batch, which labels too), "agents" (the meta-manager and each manager that it names,
            a call each), "off" for not at all, or "auto": "embedded" without a model; with one "single_call".
        batch_size: so many steps are read together, or fewer that are long, or up to a third more if these are all that wait; by
            default 30 in mode single_call, otherwise 10.
        batch_idle: seconds after the last message until fewer steps are read; ``flush`` does not wait.
        batch_tokens: the most tokens that one batch may cost; the embedded engine does what is left. None for no limit.
        day_calls, day_tokens: what the model calls of a day (UTC) may come to before a batch waits for the next day;
            None for no limit.
        pages: whether the background thread makes pages when there is nothing else to do; without it they are made when
            somebody reads them. Recall waits for neither.
        page_steps, page_tokens: a page has no more steps, and no more tokens unless one step has.
        page_gap: hours; a longer pause in a thread, or another ``session`` in the metadata, begins a new session, and a
            new page.
        experience: whether agents are given what earlier runs teach, and it is learned; without it runs are recorded
            and counted only, so that the gain can be measured.
        keep_reasoning: whether reasoning blocks of models are stored with their step.
        find_secrets: whether secrets are looked for and taken out before anything is written.
        background: whether a thread brings the indexes up after each write and runs queued jobs; without it ``recall``
            and ``flush`` do the first, ``flush`` the second.
        max_job_attempts: after so many failed attempts a job of the queue is parked.
        job_lease: seconds for which a job may run without writing before another home on the same ledger takes it over.
        job_stop: seconds that closing waits for a job of the background thread to end before it is put back.
        recall_log: how many recalls are gathered before they are written to the ledger.
        max_message_bytes: a longer message is refused. Everything that is stored of it counts, in UTF-8: text,
            blocks, reasoning, metadata and tool calls as JSON, the bytes of its media, and what is searched where that
            is not the text itself.
        max_file_bytes: a larger file is refused by ``add_file``, and so is one that unpacks to more.

    Raises:
        ConfigError: for a value that cannot work. An unknown strategy is refused by ``Memory.open``.
    """

    timezone: Annotated[str, check_zone] = "UTC"
    strategy: str = "learned"
    weights: str | None = None
    k: Annotated[int, Field(ge=1, le=1_000)] = 10
    labels: LabelTier = "embedded"
    model_method: ModelMethod = "json_schema"
    model_timeout: Annotated[float, Field(gt=0)] = 120.0
    budget_calls: Limit = None
    budget_tokens: Limit = None
    mode: IngestMode = "auto"
    batch_size: Annotated[int | None, Field(ge=1, le=60)] = None
    batch_idle: Annotated[int, Field(ge=0)] = 60
    batch_tokens: Count | None = 120_000
    day_calls: Limit = None
    day_tokens: Limit = None
    pages: bool = True
    page_steps: Count = 24
    page_tokens: Count = 1_200
    page_gap: Count = 6
    experience: bool = True
    keep_reasoning: bool = False
    find_secrets: bool = True
    background: bool = True
    max_job_attempts: Count = 5
    job_lease: Count = 900
    job_stop: Count = 10
    recall_log: Count = 32
    max_message_bytes: Count = 64 * 1024 * 1024
    max_file_bytes: Count = 64 * 1024 * 1024
