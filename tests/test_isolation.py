"""Nobody reaches another's memory: no call of one user returns, counts or changes anything of another."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from hexamem import STRATEGIES, Memory, Settings, UserMemory, Where
from hexamem.async_twins import AsyncTwins
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.retrieval.request import Request
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.ledger.schema import USER_TABLES, users

TABLES = {table.name: table for table in USER_TABLES}
PASSPHRASE = "correct horse battery staple"
FEW = settings(
    max_examples=14,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
_numbers = itertools.count()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One memory for the whole file: each example has users of its own in it, so all of them are neighbours."""
    folder = tmp_path_factory.mktemp("isolation")
    with Memory.open(folder / "home", settings=Settings(background=False, recall_log=1)) as memory:
        yield memory


@dataclass(frozen=True, kw_only=True)
class Ids:
    """What a user could have let slip to another."""

    step: str
    item: str
    vault: str
    secret: str
    reference: str
    operation: str
    recall: str
    thread: str = "the family thread"
    message: str = "message-1"


def settle(user: UserMemory, canary: str) -> Ids:
    """Give a user something of every kind, all of it marked with the canary."""
    receipt = user.remember(
        [
            {"role": "user", "name": f"{canary}ius", "content": f"{canary} walks the dog at dawn", "id": Ids.message},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": f"a photo of {canary}"},
                    {"type": "image", "base64": "aGk=", "mime_type": "image/png", "caption": f"{canary} on a hill"},
                ],
            },
            f"My password is Xk9{canary}!vault77",
        ],
        Ids.thread,
        agent_id=f"agent {canary}",
        metadata={"project": canary},
    )
    item = user.add(
        {
            "kind": "semantic",
            "name": f"{canary} and the dog",
            "summary": f"{canary} owns a dog",
            "labels": [canary],
            "sources": [{"step_id": receipt.step_ids[0]}],
        }
    )
    vault = user.add({"kind": "vault", "caption": f"{canary} gym locker"}, secret=f"locker-{canary}-4711")
    user.edit(item.id, summary=f"{canary} owns two dogs")
    user.reveal(vault.id, reason=f"{canary} asked")
    recall = user.recall(f"{canary} dog")
    user.feedback(recall.id, helped=[recall.hits[0].id])
    assert receipt.secrets, "the rules no longer find the password this test relies on"
    return Ids(
        step=receipt.step_ids[0],
        item=item.id,
        vault=vault.id,
        secret=vault.secret_id or "",
        reference=receipt.secrets[0],
        operation=user.history(item.id)[-1].id,
        recall=recall.id,
    )


def media_of(user: UserMemory) -> dict[str, bytes]:
    """The files of a user on disk, by name."""
    return {path.name: path.read_bytes() for path in (user.memory.home / "media" / user.key).glob("*")}


def everything_of(user: UserMemory) -> dict[str, Any]:
    """Every row, index entry and file of a user, as they lie in the stores."""
    memory = user.memory
    memory.projector.catch_up(user.name)
    with memory.ledger.read(user.name) as tx:
        rows = {
            name: sorted(map(repr, tx.all(select(table).where(table.c.user_id == tx.user_id))))
            for name, table in TABLES.items()
        }
        own = repr(tx.first(select(users).where(users.c.id == tx.user_id)))
    return {
        **rows,
        "user": own,
        "lexical": memory.lexical.ids(user.key),
        "vectors": {part: memory.vectors.ids(user.key, part) for part in ("steps", "items")},
        "media": media_of(user),
        "answers": [
            (hit.id, hit.score)
            for hit in memory.searcher.search(
                user.name, Request(query="dog at dawn", k=50), STRATEGIES["rrf_neighbours"]
            )
        ],
    }


def photo_in(folder: Path) -> Path:
    """A file of the bytes that the other user keeps."""
    path = folder / "photo.txt"
    path.write_bytes(b"hi")
    return path


def pair(memory: Memory) -> tuple[UserMemory, UserMemory]:
    """Two new users."""
    number = next(_numbers)
    return memory.user(f"mallory {number}"), memory.user(f"victim {number}")


# --------------------------------------------------------------------------------------- ids of another user, call by call

