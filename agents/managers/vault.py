"""The vault manager: secrets that detection did not find, and contacts (MIRIX, arXiv 2507.07957, section 3.1)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from hexamem.agents.contract import HeardStep
from hexamem.agents.managers.shared import ItemOperation, ManagerForm
from hexamem.memory_types import ItemKind
from hexamem.models.schemas import ModelReply

__all__ = ["VAULT", "VaultOperation", "VaultReply"]

_SHORTEST, _LONGEST = 3, 4_000
_REFERENCE = "{{vault:"


class VaultOperation(ItemOperation):
    """An operation on a secret or contact."""

    kind: ClassVar[ItemKind] = "vault"
    required: ClassVar[tuple[str, ...]] = ("entry_type", "caption")

    entry_type: str | None = Field(description="password, key, code, card, id_number, phone, email, address or other.")
    caption: str | None = Field(description="What it opens or whose it is, without the secret itself.")
    sensitivity: Literal["low", "medium", "high"] | None = Field(
        description="high for what opens something, identity papers and accounts, medium for street addresses and "
        "policy and membership numbers, low for contacts."
    )
    secret: str | None = Field(description="The secret characters alone, copied exactly; null for a reference.")

    def item_values(self, heard: HeardStep) -> dict[str, Any]:
        """The fields without the secret."""
        values = super().item_values(heard)
        values.pop("secret", None)
        return values

    def problems(self, heard: HeardStep) -> list[str]:
        """A secret must stand in its step, and nowhere in the caption."""
        secret = (self.secret or "").strip()
        if not secret:
            if self.operation in ("add", "supersede"):
                return ["it names no secret; what is a {{vault:…}} reference is kept already, so leave it out"]
            return []
        if not _SHORTEST <= len(secret) <= _LONGEST or self.secret_in(heard) is None:
            return [f"its secret does not stand in step {self.step}; copy it exactly, with nothing around it"]
        shown = (self.caption, self.entry_type)
        if any(secret.casefold() in (text or "").casefold() for text in shown):
            return ["its caption holds the secret; say there what it is for"]
        return []

    def is_moot(self) -> bool:
        """What is named by its reference lies in the vault already."""
        return _REFERENCE in (self.secret or "")

    def secret_in(self, heard: HeardStep) -> tuple[int, int] | None:
        """Where the secret stands in the content of its step."""
        secret = (self.secret or "").strip()
        start = heard.step.content.find(secret) if secret else -1
        return (start, start + len(secret)) if start >= 0 else None


class VaultReply(ModelReply):
    """The secrets and contacts that these steps still hold in clear."""

    operations: list[VaultOperation]


VAULT = ManagerForm(operation=VaultOperation, reply=VaultReply, fields=("entry_type", "caption"))
