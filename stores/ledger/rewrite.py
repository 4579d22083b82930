"""Rewriting words in all rows of a user, and deleting the rows: for ``redact`` and ``erase``; history is else append-only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row, Table, delete, select, update

from hexamem.stores.ledger.columns import JsonText, LosslessText
from hexamem.stores.ledger.derived_texts import clear_derived
from hexamem.stores.ledger.items import write_keys
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.pages import next_page_change
from hexamem.stores.ledger.schema import (
    USER_TABLES,
    changes,
    files,
    intents,
    items,
    labels,
    pages,
    recalls,
    scopes,
    secrets,
    sources,
    steps,
    users,
)
from hexamem.stores.secrets import clean_caption, find_references, reference

__all__ = ["Redaction", "erase_rows", "is_spaced_letter", "rewrite_everywhere", "whole_words"]

# Scripts without spaces between words: in them any occurrence of a word counts as a whole word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_SPACED_LETTER = f"[^\\W_{_UNSPACED}]"

# Columns with ids that other rows and the host refer to: a vault reference in their place would break the link.
_UNCHANGED = {
    steps: {"thread_id", "message_id", "agent_id", "tool_call_id"},
    pages: {"thread_id"},
    recalls: {"hits"},
}
_OUR_ID = re.compile(r"[a-z]{2,12}_[0-9a-hjkmnp-z]{26}")
# Fields of items, and of labels and intents in the history, that contain no text of a user.
_ITEM_STRUCTURE = frozenset(
    (
        *("id", "user", "kind", "created_at", "superseded_at", "superseded_by", "status", "version"),
        *("valid_from", "valid_to", "secret_id", "sensitivity", "occurred_at", "limit", "sources"),
        *("scope_id", "event_ids", "entity_ids", "tier", "parent_id", "alias_of", "made_from"),
    )
)
# The keys by which blocks, media and tool calls are parsed; first those whose values are no text.
_STRUCTURE = frozenset(
    (
        *("type", "kind", "id", "call_id", "tool_use_id", "tool_call_id", "file_id", "source_type"),
        *("mime_type", "media_type"),
    )
)
_FREE = frozenset({"input", "args", "arguments", "output", "extras", "metadata"})  # values with keys of any name
_KEYS = (
    _STRUCTURE
    | _FREE
    | {"sha256", "status", "text", "content", "value", "source", "image_url", "input_audio", "file", "url", "name"}
    | {"filename", "title", "annotations", "index", "caption", "transcript", "size"}
)


def is_spaced_letter(char: str) -> bool:
    """Whether it is a letter or digit of a script that puts spaces between words."""
    return re.match(_SPACED_LETTER, char) is not None


def whole_words(words: str, *, match_case: bool = True) -> re.Pattern[str]:
    """A pattern for ``words`` as whole words: "1234" does not match in "91234", "cat" not in "concaténer".

    In scripts without spaces between words (Chinese, Japanese, Korean, Thai, …) it matches anywhere.
    """
    before = f"(?<!{_SPACED_LETTER})" if is_spaced_letter(words[0]) else ""
    after = f"(?!{_SPACED_LETTER})" if is_spaced_letter(words[-1]) else ""
    return re.compile(before + re.escape(words) + after, 0 if match_case else re.IGNORECASE)


class _Edit(NamedTuple):
    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """Words to be replaced by the reference of the secret in which they are stored.

    References in a text stay intact: within their captions the words are replaced by the plain caption.
    """

    words: str
    secret_id: str
    caption: str
    match_case: bool = True

    @property
    def reference(self) -> str:
        """The replacement of the words."""
        return reference(self.secret_id, self.caption)

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches the words."""
        return whole_words(self.words, match_case=self.match_case)

    def edits(self, text: str) -> list[_Edit]:
        """The replacements in a text, in order."""
        references = None
        edits = []
        for match in self.pattern.finditer(text):
            if references is None:
                references = () if find_references(self.words) else find_references(text)
            inside = next((r for r in references if r.start < match.end() and match.start() < r.end), None)
            if inside is None:
                edits.append(_Edit(match.start(), match.end(), self.reference))
            elif inside.end - 2 - len(inside.caption) <= match.start() and match.end() <= inside.end - 2:
                edits.append(_Edit(match.start(), match.end(), clean_caption(self.caption)))
        return edits

    def in_text(self, text: str) -> str:
        """The text with the words replaced."""
        pieces: list[str] = []
        end = 0
        for edit in self.edits(text):
            pieces += [text[end : edit.start], edit.replacement]
            end = edit.end
        return "".join([*pieces, text[end:]])


