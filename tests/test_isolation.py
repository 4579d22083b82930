"""Nobody reaches another's memory: no call of one user returns, counts or changes anything of another."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import threading
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings
from sqlalchemy import select

from hexamem import STRATEGIES, Memory, Settings, UserMemory
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.retrieval.request import Request
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.ledger.schema import USER_TABLES, users

PASSPHRASE = "correct horse battery staple"
PHOTO = hashlib.sha256(b"hi").hexdigest()
"""The id of the file that the other user stored."""
THREAD, MESSAGE = "the family thread", "message-1"
SEMANTIC = {"kind": "semantic", "name": "n", "summary": "s"}
FEW = examples(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
_numbers = itertools.count()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One memory for the whole file: each test has users of its own in it, so all of them are neighbours."""
    home, settings = tmp_path_factory.mktemp("isolation") / "home", Settings(background=False, recall_log=1)
    with Memory.open(home, embedder="static", settings=settings) as memory:
        yield memory


@dataclass(frozen=True, kw_only=True)
class Ids:
    """What another user could get to know."""

    step: str
    item: str
    vault: str
    secret: str
    reference: str
    operation: str
    recall: str


def settle(user: UserMemory, canary: str) -> Ids:
    """Give a user something of every kind, all of it marked with the canary."""
    photo = {"type": "image", "base64": "aGk=", "mime_type": "image/png", "caption": f"{canary} on a hill"}
    receipt = user.remember(
        [
            {"role": "user", "name": f"{canary}ius", "content": f"{canary} walks the dog at dawn", "id": MESSAGE},
            {"role": "user", "content": [{"type": "text", "text": f"a photo of {canary}"}, photo]},
            f"My password is Xk9{canary}!vault77",
        ],
        THREAD,
        agent_id=f"agent {canary}",
        metadata={"project": canary},
    )
    assert receipt.secrets
    step = receipt.step_ids[0]
    fact = {"kind": "semantic", "name": f"{canary} and the dog", "summary": f"{canary} owns a dog", "labels": [canary]}
    item = user.add({**fact, "sources": [{"step_id": step}]})
    vault = user.add({"kind": "vault", "caption": f"{canary} gym locker"}, secret=f"locker-{canary}-4711")
    user.edit(item.id, summary=f"{canary} owns two dogs")
    user.reveal(vault.id, reason=f"{canary} asked")
    recall = user.recall(f"{canary} dog")
    user.feedback(recall.id, helped=[recall.hits[0].id])
    operation = user.history(item.id)[-1].id
    return Ids(step=step, item=item.id, vault=vault.id, secret=vault.secret_id or "", reference=receipt.secrets[0],
               operation=operation, recall=recall.id)  # fmt: skip


def media_of(user: UserMemory) -> dict[str, bytes]:
    """The files of a user on disk, by name."""
    return {path.name: path.read_bytes() for path in (user.memory.home / "media" / user.key).glob("*")}


def everything_of(user: UserMemory) -> dict[str, Any]:
    """Every row, index entry and file of a user, as they lie in the stores."""
    memory = user.memory
    memory.projector.catch_up(user.name)
    with memory.ledger.read(user.name) as tx:
        rows = {
            table.name: sorted(map(repr, tx.all(select(table).where(table.c.user_id == tx.user_id))))
            for table in USER_TABLES
        }
        own = repr(tx.first(select(users).where(users.c.id == tx.user_id)))
    asked = Request(query="dog at dawn", k=50)
    return {
        **rows,
        "user": own,
        "lexical": memory.lexical.ids(user.key),
        "vectors": {part: memory.vectors.ids(user.key, part) for part in ("steps", "items")},
        "media": media_of(user),
        "answers": [
            (hit.id, hit.score) for hit in memory.searcher.search(user.name, asked, STRATEGIES["rrf_neighbours"])
        ],
    }


@pytest.fixture(scope="module")
def victim(shared: Memory) -> tuple[UserMemory, Ids, dict[str, Any]]:
    """A user with everything, whose ids have become known."""
    user = shared.user("the victim")
    ids = settle(user, "Zanzibar")
    return user, ids, everything_of(user)


@pytest.fixture
def stranger(shared: Memory) -> UserMemory:
    return shared.user(f"stranger {next(_numbers)}")


# Ids of another user, call by call.

