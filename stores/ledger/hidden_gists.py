"""What scopes are about so far, put away while a step is forgotten of which that may tell.

A scope that is told of anew while an earlier gist is put away may lose that one too: each is kept, with the steps that
hold it back.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, insert, select

from hexamem.stores.ledger.hidden_rows import Hidden, drop_hidden, read_hidden, write_hidden
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.schema import scopes
from hexamem.stores.ledger.wording import Said, active_texts, unsaid
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["drop_gists", "hide_gists", "show_gists"]


def hide_gists(
    tx: Transaction, step_ids: Collection[str], said: Said, vocabulary: Vocabulary, carried: Collection[str]
) -> None:
    """Put away what scopes are about, of those that carry the steps and of any that tells of their words.

    Args:
        step_ids: the forgotten steps.
        said: what they say.
        carried: the labels that they carry, with the wider ones.
    """
    own = scopes.c.user_id == tx.user_id
    shown = {row.label_id: row.gist for row in tx.all(select(scopes.c.label_id, scopes.c.gist).where(own))}
    known = read_hidden(tx, "gist")
    for label_id in sorted(shown.keys() | known.keys()):
        row = known.get(label_id) or Hidden("gist", label_id, set(), [])
        kept = [*row.kept, *([{"gist": shown[label_id], "by": []}] if label_id in shown else [])]
        scope = vocabulary.canonical(label_id)
        meant = [entry for entry in kept if scope in carried or _tells(tx, vocabulary, scope, entry["gist"], said)]
        if not meant:
            continue
        for entry in meant:
            entry["by"] = sorted({*entry["by"], *step_ids})
        row.kept = [entry for entry in kept if entry["by"]]
        if label_id in shown and kept[-1]["by"]:
            tx.connection.execute(delete(scopes).where(own, scopes.c.label_id == label_id))
        _write(tx, row)


def _tells(tx: Transaction, vocabulary: Vocabulary, scope: str, gist: str, said: Said) -> bool:
    """Whether a gist holds words that nobody says any more but these steps."""
    if tx.wording is None or not (told := tx.wording.telling(gist) & said.all):
        return False
    left = unsaid(tx.wording, told, active_texts(tx, vocabulary.covering(scope)))
    return bool(left and unsaid(tx.wording, left, active_texts(tx, None)))


def show_gists(tx: Transaction, step_ids: Collection[str]) -> None:
    """Bring back what scopes were about, for steps that were restored; the newest, where none was made since."""
    for row in read_hidden(tx, "gist").values():
        if row.by.isdisjoint(step_ids):
            continue
        for entry in row.kept:
            entry["by"] = sorted(set(entry["by"]).difference(step_ids))
        free = [entry["gist"] for entry in row.kept if not entry["by"]]
        own = (scopes.c.user_id == tx.user_id) & (scopes.c.label_id == row.target_id)
        if free and tx.first(select(scopes.c.label_id).where(own)) is None:
            values = {"user_id": tx.user_id, "label_id": row.target_id, "gist": free[-1]}
            tx.connection.execute(insert(scopes).values(**values))
        row.kept = [entry for entry in row.kept if entry["by"]]
        _write(tx, row)


def drop_gists(tx: Transaction, step_ids: Collection[str], scope_ids: Collection[str]) -> None:
    """Let go for good what is put away of these scopes or held back by these steps: it was redacted."""
    for row in read_hidden(tx, "gist").values():
        row.kept = [entry for entry in row.kept if row.target_id not in scope_ids and not {*step_ids} & {*entry["by"]}]
        _write(tx, row)


def _write(tx: Transaction, row: Hidden) -> None:
    row.by = {step_id for entry in row.kept for step_id in entry["by"]}
    if row.kept:
        write_hidden(tx, row)
    else:
        drop_hidden(tx, row.target, row.target_id)
