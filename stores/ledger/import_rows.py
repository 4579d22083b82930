"""Checks the rows of an import, by the columns of their tables and the pydantic records as which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, LargeBinary, String, Table

from hexamem.errors import CorruptFileError, HexamemError
from hexamem.memory_types import (
    LabelKind,
    Media,
    MemoryItem,
    Operation,
    Run,
    Source,
    Step,
    Tier,
    ToolCall,
    UnregisteredItem,
)
from hexamem.memory_types.base import explain
from hexamem.memory_types.registry import TypeRegistry
from hexamem.memory_types.times import from_micros
from hexamem.stores.ledger import schema as tables
from hexamem.stores.ledger.columns import IdText, Micros
from hexamem.stores.ledger.items import item_from, item_row
from hexamem.stores.ledger.pages import page_id_of

__all__ = ["check_references", "check_row", "checked_items"]

_STRICT = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)
_Count = Annotated[int, Field(ge=0, le=2**30)]
_Number = Annotated[int, Field(ge=0, le=2**50)]  # later numbers are added to it
_Moment = Annotated[int, Field(ge=-62_135_596_800_000_000, le=253_402_300_799_999_999)]  # microseconds, years 1 to 9999
_Id = Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,200}$")]
_Name = Annotated[str, Field(min_length=1)]
_Ids: TypeAlias = list[_Id]
_Object: TypeAlias = dict[str, Any]


def _field(record: type[BaseModel], name: str) -> Any:
    """The type of a record's field, with its constraints."""
    info = record.model_fields[name]
    return Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation


# What a column contains beyond its SQL type.
_CONTENTS: dict[Column[Any], Any] = {
    **{tables.steps.c[name]: _field(Step, name) for name in ("thread_id", "role", "status", "offset_minutes")},
    **dict.fromkeys(
        (tables.steps.c.seq, tables.steps.c.change, tables.items.c.change), Annotated[_Number, Field(ge=1)]
    ),
    tables.steps.c.blocks: list[_Object],
    tables.steps.c.tool_calls: list[Annotated[ToolCall, Field(strict=False)]],
    tables.steps.c.media: list[Annotated[Media, Field(strict=False)]],
    tables.steps.c.metadata: _Object,
    tables.intents.c.scope_id: _Id,
    tables.intents.c.event_ids: Annotated[_Ids, Field(min_length=1)],
    tables.intents.c.entity_ids: _Ids,
    tables.intents.c.antecedents: _Ids,
    **{table.c.tier: Tier for table in (tables.intents, tables.pages)},
    tables.items.c.kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")],
    tables.items.c.payload: _Object,
    tables.items.c.labels: list[str],
    tables.items.c.metadata: _Object,
    tables.items.c.status: Literal["active", "superseded", "merged", "removed", "undone"],
    tables.operations.c.kind: _field(Operation, "kind"),
    tables.changes.c.target: Literal["item", "step", "label", "intent"],
    tables.changes.c.before: _Object,
    tables.changes.c.after: _Object,
    tables.labels.c.kind: LabelKind,
    tables.labels.c.name: _Name,
    tables.labelings.c.target: Literal["step"],
    tables.files.c.sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")],
    tables.runs.c.task: _Name,
    tables.runs.c.status: _field(Run, "status"),
    tables.runs.c.outcome_source: Literal["environment", "test", "user", "judge"],
    tables.runs.c.confidence: Annotated[float, Field(ge=0, le=1)],
    tables.runs.c.shown: _Ids,
    tables.runs.c.metadata: _Object,
    tables.recalls.c.hits: list[Annotated[tuple[_Id, float], Field(strict=False)]],
    tables.feedback.c.verdict: Literal["helped", "hurt"],
}


def _type_of(column: Column[Any]) -> Any:
    if (contents := _CONTENTS.get(column)) is not None:
        return contents
    match column.type:
        case Micros():
            return _Moment
        case IdText():
            # The ranking's name in the log of recalls, and "" for a label outside of any scope.
            return Annotated[str, Field(pattern=r"^[\x20-\x7e]*$")] if column.name in ("strategy", "within") else _Id
        case BigInteger():
            return _Number
        case Integer():
            return _Count
        case Boolean():
            return bool
        case Float():
            return Annotated[float, Field(allow_inf_nan=False)]
        case String(length=int() as length):
            return Annotated[str, Field(min_length=1, max_length=length)]
        case LargeBinary():
            return bytes
    return str


@cache
def _model(table: Table) -> type[BaseModel]:
    """The model of a table's rows as an export writes them, times as microseconds."""
    fields: dict[str, Any] = {}
    for column in table.c:
        if column.name != "user_id":
            kind = _type_of(column)
            # By alias: a field of a model cannot be called "metadata", or like a method of it.
            name = f"of_{column.name}"
            if column.nullable:
                fields[name] = (kind | None, Field(default=None, alias=column.name))
            else:
                fields[name] = (kind, Field(alias=column.name))
    return create_model(table.name, __config__=_STRICT, **fields)


# The states of records in the history, by target; those of items are records themselves.
_LABEL_STATE: dict[str, Any] = {
    **{"kind": (LabelKind, ...), "name": (_Name, ...), "pinned": (bool, ...)},
    **dict.fromkeys(("parent_id", "alias_of", "made_from"), (_Id | None, ...)),
}
_INTENT_STATE: dict[str, Any] = {
    **{"scope_id": (_Id, ...), "event_ids": (Annotated[_Ids, Field(min_length=1)], ...)},
    **{"entity_ids": (_Ids, ...), "tier": (Tier, ...)},
}
_STATES: Mapping[str, type[BaseModel]] = {
    "step": create_model("step", __config__=_STRICT, status=(_field(Step, "status"), ...)),
    "label": create_model("label", __config__=_STRICT, **_LABEL_STATE),
    "intent": create_model("intent", __config__=_STRICT, **_INTENT_STATE),
}