REFUSED: dict[str, Callable[[UserMemory, Ids, Path], object]] = {
    "get a step": lambda user, ids, _: user.get(ids.step),
    "get an item": lambda user, ids, _: user.get(ids.item),
    "edit": lambda user, ids, _: user.edit(ids.item, summary="taken over"),
    "remove": lambda user, ids, _: user.remove(ids.item),
    "add superseding": lambda user, ids, _: user.add(
        {"kind": "semantic", "name": "n", "summary": "s"}, supersedes=ids.item
    ),
    "add citing": lambda user, ids, _: user.add(
        {"kind": "semantic", "name": "n", "summary": "s", "sources": [{"step_id": ids.step}]}
    ),
    "edit citing": lambda user, ids, _: user.edit(
        user.add({"kind": "semantic", "name": "n", "summary": "s"}).id, sources=[{"step_id": ids.step}]
    ),
    "add pointing at a secret": lambda user, ids, _: user.add(
        {"kind": "vault", "caption": "c", "secret_id": ids.secret}
    ),
    "edit pointing at a secret": lambda user, ids, _: user.edit(
        user.add({"kind": "vault", "caption": "c"}).id, secret_id=ids.secret
    ),
    "forget steps": lambda user, ids, _: user.forget([ids.step]),
    "forget items": lambda user, ids, _: user.forget(ids=[ids.item]),
    "forget a part": lambda user, ids, _: user.forget(parts={ids.step: ["the"]}),
    "forget a thread": lambda user, ids, _: user.forget(thread_id=ids.thread),
    "undo": lambda user, ids, _: user.undo(ids.operation),
    "undo with cascade": lambda user, ids, _: user.undo(ids.operation, cascade=True),
    "reveal a vault item": lambda user, ids, _: user.reveal(ids.vault, reason="curious"),
    "reveal a secret": lambda user, ids, _: user.reveal(ids.secret, reason="curious"),
    "reveal a reference": lambda user, ids, _: user.reveal(ids.reference, reason="curious"),
    "redact": lambda user, ids, _: user.redact("walks the dog"),
    "media": lambda user, ids, _: user.media(hashlib.sha256(b"hi").hexdigest()),  # the photo of the other one
    "a page": lambda user, ids, _: user.page(ids.step),
    "feedback": lambda user, ids, _: user.feedback(ids.recall, helped=[ids.step]),
    "feedback on an own recall": lambda user, ids, _: user.feedback(user.recall("dog").id, hurt=[ids.step]),
}
FINDS_NOTHING: dict[str, Callable[[UserMemory, Ids, Path], object]] = {
    "steps": lambda user, ids, _: user.steps(),
    "steps of a thread": lambda user, ids, _: user.steps(ids.thread),
    "items": lambda user, ids, _: user.items(superseded=True),
    "items of a thread": lambda user, ids, _: user.items(where=Where(thread_id=ids.thread)),
    "items as of": lambda user, ids, _: user.items(as_of="2100-01-01"),
    "items known at": lambda user, ids, _: user.items(known_at="2100-01-01"),
    "history": lambda user, ids, _: user.history(),
    "history of a step": lambda user, ids, _: user.history(ids.step),
    "history of an item": lambda user, ids, _: user.history(ids.item),
    "pages": lambda user, ids, _: user.pages(),
    "pages of a thread": lambda user, ids, _: user.pages(thread_id=ids.thread),
    "search of pages": lambda user, ids, _: user.search_pages("dog at dawn", k=50),
    "research": lambda user, ids, _: user.research("when does the dog walk at dawn?").hits,
    "light memory": lambda user, ids, _: user.light_memory(200).memos,
    "what feedback taught": lambda user, ids, _: user.learn_ranking().verdicts or [],
    "reveals": lambda user, ids, _: user.reveals(),
    "reveals of a secret": lambda user, ids, _: user.reveals(ids.secret),
    "export": lambda user, ids, folder: list(user.export(folder / "nothing.jsonl", passphrase=PASSPHRASE)),
    "flush": lambda user, ids, _: [] if user.flush() else ["not finished"],
    "add_file, of bytes that the other one has": lambda user, ids, folder: user.add_file(photo_in(folder)).repeated,
    "erase": lambda user, ids, _: {
        name: count
        for name, count in user.erase().model_dump().items()
        if name in ("vectors", "documents", "files") and count
    },
    **{
        f"recall by {strategy}": lambda user, ids, _, strategy=strategy: (
            user.recall("dog at dawn", 1_000, strategy).hits
        )
        for strategy in STRATEGIES
    },
    "recall in a thread": lambda user, ids, _: user.recall("dog", where={"thread_id": ids.thread}).hits,
    "recall by speaker": lambda user, ids, _: user.recall("dog", where={"speaker": "user"}).hits,
    "recall by kind": lambda user, ids, _: user.recall("dog", kinds=["semantic", "vault", "step"]).hits,
    "recall as of": lambda user, ids, _: user.recall("dog", as_of="2100-01-01").hits,
    "recall known at": lambda user, ids, _: user.recall("dog", known_at="2100-01-01").hits,
}
CHANGES_ONLY_ITS_OWN = {"remember", "import_"}


