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
    from hexamem.agents.contract import BatchStep as BatchStep
    from hexamem.agents.contract import ManagerInput as ManagerInput
    from hexamem.agents.contract import Proposals as Proposals
    from hexamem.chatting import chat_graph as chat_graph
    from hexamem.config import Settings as Settings
    from hexamem.errors import HexamemError as HexamemError
    from hexamem.experience.exploring import AttemptResult as AttemptResult
    from hexamem.experience.side_effects import mark_side_effects as mark_side_effects
    from hexamem.graphs.experience import ExperienceMiddleware as ExperienceMiddleware
    from hexamem.graphs.experience import add_reflection as add_reflection
    from hexamem.graphs.memory_scope import MemoryScope as MemoryScope
    from hexamem.hiding import redact_messages as redact_messages
    from hexamem.intent.contract import LabelBatch as LabelBatch
    from hexamem.intent.contract import LabeledStep as LabeledStep
    from hexamem.intent.contract import StepView as StepView
    from hexamem.labels import UserLabels as UserLabels
    from hexamem.memory import Memory as Memory
    from hexamem.memory_types import DEFAULT_TYPES as DEFAULT_TYPES
    from hexamem.memory_types import CoreItem as CoreItem
    from hexamem.memory_types import EpisodicItem as EpisodicItem
    from hexamem.memory_types import Hit as Hit
    from hexamem.memory_types import Label as Label
    from hexamem.memory_types import MemoryItem as MemoryItem
    from hexamem.memory_types import MemoryType as MemoryType
    from hexamem.memory_types import Operation as Operation
    from hexamem.memory_types import ProceduralItem as ProceduralItem
    from hexamem.memory_types import Recall as Recall
    from hexamem.memory_types import Remembered as Remembered
    from hexamem.memory_types import ResourceItem as ResourceItem
    from hexamem.memory_types import SemanticItem as SemanticItem
    from hexamem.memory_types import Source as Source
    from hexamem.memory_types import Step as Step
    from hexamem.memory_types import UnregisteredItem as UnregisteredItem
    from hexamem.memory_types import VaultItem as VaultItem
    from hexamem.memory_types import Where as Where
    from hexamem.memory_types.proposals import Evidence as Evidence
    from hexamem.memory_types.proposals import Proposal as Proposal
    from hexamem.middleware import MemoryMiddleware as MemoryMiddleware
    from hexamem.middleware import MiddlewareSettings as MiddlewareSettings
    from hexamem.prompting import PromptSettings as PromptSettings
    from hexamem.retrieval.strategies import STRATEGIES as STRATEGIES
    from hexamem.stores.chroma_store import ChromaStore as ChromaStore
    from hexamem.stores.vectors import VectorStore as VectorStore
    from hexamem.subgraphs import ingest_graph as ingest_graph
    from hexamem.subgraphs import memory_graph as memory_graph
    from hexamem.subgraphs import mirror_items as mirror_items
    from hexamem.subgraphs import research_graph as research_graph
    from hexamem.tools.memory_tools import memory_tools as memory_tools
    from hexamem.tools.vault_middleware import VaultMiddleware as VaultMiddleware
    from hexamem.user import UserMemory as UserMemory

    __version__: str

_NAMES = {
    "hexamem.agents.contract": "BatchStep ManagerInput Proposals",
    "hexamem.chatting": "chat_graph",
    "hexamem.config": "Settings",
    "hexamem.errors": "HexamemError",
    "hexamem.experience.exploring": "AttemptResult",
    "hexamem.experience.side_effects": "mark_side_effects",
    "hexamem.graphs.experience": "ExperienceMiddleware add_reflection",
    "hexamem.graphs.memory_scope": "MemoryScope",
    "hexamem.hiding": "redact_messages",
    "hexamem.intent.contract": "LabelBatch LabeledStep StepView",
    "hexamem.labels": "UserLabels",
    "hexamem.memory": "Memory",
    "hexamem.memory_types": "DEFAULT_TYPES CoreItem EpisodicItem Hit Label MemoryItem MemoryType Operation ProceduralItem Recall "
    "Remembered ResourceItem SemanticItem Source Step UnregisteredItem VaultItem Where",
    "hexamem.memory_types.proposals": "Evidence Proposal",
    "hexamem.middleware": "MemoryMiddleware MiddlewareSettings",
    "hexamem.prompting": "PromptSettings",
    "hexamem.retrieval.strategies": "STRATEGIES",
    "hexamem.stores.chroma_store": "ChromaStore",
    "hexamem.stores.vectors": "VectorStore",
    "hexamem.subgraphs": "ingest_graph memory_graph mirror_items research_graph",
    "hexamem.tools.memory_tools": "memory_tools",
    "hexamem.tools.vault_middleware": "VaultMiddleware",
    "hexamem.user": "UserMemory",
}
"""The public names by the module that has them."""
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'hexamem' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("hexamem")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "0"


def __dir__() -> list[str]:
    return sorted([*globals(), "__version__", *__all__])
