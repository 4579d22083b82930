"""The records of Hexamem: steps, intents, pages, items of six kinds, experience, operations, and results."""

from hexamem.memory_types.base import Record, UtcTime, new_id, utc_now
from hexamem.memory_types.experience import Experience, Outcome, Run, RunStep
from hexamem.memory_types.intent import ContextualIntent, Snippet
from hexamem.memory_types.items import (
    CoreItem,
    EpisodicItem,
    ItemKind,
    MemoryItem,
    ProceduralItem,
    ResourceItem,
    SemanticItem,
    Sensitivity,
    Source,
    UnregisteredItem,
    VaultItem,
)
from hexamem.memory_types.labels import Label, LabelKind, Tier
from hexamem.memory_types.operations import Change, Operation, OperationKind
from hexamem.memory_types.page import LightMemory, Memo, Page, PageWithSteps
from hexamem.memory_types.registry import DEFAULT_TYPES, MemoryType, TypeRegistry
from hexamem.memory_types.results import (
    EraseReceipt,
    Hit,
    HitKind,
    InducedLabels,
    LabeledSnippet,
    LabelView,
    RankingOperation,
    Recall,
    RedactReceipt,
    Remembered,
    Signal,
)
from hexamem.memory_types.step import Media, Role, Step, ToolCall
from hexamem.memory_types.where import Where

__all__ = [
    "DEFAULT_TYPES",
    "Change",
    "ContextualIntent",
    "CoreItem",
    "EpisodicItem",
    "EraseReceipt",
    "Experience",
    "Hit",
    "HitKind",
    "InducedLabels",
    "ItemKind",
    "Label",
    "LabelKind",
    "LabelView",
    "LabeledSnippet",
    "LightMemory",
    "Media",
    "Memo",
    "MemoryItem",
    "MemoryType",
    "Operation",
    "OperationKind",
    "Outcome",
    "Page",
    "PageWithSteps",
    "ProceduralItem",
    "RankingOperation",
    "Recall",
    "Record",
    "RedactReceipt",
    "Remembered",
    "ResourceItem",
    "Role",
    "Run",
    "RunStep",
    "SemanticItem",
    "Sensitivity",
    "Signal",
    "Snippet",
    "Source",
    "Step",
    "Tier",
    "ToolCall",
    "TypeRegistry",
    "UnregisteredItem",
    "UtcTime",
    "VaultItem",
    "Where",
    "new_id",
    "utc_now",
]
