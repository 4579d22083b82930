"""A memory manager with a chat model: a tool-calling agent that collects proposals on items of one type.

It is made by LangChain's ``create_agent`` from the type's :class:`~hexamem.agents.managers.forms.ItemOperation`; there
is no code per type. Its tools write nothing to memory: each call is checked, and either appends an operation to the
agent's state or returns its problems to the model. Only ``apply`` writes.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NotRequired

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelCallLimitMiddleware,
    ModelRequest,
    ModelResponse,
    ToolCallLimitMiddleware,
    hook_config,
)
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.types import Command
from pydantic import Field, create_model

from hexamem.agents.contract import Batch, Instruction, Manager, Proposals
from hexamem.agents.managers.forms import ItemOperation
from hexamem.agents.managers.prompting import manager_prompt
from hexamem.agents.managers.reading import Reading
from hexamem.agents.managers.showing import shown_before, shown_items, shown_steps, shown_task
from hexamem.errors import ConfigError
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.models.budget import BudgetRefusal
from hexamem.models.chat_models import without_own_retries
from hexamem.models.model_requests import ModelRequests, Outcome, Terms
from hexamem.models.replies import problem_of, written_text
from hexamem.models.reply_form import calls_tools
from hexamem.models.retries import Failure
from hexamem.prompts import PromptLoader, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    from hexamem.models import Budget, RetryPolicy, UsageMeter

__all__ = ["ManagerAgent", "ManagerContext"]

_MODEL_CALLS, _TOOL_CALLS, _SEARCHES = 6, 60, 4
_ARGUMENTS = {
    "add": ("step", "quote", "ends"),
    "update": ("step", "quote", "target"),
    "supersede": ("step", "quote", "target", "ends"),
    "merge": ("step", "quote", "target", "merged"),
    "remove": ("step", "quote", "target"),
}
_DESCRIPTIONS = {
    "add": "Propose a new item.",
    "update": "Propose to correct a known item, or to add to it: only the fields that change.",
    "supersede": "Propose a complete new item in place of a known one that was so until now.",
    "merge": "Propose to join known items that say the same into target, with the fields that change.",
    "remove": "Propose to remove a known item that never was so or is no longer wanted.",
}


@dataclass(frozen=True, kw_only=True)
class ManagerContext:
    """The context of one run of a manager's graph.

    Attributes:
        reading: the input of the model, against which its proposals are checked.
        search: query → known items of the type by id, the nearest first.
        terms: the budget and the usage meter of its requests.
        escape: escapes text from outside for use in a message.
    """

    reading: Reading
    search: Callable[[str], Mapping[str, MemoryItem]]
    terms: Terms
    escape: Callable[[str], str]


class ManagerState(AgentState[Any]):
    """The state of a manager's graph.

    Attributes:
        operations: proposed so far.
        found: results of searches that are not listed in the prompt, by id.
        failed: why there is no further reply of the model; empty or missing where there is one.
    """

    operations: Annotated[list[ItemOperation], operator.add]
    found: Annotated[dict[str, MemoryItem], operator.or_]
    failed: NotRequired[str]


class ManagerAgent:
    """The manager of one type.

    Args:
        form: the schema of its operations.
        model: a chat model that calls tools. It is not changed.
        fallback: proposes items where the model proposes nothing usable; None for none.
        prompts: loads the prompt.
        retries: which failed requests are retried, and when.

    Attributes:
        graph: the agent, a compiled LangGraph graph over :class:`ManagerState`.
        config: the config with which it is invoked: a bound on its steps, and no streaming of its messages.

    Raises:
        ConfigError: the model does not call tools.
    """

    config: ClassVar[RunnableConfig] = {"recursion_limit": 10 * _MODEL_CALLS, "tags": ["nostream"]}

    def __init__(
        self,
        form: type[ItemOperation],
        model: BaseChatModel,
        fallback: Manager | None,
        *,
        prompts: PromptLoader = load_prompt,
        retries: RetryPolicy | None = None,
    ) -> None:
        if not calls_tools(model):
            raise ConfigError(
                f"Settings.mode = 'agents': the model of {form.agent()} is {type(model).__name__}, which calls no tools; "
                "pass a model that does, or set mode = 'single_call'"
            )
        self.form, self.fallback, self.agent = form, fallback, form.agent()
        self.kind: ItemKind = form.kind
        self._prompt = manager_prompt(form, prompts)
        tools = [_search_tool(), *(_proposing_tool(form, name) for name in _ARGUMENTS)]
        middleware: list[AgentMiddleware[Any, ManagerContext, Any]] = [
            BudgetedModel(ModelRequests(model, agent=self.agent, retries=retries), tools),
            ModelCallLimitMiddleware(run_limit=_MODEL_CALLS),
            ToolCallLimitMiddleware(run_limit=_TOOL_CALLS),
            ToolCallLimitMiddleware(tool_name="search_memory", run_limit=_SEARCHES),
        ]
        self.graph: CompiledStateGraph[Any, ManagerContext, Any, Any] = create_agent(
            without_own_retries(model),
            tools,
            middleware=middleware,
            state_schema=ManagerState,
            context_schema=ManagerContext,
            name=self.agent,
        )

    def prepare(
        self,
        batch: Batch,
        instruction: Instruction,
        nearest: Mapping[str, MemoryItem],
        search: Callable[[str], Mapping[str, MemoryItem]] = lambda query: {},
        budget: Budget | None = None,
        usage: UsageMeter | None = None,
    ) -> tuple[dict[str, Any], ManagerContext]:
        """The input and the context of a run of the graph on a batch.

        Args:
            nearest: known items of the type by id, the nearest first.
            search: see :class:`ManagerContext`.
            budget: what the run may spend; None for no limit.
            usage: the meter to which its cost is added.
        """
        reading = Reading(
            form=self.form, batch=batch, instruction=instruction, nearest=nearest, restore=self._prompt.restore
        )
        messages = self._prompt.render(
            task=shown_task(batch, instruction),
            items=shown_items(reading),
            earlier=shown_before(batch),
            steps=shown_steps(batch),
            most=reading.most,
            kind=self.kind,
        )
        terms = Terms(budget=budget, usage=usage, operation="manage")
        state = {"messages": messages, "operations": [], "found": {}}
        return state, ManagerContext(reading=reading, search=search, terms=terms, escape=self._prompt.escape)

    def finish(self, state: Mapping[str, Any], context: ManagerContext) -> Proposals:
        """The proposals of a run; those of the fallback where the run ended without a usable one."""
        operations: list[ItemOperation] = state["operations"]
        messages: list[BaseMessage] = state["messages"]
        notes = [state["failed"]] if state.get("failed") else []
        # At the limit the middleware appends a message of its own.
        if sum(isinstance(message, AIMessage) for message in messages) > _MODEL_CALLS:
            notes.append(f"stopped after {_MODEL_CALLS} model calls")
        replies = [message for message in messages if isinstance(message, AIMessage)]
        if not notes and not any(message.tool_calls for message in replies):
            text = str(replies[-1].text).strip() if replies else ""
            if not text or text[0] in "{[`":  # some models write JSON in place of calling tools
                notes.append('it neither called a tool nor answered "done"')
        if refused := _refused(messages):
            notes.append(f"{refused} proposals could not be used and were left out")
        reading = replace(context.reading, found=state["found"])
        proposals, fell_back = reading.proposals(
            operations if operations or not notes else None, self.fallback, self.agent
        )
        own_notes = [f"{self.agent}: {note}" for note in notes]
        fallback_note = [f"{self.agent}: the embedded engine did the work"] if fell_back else []
        return replace(proposals, degraded=(*own_notes, *proposals.degraded, *fallback_note))


class BudgetedModel(AgentMiddleware[ManagerState, ManagerContext]):
    """Sends the agent's requests through :class:`ModelRequests`, for the budget, the usage and the retry policy.

    Args:
        tools: those of the agent, whose schemas are part of the model's input.
    """

    state_schema = ManagerState

    def __init__(self, requests: ModelRequests, tools: Sequence[StructuredTool]) -> None:
        super().__init__()
        self._requests, self._agent_tools = requests, tools

    def wrap_model_call(
        self, request: ModelRequest[ManagerContext], handler: Callable[[ModelRequest[ManagerContext]], ModelResponse]
    ) -> ExtendedModelResponse:
        def send(limits: dict[str, Any]) -> object:
            return _message(handler(request.override(model_settings={**request.model_settings, **limits})))

        outcome, _ = self._requests.send(send, *self._input(request))
        return _response(outcome)

    async def awrap_model_call(
        self,
        request: ModelRequest[ManagerContext],
        handler: Callable[[ModelRequest[ManagerContext]], Awaitable[ModelResponse]],
    ) -> ExtendedModelResponse:
        async def send(limits: dict[str, Any]) -> object:
            return _message(await handler(request.override(model_settings={**request.model_settings, **limits})))

        outcome, _ = await self._requests.asend(send, *self._input(request))
        return _response(outcome)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: ManagerState, runtime: Any) -> dict[str, Any] | None:
        """Call the model again where all tool calls were broken JSON; their errors are then in its input."""
        last = state["messages"][-1]
        broken = isinstance(last, AIMessage) and last.invalid_tool_calls and not last.tool_calls
        return {"jump_to": "model"} if broken and not state.get("failed") else None

    @cached_property
    def _tool_schemas(self) -> str:
        # A schema of a StructuredTool is a pydantic model, since its arguments are one.
        return "\n".join(str(tool.tool_call_schema.model_json_schema()) for tool in self._agent_tools)  # type: ignore[union-attr]

    def _input(self, request: ModelRequest[ManagerContext]) -> tuple[str, int, Terms]:
        """The text of the model's input, the number of its messages, and the terms of the run."""
        texts = [
            written_text(message) if isinstance(message, AIMessage) else str(message.text)
            for message in request.messages
        ]
        return "\n".join([self._tool_schemas, *texts]), len(texts), request.runtime.context.terms


