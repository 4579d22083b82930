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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chatting import chat_graph
    from .config import Settings
    from .errors import HexamemError
    from .experience.exploring import AttemptResult
    from .experience.side_effects import mark_side_effects
    from .graphs.experience import add_reflection
    from .graphs.experience_middleware import ExperienceMiddleware
    from .hiding import redact_messages
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
    from .middleware import MemoryMiddleware, MiddlewareSettings
    from .prompting import PromptSettings
    from .retrieval.strategies import STRATEGIES
    from .scoping import MemoryScope
    from .stores.chroma_store import ChromaStore
    from .subgraphs import ingest_graph, memory_graph, research_graph
    from .tools.memory_tools import memory_tools
    from .tools.vault_middleware import VaultMiddleware
    from .user import UserMemory

    __version__: str

_HOME = {
    "AttemptResult": ".experience.exploring",
    "ChromaStore": ".stores.chroma_store",
    "ExperienceMiddleware": ".graphs.experience_middleware",
    "MemoryMiddleware": ".middleware",
    "MemoryScope": ".scoping",
    "MiddlewareSettings": ".middleware",
    "PromptSettings": ".prompting",
    "VaultMiddleware": ".tools.vault_middleware",
    "add_reflection": ".graphs.experience",
    "chat_graph": ".chatting",
    "ingest_graph": ".subgraphs",
    "mark_side_effects": ".experience.side_effects",
    "memory_graph": ".subgraphs",
    "memory_tools": ".tools.memory_tools",
    "redact_messages": ".hiding",
    "research_graph": ".subgraphs",
    "Settings": ".config",
    "HexamemError": ".errors",
    "Memory": ".memory",
    "UserLabels": ".labels",
    "UserMemory": ".user",
    "STRATEGIES": ".retrieval.strategies",
}

__all__ = [
    "STRATEGIES",
    "AttemptResult",
    "ChromaStore",
    "CoreItem",
    "EpisodicItem",
    "ExperienceMiddleware",
    "HexamemError",
    "Hit",
    "Memory",
    "MemoryItem",
    "MemoryMiddleware",
    "MemoryScope",
    "MiddlewareSettings",
    "Operation",
    "ProceduralItem",
    "PromptSettings",
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
    "VaultMiddleware",
    "Where",
    "add_reflection",
    "chat_graph",
    "ingest_graph",
    "mark_side_effects",
    "memory_graph",
    "memory_tools",
    "redact_messages",
    "research_graph",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in __all__:
        raise AttributeError(f"module 'hexamem' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, ".memory_types"), __name__), name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("hexamem")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "0"


def __dir__() -> list[str]:
    return sorted([*globals(), "__version__", *__all__])
