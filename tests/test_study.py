"""The study: the data sets, the pass over the conversations, the experiments and the report."""

from __future__ import annotations

# ruff: noqa: F811 - fixtures come by import
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hexamem import Memory, Settings
from hexamem.cli.app import run
from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.evals import load_conversations
from hexamem.evals.learning import LearningSettings
from hexamem.evals.metrics import Interval
from hexamem.evals.report import Section
from hexamem.evals.study import (
    EXPERIMENTS,
    StudySet,
    run_study,
    study_sets,
)
from hexamem.evals.study.experiments import COLUMNS_OF
from hexamem.evals.study.laboratory import HELD_OUT, SHIPPED, Laboratory
from hexamem.evals.study.observing import RANKINGS, Observation, observe
from hexamem.retrieval.signals.features import FEATURES

from .scripted_server import KEY, Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401

QUICK = LearningSettings(epochs=1, runs=1, hidden=2, gate=2)
CORPUS = Path(__file__).parents[1] / "evals" / "corpus"
PLAIN = Settings(background=False, mode="off")

TALKS = {
    "rosa": [
        ("Rosa", "I have opened my bakery in Porto, on the corner by the tram."),
        ("Emil", "Wonderful! My violin exam is over, I passed with distinction."),
        ("Rosa", "The oven broke on Tuesday, so I bought a new one for 900 euros."),
        ("Emil", "I adopted a grey cat called Pixel from the shelter."),
        ("Rosa", "My sister Ana will help me sell bread from May."),
        ("Emil", "I am moving to Graz, my flat there has a tiny garden."),
    ],
    "liang": [
        ("梁雨", "我上周在苏州开了一家书店，就在运河边上。"),
        ("周明", "恭喜！我的驾照考试终于通过了。"),
        ("梁雨", "书店的灯坏了，花了三百块换新的。"),
        ("周明", "我收养了一只白色的兔子，叫雪球。"),
        ("梁雨", "我妹妹五月来店里帮忙。"),
        ("周明", "我打算搬到无锡，那边房租便宜。"),
    ],
    "nadia": [
        ("Nadia", "The lighthouse tour was cancelled because of the storm."),
        ("Otto", "Our choir sings in the old station on Friday."),
        ("Nadia", "I sold my red bicycle to a student for 120."),
        ("Otto", "My grandmother baked a plum cake for the whole street."),
        ("Nadia", "I planted three apple trees behind the school."),
        ("Otto", "The doctor says that my knee is fine again."),
    ],
}
ASKED = {
    "rosa": [
        ("Where did Rosa open her bakery?", 4, [1]),
        ("What is the name of Emil's cat?", 4, [4]),
        ("What did Rosa buy after the oven broke?", 1, [3]),
        ("Which colour is Rosa's car?", 5, []),
    ],
    "liang": [("梁雨的书店开在哪里？", 4, [1]), ("周明的兔子叫什么？", 4, [4]), ("梁雨的妹妹什么时候来？", 2, [5])],
    "nadia": [
        ("Who bought the red bicycle?", 4, [3]),
        ("What happened to the tour and to the knee?", 1, [1, 6]),
        ("When does Otto's choir sing?", 2, [2]),
    ],
}


def written(folder: Path, names: Sequence[str] = tuple(TALKS)) -> Path:
    """Conversations in LoCoMo's form."""
    folder.mkdir(exist_ok=True)
    for name in names:
        turns = [
            {"speaker": speaker, "dia_id": f"D1:{number}", "text": text}
            for number, (speaker, text) in enumerate(TALKS[name], 1)
        ]
        asked = [
            {"question": text, "answer": "", "category": kind, "evidence": [f"D1:{one}" for one in gold]}
            for text, kind, gold in ASKED[name]
        ]
        talk = {"session_1_date_time": "9:00 am on 3 March, 2024", "session_1": turns, "qa": asked}
        (folder / f"{name}.json").write_text(json.dumps(talk, ensure_ascii=False), "utf-8")
    return folder


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> list[StudySet]:
    home = tmp_path_factory.mktemp("talks")
    return study_sets([written(home / "one", ["rosa", "liang"]), written(home / "two", ["nadia"])])


