"""The model tier of a memory: what its chat models do by the settings, and the budget that they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hexamem.config import Settings
from hexamem.errors import ConfigError, HexamemError
from hexamem.home import Home
from hexamem.memory_types.registry import TypeRegistry
from hexamem.models import Budget, UsageMeter
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.ledger.usage import store_usage

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    from hexamem.models import Models
    from hexamem.prompts import PromptLoader

_BATCH, _SINGLE_CALL_BATCH = 10, 30  # steps that are read together
_MANAGERS = ("core", "episodic", "semantic", "procedural", "resource", "vault")


def resolved_settings(settings: Settings, models: Models, strategies: Mapping[str, Strategy]) -> Settings:
    """The settings with their mode and batch size resolved."""
    if settings.strategy not in strategies:
        raise ConfigError(f"Settings.strategy = {settings.strategy!r}: use one of {', '.join(strategies)}")
    mode: Any = settings.mode
    if mode == "auto":
        mode = "embedded" if models.of("managers") is None else "single_call"
    settings = replace(
        settings, mode=mode, batch_size=settings.batch_size or (_SINGLE_CALL_BATCH if mode == "single_call" else _BATCH)
    )
    agents = ("managers", "meta_manager", *(f"{kind}_manager" for kind in _MANAGERS))
    if (mode == "single_call" and models.of("managers") is None) or (
        mode == "agents" and not any(map(models.of, agents))
    ):
        raise ConfigError(
            f"Settings.mode = {mode!r} needs a model: open the memory with model='openai:…' (or models={{'managers': …}}), or "
            "choose 'embedded'"
        )
    return settings


def manager_runnables(managers: Mapping[str, Any] | None, types: TypeRegistry) -> dict[str, Runnable[Any, Any]]:
    """Managers as runnables."""
    if not managers:
        return {}
    from langchain_core.runnables.base import coerce_to_runnable

    runnables: dict[str, Runnable[Any, Any]] = {}
    for kind, manager in managers.items():
        if kind not in types:
            raise ConfigError(f"managers: there is no memory type {kind!r}; use one of {', '.join(types)}")
        try:
            runnables[kind] = coerce_to_runnable(manager)
        except TypeError:
            raise ConfigError(
                f"managers[{kind!r}] = {manager!r}: pass a Runnable or a function that takes a ManagerInput"
            ) from None
    return runnables


class ModelTier:
    """The chat models of a memory, and what they may spend."""

    def __init__(self, home: Home, models: Models, prompts: PromptLoader) -> None:
        """Created by :class:`hexamem.Memory`."""
        settings = home.settings
        self.models, self.prompts, self._home = models, prompts, home
        self.budget = Budget(calls=settings.budget_calls, tokens=settings.budget_tokens)

    @contextmanager
    def metered(self, user: str, operation: str) -> Iterator[UsageMeter]:
        """A meter of model calls. What it holds at the end is added to the user's usage; a failure of that is a notice."""
        meter = UsageMeter(operation)
        try:
            yield meter
        finally:
            try:
                if rows := meter.drain():
                    store_usage(self._home.ledger, user, rows)
            except HexamemError as error:
                self._home.notices.add(user, f"the usage of this {operation} could not be stored: {error}")