def _message(response: ModelResponse) -> AIMessage | None:
    return next((message for message in response.result if isinstance(message, AIMessage)), None)


def _response(outcome: Outcome) -> ExtendedModelResponse:
    """The model's message, empty where there is none, and the reason if it is not a usable reply."""
    message, failed = AIMessage(""), ""
    if isinstance(outcome, AIMessage):
        message, failed = outcome, problem_of(outcome) or ""
    elif isinstance(outcome, Failure):
        failed = outcome.message
    elif isinstance(outcome, BudgetRefusal):
        failed = outcome.reason
    return ExtendedModelResponse(ModelResponse(result=[message]), Command(update={"failed": failed}))


def _search_tool() -> StructuredTool:
    def search_memory(query: str, runtime: ToolRuntime[ManagerContext, Any]) -> Command[Any]:
        found = dict(runtime.context.search(query))
        reading = replace(runtime.context.reading, found={**runtime.state["found"], **found})
        further = {item_id: item for item_id, item in found.items() if item_id not in reading.nearest}
        return _answer(runtime, runtime.context.escape(shown_items(reading, found)), {"found": further})

    return StructuredTool.from_function(
        search_memory, description="Find known items of your type that are not listed, by words they may hold."
    )


def _proposing_tool(form: type[ItemOperation], name: str) -> StructuredTool:
    """The tool that proposes one operation, with the fields of the type."""
    names = (*_ARGUMENTS[name], *(() if name == "remove" else form.own_fields()))
    fields: dict[str, Any] = {}
    for argument in names:
        info = form.model_fields[argument]
        default: Any = None if argument in form.own_fields() else [] if argument == "ends" else ...
        annotation = str if argument == "target" else info.annotation
        fields[argument] = (annotation, Field(default, description=info.description))
    return StructuredTool(
        name=name,
        description=_DESCRIPTIONS[name],
        args_schema=create_model(f"{form.kind}_{name}", **fields),
        func=_proposing(form, name),
    )


