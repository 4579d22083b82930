"""JSON Schemas in the form of OpenAI's strict mode: flat and closed.

The rules are those of https://platform.openai.com/docs/guides/structured-outputs (supported schemas), narrowed to what
small servers' grammars understand as well: no ``oneOf`` or ``anyOf`` beyond "or null", no ``allOf``, discriminators,
references, recursion, open dictionaries, defaults or tuples; every object closed, every property required.
"""

from __future__ import annotations

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
_PLAIN = ("string", "integer", "boolean", "number", "null")
_DEEPEST = 10


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
        ConfigError: the model has no such schema; the message names the place and the rule.
    """
    try:
        whole = model.model_json_schema(mode="validation")
    except Exception as error:  # pydantic raises several kinds
        raise ConfigError(f"The reply {model.__name__} has no JSON Schema: {error}") from error
    try:
        return {"title": model.__name__, **_flat(whole, whole.get("$defs", {}), "", (), 1)}
    except _Refused as problem:
        raise ConfigError(f"The reply {model.__name__} cannot be asked of a model: {problem}") from None


class _Refused(Exception):
    """A part of a schema that strict mode does not allow."""


def _flat(node: Any, definitions: dict[str, Any], path: str, seen: tuple[str, ...], depth: int) -> JsonSchema:
    """A part of a schema with its references inlined.

    Raises:
        _Refused: it is not allowed.
    """
    here = path or "the reply"
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in seen:
            raise _Refused(f"{here} contains itself ({name}); recursion is not allowed")
        rest = {word: value for word, value in node.items() if word != "$ref"}
        return _flat({**definitions.get(name, {}), **rest}, definitions, path, (*seen, name), depth)
    if word := next((word for word in _REFUSED if word in node), None):
        raise _Refused(f"{here} uses {word}; write one list for each kind, or plain fields")
    if depth > _DEEPEST:
        raise _Refused(f"{here} is nested deeper than {_DEEPEST} levels")
    flat: JsonSchema = {word: node[word] for word in ("type", "description", "enum") if word in node}
    if "const" in node:
        flat["enum"] = [node["const"]]
    if notes := [form.format(node[word]) for word, form in _BOUNDS.items() if word in node]:
        description = str(node.get("description", "")).rstrip(" .")
        flat["description"] = f"{description + '. ' if description else ''}{', '.join(notes).capitalize()}."
    kind = flat.get("type")
    if "anyOf" in node:
        if len(node["anyOf"]) != 2 or {"type": "null"} not in node["anyOf"]:
            raise _Refused(f"{here} uses anyOf for more than a value or null")
        flat["anyOf"] = [_flat(option, definitions, path, seen, depth) for option in node["anyOf"]]
    elif kind == "array":
        flat["items"] = _flat(node.get("items", {}), definitions, f"{path}[]", seen, depth + 1)
    elif kind == "object":
        if node.get("additionalProperties", False) is not False or "properties" not in node:
            raise _Refused(f"{here} is an open dictionary; use a list of named pairs")
        properties = {
            name: _flat(part, definitions, f"{path}.{name}".lstrip("."), seen, depth + 1)
            for name, part in node["properties"].items()
        }
        flat |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    elif kind not in _PLAIN:
        raise _Refused(f"{here} takes anything; give it a type")
    return flat
