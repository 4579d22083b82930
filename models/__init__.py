"""The ground of the model tier: chat models by name, structured calls, usage, budgets and token counting.

Names are loaded when first used: counting tokens loads no LangChain, and neither does a memory without a model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hexamem.models.budget import Budget, BudgetRefusal, Reservation
    from hexamem.models.chat_models import AGENTS, Models, open_chat_model
    from hexamem.models.reply_form import Method
    from hexamem.models.retries import RetryPolicy
    from hexamem.models.schemas import ModelReply, check_strict, sent_schemas, strict_schema
    from hexamem.models.structured_call import CallInput, StructuredCall, StructuredResult
    from hexamem.models.tokens import count_tokens
    from hexamem.models.usage import Usage, UsageMeter, UsageRow

_HOMES = {
    "AGENTS": "chat_models",
    "Budget": "budget",
    "BudgetRefusal": "budget",
    "CallInput": "structured_call",
    "Method": "reply_form",
    "ModelReply": "schemas",
    "Models": "chat_models",
    "Reservation": "budget",
    "RetryPolicy": "retries",
    "StructuredCall": "structured_call",
    "StructuredResult": "structured_call",
    "Usage": "usage",
    "UsageMeter": "usage",
    "UsageRow": "usage",
    "check_strict": "schemas",
    "count_tokens": "tokens",
    "open_chat_model": "chat_models",
    "sent_schemas": "schemas",
    "strict_schema": "schemas",
}

__all__ = [
    "AGENTS",
    "Budget",
    "BudgetRefusal",
    "CallInput",
    "Method",
    "ModelReply",
    "Models",
    "Reservation",
    "RetryPolicy",
    "StructuredCall",
    "StructuredResult",
    "Usage",
    "UsageMeter",
    "UsageRow",
    "check_strict",
    "count_tokens",
    "open_chat_model",
    "sent_schemas",
    "strict_schema",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
