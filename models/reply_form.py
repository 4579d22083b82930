"""How a reply's form is asked of a model: by response format, by a tool, or in words, and how its message comes back."""

from __future__ import annotations

import json
from typing import Literal, cast, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import Runnable
from pydantic import BaseModel

from hexamem.errors import ConfigError
from hexamem.models.chat_models import secrets_of, speaks_openai, without_own_retries
from hexamem.models.retries import without_secrets
from hexamem.models.schemas import strict_schema
from hexamem.models.usage import Usage

__all__ = ["AskedModel", "Method", "ReplyForm", "message_in", "reported_usage"]

Method = Literal["json_schema", "function_calling", "json_mode"]
AskedModel = Runnable[list[BaseMessage], object]


class ReplyForm:
    """A chat model and the form in which it is to reply.

    Args:
        model: the chat model. It is not changed: an OpenAI one is copied without its own retries and streaming.
        schema: the reply's pydantic model; its name is the name of the form.
        method: `json_schema` and `function_calling` use OpenAI's strict mode; `json_mode` tells the schema in words.
        agent: who asks, for error messages.

    Attributes:
        name: the name of the form, and of the tool.
        tool: the tool that is to be called, or None.
        schema_text: the schema as JSON, which the model reads as a part of its input.
        in_words: whether the schema stands in the messages.

    Raises:
        ConfigError: the schema cannot be asked of a model, or the model does not take the method.
    """

    def __init__(self, model: BaseChatModel, schema: type[BaseModel], method: Method, agent: str) -> None:
        if not isinstance(model, BaseChatModel):
            raise ConfigError(f"The model of {agent} is {type(model).__name__}; give a LangChain chat model.")
        if method not in get_args(Method):
            raise ConfigError(f"method = {method!r} of {agent}: give one of {', '.join(get_args(Method))}")
        self.name = schema.__name__
        self._schema = strict_schema(schema)
        self.schema_text = json.dumps(self._schema, ensure_ascii=False)
        self._model = without_own_retries(model)
        plain = _takes_no_form(model)
        self._method: Method = "json_mode" if plain else method
        self.in_words = self._method == "json_mode"
        self.tool = self.name if self._method == "function_calling" else None
        self._fixed: AskedModel | None = None  # another provider's model takes no limits of single requests
        if plain:
            self._fixed = cast("AskedModel", self._model)
        elif not speaks_openai(model):
            self._fixed = self._of_another_provider(agent)

    def told(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        """The messages, with the schema in the first system message where it is told in words."""
        if not self.in_words:
            return messages
        form = f"Reply with one JSON object and nothing else. It must fit this JSON Schema:\n{self.schema_text}"
        if isinstance(messages[0], SystemMessage) and isinstance(messages[0].content, str):
            return [SystemMessage(f"{messages[0].content}\n\n{form}"), *messages[1:]]
        return [SystemMessage(form), *messages]

    def ask(self, longest: int | None, seconds: float | None) -> AskedModel:
        """The model with the form bound to it, and the limits of one request where it takes them.

        Args:
            longest: the most tokens of the answer.
            seconds: how long to wait, if that is less than the model's own limit.
        """
        if self._fixed is not None:
            return self._fixed
        limits: dict[str, object] = {} if longest is None else {"max_tokens": longest}
        own = getattr(self._model, "request_timeout", None)
        if seconds is not None and (not isinstance(own, int | float) or seconds < own):
            limits["timeout"] = max(seconds, 0.001)
        inner = {word: value for word, value in self._schema.items() if word not in ("title", "description")}
        named = {"name": self.name, "description": self._schema.get("description", self.name), "strict": True}
        if self._method == "function_calling":
            tool = {"type": "function", "function": {**named, "parameters": inner}}
            bound = self._model.bind_tools([tool], tool_choice=self.name, parallel_tool_calls=False, **limits)
            return cast("AskedModel", bound)
        form: dict[str, object] = {"type": "json_object"}
        if self._method == "json_schema":
            form = {"type": "json_schema", "json_schema": {**named, "schema": inner}}
        return cast("AskedModel", self._model.bind(response_format=form, **limits))

    def _of_another_provider(self, agent: str) -> AskedModel:
        try:
            chain = self._model.with_structured_output(dict(self._schema), method=self._method, include_raw=True)
        except (ValueError, TypeError, NotImplementedError) as error:
            told = without_secrets(str(error), secrets_of(self._model))
            raise ConfigError(f"The model of {agent} does not take method = {self._method!r}: {told}") from None
        return cast("AskedModel", chain)


def _takes_no_form(model: BaseChatModel) -> bool:
    """Whether a model knows neither tools nor structured output: it is asked in words then."""
    kind = type(model)
    return (
        kind.bind_tools is BaseChatModel.bind_tools
        and kind.with_structured_output is BaseChatModel.with_structured_output
    )


def reported_usage(message: AIMessage) -> Usage | None:
    """The usage that a model reports, if it is one: servers do send words, nulls and negative numbers."""
    told = message.usage_metadata
    if told is None:
        return None
    read, written = told.get("input_tokens"), told.get("output_tokens")
    if type(read) is not int or type(written) is not int or read <= 0 or written < 0:
        return None
    return Usage(calls=1, input_tokens=read, output_tokens=written)


def message_in(answer: object) -> AIMessage | None:
    """The model's message in what a runnable gave or raised; None when there is none.

    OpenAI's client raises for a reply that was cut at its length or filtered; the completion is in the error then.
    """
    if isinstance(answer, AIMessage):
        return answer
    if isinstance(answer, dict):
        return message_in(answer.get("raw"))
    completion = getattr(answer, "completion", None)
    choices = getattr(completion, "choices", None)
    if not choices:
        return None
    content = getattr(getattr(choices[0], "message", None), "content", None)
    usage = getattr(completion, "usage", None)
    read, written = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    told = None
    if isinstance(read, int) and isinstance(written, int):
        told = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
    return AIMessage(
        content=content if isinstance(content, str) else "",
        usage_metadata=told,
        response_metadata={"finish_reason": getattr(choices[0], "finish_reason", None)},
    )
