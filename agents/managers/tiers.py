"""The managers of the write path by tier: those by rules, and those of a mode that asks models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...memory_types import ITEM_KINDS, ItemKind
from ..contract import Manager, MetaManager

if TYPE_CHECKING:
    from ...intent.contract import Embed
    from ...models import Method, Models
    from ..meta_manager import ModelMetaManager
    from ..single_call import SingleCall
    from .model import ModelManager

__all__ = ["agents_tier", "rules_tier", "single_tier"]


def rules_tier() -> tuple[MetaManager, Mapping[ItemKind, Manager]]:
    """The meta-manager and the six managers by rules."""
    from ..rule_managers import rule_managers
    from ..rule_meta_manager import RuleMetaManager
    from .rules.reading import RuleReader

    reader = RuleReader()  # shared, so that a batch is read once
    return RuleMetaManager(reader), rule_managers(reader)


def agents_tier(
    models: Models, method: Method, meta: MetaManager, managers: Mapping[ItemKind, Manager]
) -> tuple[ModelMetaManager | None, dict[ItemKind, ModelManager]]:
    """The meta-manager and the managers by model, those that have one.

    Args:
        meta, managers: those by rules, which do what a model cannot.
    """
    from ..meta_manager import ModelMetaManager
    from .kinds import FORMS
    from .model import ModelManager

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
    from ..single_call import SingleCall

    model = models.of("managers")
    return None if model is None else SingleCall(model, managers, embed, method=method)
