"""The ledger's tables, the same on SQLite and PostgreSQL.

Each user has one counter, ``users.change``: every inserted or changed step and item takes the next number, so that one
number is the progress of an index. The counter's row is locked, so that numbers and commits have the same order. Pages
have change numbers of their own.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    and_,
    func,
)

from hexamem.stores.ledger.columns import IdText, JsonText, LosslessText, Micros

__all__ = ["INDEX_TEXT", "SPEAKER", "USER_TABLES", "WITH_INTENT", "metadata"]

metadata = MetaData()


def _user() -> Column[int]:
    return Column("user_id", Integer, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)


def _key() -> tuple[Column[int], Column[str]]:
    # The user is part of every key: two users may hold the same id (an import), and no id reaches across users.
    return _user(), Column("id", IdText, primary_key=True)


def _belongs(column: str, table: str, target: str = "id") -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["user_id", column], [f"{table}.user_id", f"{table}.{target}"], ondelete="CASCADE")


meta = Table("meta", metadata, Column("key", IdText, primary_key=True), Column("value", Text, nullable=False))

users = Table(
    "users",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", String(32), nullable=False, unique=True),
    Column("name", LosslessText, nullable=False),
    Column("timezone", IdText, nullable=False, default="UTC"),
    Column("change", BigInteger, nullable=False, default=0),
    Column("created_at", Micros, nullable=False),
)

steps = Table(
    "steps",
    metadata,
    *_key(),
    Column("seq", BigInteger, nullable=False),
    Column("change", BigInteger, nullable=False),
    Column("thread_id", LosslessText, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("role", String(16), nullable=False),
    Column("name", LosslessText),
    Column("content", LosslessText, nullable=False),
    Column("blocks", JsonText),
    Column("reasoning", LosslessText),
    Column("tool_calls", JsonText),
    Column("tool_call_id", LosslessText),
    Column("media", JsonText),
    Column("index_text", LosslessText),  # NULL where it equals the content
    Column("message_id", LosslessText),
    Column("agent_id", LosslessText),
    Column("occurred_at", Micros, nullable=False),
    Column("offset_minutes", Integer, nullable=False, default=0),
    Column("created_at", Micros, nullable=False),
    Column("status", String(16), nullable=False, default="active"),
    Column("metadata", JsonText),
    UniqueConstraint("user_id", "thread_id", "turn", name="uq_steps_turn"),
    UniqueConstraint("user_id", "thread_id", "message_id", name="uq_steps_message"),
    Index("ix_steps_seq", "user_id", "seq"),
    Index("ix_steps_change", "user_id", "change"),
    Index("ix_steps_time", "user_id", "occurred_at"),
)

intents = Table(
    "intents",
    metadata,
    _user(),
    Column("step_id", IdText, primary_key=True),
    Column("scope_id", IdText),
    Column("event_ids", JsonText),
    Column("entity_ids", JsonText),
    Column("resolved_text", LosslessText),  # NULL where it equals what is searched of the step
    Column("summary", LosslessText),
    Column("antecedents", JsonText),
    Column("confidence", Float, nullable=False, default=1.0),
    Column("tier", String(16)),
    Column("provisional", Boolean, nullable=False, default=False),
    _belongs("step_id", "steps"),
)

WITH_INTENT = and_(intents.c.user_id == steps.c.user_id, intents.c.step_id == steps.c.id)
"""Joins steps with their labels: ``select(...).outerjoin(intents, WITH_INTENT)``."""
INDEX_TEXT = func.coalesce(steps.c.index_text, steps.c.content).label("indexed")
"""The text under which a step is indexed: that of its blocks where it differs, else its content."""
SPEAKER = func.coalesce(func.nullif(steps.c.name, ""), steps.c.role).label("speaker")
"""The name of a step's speaker, else the role."""

