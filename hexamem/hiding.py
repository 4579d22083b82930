"""Messages without the user's secrets: what a host may keep, and what a model may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from hexamem.stores.known_secrets import find_known
from hexamem.stores.ledger.vault import known_secrets
from hexamem.stores.redaction import Redactor, strings_in
from hexamem.stores.secrets import SecretSpan

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from hexamem.user import UserMemory

__all__ = ["hide_secrets", "redact_messages"]

T = TypeVar("T")


def hide_secrets(user: UserMemory, value: T) -> T:
    """A value with references ``{{vault:ID|caption}}`` in place of secrets, in every string of its mappings and lists.

    Those that the user keeps already are found as they are in messages to remember. A new one goes into the vault
    first, so nothing is lost: ``UserMemory.reveal`` gives it back.

    Args:
        value: any JSON value. It is not changed.
    """
    memory = user.memory
    if not memory.settings.find_secrets:
        return value
    looker = Redactor(None)
    near = looker.scan(value)
    with memory.ledger.read(user.name) as tx:
        known = find_known(tx, memory.cipher, strings_in(value))
        if not near and not known:
            return value
        digests = {one: memory.cipher.digest(one, context=user.name).hex() for one in near | known.keys()}
        held = known_secrets(tx, set(digests.values()))

    def keep(plaintext: str, span: SecretSpan) -> str:
        digest = digests.get(plaintext) or memory.cipher.digest(plaintext, context=user.name).hex()
        if digest not in held:
            described = {"entry_type": span.kind, "caption": span.caption, "sensitivity": span.sensitivity}
            item = user.add({"kind": "vault", **described}, secret=plaintext, actor="rules", reason=_WHY)
            held[digest] = str(getattr(item, "secret_id", None))
        return held[digest]

    redactor = Redactor(keep)
    redactor.scan(value)
    redactor.add_known(known)
    cleaned: T = redactor.clean(value, near)
    return cleaned


def redact_messages(user: UserMemory, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """LangChain messages as a host may keep them: secrets in what they say and call are replaced by references.

    For hosts whose own checkpointer must never hold a secret: give a run what this returns, not what the person typed.
    A message without secrets is the same object; ids stay.

    Args:
        user: whose secrets they are, and whose vault takes the new ones.
        messages: in their order.
    """
    parts = [{name: getattr(one, name) for name in _SAYS if getattr(one, name, None)} for one in messages]
    hidden = hide_secrets(user, parts)
    return [
        one if after == before else one.model_copy(update={name: after[name] for name in after})
        for one, before, after in zip(messages, parts, hidden, strict=True)
    ]


_SAYS = ("content", "tool_calls", "additional_kwargs", "artifact")
_WHY = "a secret was found and taken out"
