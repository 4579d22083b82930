"""Reading a model's reply: the JSON in it, or what is wrong with it in words that the model and a person understand."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

__all__ = ["Reply", "echo", "partial_json", "problems_of", "read_reply", "repair_request", "without_surrogates"]

_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*\Z", re.S)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.S)
_CUT = {"length", "max_tokens", "max_output_tokens", "model_length"}
_FILTERED = {"content_filter", "safety", "prohibited_content", "recitation", "blocklist"}
_MOST_PROBLEMS = 12
_LONGEST_ECHO = 12_000
_LONGEST_PARTIAL = 50_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a model sent.

    Attributes:
        text: the reply as it was written: its text, or the arguments of its tool call.
        data: the JSON value in it; None when there is a problem.
        problem: what is wrong with it, or None.
    """

    text: str
    data: object = None
    problem: str | None = None


def read_reply(message: AIMessage, name: str) -> Reply:
    """Find the JSON value in a reply.

    Args:
        message: the model's message.
        name: the name under which the form was asked for; a call of another tool is no reply. Text is always read,
            since small models often write the arguments of a tool instead of calling it.
    """
    text = str(message.text)
    refusal = _refusal(message)
    if refusal:
        return Reply(text=text or refusal, problem=f"the model refused: {_clip(refusal, 200)}")
    if message.invalid_tool_calls and not message.tool_calls:
        text = str(message.invalid_tool_calls[0].get("args") or "")
    elif message.tool_calls:
        text = json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    reason = _finish_reason(message)
    if reason in _CUT:
        return Reply(text=text, problem="the reply was cut off at its length limit; write a shorter one")
    if reason in _FILTERED:
        return Reply(text=text, problem="the reply was stopped by a content filter")
    if message.tool_calls:
        fitting = [one for one in message.tool_calls if one["name"] == name]
        if not fitting:
            return Reply(
                text=text,
                problem=f"the tool {_clip(str(message.tool_calls[0]['name']), 64)!r} was called, not {name!r}",
            )
        return Reply(text=json.dumps(fitting[0]["args"], ensure_ascii=False), data=fitting[0]["args"])
    return _from_text(text)


def without_surrogates(value: object) -> object:
    """A JSON value with ``?`` for lone surrogates, which models and hosts do write and no server or database takes."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {key: without_surrogates(one) for key, one in value.items()}
    return value


def _from_text(text: str) -> Reply:
    bare = _THOUGHT.sub("", text).strip()
    fenced = _FENCE.match(bare)
    if fenced:
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
    told = message.additional_kwargs.get("refusal")
    if isinstance(told, str) and told:
        return told
    for block in message.content if isinstance(message.content, list) else []:
        if isinstance(block, Mapping) and block.get("type") == "refusal":
            return str(block.get("refusal") or "no reason given")
    return ""


def _finish_reason(message: AIMessage) -> str:
    for key in ("finish_reason", "stop_reason", "done_reason"):
        value = message.response_metadata.get(key)
        if isinstance(value, str):
            return value.lower()
    incomplete = message.response_metadata.get("incomplete_details")
    return str(incomplete.get("reason", "")).lower() if isinstance(incomplete, Mapping) else ""


def problems_of(error: ValidationError) -> list[str]:
    """A pydantic error as lines of place and rule, without the values: those may be anything that a model writes."""
    lines = []
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        place = ".".join(str(part) for part in one["loc"]) or "the reply"
        lines.append(f"{_clip(place, 120)}: {_clip(one['msg'], 160)}")
    return lines


def repair_request(problems: list[str], tool: str | None) -> str:
    """The words of the one repair turn."""
    shown = problems[:_MOST_PROBLEMS]
    if len(problems) > len(shown):
        shown.append(f"and {len(problems) - len(shown)} more of the kind")
    how = f"by calling the tool {tool} once" if tool else "as one JSON object and nothing else"
    lines = "\n".join(f"- {one}" for one in shown)
    return f"Your reply cannot be used:\n{lines}\nSend the whole reply again in the required form, corrected, {how}."


def echo(text: str) -> str:
    """The reply as it is sent back in a repair turn."""
    return _clip(text, _LONGEST_ECHO)


def partial_json(text: str) -> object:
    """What can be read of broken JSON, for salvage; None when nothing can."""
    from langchain_core.utils.json import parse_partial_json

    if not text.strip() or len(text) > _LONGEST_PARTIAL:
        return None
    try:
        return parse_partial_json(text)
    except (ValueError, RecursionError, TypeError, IndexError):
        return None


def _clip(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