def test_every_public_method_is_looked_at_here() -> None:
    source = inspect.getsource(inspect.getmodule(test_every_public_method_is_looked_at_here))  # type: ignore[arg-type]
    public = {
        name
        for name, member in inspect.getmembers(UserMemory, inspect.isfunction)
        if name not in vars(AsyncTwins) and not name.startswith("_") and name != "write_recalls"
    }
    assert {name for name in public if f"user.{name}(" not in source} == set()
    assert public >= CHANGES_ONLY_ITS_OWN


@pytest.fixture(scope="module")
def victim(shared: Memory) -> tuple[UserMemory, Ids, dict[str, Any]]:
    """A user with everything, whose ids have become known."""
    user = shared.user("the victim")
    ids = settle(user, "Zanzibar")
    return user, ids, everything_of(user)


@pytest.mark.parametrize("known", [False, True], ids=["unknown user", "known user"])
def test_a_call_with_an_id_of_another_user_is_refused_and_changes_nothing(
    known: bool, shared: Memory, victim: tuple[UserMemory, Ids, dict[str, Any]], tmp_path: Path
) -> None:
    user, ids, before = victim
    for name, call in REFUSED.items():
        stranger = shared.user(f"stranger {next(_numbers)}")
        if known:
            stranger.remember("a cat")
        with pytest.raises((NotFoundError, InvalidInputError)) as caught:
            call(stranger, ids, tmp_path)
        assert "Zanzibar" not in str(caught.value), name
    assert everything_of(user) == before


def test_a_user_without_anything_finds_nothing_of_others(
    shared: Memory, victim: tuple[UserMemory, Ids, dict[str, Any]], tmp_path: Path
) -> None:
    user, ids, before = victim
    for name, call in FINDS_NOTHING.items():
        assert not call(shared.user(f"stranger {next(_numbers)}"), ids, tmp_path), name
    assert everything_of(user) == before


def test_messages_in_a_thread_of_the_same_name_stay_apart(
    shared: Memory, victim: tuple[UserMemory, Ids, dict[str, Any]]
) -> None:
    user, ids, before = victim
    stranger = shared.user(f"stranger {next(_numbers)}")
    receipt = stranger.remember({"role": "user", "content": "a cat", "id": ids.message}, ids.thread)
    assert receipt.repeated == ()
    assert stranger.steps(ids.thread)[0].turn == 0
    hits = stranger.recall("dog at dawn", strategy="rrf_neighbours").hits
    assert [hit.text for hit in hits] == ["a cat"]
    assert everything_of(user) == before


def test_an_error_says_the_same_for_an_id_of_another_user_as_for_no_id_at_all(
    shared: Memory, victim: tuple[UserMemory, Ids, dict[str, Any]]
) -> None:
    _, ids, _ = victim
    stranger = shared.user(f"stranger {next(_numbers)}")
    stranger.remember("a cat")
    for call, existing in ((stranger.get, ids.step), (stranger.remove, ids.item), (stranger.undo, ids.operation)):
        invented = existing[:-4] + "0000"
        messages = []
        for record_id in (existing, invented):
            with pytest.raises(NotFoundError) as caught:
                call(record_id)
            messages.append(str(caught.value).replace(record_id, "ID"))
        assert messages[0] == messages[1]


# ----------------------------------------------------------------------------------------------- anything, in any order

