"""JSON Schemas in the form of OpenAI's strict mode: flat and closed.

The rules are those of https://platform.openai.com/docs/guides/structured-outputs (supported schemas), narrowed to what
small servers' grammars understand as well: no ``oneOf`` or ``anyOf`` beyond "or null", no ``allOf``, discriminators,
references, recursion, open dictionaries, defaults or tuples; every object closed, every property required.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from hexamem.errors import ConfigError

__all__ = ["JsonSchema", "ModelReply", "strict_schema"]

JsonSchema: TypeAlias = dict[str, object]

_REFUSED = ("oneOf", "discriminator", "prefixItems", "patternProperties", "not", "allOf", "propertyNames")
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
_NAMES = {str: "string", int: "integer", bool: "boolean", float: "number", type(None): "null"}
_DEEPEST, _MOST_PROPERTIES, _MOST_VALUES = 10, 5_000, 1_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ModelReply(BaseModel):
    """Base class of the schemas of all replies.

    Further fields in a reply are ignored; the docstring of a subclass is sent as the description.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)


def strict_schema(model: type[BaseModel]) -> JsonSchema:
    """The schema of a pydantic model as it is sent: ``title``, ``description`` and a closed object.

    References are inlined and defaults dropped (all properties are required: let an optional field accept None), constants
    become enumerations, and bounds, which not every server enforces, are added to the description; pydantic checks them
    in the reply.

    Raises:
        ConfigError: the model has no such schema; the message lists each place and rule.
    """
    try:
        whole = model.model_json_schema(mode="validation")
    except Exception as error:  # pydantic raises several kinds
        raise ConfigError(f"The reply {model.__name__} has no JSON Schema: {error}") from error
    flat, problems = _flattened({**whole, "title": model.__name__})
    if problems:
        raise ConfigError(f"The reply {model.__name__} cannot be asked of a model: {'; '.join(problems)}")
    return {"title": model.__name__, **flat}


def _flattened(schema: JsonSchema) -> tuple[JsonSchema, list[str]]:
    definitions: Any = schema.get("$defs", {})
    flattening = _Flattening(definitions)
    flat = flattening.node({word: value for word, value in schema.items() if word != "$defs"}, "", (), 1)
    problems, name = flattening.problems, schema.get("title")
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        problems.append(f"the title {name!r} is no name of up to 64 letters, digits, _ and -")
    if flat.get("type") != "object" and not problems:
        problems.append("the reply is no object; put the list or value into a field")
    if flattening.properties > _MOST_PROPERTIES:
        problems.append(f"there are {flattening.properties:,} properties; at most {_MOST_PROPERTIES:,} are allowed")
    if flattening.values > _MOST_VALUES:
        problems.append(f"there are {flattening.values:,} enumerated values; at most {_MOST_VALUES:,} are allowed")
    return flat, problems


class _Flattening:
    """Inlines the references of one schema, and collects its problems."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions
        self.problems: list[str] = []
        self.properties = self.values = 0

    def node(self, node: Any, path: str, seen: tuple[str, ...], depth: int) -> JsonSchema:
        here = path or "the reply"
        if not isinstance(node, dict) or not node:
            return self._refused(f"{here} takes anything; give it a type")
        if "$ref" in node:
            name = str(node["$ref"]).rsplit("/", 1)[-1]
            if name in seen:
                return self._refused(f"{here} contains itself ({name}); recursion is not allowed")
            rest = {word: value for word, value in node.items() if word != "$ref"}
            return self.node({**self._definitions.get(name, {}), **rest}, path, (*seen, name), depth)
        if word := next((word for word in _REFUSED if word in node), None):
            return self._refused(f"{here} uses {word}; write one list for each kind, or plain fields")
        if depth > _DEEPEST:
            return self._refused(f"{here} is nested deeper than {_DEEPEST} levels")
        flat: JsonSchema = {word: node[word] for word in ("type", "description", "enum") if word in node}
        if "const" in node:
            flat["enum"] = [node["const"]]
        if isinstance(flat.get("enum"), list):
            values: Any = flat["enum"]
            self.values += len(values)
            flat.setdefault("type", "/".join({_NAMES.get(type(value), "") for value in values}))
        if notes := [form.format(node[word]) for word, form in _BOUNDS.items() if word in node]:
            description = str(node.get("description", "")).rstrip(" .")
            flat["description"] = f"{description + '. ' if description else ''}{', '.join(notes).capitalize()}."
        if "anyOf" in node:
            flat.pop("type", None)
            flat["anyOf"] = [self.node(option, path, seen, depth) for option in node["anyOf"]]
            if len(node["anyOf"]) != 2 or {"type": "null"} not in node["anyOf"]:
                return self._refused(f"{here} uses anyOf for more than a value or null")
        elif flat.get("type") == "array":
            flat["items"] = self.node(node.get("items"), f"{path}[]", seen, depth + 1)
        elif flat.get("type") == "object":
            if node.get("additionalProperties", False) is not False or "properties" not in node:
                return self._refused(f"{here} is an open dictionary; use a list of named pairs")
            properties = {
                name: self.node(part, f"{path}.{name}".lstrip("."), seen, depth + 1)
                for name, part in node["properties"].items()
            }
            self.properties += len(properties)
            flat |= {"properties": properties, "required": list(properties), "additionalProperties": False}
        elif flat.get("type") not in _NAMES.values():
            return self._refused(f"{here} takes anything; give it a type")
        return flat

    def _refused(self, problem: str) -> JsonSchema:
        self.problems.append(problem)
        return {}
