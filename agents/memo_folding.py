"""Digests (memos of memos) by a model: a durable job with one structured call for each.

A digest has an extractive text as soon as it is stored. The model's text replaces it if it adds no script to
those of the memos below; after a failed call the extractive text remains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING

from pydantic import Field

from hexamem.agents.contract import Job, WorkOutcome
from hexamem.agents.labelling.checks import gist_fits, one_line, scripts_of
from hexamem.intent.page_memos import DIGEST_WORDS
from hexamem.memory_types.local_time import in_zone
from hexamem.memory_types.times import read_zone
from hexamem.models import Budget, CallInput, Method, ModelReply, StructuredCall, UsageMeter
from hexamem.prompts import PromptLoader, load_prompt
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.digests import DigestRow, get_digests, set_digest_text
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.ledger.labels import read_label_marks
from hexamem.stores.ledger.pages import get_pages
from hexamem.stores.ledger.usage import add_usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["AGENT", "KIND", "MemoFolding", "MemoReply"]

AGENT = "memorizer"
KIND = "memos"


class MemoReply(ModelReply):
    """One memo that stands for several."""

    memo: str = Field(description="The memo, on one line.")


class MemoFolding:
    """Rewrites digests with a chat model. Thread-safe.

    Args:
        ledger: where digests are read and written.
        model: the chat model.
        notices: called with the user and one line for each fallback.
        method: how the schema of the reply is sent.
        budget: what all calls together may spend.
    """

    def __init__(
        self,
        ledger: Ledger,
        model: BaseChatModel,
        notices: Callable[[str, str], None],
        *,
        method: Method,
        budget: Budget,
        prompts: PromptLoader = load_prompt,
    ) -> None:
        self._ledger, self._notices, self._budget = ledger, notices, budget
        self._prompt = prompts(AGENT)
        self._call: StructuredCall[MemoReply] = StructuredCall(model, MemoReply, agent=AGENT, method=method)

    def queue(self, tx: Transaction, digest_ids: Sequence[str]) -> None:
        """Queue a job for each digest, lower levels first, in the transaction that writes them."""
        for digest_id in digest_ids:
            enqueue(tx, KIND, {"digest": digest_id}, key=digest_id)

    def run(self, user: str, job: Job, digest_id: str, *, last: bool = False) -> WorkOutcome:
        """Rewrite one digest.

        Args:
            digest_id: the digest; nothing is done if it no longer exists.
            last: whether this is the last attempt; then the extractive text remains.
        """
        with self._ledger.read(user) as tx:
            digest = get_digests(tx, [digest_id]).get(digest_id)
            corrected = read_label_marks(tx).corrected
            memos = _memos(tx, digest) if digest is not None else []
        if digest is None:
            with job.write() as tx:
                job.complete(tx)
            return WorkOutcome()
        usage, scripts = UsageMeter(KIND), scripts_of("\n".join(memos))
        result = self._call.invoke(
            CallInput(
                messages=self._prompt.render(memos="\n".join(memos), words=DIGEST_WORDS),
                budget=self._budget,
                usage=usage,
                operation=KIND,
                validate=lambda reply: _problems(self._text(reply), scripts),
            )
        )
        answered = result.usage.output_tokens > 0
        if result.degraded and (answered or result.refusal is None):
            self._notices(user, f"memos of user {user!r}: {result.degraded[0]}; the embedded memo stays")
        with job.write() as tx:
            add_usage(tx, usage.drain())
            if result.refusal is not None and not answered:
                return WorkOutcome(status="waits", reason=result.refusal.reason)
            if not answered and not last:
                return WorkOutcome(status="failed", reason="the model gave no memo; the memory's notices tell more")
            # Text that was redacted or forgotten during the call must not be written again.
            if result.value is not None and read_label_marks(tx).corrected == corrected:
                set_digest_text(tx, digest_id, self._text(result.value), "model")
            job.complete(tx)
        return WorkOutcome()

    def _text(self, reply: MemoReply) -> str:
        return one_line(self._prompt.restore(reply.memo))


def _memos(tx: Transaction, digest: DigestRow) -> list[str]:
    """The memos below a digest, one line each with its day."""
    zone = read_zone(tx.timezone)
    if digest.level == 1:
        below = [(page.memo, page.started_at, page.id) for page in get_pages(tx, digest.covers).values()]
    else:
        below = [(lower.text, lower.started_at, lower.id) for lower in get_digests(tx, digest.covers).values()]
    below.sort(key=lambda memo: digest.covers.index(memo[2]))
    return [f"{in_zone(moment, zone):%Y-%m-%d}: {text}" for text, moment, _ in below]


def _problems(memo: str, scripts: Set[str]) -> list[str]:
    if not memo:
        return ["the memo is empty"]
    if not gist_fits(memo, scripts):
        return ["the memo is too long, or in another script than the memos"]
    return []
