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
from pathlib import Path
from typing import TYPE_CHECKING, Any

# In a checkout the packages lie beside this one; `python` started there then finds them however hexamem is installed.
_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "memory_types").is_dir():
    __path__.append(str(_checkout))

if TYPE_CHECKING:
    from hexamem.agents.contract import BatchStep, ManagerInput, Proposals
    from hexamem.chatting import chat_graph
    from hexamem.config import Settings
    from hexamem.errors import HexamemError
    from hexamem.experience.exploring import AttemptResult
    from hexamem.experience.side_effects import mark_side_effects
    from hexamem.graphs.experience import ExperienceMiddleware, add_reflection
    from hexamem.graphs.memory_scope import MemoryScope
    from hexamem.hiding import redact_messages
    from hexamem.intent.contract import LabelBatch, LabeledStep, StepView
    from hexamem.labels import UserLabels
    from hexamem.memory import Memory
    from hexamem.memory_types import (
        DEFAULT_TYPES,
        CoreItem,
        EpisodicItem,
        Hit,
        Label,
        MemoryItem,
        MemoryType,
        Operation,
        ProceduralItem,
        Recall,
        Remembered,
        ResourceItem,
        SemanticItem,
        Source,
        Step,
        UnregisteredItem,
        VaultItem,
        Where,
    )
    from hexamem.memory_types.proposals import Evidence, Proposal
    from hexamem.middleware import MemoryMiddleware, MiddlewareSettings
    from hexamem.prompting import PromptSettings
    from hexamem.retrieval.strategies import STRATEGIES
    from hexamem.stores.chroma_store import ChromaStore
    from hexamem.stores.vectors import VectorStore
    from hexamem.subgraphs import ingest_graph, memory_graph, research_graph
    from hexamem.tools.memory_tools import memory_tools
    from hexamem.tools.vault_middleware import VaultMiddleware
    from hexamem.user import UserMemory

    __version__: str

_HOME = {
    "BatchStep": ".agents.contract",
    "Evidence": ".memory_types.proposals",
    "ManagerInput": ".agents.contract",
    "Proposal": ".memory_types.proposals",
    "Proposals": ".agents.contract",
    "AttemptResult": ".experience.exploring",
    "ChromaStore": ".stores.chroma_store",
    "VectorStore": ".stores.vectors",
    "ExperienceMiddleware": ".graphs.experience",
    "MemoryMiddleware": ".middleware",
    "MemoryScope": ".graphs.memory_scope",
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
    "LabelBatch": ".intent.contract",
    "LabeledStep": ".intent.contract",
    "StepView": ".intent.contract",
}

__all__ = [
    "DEFAULT_TYPES",
    "STRATEGIES",
    "AttemptResult",
    "BatchStep",
    "ChromaStore",
    "CoreItem",
    "EpisodicItem",
    "Evidence",
    "ExperienceMiddleware",
    "HexamemError",
    "Hit",
    "Label",
    "LabelBatch",
    "LabeledStep",
    "ManagerInput",
    "Memory",
    "MemoryItem",
    "MemoryMiddleware",
    "MemoryScope",
    "MemoryType",
    "MiddlewareSettings",
    "Operation",
    "ProceduralItem",
    "PromptSettings",
    "Proposal",
    "Proposals",
    "Recall",
    "Remembered",
    "ResourceItem",
    "SemanticItem",
    "Settings",
    "Source",
    "Step",
    "StepView",
    "UnregisteredItem",
    "UserLabels",
    "UserMemory",
    "VaultItem",
    "VaultMiddleware",
    "VectorStore",
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