# user: the one who calls; ids: of the other; folder: one to write to.
REFUSED = """
user.get(ids.step)
user.get(ids.item)
user.edit(ids.item, summary="taken over")
user.remove(ids.item)
user.add(SEMANTIC, supersedes=ids.item)
user.add({**SEMANTIC, "sources": [{"step_id": ids.step}]})
user.edit(user.add(SEMANTIC).id, sources=[{"step_id": ids.step}])
user.add({"kind": "vault", "caption": "c", "secret_id": ids.secret})
user.edit(user.add({"kind": "vault", "caption": "c"}).id, secret_id=ids.secret)
user.forget([ids.step])
user.forget(ids=[ids.item])
user.forget(thread_id=THREAD)
user.undo(ids.operation)
user.undo(ids.operation, cascade=True)
user.reveal(ids.vault, reason="curious")
user.reveal(ids.secret, reason="curious")
user.reveal(ids.reference, reason="curious")
user.redact("walks the dog")
user.media(PHOTO)
user.page(ids.step)
user.feedback(ids.recall, helped=[ids.step])
user.feedback(user.recall("dog").id, hurt=[ids.step])
"""
FINDS_NOTHING = """
user.steps()
user.steps(THREAD)
user.items(superseded=True)
user.items(where={"thread_id": THREAD})
user.items(as_of="2100-01-01")
user.items(known_at="2100-01-01")
user.history()
user.history(ids.step)
user.history(ids.item)
user.pages()
user.pages(thread_id=THREAD)
user.search_pages("dog at dawn", k=50)
user.research("when does the dog walk at dawn?").hits
user.light_memory(200).memos
user.reveals()
user.reveals(ids.secret)
list(user.export(folder / "nothing.jsonl", passphrase=PASSPHRASE))
not user.flush()
user.add_file(photo_in(folder)).repeated
user.recall("dog", where={"thread_id": THREAD}).hits
user.recall("dog", where={"speaker": "user"}).hits
user.recall("dog", kinds=["semantic", "vault", "step"]).hits
user.recall("dog", as_of="2100-01-01").hits
user.recall("dog", known_at="2100-01-01").hits
[n for n, count in user.erase().model_dump().items() if n in ("vectors", "documents", "files") and count]
"""
INSIDE = {"read", "recall_without", "thread_lock", "write_recalls"}  # for other parts of Hexamem
CHANGES_ONLY_ITS_OWN = {"remember", "import_"}


def photo_in(folder: Path) -> Path:
    """A file of the bytes that the other user stored."""
    path = folder / "photo.txt"
    path.write_bytes(b"hi")
    return path


def call(line: str, user: UserMemory, ids: Ids, folder: Path) -> Any:
    return eval(line, {**globals(), "user": user, "ids": ids, "folder": folder})


def test_every_public_method_is_looked_at_here() -> None:
    source = inspect.getsource(inspect.getmodule(test_every_public_method_is_looked_at_here))  # type: ignore[arg-type]
    public = {
        name
        for name, member in inspect.getmembers(UserMemory, inspect.isfunction)
        if not inspect.iscoroutinefunction(member) and not name.startswith("_") and name not in INSIDE
    }
    assert {name for name in public if f"user.{name}(" not in source} == set()
    assert public >= CHANGES_ONLY_ITS_OWN


def test_a_call_with_an_id_of_another_user_is_refused_and_changes_nothing(
    shared: Memory, victim: tuple[UserMemory, Ids, dict[str, Any]], tmp_path: Path
) -> None:
    user, ids, before = victim
    known = shared.user(f"stranger {next(_numbers)} who is known")
    known.remember("a cat")
    for line in REFUSED.split("\n")[1:-1]:
        for other in (shared.user(f"stranger {next(_numbers)}"), known):
            with pytest.raises((NotFoundError, InvalidInputError)) as caught:
                call(line, other, ids, tmp_path)
            assert "Zanzibar" not in str(caught.value), line
        assert everything_of(user) == before, line


def test_a_user_without_anything_finds_nothing_of_others(
    shared: Memory, victim: tuple[UserMemory, Ids, dict[str, Any]], tmp_path: Path
) -> None:
    user, ids, before = victim
    recalls = [f"user.recall('dog at dawn', 1_000, {strategy!r}).hits" for strategy in STRATEGIES]
    for line in (*FINDS_NOTHING.split("\n")[1:-1], *recalls):
        assert not call(line, shared.user(f"stranger {next(_numbers)}"), ids, tmp_path), line
        assert everything_of(user) == before, line


