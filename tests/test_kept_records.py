"""What is kept of records is what a transaction sees, read once, and bounded."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import cast

from sqlalchemy import Connection

from hexamem.stores.kept_records import KeptRecords, Listing
from hexamem.stores.ledger import Ledger, Transaction


class Records:
    """Stands in for a table: record → (change number, words)."""

    def __init__(self, **words: str) -> None:
        self.rows = {name: (1, text) for name, text in words.items()}
        self.asked: list[list[str]] = []

    def read(self, tx: Transaction, ids: Collection[str]) -> dict[str, str]:
        self.asked.append(sorted(ids))
        return {one: self.rows[one][1] for one in ids if one in self.rows}

    def changed(self, tx: Transaction, since: int, most: int) -> set[str] | None:
        found = {one for one, (change, _) in self.rows.items() if change > since}
        return None if len(found) >= most else found


def at(change: int, user: str = "ann", registered: int = 1) -> Transaction:
    return Transaction(cast("Connection", None), user, 1, "UTC", change, registered)


def test_a_record_is_read_once() -> None:
    records = Records(a="one", b="two", c="three")
    kept = KeptRecords(records.read, records.changed)
    assert kept.of(at(1), ["a", "b"]) == {"a": "one", "b": "two"}
    assert list(kept.of(at(1), ["c", "a"]).items()) == [("c", "three"), ("a", "one")]
    assert records.asked == [["a", "b"], ["c"]]


def test_what_there_is_nothing_of_is_asked_for_again() -> None:
    records = Records(a="one")
    kept = KeptRecords(records.read, records.changed)
    assert kept.of(at(1), ["a", "b"]) == {"a": "one"}
    records.rows["b"] = (1, "two")
    assert kept.of(at(1), ["a", "b"]) == {"a": "one", "b": "two"}


def test_only_what_changed_is_read_again() -> None:
    records = Records(a="one", b="two")
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(1), ["a", "b"])
    records.rows["b"] = (2, "other")
    assert kept.of(at(2), ["a", "b"]) == {"a": "one", "b": "other"}
    assert records.asked == [["a", "b"], ["b"]]


def test_of_many_changes_nothing_is_trusted() -> None:
    records = Records(**{f"r{number}": "old" for number in range(2_100)})
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(1), ["r0", "r1"])
    records.rows = dict.fromkeys(records.rows, (2, "new"))
    assert kept.of(at(2), ["r0", "r1"]) == {"r0": "new", "r1": "new"}


def test_a_transaction_of_before_neither_sees_nor_leaves_anything() -> None:
    records = Records(a="new")
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(5), ["a"])
    records.rows["a"] = (1, "old")  # as the earlier state has it
    before = KeptRecords(records.read, records.changed)
    assert before.of(at(1), ["a"]) == {"a": "old"}
    records.rows["a"] = (5, "new")
    assert before.of(at(5), ["a"]) == {"a": "new"}
    assert kept.of(at(5), ["a"]) == {"a": "new"}


def test_another_user_of_the_same_name_is_told_apart() -> None:
    records = Records(a="hers")
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(3, registered=1), ["a"])
    records.rows["a"] = (1, "his")
    assert kept.of(at(3, registered=2), ["a"]) == {"a": "his"}


def test_users_and_records_are_bounded() -> None:
    records = Records(**{name: name for name in "abcdef"})
    kept = KeptRecords(records.read, records.changed, users=2, records=3, total=4)
    kept.of(at(1, "ann"), "abc")
    kept.of(at(1, "ben"), "abc")
    kept.of(at(1, "ben"), "a")
    assert kept.of(at(1, "ann"), "a") == {"a": "a"}
    assert records.asked == [["a", "b", "c"], ["a", "b", "c"], ["a"]], "three of each are more than four: ann went"
    assert kept.of(at(1, "ben"), "def") == {"d": "d", "e": "e", "f": "f"}
    kept.of(at(1, "ben"), "d")
    kept.of(at(1, "ben"), "a")
    assert records.asked[3:] == [["d", "e", "f"], ["a"]], "with more than three it began anew"


def test_what_is_dropped_is_read_again() -> None:
    records = Records(a="one")
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(1), ["a"])
    kept.drop("ann")
    kept.of(at(1), ["a"])
    assert records.asked == [["a"], ["a"]]


def test_what_a_writer_sees_is_kept_for_nobody() -> None:
    """It may be rolled back, and its change number given to another."""
    records = Records(a="committed")
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(1), ["a"])
    records.rows["a"] = (2, "rolled back")
    writer = Transaction(cast("Connection", None), "ann", 1, "UTC", 2, 1, writing=True)
    assert kept.of(writer, ["a"]) == {"a": "rolled back"}
    records.rows["a"] = (2, "written after it")
    assert kept.of(at(2), ["a"]) == {"a": "written after it"}


def test_a_transaction_says_whether_it_writes(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path)
    with ledger.write("ann") as tx:
        assert tx.writing
    with ledger.read("ann") as tx:
        assert not tx.writing
    ledger.close()


# -- what is taken in without being asked for ---------------------------------------------------------------------


def listing(records: Records) -> Listing:
    """The records by their places, the last first; the names are the places."""

    def before(tx: Transaction, place: int | None, most: int) -> list[tuple[str, int]]:
        found = [int(name[1:]) for name in records.rows if place is None or int(name[1:]) < place]
        return [(f"r{number}", number) for number in sorted(found, reverse=True)[:most]]

    return before


def test_the_rest_is_taken_in_a_part_at_a_time_the_newest_first_and_each_once() -> None:
    records = Records(**{f"r{number}": "said" for number in range(1, 6)})
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(5), ["r4"])
    assert [kept.fill(at(5), listing(records), 2) for _ in range(3)] == [True, True, False]
    assert records.asked == [["r4"], ["r5"], ["r2", "r3"], ["r1"]]
    kept.of(at(5), list(records.rows))
    assert len(records.asked) == 4, "all were there"


def test_nothing_is_taken_in_of_one_whom_nobody_asked_for_who_was_dropped_or_who_is_another_now() -> None:
    records = Records(r1="said")
    kept = KeptRecords(records.read, records.changed)
    assert not kept.fill(at(1), listing(records), 2)
    kept.of(at(1), ["r2"])
    assert not kept.fill(at(1, registered=2), listing(records), 2)
    kept.drop("ann")
    assert not kept.holds("ann")
    assert not kept.fill(at(1), listing(records), 2)
    assert records.asked == [["r2"]]


def test_what_changed_while_the_rest_was_taken_in_is_not_kept_as_it_was() -> None:
    records = Records(r1="old", r2="old")
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(1), ["r2"])
    records.rows["r2"] = (2, "new")
    kept.fill(at(2), listing(records), 1)
    assert kept.of(at(2), ["r1", "r2"]) == {"r1": "old", "r2": "new"}


def test_what_changed_is_taken_in_too_where_all_are_kept_already() -> None:
    records = Records(r1="old", r2="old")
    looked: list[int] = []

    def changed(tx: Transaction, since: int, most: int) -> set[str] | None:
        looked.append(since)
        return records.changed(tx, since, most)

    kept = KeptRecords(records.read, changed)
    kept.of(at(1), ["r1", "r2"])
    assert not kept.fill(at(1), listing(records), 3)
    records.rows["r2"] = (2, "new")
    assert not kept.fill(at(2), listing(records), 3)
    assert looked == [1]
    assert kept.of(at(2), ["r1", "r2"]) == {"r1": "old", "r2": "new"}
    assert looked == [1], "the recall need not look"


def test_a_transaction_of_before_takes_nothing_in() -> None:
    records = Records(r1="new")
    kept = KeptRecords(records.read, records.changed)
    kept.of(at(2), ["r0"])
    assert kept.fill(at(1), listing(records), 2)
    assert records.asked == [["r0"]]


def test_nothing_is_taken_in_where_as_many_are_kept_as_may_be() -> None:
    records = Records(**{f"r{number}": "said" for number in range(1, 7)})
    kept = KeptRecords(records.read, records.changed, total=3)
    kept.of(at(1), ["r6"])
    assert [kept.fill(at(1), listing(records), 2) for _ in range(3)] == [True, True, False]
    assert records.asked == [["r6"], ["r5"], ["r3", "r4"]]
