"""The ground of the model tier: chat models by name, structured calls, usage, budgets and token counting.

Names are loaded when first used: counting tokens loads no LangChain, and neither does a memory without a model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hexamem.models.budget import Budget as Budget
    from hexamem.models.budget import BudgetRefusal as BudgetRefusal
    from hexamem.models.budget import Reservation as Reservation
    from hexamem.models.chat_models import AGENTS as AGENTS
    from hexamem.models.chat_models import Models as Models
    from hexamem.models.chat_models import open_chat_model as open_chat_model
    from hexamem.models.reply_form import Method as Method
    from hexamem.models.retries import RetryPolicy as RetryPolicy
    from hexamem.models.schemas import ModelReply as ModelReply
    from hexamem.models.schemas import strict_schema as strict_schema
    from hexamem.models.structured_call import CallInput as CallInput
    from hexamem.models.structured_call import StructuredCall as StructuredCall
    from hexamem.models.structured_call import StructuredResult as StructuredResult
    from hexamem.models.tokens import count_tokens as count_tokens
    from hexamem.models.usage import Usage as Usage
    from hexamem.models.usage import UsageMeter as UsageMeter
    from hexamem.models.usage import UsageRow as UsageRow

_MODULES = {
    "budget": ("Budget", "BudgetRefusal", "Reservation"),
    "chat_models": ("AGENTS", "Models", "open_chat_model"),
    "reply_form": ("Method",),
    "retries": ("RetryPolicy",),
    "schemas": ("ModelReply", "strict_schema"),
    "structured_call": ("CallInput", "StructuredCall", "StructuredResult"),
    "tokens": ("count_tokens",),
    "usage": ("Usage", "UsageMeter", "UsageRow"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
