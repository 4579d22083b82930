"""The comparison of question answering (``benchmarks/qa_peers.py``): its arms, its blind judge, and that it continues."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hexamem.evals.answers import ABSTAINED

from .manager_script import answer as written
from .scripted_server import Reply, Request, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TURNS = [
    ("Ann", "I adopted a cat called Miso yesterday."),
    ("Ben", "Lovely! I moved to Cork in March."),
    ("Ann", "My brother Emil broke his wrist at the rink."),
    ("Ben", "I started to learn the cello."),
]
LATER = [("Ann", "Miso had kittens in the shed.")]
QUESTIONS = [
    ("What is Ann's cat called?", "Miso", ["D1:1"], 4),
    ("Where does Ben live?", "Cork", ["D1:2"], 4),
    ("Who is Ann's brother?", "Emil", ["D1:3"], 1),
    ("Where were Miso's kittens born?", "the shed", ["D2:1"], 4),
    ("Which dog did Ben adopt?", None, ["D1:2"], 5),
]
COMMAND = Callable[..., int]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> COMMAND:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    main: COMMAND = runpy.run_path(str(BENCHMARKS / "qa_peers.py"))["main"]
    return lambda *words: main([str(word) for word in words])


def conversation(folder: Path) -> Path:
    record: dict[str, Any] = {"qa": []}
    for number, (day, turns) in enumerate([("8 May", TURNS), ("9 June", LATER)], 1):
        record[f"session_{number}"] = [
            {"speaker": speaker, "dia_id": f"D{number}:{place}", "text": text}
            for place, (speaker, text) in enumerate(turns, 1)
        ]
        record[f"session_{number}_date_time"] = f"1:56 pm on {day}, 2023"
    for text, gold, evidence, category in QUESTIONS:
        record["qa"].append({"question": text, "answer": gold, "evidence": evidence, "category": category})
    path = folder / "talk.json"
    path.write_text(json.dumps(record), "utf-8")
    return path


def judged(request: Request) -> Reply:
    """Correct where the gold answer is part of the answer, or where both deny."""
    entries = request.messages[-1]["content"].split("Entry ")[1:]
    verdicts = []
    for entry in entries:
        gold, given = (entry.split(f"{name}: ")[1].splitlines()[0] for name in ("Gold answer", "\nAnswer"))
        correct = gold in given or ("cannot be answered" in gold and given == ABSTAINED)
        verdicts.append({"number": int(entry.split("\n")[0]), "reason": "as it says", "correct": correct})
    return Reply(content={"verdicts": verdicts})


def script(request: Request) -> Reply:
    if request.name == "SingleReply":
        return written(request)
    if request.name == "Verdicts":
        return judged(request)
    if request.name == "IntegrationReply":
        return Reply(content={"claims": [], "reason": "", "answer": "", "answerable": False})
    if request.name is not None:
        return Reply(content={"needs": [], "searches": [], "enough": True, "missing": []})
    memories, _, question = request.messages[-1]["content"].partition("\n\nQuestion: ")
    known = next((gold for text, gold, *_ in QUESTIONS if text == question and gold and gold in memories), ABSTAINED)
    return Reply(content=known)


def words(tmp_path: Path, server: ScriptedServer, *more: object) -> list[object]:
    arms = ("--arm", "hexamem_recall", "--arm", "hexamem_research")
    work, model = tmp_path / "work", ("--model", "scripted", "--base-url", server.base_url)
    return [conversation(tmp_path), "--work", work, *model, "--sessions", 1, *arms, *more]


def result(tmp_path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((tmp_path / "work" / "result.json").read_text("utf-8"))
    return read


def test_questions_about_the_stored_sessions_are_answered_and_judged_and_all_costs_counted(
    tmp_path: Path, scripted_server: ServerFactory, command: COMMAND, capsys: pytest.CaptureFixture[str]
) -> None:
    server = scripted_server(script)
    assert command(*words(tmp_path, server, "--adversarial", 1)) == 0
    found = result(tmp_path)
    recall, research = found["arms"]["hexamem_recall"], found["arms"]["hexamem_research"]
    assert recall["right"] == {"4": 2, "1": 1, "5": 1}, "all whose evidence is stored; the kittens come later"
    assert research["right"] == {"5": 1}
    names = [request.name for request in server.requests]
    assert recall["storing"]["calls"] == names.count("SingleReply") == 1
    assert recall["answering"]["calls"] == names.count(None) == 4
    spent = [recall["storing"], recall["answering"], research["answering"], found["judging"]]
    assert sum(cost["calls"] for cost in spent) == server.calls
    assert sum(cost["input_tokens"] + cost["output_tokens"] for cost in spent) == server.tokens
    assert "4 of 4" in capsys.readouterr().out


def test_the_same_command_again_asks_nothing_and_more_questions_ask_only_what_is_new(
    tmp_path: Path, scripted_server: ServerFactory, command: COMMAND
) -> None:
    server = scripted_server(script)
    assert command(*words(tmp_path, server, "--questions", 2)) == 0
    first, calls = result(tmp_path), server.calls
    assert command(*words(tmp_path, server, "--questions", 2)) == 0
    assert (server.calls, result(tmp_path)) == (calls, first)
    server.follow(script)
    assert command(*words(tmp_path, server, "--questions", 3)) == 0
    assert [request.name for request in server.requests].count(None) == 1
    assert len(result(tmp_path)["answers"]) == 6


def test_without_mem0_its_arm_is_left_out_in_one_clear_line(
    tmp_path: Path,
    scripted_server: ServerFactory,
    command: COMMAND,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "mem0", None)
    assert command(*words(tmp_path, scripted_server(script), "--questions", 1, "--arm", "mem0")) == 0
    assert 'pip install "mem0ai>=2,<3"' in capsys.readouterr().err
    assert list(result(tmp_path)["arms"]) == ["hexamem_recall", "hexamem_research"]
