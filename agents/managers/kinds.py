"""The forms of the six managers by kind."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...memory_types import ItemKind
from .core import CORE
from .episodic import EPISODIC
from .procedural import PROCEDURAL
from .resource import RESOURCE
from .semantic import SEMANTIC
from .shared import ManagerForm
from .vault import VAULT

__all__ = ["FORMS"]

FORMS: Mapping[ItemKind, ManagerForm] = MappingProxyType(
    {form.kind: form for form in (CORE, EPISODIC, SEMANTIC, PROCEDURAL, RESOURCE, VAULT)}
)