WORDS = st.sampled_from(
    ["dog", "dawn", "cat", "hill", "photo", "password is Gr8!secret99x", "two dogs", "locker", "锁"]
)
TEXT = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
WHERE = st.fixed_dictionaries(
    {},
    optional={
        "thread_id": st.sampled_from([Ids.thread, "own"]),
        "speaker": st.sampled_from(["user", "Zanzibarius", "Mallory"]),
        "labels": st.sampled_from(["Zanzibar", "own"]),
        "agent_id": st.sampled_from(["agent Zanzibar", "own"]),
        "since": st.just("2000-01-01"),
        "metadata": st.sampled_from([{"project": "Zanzibar"}, {"project": "own"}]),
    },
)
ACTIONS = st.one_of(
    st.tuples(st.just("remember"), TEXT, st.sampled_from([Ids.thread, "own"])),
    st.tuples(st.just("add"), TEXT, st.sampled_from(["semantic", "core", "procedural"])),
    st.tuples(
        st.just("recall"), TEXT, st.sampled_from(sorted(STRATEGIES)), WHERE, st.sampled_from([None, "step", "semantic"])
    ),
    st.tuples(st.just("items"), WHERE, st.booleans()),
    st.tuples(st.just("edit"), st.integers(0, 9), TEXT),
    st.tuples(st.just("remove"), st.integers(0, 9)),
    st.tuples(st.just("forget"), st.integers(0, 9)),
    st.tuples(st.just("undo"), st.integers(0, 9), st.booleans()),
    st.tuples(st.just("redact"), WORDS),
    st.tuples(st.just("reveal"), st.integers(0, 9)),
    st.tuples(st.just("feedback"), st.integers(0, 9)),
    st.tuples(st.just("move")),
    st.tuples(st.just("erase")),
)


def act(user: UserMemory, action: tuple[Any, ...], pool: list[str], folder: Path) -> object:
    """Do it with ids of the user's own and of the other, whichever the number draws."""

    def drawn(number: int) -> str:
        return pool[number % len(pool)]

    match action:
        case ("remember", text, thread):
            return user.remember([text, ("assistant", f"so: {text}")], thread)
        case ("add", text, "core"):
            return user.add({"kind": "core", "label": "own", "value": text})
        case ("add", text, "procedural"):
            return user.add({"kind": "procedural", "summary": text, "steps": [text]})
        case ("add", text, _):
            return user.add({"kind": "semantic", "name": "own", "summary": text, "labels": ["own"]})
        case ("recall", text, strategy, where, kinds):
            return user.recall(text, 1_000, strategy, where=where, kinds=kinds)
        case ("items", where, superseded):
            return user.items(where=where, superseded=superseded)
        case ("edit", number, text):
            return user.edit(drawn(number), summary=text)
        case ("remove", number):
            return user.remove(drawn(number))
        case ("forget", number):
            return user.forget([drawn(number)])
        case ("undo", number, cascade):
            return user.undo(drawn(number), cascade=cascade)
        case ("redact", words):
            return user.redact(words)
        case ("reveal", number):
            return user.reveal(drawn(number), reason="test")
        case ("feedback", number):
            return user.feedback(drawn(number), helped=[drawn(number + 1)])
        case ("move",):
            path = folder / f"{next(_numbers)}.jsonl"
            user.export(path)
            return (path.read_text(), user.import_(path))
        case _:
            return user.erase()


@FEW
@given(actions=st.lists(ACTIONS, min_size=4, max_size=10))
def test_whatever_one_user_does_nothing_of_another_is_returned_counted_or_changed(
    actions: list[tuple[Any, ...]], shared: Memory, victim: tuple[UserMemory, Ids, dict[str, Any]], tmp_path: Path
) -> None:
    victor, ids, before = victim
    mallory = shared.user(f"mallory {next(_numbers)}")
    settle(mallory, "mallory")
    others = [ids.step, ids.item, ids.vault, ids.secret, ids.reference, ids.operation, ids.recall]
    theirs = {*before["lexical"], *others}
    for action in actions:
        own = [*(step.id for step in mallory.steps()[-3:]), *(item.id for item in mallory.items()[-3:])]
        own += [operation.id for operation in mallory.history(limit=3)]
        try:
            returned = repr(act(mallory, action, [*own, *others], tmp_path))
        except (NotFoundError, InvalidInputError) as error:
            returned = str(error)
            for record_id in others:  # what the caller named itself may be repeated
                returned = returned.replace(record_id, "")
        except RuntimeError as error:  # an undo that later operations forbid
            returned = str(error)
        assert "Zanzibar walks" not in returned
        assert "Zanzibar owns" not in returned
        assert not [record_id for record_id in theirs if record_id in returned]
        assert everything_of(victor) == before


