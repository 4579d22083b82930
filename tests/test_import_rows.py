"""An export with one field changed: it is refused by its row, or what it brings in works like any other memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from hexamem import Memory, Settings
from hexamem.errors import CorruptFileError, HexamemError
from hexamem.stores.ledger import read_entries
from hexamem.stores.ledger.transfer import export_lines

from .test_export import fill

VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 5, 2**31, 2**63, 10**30, -(10**18), 1.5, 1e300),
    *("", " ", "x", "\ud800", "\x00", "y" * 9_000, "step_x", "active"),
    *([], [5], ["x"], [[]], [None], {}, {"a": 1}, {"kind": "core"}, [{"type": 5}], {"user": 5}),
]


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The entries of an export with rows in every table that is exported without a passphrase."""
    folder = tmp_path_factory.mktemp("entries")
    with Memory.open(folder / "home", embedder="static", settings=Settings(background=False)) as memory:
        alice = memory.user("alice")
        fill(alice)
        for day in range(1, 5):
            talk = [f"Day {day}: we booked hotel {n} in Lisbon and paid Ben {n} euros." for n in range(12)]
            alice.remember(
                [{"role": "user", "content": each, "timestamp": f"2024-05-0{day}T09:30:00Z"} for each in talk],
                thread_id="trip",
            )
        run = alice.experience.start("pay the bill", env="shop")
        run.step(action="open till", observation="it is open")
        run.finish(True)
        memory.flush()
        first = alice.labels.list()[0]
        alice.labels.rename(first.id, "Journey")
        alice.undo(alice.history()[-1].id)
        memory.flush()
        alice.pages()
        alice.export(folder / "alice.jsonl")
    with (folder / "alice.jsonl").open("rb") as lines:
        return read_entries(lines, "alice.jsonl")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("importing")
    with Memory.open(folder / "home", embedder="static", settings=Settings(background=False)) as opened:
        opened.user("zoe").remember("Zoe likes tea.")
        yield opened


def written(entries: list[dict[str, Any]], path: Path) -> Path:
    """The entries as a file with right checksums."""
    path.write_text("".join(export_lines(entries)), "utf-8", newline="\n")
    return path


def use(memory: Memory, name: str, folder: Path) -> None:
    """Everything that reads what was imported."""
    user = memory.user(name)
    user.remember("We went to Lisbon again.", thread_id="trip")
    assert memory.flush() in (True, False)
    assert len(user.recall("Where did we book a hotel?").hits) > 0
    user.recall("Who paints?", as_of="2024-05-02", strategy="rrf")
    user.steps()
    user.items(superseded=True)
    user.items(known_at="2030-01-01T00:00:00Z")
    user.labels.list()
    user.pages()
    [user.experience.steps(run.id) for run in user.experience.runs()]
    user.experience.stats()
    for operation in user.history()[::-1][:8]:
        try:
            user.undo(operation.id)
        except HexamemError:
            continue
    user.export(folder / "again.jsonl")
    user.erase()


def mutated(entries: list[dict[str, Any]], number: int, field: str, value: Any) -> list[dict[str, Any]]:
    entry = entries[number]
    return [*entries[:number], {**entry, "row": {**entry["row"], field: value}}, *entries[number + 1 :]]


ROWS = st.tuples(st.integers(0, 10**6), st.integers(0, 100), st.sampled_from(VALUES))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=ROWS)
def test_a_row_with_one_changed_field_is_refused_or_harms_nothing(
    memory: Memory, entries: list[dict[str, Any]], tmp_path: Path, place: tuple[int, int, Any]
) -> None:
    tables = sorted({entry["table"] for entry in entries if "table" in entry})
    table = tables[place[0] % len(tables)]
    numbers = [number for number, entry in enumerate(entries) if entry.get("table") == table]
    number = numbers[place[0] % len(numbers)]
    fields = list(entries[number]["row"])
    field = fields[place[1] % len(fields)]
    before = memory.users()
    try:
        memory.user("yan").import_(written(mutated(entries, number, field, place[2]), tmp_path / "x.jsonl"))
    except HexamemError:
        assert memory.users() == before
        return
    use(memory, "yan", tmp_path)


REFUSED: dict[str, tuple[str, str, Any]] = {
    "a payload that is no mapping": ("items", "payload", 5),
    "a payload over a column": ("items", "payload", {"id": "item_other"}),
    "a time out of the calendar": ("steps", "occurred_at", 10**18),
    "a number that no column holds": ("operations", "seq", 2**63),
    "an unknown label": ("intents", "scope_id", "label_nope"),
    "an undo of nothing": ("operations", "undoes", "op_nope"),
    "a page of another thread": ("pages", "thread_id", "nowhere"),
    "a state that is no state": ("changes", "after", {"a": 1}),
    "a file that is not there": ("files", "sha256", "0" * 64),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_row_is_named_with_its_table_and_field(
    memory: Memory, entries: list[dict[str, Any]], tmp_path: Path, name: str
) -> None:
    table, field, value = REFUSED[name]
    number = next(number for number, entry in enumerate(entries) if entry.get("table") == table)
    with pytest.raises(CorruptFileError, match=rf"x\.jsonl: the row .* of {table} does not fit the ledger \(.*\)"):
        memory.user("xia").import_(written(mutated(entries, number, field, value), tmp_path / "x.jsonl"))
    assert "xia" not in memory.users()


def test_a_damaged_row_of_one_user_does_not_stop_the_others(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", embedder="static", settings=Settings(background=False)) as memory:
        item = memory.user("amy").add({"kind": "semantic", "name": "tea", "summary": "Amy likes tea."})
        memory.user("bea").remember("Bea likes coffee.")
        for damage in ("5", "{no JSON", '{"name": 5}'):
            with memory.ledger.write("amy") as tx:
                values = {"damage": damage, "change": tx.next_change(), "id": item.id}
                tx.connection.execute(
                    text("UPDATE items SET payload = :damage, change = :change WHERE id = :id"), values
                )
            memory.user("bea").remember(f"Bea bought {damage}.")
            assert memory.flush() is False
            assert memory.jobs() == [] or {job.user for job in memory.jobs()} == {"amy"}
            assert memory.user("bea").recall("coffee").hits
            with pytest.raises(CorruptFileError, match=r"damaged|not JSON"):
                memory.user("amy").items()