pages = Table(
    "pages",
    metadata,
    *_key(),
    Column("seq", BigInteger, nullable=False),  # of its first step
    Column("change", BigInteger, nullable=False),
    Column("thread_id", LosslessText, nullable=False),
    # The steps of the thread from one turn to the other, both inclusive: no step can be missing or in two pages.
    Column("first_turn", Integer, nullable=False),
    Column("last_turn", Integer, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("tokens", Integer, nullable=False, default=0),
    Column("session", Integer, nullable=False, default=1),
    Column("header", LosslessText, nullable=False, default=""),
    Column("memo", LosslessText, nullable=False, default=""),
    Column("tier", String(16), nullable=False, default="embedded"),  # who wrote header and memo
    Column("scope_id", IdText),
    Column("started_at", Micros, nullable=False),
    Column("ended_at", Micros, nullable=False),
    Column("created_at", Micros, nullable=False),
    Column("closed", Boolean, nullable=False, default=False),
    Column("stale", Boolean, nullable=False, default=False),  # its texts must be derived again
    UniqueConstraint("user_id", "thread_id", "first_turn", name="uq_pages_turn"),
    Index("ix_pages_change", "user_id", "change"),
    Index("ix_pages_seq", "user_id", "seq"),
)

items = Table(
    "items",
    metadata,
    *_key(),
    Column("change", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("payload", JsonText, nullable=False),
    Column("text", LosslessText, nullable=False),
    Column(
        "statement_key", String(24), nullable=False
    ),  # of the same statements the same; see memory_types/item_keys.py
    Column("slot", LosslessText, nullable=False, default=""),
    Column("labels", JsonText, nullable=False, default=list),
    Column("event_at", Micros, nullable=False),  # when it happened, else became valid, else was learned
    Column("valid_from", Micros),
    Column("valid_to", Micros),
    Column("created_at", Micros, nullable=False),
    Column("superseded_at", Micros),
    Column("superseded_by", IdText),
    Column("status", String(16), nullable=False, default="active"),
    Column("version", Integer, nullable=False, default=1),
    Column("metadata", JsonText, nullable=False, default=dict),
    Index("ix_items_change", "user_id", "change"),
    Index("ix_items_kind", "user_id", "kind", "status"),
    Index("ix_items_statement", "user_id", "kind", "statement_key"),
    Index("ix_items_slot", "user_id", "kind", "slot"),
)

sources = Table(
    "sources",
    metadata,
    _user(),
    Column("item_id", IdText, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("step_id", IdText, nullable=False),
    Column("quote", LosslessText, nullable=False, default=""),
    Column("start", Integer),
    Column("end", Integer),
    Index("ix_sources_step", "user_id", "step_id"),
    _belongs("item_id", "items"),
)

operations = Table(
    "operations",
    metadata,
    *_key(),
    Column("seq", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("actor", LosslessText, nullable=False),
    Column("reason", LosslessText, nullable=False, default=""),
    Column("undoes", IdText),
    Column("undone_by", IdText),
    Column("created_at", Micros, nullable=False),
    Index("ix_operations_seq", "user_id", "seq"),
    Index("ix_operations_undoes", "user_id", "undoes"),
)

changes = Table(
    "changes",
    metadata,
    _user(),
    Column("operation_id", IdText, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("target", String(16), nullable=False),
    Column("target_id", IdText, nullable=False),
    Column("before", JsonText),
    Column("after", JsonText),
    Index("ix_changes_target", "user_id", "target_id"),
    _belongs("operation_id", "operations"),
)

labels = Table(
    "labels",
    metadata,
    *_key(),
    Column("kind", String(16), nullable=False),
    Column("name", LosslessText, nullable=False),
    Column("parent_id", IdText),
    Column("within", IdText, nullable=False, default=""),  # in which the name is unique: a scope's parent, else ""
    Column("alias_of", IdText),
    Column("made_from", IdText),  # the label that this one was split off
    Column("pinned", Boolean, nullable=False, default=False),
    Column("undone", Boolean, nullable=False, default=False),  # the split was undone: it is an alias of ``made_from``
    Column("change", BigInteger, nullable=False, default=0),
    Column("created_at", Micros, nullable=False),
)
# A label that was merged into another retains its name, by which the other one is found too.
Index(
    "uq_labels_name",
    labels.c.user_id,
    labels.c.kind,
    labels.c.within,
    labels.c.name,
    unique=True,
    sqlite_where=labels.c.alias_of.is_(None) & labels.c.undone.is_(False),
    postgresql_where=labels.c.alias_of.is_(None) & labels.c.undone.is_(False),
)

scopes = Table(
    "scopes",
    metadata,
    _user(),
    Column("label_id", IdText, primary_key=True),
    Column("gist", LosslessText, nullable=False, default=""),
    _belongs("label_id", "labels"),
)

labelings = Table(
    "labelings",
    metadata,
    _user(),
    Column("target_id", IdText, primary_key=True),
    Column("label_id", IdText, primary_key=True),
    Column("target", String(16), nullable=False),
    Index("ix_labelings_label", "user_id", "label_id"),
    _belongs("label_id", "labels"),
    sqlite_with_rowid=False,  # the key is the whole row
)

secrets = Table(
    "secrets",
    metadata,
    *_key(),
    Column("kind", LosslessText, nullable=False),
    Column("caption", LosslessText, nullable=False),
    Column("sensitivity", String(8), nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("digest", IdText, nullable=False),
    Column("created_at", Micros, nullable=False),
    UniqueConstraint("user_id", "digest", name="uq_secrets_digest"),
)

reveals = Table(
    "reveals",
    metadata,
    *_key(),
    Column("secret_id", IdText, nullable=False),
    Column("actor", LosslessText, nullable=False),
    Column("reason", LosslessText, nullable=False),
    Column("created_at", Micros, nullable=False),
    _belongs("secret_id", "secrets"),
)

files = Table(
    "files",
    metadata,
    _user(),
    Column("sha256", IdText, primary_key=True),
    Column("mime_type", LosslessText),
    Column("name", LosslessText),
    Column("size", BigInteger, nullable=False),
    Column("text", LosslessText),
    Column("created_at", Micros, nullable=False),
)

jobs = Table(
    "jobs",
    metadata,
    *_key(),
    Column("kind", String(32), nullable=False),
    Column("payload", JsonText, nullable=False),
    Column("status", String(16), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("error", LosslessText),
    Column("created_at", Micros, nullable=False),
    Column("due_at", Micros, nullable=False),
    Column("key", LosslessText),  # of one kind and key, at most one job waits
    Column("owner", IdText),  # the claim on it: home.claim
    Column("claimed_until", Micros),  # when that claim expires
    Index("ix_jobs_due", "status", "due_at"),
)

runs = Table(
    "runs",
    metadata,
    *_key(),
    Column("task", LosslessText, nullable=False),
    Column("environment", LosslessText, nullable=False, default=""),
    Column("status", String(16), nullable=False),
    Column("outcome", Boolean),
    Column("outcome_source", String(16)),
    Column("confidence", Float),
    Column("reason", LosslessText),
    Column("evidence", LosslessText, nullable=False, default=""),
    Column("shown", JsonText),  # ids of the experience items that were shown
    Column("distilled", Boolean),
    Column("started_at", Micros, nullable=False),
    Column("finished_at", Micros),
    Column("metadata", JsonText, nullable=False, default=dict),
    Index("ix_runs_started", "user_id", "started_at"),
)

run_steps = Table(
    "run_steps",
    metadata,
    _user(),
    Column("run_id", IdText, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("thought", LosslessText, nullable=False, default=""),
    Column("action", LosslessText, nullable=False, default=""),
    Column("observation", LosslessText, nullable=False, default=""),
    Column("error", LosslessText),
    Column("occurred_at", Micros, nullable=False),
    _belongs("run_id", "runs"),
)

recalls = Table(
    "recalls",
    metadata,
    *_key(),
    Column("query", LosslessText, nullable=False),
    Column("strategy", IdText, nullable=False),
    Column("hits", JsonText, nullable=False),
    Column("created_at", Micros, nullable=False),
    Index("ix_recalls_user", "user_id", "created_at"),
)

feedback = Table(
    "feedback",
    metadata,
    _user(),
    Column("recall_id", IdText, primary_key=True),
    Column("hit_id", IdText, primary_key=True),
    Column("verdict", String(8), nullable=False),
    Column("created_at", Micros, nullable=False),
    _belongs("recall_id", "recalls"),
)

# A cache for slow or paid embedders; a row contains a hash, never text, and belongs to one user.
vectors = Table(
    "vectors",
    metadata,
    _user(),
    Column("text_hash", IdText, primary_key=True),
    Column("fingerprint", IdText, primary_key=True),
    Column("vector", LargeBinary, nullable=False),  # float16, little-endian
)

projections = Table(
    "projections",
    metadata,
    _user(),
    Column("home", IdText, primary_key=True),  # the home of the index; "" for what all homes on a ledger share
    Column("name", String(32), primary_key=True),
    Column("change", BigInteger, nullable=False, default=0),
)

usage = Table(
    "usage",
    metadata,
    *_key(),
    Column("operation", IdText, nullable=False),
    Column("agent", IdText, nullable=False),
    Column("calls", Integer, nullable=False, default=0),
    Column("input_tokens", BigInteger, nullable=False, default=0),
    Column("output_tokens", BigInteger, nullable=False, default=0),
    Column("seconds", Float, nullable=False, default=0.0),
    Column("created_at", Micros, nullable=False),
)

USER_TABLES: tuple[Table, ...] = tuple(table for table in reversed(metadata.sorted_tables) if "user_id" in table.c)
"""Every table with rows of a user, children before parents: the order in which rows may be deleted."""
