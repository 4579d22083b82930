"""Memos of memos by a model: one structured call each, from the durable queue, over what was made at once without one.

The rules' text stands from the moment a memo of memos is made. A model's takes its place where it says nothing that the
memos below do not; a call that fails leaves the embedded text.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from hexamem.agents.contract import Job, WorkOutcome
from hexamem.agents.labelling.checks import Wording, gist_fits, one_line
from hexamem.intent.page_memos import DIGEST_WORDS
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.times import read_zone
from hexamem.models import Budget, BudgetRefusal, CallInput, Method, ModelReply, StructuredCall, UsageMeter
from hexamem.prompts import load_prompt
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.digests import DigestRow, get_digests, read_digests, set_digest_text
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.ledger.labels import read_label_marks
from hexamem.stores.ledger.pages import get_pages
from hexamem.stores.ledger.usage import add_usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["AGENT", "KIND", "MemoFolding", "MemoReply"]

AGENT = "memorizer"
KIND = "memos"
_KEY = "next"
_LEAST = 2_000  # tokens below which no call is begun


class MemoReply(ModelReply):
    """One memo that stands for several."""

    memo: str = Field(description="The memo, on one line.")


class MemoFolding:
    """Writes memos of memos anew by model, the lowest level first. Safe to call from several threads.

    Args:
        ledger: where they are.
        model: the chat model.
        notices: receives the user and one clear line for what fell back.
        budget: what all calls together may spend.
    """

    def __init__(
        self,
        ledger: Ledger,
        model: BaseChatModel,
        notices: Callable[[str, str], None],
        *,
        method: Method = "json_schema",
        budget: Budget | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._ledger, self._notices, self._budget = ledger, notices, budget
        self._prompt = load_prompt(AGENT)
        self._call: StructuredCall[MemoReply] = StructuredCall(
            model, MemoReply, agent=AGENT, method=method, retries=retries
        )
        self._kept: dict[str, set[str]] = {}  # user → ids whose text by rules stays
        self._guard = threading.Lock()

    def queue(self, tx: Transaction, digest_ids: Sequence[str]) -> None:
        """Queue what waits for the model, in the transaction in which memos of memos were made."""
        if digest_ids:
            enqueue(tx, KIND, {}, key=_KEY)

    def run(self, user: str, job: Job, *, last: bool = False) -> WorkOutcome:
        """Write one memo of memos anew and queue the next.

        Args:
            last: whether no further attempt follows; then the embedded text of this one stays.
        """
        with self._ledger.read(user) as tx:
            one = self._next(tx, user)
            marks = read_label_marks(tx)
            memos = _memos(tx, one) if one is not None else []
        if one is None:
            with job.write() as tx:
                job.complete(tx)
            return WorkOutcome()
        granted = self._budget.reserve(_LEAST) if self._budget is not None else None
        if isinstance(granted, BudgetRefusal):
            return WorkOutcome(status="waits", reason=granted.reason)
        if granted is not None:
            granted.release()
        usage = UsageMeter(KIND)
        known = Wording(memos)
        prompt = self._prompt
        result = self._call.invoke(
            CallInput(
                messages=prompt.render(memos="\n".join(memos), words=DIGEST_WORDS),
                budget=self._budget,
                usage=usage,
                operation=KIND,
                validate=lambda reply: _problems(one_line(prompt.restore(reply.memo)), known),
            )
        )
        text = one_line(prompt.restore(result.value.memo)) if result.value is not None else ""
        fits = bool(text) and not _problems(text, known)
        if not fits:
            why = result.degraded[0] if result.degraded else f"{AGENT}: the memo says what was not said"
            self._notices(user, f"memos of user {user!r}: {why}; the embedded memo stays")
        answered = result.value is not None or result.usage.output_tokens > 0
        if not answered and not last:
            with job.write() as tx:
                add_usage(tx, usage.drain())
            return WorkOutcome(status="failed", reason="the model gave no memo; the memory's notices tell more")
        with job.write() as tx:
            add_usage(tx, usage.drain())
            # Text that was redacted or forgotten meanwhile must not come back.
            if fits and read_label_marks(tx).corrected == marks.corrected:
                set_digest_text(tx, one.id, text, "model")
            else:
                self._leave(user, one.id)
            job.complete(tx)
            if self._next(tx, user) is not None:
                enqueue(tx, KIND, {}, key=_KEY)
        return WorkOutcome()

    def drop(self, user: str) -> None:
        """Forget what is kept in memory of a user."""
        with self._guard:
            self._kept.pop(user, None)

    def _leave(self, user: str, digest_id: str) -> None:
        with self._guard:
            self._kept.setdefault(user, set()).add(digest_id)

    def _next(self, tx: Transaction, user: str) -> DigestRow | None:
        with self._guard:
            kept = self._kept.get(user, set())
        return next((one for one in read_digests(tx) if one.tier == "embedded" and one.id not in kept), None)


def _memos(tx: Transaction, digest: DigestRow) -> list[str]:
    """What stands below, one line each with its day."""
    zone = read_zone(tx.timezone)
    if digest.level == 1:
        pages = get_pages(tx, digest.covers)
        below = [(pages[one].memo, pages[one].started_at) for one in digest.covers if one in pages]
    else:
        digests = get_digests(tx, digest.covers)
        below = [(digests[one].text, digests[one].started_at) for one in digest.covers if one in digests]
    return [f"{in_zone(moment, zone):%Y-%m-%d}: {text}" for text, moment in below]


def _problems(memo: str, known: Wording) -> list[str]:
    if not memo:
        return ["the memo is empty"]
    if not gist_fits(memo, known):
        return ["the memo is too long, in another script, or has a number that stands in none of the memos"]
    return []