def test_threads_of_the_same_name_stay_apart_and_an_error_tells_no_foreign_id_from_none(
    stranger: UserMemory, victim: tuple[UserMemory, Ids, dict[str, Any]]
) -> None:
    user, ids, before = victim
    receipt = stranger.remember({"role": "user", "content": "a cat", "id": MESSAGE}, THREAD)
    assert receipt.repeated == ()
    assert stranger.steps(THREAD)[0].turn == 0
    assert [hit.text for hit in stranger.recall("dog at dawn", strategy="rrf_neighbours").hits] == ["a cat"]
    for method, existing in (("get", ids.step), ("remove", ids.item), ("undo", ids.operation)):
        messages = []
        for record_id in (existing, existing[:-4] + "0000"):
            with pytest.raises(NotFoundError) as caught:
                getattr(stranger, method)(record_id)
            messages.append(str(caught.value).replace(record_id, "ID"))
        assert messages[0] == messages[1]
    assert everything_of(user) == before


# Anything, in any order.
WORDS = st.sampled_from(["dog", "dawn", "cat", "hill", "photo", "password is Gr8!secret99x", "locker", "锁"])
TEXT = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
WHERE = st.fixed_dictionaries(
    {},
    optional={
        "thread_id": st.sampled_from([THREAD, "own"]),
        "speaker": st.sampled_from(["user", "Zanzibarius", "Mallory"]),
        "labels": st.sampled_from(["Zanzibar", "own"]),
        "agent_id": st.sampled_from(["agent Zanzibar", "own"]),
        "since": st.just("2000-01-01"),
        "metadata": st.sampled_from([{"project": "Zanzibar"}, {"project": "own"}]),
    },
)
ID = st.integers(0, 9)  # of one of the user's own records or of the other's
ACTIONS = st.one_of(
    st.tuples(st.just("remember"), TEXT, st.sampled_from([THREAD, "own"])),
    st.tuples(st.just("add"), TEXT),
    st.tuples(st.just("recall"), TEXT, st.sampled_from(sorted(STRATEGIES)), WHERE, st.sampled_from([None, "step"])),
    st.tuples(st.just("items"), WHERE, st.booleans()),
    st.tuples(st.just("edit"), ID, TEXT),
    st.tuples(st.sampled_from(["remove", "forget", "reveal", "feedback"]), ID),
    st.tuples(st.just("undo"), ID, st.booleans()),
    st.tuples(st.just("redact"), WORDS),
    st.tuples(st.sampled_from(["move", "erase"])),
)


def act(user: UserMemory, action: tuple[Any, ...], pool: list[str], folder: Path) -> object:
    """Do it, with the ids that its numbers draw from the pool."""

    def drawn(number: int) -> str:
        return pool[number % len(pool)]

    match action:
        case ("remember", text, thread):
            return user.remember([text, ("assistant", f"so: {text}")], thread)
        case ("add", text):
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
    user, ids, before = victim
    mallory = shared.user(f"mallory {next(_numbers)}")
    settle(mallory, "mallory")
    others = [ids.step, ids.item, ids.vault, ids.secret, ids.reference, ids.operation, ids.recall]
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
        assert not [record_id for record_id in {*before["lexical"], *others} if record_id in returned]
        assert everything_of(user) == before


# User names.

ODD_NAMES = [
    "alice", "../..", "..", "/etc/passwd", "a\0b", "\ud800", "\udfff x", "\U0001f600", "x" * 512, "CON", "a/b\\c", "%", "_",
]  # fmt: skip
NAMES = st.one_of(
    st.sampled_from(ODD_NAMES), st.text(st.characters(exclude_categories=()), min_size=1, max_size=40)
).filter(lambda name: name.strip() and len(name.encode("utf-8", "surrogatepass")) <= 500)


def in_surrogates(name: str) -> str:
    """With each character beyond the first plane written as two."""
    return "".join(
        chr(0xD800 + (ord(c) - 0x10000 >> 10)) + chr(0xDC00 + (ord(c) - 0x10000 & 0x3FF)) if ord(c) > 0xFFFF else c
        for c in name
    )


VARIANTS: list[Callable[[str], str]] = [
    str.upper,
    str.casefold,
    *(partial(unicodedata.normalize, form) for form in ("NFC", "NFD", "NFKC")),
    *((lambda name, end=end: name + end) for end in ("\0", " ", "%", "\u200b")),
    lambda name: "../" + name,
    lambda name: name.encode("utf-8", "replace").decode(),
    in_surrogates,
]


