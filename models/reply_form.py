"""Sends the schema of a reply to a model: as response format, as a tool, or in the prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import Runnable
from pydantic import BaseModel

from hexamem.errors import ConfigError
from hexamem.models.chat_models import secrets_of, speaks_openai, without_own_retries
from hexamem.models.retries import without_secrets
from hexamem.models.schemas import strict_schema

__all__ = ["Method", "ReplyForm", "calls_tools"]

Method = Literal["json_schema", "function_calling", "json_mode"]
BoundModel: TypeAlias = Runnable[list[BaseMessage], object]


class ReplyForm:
    """A chat model and the schema of its replies.

    Args:
        model: the chat model. It is not changed: an OpenAI one is copied without its own retries and streaming.
        schema: the reply's pydantic model; its name is the name of the form.
        method: `json_schema` and `function_calling` use OpenAI's strict mode; `json_mode` puts the schema into the prompt.
        agent: the name of the agent, for error messages.

    Attributes:
        name: the name of the form, and of the tool.
        tool: the name of the tool to call, or None.
        schema_text: the schema as JSON, a part of the model's input.
        in_words: whether the schema is in the messages.

    Raises:
        ConfigError: the schema cannot be sent to a model, or the model does not support the method.
    """

    def __init__(self, model: BaseChatModel, schema: type[BaseModel], method: Method, agent: str) -> None:
        if not isinstance(model, BaseChatModel):
            raise ConfigError(f"The model of {agent} is {type(model).__name__}; pass a LangChain chat model.")
        if method not in get_args(Method):
            raise ConfigError(f"method = {method!r} of {agent}: use one of {', '.join(get_args(Method))}")
        self.name = schema.__name__
        self._schema = strict_schema(schema)
        self.schema_text = json.dumps(self._schema, ensure_ascii=False)
        self._model = without_own_retries(model)
        takes_no_form = not calls_tools(model) and not _overrides(model, "with_structured_output")
        self._method: Method = "json_mode" if takes_no_form else method
        self.in_words = self._method == "json_mode"
        self.tool = self.name if self._method == "function_calling" else None
        self._fixed: BoundModel | None = cast("BoundModel", self._model) if takes_no_form else None
        if not takes_no_form and not speaks_openai(model):
            self._fixed = self._of_another_provider(agent)

    def put_into(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        """The messages, with the schema in the first system message if it belongs there."""
        if not self.in_words:
            return messages
        form = f"Reply with one JSON object and nothing else. It must fit this JSON Schema:\n{self.schema_text}"
        if isinstance(messages[0], SystemMessage) and isinstance(messages[0].content, str):
            return [SystemMessage(f"{messages[0].content}\n\n{form}"), *messages[1:]]
        return [SystemMessage(form), *messages]

    def bound(self, limits: Mapping[str, Any]) -> BoundModel:
        """The model with the schema bound to it, and the limits of one request, which only OpenAI's client accepts."""
        if self._fixed is not None:
            return self._fixed
        inner = {word: value for word, value in self._schema.items() if word not in ("title", "description")}
        named = {"name": self.name, "description": self._schema.get("description", self.name), "strict": True}
        if self.tool is not None:
            tool = {"type": "function", "function": {**named, "parameters": inner}}
            bound = self._model.bind_tools([tool], tool_choice=self.name, parallel_tool_calls=False, **limits)
            return cast("BoundModel", bound)
        form: dict[str, object] = {"type": "json_object"}
        if self._method == "json_schema":
            form = {"type": "json_schema", "json_schema": {**named, "schema": inner}}
        return cast("BoundModel", self._model.bind(response_format=form, **limits))

    def _of_another_provider(self, agent: str) -> BoundModel:
        try:
            chain = self._model.with_structured_output(dict(self._schema), method=self._method, include_raw=True)
        except (ValueError, TypeError, NotImplementedError) as error:
            reason = without_secrets(str(error), secrets_of(self._model))
            raise ConfigError(f"The model of {agent} does not take method = {self._method!r}: {reason}") from None
        return cast("BoundModel", chain)


def calls_tools(model: BaseChatModel) -> bool:
    """Whether a model supports tools."""
    return _overrides(model, "bind_tools")


def _overrides(model: BaseChatModel, method: str) -> bool:
    return getattr(type(model), method) is not getattr(BaseChatModel, method)
