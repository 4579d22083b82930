"""A chat model that follows a script, for tests of agents: it keeps what it was asked, and may fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from hexamem import Memory

Reply = str | AIMessage | Exception
ALICE: Any = {"user": "alice"}  # the context of a run


class ScriptedChat(BaseChatModel):
    """Answers by a function of the messages, or by a list of replies of which the last repeats.

    ``prompts`` is the log of what it was asked, ``offered`` the names of the tools that were bound.
    """

    _script: Any = PrivateAttr()
    prompts: list[list[BaseMessage]] = []  # noqa: RUF012 - pydantic copies it
    offered: list[str] = []  # noqa: RUF012

    def __init__(self, script: Callable[[list[BaseMessage]], Reply] | Sequence[Reply]) -> None:
        super().__init__()
        self._script = script

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedChat:
        self.offered[:] = [tool.name for tool in tools]
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        at = len(self.prompts)
        self.prompts.append(list(messages))
        reply = self._script(messages) if callable(self._script) else self._script[min(at, len(self._script) - 1)]
        if isinstance(reply, Exception):
            raise reply
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        return ChatResult(generations=[ChatGeneration(message=message.model_copy(update={"id": None}))])

    def shown(self) -> str:
        """Everything it was ever shown, as one text."""
        return "\n".join(
            f"{one.content!r} {getattr(one, 'tool_calls', '')!r}" for asked in self.prompts for one in asked
        )


def calls(name: str, **arguments: Any) -> AIMessage:
    """A message that calls one tool."""
    return AIMessage(
        "", tool_calls=[{"name": name, "args": arguments, "id": f"call_{name}_{abs(hash(str(arguments))) % 9999}"}]
    )


def thread(name: str = "t") -> Any:
    """The configuration of a run in a conversation."""
    return {"configurable": {"thread_id": name}}


def ask(text: str) -> Any:
    """The input of a run: one message of the user."""
    return {"messages": [HumanMessage(text)]}


def stored(memory: Memory, user: str = "alice", thread_id: str | None = None) -> list[str]:
    """The contents of a user's steps."""
    return [step.content for step in memory.user(user).steps(thread_id)]
