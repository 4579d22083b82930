"""The two memories that ``qa_peers.py`` compares, with the same methods: ``store`` a batch of turns, ``memories`` of a question.

Each has the settings that it has by default. The first speaker of a conversation is the memory's user.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from hexamem import Memory, Settings
from hexamem.evals.answers import ABSTAINED
from hexamem.evals.records import EvalMessage
from hexamem.models import Usage, count_tokens
from hexamem.models.encoder import Encoder
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.encoder import EncoderEmbedder

__all__ = ["EmbedderOfPeers", "HexamemStore", "Mem0Store"]

Sessions = Mapping[str, Sequence[EvalMessage]]


class HexamemStore:
    """A home of Hexamem. Each session is processed when it ends.

    Attributes:
        batches: name and turns of what is stored at a time: the sessions.
    """

    def __init__(
        self, folder: Path, user: str, sessions: Sessions, model: BaseChatModel, researcher: BaseChatModel
    ) -> None:
        self._memory = Memory.open(
            folder / "hexamem",
            model=model,
            models={"researcher": researcher},
            settings=Settings(mode="single_call", background=False),
        )
        self._user = self._memory.user(user)
        self.batches = list(sessions.items())
        self.close = self._memory.close

    def store(self, name: str, turns: Sequence[EvalMessage]) -> tuple[Usage, list[str]]:
        """Store a batch; returns its cost, and a line for each fallback.

        Raises:
            RuntimeError: if it could not be processed.
        """
        budget, noticed = self._memory.model_tier.budget, len(self._memory.notices)
        before = asdict(budget.spent)
        self._user.remember([turn.as_message() for turn in turns], thread_id=name)
        while not self._memory.flush():
            if parked := [job.error for job in self._memory.jobs() if job.status == "parked"]:
                raise RuntimeError(f"{name} is stored but not processed: {parked[0]}")
            time.sleep(1)
        usage = Usage(**{key: value - before[key] for key, value in asdict(budget.spent).items()})
        return usage, self._memory.notices[noticed:]

    def memories(self, question: str) -> str:
        """The text of one recall."""
        return self._user.recall(question).text

    def research(self, question: str) -> tuple[str, dict[str, Any]]:
        """The answer of one research, with its cost and details."""
        result = self._user.research(question, tier="auto")
        usage = {name: getattr(result.usage, name) for name in ("calls", "input_tokens", "output_tokens")}
        details = {"tier": result.tier, "rounds": len(result.rounds), "degraded": list(result.degraded)}
        return result.answer if result.answerable else ABSTAINED, {**usage, **details}


class Mem0Store:
    """A memory of mem0 2.x, for one user, in an embedded Qdrant, with vectors of Hexamem's encoder; telemetry is off.

    As its prompt expects of two people, the first speaker has role ``user`` and the second ``assistant``, and each text
    begins with the name. ``add`` has no parameter for the time of messages, and its prompt names today as their date: the
    time of the session is passed as an instruction of the call, which the prompt ranks highest, and as ``created_at``.

    Attributes:
        batches: name and turns of what is stored at a time: at most ``size`` turns of a session.
    """

    def __init__(
        self, folder: Path, user: str, sessions: Sessions, *, model: str, url: str | None, timeout: float, size: int
    ) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder.parent / "mem0")}  # read when it is imported
        from mem0 import Memory as Mem0

        # An encoder of its own: vectors differ slightly by the texts that are embedded together, and cached ones of another
        # memory would change the order of results from run to run.
        encoder, self._usage, self._lock = EmbedderOfPeers(EncoderEmbedder(Encoder())), Usage(), threading.Lock()
        llm = {
            "model": model,
            "openai_base_url": url,
            "api_key": os.environ.get("OPENAI_API_KEY") or "no-key-needed",
            "response_callback": self._count,
        }
        vectors = {"path": str(folder / "mem0"), "embedding_model_dims": encoder.dimension, "on_disk": True}
        self._memory = Mem0.from_config(
            {
                "llm": {"provider": "openai", "config": llm},
                "embedder": {"provider": "langchain", "config": {"model": encoder}},
                "vector_store": {"provider": "qdrant", "config": vectors},
                "history_db_path": str(folder / "mem0_history.db"),
            }
        )
        self._memory.llm.client = self._memory.llm.client.with_options(timeout=timeout)
        self._id, self._first = folder.name, user
        self.batches = [
            (f"{name} from turn {start + 1}", turns[start : start + size])
            for name, turns in sessions.items()
            for start in range(0, len(turns), size)
        ]

    def close(self) -> None:
        """Release its files."""
        self._memory.vector_store.client.close()
        self._memory.close()

    def store(self, name: str, turns: Sequence[EvalMessage]) -> tuple[Usage, list[str]]:
        """Store a batch by one ``add``; returns its cost and no fallbacks."""
        self._usage, prompt, metadata = Usage(), None, {}
        if when := turns[0].timestamp:
            prompt = (
                f"The new messages were written on {datetime.fromisoformat(when):%A, %d %B %Y, at %H:%M}. This is their "
                "Observation Date: resolve relative times from it, whatever date is shown above."
            )
            metadata = {"created_at": when}
        messages = [
            {
                "role": "user" if turn.name == self._first else "assistant",
                "content": f"{turn.name}: {turn.content}"
                + (f" [Shared photo: {turn.caption}]" if turn.caption else ""),
            }
            for turn in turns
        ]
        self._memory.add(messages, user_id=self._id, metadata=metadata, prompt=prompt)
        return self._usage, []

    def memories(self, question: str) -> str:
        """What one search returns, the best first, each with its time."""
        with self._lock:  # an embedded Qdrant is not made for several threads
            results = self._memory.search(question, filters={"user_id": self._id})["results"]
        return "\n".join(f"[{str(hit['created_at'])[:16].replace('T', ' ')}] {hit['memory']}" for hit in results)

    def _count(self, _: object, response: Any, request: dict[str, Any]) -> None:
        used = response.usage
        read = used.prompt_tokens if used else count_tokens(str(request["messages"]))
        written = used.completion_tokens if used else count_tokens(response.choices[0].message.content or "")
        self._usage += Usage(calls=1, input_tokens=read, output_tokens=written)


class EmbedderOfPeers(Embeddings):
    """An embedder of Hexamem as LangChain embeddings."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.dimension = embedder.dimension

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector.tolist() for vector in self._embedder.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [float(value) for value in self._embedder.embed_query(text)]
