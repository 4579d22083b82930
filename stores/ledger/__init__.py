"""The ledger: the messages, what was derived from them, and every change, in SQL."""

from hexamem.stores.ledger.history import history_of, item_change, record_operation, undo
from hexamem.stores.ledger.items import (
    changed_items,
    event_time,
    get_items,
    has_own_time,
    items_citing,
    read_items,
    select_item_ids,
)
from hexamem.stores.ledger.ledger import Ledger, Transaction, check_name, user_key
from hexamem.stores.ledger.progress import read_projections, set_projection
from hexamem.stores.ledger.recalls import log_recalls, read_recall, recall_row, write_feedback
from hexamem.stores.ledger.rewrite import Redaction, erase_rows, is_spaced_letter, rewrite_everywhere, whole_words
from hexamem.stores.ledger.steps import (
    Arrival,
    IndexedStep,
    append_steps,
    changed_steps,
    get_steps,
    known_messages,
    last_message,
    neighbours,
    next_turn,
    select_step_ids,
    thread_steps,
)
from hexamem.stores.ledger.transfer import import_lines, read_entries
from hexamem.stores.ledger.vault import Reveal, list_secrets, read_reveals, reveal_secret, store_secret

__all__ = [
    "Arrival",
    "IndexedStep",
    "Ledger",
    "Redaction",
    "Reveal",
    "Transaction",
    "append_steps",
    "changed_items",
    "changed_steps",
    "check_name",
    "erase_rows",
    "event_time",
    "get_items",
    "get_steps",
    "has_own_time",
    "history_of",
    "import_lines",
    "is_spaced_letter",
    "item_change",
    "items_citing",
    "known_messages",
    "last_message",
    "list_secrets",
    "log_recalls",
    "neighbours",
    "next_turn",
    "read_entries",
    "read_items",
    "read_projections",
    "read_recall",
    "read_reveals",
    "recall_row",
    "record_operation",
    "reveal_secret",
    "rewrite_everywhere",
    "select_item_ids",
    "select_step_ids",
    "set_projection",
    "store_secret",
    "thread_steps",
    "undo",
    "user_key",
    "whole_words",
    "write_feedback",
]
