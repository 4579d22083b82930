"""Rewriting words everywhere in a user's rows: what ``redact`` needs, since history is otherwise append-only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Table, select, update

from hexamem.memory_types.labels import Label
from hexamem.stores.ledger.columns import JsonText, LosslessText
from hexamem.stores.ledger.derived_texts import clear_texts
from hexamem.stores.ledger.label_changes import clear_gists, touch_steps
from hexamem.stores.ledger.labels import mark_corrected, read_labels
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.neutral_names import is_neutral_name, make_names_neutral
from hexamem.stores.ledger.pages import blank_pages, next_page_change
from hexamem.stores.ledger.schema import (
    USER_TABLES,
    changes,
    digests,
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
)
from hexamem.stores.secrets import clean_caption, find_references, reference

__all__ = ["Redaction", "Rewritten", "is_spaced_letter", "rewrite_everywhere", "whole_words"]

# Scripts that write words without spaces between them: there a word stands by itself wherever it stands.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_SPACED_LETTER = f"[^\\W_{_UNSPACED}]"

# Names that other rows and the host point at; a reference in their place would break the link, not hide a secret.
_KEPT = {
    steps: {"thread_id", "message_id", "agent_id", "tool_call_id"},
    pages: {"thread_id"},
    digests: {"covers"},
    labels: {"name"},  # neutral names take the place of those that hold the words
    recalls: {"hits", "operations"},
    intents: {"event_ids", "entity_ids", "antecedents"},
}
_OUR_ID = re.compile(r"[a-z]+_[0-9a-hjkmnp-z]{26}")
# The fields of an item that are not anybody's words, and the words by which blocks of messages are read.
_ITEM_STRUCTURE = frozenset(
    {
        "id",
        "user",
        "kind",
        "created_at",
        "superseded_at",
        "superseded_by",
        "status",
        "version",
        "valid_from",
        "valid_to",
    }
    | {"secret_id", "sensitivity", "occurred_at", "limit", "sources"}
    | {"scope_id", "event_ids", "entity_ids", "antecedents", "tier", "parent_id", "alias_of", "made_from"}
)
_BLOCK_KEYS = frozenset(
    {"type", "id", "call_id", "tool_use_id", "tool_call_id", "file_id", "sha256", "source_type", "status"}
    | {"text", "content", "value", "source", "image_url", "input_audio", "file", "url", "name", "filename", "title"}
    | {"input", "args", "arguments", "output", "mime_type", "media_type", "extras", "metadata", "annotations", "index"}
)
_BLOCK_STRUCTURE = frozenset({"type", "id", "call_id", "tool_use_id", "tool_call_id", "file_id", "source_type"})
_PART = re.compile(r"[^\W_]{3,}")
_MEDIA_WORDS = ("url", "name", "caption", "transcript")


def is_spaced_letter(char: str) -> bool:
    """Whether it is a letter or digit of a script that puts spaces between words."""
    return re.match(_SPACED_LETTER, char) is not None


def whole_words(words: str) -> re.Pattern[str]:
    """Where ``words`` stand by themselves: "1234" is not found in "91234", "cat" not in "concaténer".

    In scripts that put no spaces between words (Chinese, Japanese, Korean, Thai, …) they are found anywhere.
    """
    before = f"(?<!{_SPACED_LETTER})" if is_spaced_letter(words[0]) else ""
    after = f"(?!{_SPACED_LETTER})" if is_spaced_letter(words[-1]) else ""
    return re.compile(before + re.escape(words) + after)


class _Edit(NamedTuple):
    start: int
    end: int
    put: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """Words that are to be replaced by the reference of the secret that keeps them.

    References that stand in a text stay whole: in their captions the bare caption is put, never a reference.
    """

    words: str
    secret_id: str
    caption: str

    @property
    def reference(self) -> str:
        """What is put in place of the words."""
        return reference(self.secret_id, self.caption)

    def edits(self, text: str, *, any_case: bool = False) -> list[_Edit]:
        """The replacements in a text, in order; with ``any_case`` of the words in capitals or small letters too."""
        if self.words not in text and not (any_case and self.words.casefold() in text.casefold()):
            return []
        captions = () if find_references(self.words) else find_references(text)
        found = []
        pattern = whole_words(self.words)
        for match in (re.compile(pattern.pattern, re.IGNORECASE) if any_case else pattern).finditer(text):
            inside = next((r for r in captions if r.start < match.end() and match.start() < r.end), None)
            if inside is None:
                found.append(_Edit(match.start(), match.end(), self.reference))
            elif inside.end - 2 - len(inside.caption) <= match.start() and match.end() <= inside.end - 2:
                found.append(_Edit(match.start(), match.end(), clean_caption(self.caption)))
        return found

    def in_text(self, text: str, *, any_case: bool = False) -> str:
        """The text with the words replaced."""
        pieces: list[str] = []
        end = 0
        for edit in self.edits(text, any_case=any_case):
            pieces += [text[end : edit.start], edit.put]
            end = edit.end
        return "".join([*pieces, text[end:]])

    def in_caption(self, text: str) -> str:
        """A caption of the vault with the words replaced by the bare caption."""
        return whole_words(self.words).sub(lambda _: clean_caption(self.caption), text)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What was rewritten: ids by table."""

    ids: dict[str, set[str]] = field(default_factory=dict)