@pytest.fixture(scope="module")
def observations(tmp_path_factory: pytest.TempPathFactory, sets: list[StudySet]) -> Iterator[list[Observation]]:
    with Memory.open(tmp_path_factory.mktemp("home"), embedder="static", settings=PLAIN) as memory:
        yield observe(memory, sets)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, sets: list[StudySet]) -> tuple[dict[str, Section], dict[str, Any]]:
    steps: list[str] = []
    sections, facts = run_study(
        lambda: Memory.open(tmp_path_factory.mktemp("study"), embedder="static", settings=PLAIN),
        sets,
        settings=QUICK,
        samples=50,
        progress=lambda what, done, total: steps.append(what),
    )
    assert [one.name for one in sections] == list(EXPERIMENTS)
    assert {"train", *EXPERIMENTS} <= set(steps)
    return {one.name: one for one in sections}, facts


Study = tuple[dict[str, Section], dict[str, Any]]


def rows(study: Study, experiment: str, title: str) -> list[dict[str, Any]]:
    return [dict(row) for row in study[0][experiment].tables[title]]


# The data sets


def test_a_folder_is_a_data_set_and_files_are_that_of_their_folder(tmp_path: Path) -> None:
    folder = written(tmp_path / "friends")
    assert [(one.name, len(one.conversations)) for one in study_sets([folder])] == [("friends", 3)]
    files = study_sets([folder / "rosa.json", folder / "liang.json"])
    assert [(one.name, len(one.conversations)) for one in files] == [("friends", 2)]
    (found,) = study_sets([folder], limit=2)
    assert [one.id for one in found.conversations] == ["locomo-liang", "locomo-nadia"]
    with pytest.raises(InvalidInputError, match="limit=0"):
        study_sets([folder], limit=0)
    with pytest.raises(InvalidInputError, match="given twice"):
        study_sets([folder, folder / "rosa.json"])


def test_the_questions_out_of_distribution_are_read_with_their_conversations(tmp_path: Path) -> None:
    (found,) = study_sets([CORPUS / "out_of_distribution"])
    questions = [question for one in found.conversations for question in one.questions]
    kinds = [question.category for question in questions]
    assert sorted(map(kinds.count, set(kinds))) == [10] * 5
    assert all(question.evidence and question.answer for question in questions)
    assert sum(any("\u4e00" <= sign <= "\u9fff" for sign in question.text) for question in questions) == 25
    names = [f"{one.id.removeprefix('locomo-')}.json" for one in found.conversations]
    files = [next(path for path in (CORPUS / "open" / name, CORPUS / name) if path.is_file()) for name in names]
    own = {question.text for file in files for question in load_conversations(file)[0].questions}
    assert not own & {question.text for question in questions}
    written(tmp_path / "talks", ["rosa"])
    (tmp_path / "strange").mkdir()
    entry = {"conversation": "talks/rosa.json", "kind": "tone", "question": "?", "evidence": ["D9:9"]}
    (tmp_path / "strange" / "questions.json").write_text(json.dumps([entry]), "utf-8")
    with pytest.raises(CorruptFileError, match="no turn 'D9:9'"):
        study_sets([tmp_path / "strange"])


# The one pass


def test_one_pass_asks_every_ranking_of_answerable_questions_alone_and_spends_nothing(
    observations: list[Observation],
) -> None:
    assert len(observations) == 9
    for one in observations:
        assert one.kind != "5"
        assert set(one.rankings) == set(RANKINGS)
        for ranked in one.rankings.values():
            assert len(set(ranked.turns)) == len(ranked.turns)
            assert set(ranked.turns) <= set(one.conversation.tokens)
            assert (ranked.calls, ranked.tokens) == (0, 0)


# What the experiments compute


def test_held_out_weights_were_not_trained_on_what_they_are_measured_on(observations: list[Observation]) -> None:
    lab = Laboratory(observations, fingerprint="x", settings=QUICK, samples=20)
    held = [conversation for fold in lab.folds for conversation in fold.held]
    assert sorted(held) == sorted({one.conversation.id for one in lab.observations})
    fold = lab.folds[0]
    rest = [one for one in lab.observations if one.conversation.id not in fold.held]
    assert np.array_equal(fold.ranker.weights.linear, lab.train(rest, most=None).linear)
    # Every feature belongs to one signal; without a signal its columns teach nothing.
    assert sorted(column for columns in COLUMNS_OF.values() for column in columns) == list(range(len(FEATURES)))
    columns = list(COLUMNS_OF["labels"])
    nothing, without = (
        lab.train(lab.observations, without=left_out).linear for left_out in (range(len(FEATURES)), columns)
    )
    assert np.array_equal(without[columns], nothing[columns])


