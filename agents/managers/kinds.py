"""The forms of the six managers by kind."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hexamem.agents.managers.core import CORE
from hexamem.agents.managers.episodic import EPISODIC
from hexamem.agents.managers.procedural import PROCEDURAL
from hexamem.agents.managers.resource import RESOURCE
from hexamem.agents.managers.semantic import SEMANTIC
from hexamem.agents.managers.shared import ManagerForm
from hexamem.agents.managers.vault import VAULT
from hexamem.memory_types import ItemKind

__all__ = ["FORMS"]

FORMS: Mapping[ItemKind, ManagerForm] = MappingProxyType(
    {form.kind: form for form in (CORE, EPISODIC, SEMANTIC, PROCEDURAL, RESOURCE, VAULT)}
)