def _proposing(form: type[ItemOperation], name: str) -> Callable[..., Any]:
    def propose(runtime: ToolRuntime[ManagerContext, Any], **values: Any) -> Command[Any]:
        reading = replace(runtime.context.reading, found=runtime.state["found"])
        empty: dict[str, Any] = {**dict.fromkeys((*form.own_fields(), "target")), "merged": [], "ends": []}
        operation = form.model_validate({**empty, **values, "operation": name})
        problems = reading.problems(operation)
        if len(runtime.state["operations"]) >= reading.most:
            problems = [f"{reading.most} proposals are the most for these steps; end here"]
        if problems:
            return _answer(runtime, f"Not proposed: {'; '.join(problems)}", status="error")
        return _answer(runtime, "Proposed.", {"operations": [operation]})

    return propose


def _answer(
    runtime: ToolRuntime[ManagerContext, Any],
    text: str,
    update: Mapping[str, Any] | None = None,
    status: Any = "success",
) -> Command[Any]:
    message = ToolMessage(text, tool_call_id=runtime.tool_call_id or "", status=status)
    return Command(update={**(update or {}), "messages": [message]})


def _refused(messages: Sequence[BaseMessage]) -> int:
    """How many proposals were returned to the model with their problems."""
    answers = [message for message in messages if isinstance(message, ToolMessage) and message.status == "error"]
    return sum(message.name != "search_memory" for message in answers)
