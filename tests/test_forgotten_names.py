"""Words of a forgotten step show nowhere in what labelling made of them; a label that they named gets a neutral name."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
import re
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
from hexamem.memory_types.labels import Label

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
    """What Chroma has of the steps: labels, speakers, threads."""
    user.flush()
    with closing(sqlite3.connect(user.memory.home / "chroma" / "chroma.sqlite3")) as database:
        lists = database.execute("SELECT id, string_value FROM embedding_metadata_array").fetchall()
        values = database.execute(
            "SELECT id, string_value FROM embedding_metadata WHERE string_value IS NOT NULL"
        ).fetchall()
        return json.dumps(sorted(lists + values), ensure_ascii=False).casefold()


class Namer:
    """Puts every step into the scope named before its colon, or into that of the step before; entities are the words in
    brackets. The gist of a scope is its first text, and the summary of a step names the scope."""

    def __init__(self, user: str) -> None:
        self.user = user
        self.labels: dict[str, Label] = {}
        self.scope: dict[str, str] = {}

    def restore(self, labels: Sequence[Label], recent: Any) -> None:
        self.labels = {one.id: one for one in labels}
        self.scope = {step.step.thread_id: scope for scope, steps in recent.items() for step in steps}

    def label(self, steps: Sequence[StepView]) -> LabelBatch:
        made: list[LabeledStep] = []
        new: list[Label] = []
        for step in steps:
            named, colon, _ = step.text.partition(":")
            scope = self._find("scope", named, step.text, new) if colon else self.scope[step.thread_id]
            self.scope[step.thread_id] = scope
            entities = tuple(self._find("entity", name, "", new) for name in re.findall(r"\[(.*?)\]", step.text))
            made.append(
                LabeledStep(
                    step=step,
                    scope=scope,
                    events=(self._find("event", "Report", "", new),),
                    entities=entities,
                    resolved_text=step.text,
                    summary="",
                )
            )
        return LabelBatch(steps=tuple(made), labels=tuple(new))

    def _find(self, kind: Any, name: str, gist: str, new: list[Label]) -> str:
        for one in self.labels.values():
            if (one.kind, one.name) == (kind, name):
                return one.id
        label = Label(user=self.user, kind=kind, name=name, gist=gist)
        self.labels[label.id] = label
        new.append(label)
        return label.id


WALRUS = ["Bartholomew: my walrus is called so. [Walrus tusks]", "Lovely!", "He likes herring a lot.", "Fine."]


@pytest.fixture(scope="module")
def naming_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("names"), settings=Settings(background=False), labeler=Namer) as memory:
        yield memory


@pytest.fixture
def named(naming_memory: Memory, request: pytest.FixtureRequest) -> UserMemory:
    """Somebody whose labels are named by their own words."""
    return naming_memory.user(request.node.name)


# -- the embedded labels ----------------------------------------------------------------------------------------------


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
def test_a_restored_step_has_its_labels_and_the_others_keep_theirs(
    labelled_newcomer: UserMemory, said: list[str], word: str
) -> None:
    steps = tell(labelled_newcomer, said)
    before = [labelled_newcomer.labels.of(step).intent for step in steps]
    done = labelled_newcomer.forget(steps[:1])
    labelled_newcomer.undo(done.id)
    assert [labelled_newcomer.labels.of(step).intent for step in steps] == before
    assert steps[0] in {hit.id for hit in labelled_newcomer.recall(said[0]).hits}


@talks
def test_they_go_on_each_database(each_user: UserMemory, said: list[str], word: str) -> None:
    other = each_user.memory.user(f"{each_user.name}'s friend")
    tell(other, said)
    steps = tell(each_user, said)
    before = labelled(other)
    done = each_user.forget(steps[:1])
    assert word not in shown(each_user, word)
    assert labelled(other) == before
    each_user.undo(done.id)
    assert labelled(other) == before


@talks
def test_what_chroma_shows_of_the_steps_follows(alice: UserMemory, said: list[str], word: str) -> None:
    alice.forget(tell(alice, said)[:1])
    assert word not in chroma(alice)


@talks
def test_a_memory_opened_again_shows_no_forgotten_word(tmp_path: Path, said: list[str], word: str) -> None:
    settings = Settings(background=False)
    with Memory.open(tmp_path, settings=settings) as memory:
        steps = tell(memory.user("alice"), said)
        memory.user("alice").recall(word)
        memory.user("alice").forget(steps[:1])
    with Memory.open(tmp_path, settings=settings) as memory:
        assert word not in shown(memory.user("alice"), word)
        kept = [path for path in (tmp_path / "ranking").rglob("*") if path.is_file()]
        assert all(word.encode() not in path.read_bytes().lower() for path in kept)


# -- names ------------------------------------------------------------------------------------------------------------


def test_a_label_named_by_forgotten_words_gets_a_neutral_name(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    assert named.labels.of(steps[1]).scope == "Bartholomew"
    assert named.labels.of(steps[0]).entities == ("Walrus tusks",)
    named.forget(steps[:1])
    assert named.labels.of(steps[1]).scope == "Scope 1"
    assert named.labels.show("Scope 1").steps == 3
    assert named.labels.show("Scope 1").gist == ""
    assert not {"bartholomew", "walrus", "tusks"} & set(re.findall(r"\w+", shown(named, "Lovely")))


def test_two_labels_that_lose_their_names_get_two_names(named: UserMemory) -> None:
    steps = tell(named, ["Kyoto trip: one", "Great!", "Oslo trip: one", "Great!"])
    done = named.forget([steps[0], steps[2]])
    assert [named.labels.of(steps[at]).scope for at in (1, 3)] == ["Scope 1", "Scope 2"]
    named.undo(done.id)
    assert [named.labels.of(step).scope for step in steps] == ["Scope 1", "Scope 1", "Scope 2", "Scope 2"]


def test_a_name_that_a_step_still_says_stays(named: UserMemory) -> None:
    steps = tell(named, ["Bartholomew: my walrus is called so.", "Bartholomew, what a name!"])
    named.forget(steps[:1])
    assert named.labels.of(steps[1]).scope == "Bartholomew"
    named.forget(steps[1:])
    assert "bartholomew" not in shown(named, "walrus")


def test_what_is_said_again_is_labelled_again(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    named.forget(steps[:1])
    again = tell(named, ["Bartholomew: he is back."], "u")
    assert named.labels.of(again[0]).scope == "Bartholomew"
    assert named.labels.of(steps[1]).scope == "Scope 1"


def test_a_redo_takes_the_words_away_again(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    done = named.forget(steps[:1])
    names = [one.name for one in named.labels.list()]
    (undone,) = named.undo(done.id)
    named.undo(undone.id)
    assert [one.name for one in named.labels.list()] == names
    assert "bartholomew" not in shown(named, "walrus")


def test_forgetting_is_all_that_history_tells_of_it(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    before = len(named.history())
    done = named.forget(steps[:1])
    named.labels.list()
    assert [one.id for one in named.history()[before:]] == [done.id]
    assert {change.target for change in done.changes} <= {"step", "item"}


def test_neither_show_nor_a_filter_finds_a_label_by_what_was_forgotten(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    named.forget(steps[:1])
    with pytest.raises(NotFoundError):
        named.labels.show("Bartholomew")
    assert not named.recall("Lovely", where={"labels": ["Bartholomew"]}).hits
    assert named.recall("Lovely", where={"labels": ["Scope 1"]}).hits


# -- corrections ------------------------------------------------------------------------------------------------------


def test_a_name_that_a_person_gave_stays(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    renamed = named.labels.rename("Bartholomew", "My herring eater")
    named.forget(steps[:1])
    assert named.labels.of(steps[1]).scope == "My herring eater"
    assert "bartholomew" not in shown(named, "walrus")
    named.undo(renamed.id)  # the name before is gone from the history too
    assert "bartholomew" not in shown(named, "walrus")
    assert "bartholomew" not in str([one.changes for one in named.history() if one.kind == "rename"]).casefold()


def test_a_pin_keeps_no_forgotten_word(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    named.labels.pin("Bartholomew")
    named.forget(steps[:1])
    assert "bartholomew" not in shown(named, "walrus")
    assert named.labels.show("Scope 1").pinned


def test_a_label_with_a_neutral_name_is_corrected_and_the_corrections_are_undone(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    tell(named, ["Red kayak: it is from Gunther."], "u")
    done = named.forget(steps[:1])
    scope = named.labels.of(steps[1]).intent.scope
    renamed = named.labels.rename(scope, "Compliments")
    assert named.labels.of(steps[1]).scope == "Compliments"
    named.undo(renamed.id)
    assert named.labels.of(steps[1]).scope == "Scope 1"
    merged = named.labels.merge(scope, "Red kayak")
    assert named.labels.of(steps[1]).scope == "Red kayak"
    named.undo(merged.id)
    named.undo(done.id)
    assert named.labels.of(steps[0]).scope == "Scope 1"


def test_corrections_made_before_are_undone_after_forgetting(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    tell(named, ["Red kayak: it is from Gunther."], "u")
    merged = named.labels.merge("Bartholomew", "Red kayak")
    named.forget(steps[:1])
    assert named.labels.of(steps[1]).scope == "Red kayak"
    named.undo(merged.id)
    assert named.labels.of(steps[1]).scope == "Scope 1"


# -- export, redaction and erasure ------------------------------------------------------------------------------------


def test_an_export_after_forgetting_shows_no_forgotten_word(tmp_path: Path, named: UserMemory) -> None:
    done = named.forget(tell(named, WALRUS)[:1])
    named.export(tmp_path / "alice.jsonl")
    bob = named.memory.user("bob of the export")
    bob.import_(tmp_path / "alice.jsonl")
    assert "bartholomew" not in shown(bob, "walrus")
    assert [one.name for one in bob.labels.list()] == [one.name for one in named.labels.list()]
    bob.undo(done.id)
    assert len(bob.steps()) == len(WALRUS)


def test_an_older_export_brings_no_forgotten_word_back(tmp_path: Path, named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    named.export(tmp_path / "alice.jsonl")
    named.forget(steps[:1])
    named.import_(tmp_path / "alice.jsonl")
    assert "bartholomew" not in shown(named, "walrus")


def test_a_neutral_name_is_no_reason_to_merge_on_import(tmp_path: Path, named: UserMemory) -> None:
    steps = tell(named, ["Kyoto trip: one", "Great!"])
    renamed = named.labels.rename("Kyoto trip", "Temples")
    named.undo(renamed.id)
    named.forget(steps[:1])
    named.export(tmp_path / "alice.jsonl")
    bob = named.memory.user("bob of the merge")
    theirs = tell(bob, ["Oslo trip: one", "Great!"], "u")
    bob.forget(theirs[:1])
    bob.import_(tmp_path / "alice.jsonl")
    assert bob.labels.of(theirs[1]).scope == "Scope 1"
    name = str(bob.labels.of(steps[1]).scope)
    assert name.startswith("Scope ")
    assert name != "Scope 1"
    again = bob.labels.rename(name, "Kyoto")
    bob.undo(again.id)
    assert bob.labels.of(steps[1]).scope == name


@talks
def test_no_file_holds_what_was_redacted_while_it_was_forgotten(
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
def test_no_file_holds_what_was_forgotten_once_the_user_is_erased(
    memory: Memory, alice: UserMemory, traces: Traces, said: list[str], word: str
) -> None:
    alice.forget(tell(alice, said)[:1])
    alice.erase()
    assert not traces(memory.home, word, word.capitalize())


@pytest.mark.parametrize("name", ["Bartholomew", "Bartholomew the walrus"])
def test_a_label_named_by_redacted_words_gets_a_neutral_name(tmp_path: Path, traces: Traces, name: str) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False), labeler=Namer) as memory:
        alice = memory.user("alice")
        steps = tell(alice, [f"{name}: he likes herring.", "Fine."])
        renamed = alice.labels.rename(alice.labels.of(steps[1]).intent.scope, "Mine")
        (undone,) = alice.undo(renamed.id)
        alice.redact("Bartholomew", caption="it")
        assert alice.labels.of(steps[1]).scope == "Scope 1"
        assert "Bartholomew" not in str([alice.labels.list(), alice.history()])
        (redone,) = alice.undo(undone.id)  # history fits what the redaction left
        assert alice.labels.of(steps[1]).scope == "Mine"
        alice.undo(redone.id)
        assert alice.labels.of(steps[1]).scope == "Scope 1"
        assert not traces(tmp_path, "Bartholomew")


def test_history_of_labels_keeps_no_name_that_holds_a_part_of_redacted_words(named: UserMemory) -> None:
    def kept() -> str:
        made = [change for one in named.history() for change in one.changes if change.target == "label"]
        return str([labelled(named), made]).casefold()

    steps = tell(named, ["Kyoto trip: to Kyoto in May.", "Great!"])
    renamed = named.labels.rename("Kyoto trip", "Mine")
    assert "kyoto" in kept()
    named.redact("Kyoto in May", caption="a place")
    assert named.labels.of(steps[1]).scope == "Mine"
    changes = [change for one in named.history() for change in one.changes if change.target == "label"]
    assert "kyoto" not in str([named.labels.list(), changes]).casefold()
    named.undo(renamed.id)
    assert "kyoto" not in str(named.labels.list()).casefold()


def test_what_was_redacted_while_it_was_forgotten_does_not_come_back(named: UserMemory) -> None:
    steps = tell(named, ["Grand Budapest: our hotel is the Grand Budapest.", "Ok.", "It has a pool."])
    done = named.forget(steps[:1])
    named.redact("Grand Budapest", caption="a hotel")
    named.undo(done.id)
    assert "budapest" not in shown(named, "pool")
    assert "budapest" not in str(named.history()).casefold()


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
    assert "bartholomew" in run("show", steps[0])


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
    names = {one.name for one in modelled.labels.list()}
    assert {"Walrus names", "Unspoken affairs", "Boats", "Announce walrus", "Walrus"} <= names
    done = modelled.forget([steps[0], steps[2]])
    left = json.dumps(labelled(modelled)).casefold()
    assert "walrus" not in left
    assert "bartholomew" not in left
    assert "unspoken" not in left  # in no words of the step, but the step was what it was named by
    assert modelled.labels.of(steps[5]).scope == "Boats"
    assert modelled.labels.of(steps[1]).events == ("Event 1",)
    modelled.undo(done.id)
    assert {one.name.partition(" ")[0] for one in modelled.labels.list("scope")} == {"Scope", "Boats"}
    assert modelled.labels.of(steps[0]).summary == "Speaks of the walrus Bartholomew"
    assert modelled.labels.of(steps[1]).summary == ""  # it told of the other step
