"""Replaces secrets in messages by references, for hosts' checkpoints and for models."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from hexamem.stores.known_secrets import find_known
from hexamem.stores.ledger.vault import known_secrets
from hexamem.stores.redaction import MAX_ANSWER, Redactor, strings_in
from hexamem.stores.secrets import SecretSpan

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from hexamem.user import UserMemory

T = TypeVar("T")
_FIELDS = ("content", "tool_calls", "additional_kwargs", "artifact")
_REASON = "a secret was found and taken out"


def hide_secrets(user: UserMemory, value: T, answers: Sequence[tuple[str, str]] = ()) -> T:
    """A value with references ``{{vault:ID|caption}}`` in place of secrets, in every string of its mappings and lists.

    Secrets are detected as in ``UserMemory.remember``. A new one is first stored in the vault, so nothing is lost:
    ``UserMemory.reveal`` returns it.

    Args:
        value: any JSON value. It is not changed.
        answers: texts of it that may answer a message, each with that message.
    """
    memory = user.memory
    if not memory.settings.find_secrets:
        return value
    digests: dict[str, str] = {}
    ids: dict[str, str] = {}

    def secret_id(plaintext: str, span: SecretSpan) -> str:
        digest = digests.get(plaintext) or memory.cipher.digest(plaintext, context=user.name).hex()
        if digest not in ids:
            fields = {"entry_type": span.kind, "caption": span.caption, "sensitivity": span.sensitivity}
            item = user.add({"kind": "vault", **fields}, secret=plaintext, actor="rules", reason=_REASON)
            ids[digest] = str(getattr(item, "secret_id", None))
        return ids[digest]

    redactor = Redactor(secret_id)
    detected = redactor.scan(value).union(*(redactor.scan_answer(text, before) for text, before in answers))
    with memory.ledger.read(user.name) as tx:
        known = find_known(tx, memory.cipher, strings_in(value))
        if not detected and not known:
            return value
        digests |= {secret: memory.cipher.digest(secret, context=user.name).hex() for secret in detected | known.keys()}
        ids |= known_secrets(tx, set(digests.values()))
    redactor.add_known(known)
    cleaned: T = redactor.clean(value, detected)
    return cleaned


def redact_messages(user: UserMemory, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """LangChain messages with references in place of the secrets in their contents and tool calls.

    For hosts whose own checkpointer must never hold a secret: pass the result to a run, not the original messages. A
    message without secrets is the same object; ids are unchanged.

    Args:
        user: in whose vault the secrets are looked up and stored.
        messages: in order.
    """
    parts = [{name: getattr(message, name) for name in _FIELDS if getattr(message, name, None)} for message in messages]
    answers = [
        (str(message.text), str(before.text))
        for before, message in itertools.pairwise(messages)
        if message.type != before.type and len(message.text) <= MAX_ANSWER
    ]
    hidden = hide_secrets(user, parts, answers)
    return [
        message if after == before else message.model_copy(update=after)
        for message, before, after in zip(messages, parts, hidden, strict=True)
    ]