def test_the_main_comparison_has_every_ranking_and_names_the_one_that_needs_a_model(study: Study) -> None:
    by_ranking = {row["ranking"]: row for row in rows(study, "main", "Rankings") if row["data set"] == "one"}
    assert set(by_ranking) == {*RANKINGS, HELD_OUT, SHIPPED}
    for row in by_ranking.values():
        assert 0 <= row["recall@5"] <= row["recall@10"] <= row["recall@20"] <= 1
        assert 0 <= row["recall in tokens"] <= 1
        assert row["tokens"] > 0
        assert (row["calls"], row["model tokens"]) == (0, 0)
    assert (by_ranking["rrf"]["against rrf"], by_ranking["dense"]["against rrf"].n) == (None, 2)
    by_language = rows(study, "main", "one: recall@10 by language of the question")[0]
    assert list(by_language) == ["ranking", "Chinese (3)", "Chinese against rrf", "English (3)", "English against rrf"]
    assert "two: recall@10 by language of the question" not in study[0]["main"].tables
    for row in rows(study, "main", "one: recall@10 by type of question"):
        # Only questions of category 4 are in both conversations.
        assert (row["4 against rrf"] is None) == (row["ranking"] == "rrf")
        assert row["1 against rrf"] is row["2 against rrf"] is None


def test_no_configuration_beats_the_oracle(study: Study) -> None:
    bounds = {(row["data set"], row["configurations"]): row for row in rows(study, "oracle", "Bounds")}
    assert {family for _, family in bounds} == {"fixed rankings", "operations"}
    for where, bound in bounds.items():
        assert bound["oracle"] + 1e-9 >= max(bound["recall of it"], bound["by type, held out"] or 0.0)
        fixed = [
            row for row in rows(study, "oracle", "Configurations") if (row["data set"], row["configurations"]) == where
        ]
        assert max(row["recall@10"] for row in fixed) == bound["recall of it"]
    for row in rows(study, "oracle", "Achieved"):
        if row["configurations"] == "operations":
            assert row["ranking"] == HELD_OUT
            assert row["recall@10"] <= bounds[row["data set"], "operations"]["oracle"] + 1e-9


def test_ablations_cover_every_part(study: Study) -> None:
    signals = rows(study, "ablation", "Signals")
    assert [row["without"] for row in signals] == list(COLUMNS_OF)
    assert all(isinstance(row[kind], Interval) for row in signals for kind in ("zero at inference", "retrained"))
    operations = {row["ranking"] for row in rows(study, "ablation", "Operations")}
    assert {"the usual operations", "with multi_step", "by the kind of the question"} <= operations
    training = {row["ranking"] for row in rows(study, "ablation", "Training")}
    assert {"everything", "without the gate on signals", "without the prior of fusion"} <= training


# What is written


# With a chat model


def test_the_command_writes_a_study_with_the_calls_of_a_model(
    tmp_path: Path,
    scripted_server: ServerFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = scripted_server(lambda request: Reply(content="no JSON at all"))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    folder, out = written(tmp_path / "friends", ["rosa"]), tmp_path / "out"
    arguments = ["eval", "study", str(folder), "--embedder", "static", "--count", "0", "--questions", "1"]
    arguments += ["--samples", "20", "-e", "main", "-e", "ablation"]
    assert run([*arguments, "--model", "openai:scripted", "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert (captured.out, "study.md" in captured.err) == ("", True)
    data = json.loads((out / "study.json").read_text("utf-8"))
    assert (data["facts"]["model"], list(data["experiments"])) == ("openai:scripted", ["main", "ablation"])
    assert "at least two conversations" in data["experiments"]["ablation"]["remarks"][0]
    main = data["experiments"]["main"]
    (figures,) = [row for row in main["tables"]["Rankings"] if row["ranking"] == "research"]
    assert min(figures["calls"], figures["model tokens"]) > 0
    # What gave no answer in its form falls back and is listed.
    assert any("research" in line for line in main["remarks"] if line.startswith("degraded"))
