"""Replaces forgotten messages of a host's conversation, in the copy that the model reads.

The host's own messages are unchanged. No message is left out, since providers require alternating turns and a result
for each tool call: a mark replaces its contents.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from hexamem.aligning import MEMORY_TOOLS

__all__ = ["as_read_now"]

_FORGOTTEN = "[forgotten]"


def as_read_now(messages: Sequence[AnyMessage], forgotten: Collection[str]) -> list[AnyMessage]:
    """The messages with marks in place of what was forgotten; the same objects where nothing was.

    Results of the memory's tools before the last call of ``forget`` may repeat what was forgotten, and are replaced too;
    of a list of records to forget the ids stay, for further calls. The user's last message stays: the model answers it.

    Args:
        messages: the host's conversation.
        forgotten: ids of the forgotten messages.
    """
    last = max((index for index, message in enumerate(messages) if isinstance(message, HumanMessage)), default=0)
    until = max((index for index, message in enumerate(messages[:last]) if _forgot(message)), default=-1)
    return [
        _marked(message)
        if (index != last and message.id in forgotten) or (index <= until and _of_memory(message))
        else message
        for index, message in enumerate(messages)
    ]


def _forgot(message: AnyMessage) -> bool:
    """Whether a message is the result of a successful call of ``forget``."""
    called = isinstance(message, ToolMessage) and message.name == "forget" and message.status != "error"
    return called and _result(message).get("undo_with") != []


def _result(message: AnyMessage) -> dict[str, Any]:
    """The result of a tool, if it is a JSON object, else an empty mapping."""
    try:
        result = json.loads(str(message.text))
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}


def _of_memory(message: AnyMessage) -> bool:
    if isinstance(message, ToolMessage):
        return message.name in MEMORY_TOOLS
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return bool(calls) and all(call["name"] in MEMORY_TOOLS for call in calls)


def _marked(message: AnyMessage) -> AnyMessage:
    """The message with the mark as its contents; tool calls retain their names and ids."""
    values: dict[str, Any] = {"additional_kwargs": {}}
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    has_text = str(message.text).strip() or not isinstance(message, AIMessage)
    if has_text or calls:
        values["content"] = _FORGOTTEN if has_text else ""
    if calls:
        values["tool_calls"] = [{**call, "args": {}} for call in calls]
    if isinstance(message, ToolMessage):
        values["artifact"] = None
        if message.name == "find_to_forget" and (listed := _result(message).get("records")):
            ids = [record["id"] for record in listed if isinstance(record, dict) and "id" in record]
            values["content"] = f"{_FORGOTTEN} {json.dumps({'records': ids})}"
    return message.model_copy(update=values)
