"""Records the runs of any LangGraph agent by callbacks, without a change to its code.

A run begins when the graph is invoked with the handler among its callbacks, and ends when that returns. Each tool call
is a step, with the model's text before it as its thought; they are read from the messages, when a model is shown them and
at the end. An interrupt leaves the run open until its thread is resumed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, convert_to_messages
from langgraph.errors import GraphBubbleUp, GraphRecursionError

from hexamem.errors import HexamemError
from hexamem.experience.trouble import ANSWER
from hexamem.memory_types.experience import OutcomeSource


class Recorder(Protocol):
    """Writes a run; :class:`~hexamem.learning.RunRecorder` is one."""

    def step(self, *, thought: str = "", action: str = "", observation: str = "", error: str | None = None) -> object:
        """Write one turn."""

    def finish(
        self, outcome: bool | None = None, *, evidence: str = "", source: OutcomeSource = "environment"
    ) -> object:
        """End the run."""


class SideEffectRefused(HexamemError):
    """A tool with side effects was about to be called in one of several attempts at a task."""


@dataclass(slots=True)
class _Live:
    """A run that is being recorded."""

    recorder: Recorder
    root: UUID
    thread: str | None
    finish: bool = True
    interrupted: bool = False
    began: bool = False  # whether a model was called
    written: set[str] = field(
        default_factory=set
    )  # ids of tool calls that are steps, or of earlier turns of the thread


class RunRecordingHandler(BaseCallbackHandler):
    """Records each invocation of a graph as a run. Safe for several invocations at once.

    Pass it as ``config={"callbacks": [handler]}``. If recording fails, the agent continues, and :attr:`degraded` says
    what is missing.

    Args:
        begin: starts a run, given the task; or a recorder of a started run, which is then not finished here.
        task: the task; when None it is read from the input: the last human message, else ``task``, ``input`` or
            ``question``.
        outcome: returns whether the task was done, given the graph's output; None if that is unknown.
        forbidden: names of tools that must not be called: the call raises :class:`SideEffectRefused`.
    """

    def __init__(
        self,
        begin: Callable[[str], Recorder] | Recorder,
        *,
        task: str | None = None,
        outcome: Callable[[Any], bool | None] | None = None,
        forbidden: Sequence[str] = (),
    ) -> None:
        self._begin, self._task, self._outcome = begin, task, outcome
        self._forbidden = frozenset(forbidden)
        self.raise_error = bool(forbidden)
        self.degraded: list[str] = []
        self._lock = threading.RLock()
        self._roots: dict[UUID, UUID] = {}
        self._live: dict[UUID, _Live] = {}
        self._paused: dict[str, _Live] = {}

    def recorder_of(self, run_id: UUID | None) -> Recorder | None:
        """The recorder of the run that a chain belongs to; None if it is not recorded."""
        live = self._of(run_id)
        return None if live is None else live.recorder

    # -- the graph ----------------------------------------------------------------------------------------------

    def on_chain_start(
        self, serialized: dict[str, Any] | None, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """The outermost chain starts the run; nested chains belong to it."""
        with self._lock:
            if parent_run_id in self._roots:
                self._roots[run_id] = self._roots[parent_run_id]
                return
            thread = (metadata or {}).get("thread_id")
            thread = None if thread is None else str(thread)
            self._roots[run_id] = run_id
            resumed = self._paused.pop(thread, None) if thread is not None else None
        if resumed is not None:
            resumed.root, resumed.interrupted = run_id, False
            live: _Live | None = resumed
        else:
            live = self._started(inputs, run_id, thread)
        if live is not None:
            with self._lock:
                self._live[run_id] = live

    def _started(self, inputs: Any, run_id: UUID, thread: str | None) -> _Live | None:
        if not callable(self._begin):
            return _Live(recorder=self._begin, root=run_id, thread=thread, finish=False)
        task = self._task or task_in(inputs)
        if not task:
            self.degraded.append("a run was not recorded: its input names no task; give the handler task='…'")
            return None
        try:
            return _Live(recorder=self._begin(task), root=run_id, thread=thread)
        except HexamemError as error:
            self.degraded.append(f"a run was not recorded: {error}")
            return None

    def on_chain_end(self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        """The end of the outermost chain is the end of the run, unless it was interrupted."""
        live = self._ended(run_id)
        if live is None:
            return
        messages = _messages(outputs)
        self._called(live, messages)
        if live.interrupted or (isinstance(outputs, Mapping) and "__interrupt__" in outputs):
            if live.thread is not None:
                with self._lock:
                    self._paused[live.thread] = live
            return
        last = messages[-1] if messages else None
        if isinstance(last, AIMessage) and not last.tool_calls and last.text.strip():
            self._write(live, action=ANSWER, observation=last.text)
        if live.finish:
            outcome = None if self._outcome is None else self._outcome(outputs)
            self._try(lambda: live.recorder.finish(outcome))

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A graph that reached its recursion limit has failed; any other error leaves the run unfinished, with the error."""
        if isinstance(error, GraphBubbleUp):
            interrupted = self._of(run_id)
            if interrupted is not None:
                interrupted.interrupted = True
        live = self._ended(run_id)
        if live is None or isinstance(error, GraphBubbleUp | GeneratorExit):
            return
        self._write(live, error=f"{type(error).__name__}: {error}")
        if live.finish and isinstance(error, GraphRecursionError):
            self._try(lambda: live.recorder.finish(False, evidence="it did not end within the graph's limit of steps"))

    # -- the model and the tools --------------------------------------------------------------------------------

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID,
        parent_run_id: UUID | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Write the tool calls since the last call of a model, which is shown their results."""
        live = self._of(parent_run_id)
        if live is None:
            return
        shown = [message for batch in messages for message in batch]
        with self._lock:
            if not live.began:  # the thread may hold earlier turns
                live.began = True
                live.written |= {message.tool_call_id for message in shown if isinstance(message, ToolMessage)}
        self._called(live, shown)

    def on_tool_start(
        self, serialized: dict[str, Any] | None, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        """A tool call starts; refused if the tool is forbidden."""
        name = (serialized or {}).get("name") or kwargs.get("name") or "tool"
        if name in self._forbidden:
            raise SideEffectRefused(
                f"{name} was not called: it has side effects, and several attempts at the task are made; use the tools "
                "of the attempt, or explore with mode='sequential'"
            )

    def see(self, run_id: UUID | None, messages: Sequence[BaseMessage]) -> None:
        """Write the tool calls in the messages of a node of a run that are not written yet."""
        if (live := self._of(run_id)) is not None:
            self._called(live, messages)

    # -- inside -------------------------------------------------------------------------------------------------

    def _of(self, run_id: UUID | None) -> _Live | None:
        with self._lock:
            root = self._roots.get(run_id) if run_id is not None else None
            return self._live.get(root) if root is not None else None

    def _ended(self, run_id: UUID) -> _Live | None:
        """The run that ends with this chain, if it is an outermost one."""
        with self._lock:
            if self._roots.get(run_id) != run_id:
                self._roots.pop(run_id, None)
                return None
            self._roots = {chain: root for chain, root in self._roots.items() if root != run_id}
            return self._live.pop(run_id, None)

    def _called(self, live: _Live, messages: Sequence[BaseMessage]) -> None:
        """Write a step for each tool call whose result is in the messages; the model's text is the first one's thought."""
        actions: dict[str, tuple[str, str]] = {}  # id of a tool call → its action and thought
        for message in messages:
            if isinstance(message, AIMessage):
                thought = str(message.text)
                for call in (*message.tool_calls, *message.invalid_tool_calls):
                    actions[call["id"] or ""] = _action(call["name"] or "tool", call["args"] or ""), thought
                    thought = ""
            elif isinstance(message, ToolMessage) and message.tool_call_id in actions:
                with self._lock:
                    known = message.tool_call_id in live.written
                    live.written.add(message.tool_call_id)
                if not known:
                    action, thought = actions[message.tool_call_id]
                    result = (
                        {"error": message.text or "error"}
                        if message.status == "error"
                        else {"observation": message.text}
                    )
                    self._write(live, thought=thought, action=action, **result)

    def _write(self, live: _Live, **fields: str) -> None:
        self._try(lambda: live.recorder.step(**fields))

    def _try(self, work: Callable[[], object]) -> None:
        try:
            work()
        except HexamemError as error:
            self.degraded.append(f"recording: {error}")


def task_in(inputs: Any) -> str:
    """The task in a graph's input: the last human message, else ``task``, ``input`` or ``question``; "" for none."""
    if isinstance(inputs, str):
        return inputs.strip()
    people = [message for message in _messages(inputs) if isinstance(message, HumanMessage)]
    if people:
        return people[-1].text.strip()
    if isinstance(inputs, Mapping):
        for name in ("task", "input", "question"):
            if isinstance(inputs.get(name), str):
                return str(inputs[name]).strip()
    return ""


def _messages(value: Any) -> list[BaseMessage]:
    """The messages in a graph's input or output, in a tool's output or in a command."""
    if isinstance(value, BaseMessage):
        return [value]
    update = getattr(value, "update", None)
    messages = value.get("messages") if isinstance(value, Mapping) else None
    if messages is None and isinstance(update, Mapping):
        messages = update.get("messages")
    if messages is None and isinstance(value, list) and all(isinstance(message, BaseMessage) for message in value):
        messages = value
    if messages is None:
        return []
    messages = messages if isinstance(messages, list | tuple) else [messages]
    try:
        return convert_to_messages(messages)
    except (ValueError, TypeError, NotImplementedError):
        return [message for message in messages if isinstance(message, BaseMessage)]


def _action(name: str, arguments: Any) -> str:
    if isinstance(arguments, Mapping):
        return f"{name}({_plain(dict(arguments))})"
    return f"{name}({arguments})"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=lambda part: f"<{type(part).__name__}>")
    except (TypeError, ValueError):
        return str(value)
