"""The state of the ingest graph: plain JSON values, so that any checkpointer keeps it, and nothing of a secret in it.

A proposal that names a secret is written with the places of its words in place of the words (:func:`written`), and
read back from the steps themselves (:func:`read_back`). So no checkpoint, stream or trace of the graph holds them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typing_extensions import TypedDict  # that of typing has no JSON schema before Python 3.12

from hexamem.agents.contract import Batch, Instruction
from hexamem.memory_types.proposals import Evidence, Proposal

if TYPE_CHECKING:
    from hexamem.models import Budget, UsageMeter
    from hexamem.stores.ledger import Transaction

__all__ = [
    "IngestContext",
    "IngestInput",
    "IngestOutput",
    "IngestState",
    "Instructed",
    "ManageInput",
    "Recorded",
    "Remembrance",
    "as_instruction",
    "as_values",
    "read_back",
    "written",
]


class Instructed(TypedDict):
    """An :class:`~hexamem.agents.contract.Instruction` as JSON."""

    kind: str
    step_ids: list[str]
    task: str


class Recorded(NamedTuple):
    """What ``record`` stored.

    Attributes:
        step_ids: of the new steps.
        visible: ids of the steps that the caller's conversation shows.
        degraded: what fell back.
    """

    step_ids: Sequence[str] = ()
    visible: Sequence[str] = ()
    degraded: Sequence[str] = ()


class Remembrance(TypedDict):
    """What became of one proposal: for those who watch, and for the caller.

    ``operation`` is None where it was refused, and ``refused`` says why.
    """

    kind: str
    operation: str | None
    item_id: str | None
    text: str
    refused: str


class IngestInput(TypedDict, total=False):
    """What the graph takes.

    Attributes:
        messages: as ``UserMemory.remember`` takes them; nothing is recorded where there are none.
        thread_id: their conversation; ``default`` when left out.
        close: whether the steps that wait are read together now, however few they are.
    """

    messages: Any
    thread_id: str
    close: bool


class IngestOutput(TypedDict, total=False):
    """What the graph gives.

    Attributes:
        step_ids: of the steps that this run recorded.
        visible: ids of the steps that the caller's conversation shows; recall leaves them out.
        remembered: what became of the proposals.
        degraded: what fell back, in plain words.
    """

    step_ids: list[str]
    visible: list[str]
    remembered: list[Remembrance]
    degraded: list[str]


class IngestState(IngestInput, total=False):
    """What the nodes give each other.

    Attributes:
        step_ids, visible: see :class:`IngestOutput`.
        since, reached: ``seq`` up to which steps were managed before this batch, and up to which it reaches.
        batch: ids of the steps that are read together.
        instructions: what the meta-manager asks of the managers.
        nearest: ids of the known items nearest to what they are to look at, by kind.
        ask: whether the one call of mode ``single_call`` is worth it.
        proposals: of all managers; see :func:`written`.
        remembered: what became of the proposals.
        degraded: what fell back, in plain words.
    """

    step_ids: list[str]
    visible: list[str]
    since: int
    reached: int
    batch: list[str]
    instructions: list[Instructed]
    nearest: dict[str, list[str]]
    ask: bool
    proposals: Annotated[list[dict[str, Any]], operator.add]
    remembered: list[Remembrance]
    degraded: Annotated[list[str], operator.add]


class ManageInput(TypedDict, total=False):
    """What a manager is sent: its instruction, the ids of the steps, and those of the nearest items of its kind.

    ``single_call`` is sent all instructions, and the items of all kinds.
    """

    instruction: Instructed
    batch: list[str]
    nearest: list[str]
    instructions: list[Instructed]
    nearest_by_kind: dict[str, list[str]]


@dataclass(kw_only=True)
class IngestContext:
    """What a run is told beside its state. A host's own context may stand in its place, if it has a ``user``.

    Attributes:
        user: whose memory it is.
        write: opens the transaction in which everything is applied; the ledger's own when None.
        finish: called at its end.
        budget, usage: what models may cost, and who is told of it.
        batches: read once a run, by the ids of their steps.
    """

    user: str = ""
    write: Callable[[], AbstractContextManager[Transaction]] | None = None
    finish: Callable[[Transaction], object] | None = None
    budget: Budget | None = None
    usage: UsageMeter | None = None
    batches: dict[tuple[str, ...], Batch] = field(default_factory=dict)


def as_values(one: Instruction) -> Instructed:
    """An instruction as JSON."""
    return Instructed(kind=one.kind, step_ids=list(one.step_ids), task=one.task)


def as_instruction(values: Instructed) -> Instruction:
    """The inverse of :func:`as_values`."""
    return Instruction(kind=values["kind"], step_ids=tuple(values["step_ids"]), task=values["task"])


def written(proposal: Proposal, batch: Batch) -> dict[str, Any] | None:
    """A proposal as JSON. The words of a secret, and quotes that hold them, become places in their step.

    None where the secret stands in no step that is quoted: then there is nothing to take out.
    """
    values = proposal.model_dump(mode="json")
    secret = values.pop("secret")
    if secret is None:
        return values
    content = {heard.step.id: heard.step.content for heard in batch.steps}
    places = []
    for one in proposal.evidence:
        text = content.get(one.step_id, "")
        inside = one.quote.find(secret)
        start = text.find(one.quote) if inside >= 0 else -1
        end, at = start + len(one.quote), start + inside
        if start < 0:  # quoted in other words than it stands there
            start = at = text.find(secret)
            end = start + len(secret)
        if start >= 0:
            places.append([one.step_id, start, end, at, len(secret)])
    if not places:
        return None
    return {**_without(values, secret), "evidence": [], "places": places}


def read_back(values: dict[str, Any], batch: Batch) -> Proposal | None:
    """The proposal that was :func:`written`; None where its step has changed, since its secret was taken out."""
    places: Sequence[Sequence[Any]] = values.get("places") or ()
    fields = {name: value for name, value in values.items() if name != "places"}
    if not places:
        return Proposal.parse(fields)
    content = {heard.step.id: heard.step.content for heard in batch.steps}
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
