"""A host's conversation as a model may read it: without what memory was to forget of it.

The host keeps its messages; what is changed here goes to the model alone. No message is left out, since providers want
turns that alternate and a result for each call of a tool: a mark stands in its place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from hexamem.aligning import MEMORY_TOOLS
from hexamem.memory_types.cutting import FORGOTTEN, trimmed

__all__ = ["as_read_now"]


def as_read_now(messages: Sequence[AnyMessage], forgotten: Mapping[str, str]) -> list[AnyMessage]:
    """The messages with marks in place of what was forgotten; the same objects where nothing was.

    Results of the memory's tools up to the last time that something was forgotten may repeat it, and are replaced as well;
    of what was listed to be forgotten the ids stay, to go on with. The user's last message stays: the model answers it.

    Args:
        messages: the conversation as the host has it.
        forgotten: message id → what is read of it now; nothing where all of it is forgotten.
    """
    last = max((at for at, one in enumerate(messages) if isinstance(one, HumanMessage)), default=0)
    until = max((at for at, one in enumerate(messages[:last]) if _forgot(one)), default=-1)
    return [
        _marked(one, forgotten[one.id])
        if at != last and one.id is not None and one.id in forgotten
        else _marked(one, "")
        if at <= until and _of_memory(one)
        else one
        for at, one in enumerate(messages)
    ]


def _forgot(message: AnyMessage) -> bool:
    """Whether a message is the result of a call by which something was forgotten."""
    called = isinstance(message, ToolMessage) and message.name == "forget" and message.status != "error"
    return called and _result(message).get("undo_with") != []


def _result(message: AnyMessage) -> dict[str, Any]:
    """What a tool returned, where that is a JSON object."""
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


def _marked(message: AnyMessage, text: str) -> AnyMessage:
    """The message with this text, or the mark, for what it says; calls of tools keep their names and ids."""
    if text and text == str(message.text):  # the person wrote the mark
        return message
    values: dict[str, Any] = {"additional_kwargs": {}}
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    says = str(message.text).strip() or not isinstance(message, AIMessage)
    if says or calls:
        values["content"] = (trimmed(text) or FORGOTTEN) if says else ""
    if calls:
        values["tool_calls"] = [{**call, "args": {}} for call in calls]
    if isinstance(message, ToolMessage):
        values["artifact"] = None
        if message.name == "find_to_forget" and (listed := _result(message).get("records")):
            ids = [one["id"] for one in listed if isinstance(one, dict) and "id" in one]
            values["content"] = f"{FORGOTTEN} {json.dumps({'records': ids})}"
    return message.model_copy(update=values)