@FEW
@given(name=NAMES, variant=st.sampled_from(VARIANTS))
@example(name="Straße", variant=str.upper)
@example(name="caf\u00e9", variant=VARIANTS[3])
@example(name="\U0001f600", variant=in_surrogates)
@example(name="\ud800", variant=VARIANTS[-2])
@example(name="a", variant=VARIANTS[5])
def test_users_whose_names_differ_in_anything_at_all_are_different_users(
    name: str, variant: Callable[[str], str], shared: Memory
) -> None:
    other = variant(name)
    if other == name or not other.strip() or len(other.encode("utf-8", "surrogatepass")) > 512:
        return
    for known in {name, other} & set(shared.users()):  # from an example before
        shared.user(known).erase()
    first, second = shared.user(name), shared.user(other)
    ids = first.remember("the dog sleeps in the first house", THREAD).step_ids
    assert second.steps() == []
    assert second.recall("where does the dog sleep").hits == ()
    theirs = second.remember("the dog sleeps in the second house", THREAD).step_ids
    item = second.add({"kind": "semantic", "name": "dog", "summary": "of the second house"})
    assert {hit.id for hit in first.recall("where does the dog sleep", k=50)} == set(ids)
    assert {hit.id for hit in second.recall("where does the dog sleep", k=50)} == {*theirs, item.id}
    assert first.key != second.key
    assert [step.user for user in (first, second) for step in user.steps()] == [name, other]
    assert {name, other} <= set(shared.users())
    first.erase()
    assert len(second.steps()) == 1
    assert name not in shared.users()


def test_strange_user_names_survive_reopening_and_leave_no_file_outside_their_home(tmp_path: Path) -> None:
    home, settings = tmp_path / "inner" / "home", Settings(background=False, mode="off")
    with Memory.open(home, embedder="static", settings=settings) as memory:
        for number, name in enumerate(ODD_NAMES):
            image = {"type": "image", "base64": "aGk=", "mime_type": "image/png", "caption": f"picture {number}"}
            content = [{"type": "text", "text": f"note {number}"}, image]
            memory.user(name).remember({"role": "user", "content": content})
    with Memory.open(home, embedder="static", settings=settings) as memory:
        assert memory.users() == ODD_NAMES
        for number, name in enumerate(ODD_NAMES):
            hits = memory.user(name).recall("note picture").hits
            assert [hit.text for hit in hits] == [f"note {number}\npicture {number}"]
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert [path.name for path in (tmp_path / "inner").iterdir()] == ["home"]
    assert all(path.name.isascii() for path in home.rglob("*"))


# Export, import and what else could show another user.


def test_an_export_holds_its_user_alone_and_an_import_makes_a_copy_that_goes_its_own_way(
    shared: Memory, tmp_path: Path
) -> None:
    number = next(_numbers)
    copy, owner, other = (shared.user(f"{name} {number}") for name in ("copy", "owner", "mallory"))
    ids, path = settle(owner, "victor"), tmp_path / "victor.jsonl"
    settle(other, "mallory")
    owner.export(path, passphrase=PASSPHRASE)
    text = path.read_text()
    assert "victor walks the dog" in text
    assert "mallory" not in text
    rows = [json.loads(line).get("row", {}) for line in text.splitlines()]
    assert not [row for row in rows if row.get("id") in everything_of(other)["lexical"]]
    before = everything_of(owner)

    copy.import_(path, passphrase=PASSPHRASE)
    assert [step.content for step in copy.steps()] == [step.content for step in owner.steps()]
    assert {step.user for step in copy.steps()} == {copy.name}
    assert {item.user for item in copy.items(known_at="2100-01-01", superseded=True)} == {copy.name}
    assert copy.reveal(ids.vault, reason="mine now") == "locker-victor-4711"

    # The history came along and works, on the copy alone.
    copy.undo(ids.operation)
    assert copy.get(ids.item).summary == "victor owns a dog"  # type: ignore[union-attr]
    copy.edit(ids.item, summary="copy owns a cat")
    copy.forget([ids.step])
    copy.redact("a photo of victor")
    copy.remember("copy alone", THREAD)
    assert everything_of(owner) == before

    # And the other way round.
    of_copy = everything_of(copy)
    owner.edit(ids.item, summary="victor owns three dogs")
    owner.erase()
    assert everything_of(copy) == of_copy
    assert copy.reveal(ids.vault, reason="still mine") == "locker-victor-4711"
    assert media_of(owner) == {}
    assert list(media_of(copy).values()) == [b"hi"]


