"""The state of the ingest graph: plain JSON values, so that any checkpointer stores it, without secrets.

In a proposal with a secret, its text is replaced by its offsets in the steps (:func:`written`), from which it is read
back (:func:`read_back`). So no checkpoint, stream or trace of the graph contains it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.agents.contract import Batch
from hexamem.memory_types.proposals import Evidence, Proposal

if TYPE_CHECKING:
    from hexamem.models import Budget, UsageMeter
    from hexamem.stores.ledger import Transaction


class Recorded(NamedTuple):
    """The result of ``record``."""

    step_ids: Sequence[str] = ()  # of the new steps
    visible: Sequence[str] = ()  # ids of the steps that the caller's conversation shows
    degraded: Sequence[str] = ()  # what fell back


class Remembrance(TypedDict):
    """The outcome of one proposal, for stream events and the caller.

    ``operation`` is None if it was refused, and ``refused`` says why.
    """

    kind: str
    operation: str | None
    item_id: str | None
    text: str
    refused: str


class IngestInput(TypedDict, total=False):
    """The input of the graph.

    Attributes:
        messages: as for ``UserMemory.remember``; without messages nothing is recorded.
        thread_id: their conversation; ``default`` when left out.
        close: whether the waiting steps are managed now, however few they are.
    """

    messages: Any
    thread_id: str
    close: bool


class IngestOutput(TypedDict, total=False):
    """The output of the graph.

    Attributes:
        step_ids: of the steps that this run recorded.
        visible: ids of the steps that the caller's conversation shows; recall leaves them out.
        remembered: the outcomes of the proposals.
        degraded: a line for each fallback.
    """

    step_ids: list[str]
    visible: list[str]
    remembered: list[Remembrance]
    degraded: list[str]


class IngestState(IngestInput, total=False):
    """The state that the nodes share."""

    step_ids: list[str]  # see `IngestOutput`
    visible: list[str]
    since: int  # `seq` up to which steps were managed before this batch
    reached: int  # `seq` of its last step
    batch: list[str]  # ids of the steps of the batch
    instructions: list[dict[str, Any]]  # of the meta-manager to the managers, `Instruction` as JSON
    nearest: dict[str, list[str]]  # ids of the nearest known items, by kind
    ask: bool  # whether the single call of mode `single_call` is made: the batch is more than small talk
    proposals: Annotated[list[dict[str, Any]], operator.add]  # of all managers; see `written`
    remembered: list[Remembrance]
    degraded: Annotated[list[str], operator.add]


class ManageInput(TypedDict, total=False):
    """The input of a manager: its instruction, the ids of the steps, and those of the nearest items of its kind."""

    instruction: dict[str, Any]
    batch: list[str]
    nearest: list[str]
    instructions: list[dict[str, Any]]
    nearest_by_kind: dict[str, list[str]]


@dataclass(kw_only=True)
class IngestContext:
    """The context of a run. A host's own context may replace it, if it has a ``user``."""

    user: str = ""  # whose memory it is
    # opens the transaction in which everything is applied; the ledger's own when None
    write: Callable[[], AbstractContextManager[Transaction]] | None = None
    finish: Callable[[Transaction], object] | None = None  # called at the end of that transaction
    budget: Budget | None = None  # limits the model calls
    usage: UsageMeter | None = None  # counts them
    # cache of the batches of this run, by the ids of their steps
    batches: dict[tuple[str, ...], Batch] = field(default_factory=dict)


def written(proposal: Proposal, batch: Batch) -> dict[str, Any] | None:
    """A proposal as JSON. A secret, and quotes that contain it, are replaced by their offsets in the step.

    None if the secret is in no quoted step: then it cannot be read back.
    """
    values = proposal.model_dump(mode="json")
    secret = values.pop("secret")
    if secret is None:
        return values
    content = {batch_step.step.id: batch_step.step.content for batch_step in batch.steps}
    places = []
    for evidence in proposal.evidence:
        text = content.get(evidence.step_id, "")
        inside = evidence.quote.find(secret)
        start = text.find(evidence.quote) if inside >= 0 else -1
        end, at = start + len(evidence.quote), start + inside
        if start < 0:  # the quote is not literal
            start = at = text.find(secret)
            end = start + len(secret)
        if start >= 0:
            places.append([evidence.step_id, start, end, at, len(secret)])
    if not places:
        return None
    return {**_without(values, secret), "evidence": [], "places": places}


def read_back(values: dict[str, Any], batch: Batch) -> Proposal | None:
    """The proposal that was :func:`written`; None if its step has changed because the secret was removed from it."""
    places: Sequence[Sequence[Any]] = values.get("places") or ()
    fields = {name: value for name, value in values.items() if name != "places"}
    if not places:
        return Proposal.parse(fields)
    content = {batch_step.step.id: batch_step.step.content for batch_step in batch.steps}
    evidence = []
    secrets = set()
    for step_id, start, end, at, length in places:
        text = content.get(step_id, "")
        if len(text) < end:
            return None
        evidence.append(Evidence(step_id=step_id, quote=text[start:end]))
        secrets.add(text[at : at + length])
    if len(secrets) != 1 or "{{vault:" in (secret := secrets.pop()):
        return None
    return Proposal.parse({**fields, "evidence": tuple(evidence), "secret": secret})


def _without(value: Any, secret: str) -> Any:
    """A JSON value with an ellipsis in place of a secret, whatever its case."""
    if isinstance(value, dict):
        return {_without(key, secret): _without(part, secret) for key, part in value.items()}
    if isinstance(value, list):
        return [_without(part, secret) for part in value]
    return re.sub(re.escape(secret), "…", value, flags=re.IGNORECASE) if isinstance(value, str) else value
