"""The records of Hexamem: steps, intents, pages, items of six kinds, experience, operations, and results."""

from .base import Record, UtcTime, new_id, utc_now
from .experience import Experience, Outcome, Run, RunStep
from .intent import ContextualIntent, Snippet
from .items import (
    ITEM_KINDS,
    CoreItem,
    EpisodicItem,
    ItemKind,
    MemoryItem,
    ProceduralItem,
    ResourceItem,
    SemanticItem,
    Sensitivity,
    Source,
    VaultItem,
    item_from,
)
from .labels import Label, LabelKind, Tier
from .operations import Change, Operation, OperationKind
from .page import LightMemory, Memo, Page, PageWithSteps
from .results import (
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
from .step import Media, Role, Step, ToolCall
from .where import Where

__all__ = [
    "ITEM_KINDS",
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
    "UtcTime",
    "VaultItem",
    "Where",
    "item_from",
    "new_id",
    "utc_now",
]
