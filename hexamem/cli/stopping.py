"""A stream that Ctrl-C leaves at once, though what makes it cannot be broken off: it runs in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

__all__ = ["StoppableStream", "works_on"]

_LOOK = 0.2  # seconds; where a signal does not break a wait, it is seen after so long
_END = object()
_NAME = "hexamem-chat-turn"


class StoppableStream:
    """What a graph streams, made in a thread; iterating gives it, and raises what went wrong there.

    An iteration that an interrupt broke off may be gone on with.

    Args:
        open_stream: begins the stream; is given a callback that ends it, once stopped, at the model's next word.
    """

    def __init__(self, open_stream: Callable[[BaseCallbackHandler], Iterator[Any]]) -> None:
        self._parts: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._error: Exception | None = None
        self._ended = False
        threading.Thread(target=self._fill, args=(open_stream,), name=_NAME, daemon=True).start()

    def __iter__(self) -> Iterator[Any]:
        while not self._ended:
            try:
                part = self._parts.get(timeout=_LOOK)
            except queue.Empty:
                continue
            if part is not _END:
                yield part
                continue
            self._ended = True
            if self._error is not None:
                raise self._error

    def stop(self) -> None:
        """Let what makes the stream end as soon as it can; nobody has to wait for it."""
        self._stopping.set()

    def _fill(self, open_stream: Callable[[BaseCallbackHandler], Iterator[Any]]) -> None:
        try:
            for part in open_stream(_Stops(self._stopping)):
                self._parts.put(part)
        except Exception as error:  # noqa: BLE001 - raised where the stream is read
            self._error = error
        finally:
            self._parts.put(_END)


def works_on() -> bool:
    """Whether a stream still waits for a model, once it was stopped and its chat is over: so would the end of the process."""
    return any(one.name == _NAME for one in threading.enumerate())


class _StoppedError(Exception):
    """Ends a model's call that nobody waits for any more."""


class _Stops(BaseCallbackHandler):
    """Breaks off models and tools once it is to stop."""

    raise_error = True

    def __init__(self, stopping: threading.Event) -> None:
        self._stopping = stopping

    def _look(self) -> None:
        if self._stopping.is_set():
            raise _StoppedError

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self._look()

    def on_llm_new_token(self, *_: Any, **__: Any) -> None:
        self._look()

    def on_llm_end(self, *_: Any, **__: Any) -> None:
        self._look()

    def on_tool_start(self, *_: Any, **__: Any) -> None:
        self._look()