# --------------------------------------------------------------------------------------------------------- user names

ODD_NAMES = [
    "alice",
    "../..",
    "..",
    "/etc/passwd",
    "a\0b",
    "\ud800",
    "\udfff x",
    "\U0001f600",
    "x" * 512,
    "CON",
    "a/b\\c",
    "%",
    "_",
]
NAMES = st.one_of(
    st.sampled_from(ODD_NAMES), st.text(st.characters(exclude_categories=()), min_size=1, max_size=40)
).filter(lambda name: name.strip() and len(name.encode("utf-8", "surrogatepass")) <= 500)
VARIANTS: list[Callable[[str], str]] = [
    str.upper,
    str.casefold,
    str.swapcase,
    lambda name: unicodedata.normalize("NFC", name),
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: unicodedata.normalize("NFKC", name),
    lambda name: name + "\0",
    lambda name: name + " ",
    lambda name: "../" + name,
    lambda name: name + "%",
    lambda name: name + "\u200b",
    lambda name: name.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"),
    lambda name: name.encode("utf-8", "replace").decode(),
    lambda name: "".join(
        chr(0xD800 + (ord(c) - 0x10000 >> 10)) + chr(0xDC00 + (ord(c) - 0x10000 & 0x3FF)) if ord(c) > 0xFFFF else c
        for c in name
    ),
]


@FEW
@given(name=NAMES, variant=st.sampled_from(VARIANTS))
@example(name="Straße", variant=str.upper)
@example(name="caf\u00e9", variant=VARIANTS[4])
@example(name="\U0001f600", variant=VARIANTS[13])
@example(name="\ud800", variant=VARIANTS[12])
@example(name="a", variant=VARIANTS[6])
def test_users_whose_names_differ_in_anything_at_all_are_different_users(
    name: str, variant: Callable[[str], str], shared: Memory
) -> None:
    other = variant(name)
    if other == name or not other.strip() or len(other.encode("utf-8", "surrogatepass")) > 512:
        return
    one, two = shared.user(name), shared.user(other)
    for user in {one.name, two.name} & set(shared.users()):  # from an example before
        shared.user(user).erase()
    first = one.remember("the dog sleeps in the first house", Ids.thread)
    assert two.steps() == []
    assert two.recall("where does the dog sleep").hits == ()
    second = two.remember("the dog sleeps in the second house", Ids.thread)
    item = two.add({"kind": "semantic", "name": "dog", "summary": "of the second house"})
    two.edit(item.id, summary="of the other house")
    assert {hit.id for hit in one.recall("where does the dog sleep", k=50)} == set(first.step_ids)
    assert {hit.id for hit in two.recall("where does the dog sleep", k=50)} == {*second.step_ids, item.id}
    assert one.key != two.key
    assert [step.user for step in one.steps()] == [name]
    assert [step.user for step in two.steps()] == [other]
    assert {name, other} <= set(shared.users())
    one.erase()
    assert len(two.steps()) == 1
    assert name not in shared.users()


def test_strange_user_names_survive_reopening_and_leave_no_file_outside_their_home(tmp_path: Path) -> None:
    home = tmp_path / "inner" / "home"
    with Memory.open(home, settings=Settings(background=False)) as memory:
        for number, name in enumerate(ODD_NAMES):
            image = {"type": "image", "base64": "aGk=", "mime_type": "image/png", "caption": f"picture {number}"}
            memory.user(name).remember(
                [{"role": "user", "content": [{"type": "text", "text": f"note {number}"}, image]}]
            )
    with Memory.open(home, settings=Settings(background=False)) as memory:
        assert memory.users() == ODD_NAMES
        for number, name in enumerate(ODD_NAMES):
            hits = memory.user(name).recall("note picture").hits
            assert [hit.text for hit in hits] == [f"note {number}\npicture {number}"]
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert [path.name for path in (tmp_path / "inner").iterdir()] == ["home"]
    assert all(path.name.isascii() for path in home.rglob("*"))


# ---------------------------------------------------------------------------------------------------- export and import


