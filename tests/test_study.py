"""The study: the data sets, the pass over the conversations, the experiments and the report."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
from collections.abc import Sequence
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
from hexamem.evals.study import EXPERIMENTS, run_study, study_sets
from hexamem.evals.study.experiments import COLUMNS_OF
from hexamem.evals.study.laboratory import HELD_OUT, SHIPPED, Laboratory
from hexamem.evals.study.observing import RANKINGS, observe

from .scripted_server import KEY, Reply, ServerFactory, loopback_only, scripted_server  # noqa: F401

QUICK = LearningSettings(epochs=1, runs=1, hidden=2, gate=2)
CORPUS = Path(__file__).parents[1] / "evals" / "corpus"
PLAIN = Settings(background=False, mode="off")
TALKS = {
    "rosa": """\
Rosa: I have opened my bakery in Porto, on the corner by the tram.
Emil: Wonderful! My violin exam is over, I passed with distinction.
Rosa: The oven broke on Tuesday, so I bought a new one for 900 euros.
Emil: I adopted a grey cat called Pixel from the shelter.""",
    "liang": """\
梁雨: 我上周在苏州开了一家书店，就在运河边上。
周明: 恭喜！我的驾照考试终于通过了。
梁雨: 书店的灯坏了，花了三百块换新的。
周明: 我收养了一只白色的兔子，叫雪球。""",
    "nadia": """\
