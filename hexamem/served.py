"""The graphs that ``langgraph.json`` names: ``langgraph dev`` in the checkout serves them over the memory in ``~/.hexamem``.

The memory is opened when a graph is first requested, and closed when the process ends. A run names its user in its
context, ``{"user": "alice"}``. An application with its own home and model writes such a module in a few lines.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from hexamem.chatting import chat_graph
from hexamem.memory import Memory
from hexamem.subgraphs import ingest_graph, memory_graph, research_graph

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]

__all__ = ["chat", "ingest", "memory", "research"]


class _Served:
    """One memory a process, and each graph over it once. Opening reads and writes files, so it is done in a thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._graphs: dict[str, Graph] = {}

    async def graph(self, name: str, make: Callable[[Memory], Graph]) -> Graph:
        """The graph of that name, built at the first request."""
        graph = self._graphs.get(name)
        return graph if graph is not None else await asyncio.to_thread(self._make, name, make)

    def _make(self, name: str, make: Callable[[Memory], Graph]) -> Graph:
        with self._lock:
            if self._memory is None:
                self._memory = Memory.open()
                atexit.register(self._memory.close)
            if name not in self._graphs:
                self._graphs[name] = make(self._memory)
            return self._graphs[name]


_served = _Served()


async def chat() -> Graph:
    """The chat agent; from memory alone, by its evidence."""
    return await _served.graph("chat", chat_graph)


async def memory() -> Graph:
    """Remember what is new in ``messages``, then recall for the last one."""
    return await _served.graph("memory", memory_graph)


async def ingest() -> Graph:
    """Remember what is new in ``messages``."""
    return await _served.graph("ingest", ingest_graph)


async def research() -> Graph:
    """Research a ``question``."""
    return await _served.graph("research", research_graph)
