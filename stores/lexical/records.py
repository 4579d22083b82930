"""Documents and filters of the lexical index, and their form in tantivy: schema, fields and terms."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from hexamem.errors import InvalidInputError
from hexamem.stores.lexical.tokens import ANALYSIS_VERSION, tokenize_document

__all__ = [
    "EXACT",
    "ID",
    "KIND",
    "LABEL",
    "MIN_HEAP",
    "SPEAKER",
    "STEMMED",
    "THREAD",
    "TIE",
    "TIME",
    "LexicalDocument",
    "LexicalFilter",
    "checked_key",
    "decode_key",
    "encode_key",
    "make_schema",
    "make_stemmer",
    "open_index",
    "tantivy_document",
]

# The schema contains the version, so that an index made by other rules does not open.
STEMMED, EXACT = f"stemmed_{ANALYSIS_VERSION}", "exact"
ID, KIND, THREAD, SPEAKER, LABEL, TIME, TIE = "id", "kind", "thread", "speaker", "label", "time", "tie"
MIN_HEAP = 15_000_000  # bytes; tantivy's minimum per thread
_MAX_ID_BYTES = 8_192
_INT64 = 1 << 63


class LexicalDocument(NamedTuple):
    """A record to index.

    Attributes:
        id: any non-empty string of at most 8,192 bytes.
        text: searched, not stored. It should contain the speaker's name if questions name speakers.
        kind: "step", "page", "core", "episodic", …
        occurred_at: microseconds since 1970 in UTC, may be negative; ``None`` when unknown.
        label_ids: the labels of the record, by id.
    """

    id: str
    text: str
    kind: str
    thread_id: str = ""
    speaker: str = ""
    occurred_at: int | None = None
    label_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class LexicalFilter:
    """Conditions that a hit must all satisfy. ``None`` is no condition; an empty collection matches nothing.

    Attributes:
        since, until: inclusive bounds on ``occurred_at``; a document without a time fails either.
        speakers, kinds, thread_id: compared with case.
        ids: the ids to search, any number; the statistics are those of all the user's documents.
    """

    thread_id: str | None = None
    speakers: frozenset[str] | None = None
    kinds: frozenset[str] | None = None
    since: int | None = None
    until: int | None = None
    ids: Collection[str] | None = None


def make_schema() -> Any:
    """The fields of an index. Frequencies are stored where BM25 needs them; positions and texts are not."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(ID, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(STEMMED, tokenizer_name="stemmed", index_option="freq")
    builder.add_text_field(EXACT, tokenizer_name="words", index_option="freq")
    for name in (KIND, THREAD, SPEAKER, LABEL):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field(TIME, fast=True)
    builder.add_integer_field(TIE, fast=True)
    return builder.build()


def make_stemmer() -> Any:
    """The analyzer of the stemmed field: whitespace, then the English stemmer (Porter 2)."""
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return words.filter(tantivy.Filter.stemmer("english")).build()


def open_index(path: Path) -> Any:
    """The tantivy index in a folder, created when missing; it shows a commit only after ``reload()``.

    Raises:
        ValueError: tantivy cannot open it, or it has another schema.
    """
    index = tantivy.Index(make_schema(), path=str(path))
    index.config_reader("manual")
    index.register_tokenizer("stemmed", make_stemmer())
    index.register_tokenizer("words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    index.reload()
    return index


def checked_key(document: LexicalDocument) -> str:
    """The document's id as a term, after a check of what tantivy cannot store."""
    key = encode_key(document.id)
    if not key or (len(key) > _MAX_ID_BYTES // 4 and len(key.encode()) > _MAX_ID_BYTES):
        raise InvalidInputError(
            f"The id {document.id[:40]!r} of {len(document.id):,} characters must have 1 to {_MAX_ID_BYTES:,} bytes."
        )
    if document.occurred_at is not None and not -_INT64 <= document.occurred_at < _INT64:
        raise InvalidInputError(
            f"occurred_at={document.occurred_at!r} of {document.id!r} must be microseconds since 1970 in 64 bits."
        )
    return key


def tantivy_document(key: str, document: LexicalDocument) -> Any:
    """The document in tantivy's form, tokenized."""
    stemmed, exact = tokenize_document(document.text)
    joined = " ".join(stemmed)
    fields: dict[str, Any] = {
        ID: key,
        STEMMED: joined,
        EXACT: joined if exact is stemmed else " ".join(exact),
        KIND: encode_key(document.kind),
        THREAD: encode_key(document.thread_id),
        SPEAKER: encode_key(document.speaker),
        TIE: int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big", signed=True),
    }
    if document.occurred_at is not None:
        fields[TIME] = document.occurred_at
    if document.label_ids:
        fields[LABEL] = [encode_key(label) for label in dict.fromkeys(document.label_ids)]
    return tantivy.Document(**fields)


def encode_key(value: str) -> str:
    """A string as a term: itself, or NUL and its bytes in hex, if it starts with NUL or has a lone surrogate."""
    if value.isascii():
        return value if value[:1] != "\0" else "\0" + value.encode().hex()
    if value[0] == "\0" or any("\ud800" <= character <= "\udfff" for character in value):
        return "\0" + value.encode("utf-8", "surrogatepass").hex()
    return value


def decode_key(key: str) -> str:
    """The string of a term of :func:`encode_key`."""
    return bytes.fromhex(key[1:]).decode("utf-8", "surrogatepass") if key[0] == "\0" else key
