"""``hexamem eval`` on long texts and answers: its options, its tables and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hexamem.cli.app import run

from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401


def eval_(*words: object) -> int:
    return run(["eval", *map(str, words)])


def hotpot(folder: Path) -> Path:
    titles = ("Mill", "River")
    records = [
        {
            "_id": str(number),
            "question": f"Which river turns mill {number}?",
            "answer": "the Ouse",
            "type": "bridge",
            "supporting_facts": [[f"Mill {number}", 0], [f"River {number}", 0]],
            "context": [[f"{title} {number}", [f"{title} {number} lies in a valley."]] for title in titles],
        }
        for number in range(4)
    ]
    file = folder / "dev.json"
    file.write_text(json.dumps(records), encoding="utf-8")
    return file


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


def test_hotpotqa_is_measured_at_a_length_on_a_part_of_its_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert eval_("hotpotqa", hotpot(tmp_path), "--tokens", "2k", "--questions", 2, "-s", "bm25") == 2
    assert "fewer than the 2,000" in capsys.readouterr().err
    assert eval_("hotpotqa", hotpot(tmp_path), "--questions", 2, "-s", "bm25", "--json", "-") == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert (result["n_questions"], result["recall"]["bridge"]["5"]) == (2, 1.0)


REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "a length that is none": (("ruler", "--tokens", "long"), "no length of at least 2,000 tokens"),
    "a task that is none": (("ruler", "--task", "magic"), "'magic' is unknown"),
    "a path for ruler": (("ruler", "FILE"), "makes its own conversations"),
    "an option of others": (("ruler", "--size", "S"), "--size is for synthetic alone"),
    "a length for locomo": (("locomo", "FILE", "--tokens", "8k"), "--tokens is for ruler and hotpotqa"),
    "two lengths for hotpotqa": (("hotpotqa", "FILE", "--tokens", "8k,16k"), "give one length"),
    "answers without a model": (("hotpotqa", "FILE", "--answers"), "needs a model"),
    "what has no evidence": (("narrativeqa", "FILE"), "score answers"),
    "answers of ruler": (("ruler", "--answers"), "--answers is for locomo"),
    "a judge of nothing": (("hotpotqa", "FILE", "--judge", "openai:x"), "give --answers"),
    "a ranking that answers": (("hotpotqa", "FILE", "--answers", "-s", "bm25"), "leave --strategy out"),
    "a part of what is measured whole": (("locomo", "FILE", "--questions", "3"), "goes with --answers"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_means_nothing_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, said = REFUSED[kind]
    file = hotpot(tmp_path)
    assert eval_(*(file if word == "FILE" else word for word in words)) == 2
    assert said in " ".join(capsys.readouterr().err.split())


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
    assert eval_("hotpotqa", hotpot(tmp_path), *words, "--json", "-") == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert (result["dataset"], result["model"], result["n_questions"]) == ("hotpotqa", "openai:scripted", 1)
    assert (result["judge_calls"], result["judge_tokens"]) == (1, 40)
    assert result["scores"]["judge"] == {"all": 1.0, "bridge": 1.0}
    assert result["scores"].keys() == {"f1", "exact_match", "judge"}
    writing_or_judging = ("SingleReply", "AnswerVerdict")
    of_research = [one for one in server.requests if one.name not in writing_or_judging]
    assert result["llm_calls"] == len(of_research) > 0
    assert result["degraded"]
