"""``hexamem eval``: its options, its tables, what it refuses; the write path and the ablations of research behind it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory
from hexamem.cli.app import run
from hexamem.evals.synthetic import QUESTION_TYPES

from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401

pytestmark = pytest.mark.embedded

TURN = {"role": "user", "content": "I live in Cork. I'm allergic to walnuts.", "timestamp": "2025-01-14T19:02Z"}
SHOULD = [{"kind": "core", "values": [town], "why": why} for town, why in (("Cork", "home"), ("Galway", "never said"))]
CASE = {
    **{"id": "one", "language": "en", "timezone": "Europe/Dublin", "user": "ann"},
    **{"turns": [TURN], "should": SHOULD, "may": [], "must_not": []},
}


def eval_(*words: object) -> int:
    return run(["eval", *map(str, words), "--embedder", "static"])


def results_of(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, Any]]:
    assert eval_(*words, "--json", "-") == 0
    results: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return results


def hotpot(folder: Path) -> Path:
    records = [
        {
            "_id": str(number),
            "question": f"Which river turns mill {number}?",
            "answer": "the Ouse",
            "type": "bridge",
            "supporting_facts": [[f"Mill {number}", 0], [f"River {number}", 0]],
            "context": [[f"{title} {number}", [f"{title} {number} lies in a valley."]] for title in ("Mill", "River")],
        }
        for number in range(4)
    ]
    file = folder / "dev.json"
    file.write_text(json.dumps(records), encoding="utf-8")
    return file


def locomo(folder: Path) -> Path:
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a cat called Miso."}
    question = {"question": "What is the cat called?", "answer": "Miso", "evidence": ["D1:1"], "category": 1}
    record = {"session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023", "qa": [question]}
    (folder / "one.json").write_text(json.dumps(record))
    return folder / "one.json"


def test_locomo_gives_a_table_and_an_object_a_strategy_from_an_empty_home_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, words = tmp_path / "out.json", ("locomo", locomo(tmp_path), "-s", "bm25")
    assert eval_(*words, "-s", "dense", "--json", out) == 0
    shown = capsys.readouterr().out
    assert ("bm25" in shown, "dense" in shown) == (True, True)
    figures = [(one["strategy"], one["embedder"], one["recall"]["all"]["5"]) for one in json.loads(out.read_text())]
    assert figures == [("bm25", "static", 1.0), ("dense", "static", 1.0)]
    assert eval_(*words, "--home", tmp_path / "home") == 0
    with Memory.open(tmp_path / "home", embedder="static") as memory:
        assert memory.users() == ["locomo-one"]
    assert eval_(*words, "--home", tmp_path / "home") == 2
    assert "empty" in capsys.readouterr().err


def test_ruler_needs_no_file_and_writes_an_object_a_strategy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    words = ("ruler", "--tokens", "2k", "--task", "niah_multivalue", "-k", 20, "-s", "bm25", "-s", "dense")
    assert eval_(*words, "--json", out) == 0
    assert "niah_multivalue" in capsys.readouterr().out
    bm25, dense = json.loads(out.read_text(encoding="utf-8"))
    assert (bm25["strategy"], dense["strategy"], bm25["k"]) == ("bm25", "dense", 20)
    assert bm25["tasks"]["2000"]["niah_multivalue"]["score"] == 1.0


def test_synthetic_gives_one_object_a_size_and_strategy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    words = ("synthetic", "--size", "S", "--family", "project", "-s", "bm25", "-s", "dense")
    assert eval_(*words, "--json", out) == 0
    shown = capsys.readouterr().out
    assert "synthetic S: all categories" in shown
    assert "induced labels against gold labels" in shown
    assert all(category in shown for category in QUESTION_TYPES)
    results = json.loads(out.read_text(encoding="utf-8"))
    facts = [(result["size"], result["strategy"], result["split"]) for result in results]
    assert facts == [("S", "bm25", "test"), ("S", "dense", "test")]


def test_the_write_path_is_reported_by_kind_with_every_miss_and_wrong_item(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases, out = tmp_path / "cases.json", tmp_path / "report.json"
    cases.write_text(json.dumps([CASE]), encoding="utf-8")
    assert run(["eval", "writepath", str(cases), "--json", str(out)]) == 0
    [report] = json.loads(out.read_text(encoding="utf-8"))
    assert (report["dataset"], report["file"], report["cases"]) == ("writepath", "cases.json", 1)
    total = {name: report["total"][name] for name in ("found", "expected", "recall", "right", "stored", "precision")}
    assert list(total.values()) == [1, 2, 0.5, 1, 2, 0.5]
    assert [(one["case"], one["kind"], one["values"]) for one in report["misses"]] == [("one", "core", ["Galway"])]
    assert [(one["case"], "walnuts" in one["text"]) for one in report["wrong"]] == [("one", True)]
    shown = capsys.readouterr().out
    for part in ("cases.json: 1 cases, mode auto", "one  core: Galway (never said)", "walnuts. (not expected)"):
        assert part in shown
    assert report["parts"] == {"dated": {"expected": 0, "found": 0}, "superseded": {"expected": 0, "found": 0}}
    assert (report["scope"], report["calls"], report["research"], report["answers"]) == (None, 0, None, [])
    cases.write_text(json.dumps([CASE, {"id": "two"}]), encoding="utf-8")
    assert eval_("writepath", cases) == 2
    assert "2.timezone: Field required" in capsys.readouterr().err


def test_the_write_path_reports_labels_dates_and_answers_where_cases_have_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = {**TURN, "content": "I live in Tralee.", "timestamp": "2025-05-26T10:00:00+01:00"}
    expected = {"kind": "core", "values": ["Tralee"], "valid_from": "2019-01-01", "why": "another day"}
    case = {
        **CASE,
        "turns": [TURN, moved],
        "should": [expected],
        "labels": [{"scope": "food", "action": "INFORM"}, {"scope": "home", "action": "INFORM"}],
        "questions": [{"question": "Where does Ann live?", "answer": "Tralee", "turns": [1]}],
    }
    cases, out = tmp_path / "cases.json", tmp_path / "report.json"
    cases.write_text(json.dumps([case]), encoding="utf-8")
    assert run(["eval", "writepath", str(cases), "--research", "deep", "--json", str(out)]) == 0
    [report] = json.loads(out.read_text(encoding="utf-8"))
    assert report["parts"]["dated"] == {"expected": 1, "found": 0}
    assert (report["scope"]["n_gold"], report["events"]["n_gold"], report["scope"]["n_steps"]) == (2, 1, 2)
    [answer] = report["answers"]
    assert (answer["answer"], "Tralee" in answer["found"], report["research"]["questions"]) == ("Tralee", True, 1)
    shown = capsys.readouterr().out
    assert ("dated: 0 of 1 found" in shown, "research: 1 questions" in shown) == (True, True)


REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "an unknown data set": (("trivia", "FILE"), "trivia"),
    "an unknown strategy": (("locomo", "TALK", "--strategy", "magic"), "magic"),
    "nowhere to write": (("locomo", "TALK", "--json", "nosuch/out.json"), "nosuch/out.json"),
    "two lengths for hotpotqa": (("hotpotqa", "FILE", "--tokens", "8k,16k"), "give one length"),
    "answers without a model": (("hotpotqa", "FILE", "--answers"), "needs a model"),
    "a judge of nothing": (("hotpotqa", "FILE", "--judge", "openai:x"), "give --answers"),
    "a ranking that answers": (("hotpotqa", "FILE", "--answers", "-s", "bm25"), "leave --strategy out"),
    "a size that is none": (("synthetic", "--size", "XL"), "XL"),
    "an experiment that is none": (("study", "TALK", "-e", "everything"), "--experiment everything is unknown"),
    "a home of what is written": (("writepath", "FILE", "--home", "HOME"), "leave --home out"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_means_nothing_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, message = REFUSED[kind]
    stands_for = {"FILE": hotpot(tmp_path), "TALK": locomo(tmp_path), "HOME": tmp_path / "home"}
    assert eval_(*(stands_for.get(word, word) for word in words)) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_answers_of_research_are_scored_and_judged(
    scripted_server: ServerFactory,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def script(request: Request) -> Reply:
        # Whoever else asks gets nothing of use, so that the embedded tier answers.
        judged = {"reason": "it says so", "correct": True} if request.name == "AnswerVerdict" else {}
        return Reply(content=judged, usage=(30, 10))

    server = scripted_server(script)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    words = ("--answers", "--questions", 1, "--model", "openai:scripted", "--judge", "openai:scripted")
    (result,) = results_of(capsys, "hotpotqa", hotpot(tmp_path), *words)
    assert (result["dataset"], result["model"], result["n_questions"]) == ("hotpotqa", "openai:scripted", 1)
    assert (result["judge_calls"], result["judge_tokens"]) == (1, 40)
    assert result["scores"].keys() == {"f1", "exact_match", "judge"}
    assert result["scores"]["judge"] == {"all": 1.0, "bridge": 1.0}
    of_research = [one for one in server.requests if one.name not in ("SingleReply", "AnswerVerdict")]
    assert result["llm_calls"] == len(of_research) > 0
    assert result["degraded"]