Nadia: The lighthouse tour was cancelled because of the storm.
Otto: Our choir sings in the old station on Friday.
Nadia: I sold my red bicycle to a student for 120.
Otto: The doctor says that my knee is fine again.""",
}
ASKED = {
    "rosa": [
        ("Where did Rosa open her bakery?", 4, [1]),
        ("What did Rosa buy after the oven broke?", 1, [3]),
        ("Which colour is Rosa's car?", 5, []),
    ],
    "liang": [("梁雨的书店开在哪里？", 4, [1]), ("梁雨花了多少钱？", 2, [3])],
    "nadia": [("Who bought the red bicycle?", 4, [3]), ("What happened to the tour and to the knee?", 1, [1, 4])],
}
Tables = dict[str, dict[str, list[dict[str, Any]]]]


def written(folder: Path, names: Sequence[str] = tuple(TALKS)) -> Path:
    """Conversations in LoCoMo's form."""
    folder.mkdir(exist_ok=True)
    for name in names:
        turns = [
            {"speaker": line.partition(": ")[0], "dia_id": f"D1:{number}", "text": line.partition(": ")[2]}
            for number, line in enumerate(TALKS[name].splitlines(), 1)
        ]
        asked = [
            {"question": text, "answer": "", "category": kind, "evidence": [f"D1:{turn}" for turn in gold]}
            for text, kind, gold in ASKED[name]
        ]
        talk = {"session_1_date_time": "9:00 am on 3 March, 2024", "session_1": turns, "qa": asked}
        (folder / f"{name}.json").write_text(json.dumps(talk, ensure_ascii=False), "utf-8")
    return folder


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Experiment → title → rows of a study of two data sets; the second has one conversation."""
    home = tmp_path_factory.mktemp("study")
    sections, _ = run_study(
        lambda: Memory.open(home / "memory", embedder="static", settings=PLAIN),
        study_sets([written(home / "one", ["rosa", "liang"]), written(home / "two", ["nadia"])]),
        settings=QUICK,
        samples=50,
    )
    assert [section.name for section in sections] == list(EXPERIMENTS)
    return {one.name: {title: [dict(row) for row in rows] for title, rows in one.tables.items()} for one in sections}


def test_a_folder_is_a_data_set_and_files_are_that_of_their_folder(tmp_path: Path) -> None:
    folder = written(tmp_path / "friends")
    for paths, count in (([folder], 3), ([folder / "rosa.json", folder / "liang.json"], 2)):
        assert [(group.name, len(group.conversations)) for group in study_sets(paths)] == [("friends", count)]
    (limited,) = study_sets([folder], limit=2)
    assert [conversation.id for conversation in limited.conversations] == ["locomo-liang", "locomo-nadia"]
    with pytest.raises(InvalidInputError, match="limit=0"):
        study_sets([folder], limit=0)
    with pytest.raises(InvalidInputError, match="given twice"):
        study_sets([folder, folder / "rosa.json"])


def test_the_questions_out_of_distribution_are_read_with_their_conversations(tmp_path: Path) -> None:
    (group,) = study_sets([CORPUS / "out_of_distribution"])
    questions = [question for conversation in group.conversations for question in conversation.questions]
    kinds = [question.category for question in questions]
    assert sorted(map(kinds.count, set(kinds))) == [10] * 5
    assert all(question.evidence and question.answer for question in questions)
    names = [f"{conversation.id.removeprefix('locomo-')}.json" for conversation in group.conversations]
    files = [next(path for path in (CORPUS / "open" / name, CORPUS / name) if path.is_file()) for name in names]
    own = {question.text for file in files for question in load_conversations(file)[0].questions}
    assert not own & {question.text for question in questions}
    written(tmp_path / "talks", ["rosa"])
    (tmp_path / "strange").mkdir()
    entry = {"conversation": "talks/rosa.json", "kind": "tone", "question": "?", "evidence": ["D9:9"]}
    (tmp_path / "strange" / "questions.json").write_text(json.dumps([entry]), "utf-8")
    with pytest.raises(CorruptFileError, match="no turn 'D9:9'"):
        study_sets([tmp_path / "strange"])


def test_held_out_weights_were_not_trained_on_what_they_are_measured_on(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="static", settings=PLAIN) as memory:
        lab = Laboratory(observe(memory, study_sets([written(tmp_path / "talks")])), "x", settings=QUICK)
        assert {entry.kind for entry in lab.observations} == {"1", "2", "4"}, "unanswerable questions are not asked"
        held = [conversation for fold in lab.folds for conversation in fold.held]
        assert sorted(held) == sorted({entry.conversation.id for entry in lab.observations})
        fold = lab.folds[0]
        others = [entry for entry in lab.observations if entry.conversation.id not in fold.held]
        assert np.array_equal(fold.ranker.weights.linear, lab.train(others, most=None).linear)


def test_the_main_comparison_has_every_ranking_and_names_the_one_that_needs_a_model(tables: Tables) -> None:
    by_ranking = {row["ranking"]: row for row in tables["main"]["Rankings"] if row["data set"] == "one"}
    assert set(by_ranking) == {*RANKINGS, HELD_OUT, SHIPPED}
    for row in by_ranking.values():
        assert 0 <= row["recall@5"] <= row["recall@10"] <= row["recall@20"] <= 1
        assert 0 <= row["recall in tokens"] <= 1
        assert (row["tokens"] > 0, row["calls"], row["model tokens"]) == (True, 0, 0)
    assert (by_ranking["rrf"]["against rrf"], by_ranking["dense"]["against rrf"].n) == (None, 2)
    by_language = tables["main"]["one: recall@10 by language of the question"][0]
    assert list(by_language) == ["ranking", "Chinese (2)", "Chinese against rrf", "English (2)", "English against rrf"]
    assert "two: recall@10 by language of the question" not in tables["main"]
    for row in tables["main"]["one: recall@10 by type of question"]:
        # Only questions of category 4 are in both conversations.
        assert (row["4 against rrf"] is None) == (row["ranking"] == "rrf")
        assert row["1 against rrf"] is row["2 against rrf"] is None


def test_no_configuration_beats_the_oracle(tables: Tables) -> None:
    bounds = {(row["data set"], row["configurations"]): row for row in tables["oracle"]["Bounds"]}
    assert {family for _, family in bounds} == {"fixed rankings", "operations"}
    for where, bound in bounds.items():
        assert bound["oracle"] + 1e-9 >= max(bound["recall of it"], bound["by type, held out"] or 0.0)
        rows = tables["oracle"]["Configurations"]
        fixed = [row["recall@10"] for row in rows if (row["data set"], row["configurations"]) == where]
        assert max(fixed) == bound["recall of it"]
    for row in tables["oracle"]["Achieved"]:
        if row["configurations"] == "operations":
            assert row["ranking"] == HELD_OUT
            assert row["recall@10"] <= bounds[row["data set"], "operations"]["oracle"] + 1e-9


def test_ablations_cover_every_part(tables: Tables) -> None:
    signals = tables["ablation"]["Signals"]
    assert [row["without"] for row in signals] == list(COLUMNS_OF)
    assert all(isinstance(row[kind], Interval) for row in signals for kind in ("zero at inference", "retrained"))
    operations, training = (
        {row["ranking"] for row in tables["ablation"][title]} for title in ("Operations", "Training")
    )
    assert {"the usual operations", "with multi_step", "by the kind of the question"} <= operations
    assert {"everything", "without the gate on signals", "without the prior of fusion"} <= training


@pytest.mark.embedded
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
    assert any("research" in line for line in main["remarks"] if line.startswith("degraded"))
