"""The managers of the write path by tier: the embedded ones, and those of a mode that asks models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hexamem.agents.contract import Manager, MetaManager
from hexamem.memory_types import ITEM_KINDS, ItemKind

if TYPE_CHECKING:
    from hexamem.agents.managers.model import ModelManager
    from hexamem.agents.meta_manager import ModelMetaManager
    from hexamem.agents.single_call import SingleCall
    from hexamem.intent.contract import Embed
    from hexamem.models import Method, Models
    from hexamem.stores.embedders import Embedder

__all__ = ["agents_tier", "embedded_tier", "single_tier"]


def embedded_tier(embedder: Embedder) -> tuple[MetaManager, Mapping[ItemKind, Manager]]:
    """The meta-manager and the six managers over the reader, which need no chat model.

    Args:
        embedder: whose vectors the reader reads, ``bundled`` or ``static``.
    """
    from hexamem.agents.reader import EmbeddedMetaManager, Reader, embedded_managers

    reader = Reader(embedder)  # shared, so that a batch is read once
    return EmbeddedMetaManager(reader), embedded_managers(reader)


def agents_tier(
    models: Models, method: Method, meta: MetaManager, managers: Mapping[ItemKind, Manager]
) -> tuple[ModelMetaManager | None, dict[ItemKind, ModelManager]]:
    """The meta-manager and the managers by model, those that have one.

    Args:
        meta, managers: the embedded ones, which do what a model cannot.
    """
    from hexamem.agents.managers.forms import FORMS
    from hexamem.agents.managers.model import ModelManager
    from hexamem.agents.meta_manager import ModelMetaManager

    model = models.of("meta_manager")
    found = {kind: models.of(FORMS[kind].agent) for kind in ITEM_KINDS}
    return (
        None if model is None else ModelMetaManager(model, meta, method=method),
        {
            kind: ModelManager(FORMS[kind], one, managers[kind], method=method)
            for kind, one in found.items()
            if one is not None
        },
    )


def single_tier(
    models: Models, method: Method, managers: Mapping[ItemKind, Manager], embed: Embed | None
) -> SingleCall | None:
    """The one call for everything, by the model of the group ``managers``; None where there is none."""
    from hexamem.agents.single_call import SingleCall

    model = models.of("managers")
    return None if model is None else SingleCall(model, managers, embed, method=method)
