"""The graphs that ``langgraph.json`` names: ``langgraph dev`` in the checkout serves them over the memory in ``~/.hexamem``.

The memory is opened when a graph is first requested, and closed when the process ends. A run names its user in its
context, ``{"user": "alice"}``. An application with its own home and model writes such a module in a few lines.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hexamem.chatting import chat_graph
from hexamem.memory import Memory
from hexamem.once import once
from hexamem.subgraphs import ingest_graph, memory_graph, research_graph

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

__all__ = ["chat", "ingest", "memory", "research"]


@once
def _memory() -> Memory:
    opened = Memory.open()
    atexit.register(opened.close)
    return opened


@once
def _graph(build: Callable[[Memory], CompiledStateGraph[Any, Any, Any, Any]]) -> Any:
    return build(_memory())


async def chat() -> Any:
    """The chat agent; from memory alone, by its evidence."""
    return await asyncio.to_thread(_graph, chat_graph)


async def memory() -> Any:
    """Remember what is new in ``messages``, then recall for the last one."""
    return await asyncio.to_thread(_graph, memory_graph)


async def ingest() -> Any:
    """Remember what is new in ``messages``."""
    return await asyncio.to_thread(_graph, ingest_graph)


async def research() -> Any:
    """Research a ``question``."""
    return await asyncio.to_thread(_graph, research_graph)
