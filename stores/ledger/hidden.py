"""What labelling made of words that were forgotten: put away while they are, back in its place when they are not.

A label may be named by a step, a gist may tell of it, another step's references may be put into its words. When that
step is forgotten, these texts must show nowhere, and they must be there again when it is restored. So they are moved
into the table ``hidden``, each with the ids of the forgotten steps whose words it holds, and a label gets another name
from the steps that are left. It is no operation of its own: it follows the steps, whatever forgets or restores them.
What history compares is a label or intent as it is without that, see ``hidden_rows.py``.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from hexamem.stores.ledger.hidden_gists import hide_gists, show_gists
from hexamem.stores.ledger.hidden_names import hide_names, show_names
from hexamem.stores.ledger.hidden_texts import hide_own_texts, hide_texts, show_texts
from hexamem.stores.ledger.labels import carried_labels, read_labels
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.schema import changes, operations, steps
from hexamem.stores.ledger.wording import Said
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["put_away", "put_away_all", "put_away_parts", "put_back"]


def put_away(tx: Transaction, step_ids: Collection[str]) -> None:
    """Put away what labelling made of the words of steps that were just forgotten.

    Names of labels are left where nobody told how labels are named (``tx.wording``).
    """
    _put_away(tx, step_ids, gists=True)


def put_away_all(tx: Transaction) -> None:
    """Put away names and texts made of all steps that are forgotten: also of those from before any were put away.

    Gists were emptied then, and what was made since tells of nothing forgotten.
    """
    forgotten = select(steps.c.id).where(steps.c.user_id == tx.user_id, steps.c.status == "forgotten")
    step_ids = {row.id for row in tx.all(forgotten)}
    if step_ids:
        _put_away(tx, step_ids, gists=False)


def put_away_parts(tx: Transaction, step_ids: Collection[str]) -> None:
    """Put away what labelling made of words that were taken out of steps, whose rest is there, as history has them."""
    told = _taken_out(tx, step_ids)
    if told is None:
        return
    _put_away(tx, told.words, gists=True, said=told)
    hide_own_texts(tx, told.words)


def _taken_out(tx: Transaction, step_ids: Collection[str]) -> Said | None:
    """The words that were taken out of steps, as history has them; None where none were."""
    if not step_ids:
        return None
    own = (changes.c.user_id == tx.user_id) & (changes.c.target == "text")
    whole: dict[str, str] = {}
    for part in chunks(step_ids):
        of_operation = (operations.c.user_id == changes.c.user_id) & (operations.c.id == changes.c.operation_id)
        rows = select(changes.c.target_id, changes.c.before).join(operations, of_operation)
        for row in tx.all(rows.where(own, changes.c.target_id.in_(part)).order_by(operations.c.seq)):
            whole.setdefault(row.target_id, row.before["content"])
    if not whole:
        return None
    said = Said.of(tx, whole)
    if tx.wording is None:
        return Said([], dict.fromkeys(whole, frozenset()))
    telling = tx.wording.telling
    out = {row.id: telling(whole[row.id]) - said.words[row.id] for row in said.rows if row.content != whole[row.id]}
    return Said([row for row in said.rows if row.id in out], out) if out else None


def _put_away(tx: Transaction, step_ids: Collection[str], *, gists: bool, said: Said | None = None) -> None:
    vocabulary = Vocabulary(read_labels(tx))
    carried = _carried(tx, vocabulary, step_ids)
    said = Said.of(tx, step_ids) if said is None else said
    if gists:
        hide_gists(tx, step_ids, said, vocabulary, carried)
    hide_texts(tx, step_ids, said, {one for label in carried for one in vocabulary.same(label)})
    hide_names(tx, said, vocabulary, carried)


def put_back(tx: Transaction, step_ids: Collection[str]) -> None:
    """Bring back what was put away for steps that were just restored, unless others hold it back."""
    show_gists(tx, step_ids)
    show_texts(tx, step_ids)
    vocabulary = Vocabulary(read_labels(tx))
    show_names(tx, step_ids, vocabulary, _carried(tx, vocabulary, step_ids))
    put_away_parts(tx, step_ids)  # of what was taken out before they were forgotten whole


def _carried(tx: Transaction, vocabulary: Vocabulary, step_ids: Collection[str]) -> set[str]:
    return vocabulary.with_wider({label for ids in carried_labels(tx, step_ids).values() for label in ids})
