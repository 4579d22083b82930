"""Recording the runs of any LangGraph agent from outside, by callbacks: its code is not touched.

A run begins where the graph is invoked with the handler among its callbacks, and ends where that returns. Each tool call
is a step, with what the model said before it as its thought; calls that name a tool that there is not, which no tool ever
sees, are read off the messages. An interrupt leaves the run open until its thread goes on.
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
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.errors import GraphBubbleUp, GraphRecursionError

from hexamem.errors import HexamemError
from hexamem.experience.trouble import ANSWER
from hexamem.memory_types.experience import OutcomeSource

__all__ = ["Recorder", "RunRecordingHandler", "SideEffectRefused", "task_in"]


class Recorder(Protocol):
    """What a run is written with; :class:`~hexamem.learning.RunRecorder` is one."""

    def step(self, *, thought: str = "", action: str = "", observation: str = "", error: str | None = None) -> object:
        """Write one turn."""

    def finish(
        self, outcome: bool | None = None, *, evidence: str = "", source: OutcomeSource = "environment"
    ) -> object:
        """End the run."""


class SideEffectRefused(HexamemError):
    """A tool with side effects was about to be called in one of several attempts at a task."""


@dataclass(slots=True)
class _Call:
    """A tool call that was begun."""

    action: str
    call_id: str | None


@dataclass(slots=True)
class _Live:
    """A run that is being recorded."""

    recorder: Recorder
    root: UUID
    thread: str | None
    finish: bool = True
    thought: str = ""
    interrupted: bool = False
    calls: dict[UUID, _Call] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # ids of the tool calls that were written
    asked: dict[str, str] = field(default_factory=dict)  # id of a tool call → its action


class RunRecordingHandler(BaseCallbackHandler):
    """Records each invocation of the graph that it is given to, as a run. Safe for several invocations at once.

    Pass it as ``config={"callbacks": [handler]}``. Where recording fails, the agent goes on, and :attr:`degraded` says
    what is missing.

    Args:
        begin: begins a run, given the task; or a recorder that was begun, which is then not finished here.
        task: what to do; read off the input where it is None: the last message of a person, else ``task`` or ``input``.
        outcome: says of the graph's output whether the task was done; None where nobody knows.
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
        """What records the run that a chain belongs to; None where none does."""
        live = self._of(run_id)
        return None if live is None else live.recorder

    # -- the graph ----------------------------------------------------------------------------------------------

    def on_chain_start(
        self, serialized: dict[str, Any] | None, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """The outermost chain begins the run; what runs inside belongs to it."""
        with self._lock:
            if parent_run_id in self._roots:
                self._roots[run_id] = self._roots[parent_run_id]
                return
            thread = (metadata or {}).get("thread_id")
            thread = None if thread is None else str(thread)
            self._roots[run_id] = run_id
            going_on = self._paused.pop(thread, None) if thread is not None else None
        if going_on is not None:
            going_on.root, going_on.interrupted = run_id, False
            live: _Live | None = going_on
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
        self._unseen(live, messages)
        if live.interrupted or (isinstance(outputs, Mapping) and "__interrupt__" in outputs):
            if live.thread is not None:
                with self._lock:
                    self._paused[live.thread] = live
            return
        last = messages[-1] if messages else None
        if isinstance(last, AIMessage) and not last.tool_calls and last.text.strip():
            self._write(live, action=ANSWER, observation=last.text)
        if live.finish:
            told = None if self._outcome is None else self._outcome(outputs)
            self._try(lambda: live.recorder.finish(told))

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A graph that used up its steps failed; whatever else ends it leaves the run unfinished, with the error."""
        if isinstance(error, GraphBubbleUp):
            found = self._of(run_id)
            if found is not None:
                found.interrupted = True
        live = self._ended(run_id)
        if live is None or isinstance(error, GraphBubbleUp | GeneratorExit):
            return
        self._write(live, error=f"{type(error).__name__}: {error}")
        if live.finish and isinstance(error, GraphRecursionError):
            self._try(lambda: live.recorder.finish(False, evidence="it did not end within the graph's limit of steps"))

    # -- the model ----------------------------------------------------------------------------------------------

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID,
        parent_run_id: UUID | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Tool results that no tool told of are read off what the model is shown."""
        live = self._of(parent_run_id)
        if live is not None:
            for one in messages:
                self._unseen(live, one)

    def on_llm_end(
        self, response: LLMResult, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """What the model said is the thought of its first tool call."""
        live = self._of(parent_run_id)
        first = response.generations[0][0] if response.generations and response.generations[0] else None
        if live is None or not isinstance(first, ChatGeneration) or not isinstance(first.message, AIMessage):
            return
        with self._lock:
            live.thought = first.message.text
            for call in first.message.tool_calls:
                live.asked[call["id"] or ""] = _action(call["name"], call["args"])
            for bad in first.message.invalid_tool_calls:
                live.asked[bad["id"] or ""] = f"{bad['name']}({bad['args'] or ''})"

    # -- the tools ----------------------------------------------------------------------------------------------

    def on_tool_start(
        self, serialized: dict[str, Any] | None, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """A tool is called."""
        name = (serialized or {}).get("name") or kwargs.get("name") or "tool"
        if name in self._forbidden:
            raise SideEffectRefused(
                f"{name} was not called: it has side effects, and several attempts at the task are made; use the tools "
                "of the attempt, or explore with mode='sequential'"
            )
        live = self._of(parent_run_id)
        if live is not None:
            with self._lock:
                self._roots[run_id] = live.root
                live.calls[run_id] = _Call(_action(name, inputs or input_str), kwargs.get("tool_call_id"))

    def on_tool_end(self, output: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        """What it brought."""
        results = [one for one in _messages(output) if isinstance(one, ToolMessage)]
        text = "\n".join(one.text for one in results) if results else _plain(output)
        failed = any(one.status == "error" for one in results)
        self._called(run_id, **({"error": text or "error"} if failed else {"observation": text}))

    def on_tool_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """How it failed. An interrupt is no failure."""
        if isinstance(error, GraphBubbleUp):
            with self._lock:
                live = self._of(run_id)
                if live is not None:
                    live.calls.pop(run_id, None)
            return
        self._called(run_id, error=f"{type(error).__name__}: {error}")

    def _called(self, run_id: UUID, **said: str) -> None:
        with self._lock:
            live = self._of(run_id)
            call = live.calls.pop(run_id, None) if live is not None else None
            if live is None or call is None:
                return
            if call.call_id:
                live.seen.add(call.call_id)
        self._write(live, action=call.action, **said)

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
            self._roots = {one: root for one, root in self._roots.items() if root != run_id}
            return self._live.pop(run_id, None)

    def _unseen(self, live: _Live, messages: Sequence[BaseMessage]) -> None:
        """Write the results of calls of this run that reached no tool, such as of a tool that there is not."""
        for one in messages:
            if not isinstance(one, ToolMessage):
                continue
            with self._lock:
                action = live.asked.get(one.tool_call_id)
                known = action is None or one.tool_call_id in live.seen or any(live.calls)
                if not known:
                    live.seen.add(one.tool_call_id)
            if not known and action is not None:
                said = {"error": one.text} if one.status == "error" else {"observation": one.text}
                self._write(live, action=action, **said)

    def _write(self, live: _Live, **said: str) -> None:
        with self._lock:
            thought, live.thought = live.thought, ""
        if said.get("action") == ANSWER:
            thought = ""
        self._try(lambda: live.recorder.step(thought=thought, **said))

    def _try(self, work: Callable[[], object]) -> None:
        try:
            work()
        except HexamemError as error:
            self.degraded.append(f"recording: {error}")


def task_in(inputs: Any) -> str:
    """The task in a graph's input: the last message of a person, else ``task``, ``input`` or ``question``; "" for none."""
    if isinstance(inputs, str):
        return inputs.strip()
    people = [one for one in _messages(inputs) if isinstance(one, HumanMessage)]
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
    held = value.get("messages") if isinstance(value, Mapping) else None
    if held is None and isinstance(update, Mapping):
        held = update.get("messages")
    if held is None and isinstance(value, list) and all(isinstance(one, BaseMessage) for one in value):
        held = value
    if held is None:
        return []
    held = held if isinstance(held, list | tuple) else [held]
    try:
        return convert_to_messages(held)
    except (ValueError, TypeError, NotImplementedError):
        return [one for one in held if isinstance(one, BaseMessage)]


def _action(name: str, arguments: Any) -> str:
    if isinstance(arguments, Mapping):
        return f"{name}({_plain(dict(arguments))})"
    return f"{name}({arguments})"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=lambda one: f"<{type(one).__name__}>")
    except (TypeError, ValueError):
        return str(value)
