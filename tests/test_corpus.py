"""The corpus's tooling: sealed files are refused, parts of the corpus are apart, and its check shows no words."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hexamem.evals.sealed import CORPUS, open_files, refuse_sealed, sealed_files
from hexamem.evals.trajectories import load_trajectories
from hexamem.stores.embedders import open_embedder

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import check_corpus
from encoder_training import corpus as training_corpus
from secret_frames import expand

README = "# Corpus\n\n## Sealed\n\nNobody reads `open/a.json` or others.\n\n{}\n\n## Validation\n\n- `open/c.json`\n"


def corpus(folder: Path, entries: str) -> Path:
    (folder / "open").mkdir()
    for name in ("a.json", "b-2.json", "c.json"):
        (folder / "open" / name).write_text("{}", encoding="utf-8")
    (folder / "README.md").write_text(README.format(entries), encoding="utf-8")
    return folder


def test_the_list_in_the_readme_seals_its_files_whatever_their_names_hold(tmp_path: Path) -> None:
    made = corpus(tmp_path, "- `open/a.json`\n- `open/b-2.json`")
    assert {path.name for path in sealed_files(made)} == {"a.json", "b-2.json"}
    assert [path.name for path in open_files("open", corpus=made)] == ["c.json"]
    (tmp_path / "link.json").symlink_to(made / "open" / "b-2.json")
    for path in (made / "open" / "a.json", made / "open" / ".." / "open" / "a.json", tmp_path / "link.json"):
        with pytest.raises(PermissionError, match="is sealed"):
            refuse_sealed(path, corpus=made)
    refuse_sealed(made / "open" / "c.json", tmp_path / "elsewhere.json", corpus=made)


@pytest.mark.parametrize(
    "entries",
    [
        None,
        "",
        "- open/a.json",
        "- `open/a.json`\n* `open/b-2.json`",
        "- `open/a.json`\n- `open/b-2.json`, read twice",
        "- `open/a.json`\n- `open/b 2.json`",
        "- `open/a.json`\n- `open/missing.json`",
        "- `open/a.json`\n\n- `open/b-2.csv`",
    ],
)
def test_a_list_that_is_missing_empty_or_holds_a_line_that_is_no_entry_is_an_error(
    tmp_path: Path, entries: str | None
) -> None:
    folder = corpus(tmp_path, entries or "")
    if entries is None:
        (folder / "README.md").write_text("# Corpus\n", encoding="utf-8")
    for read in (
        lambda: sealed_files(folder),
        lambda: open_files("open", corpus=folder),
        lambda: refuse_sealed(folder / "open" / "c.json", corpus=folder),
    ):
        with pytest.raises(ValueError, match="Sealed" if entries is not None else "lists no sealed file"):
            read()


def test_every_reader_of_the_training_scripts_refuses_sealed_files() -> None:
    names = sorted(str(path.relative_to(CORPUS)) for path in sealed_files())
    conversation = next(CORPUS / name for name in names if name.startswith("open/"))
    trajectory = next(CORPUS / name for name in names if name.endswith("_turns.jsonl"))
    for read, path in (
        (training_corpus.read_json, conversation),
        (training_corpus.read_conversation, conversation),
        (training_corpus.read_trajectory, trajectory),
    ):
        with pytest.raises(PermissionError, match="is sealed"):
            read(path)
    assert load_trajectories(open_embedder("static"), ["trajectories_heldout"]) == []


# scripts/check_corpus.py


def checked(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, text: str) -> list[str]:
    """The faults of a corpus of one file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(check_corpus, "CORPUS", folder)
    return check_corpus.check_all().faults


def turns(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


TURN = {"id": "a-1", "role": "user", "content": "SECRET", "partition": ["a"], "action": "ASK"}


def test_the_shipped_corpus_has_no_fault() -> None:
    assert check_corpus.check_all().faults == []


def test_faults_name_files_ids_and_rules_but_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "SECRET"}
    asked = {"question": "SECRET?", "answer": "SECRET", "evidence": ["D9:9"], "type": "SECRET"}
    session = {"session_1": [turn], "session_1_date_time": "7:15 pm on 3 March, 2024"}
    conversation = {"license": "Apache-2.0", "language": "en", **session, "qa": [asked, asked]}
    sentence = {"text": "SECRET", "types": ["SECRET"], "date": "SECRET"}
    message = {"role": "user", "timestamp": "2025-03-03", "sentences": [sentence]}
    short = {"conversations": [{"id": "s-1", "messages": [message]}]}
    undated = {**conversation, "session_1_date_time": "SECRET"}
    for name, data in (("open/a.json", conversation), ("sentences/b.json", short), ("open/c.json", undated)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
    faults = checked(monkeypatch, tmp_path, "trajectories/d_turns.jsonl", turns(TURN, TURN))
    assert {fault.split(".json")[0] for fault in faults} == {"open/a", "sentences/b", "open/c", "trajectories/d_turns"}
    assert any("question 1" in fault and "D9:9" in fault for fault in faults)
    assert not [fault for fault in faults if "SECRET" in fault]


# scripts/encoder_training/resuming.py


def test_a_frame_with_rows_marks_each_secret_and_varies_as_look_alikes_do(tmp_path: Path) -> None:
    frames = [{"kind": "password", "text": "list: ⟪box{row} ⟦{series}⟧¦, ‖\n⟫"}]
    file = tmp_path / "frames.json"
    file.write_text(json.dumps({"fillers": {}, "frames": frames, "lookalikes": [{"text": "list: ⟪{n4}¦; ⟫"}]}))
    secrets, lookalikes = [], []
    for message in expand(file, 200, 3, ["kiwi", "lemon"]):
        (secrets if message.secrets else lookalikes).append(message)
    assert (len(secrets), len(lookalikes)) == (200, 200)
    for message in secrets:
        values = [message.text[start:end] for start, end, _ in message.secrets]
        assert len(values) == message.text.count("box") >= 2
        assert not any(" " in value or "," in value for value in values)
    for messages in (secrets, lookalikes):
        assert 0.05 < sum(not message.text.lower().startswith("list: ") for message in messages) / 200 < 0.25


def test_a_training_goes_on_on_the_same_data_with_the_same_arguments_alone(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from encoder_training.resuming import SavedTraining

    def started(data: object = ("a", "b"), **changed: object) -> Any:
        arguments = argparse.Namespace(**{"rate": 0.1, "epochs": 3, "work": tmp_path, "threads": 1, **changed})
        network = torch.nn.Linear(2, 1)
        optimizer = torch.optim.AdamW(network.parameters())
        return SavedTraining(tmp_path / "state.pt", data, arguments), network, optimizer

    saved, network, optimizer = started()
    assert saved.resume(network, optimizer) == []
    network(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    saved.save(network, optimizer, [{"recall": 0.5}])
    again, other, its_optimizer = started(threads=2, work=tmp_path / "elsewhere")
    assert again.resume(other, its_optimizer) == [{"recall": 0.5}]
    assert torch.equal(other.weight, network.weight)
    moments, expected = (one.state_dict()["state"][0]["exp_avg"] for one in (its_optimizer, optimizer))
    assert torch.equal(moments, expected)
    for changed, what in (({"data": ("a",)}, "data"), ({"rate": 0.2}, "arguments"), ({"epochs": 4}, "arguments")):
        another, network, optimizer = started(**changed)
        with pytest.raises(SystemExit, match=f"other {what}: delete it"):
            another.resume(network, optimizer)
