"""Apply: checks the proposals of the managers and writes them to memory. Nothing else in the write path does.

Managers may misquote, propose a known or contradicting fact, or set fields that do not exist. Memory stays consistent
all the same: every change has a quote as evidence, a fact is stored once, one value of a slot is current, and each
change is an operation that can be undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple

from hexamem.agents.applying.evidence import check_evidence
from hexamem.agents.applying.item_changes import ItemChanges
from hexamem.agents.applying.item_edits import CheckedProposal
from hexamem.agents.applying.proposal_values import read_values
from hexamem.agents.contract import Batch
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types.proposals import Evidence, Outcome, Proposal
from hexamem.stores.applying import Cleaned, Cleaner, earlier_copies
from hexamem.stores.ledger import Ledger, Redaction, Transaction, get_steps
from hexamem.stores.ledger.vault import known_secrets, list_secrets
from hexamem.stores.media import MediaStore
from hexamem.stores.privacy import RedactRequest, redact
from hexamem.stores.projections import Projector
from hexamem.stores.redaction import Redactor
from hexamem.stores.secrets import Cipher, find_references

__all__ = ["Applied", "Applier"]

_SHORTEST_SECRET, _SHORTEST_WORD, _PART = 3, 6, 8  # characters
_INVALID = (InvalidInputError, NotFoundError, RecursionError)
"""The errors of an invalid proposal. Other errors, such as those of the ledger, end the whole batch."""


class Applied(NamedTuple):
    """One outcome per proposal of a batch, in their order, and notes on what was corrected or left out."""

    outcomes: list[Outcome]
    degraded: tuple[str, ...]


class Applier:
    """Applies the proposals of a batch to a user's memory. Safe to use from several threads.

    Args:
        media: the files from which a secret is redacted.
        projector: the indexes from which a secret is redacted.
    """

    def __init__(self, ledger: Ledger, cipher: Cipher, *, media: MediaStore, projector: Projector) -> None:
        self._ledger, self._cipher, self._media, self._projector = ledger, cipher, media, projector

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
        """Check proposals and apply the valid ones, all in one transaction of the ledger.

        A proposal with invalid evidence or values is refused, with the reason in its outcome; the others are applied. An
        item that states a known fact is merged into the known item (``merge``, or ``noop`` where it adds nothing).
        Another value of a slot supersedes the current one, or is placed in the past if its time is earlier. If the
        ledger fails, nothing of the batch is applied.

        Applying the same proposals again changes nothing, whatever has been done since, so that a killed job can be
        resumed. Where a model may then propose something else, end the job in the same transaction (``transaction`` and
        ``finish``).

        The ``secret`` of a proposal is redacted first, in a transaction of its own, which cannot be undone.

        Args:
            user: the user whose memory is changed; ``batch.user`` is not read.
            actor: the actor in the history; None for the ``proposed_by`` of each proposal.
            find_secrets: whether values are searched for secrets of a defined form.
            transaction: opens the user's transaction, such as ``JobContext.write``; None for the ledger's own.
            finish: called at the end of the transaction, such as ``JobContext.complete``.

        Raises:
            HexamemError: if the ledger or the vault cannot be written.
        """
        secrets, refused = self._redact_all(user, batch, proposals, find_secrets)
        hidden = tuple(secrets.values())
        batch = replace(
            batch,
            steps=tuple(replace(step, resolved_text=_without(step.resolved_text, hidden)) for step in batch.steps),
            shown=tuple(_without(text, hidden) for text in batch.shown),
        )
        outcomes: list[Outcome] = []
        notes: list[str] = []
        with (transaction or (lambda: self._ledger.write(user, create=False)))() as tx:
            if proposals:
                run = _Run(tx, self._cipher, batch, proposals, secrets, find_secrets)
                for proposal in proposals:
                    reason = refused.get(id(proposal))
                    outcomes.append(run.apply(proposal, actor) if reason is None else Outcome(refused=reason))
                run.changes.known.write()
                notes = run.notes
            if finish is not None:
                finish(tx)
        return Applied(outcomes, tuple(dict.fromkeys(notes)))

    def _redact_all(
        self, user: str, batch: Batch, proposals: Sequence[Proposal], find: bool
    ) -> tuple[dict[str, Redaction], dict[int, str]]:
        """Redact the secrets of proposals everywhere; returns plaintext → redaction, and id() of a refused proposal → reason."""
        done: dict[str, Redaction] = {}
        refused: dict[int, str] = {}
        # The longest first: it may contain a shorter one.
        with_secret = [(proposal.secret, proposal) for proposal in proposals if proposal.secret is not None]
        for secret, proposal in sorted(with_secret, key=lambda pair: -len(pair[0])):
            try:
                self._check_secret(user, batch, proposal, secret)
                if secret not in done:
                    done[secret] = self._redact(user, proposal, secret, find)
            except InvalidInputError as error:
                refused[id(proposal)] = str(error)
        return done, refused

    def _check_secret(self, user: str, batch: Batch, proposal: Proposal, secret: str) -> None:
        """Refuse a proposal whose secret may not be redacted."""
        if proposal.kind != "vault":
            raise InvalidInputError(f"a {proposal.kind} item has no secret; propose a vault item for it")
        if proposal.operation not in ("add", "update", "supersede"):
            raise InvalidInputError(f"a {proposal.operation} takes no secret")
        is_word = secret.isalpha() and secret.isascii() and len(secret) < _SHORTEST_WORD
        if is_word or len(secret.strip()) < _SHORTEST_SECRET:
            raise InvalidInputError("the secret is too short, or too common a word, to be redacted everywhere")
        with self._ledger.read(user) as tx:
            if self._known(tx, secret) is not None:
                return
            steps = get_steps(tx, {labelled.step.id for labelled in batch.steps})
        if not any(secret in evidence.quote for evidence in proposal.evidence):
            raise InvalidInputError("the evidence of a secret must quote it")
        check_evidence(batch, proposal, steps)

    def _known(self, tx: Transaction, secret: str) -> Redaction | None:
        """The redaction of a secret that is in the vault already."""
        digest = self._cipher.digest(secret, context=tx.user).hex()
        secret_id = known_secrets(tx, [digest]).get(digest) if tx.user_id else None
        if secret_id is None:
            return None
        caption = next((row.caption for row in list_secrets(tx) if row.id == secret_id), "secret")
        return Redaction(secret, secret_id, caption)

    def _redact(self, user: str, proposal: Proposal, secret: str, find: bool) -> Redaction:
        values, _ = read_values(self._ledger.types["vault"], proposal.values, "UTC")
        entry_type = str(values.get("entry_type") or "secret")[:32]
        entry_type = "secret" if secret.casefold() in entry_type.casefold() else entry_type
        caption = _removed_from(str(values.get("caption") or ""), secret) or entry_type
        try:
            receipt = redact(
                user,
                self._ledger,
                self._projector,
                self._media,
                self._cipher,
                RedactRequest(
                    words=secret,
                    caption=caption,
                    kind=entry_type,
                    sensitivity=values.get("sensitivity", "high"),
                    reason=_removed_from(proposal.reason, secret),
                    match_case=True,
                ),
                find=find,
            )
        except (InvalidInputError, NotFoundError):
            with self._ledger.read(user) as tx:
                known = self._known(tx, secret)  # redacted before, by a killed process or a person
            if known is None:
                raise InvalidInputError(
                    "the secret could not be redacted: its words are in nothing that is stored"
                ) from None
            return known
        references = find_references(receipt.reference)
        return Redaction(secret, receipt.secret_id, references[0].caption if references else caption)


class _Run:
    """The proposals of one batch within one transaction."""

    def __init__(
        self,
        tx: Transaction,
        cipher: Cipher,
        batch: Batch,
        proposals: Sequence[Proposal],
        secrets: Mapping[str, Redaction],
        find: bool,
    ) -> None:
        self._tx, self._cipher, self._batch, self._proposals = tx, cipher, batch, proposals
        self._secrets, self._find = secrets, find
        self.changes = ItemChanges(tx, cipher, batch.zone)
        self.notes: list[str] = []
        self._keys = {proposal.key for proposal in proposals if proposal.key}
        self._items_by_key: dict[str, str] = {}
        cited = {evidence.step_id for proposal in proposals for evidence in proposal.evidence}
        cited &= {labelled.step.id for labelled in batch.steps}
        self._steps = get_steps(tx, cited) if tx.user_id and cited else {}
        self._originals = earlier_copies(tx, self._steps.values()) if tx.user_id else {}
        self._timezone = getattr(batch.zone, "key", None) or ("UTC" if str(batch.zone) == "UTC" else tx.timezone)
        self._cleaner: Cleaner | None = None

    def apply(self, proposal: Proposal, actor: str | None) -> Outcome:
        """Check one proposal and apply it; an invalid one changes nothing."""
        if proposal.operation == "noop":
            return Outcome(applied="noop", item_id=proposal.target)
        planned = self.changes.known.planned
        clean = self._without_secrets(proposal)
        if clean.target in self._keys:
            clean = clean.changed(target=self._items_by_key.get(clean.target))
        try:
            checked = self._checked(clean, actor or proposal.proposed_by)
            outcome = self.changes.carry_out(checked)
        except _INVALID as error:
            self.changes.known.back_to(planned)
            if self._cleaner is not None:
                self._cleaner.give_up()
            reason = str(error) if isinstance(error, (InvalidInputError, NotFoundError)) else type(error).__name__
            return Outcome(refused=self._without_any_secret(clean, reason))
        if self._cleaner is not None:
            self._cleaner.settle()
        origin = f"{proposal.proposed_by}: {proposal.operation} of a {proposal.kind} item"
        self.notes += [f"{origin}: {note}" for note in checked.notes]
        if proposal.key and outcome.item_id:
            self._items_by_key[proposal.key] = outcome.item_id
        return outcome

    def _without_secrets(self, proposal: Proposal) -> Proposal:
        hidden = tuple(self._secrets.values())
        if not hidden:
            return proposal
        quotes = (
            Evidence(step_id=evidence.step_id, quote=_without(evidence.quote, hidden)) for evidence in proposal.evidence
        )
        values, reason = _deep_without(proposal.values, hidden), _without(proposal.reason, hidden)
        return proposal.changed(evidence=tuple(quotes), values=values, reason=reason)

    def _checked(self, proposal: Proposal, actor: str) -> CheckedProposal:
        """The proposal with its evidence verified, and its values read and cleaned."""
        evidence = check_evidence(self._batch, proposal, self._steps)
        # A conversation stored again is no new evidence: a step that is a copy is replaced by its original.
        sources = (
            source.changed(step_id=self._originals.get(source.step_id, source.step_id)) for source in evidence.sources
        )
        memory_type = self._tx.types.get(proposal.kind)
        if memory_type is None:
            raise InvalidInputError(
                f"kind = {proposal.kind!r} is not a registered memory type; use one of {', '.join(self._tx.types)}"
            )
        values, notes = read_values(memory_type, proposal.values, self._timezone)
        if any(_holds_part(values, secret) for secret in self._secrets):
            raise InvalidInputError(
                "a value contains a part of a secret that is in the vault; describe the secret without it"
            )
        cleaned = self._clean(values, proposal.reason)
        redaction = self._secrets.get(proposal.secret) if proposal.secret is not None else None
        references = {reference.id for source in evidence.sources for reference in find_references(source.quote)}
        only_reference = next(iter(references)) if proposal.kind == "vault" and len(references) == 1 else None
        return CheckedProposal(
            proposal=proposal,
            values=cleaned.values,
            sources=tuple(dict.fromkeys(sources)),
            stated_at=evidence.stated_at,
            own_words=evidence.own_words,
            actor=actor,
            reason=cleaned.reason,
            secret_id=redaction.secret_id if redaction else only_reference,
            found=cleaned.replaced,
            notes=[*evidence.notes, *notes],
        )

    def _clean(self, values: Mapping[str, Any], reason: str) -> Cleaned:
        if self._cleaner is None:
            texts = [[proposal.values, proposal.reason] for proposal in self._proposals]
            self._cleaner = Cleaner(self._tx, self._cipher, texts, find=self._find, steps=self._steps.values())
        return self._cleaner.clean(values, reason)

    def _without_any_secret(self, proposal: Proposal, text: str) -> str:
        """A text without the known secrets, and without those that can be found in the proposal."""
        redactor = Redactor(None, self._find)
        near = redactor.scan([proposal.values, [evidence.quote for evidence in proposal.evidence], text])
        clean: str = redactor.clean(text, near)
        return _without(clean, tuple(self._secrets.values()))


def _without(text: str, hidden: Sequence[Redaction]) -> str:
    """A text with all secrets replaced by their references."""
    for redaction in hidden:
        text = redaction.in_text(text)
        if redaction.words in text and len(redaction.words) >= _SHORTEST_WORD:
            text = text.replace(redaction.words, redaction.reference)
    return text


def _deep_without(value: Any, hidden: Sequence[Redaction]) -> Any:
    if isinstance(value, str):
        return _without(value, hidden)
    if isinstance(value, Mapping):
        return {_without(str(key), hidden): _deep_without(part, hidden) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_deep_without(part, hidden) for part in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return next((redaction.reference for redaction in hidden if redaction.words == str(value)), value)
    return value


def _holds_part(value: Any, secret: str) -> bool:
    """Whether a value contains a part of a secret: 8 characters with a digit among them."""
    if isinstance(value, Mapping):
        return any(_holds_part(part, secret) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple)):
        return any(_holds_part(part, secret) for part in value)
    if not isinstance(value, str) or len(secret) < _PART or len(value) < _PART:
        return False
    pieces = (secret[at : at + _PART] for at in range(len(secret) - _PART + 1))
    return any(piece in value for piece in pieces if any(character.isdigit() for character in piece))


def _removed_from(text: str, secret: str) -> str:
    """A caption or reason without the secret itself."""
    return " ".join(re.sub(re.escape(secret), "", text, flags=re.IGNORECASE).split()).strip(" :,;-–—")
