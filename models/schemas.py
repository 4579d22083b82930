"""JSON Schemas as models take them: flat and closed, by the rules of OpenAI's strict mode.

The rules are those of https://platform.openai.com/docs/guides/structured-outputs (supported schemas), narrowed to what
small servers' grammars understand as well: no ``oneOf`` or ``anyOf`` beyond "or null", no ``allOf``, discriminators,
references, recursion, open dictionaries, defaults or tuples; every object closed, every property required.
"""

from __future__ import annotations

import copy
import re
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from hexamem.errors import ConfigError

__all__ = ["JsonSchema", "ModelReply", "check_strict", "sent_schemas", "strict_schema"]

JsonSchema: TypeAlias = dict[str, object]

_KEPT = {"type", "description", "properties", "required", "additionalProperties", "items", "enum", "anyOf"}
_TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "pattern": "matching {}",
    "format": "as {}",
}
_DEEPEST = 10
_MOST_PROPERTIES = 5_000
_MOST_VALUES = 1_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ModelReply(BaseModel):
    """Base class of everything that a model is asked to reply with, so that a test can find and check all of them.

    Fields that the model adds on its own are dropped; the docstring of a subclass is sent as the description.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)


def sent_schemas() -> list[type[ModelReply]]:
    """Every subclass of ``ModelReply`` that is loaded, by module and name. Import the agents first."""
    found: list[type[ModelReply]] = []
    waiting = [ModelReply]
    while waiting:
        for one in waiting.pop().__subclasses__():
            if one not in found:
                found.append(one)
                waiting.append(one)
    return sorted(found, key=lambda one: (one.__module__, one.__qualname__))


def strict_schema(model: type[BaseModel]) -> JsonSchema:
    """The schema of a pydantic model in the form that is sent: ``title``, ``description`` and a closed object.

    References are put in place, defaults dropped (every property becomes required: let a field that may be absent take
    None), constants become enumerations, and bounds, which not every server enforces, are told in the description;
    pydantic checks them in the reply.

    Raises:
        ConfigError: the model cannot be told in this form; the message lists each place and rule.
    """
    try:
        whole = model.model_json_schema(mode="validation")
    except Exception as error:  # pydantic raises several kinds
        raise ConfigError(f"The reply {model.__name__} has no JSON Schema: {error}") from error
    problems: list[str] = []
    definitions = whole.pop("$defs", {})
    flat = _flatten(whole, definitions, "", (), problems)
    problems += [one for one in check_strict(flat) if one not in problems] if not problems else []
    if problems:
        raise ConfigError(f"The reply {model.__name__} cannot be asked of a model: {'; '.join(problems)}")
    return {"title": model.__name__, **flat}


def _flatten(
    node: object, defs: dict[str, object], path: str, seen: tuple[str, ...], problems: list[str]
) -> JsonSchema:
    here = path or "the reply"
    if not isinstance(node, dict):
        problems.append(f"{here} takes anything; give it a type")
        return {}
    node = dict(node)
    if "$ref" in node:
        name = str(node.pop("$ref")).rsplit("/", 1)[-1]
        if name in seen:
            problems.append(f"{here} contains itself ({name}); recursion is not allowed")
            return {}
        target = defs.get(name, {})
        return _flatten({**(target if isinstance(target, dict) else {}), **node}, defs, path, (*seen, name), problems)
    for word in ("oneOf", "discriminator", "prefixItems", "patternProperties", "not", "allOf", "propertyNames"):
        if word in node:
            problems.append(f"{here} uses {word}; write one list for each kind, or plain fields")
            return {}
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if isinstance(node.get("enum"), list) and "type" not in node:
        node["type"] = _type_of(node["enum"])
    notes = [form.format(node[word]) for word, form in _BOUNDS.items() if word in node]
    if notes:
        told = str(node.get("description", "")).rstrip(" .")
        node["description"] = f"{told + '. ' if told else ''}{', '.join(notes).capitalize()}."
    flat: JsonSchema = {word: copy.deepcopy(node[word]) for word in ("type", "description", "enum") if word in node}
    if "anyOf" in node:
        flat["anyOf"] = [_flatten(one, defs, path, seen, problems) for one in node["anyOf"]]
        flat.pop("type", None)
    elif node.get("type") == "array":
        flat["items"] = _flatten(node.get("items"), defs, f"{path}[]", seen, problems)
    elif node.get("type") == "object":
        if node.get("additionalProperties", False) is not False or "properties" not in node:
            problems.append(f"{here} is an open dictionary; use a list of named pairs")
            return {}
        properties: JsonSchema = {
            name: _flatten(one, defs, f"{path}.{name}".lstrip("."), seen, problems)
            for name, one in node["properties"].items()
        }
        flat |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    return flat


def _type_of(values: list[object]) -> str:
    kinds = {type(one) for one in values}
    return (
        {str: "string", int: "integer", bool: "boolean", float: "number"}.get(kinds.pop(), "")
        if len(kinds) == 1
        else ""
    )


def check_strict(schema: JsonSchema) -> list[str]:
    """What stands against sending a schema in strict mode, one sentence each with its place; empty when nothing does."""
    problems: list[str] = []
    counts = {"properties": 0, "values": 0}
    name = schema.get("title")
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        problems.append(f"the title {name!r} is no name of up to 64 letters, digits, _ and -")
    root = {word: value for word, value in schema.items() if word != "title"}
    if root.get("type") != "object":
        problems.append("the reply is no object; put the list or value into a field")
    _check(root, "", 1, counts, problems)
    if counts["properties"] > _MOST_PROPERTIES:
        problems.append(f"there are {counts['properties']:,} properties; at most {_MOST_PROPERTIES:,} are allowed")
    if counts["values"] > _MOST_VALUES:
        problems.append(f"there are {counts['values']:,} enumerated values; at most {_MOST_VALUES:,} are allowed")
    return problems


def _check(node: object, path: str, depth: int, counts: dict[str, int], problems: list[str]) -> None:
    here = path or "the reply"
    if not isinstance(node, dict):
        problems.append(f"{here} is no schema")
        return
    extra = sorted(set(node) - _KEPT)
    if extra:
        problems.append(f"{here} uses {', '.join(extra)}, which is not allowed")
    if depth > _DEEPEST:
        problems.append(f"{here} is nested deeper than {_DEEPEST} levels")
        return
    if "anyOf" in node:
        options = node["anyOf"] if isinstance(node["anyOf"], list) else []
        if len(options) != 2 or sum(one == {"type": "null"} for one in options) != 1:
            problems.append(f"{here} uses anyOf for more than a value or null")
        for one in options:
            _check(one, path, depth, counts, problems)
        return
    if not isinstance(node.get("type"), str) or node["type"] not in _TYPES:
        problems.append(f"{here} takes anything; give it a type")
    if isinstance(node.get("enum"), list):
        counts["values"] += len(node["enum"])
    if node.get("type") == "array":
        _check(node.get("items"), f"{path}[]", depth + 1, counts, problems)
    if node.get("type") == "object":
        properties = node.get("properties")
        if node.get("additionalProperties") is not False:
            problems.append(f"{here} is open; additionalProperties must be false")
        if not isinstance(properties, dict):
            problems.append(f"{here} is an open dictionary; use a list of named pairs")
            return
        if node.get("required") != list(properties):
            problems.append(f"{here} has optional properties; all must be required, in order")
        counts["properties"] += len(properties)
        for name, one in properties.items():
            _check(one, f"{path}.{name}".lstrip("."), depth + 1, counts, problems)
