"""Reads a model's reply: its message, its usage, and the JSON in it or the problem with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from pydantic import ValidationError

from hexamem.models.usage import Usage

__all__ = [
    "Reply",
    "clip",
    "message_in",
    "problem_of",
    "problems_of",
    "read_reply",
    "reported_usage",
    "without_surrogates",
    "written_text",
]

_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*\Z", re.S)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.S)
_CUT = {"length", "max_tokens", "max_output_tokens", "model_length"}
_FILTERED = {"content_filter", "safety", "prohibited_content", "recitation", "blocklist"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A reply of a model.

    Attributes:
        text: its text, or the arguments of its tool call.
        data: the JSON value in it; None where there is a problem.
        problem: the problem with it, for the model and people; None for none.
    """

    text: str
    data: object = None
    problem: str | None = None


def message_in(answer: object) -> AIMessage | None:
    """The model's message in the result or error of a runnable; None where there is none.

    OpenAI's client raises an error for a reply that was cut off or filtered; the error contains the completion.
    """
    if isinstance(answer, AIMessage):
        return answer
    if isinstance(answer, dict):
        return message_in(answer.get("raw"))
    completion: Any = getattr(answer, "completion", None)
    choices = getattr(completion, "choices", None)
    if not choices:
        return None
    content = getattr(getattr(choices[0], "message", None), "content", None)
    usage = getattr(completion, "usage", None)
    read, written = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    counted = isinstance(read, int) and isinstance(written, int)
    return AIMessage(
        content=content if isinstance(content, str) else "",
        usage_metadata=UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)  # type: ignore[operator, typeddict-item]
        if counted
        else None,
        response_metadata={"finish_reason": getattr(choices[0], "finish_reason", None)},
    )


def reported_usage(message: AIMessage) -> Usage | None:
    """The usage that a model reports, if it is valid: some servers send texts, nulls and negative numbers."""
    reported: Mapping[str, Any] = message.usage_metadata or {}
    read, written = reported.get("input_tokens"), reported.get("output_tokens")
    if type(read) is not int or type(written) is not int or read <= 0 or written < 0:
        return None
    return Usage(calls=1, input_tokens=read, output_tokens=written)


def written_text(message: AIMessage) -> str:
    """The text that the model wrote, including the arguments of its tool calls."""
    calls = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
    return "\n".join([str(message.text), *calls, *(str(call.get("args") or "") for call in message.invalid_tool_calls)])


def problem_of(message: AIMessage) -> str | None:
    """Why a message is not a usable reply, regardless of its schema: a refusal, cut off, filtered."""
    refusal = _refusal(message)
    if refusal:
        return f"the model refused: {clip(refusal, 200)}"
    metadata = message.response_metadata
    reason = next(
        (
            value
            for key in ("finish_reason", "stop_reason", "done_reason")
            if isinstance(value := metadata.get(key), str)
        ),
        "",
    )
    incomplete = metadata.get("incomplete_details")
    if not reason and isinstance(incomplete, Mapping):
        reason = str(incomplete.get("reason", ""))
    if reason.lower() in _CUT:
        return "the reply was cut off at its length limit; write a shorter one"
    return "the reply was stopped by a content filter" if reason.lower() in _FILTERED else None


def read_reply(message: AIMessage, name: str) -> Reply:
    """Find the JSON value in a reply.

    Args:
        message: the model's message.
        name: the name of the schema; a call of another tool is a problem. Text is always read, since small models often
            write the arguments of a tool instead of calling it.
    """
    text = str(message.text)
    calls = message.tool_calls
    if message.invalid_tool_calls and not calls:
        text = str(message.invalid_tool_calls[0].get("args") or "")
    elif calls:
        text = json.dumps(calls[0]["args"], ensure_ascii=False)
    problem = problem_of(message)
    if problem is not None:
        return Reply(text=text or _refusal(message), problem=problem)
    if not calls:
        return _from_text(text)
    fitting = next((call["args"] for call in calls if call["name"] == name), None)
    if fitting is None:
        called = clip(str(calls[0]["name"]), 64)
        return Reply(text=text, problem=f"the tool {called!r} was called, not {name!r}")
    return Reply(text=json.dumps(fitting, ensure_ascii=False), data=fitting)


def without_surrogates(value: object) -> object:
    """A JSON value with ``?`` for lone surrogates, which no server or database accepts."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [without_surrogates(part) for part in value]
    if isinstance(value, dict):
        return {key: without_surrogates(part) for key, part in value.items()}
    return value


def _from_text(text: str) -> Reply:
    bare = _THOUGHT.sub("", text).strip()
    if fenced := _FENCE.match(bare):
        bare = fenced.group(1).strip()
    if not bare:
        return Reply(text="", problem="the reply is empty")
    try:
        return Reply(text=text, data=json.loads(bare, strict=False))
    except json.JSONDecodeError as error:
        return Reply(text=text, problem=f"the reply is not valid JSON: {error.msg} at character {error.pos}")
    except (ValueError, RecursionError):
        return Reply(text=text, problem="the reply is not JSON that can be read: a number or the nesting is too large")


def _refusal(message: AIMessage) -> str:
    refusal = message.additional_kwargs.get("refusal")
    blocks = message.content if isinstance(message.content, list) else []
    refusals = [block for block in blocks if isinstance(block, Mapping) and block.get("type") == "refusal"]
    if isinstance(refusal, str) and refusal:
        return refusal
    return str(refusals[0].get("refusal") or "no reason given") if refusals else ""


def problems_of(error: ValidationError) -> list[str]:
    """A pydantic error as lines of place and rule, without the values, which may be any text of a model."""
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    return [
        f"{clip('.'.join(map(str, problem['loc'])) or 'the reply', 120)}: {clip(problem['msg'], 160)}"
        for problem in errors
    ]


def clip(text: str, longest: int) -> str:
    """The first ``longest`` characters of a text, with a mark where it is cut."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