def test_an_import_makes_a_copy_that_goes_its_own_way(shared: Memory, tmp_path: Path) -> None:
    mallory, victor = pair(shared)
    ids = settle(victor, "victor")
    path = tmp_path / "victor.jsonl"
    victor.export(path, passphrase=PASSPHRASE)
    before = everything_of(victor)

    mallory.import_(path, passphrase=PASSPHRASE)
    assert [step.content for step in mallory.steps()] == [step.content for step in victor.steps()]
    assert {step.user for step in mallory.steps()} == {mallory.name}
    assert {item.user for item in mallory.items(known_at="2100-01-01", superseded=True)} == {mallory.name}
    assert mallory.reveal(ids.vault, reason="mine now") == "locker-victor-4711"
    assert {hit.id for hit in mallory.recall("dog")} == {hit.id for hit in victor.recall("dog")}
    before["recalls"] = everything_of(victor)["recalls"]  # the recall that was just made for the comparison

    # The history came along and works, on the copy alone.
    mallory.undo(ids.operation)
    assert mallory.get(ids.item).summary == "victor owns a dog"  # type: ignore[union-attr]
    mallory.edit(ids.item, summary="mallory owns a cat")
    mallory.forget([ids.step])
    mallory.redact("a photo of victor")
    mallory.remember("mallory alone", Ids.thread)
    assert everything_of(victor) == before
    assert victor.get(ids.item).summary == "victor owns two dogs"  # type: ignore[union-attr]

    # And the other way round.
    copy = everything_of(mallory)
    victor.edit(ids.item, summary="victor owns three dogs")
    victor.erase()
    assert everything_of(mallory) == copy
    assert mallory.reveal(ids.vault, reason="still mine") == "locker-victor-4711"
    assert media_of(victor) == {}
    assert list(media_of(mallory).values()) == [b"hi"]


def test_an_export_holds_nothing_of_another_user(shared: Memory, tmp_path: Path) -> None:
    mallory, victor = pair(shared)
    settle(victor, "victor")
    settle(mallory, "mallory")
    path = tmp_path / "mallory.jsonl"
    mallory.export(path, passphrase=PASSPHRASE)
    text = path.read_text()
    assert "mallory walks the dog" in text
    assert "victor" not in text.replace(victor.name, "")
    rows = [json.loads(line)["entry"].get("row", {}) for line in text.splitlines()]
    assert not [row for row in rows if row.get("id") in everything_of(victor)["lexical"]]


def test_a_notice_about_an_index_of_one_user_does_not_show_in_the_recall_of_another(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        alice, bob = memory.user("alice"), memory.user("bob")
        alice.remember("the dog of alice")
        bob.remember("the dog of bob")
        inner = memory.searcher.find

        def rebuilt_meanwhile(*args: Any) -> Any:
            memory.lexical.reset(bob.key)
            memory.projector.mend("bob")
            return inner(*args)

        memory.searcher.find = rebuilt_meanwhile  # type: ignore[method-assign]
        bob.flush()
        found = alice.recall("dog", strategy="rrf")
        assert "bob" in memory.notices[0]
        assert found.degraded == ()


def test_jobs_of_another_user_are_not_listed(memory: Memory) -> None:
    with memory.ledger.write("the victim") as tx:
        enqueue(tx, "no_such_kind", {"words": "Zanzibar"})
    user = memory.user("the victim")
    assert [job.kind for job in user.jobs()] == ["no_such_kind"]
    for other in (memory.user("mallory"), memory.user("nobody yet")):
        other.remember("hello")
        assert "no_such_kind" not in {job.kind for job in other.jobs()}


def test_labels_of_another_user_are_neither_listed_nor_changed(memory: Memory) -> None:
    victim, mallory = memory.user("the victim"), memory.user("mallory")
    victim.remember("Let us plan day 1 of the Zanzibar trip: find a hotel near the beach.")
    mallory.remember("Let us plan day 1 of the Oslo trip: find a hotel near the harbour.")
    theirs, own = victim.labels.list(), mallory.labels.list()
    assert not {one.id for one in theirs} & {one.id for one in own}
    assert "Zanzibar" not in repr(own)
    for label_id in [one.id for one in theirs]:
        for change in (
            partial(mallory.labels.rename, label_id, "taken over"),
            partial(mallory.labels.pin, label_id),
            partial(mallory.labels.merge, own[0].id, label_id),
            partial(mallory.labels.show, label_id),
        ):
            with pytest.raises(NotFoundError):
                change()
    assert victim.labels.list() == theirs