def rewrite_everywhere(tx: Transaction, redaction: Redaction, renamed: Mapping[str, str] = {}) -> Rewritten:
    """Take words out of every text of the user: steps, labels, items, pages, history, recalls, files, runs, jobs.

    Rewritten steps, items and pages get a new change number, so that the indexes follow. Quotes keep to the words they
    quote: their spans move with the text, and a quote that cut through the words now holds the whole reference.

    Args:
        renamed: old to new hash of the media that were rewritten.
    """
    return _Rewriter(tx, redaction, renamed).run()


class _Rewriter:
    def __init__(self, tx: Transaction, redaction: Redaction, renamed: Mapping[str, str]) -> None:
        self._tx, self._redaction, self._renamed = tx, redaction, renamed
        self._ids: dict[str, set[str]] = {}
        self._contents: dict[str, tuple[str, str, list[_Edit]]] = {}  # step → old content, new content, edits

    def run(self) -> Rewritten:
        self._table(steps)  # first: quotes follow it
        for table in USER_TABLES:
            if table is not steps and table is not sources:
                self._table(table)
        self._sources()
        self._parts(set(self._contents))
        self._label_names()
        touch_steps(self._tx, self._ids.get("intents", set()) - self._ids.get("steps", set()))
        mark_corrected(self._tx)  # whoever keeps labels in memory keeps the words too
        return Rewritten(self._ids)

    def _table(self, table: Table) -> None:
        kept = _KEPT.get(table, set())
        columns = [c.name for c in table.c if isinstance(c.type, (LosslessText, JsonText)) and c.name not in kept]
        key = [column.name for column in table.primary_key]
        extra = [table.c.sha256] if table is files else []
        wanted = [*(table.c[name] for name in dict.fromkeys([*key, *columns])), *extra]
        if not columns:
            return
        for row in self._tx.all(select(*wanted).where(table.c.user_id == self._tx.user_id)):
            values = {name: self._value(table, name, row._mapping[name]) for name in columns}
            values = {name: value for name, value in values.items() if value != row._mapping[name]}
            if not values:
                continue
            if table is steps and "content" in values:
                old = row.content
                self._contents[row.id] = (old, values["content"], self._redaction.edits(old))
            if table in (steps, items):
                values["change"] = self._tx.next_change()
            if table is pages:
                values["change"] = next_page_change(self._tx)
            own = [table.c[name] == row._mapping[name] for name in key]
            self._tx.connection.execute(update(table).where(*own).values(**values))
            self._ids.setdefault(table.name, set()).add(str(row._mapping[key[1]]))

    def _parts(self, step_ids: set[str]) -> None:
        """Take out what labelling made of the rewritten steps: cut short, it may hold the words in part.

        Their summaries and resolved texts go, the gists of their scopes and the memos of their pages too; so in the
        history.
        """
        tx = self._tx
        clear_gists(tx, step_ids)
        blank_pages(tx, step_ids)
        clear_texts(tx, step_ids)
        self._ids.setdefault("intents", set()).update(step_ids)

    def _label_names(self) -> None:
        """Give neutral names to labels whose names hold the words, and to scopes whose names hold a part of them where
        a step held the words: labelling may have cut the name out of its text."""
        words, in_part = self._redaction.words.casefold(), bool(self._contents)

        def holds(label: Label, name: str) -> bool:
            if is_neutral_name(name):
                return False
            parts = _PART.findall(name.casefold()) if in_part and label.kind == "scope" else ()
            # History was rewritten already: there the reference has taken the place of the words.
            whole = self._redaction.reference in name or self._redaction.edits(name, any_case=True)
            return bool(whole) or any(part in words for part in parts)

        meant = [one.id for one in read_labels(self._tx) if holds(one, one.name)]
        make_names_neutral(self._tx, meant, holds)

    def _value(self, table: Table, column: str, value: Any) -> Any:
        if value is None:
            return None
        if table is secrets:
            return self._redaction.in_caption(value)
        if table in (labels, scopes, intents):
            return self._derived(value)
        if (table is items and column == "payload") or (table is changes and column in ("before", "after")):
            return self._item(value)
        if table is items and column == "text":
            return self._deep(
                "\n".join(self._redaction.reference if self._cut(line) else line for line in value.split("\n"))
            )
        if table is steps and column == "tool_calls":
            return [
                {**call, "name": self._text(call["name"]), "arguments": self._deep(call["arguments"])} for call in value
            ]
        if table is steps and column == "media":
            return [self._media(one) for one in value]
        if table is steps and column == "blocks":
            return [self._block(one) for one in value]
        return self._deep(value)

    def _derived(self, value: Any) -> Any:
        """What labelling made of the words may have them in capitals, as a name has."""
        match value:
            case str():
                return value if _OUR_ID.fullmatch(value) else self._redaction.in_text(value, any_case=True)
            case list():
                return [self._derived(part) for part in value]
            case dict():
                return {key: self._derived(part) for key, part in value.items()}
        return value

    def _text(self, text: str) -> str:
        return text if _OUR_ID.fullmatch(text) else self._redaction.in_text(text)

    def _deep(self, value: Any) -> Any:
        match value:
            case str():
                return self._text(value)
            case list():
                return [self._deep(part) for part in value]
            case dict():
                return {self._text(key): self._named(key, part) for key, part in value.items()}
            case bool() | None | float():
                return value
            case _:
                return self._redaction.reference if str(value) == self._redaction.words else value

    def _item(self, fields: dict[str, Any]) -> dict[str, Any]:
        labelling = "made_from" in fields or "event_ids" in fields  # the state of a label or an intent
        read = self._derived if labelling else self._field
        new = {key: value if key in _ITEM_STRUCTURE else read(value) for key, value in fields.items()}
        if isinstance(new.get("limit"), int) and isinstance(new.get("value"), str):
            new["limit"] = max(new["limit"], len(new["value"]))  # a reference may be longer than what it replaces
        if fields.get("sources"):
            new["sources"] = [{**source, **self._quote(source)} for source in fields["sources"]]
        return new

    def _field(self, value: Any) -> Any:
        """A field of an item; one that a manager cut out of the words, as the name of a thing, goes like the words."""
        return self._redaction.reference if isinstance(value, str) and self._cut(value) else self._deep(value)

    def _cut(self, text: str) -> bool:
        """Whether a text is several of the words, where a step held them all."""
        words = self._redaction.words.casefold()
        return bool(self._contents) and len(text.split()) > 1 and text.casefold() in words

    def _media(self, media: dict[str, Any]) -> dict[str, Any]:
        words = {key: self._text(media[key]) for key in _MEDIA_WORDS if key in media}
        return {**media, **words, **({"sha256": self._sha256(media["sha256"])} if "sha256" in media else {})}

    def _block(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._block(part) for part in value]
        if not isinstance(value, dict):
            return self._deep(value)
        new = {}
        for key, part in value.items():
            name = key if key in _BLOCK_KEYS else self._text(key)
            if key == "sha256" and isinstance(part, str):
                new[name] = self._sha256(part)
            else:
                new[name] = part if key in _BLOCK_STRUCTURE and isinstance(part, str) else self._block(part)
        return new

    def _named(self, key: str, value: Any) -> Any:
        return self._sha256(value) if key == "sha256" and isinstance(value, str) else self._deep(value)

    def _sha256(self, value: str) -> str:
        return self._renamed.get(value, value)

    def _quote(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """The quote and span of a source as they are now."""
        quote, start, end = source["quote"], source["start"], source["end"]
        step = self._contents.get(source["step_id"])
        if step is None or start is None or end is None:
            return {"quote": self._redaction.in_text(quote)}
        old, new, edits = step
        moved = {"start": _moved(start, edits, after=False), "end": _moved(end, edits, after=True)}
        exact = old[start:end] == quote
        return {"quote": new[moved["start"] : moved["end"]] if exact else self._redaction.in_text(quote), **moved}

    def _sources(self) -> None:
        touched: set[str] = set()
        for row in self._tx.all(select(sources).where(sources.c.user_id == self._tx.user_id)):
            values = {name: value for name, value in self._quote(row._asdict()).items() if value != row._mapping[name]}
            if values:
                own = (sources.c.user_id == row.user_id) & (sources.c.item_id == row.item_id)
                self._tx.connection.execute(
                    update(sources).where(own & (sources.c.position == row.position)).values(**values)
                )
                touched.add(row.item_id)
        for item_id in sorted(touched - self._ids.get("items", set())):
            own = (items.c.user_id == self._tx.user_id) & (items.c.id == item_id)
            self._tx.connection.execute(update(items).where(own).values(change=self._tx.next_change()))
        if touched:
            self._ids.setdefault("items", set()).update(touched)


def _moved(place: int, edits: list[_Edit], *, after: bool) -> int:
    """Where an offset of the old text lies in the new one; inside a replacement, at its start or ``after`` it."""
    shift = 0
    for edit in edits:
        if edit.end <= place:
            shift += len(edit.put) - (edit.end - edit.start)
        elif edit.start < place:
            return edit.start + shift + (len(edit.put) if after else 0)
    return place + shift