def erase_rows(tx: Transaction) -> dict[str, int]:
    """Delete every row of the user, the row in ``users`` last; returns how many were deleted, by table."""
    counts: dict[str, int] = {}
    for table in USER_TABLES:
        deleted = tx.connection.execute(delete(table).where(tx.own(table))).rowcount
        if deleted:
            counts[table.name] = deleted
    counts["users"] = tx.connection.execute(delete(users).where(users.c.id == tx.user_id)).rowcount
    return counts


def rewrite_everywhere(tx: Transaction, redaction: Redaction, renamed: Mapping[str, str] = {}) -> dict[str, set[str]]:
    """Replace words in every text of the user: steps, items, history, recalls, files, runs, jobs; and delete what was
    derived from the steps that contained them.

    Rewritten steps, items and pages get a new change number, so that the indexes follow. The spans of quotes move with
    the text; a quote that began or ended within the words then contains the whole reference.

    Args:
        renamed: old to new hash of the media that were rewritten.

    Returns:
        The ids of the rows that changed, by table.
    """
    return _Rewriter(tx, redaction, renamed).run()


class _Rewriter:
    def __init__(self, tx: Transaction, redaction: Redaction, renamed: Mapping[str, str]) -> None:
        self._tx, self._redaction, self._renamed = tx, redaction, renamed
        self._ids: dict[str, set[str]] = {}
        self._contents: dict[str, tuple[str, str, list[_Edit]]] = {}  # step → old content, new content, edits

    def run(self) -> dict[str, set[str]]:
        for table in (steps, pages):  # first: quotes are moved with their steps, and derived texts deleted
            self._table(table)
        any_case = whole_words(self._redaction.words, match_case=False).search
        if clear_derived(self._tx, self._contents, [self._redaction.words], lambda text: any_case(text) is not None):
            self._ids["labels"] = set()
        for table in USER_TABLES:
            if table not in (steps, pages, sources, labels, scopes, intents):
                self._table(table)
        self._sources()
        write_keys(self._tx, self._ids.get("items", ()))
        return self._ids

    def _table(self, table: Table) -> None:
        unchanged = _UNCHANGED.get(table, set())
        columns = [c.name for c in table.c if isinstance(c.type, (LosslessText, JsonText)) and c.name not in unchanged]
        if not columns:
            return
        key = [column.name for column in table.primary_key]  # the user, then the id
        extra = [table.c.sha256] if table is files else []
        wanted = [*(table.c[name] for name in dict.fromkeys([*key, *columns])), *extra]
        for row in self._tx.all(select(*wanted).where(self._tx.own(table))):
            values = {name: self._value(table, name, row._mapping[name]) for name in columns}
            values = {name: value for name, value in values.items() if value != row._mapping[name]}
            if values:
                if table is steps and "content" in values:
                    self._contents[row.id] = (row.content, values["content"], self._redaction.edits(row.content))
                self._write(table, row, key, values)
                self._ids.setdefault(table.name, set()).add(str(row._mapping[key[1]]))

    def _write(self, table: Table, row: Row[Any], key: list[str], values: dict[str, Any]) -> None:
        if table in (steps, items):
            values["change"] = self._tx.next_change()
        if table is pages:
            values["change"] = next_page_change(self._tx)
        own = [table.c[name] == row._mapping[name] for name in key]
        self._tx.connection.execute(update(table).where(*own).values(**values))

    def _value(self, table: Table, column: str, value: Any) -> Any:
        if value is None:
            return None
        if table is secrets:  # captions: no reference within a reference
            return self._redaction.pattern.sub(lambda _: clean_caption(self._redaction.caption), value)
        if (table is items and column == "payload") or (table is changes and column in ("before", "after")):
            return self._item(value)
        if table is items and column == "text":
            return "\n".join(self._field(line) for line in self._text(value).split("\n"))
        return self._walk(value, structured=table is steps and column in ("blocks", "media", "tool_calls"))

    def _text(self, text: str) -> str:
        return text if _OUR_ID.fullmatch(text) else self._redaction.in_text(text)

    def _walk(self, value: Any, *, structured: bool = False) -> Any:
        """A value with the words replaced in every text of it.

        Args:
            structured: whether it is parsed by the keys of messages: these stay, and the values that are no text.
        """
        match value:
            case str():
                return self._text(value)
            case list():
                return [self._walk(part, structured=structured) for part in value]
            case dict():
                return {
                    key if structured and key in _KEYS else self._text(key): self._under(key, part, structured)
                    for key, part in value.items()
                }
            case int() if str(value) == self._redaction.words and not structured:
                return self._redaction.reference
        return value

    def _under(self, key: str, value: Any, structured: bool) -> Any:
        if isinstance(value, str):
            if key == "sha256":
                return self._renamed.get(value, value)
            if structured and key in _STRUCTURE:
                return value
        return self._walk(value, structured=structured and key not in _FREE)

    def _item(self, fields: dict[str, Any]) -> dict[str, Any]:
        new = {key: value if key in _ITEM_STRUCTURE else self._field(value) for key, value in fields.items()}
        if isinstance(new.get("limit"), int) and isinstance(new.get("value"), str):
            new["limit"] = max(new["limit"], len(new["value"]))  # the reference may be longer than the words
        if fields.get("sources"):
            new["sources"] = [{**source, **self._quote(source)} for source in fields["sources"]]
        return new

    def _field(self, value: Any) -> Any:
        """A field of an item. A part of the words, of several words, is replaced too: a manager may have extracted it."""
        words = self._redaction.words.casefold()
        if self._contents and isinstance(value, str) and " " in value.strip() and value.casefold() in words:
            return self._redaction.reference
        return self._walk(value)

    def _quote(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """The new quote and span of a source."""
        quote, start, end = source["quote"], source["start"], source["end"]
        step = self._contents.get(source["step_id"])
        if step is None or start is None or end is None:
            return {"quote": self._redaction.in_text(quote)}
        old, new, edits = step
        moved = {"start": _moved(start, edits, after=False), "end": _moved(end, edits, after=True)}
        exact = old[start:end] == quote
        return {"quote": new[moved["start"] : moved["end"]] if exact else self._redaction.in_text(quote), **moved}

    def _sources(self) -> None:
        for row in self._tx.all(select(sources).where(self._tx.own(sources))):
            values = {name: value for name, value in self._quote(row._asdict()).items() if value != row._mapping[name]}
            if not values:
                continue
            self._write(sources, row, ["user_id", "item_id", "position"], values)
            rewritten = self._ids.setdefault("items", set())
            if row.item_id not in rewritten:
                rewritten.add(row.item_id)
                self._tx.update(items, row.item_id, change=self._tx.next_change())


def _moved(offset: int, edits: list[_Edit], *, after: bool) -> int:
    """An offset of the old text in the new one; within replaced words, the start of the reference or ``after`` it."""
    shift = 0
    for edit in edits:
        if edit.end <= offset:
            shift += len(edit.replacement) - (edit.end - edit.start)
        elif edit.start < offset:
            return edit.start + shift + (len(edit.replacement) if after else 0)
    return offset + shift
