"""Words of a forgotten step show nowhere in what labelling made of them, and are all back when the step is."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.cli import main
from hexamem.errors import NotFoundError
from hexamem.intent.contract import LabelBatch, LabeledStep, StepView
from hexamem.intent.label_wording import LabelWording
from hexamem.memory_types.labels import Label
from hexamem.stores.ledger.hidden import put_back
from hexamem.stores.ledger.label_changes import clear_gists

from .conftest import Traces
from .ledger_databases import each_memory, each_user, new_database  # noqa: F401
from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401

TALKS = {
    "a name": (["My walrus is called Bartholomew.", "Lovely!", "He likes herring a lot.", "Fine."], "bartholomew"),
    "a trip": (["I'm planning a trip to Kyoto in May.", "Great!", "On day 2 we see the temples.", "Good."], "kyoto"),
    "a thing": (["I bought a red kayak from Gunther.", "Nice.", "It leaks at the bow.", "A pity."], "kayak"),
    "a reference": (
        ["Our hotel options are the Grand Budapest and the Seaside Inn.", "Ok.", "The first one has a pool.", "Fine."],
        "budapest",
    ),
    "an introduction": (
        ["Next up for project Marble: the warehouse screens, mainly in fir-gateway.", "Ok.", "We start now.", "Good."],
        "marble",
    ),
    "nothing but small talk": (["Well then, there we go again.", "Sure thing."], "well then"),
    "名字": (["李明下个月要结婚了。", "恭喜！", "他想去海边办婚礼。", "好主意。"], "李明"),
    "旅行": (["我打算五月去京都旅行。", "好的。", "第二天去寺庙。", "没问题。"], "京都"),
    "东西": (["我家的海象标本放在阁楼。", "好的，记下了。"], "海象"),
}
talks = pytest.mark.parametrize(("said", "word"), TALKS.values(), ids=TALKS)


def tell(user: UserMemory, said: Sequence[str], thread_id: str = "t") -> list[str]:
    """Store what a person and an assistant say in turn."""
    talk = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]
    steps = list(user.remember(talk, thread_id=thread_id).step_ids)
    user.flush()
    return steps


def labelled(user: UserMemory) -> list[dict[str, Any]]:
    """All that is kept of the labels, and of what each step is read as."""
    labels = [one.model_dump(mode="json") for one in user.labels.list()]
    return [*labels, *(user.labels.of(step.id).model_dump(mode="json") for step in user.steps())]


def pages(user: UserMemory) -> list[tuple[str, str, str | None]]:
    return [(page.header, page.memo, page.scope) for page in user.pages()]


def shown(user: UserMemory, question: str) -> str:
    """What a person sees of a memory who asks and looks around."""
    recalls = [user.recall(question, strategy=name) for name in ("learned", "rrf_neighbours", "label_density", "bm25")]
    found = [one.model_dump(mode="json", exclude={"query", "id"}) for one in recalls]
    return json.dumps([labelled(user), pages(user), found], ensure_ascii=False).casefold()


def chroma(user: UserMemory) -> str:
    """The readable labels that Chroma has of the steps."""
    user.flush()
    user.memory.projector.name_labels(user.name)
    with closing(sqlite3.connect(user.memory.home / "chroma" / "chroma.sqlite3")) as database:
        found = database.execute(
            "SELECT embedding_id, string_value FROM embedding_metadata_array JOIN embeddings USING (id)"
        )
        return json.dumps(sorted(found), ensure_ascii=False).casefold()


# -- rules ------------------------------------------------------------------------------------------------------------


@talks
def test_the_words_show_nowhere_once_they_are_forgotten(
    labelled_newcomer: UserMemory, said: list[str], word: str
) -> None:
    steps = tell(labelled_newcomer, said)
    assert word in shown(labelled_newcomer, word)
    labelled_newcomer.forget(steps[:1])
    question = "what was there?" if word.isascii() else "有什么？"
    assert word not in shown(labelled_newcomer, question)
    assert word not in shown(labelled_newcomer, word)


@talks
def test_all_is_as_before_once_they_are_restored(labelled_newcomer: UserMemory, said: list[str], word: str) -> None:
    steps = tell(labelled_newcomer, said)
    before = labelled(labelled_newcomer), pages(labelled_newcomer)
    done = labelled_newcomer.forget(steps[:1])
    assert (labelled(labelled_newcomer), pages(labelled_newcomer)) != before
    labelled_newcomer.undo(done.id)
    assert (labelled(labelled_newcomer), pages(labelled_newcomer)) == before


@talks
def test_they_go_and_come_back_on_each_database(each_user: UserMemory, said: list[str], word: str) -> None:
    other = each_user.memory.user(f"{each_user.name}'s friend")
    tell(other, said)
    steps = tell(each_user, said)
    before = labelled(each_user), pages(each_user), labelled(other)
    done = each_user.forget(steps[:1])
    assert word not in shown(each_user, word)
    assert labelled(other) == before[2]
    each_user.undo(done.id)
    assert (labelled(each_user), pages(each_user), labelled(other)) == before


@talks
def test_what_chroma_shows_of_the_steps_follows(alice: UserMemory, said: list[str], word: str) -> None:
    steps = tell(alice, said)
    before = chroma(alice)
    done = alice.forget(steps[:1])
    assert word not in chroma(alice)
    alice.undo(done.id)
    assert chroma(alice) == before


def test_a_label_is_named_anew_by_the_steps_that_are_left(labelled_newcomer: UserMemory) -> None:
    steps = tell(
        labelled_newcomer,
        ["I bought a red kayak from Gunther.", "Nice.", "It leaks at the bow, I want a refund.", "Ok."],
    )
    assert labelled_newcomer.labels.of(steps[1]).scope == "Red kayak"
    labelled_newcomer.forget(steps[:1])
    assert labelled_newcomer.labels.of(steps[1]).scope == "Refund"
    assert labelled_newcomer.labels.show("Refund").steps == 3


def test_a_trip_stays_one_without_its_name(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, TALKS["a trip"][0])
    labelled_newcomer.forget(steps[:1])
    assert labelled_newcomer.labels.of(steps[2]).scope == "Trip / Day 2"


def test_a_chinese_trip_stays_one_in_chinese(tmp_path: Path) -> None:
    settings = Settings(background=False)
    with Memory.open(tmp_path, settings=settings) as memory:
        steps = tell(memory.user("alice"), TALKS["旅行"][0])
        done = memory.user("alice").forget(steps[:1])
        assert memory.user("alice").labels.of(steps[2]).scope == "旅行 / 第2天"
    with Memory.open(tmp_path, settings=settings) as memory:  # where it is known by its name alone
        alice = memory.user("alice")
        more = tell(alice, ["第三天去爬山。"])
        assert alice.labels.of(more[0]).scope == "旅行 / 第3天"
        alice.undo(done.id)
        assert alice.labels.of(more[0]).scope == "京都之行 / 第3天"


@pytest.mark.parametrize(
    ("kind", "name", "texts", "other"),
    [
        ("scope", "Kyoto trip", ["去京都！"], "Trip"),
        ("scope", "京都之行", ["To Kyoto!"], "旅行"),
        ("scope", "Talk: 好的", [], "对话"),
        ("scope", "Talk: ok", [], "Talk"),
        ("event", "宣布离婚", [], "事件"),
        ("entity", "海象", [], "事物"),
        ("entity", "セイウチの本", [], "Entity"),
        ("entity", "Walrus", ["海象"], "Entity"),
        ("entity", "🦭", ["海象"], "事物"),
        ("entity", "🦭", [], "Entity"),
    ],
)
def test_what_has_no_name_is_called_so_in_the_language_of_the_one_it_had(
    kind: Any, name: str, texts: list[str], other: str
) -> None:
    assert LabelWording().stand_in(kind, name, texts) == other
    assert LabelWording().of_name(kind, other) == frozenset()


def test_a_name_that_is_said_elsewhere_stays(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, ["My walrus is called Bartholomew.", "Bartholomew, what a name!"])
    labelled_newcomer.forget(steps[:1])
    assert labelled_newcomer.labels.of(steps[1]).scope == "Bartholomew"
    labelled_newcomer.forget(steps[1:])
    assert "bartholomew" not in shown(labelled_newcomer, "walrus")


def test_a_name_comes_back_when_it_is_said_again(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, ["My walrus is called Bartholomew.", "Lovely!"])
    labelled_newcomer.forget(steps[:1])
    assert labelled_newcomer.labels.of(steps[1]).scope != "Bartholomew"
    again = tell(labelled_newcomer, ["By the way, my walrus is called Bartholomew."], "u")
    assert labelled_newcomer.labels.of(again[0]).scope == "Bartholomew"


def test_what_two_forgotten_steps_hold_back_is_back_with_the_last_of_them(labelled_newcomer: UserMemory) -> None:
    steps = tell(
        labelled_newcomer, ["My walrus is called Bartholomew.", "Lovely!", "Bartholomew likes herring.", "Fine."]
    )
    before = labelled(labelled_newcomer)
    first, second = labelled_newcomer.forget(steps[:1]), labelled_newcomer.forget(steps[2:3])
    assert "bartholomew" not in shown(labelled_newcomer, "walrus")
    labelled_newcomer.undo(first.id)  # undone in the order in which they were done
    assert labelled_newcomer.labels.of(steps[1]).scope == "Bartholomew"
    labelled_newcomer.undo(second.id)
    assert labelled(labelled_newcomer) == before


def test_a_redo_takes_the_words_away_again(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, TALKS["a name"][0])
    done = labelled_newcomer.forget(steps[:1])
    names = [one.name for one in labelled_newcomer.labels.list()]
    (undone,) = labelled_newcomer.undo(done.id)
    labelled_newcomer.undo(undone.id)
    assert [one.name for one in labelled_newcomer.labels.list()] == names
    assert "bartholomew" not in shown(labelled_newcomer, "walrus")


def test_forgetting_is_all_that_history_tells_of_it(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, TALKS["a name"][0])
    before = len(labelled_newcomer.history())
    done = labelled_newcomer.forget(steps[:1])
    labelled_newcomer.labels.list()
    assert [one.id for one in labelled_newcomer.history()[before:]] == [done.id]
    assert {change.target for change in done.changes} <= {"step", "item"}


def test_neither_show_nor_a_filter_finds_a_label_by_what_was_forgotten(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, TALKS["a name"][0])
    labelled_newcomer.forget(steps[:1])
    with pytest.raises(NotFoundError):
        labelled_newcomer.labels.show("Bartholomew")
    found = labelled_newcomer.recall("Lovely", where={"labels": ["Bartholomew"]})
    assert not found.hits
    assert labelled_newcomer.recall("Lovely", where={"labels": [labelled_newcomer.labels.of(steps[1]).scope]}).hits


# -- corrections ------------------------------------------------------------------------------------------------------


def test_a_name_that_a_person_gave_stays(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, TALKS["a name"][0])
    labelled_newcomer.labels.rename("Bartholomew", "My walrus")
    labelled_newcomer.forget(steps[:1])
    one = labelled_newcomer.labels.show("My walrus")
    assert (one.name, one.aliases) == ("My walrus", ())  # the name that it had before was the step's
    assert "bartholomew" not in shown(labelled_newcomer, "walrus")


def test_a_pin_keeps_no_forgotten_word(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, TALKS["a name"][0])
    labelled_newcomer.labels.pin("Bartholomew")
    done = labelled_newcomer.forget(steps[:1])
    assert "bartholomew" not in shown(labelled_newcomer, "walrus")
    labelled_newcomer.undo(done.id)
    assert labelled_newcomer.labels.show("Bartholomew").pinned


def test_a_label_without_its_name_is_corrected_and_the_corrections_are_undone(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, TALKS["a name"][0])
    tell(labelled_newcomer, ["I bought a red kayak from Gunther."], "u")
    before = labelled(labelled_newcomer)
    done = labelled_newcomer.forget(steps[:1])
    scope = labelled_newcomer.labels.of(steps[1]).intent.scope
    renamed = labelled_newcomer.labels.rename(scope, "Compliments")
    assert labelled_newcomer.labels.of(steps[1]).scope == "Compliments"
    assert "bartholomew" not in shown(labelled_newcomer, "walrus")
    labelled_newcomer.undo(renamed.id)
    assert "bartholomew" not in shown(labelled_newcomer, "walrus")
    merged = labelled_newcomer.labels.merge(scope, "Red kayak")
    assert "bartholomew" not in shown(labelled_newcomer, "walrus")
    labelled_newcomer.undo(merged.id)
    labelled_newcomer.undo(done.id)
    assert labelled(labelled_newcomer) == before


def test_a_step_whose_texts_are_put_away_is_moved_and_moved_back(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, TALKS["a reference"][0])
    read = labelled_newcomer.labels.of(steps[2])
    assert "Budapest" in read.resolved_text
    done = labelled_newcomer.forget(steps[:1])
    other = tell(labelled_newcomer, ["My walrus likes herring."], "u")
    moved = labelled_newcomer.labels.move(steps[2], labelled_newcomer.labels.of(other[0]).intent.scope)
    assert "budapest" not in shown(labelled_newcomer, "pool")
    labelled_newcomer.undo(moved.id)
    assert "budapest" not in shown(labelled_newcomer, "pool")
    labelled_newcomer.undo(done.id)
    again = labelled_newcomer.labels.of(steps[2])
    assert (again.resolved_text, again.summary, again.intent) == (read.resolved_text, read.summary, read.intent)


# -- other ways in and out --------------------------------------------------------------------------------------------


@talks
def test_a_memory_opened_again_is_the_same(tmp_path: Path, said: list[str], word: str) -> None:
    settings = Settings(background=False)
    with Memory.open(tmp_path, settings=settings) as memory:
        steps = tell(memory.user("alice"), said)
        memory.user("alice").recall(word)
        before = labelled(memory.user("alice"))
        done = memory.user("alice").forget(steps[:1])
    with Memory.open(tmp_path, settings=settings) as memory:
        alice = memory.user("alice")
        assert word not in shown(alice, word)
        kept = [path for path in (tmp_path / "ranking").rglob("*") if path.is_file()]
        assert all(word.encode() not in path.read_bytes().lower() for path in kept)
        alice.undo(done.id)
        assert labelled(alice) == before


def test_an_export_after_forgetting_shows_no_more_and_undoes_as_well(memory: Memory, alice: UserMemory) -> None:
    steps = tell(alice, TALKS["a reference"][0])
    before = labelled(alice)
    done = alice.forget(steps[:1])
    file = memory.home / "alice.jsonl"
    alice.export(file)
    bob = memory.user("bob")
    bob.import_(file)
    assert "budapest" not in shown(bob, "pool")
    assert [one["id"] for one in labelled(bob) if "id" in one] == [one["id"] for one in labelled(alice) if "id" in one]
    bob.undo(done.id)
    same = [{**one, "step": {**one["step"], "user": "alice"}} if "step" in one else one for one in labelled(bob)]
    assert [{**one, "step": {**one["step"], "seq": 0}} if "step" in one else one for one in same] == [
        {**one, "step": {**one["step"], "seq": 0}} if "step" in one else one for one in before
    ]


def test_an_older_export_brings_no_forgotten_word_back(memory: Memory, alice: UserMemory) -> None:
    steps = tell(alice, TALKS["a name"][0])
    file = memory.home / "alice.jsonl"
    alice.export(file)
    alice.forget(steps[:1])
    alice.import_(file)
    assert "bartholomew" not in shown(alice, "walrus")


def test_a_name_that_stands_in_is_no_reason_to_merge_on_import(memory: Memory, alice: UserMemory) -> None:
    steps = tell(alice, TALKS["a trip"][0])
    alice.forget(steps[:1])
    file = memory.home / "alice.jsonl"
    alice.export(file)
    bob = memory.user("bob")
    theirs = tell(bob, ["I'm planning a trip to Oslo in June.", "Great!"], "u")
    bob.forget(theirs[:1])
    oslo = bob.labels.of(theirs[1]).intent.scope
    bob.import_(file)
    assert bob.labels.show(oslo).name == "Trip"
    (kyoto,) = {one.name for one in bob.labels.list("scope") if one.name.startswith("Trip (")}
    assert bob.labels.of(steps[2]).scope == f"{kyoto} / Day 2"


def test_a_real_name_that_is_imported_takes_the_place_of_what_stands_in(memory: Memory, alice: UserMemory) -> None:
    steps = tell(alice, TALKS["a trip"][0])
    alice.labels.rename("Kyoto trip", "Trip")
    file = memory.home / "alice.jsonl"
    alice.export(file)
    bob = memory.user("bob")
    theirs = tell(bob, ["I'm planning a trip to Oslo in June.", "Great!"], "u")
    done = bob.forget(theirs[:1])
    bob.import_(file)
    assert bob.labels.of(steps[1]).scope == "Trip"
    assert bob.labels.of(theirs[1]).scope == "Trip (2)"
    bob.undo(done.id)
    assert bob.labels.of(theirs[1]).scope == "Oslo trip"


@talks
def test_no_file_holds_what_was_redacted_while_it_was_put_away(
    memory: Memory, alice: UserMemory, traces: Traces, said: list[str], word: str
) -> None:
    steps = tell(alice, said)
    (found,) = {text for text in (word, word.capitalize()) if text in said[0]}
    done = alice.forget(steps[:1])
    alice.redact(found, caption="it")
    assert not traces(memory.home, found)
    alice.undo(done.id)
    alice.flush()
    assert not traces(memory.home, found)


@talks
def test_no_file_holds_what_was_put_away_once_the_user_is_erased(
    memory: Memory, alice: UserMemory, traces: Traces, said: list[str], word: str
) -> None:
    alice.forget(tell(alice, said)[:1])
    alice.erase()
    assert not traces(memory.home, word, word.capitalize())


def test_a_name_put_away_and_redacted_gives_way_to_what_stands_in(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, ["I'm planning a trip to Kyoto in May.", "Great!"])
    done = labelled_newcomer.forget(steps[:1])
    labelled_newcomer.redact("Kyoto in May", caption="a place")
    labelled_newcomer.undo(done.id)
    assert labelled_newcomer.labels.of(steps[1]).scope == "Trip"
    renamed = labelled_newcomer.labels.rename("scope:Trip", "Mine")
    labelled_newcomer.undo(renamed.id)
    assert labelled_newcomer.labels.of(steps[1]).scope == "Trip"


def test_what_stands_in_is_redacted_too(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, ["My walrus is called Bartholomew.", "I bought a red kayak from Gunther.", "Fine."])
    labelled_newcomer.labels.move(steps[1:2], labelled_newcomer.labels.of(steps[0]).intent.scope)
    done = labelled_newcomer.forget(steps[:1])
    scope = labelled_newcomer.labels.of(steps[1]).intent.scope
    assert labelled_newcomer.labels.show(scope).name == "Red kayak"
    labelled_newcomer.redact("red kayak from Gunther", caption="a thing")
    assert "kayak" not in str([labelled(labelled_newcomer), labelled_newcomer.history()]).casefold()
    labelled_newcomer.undo(done.id)
    assert labelled_newcomer.labels.show(scope).name == "Bartholomew"


def test_history_of_labels_keeps_no_name_that_holds_a_part_of_redacted_words(labelled_newcomer: UserMemory) -> None:
    def kept() -> str:
        made = [change for one in labelled_newcomer.history() for change in one.changes if change.target == "label"]
        return str([labelled(labelled_newcomer), made]).casefold()

    steps = tell(labelled_newcomer, ["I'm planning a trip to Kyoto in May.", "Great!"])
    renamed = labelled_newcomer.labels.rename("Kyoto trip", "Mine")
    assert "kyoto" in kept()
    labelled_newcomer.redact("Kyoto in May", caption="a place")
    assert labelled_newcomer.labels.of(steps[1]).scope == "Mine"
    assert "kyoto" not in kept()
    labelled_newcomer.undo(renamed.id)
    assert "kyoto" not in kept()


def test_a_trip_named_by_a_part_of_redacted_words_stays_a_trip(labelled_newcomer: UserMemory) -> None:
    steps = tell(labelled_newcomer, ["I'm planning a trip to Kyoto in May.", "Great!"])
    labelled_newcomer.redact("Kyoto in May", caption="a place")
    assert labelled_newcomer.labels.of(steps[1]).scope == "Trip"


def test_what_is_put_away_is_redacted_too(memory: Memory, alice: UserMemory) -> None:
    steps = tell(alice, TALKS["a reference"][0])
    done = alice.forget(steps[:1])
    alice.redact("Grand Budapest", caption="a hotel")
    alice.undo(done.id)
    assert "budapest" not in shown(alice, "pool")
    assert "budapest" not in str(alice.history()).casefold()


@pytest.mark.parametrize(
    ("said", "words", "name"),
    [
        (["My walrus is called Bartholomew.", "He likes herring a lot."], "Bartholomew", "Walrus"),
        (["I'm planning a trip to Kyoto in May.", "Great!"], "Kyoto", "Trip"),
        (["我打算五月去京都旅行。", "好的。"], "京都", "旅行"),
    ],
)
def test_a_label_named_by_redacted_words_is_named_anew(
    memory: Memory, alice: UserMemory, said: list[str], words: str, name: str
) -> None:
    steps = tell(alice, said)
    assert words in alice.labels.of(steps[1]).scope
    renamed = alice.labels.rename(alice.labels.of(steps[1]).intent.scope, "Mine")
    (undone,) = alice.undo(renamed.id)
    alice.redact(words, caption="it")
    assert alice.labels.of(steps[1]).scope == name
    assert words not in str([alice.labels.list(), alice.history()])
    (redone,) = alice.undo(undone.id)  # history fits what the redaction left
    assert alice.labels.of(steps[1]).scope == "Mine"
    alice.undo(redone.id)
    assert alice.labels.of(steps[1]).scope == name
    assert words not in str([alice.labels.list(), alice.history()])


def test_a_home_whose_steps_were_forgotten_long_ago_is_put_right_by_a_reindex(
    memory: Memory, alice: UserMemory
) -> None:
    steps = tell(alice, TALKS["a reference"][0])
    before = labelled(alice)
    done = alice.forget(steps[:1])
    after = labelled(alice)
    with memory.ledger.write("alice") as tx:  # as it was left by a version that put nothing away
        put_back(tx, steps[:1])
        clear_gists(tx, steps)
    assert "budapest" in str(labelled(alice)).casefold()
    memory.reindex("alice")
    assert labelled(alice) == after
    alice.undo(done.id)
    gists = [{**one, "gist": ""} if "gist" in one else one for one in labelled(alice)]
    assert gists == [{**one, "gist": ""} if "gist" in one else one for one in before]


def test_erasing_leaves_nothing_put_away(memory: Memory, alice: UserMemory) -> None:
    steps = tell(alice, TALKS["a name"][0])
    alice.forget(steps[:1])
    assert alice.erase().rows["hidden"] >= 2  # the name, and what the scope was about


def test_the_command_line_shows_no_forgotten_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        steps = tell(memory.user("alice"), TALKS["a name"][0])
    who = ["--user", "alice", "--home", str(tmp_path)]

    def run(*words: str) -> str:
        assert main([*words, *who]) == 0
        return capsys.readouterr().out.casefold()

    looks = [("labels", "list"), ("labels", "list", "--json"), ("recall", "lovely", "--why"), ("show", steps[1])]
    assert "bartholomew" in "".join(run(*words) for words in looks)
    done = json.loads(run("forget", steps[0], "--json"))
    assert "bartholomew" not in "".join(run(*words) for words in looks)
    run("undo", done["id"])
    assert "bartholomew" in run("labels", "list")


# -- labels of a model ------------------------------------------------------------------------------------------------


def by_model(request: Request) -> Reply:
    """Names in words of the first step, in words of nobody, and a summary that repeats the first step."""
    numbers = [n for n in range(1, 9) if f"\n[{n}] " in request.text.rpartition("<steps>")[2]]
    made = [
        {
            "step": number,
            "scope": "Walrus names" if number < 3 else "Unspoken affairs" if number < 5 else "Boats",
            "parent": None,
            "events": ["Announce walrus"],
            "entities": ["Walrus", "Price"],
            "resolved": None,
            "summary": "Speaks of the walrus Bartholomew",
        }
        for number in numbers
    ]
    return Reply(content={"steps": made, "gists": [{"scope": "Walrus names", "gist": "A walrus called Bartholomew"}]})


@pytest.fixture
def modelled(tmp_path: Path, loopback_only: None, scripted_server: ServerFactory) -> Iterator[UserMemory]:
    """Somebody whose messages a model labels."""
    settings = Settings(background=False, labels="model", mode="off")
    model = scripted_server(by_model).chat_model(max_retries=0)
    with Memory.open(tmp_path, model=model, settings=settings) as memory:
        yield memory.user("alice")


def test_labels_that_a_model_made_go_with_the_words_too(modelled: UserMemory) -> None:
    said = [
        *("My walrus is called Bartholomew.", "Lovely!", "The papers came from my lawyer.", "Noted."),
        *("My boat leaks.", "Which boats do you have?"),
    ]
    steps = tell(modelled, said)
    before = labelled(modelled)
    names = {one.name for one in modelled.labels.list()}
    assert {"Walrus names", "Unspoken affairs", "Boats", "Announce walrus", "Walrus"} <= names
    done = modelled.forget([steps[0], steps[2]])
    left = json.dumps(labelled(modelled)).casefold()
    assert "walrus" not in left
    assert "bartholomew" not in left
    assert "unspoken" not in left  # in no words of the step, but the step was what it was named by
    assert modelled.labels.of(steps[5]).scope == "Boats"
    assert modelled.labels.of(steps[1]).events[0].startswith("Announce") is False
    modelled.undo(done.id)
    assert labelled(modelled) == before


def test_texts_of_a_model_wait_for_every_step_that_they_tell_of(modelled: UserMemory) -> None:
    said = ["My walrus is called Bartholomew.", "Lovely!", "He likes herring.", "Sure."]
    steps = tell(modelled, said)
    before = labelled(modelled)
    forgotten = [modelled.forget([step]) for step in (steps[2], steps[1], steps[0])]
    for done in forgotten[:2]:  # the gist was put away with the first, and tells of the last
        modelled.undo(done.id)
        assert "bartholomew" not in json.dumps(labelled(modelled)).casefold()
    modelled.undo(forgotten[2].id)
    assert labelled(modelled) == before


class Namer:
    """Gives every step the scope named by what stands before a colon, made once; a labeller that looks back at nothing."""

    def __init__(self, user: str) -> None:
        self.user, self.labels = user, {}

    def restore(self, labels: Sequence[Label], recent: object) -> None:
        self.labels = {one.id: one for one in labels}

    def label(self, steps: Sequence[StepView]) -> LabelBatch:
        made, new = [], []
        for step in steps:
            ids = []
            for kind, name in (("scope", step.text.partition(":")[0]), ("event", "Say")):
                found = next((one for one in self.labels.values() if (one.kind, one.name) == (kind, name)), None)
                if found is None:
                    found = Label(user=self.user, kind=kind, name=name)  # type: ignore[arg-type]
                    self.labels[found.id] = found
                    new.append(found)
                ids.append(found.id)
            made.append(LabeledStep(step=step, scope=ids[0], events=(ids[1],), resolved_text=step.text, summary=""))
        return LabelBatch(steps=tuple(made), labels=tuple(new))


def test_no_two_labels_get_one_name_and_a_taken_one_is_numbered(tmp_path: Path) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False), labeler=Namer) as memory:
        alice = memory.user("alice")
        steps = tell(alice, ["Kyoto trip: one", "Oslo trip: one"])
        done = alice.forget(steps)
        tell(alice, ["Kyoto trip: a new one"], "u")
        names = [one.name for one in alice.labels.list("scope")]
        assert names == ["Kyoto trip"]
        alice.undo(done.id)
        assert sorted(one.name for one in alice.labels.list("scope")) == ["Kyoto trip", "Kyoto trip (2)", "Oslo trip"]


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("scope", "Kyoto trip", {"kyoto"}),
        ("scope", "Day 2", set()),
        ("scope", "第2天", set()),
        ("scope", "Saturday", {"saturday"}),
        ("scope", "12月21日", {"12", "月", "21", "日"}),
        ("scope", "Trip with my parents", {"parent"}),
        ("scope", "京都之行", {"京都", "都之", "之行"}),
        ("scope", "Talk: well then", {"“well then"}),
        ("event", "Propose", set()),
        ("event", "Propose hotel", set()),
        ("event", "Announce divorce", {"announce", "divorce"}),
        ("entity", "Hotel", set()),
        ("entity", "Walruses", {"walruse"}),
    ],
)
def test_of_a_name_counts_what_was_said(kind: Any, name: str, told: set[str]) -> None:
    assert LabelWording().of_name(kind, name) == told
