"""Labels that are kept from recall to recall are called what the ledger calls them, whoever renamed or moved them."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.memory_types.labels import Label
from hexamem.stores.kept_vocabularies import KeptVocabularies
from hexamem.stores.labelling import rename_label, write_labels
from hexamem.stores.ledger import Transaction

from .ledger_databases import each_memory, each_user, new_database  # noqa: F401


@pytest.fixture
def user(each_user: UserMemory) -> UserMemory:  # noqa: F811
    each_user.remember("Rob has a boat.")
    return each_user


def entity(user: UserMemory, name: str) -> Label:
    return Label(user=user.name, kind="entity", name=name)


def write(user: UserMemory, *labels: Label) -> None:
    """As the rules do it after a batch."""
    with user.memory.ledger.write(user.name) as tx:
        write_labels(tx, labels, (), {})


def name(kept: KeptVocabularies, tx: Transaction, label: Label) -> str:
    return kept.holding(tx, [label.id]).path(label.id)


def test_a_label_that_the_rules_took_into_another_is_called_as_that_one(user: UserMemory) -> None:
    kept, rob, robert = KeptVocabularies(), entity(user, "Rob"), entity(user, "Robert")
    write(user, rob, robert)
    with user.memory.ledger.read(user.name) as tx:
        assert [name(kept, tx, one) for one in (rob, robert)] == ["Rob", "Robert"]
    write(user, rob.changed(alias_of=robert.id))
    with user.memory.ledger.read(user.name) as tx:
        assert name(kept, tx, rob) == "Robert"


def test_a_label_that_a_person_renamed_has_its_new_name(user: UserMemory) -> None:
    kept, rob = KeptVocabularies(), entity(user, "Rob")
    write(user, rob)
    with user.memory.ledger.read(user.name) as tx:
        assert name(kept, tx, rob) == "Rob"
    with user.memory.ledger.write(user.name) as tx:
        rename_label(tx, "Rob", "Bob", actor="user", reason="")
    with user.memory.ledger.read(user.name) as tx:
        assert name(kept, tx, rob) == "Bob"


def test_labels_of_before_are_not_read_again_where_new_ones_joined_them(user: UserMemory) -> None:
    kept, rob, ann = KeptVocabularies(), entity(user, "Rob"), entity(user, "Ann")
    write(user, rob)
    with user.memory.ledger.read(user.name) as tx:
        before = kept.holding(tx, [rob.id]).by_id[rob.id]
    write(user, ann)
    with user.memory.ledger.read(user.name) as tx:
        both = kept.holding(tx, [rob.id, ann.id])
    assert both.by_id[rob.id] is before
    assert both.path(ann.id) == "Ann"
