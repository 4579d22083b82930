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

    What the memory's tools gave in earlier turns, up to the last time that something was forgotten, may say it too, and
    goes as well; of what was listed to be forgotten the ids stay, to go on with. The user's last message stays: the model
    answers it.

    Args:
        messages: the conversation as the host has it.
        forgotten: message id → what is read of it now; nothing where all of it is forgotten.
    """
    last = range(len(messages) - 1, -1, -1)
    asked = next((at for at in last if isinstance(messages[at], HumanMessage)), 0)
    told = next((at for at in last if at < asked and _forgot(messages[at])), -1)
    if not forgotten and told < 0:
        return list(messages)
    shown = list(messages)
    for at, one in enumerate(messages):
        if at != asked and one.id is not None and one.id in forgotten:
            shown[at] = _marked(one, forgotten[one.id])
        elif at <= told and _of_memory(one):
            shown[at] = _marked(one, "")
    return shown


def _forgot(message: AnyMessage) -> bool:
    """Whether a message is the result of a call by which something was forgotten."""
    if not isinstance(message, ToolMessage) or message.name != "forget" or message.status == "error":
        return False
    return _told_of(message).get("undo_with") != []


def _told_of(message: ToolMessage) -> Mapping[str, Any]:
    try:
        told = json.loads(str(message.text))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


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
    if str(message.text).strip() or not isinstance(message, AIMessage):
        values["content"] = trimmed(text) or FORGOTTEN
    if isinstance(message, AIMessage) and message.tool_calls:
        values["tool_calls"] = [{**call, "args": {}} for call in message.tool_calls]
        values["content"] = values.get("content", "")
    if isinstance(message, ToolMessage):
        values["artifact"] = None
        if message.name == "find_to_forget" and (listed := _told_of(message).get("records")):
            ids = [one["id"] for one in listed if isinstance(one, dict) and "id" in one]
            values["content"] = f"{FORGOTTEN} {json.dumps({'records': ids})}"
    return message.model_copy(update=values)
