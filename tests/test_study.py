"""The study: one pass over conversations, the baselines, the experiments and what is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem import Memory, Settings
from hexamem.cli.app import run
from hexamem.errors import CorruptFileError, HomeNotWritableError, InvalidInputError
from hexamem.evals.metrics import Interval
from hexamem.evals.study import EXPERIMENTS, made_up_sets, run_study, study_sets, write_study
from hexamem.evals.study.arms import ARMS, add_arms
from hexamem.evals.study.choosing import expected_under_flips, fit_gate
from hexamem.evals.study.data_sets import StudySet
from hexamem.evals.study.experiments import COLUMNS_OF, frontier, propagation_coefficient, recovered_share
from hexamem.evals.study.laboratory import HELD_OUT, SHIPPED, Laboratory
from hexamem.evals.study.observing import STORED, observe
from hexamem.evals.study.operating import CHOICES
from hexamem.evals.study.records import Observed, difference, recalls
from hexamem.evals.study.report import Plot, Section, study_data, study_markdown
from hexamem.retrieval.learning import LearningSettings
from hexamem.retrieval.signals.features import FEATURES

QUICK = LearningSettings(epochs=1, runs=1, hidden=2, gate=2)
CORPUS = Path(__file__).parents[1] / "evals" / "corpus"

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
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("home"), settings=Settings(background=False)) as opened:
        yield opened


@pytest.fixture(scope="module")
def observed(memory: Memory, sets: list[StudySet]) -> list[Observed]:
    found = observe(memory, sets)
    add_arms(found)
    return found


@pytest.fixture(scope="module")
def study(
    tmp_path_factory: pytest.TempPathFactory, sets: list[StudySet]
) -> tuple[dict[str, Section], dict[str, Any], list[str]]:
    told: list[str] = []
    home = tmp_path_factory.mktemp("study")
    sections, facts = run_study(
        lambda: Memory.open(home, settings=Settings(background=False)),
        sets,
        settings=QUICK,
        samples=50,
        progress=lambda what, done, total: told.append(what),
    )
    return {one.name: one for one in sections}, facts, told


# The data sets.


def test_a_folder_is_a_data_set_and_files_are_that_of_their_folder(tmp_path: Path) -> None:
    folder = written(tmp_path / "friends")
    assert [(one.name, len(one.conversations)) for one in study_sets([folder])] == [("friends", 3)]
    files = study_sets([folder / "rosa.json", folder / "liang.json"])
    assert [(one.name, len(one.conversations)) for one in files] == [("friends", 2)]


def test_a_limit_takes_conversations_evenly(tmp_path: Path) -> None:
    (found,) = study_sets([written(tmp_path / "friends")], limit=2)
    assert [one.id for one in found.conversations] == ["locomo-liang", "locomo-nadia"]
    with pytest.raises(InvalidInputError, match="0 conversations"):
        study_sets([tmp_path / "friends"], limit=0)


def test_a_conversation_given_twice_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "friends")
    with pytest.raises(InvalidInputError, match="given twice"):
        study_sets([folder, folder / "rosa.json"])


def test_made_up_sets_are_the_same_every_time_and_have_evidence() -> None:
    once, again = made_up_sets(1), made_up_sets(1)
    assert [one.name for one in once] == ["synthetic", "ruler"]
    assert [[c.id for c in one.conversations] for one in once] == [[c.id for c in one.conversations] for one in again]
    assert all(question.evidence for one in once for c in one.conversations for question in c.questions)
    assert made_up_sets(0) == []


# The one pass and the baselines.


def test_one_pass_asks_every_ranking_of_answerable_questions_alone(observed: list[Observed]) -> None:
    assert len(observed) == 9
    assert all(one.asked.question.category != "5" for one in observed)
    for one in observed:
        assert set(one.rankings) >= {*STORED, "research", "mmr", "routed"}
        assert all(len(set(r.turns)) == len(r.turns) for r in one.rankings.values())
        assert all(set(r.turns) <= set(one.talk.turns) for r in one.rankings.values())


def test_rules_spend_no_tokens_of_models(observed: list[Observed]) -> None:
    assert all(one.talk.written == 0 for one in observed)
    assert all(ranked.usage.tokens == 0 for one in observed for ranked in one.rankings.values())


def test_mmr_begins_with_the_nearest_and_then_differs_from_it(observed: list[Observed]) -> None:
    one = observed[0]
    nearest = one.talk.turns[int(one.dense.argmax())]
    assert one.rankings["mmr"].turns[0] == nearest
    assert set(one.rankings["mmr"].turns) == set(one.talk.turns)


def test_time_decay_prefers_the_later_of_two_alike() -> None:
    one = two_alike()
    add_arms([one])
    assert one.rankings["time_decayed"].turns[:2] == ("late", "early")


def two_alike() -> Observed:
    """A question and two turns with the same words, a week apart."""
    from hexamem.evals.records import Question
    from hexamem.evals.study.records import Ranked, Talk
    from hexamem.evals.training import AskedQuestion
    from hexamem.retrieval.signals.cues import CUES
    from hexamem.retrieval.signals.features import Features
    from hexamem.retrieval.signals.pool import Pool

    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    none = np.empty(0, np.int64)
    features = Features(
        Pool((), (), none, none, {}), np.zeros((0, len(FEATURES)), np.float32), np.zeros(len(CUES), np.float32)
    )
    talk = Talk(
        id="x", conversation="x", data_set="x", turns=("early", "late", "other"), texts=("a", "a", "b"),
        speakers=("A", "A", "B"), tokens=np.array([5, 5, 5]), seconds=np.array([0.0, 604_800.0, 604_800.0]), vectors=vectors,
    )  # fmt: skip
    asked = AskedQuestion("x", Question("q", "?", "", "4", ("late",)), features, ())
    one = Observed(talk, asked, np.array([1, 0], np.float32))
    one.rankings["rrf"] = Ranked(("early", "late"))
    return one


def test_packing_leaves_out_what_does_not_fit(observed: list[Observed]) -> None:
    one = observed[0]
    turns = one.rankings["rrf"].turns
    assert one.packed(turns, 0) == []
    assert one.packed(turns, one.tokens_of(turns)) == list(turns)
    small = min(turns, key=lambda turn: one.tokens_of([turn]))
    assert one.packed(turns, one.tokens_of([small])) == [
        next(t for t in turns if one.tokens_of([t]) == one.tokens_of([small]))
    ]


def test_recall_and_differences_are_over_conversations(observed: list[Observed]) -> None:
    perfect = recalls(observed, lambda one: one.asked.question.evidence)
    nothing = recalls(observed, lambda one: ())
    found = difference(observed, perfect, nothing, samples=20)
    assert found is not None
    assert (found.mean, found.low, found.high, found.n) == (1.0, 1.0, 1.0, 3)
    assert difference(observed[:1], perfect[:1], nothing[:1], samples=20) is None


# What the experiments compute.


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_the_frontier_is_what_no_other_point_beats(points: list[tuple[int, int]]) -> None:
    best = frontier([(float(cost), float(worth)) for cost, worth in points])
    assert best
    for index, (cost, worth) in enumerate(points):
        beaten = any(c <= cost and w >= worth and (c, w) != (cost, worth) for c, w in points)
        assert (index in best) == (not beaten)


def test_shares_and_coefficients_are_guarded_against_nothing_to_divide_by() -> None:
    assert recovered_share(0.7, 0.6, 0.8) == pytest.approx(0.5)
    assert recovered_share(0.7, 0.8, 0.8) is None
    assert propagation_coefficient(0.1, 0.5) == pytest.approx(0.2)
    assert propagation_coefficient(0.1, 0.0) is None


def test_flips_are_expected_exactly() -> None:
    random = np.random.default_rng(0)
    recall = random.random((3, len(CHOICES)))
    chosen = [0, 5, 15]
    rows = np.arange(3)
    assert expected_under_flips(recall, chosen, [0.0] * 4) == pytest.approx(recall[rows, chosen])
    opposite = [CHOICES.index(frozenset().union(*CHOICES) - CHOICES[one]) for one in chosen]
    assert expected_under_flips(recall, chosen, [1.0] * 4) == pytest.approx(recall[rows, opposite])
    assert expected_under_flips(recall, chosen, [0.5] * 4) == pytest.approx(recall.mean(axis=1))


def test_every_feature_belongs_to_one_signal_that_is_left_out() -> None:
    assert sorted(column for columns in COLUMNS_OF.values() for column in columns) == list(range(len(FEATURES)))


def test_held_out_weights_were_not_trained_on_what_they_are_measured_on(
    memory: Memory, observed: list[Observed]
) -> None:
    lab = Laboratory(observed, fingerprint="x", settings=QUICK, samples=20)
    held = [talk for fold in lab.folds for talk in fold.held]
    assert sorted(held) == sorted({one.talk.id for one in lab.scored})
    lab.add_learned()
    assert all(HELD_OUT in one.rankings for one in lab.scored)
    fold = lab.folds[0]
    rest = [one for one in lab.scored if one.talk.id not in fold.held]
    assert np.array_equal(fold.ranker.weights.linear, lab.train(rest, most=None).linear)


def test_without_a_signal_its_columns_teach_nothing(observed: list[Observed]) -> None:
    lab = Laboratory(observed, fingerprint="x", settings=QUICK)
    columns = COLUMNS_OF["labels"]
    prior = lab.train(lab.scored, without=range(len(FEATURES)))
    weights = lab.train(lab.scored, without=columns)
    assert np.array_equal(weights.linear[list(columns)], prior.linear[list(columns)])


def test_all_experiments_run_and_are_told(study: tuple[dict[str, Section], dict[str, Any], list[str]]) -> None:
    sections, facts, told = study
    assert list(sections) == list(EXPERIMENTS)
    assert {"train", *EXPERIMENTS} <= set(told)
    assert facts["model"] == "none"
    assert list(facts["data sets"]) == ["one", "two"]


Study = tuple[dict[str, Section], dict[str, Any], list[str]]


def rows(study: Study, experiment: str, title: str) -> list[dict[str, Any]]:
    return [dict(row) for row in study[0][experiment].tables[title]]


def test_the_main_comparison_has_every_arm_and_marks_those_that_need_a_model(study: Study) -> None:
    by_arm = {row["ranking"]: row for row in rows(study, "main", "Rankings") if row["data set"] == "one"}
    without_model = {name for name, arm in ARMS.items() if not arm.model}
    assert set(by_arm) == {*without_model, HELD_OUT, SHIPPED}
    for row in by_arm.values():
        assert 0 <= row["recall@5"] <= row["recall@10"] <= row["recall@20"] <= 1
        assert 0 <= row["recall in tokens"] <= 1
        assert row["tokens"] > 0
        assert (row["calls"], row["model tokens"]) == (0, 0)
    assert by_arm["rrf"]["against rrf"] is None
    assert by_arm["dense"]["against rrf"].n == 2
    (remark,) = [remark for remark in study[0]["main"].remarks if "there is no model" in remark]
    assert all(name in remark for name in set(ARMS) - without_model)


def test_no_configuration_beats_the_oracle(study: Study) -> None:
    bounds = rows(study, "oracle", "Bounds")
    assert {row["configurations"] for row in bounds} == {"fixed rankings", "operations"}
    for bound in bounds:
        where = (bound["data set"], bound["configurations"])
        assert bound["oracle"] + 1e-9 >= bound["by type"] >= bound["recall of it"] - 1e-9
        fixed = [
            row["recall@10"]
            for row in rows(study, "oracle", "Configurations")
            if (row["data set"], row["configurations"]) == where
        ]
        assert max(fixed) == bound["recall of it"]
        if where[1] == "operations":
            reached = [
                row for row in rows(study, "oracle", "Achieved") if (row["data set"], row["configurations"]) == where
            ]
            assert [row["ranking"] for row in reached] == [HELD_OUT]
            assert reached[0]["recall@10"] <= bound["oracle"] + 1e-9


def test_a_gate_chooses_one_configuration_for_each_question(study: Study) -> None:
    chosen: dict[tuple[str, str], int] = {}
    for row in rows(study, "oracle", "Configurations"):
        where = (row["data set"], row["configurations"])
        chosen[where] = chosen.get(where, 0) + row["chosen by the gate"]
    assert chosen == {
        (name, family): count for name, count in (("one", 6), ("two", 3)) for family in ("fixed rankings", "operations")
    }


def test_transfer_names_what_was_trained_on_what(study: Study) -> None:
    measured = {
        (row["trained on"], row["tested on"])
        for row in rows(study, "transfer", "Transfer")
        if row["recall@10"] is not None
    }
    trained = {pair for pair in measured if pair[0] in ("one", "two")}
    assert trained == {("one", "one"), ("one", "two"), ("two", "one")}  # one conversation cannot be halved


def test_ablations_cover_signals_operations_and_training(study: Study) -> None:
    signals = rows(study, "ablation", "Signals")
    assert [row["without"] for row in signals] == list(COLUMNS_OF)
    assert all(isinstance(row[kind], Interval) for row in signals for kind in ("zero at inference", "retrained"))
    operations = {row["ranking"] for row in rows(study, "ablation", "Operations and the gate")}
    assert {"gate, trained", "without multi_step", "gate by the kind of the question alone"} <= operations
    training = {row["ranking"] for row in rows(study, "ablation", "Training")}
    assert {"everything", "without the gate on signals", "without the prior of fusion"} <= training


def test_regret_is_what_the_oracle_has_more_and_flips_cost_what_they_change(study: Study) -> None:
    for row in rows(study, "errors", "Regret"):
        regret = row["regret"].mean if isinstance(row["regret"], Interval) else row["regret"]
        assert regret == pytest.approx(row["oracle"] - row["achieved"])
    flips = rows(study, "errors", "Forced flips")
    assert {"10%", "100%", "multi_step alone"} <= {row["flipped"] for row in flips}
    assert all(-1e-9 <= row["recall@10"] <= 1 + 1e-9 for row in flips)


# What is written.


def test_a_study_is_written_as_markdown_json_and_plots(
    study: tuple[dict[str, Section], dict[str, Any], list[str]], tmp_path: Path
) -> None:
    sections, facts, _ = study
    files = write_study(list(sections.values()), facts, tmp_path / "out")
    assert all(file.stat().st_size > 0 for file in files)
    assert {"study.md", "study.json", "main.png", "pareto_1.png"} <= {file.name for file in files}
    assert (tmp_path / "out" / "main.png").read_bytes()[:4] == b"\x89PNG"
    data = json.loads((tmp_path / "out" / "study.json").read_text("utf-8"))
    assert set(data["experiments"]) == set(EXPERIMENTS)
    assert data == study_data(list(sections.values()), facts)
    text = (tmp_path / "out" / "study.md").read_text("utf-8")
    assert "![recall@10](main.png)" in text
    assert "not run, since there is no model" in text


def test_without_plots_the_report_says_so() -> None:
    section = Section(name="x", title="X", about="Y.", plots=[Plot(name="x", title="x", y_label="")])
    assert "matplotlib is not installed" in study_markdown([section], {}, [])


def test_a_bar_in_a_cell_does_not_break_the_table() -> None:
    section = Section(name="x", title="X", tables={"T": [{"a|b": None}, {"a|b": -0.0001}, {"a|b": "|"}, {}]})
    assert [line for line in study_markdown([section], {}).splitlines() if line.startswith("|")] == [
        "| a\\|b |",
        "|---|",
        "| – |",
        "| 0.000 |",
        "| \\| |",
        "|  |",
    ]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(HomeNotWritableError, match="--out"):
        write_study([], {}, tmp_path / "file" / "out")


# Questions out of distribution.


def test_the_questions_out_of_distribution_stand_in_their_conversations() -> None:
    (found,) = study_sets([CORPUS / "out_of_distribution"])
    questions = [question for one in found.conversations for question in one.questions]
    assert len(questions) == 50
    kinds = {question.category for question in questions}
    assert len(kinds) == 5
    assert all(sum(question.category == kind for question in questions) == 10 for kind in kinds)
    assert all(question.evidence and question.answer for question in questions)
    chinese = sum(any("\u4e00" <= sign <= "\u9fff" for sign in question.text) for question in questions)
    assert chinese == 25
    own = {text for one in found.conversations for text in _own_questions(one.id)}
    assert not own & {question.text for question in questions}


def _own_questions(conversation: str) -> list[str]:
    from hexamem.evals import load_conversations

    name = f"{conversation.removeprefix('locomo-')}.json"
    file = next(path for path in (CORPUS / "open" / name, CORPUS / name) if path.is_file())
    return [question.text for question in load_conversations(file)[0].questions]


def test_evidence_that_no_turn_has_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "talks", ["rosa"])
    (tmp_path / "strange").mkdir()
    entry = {"conversation": "talks/rosa.json", "kind": "tone", "question": "?", "evidence": ["D9:9"]}
    (tmp_path / "strange" / "questions.json").write_text(json.dumps([entry]), "utf-8")
    with pytest.raises(CorruptFileError, match="no turn 'D9:9'"):
        study_sets([tmp_path / "strange"])


# The command.


def test_the_command_writes_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "friends", ["rosa", "nadia"])
    arguments = ["eval", "study", str(folder), "--count", "0", "--samples", "20", "-e", "oracle", "-e", "main"]
    assert run([*arguments, "--out", str(tmp_path / "out"), "--questions", "2"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "study.md" in captured.err
    data = json.loads((tmp_path / "out" / "study.json").read_text("utf-8"))
    assert list(data["experiments"]) == ["oracle", "main"]
    assert {row["questions"] for row in data["experiments"]["main"]["tables"]["Rankings"]} == {4}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-e", "everything"], "--experiment everything is unknown"),
        (["--samples", "0"], "--samples 0"),
        (["--strategy", "rrf"], "leave --strategy out"),
        (["--tokens", "8k"], "--tokens is for"),
    ],
)
def test_options_that_cannot_be_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    folder = written(tmp_path / "friends", ["rosa"])
    assert run(["eval", "study", str(folder), *options]) == 2
    assert message in capsys.readouterr().err


def test_a_study_needs_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "study"]) == 2
    assert "name at least one file or folder" in capsys.readouterr().err


# Other forms.


def test_small_conversations_in_other_forms_are_data_sets_of_their_own() -> None:
    folder = CORPUS / "other_forms"
    found = study_sets([folder / "longmemeval.json", folder / "msc.jsonl"])
    assert [(one.name, len(one.conversations)) for one in found] == [("longmemeval", 8), ("msc", 2)]
    assert all(question.evidence for one in found for c in one.conversations for question in c.questions)


def test_multi_session_chat_is_read_with_its_speakers_by_turns(tmp_path: Path) -> None:
    line = {
        "personas": [["I sing."], ["I dance."]],
        "previous_dialogs": [{"dialog": [{"text": "Hello."}, {"text": "Hi, I sing."}]}],
        "dialog": [{"id": "Speaker 1", "text": "Back again."}],
        "self_instruct": {"B": "What did I say I do?", "A": "You sing."},
    }
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps(line) + "\n", "utf-8")
    (found,) = study_sets([file])
    (talk,) = found.conversations
    assert [(m.id, m.name, m.content, m.thread_id) for m in talk.messages] == [
        ("S1:1", "Speaker 1", "Hello.", "session_1"),
        ("S1:2", "Speaker 2", "Hi, I sing.", "session_1"),
        ("S2:1", "Speaker 1", "Back again.", "session_2"),
    ]
    assert [(q.text, q.answer, q.evidence) for q in talk.questions] == [("What did I say I do?", "You sing.", ())]
    assert not any("dance" in str(m.content) for m in talk.messages)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dialog": None}, "no dialog"),
        ({"dialog": [{"id": "x"}]}, "without text"),
        ({"questions": [{"question": "?", "evidence": ["S9:9"]}]}, "no turn 'S9:9'"),
    ],
)  # fmt: skip
def test_multi_session_chat_that_is_damaged_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    line = {"previous_dialogs": [], "dialog": [{"id": "Speaker 1", "text": "Hello."}], **change}
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps(line) + "\n", "utf-8")
    with pytest.raises(CorruptFileError, match=message):
        study_sets([file])


def test_results_are_shown_by_language_where_a_data_set_has_both(study: Study) -> None:
    assert "one: recall@10 by language of the question" in study[0]["main"].tables
    row = rows(study, "main", "one: recall@10 by language of the question")[0]
    assert list(row) == ["ranking", "Chinese (3)", "Chinese against rrf", "English (3)", "English against rrf"]
    assert "two: recall@10 by language of the question" not in study[0]["main"].tables


def test_every_difference_by_type_has_its_interval_where_there_are_two_conversations(study: Study) -> None:
    for row in rows(study, "main", "one: recall@10 by type of question"):
        # Only questions of category 4 stand in both conversations.
        assert (row["4 against rrf"] is None) == (row["ranking"] == "rrf")
        assert row["1 against rrf"] is row["2 against rrf"] is None


def test_a_gate_without_anything_to_learn_takes_what_is_best_for_all() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(90, 5))
    recall = np.stack([np.full(90, 0.6) + random.normal(size=90) * 0.1, np.full(90, 0.5)], axis=1)
    gate = fit_gate(x, recall, [f"t{number % 9}" for number in range(90)])
    assert set(gate.predict(random.normal(size=(20, 5))).argmax(axis=1).tolist()) == {0}


def test_a_gate_learns_what_the_question_shows() -> None:
    x = np.random.default_rng(0).normal(size=(90, 3))
    recall = np.stack([x[:, 0] > 0, x[:, 0] <= 0], axis=1).astype(float)
    gate = fit_gate(x, recall, [f"t{number % 9}" for number in range(90)])
    assert gate.predict(np.array([[2.0, 0, 0], [-2.0, 0, 0]])).argmax(axis=1).tolist() == [0, 1]