def check_row(table: Table, row: Any, types: TypeRegistry, place: str) -> None:
    """Check one row of an export.

    Raises:
        CorruptFileError: with the table, the row, the field and the rule.
    """
    try:
        _model(table).model_validate(row)
        if table is tables.sources:
            Source.parse({name: value for name, value in row.items() if name not in ("item_id", "position")})
        if table is tables.runs and row["outcome"] is not None and None in (row["outcome_source"], row["confidence"]):
            raise ValueError("an outcome has a source and a confidence")
        if table is tables.changes:
            for state in (row.get("before"), row.get("after")):
                if state is not None and row["target"] == "item":
                    if types.restore(state).id != row["target_id"]:
                        raise ValueError("it is of another item")
                elif state is not None:
                    _STATES[row["target"]].model_validate(state)
    except ValidationError as error:
        raise _refused(table, row, explain(error, table.name, shows_values=False), place) from None
    except (HexamemError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise _refused(table, row, str(error), place) from None


_DERIVED = ("payload", "text", "statement_key", "slot", "labels", "metadata")


def checked_items(rows: list[dict[str, Any]], types: TypeRegistry, user: str, place: str) -> list[dict[str, Any]]:
    """The rows of items, each as its record would be written: columns that are derived from others are derived anew."""
    checked = []
    for row in rows:
        try:
            if common := sorted(row["payload"].keys() & MemoryItem.model_fields.keys()):
                raise ValueError(f"payload has {', '.join(common)}, which are columns")
            times = ("valid_from", "valid_to", "created_at", "superseded_at")
            item = item_from({**row, **{name: _moment(row.get(name)) for name in times}}, (), user, types)
        except (HexamemError, TypeError, ValueError) as error:
            raise _refused(tables.items, row, str(error), place) from None
        values: dict[str, Any] = {} if isinstance(item, UnregisteredItem) else item_row(item)
        checked.append({**row, **{name: value for name, value in values.items() if name in _DERIVED}})
    return checked


def _moment(micros: int | None) -> Any:
    return None if micros is None else from_micros(micros)


def check_references(rows: Mapping[str, list[dict[str, Any]]], known: Mapping[str, set[str]], place: str) -> None:
    """Check that rows refer to rows of the export, or to those that the user has.

    Args:
        known: table → ids of the rows that the user has; under "media" the hashes of the media in the export.
    """
    ids = {name: known.get(name, set()) | {row["id"] for row in rows.get(name, ()) if "id" in row} for name in rows}

    def check(table: Table, row: dict[str, Any], name: str, target: Table, value: Any) -> None:
        if value is not None and value not in ids.get(target.name, known.get(target.name, set())):
            raise _refused(table, row, f"{name} names {value!r}, which is not in {target.name}", place)

    seqs = {row["id"]: row["seq"] for row in rows["operations"]}
    for table, names, target in (
        (tables.operations, ("undoes", "undone_by"), tables.operations),
        (tables.labels, ("parent_id", "alias_of", "made_from"), tables.labels),
        (tables.intents, ("step_id",), tables.steps),
    ):
        for row in rows[table.name]:
            for name in names:
                check(table, row, name, target, row.get(name))
    for row in rows["operations"]:
        if row.get("undoes") in seqs and seqs[row["undoes"]] >= row["seq"]:
            raise _refused(tables.operations, row, "undoes names a later operation", place)
        if row.get("undone_by") in seqs and seqs[row["undone_by"]] <= row["seq"]:
            raise _refused(tables.operations, row, "undone_by names an earlier operation", place)
    for row in rows["labels"]:
        parent_id = (row.get("parent_id") or "") if row["kind"] == "scope" else ""
        if row["within"] != parent_id:
            raise _refused(tables.labels, row, f"within is not {parent_id!r}, in which the name is unique", place)
    for row in rows["intents"]:
        for label_id in (row["scope_id"], *row["event_ids"], *(row.get("entity_ids") or ())):
            check(tables.intents, row, "a label", tables.labels, label_id)
    first_steps = {(row["thread_id"], row["turn"]): row["id"] for row in rows["steps"]}
    for row in rows["pages"]:
        if row["id"] != page_id_of(first_steps.get((row["thread_id"], row["first_turn"]), "")):
            raise _refused(tables.pages, row, "it does not begin with the step of its id", place)
        if row["first_turn"] > row["last_turn"] or row["started_at"] > row["ended_at"]:
            raise _refused(tables.pages, row, "it ends before it begins", place)
    for row in rows["files"]:
        if row["sha256"] not in known["media"]:
            raise _refused(tables.files, row, "its media are missing", place)


def _key(table: Table, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(column.name) for column in table.primary_key if column.name != "user_id")


def _refused(table: Table, row: Any, why: str, place: str) -> CorruptFileError:
    key = ", ".join(str(part)[:80] for part in _key(table, row)) if isinstance(row, Mapping) else "?"
    return CorruptFileError(
        f"{place}: the row {key!r} of {table.name} does not fit the ledger ({why}): it was not written by export; "
        "nothing was imported"
    )