def test_a_notice_about_an_index_of_one_user_does_not_show_in_the_recall_of_another(memory: Memory) -> None:
    alice, bob = memory.user("alice"), memory.user("bob")
    alice.remember("the dog of alice")
    bob.remember("the dog of bob")
    bob.flush()
    find: Callable[..., Any] = memory.searcher.find

    def rebuilt_meanwhile(*args: Any) -> Any:
        memory.lexical.reset(bob.key)
        memory.projector.repair("bob")
        return find(*args)

    memory.searcher.find = rebuilt_meanwhile  # type: ignore[method-assign]
    recall = alice.recall("dog", strategy="rrf")
    assert "bob" in memory.notices[0]
    assert recall.degraded == ()


def test_jobs_and_labels_of_another_user_are_neither_listed_nor_changed(memory: Memory) -> None:
    victim, mallory = memory.user("the victim"), memory.user("mallory")
    victim.remember("Let us plan day 1 of the Zanzibar trip: find a hotel near the beach.")
    mallory.remember("Let us plan day 1 of the Oslo trip: find a hotel near the harbour.")
    with memory.ledger.write("the victim") as tx:
        enqueue(tx, "no_such_kind", {"words": "Zanzibar"})
    assert "no_such_kind" in [job.kind for user in [victim] for job in user.jobs()]
    for other in (mallory, memory.user("nobody yet")):
        assert "no_such_kind" not in {job.kind for job in other.jobs()}
    theirs, own = victim.labels.list(), mallory.labels.list()
    assert theirs
    assert not {label.id for label in theirs} & {label.id for label in own}
    assert "Zanzibar" not in repr(own)
    for label in theirs:
        for change in (
            partial(mallory.labels.rename, label.id, "taken over"),
            partial(mallory.labels.pin, label.id),
            partial(mallory.labels.merge, own[0].id, label.id),
            partial(mallory.labels.show, label.id),
        ):
            with pytest.raises(NotFoundError):
                change()
    assert victim.labels.list() == theirs


class Slow(Embeddings):
    """Embeds at once, but for a text with "slow" in it: then it waits until it may go on."""

    def __init__(self) -> None:
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if any("slow" in text for text in texts):
            self.begun.set()
            assert self.may_go_on.wait(60)
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, float(len(text)), float(text.count("o"))]


READS: dict[str, Callable[[UserMemory], object]] = {
    "user": lambda bob: bob.memory.user("bob"),
    "a new user": lambda bob: bob.memory.user("carol", timezone="Europe/Dublin"),
    "recall": lambda bob: bob.recall("dog"),
    "recall by keywords": lambda bob: bob.recall("dog", strategy="bm25"),
    "items": lambda bob: bob.items(),
    "steps": lambda bob: bob.steps(),
    "history": lambda bob: bob.history(),
    "labels": lambda bob: bob.labels.list(),
    "jobs": lambda bob: bob.jobs(),
}


def test_no_call_that_reads_waits_for_what_another_user_stores(tmp_path: Path) -> None:
    slow, settings = Slow(), Settings(recall_log=1, mode="off", labels="off")
    with Memory.open(tmp_path / "home", embedder=slow, settings=settings) as memory, ThreadPoolExecutor() as threads:
        alice, bob = memory.user("alice"), memory.user("bob")
        bob.remember("the dog of bob walks")
        memory.flush()
        bob.recall("dog")  # the first one of a process checks the indexes
        try:
            alice.remember("a slow cat")
            indexing = threads.submit(alice.flush)
            assert slow.begun.wait(60)
            for name, read in READS.items():
                assert threads.submit(read, bob).result(timeout=30) is not None, name
            assert not indexing.done()
        finally:
            slow.may_go_on.set()
        assert indexing.result(timeout=60)
        with memory.ledger.write("alice") as tx:  # as long as an import or an erasure takes
            zone = threads.submit(memory.user, "alice", timezone="Europe/Dublin")  # waits for it, and holds nobody up
            for name, read in READS.items():
                assert threads.submit(read, bob).result(timeout=9) is not None, name  # a writer waits for 10 s at most
            assert tx.user_id
            assert not zone.done()
