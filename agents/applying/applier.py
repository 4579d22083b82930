"""Apply: what checks the proposals of the managers and alone changes memory.

Managers may be wrong in any way: quote what nobody said, propose what is known or contradicts it, give fields that do
not exist. Whatever they say, memory stays consistent: every change rests on words that were said, a fact is kept once,
one value of a slot is current, and each change is an operation that can be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...errors import InvalidInputError, NotFoundError
from ...memory_types import MemoryItem, Step
from ...memory_types.proposals import Evidence, Outcome, Proposal
from ...stores.applying import Cleaned, Cleaner, KnownItems, first_said
from ...stores.ledger import Ledger, Redaction, Transaction, get_steps
from ...stores.ledger.vault import known_secrets, list_secrets
from ...stores.media import MediaStore
from ...stores.privacy import redact
from ...stores.projections import Projector
from ...stores.redaction import Redactor
from ...stores.secrets import Cipher, find_references
from ..contract import Batch
from .evidence import Heard, check_evidence
from .item_changes import ItemChanges
from .likeness import Embed, Likeness
from .proposal_values import read_values
from .repeated import as_first_said, slot_as_first_said
from .state import Checked, references_in

__all__ = ["Applied", "Applier"]

_SHORTEST_SECRET, _SHORTEST_WORD, _LONGEST_PART = 3, 6, 8
_BAD = (InvalidInputError, NotFoundError, RecursionError)
"""What a proposal of a wrong form raises. Errors of the ledger are none of these: they end the whole batch."""


class Applied(NamedTuple):
    """What became of a batch: one outcome a proposal, in their order, and what was put right or left out, in words."""

    outcomes: list[Outcome]
    degraded: tuple[str, ...]


class Applier:
    """Applies the proposals of a batch to a user's memory. Safe to use from several threads.

    Args:
        embed: n texts → ``(n, d)`` unit rows; used where words alone do not say whether two texts state one fact.
        media, projector: where secrets that were missed are taken out too.
    """

    def __init__(
        self, ledger: Ledger, cipher: Cipher, embed: Embed, *, media: MediaStore, projector: Projector
    ) -> None:
        self._ledger, self._cipher, self._embed = ledger, cipher, embed
        self._media, self._projector = media, projector

    def apply(
        self,
        user: str,
        batch: Batch,
        proposals: Sequence[Proposal],
        *,
        actor: str | None = None,
        find_secrets: bool = True,
        transaction: Callable[[], AbstractContextManager[Transaction]] | None = None,
        finish: Callable[[Transaction], object] | None = None,
    ) -> Applied:
        """Check proposals and carry out those that hold, all in one transaction of the ledger.

        A proposal is refused, with the reason in its outcome, when its evidence does not hold or its values make no
        item; the others are carried out all the same. An item that states what is known joins it (``merge``, or
        ``update`` where it says more; ``noop`` where it adds nothing). Another value of a slot supersedes the one that
        was, or takes its place in the past where it was said, or held, earlier. Words that take something back
        ("I meant Tuesday") update it. If the ledger fails, nothing of the batch is applied.

        Applying the same proposals again changes nothing, whatever has been done since: that is how a job that was
        killed is resumed. To make sure even where a model would then propose something else, let the job end in the
        same transaction (``transaction`` and ``finish``).

        A proposal with a ``secret`` first has it redacted, in a transaction of its own: that is never undone.

        Args:
            batch: its ``user`` is not read; that is ``user``.
            actor: who stands in the history; each proposal's own ``proposed_by`` when None.
            find_secrets: whether secrets that the rules find in values are taken out.
            transaction: opens the user's transaction; the ledger's own when None. ``JobContext.write`` is one.
            finish: called at the end of the transaction, e.g. with ``JobContext.complete``.

        Returns:
            One outcome a proposal, in their order, and lines that say what was put right.

        Raises:
            HexamemError: if the ledger or the vault cannot be written.
        """
        secrets, refused = self._redact_all(user, batch, proposals, find_secrets)
        hidden = tuple(secrets.values())
        batch = replace(
            batch,
            steps=tuple(replace(one, resolved_text=_without(one.resolved_text, hidden)) for one in batch.steps),
            shown=tuple(_without(text, hidden) for text in batch.shown),
        )
        degraded: list[str] = []
        task = _Task(self._cipher, Likeness(self._embed), batch, proposals, secrets, find_secrets, degraded)
        if proposals:
            with self._ledger.read(user) as tx:  # what takes long is done before anybody has to wait for it
                ahead = _Run(tx, task)
                ahead.look_ahead()
        opened = transaction or (lambda: self._ledger.write(user, create=False))
        with opened() as tx:
            outcomes = [Outcome()] * len(proposals)
            if proposals:
                run = _Run(tx, task, ahead)
                # What is over can be told only when all is known that was said before.
                for place in sorted(range(len(proposals)), key=_last_of(proposals)):
                    why = refused.get(id(proposals[place]))
                    outcomes[place] = Outcome(refused=why) if why is not None else run.apply(proposals[place], actor)
                run.write()
            if finish is not None:
                finish(tx)
        return Applied(outcomes, tuple(dict.fromkeys(degraded)))

    def _redact_all(
        self, user: str, batch: Batch, proposals: Sequence[Proposal], find: bool
    ) -> tuple[dict[str, Redaction], dict[int, str]]:
        """Take the secrets of proposals out of everything that is stored; gives them by plaintext, and refusals."""
        done: dict[str, Redaction] = {}
        refused: dict[int, str] = {}
        # The longest first: it may hold a shorter one.
        for one in sorted((p for p in proposals if p.secret is not None), key=lambda p: -len(p.secret or "")):
            secret = one.secret or ""
            if why := self._no_secret(user, batch, one, secret):
                refused[id(one)] = why
            elif secret not in done:
                try:
                    done[secret] = self._redact(user, one, secret, find)
                except (InvalidInputError, NotFoundError):
                    refused[id(one)] = "the secret could not be taken out: its words stand nowhere in what is stored"
        return done, refused

    def _no_secret(self, user: str, batch: Batch, proposal: Proposal, secret: str) -> str:
        """Why what a proposal calls a secret is none that may be taken out; empty where it is one."""
        if proposal.kind != "vault":
            return f"a {proposal.kind} item holds no secret; propose a vault item for it"
        if proposal.operation not in ("add", "update", "supersede"):
            return f"a {proposal.operation} takes no secret"
        if len(secret.strip()) < _SHORTEST_SECRET or (
            secret.isalpha() and secret.isascii() and len(secret) < _SHORTEST_WORD
        ):
            return "what is to be kept is too short or common a word to be taken out wherever it stands"
        with self._ledger.read(user) as tx:
            if self._known(tx, secret) is not None:
                return ""
            steps = get_steps(tx, {heard.step.id for heard in batch.steps})
            if not any(secret in one.quote for one in proposal.evidence):
                return "the evidence of a secret must quote it"
            return check_evidence(batch, proposal, steps).refused

    def _known(self, tx: Transaction, secret: str) -> Redaction | None:
        """The secret if the vault has it."""
        digest = self._cipher.digest(secret, context=tx.user).hex()
        secret_id = known_secrets(tx, [digest]).get(digest) if tx.user_id else None
        if secret_id is None:
            return None
        caption = next((row.caption for row in list_secrets(tx) if row.id == secret_id), "secret")
        return Redaction(secret, secret_id, caption)

    def _redact(self, user: str, proposal: Proposal, secret: str, find: bool) -> Redaction:
        values, _ = read_values("vault", proposal.values, "UTC")
        entry_type = str(values.get("entry_type") or "secret")[:32]
        entry_type = "secret" if secret.casefold() in entry_type.casefold() else entry_type
        caption = _left_out(str(values.get("caption") or ""), secret) or entry_type
        try:
            receipt = redact(
                user,
                self._ledger,
                self._projector,
                self._media,
                self._cipher,
                secret,
                caption=caption,
                kind=entry_type,
                sensitivity=values.get("sensitivity", "high"),
                reason=_left_out(proposal.reason, secret),
                find=find,
            )
        except NotFoundError:  # taken out before, by a process that was killed or a person
            with self._ledger.read(user) as tx:
                known = self._known(tx, secret)
            if known is None:
                raise
            return known
        put = find_references(receipt.reference)
        return Redaction(secret, receipt.secret_id, put[0].caption if put else caption)


@dataclass(frozen=True, slots=True)
class _Task:
    """What a batch is applied with."""

    cipher: Cipher
    likeness: Likeness
    batch: Batch
    proposals: Sequence[Proposal]
    secrets: Mapping[str, Redaction]
    find: bool
    degraded: list[str]


class _Run:
    """The proposals of one batch within one transaction.

    Args:
        ahead: the run that has looked ahead: what it read holds if nothing was written since.
    """

    def __init__(self, tx: Transaction, task: _Task, ahead: _Run | None = None) -> None:
        self._tx, self._task, self._batch, self._secrets = tx, task, task.batch, task.secrets
        known = KnownItems(tx, ahead.changes.known if ahead else None)
        self.changes: ItemChanges = ItemChanges(tx, known, task.cipher, task.likeness, self._batch.zone)
        self._at = tx.change
        self._heard: dict[int, Heard] = {}
        self._steps: dict[str, Step] = {}
        self._first: dict[str, str] = {}
        if ahead is not None and ahead._at == self._at:
            self._steps, self._heard, self._first = ahead._steps, ahead._heard, ahead._first
        else:
            cited = {one.step_id for proposal in task.proposals for one in proposal.evidence}
            cited &= {heard.step.id for heard in self._batch.steps}
            self._steps = get_steps(tx, cited) if tx.user_id and cited else {}
            self._first = first_said(tx, self._steps.values()) if tx.user_id else {}
        self._timezone = getattr(self._batch.zone, "key", None) or (
            "UTC" if str(self._batch.zone) == "UTC" else tx.timezone
        )
        self._cleaner: Cleaner | None = None

    def apply(self, proposal: Proposal, actor: str | None) -> Outcome:
        """Check one proposal and carry it out; one that does not hold changes nothing."""
        if proposal.operation == "noop":
            return Outcome(applied="noop", item_id=proposal.target)
        planned = self.changes.known.planned
        try:
            outcome = self._carry_out(self._without_secrets(proposal), actor or proposal.proposed_by, proposal)
        except _BAD as error:
            self.changes.known.back_to(planned)
            if self._cleaner is not None:
                self._cleaner.give_up()
            said = str(error) if isinstance(error, (InvalidInputError, NotFoundError)) else type(error).__name__
            return Outcome(refused=self._told(self._without_secrets(proposal), said))
        if self._cleaner is not None:
            self._cleaner.settle()
        return outcome

    def write(self) -> None:
        """Write what was carried out."""
        self.changes.known.write()

    def look_ahead(self) -> None:
        """Compare what proposals would add with what is known, so that texts are embedded before the writing."""
        made: list[MemoryItem] = []
        for proposal in self._task.proposals:
            if proposal.operation == "add" and proposal.secret is None:
                with suppress(*_BAD):  # it is told when the proposal is applied
                    checked = self._checked(self._without_secrets(proposal), "", proposal, write=False)
                    if (new := self.changes.foresee(checked)) is not None:
                        made.append(new)
        self.changes.look_ahead(made)

    def _without_secrets(self, proposal: Proposal) -> Proposal:
        hidden = tuple(self._secrets.values())
        if not hidden:
            return proposal
        quotes = [Evidence(step_id=one.step_id, quote=_without(one.quote, hidden)) for one in proposal.evidence]
        values, reason = _deep_without(proposal.values, hidden), _without(proposal.reason, hidden)
        return proposal.changed(evidence=tuple(quotes), values=values, reason=reason)

    def _checked(self, proposal: Proposal, actor: str, given: Proposal, *, write: bool) -> Checked:
        """The proposal with its evidence checked and its values read, and cleaned where they are to be written."""
        heard = self._heard.get(id(given))
        if heard is None:
            heard = as_first_said(check_evidence(self._batch, proposal, self._steps), self._first)
            self._heard[id(given)] = heard
        if heard.refused or heard.said_at is None:
            raise InvalidInputError(heard.refused)
        values, notes = read_values(proposal.kind, proposal.values, self._timezone)
        values = slot_as_first_said(values, self._first)
        if any(_holds_part(values, one) for one in self._secrets):
            raise InvalidInputError("it repeats a part of what went to the vault; name it there without its value")
        cleaned = Cleaned(values, proposal.reason, {})
        if write:
            cleaned = self._clean(values, proposal.reason)
        redaction = self._secrets.get(proposal.secret) if proposal.secret is not None else None
        mentioned = references_in(heard.sources) if proposal.kind == "vault" else []
        return Checked(
            operation=proposal.operation,
            kind=proposal.kind,
            values=cleaned.values,
            target=proposal.target,
            merged=proposal.merged,
            heard=heard,
            said_at=heard.said_at,
            actor=actor,
            reason=cleaned.reason,
            secret_id=redaction.secret_id if redaction else mentioned[0] if len(mentioned) == 1 else None,
            found=cleaned.found,
            ends=proposal.ends,
            notes=[*heard.notes, *notes],
        )

    def _clean(self, values: Mapping[str, Any], reason: str) -> Cleaned:
        if self._cleaner is None:
            texts = [[one.values, one.reason] for one in self._task.proposals]
            self._cleaner = Cleaner(self._tx, self._task.cipher, texts, find=self._task.find)
        return self._cleaner.clean(values, reason)

    def _carry_out(self, proposal: Proposal, actor: str, given: Proposal) -> Outcome:
        one = self._checked(proposal, actor, given, write=True)
        outcome = self.changes.carry_out(one)
        self._task.degraded.extend(
            f"{proposal.proposed_by}: {proposal.operation} of a {proposal.kind} item: {note}" for note in one.notes
        )
        return outcome

    def _told(self, proposal: Proposal, why: str) -> str:
        """A reason without any secret of the proposal."""
        redactor = Redactor(None, self._task.find)
        near = redactor.look([proposal.values, [one.quote for one in proposal.evidence], why])
        told: str = redactor.clean(why, near)
        return _without(told, tuple(self._secrets.values()))


def _last_of(proposals: Sequence[Proposal]) -> Callable[[int], bool]:
    """Which proposals, by their place, are carried out after the others: those that end something, and those that change an
    event told in the same batch, of whose day other proposals may tell too.
    """
    told: set[str] = set()
    last: set[int] = set()
    for place, one in enumerate(proposals):
        metadata = one.values.get("metadata") if one.kind == "episodic" else None
        slot = str(metadata.get("slot") or "") if isinstance(metadata, Mapping) else ""
        if one.ends or (slot and slot in told):
            last.add(place)
        told.add(slot)
    return last.__contains__


def _without(text: str, hidden: Sequence[Redaction]) -> str:
    """A text with secrets replaced by their references, wherever they stand in it."""
    for one in hidden:
        text = one.in_text(text)
        if one.words in text and len(one.words) >= _SHORTEST_WORD:
            text = text.replace(one.words, one.reference)
    return text


def _deep_without(value: Any, hidden: Sequence[Redaction]) -> Any:
    if isinstance(value, str):
        return _without(value, hidden)
    if isinstance(value, Mapping):
        return {_without(str(key), hidden): _deep_without(part, hidden) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_deep_without(part, hidden) for part in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return next((one.reference for one in hidden if one.words == str(value)), value)
    return value


def _holds_part(value: Any, secret: str) -> bool:
    """Whether a value holds a telling part of a secret: a piece of some length with a digit in it."""
    if isinstance(value, Mapping):
        return any(_holds_part(part, secret) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple)):
        return any(_holds_part(part, secret) for part in value)
    if not isinstance(value, str) or len(secret) < _LONGEST_PART or len(value) < _LONGEST_PART:
        return False
    pieces = (secret[at : at + _LONGEST_PART] for at in range(len(secret) - _LONGEST_PART + 1))
    return any(piece in value for piece in pieces if any(character.isdigit() for character in piece))


def _left_out(text: str, secret: str) -> str:
    """A caption or reason without the secret that it describes."""
    at = text.casefold().find(secret.casefold())
    while secret and at >= 0:
        text = text[:at] + text[at + len(secret) :]
        at = text.casefold().find(secret.casefold())
    return " ".join(text.split()).strip(" :,;-–—")
