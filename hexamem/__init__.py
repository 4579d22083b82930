"""Hexamem: a memory that lasts for LangGraph agents.

    from hexamem import Memory

    with Memory.open("~/.hexamem") as memory:
        alice = memory.user("alice")
        alice.remember("My daughter Mia starts school in Hangzhou on 1 September.")
        print(alice.recall("Where does Mia go to school?").text)

Names are loaded when first used, so importing this costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import Settings
    from .errors import HexamemError
    from .labels import UserLabels
    from .memory import Memory
    from .memory_types import (
        CoreItem,
        EpisodicItem,
        Hit,
        MemoryItem,
        Operation,
        ProceduralItem,
        Recall,
        Remembered,
        ResourceItem,
        SemanticItem,
        Source,
        Step,
        VaultItem,
        Where,
    )
    from .retrieval.strategies import STRATEGIES
    from .user import UserMemory

_HOME = {
    "Settings": ".config",
    "HexamemError": ".errors",
    "Memory": ".memory",
    "UserLabels": ".labels",
    "UserMemory": ".user",
    "STRATEGIES": ".retrieval.strategies",
}

__all__ = [
    "STRATEGIES",
    "CoreItem",
    "EpisodicItem",
    "HexamemError",
    "Hit",
    "Memory",
    "MemoryItem",
    "Operation",
    "ProceduralItem",
    "Recall",
    "Remembered",
    "ResourceItem",
    "SemanticItem",
    "Settings",
    "Source",
    "Step",
    "UserLabels",
    "UserMemory",
    "VaultItem",
    "Where",
]

try:
    __version__ = version("hexamem")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hexamem' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, ".memory_types"), __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
