"""Every code block in README and docs runs, and so does every cell of the notebooks."""

from __future__ import annotations

import ast
import builtins
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hexamem import Memory, Settings

from .fork_server import WRITE_PATH, run_program, write_command

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
COMMANDS = Path(sys.executable).parent
CHAT = [{"role": "user", "content": "We moved to Porto."}, {"role": "assistant", "content": "How nice!", "name": "Ada"}]

# What the examples of a page print.
PRINTS = {
    "README.md": ("We moved to Porto in March. Our flat is above a bakery. |", "user: I moved to Porto.\n"),
    "extending.md": (
        "Four services write to it.",
        "['My sister Orla is a vet in Cork.']",
        "Orla, a sister, is a vet in Cork.\napproved: ['Orla, a sister, is a vet in Cork.']",
        "I work in Turin. newest",
        "['bathroom']",
        "We moved to Porto in March.\n",
    ),
    "memory.md": ("We moved to Porto last Saturday. |", "Congratulations! How is the new flat? |"),
}


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def run(command: list[str], folder: Path, *before: Path) -> subprocess.CompletedProcess[str]:
    """Run with a home of its own, and with this environment's commands first on the path, after those ``before``."""
    path = os.pathsep.join([*map(str, before), str(COMMANDS), os.environ.get("PATH", "")])
    variables = {**os.environ, "HOME": str(folder), "PATH": path}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    done = run_program("\n".join(blocks(page, "python")), folder=tmp_path, loaded=("langchain.agents", *WRITE_PATH))
    assert done.returncode == 0, done.stderr
    for line in PRINTS.get(page.name, ()):
        assert line in done.stdout


def test_each_example_of_extending_is_complete_but_the_one_that_continues_another() -> None:
    incomplete = []
    for block in blocks(ROOT / "docs" / "extending.md", "python"):
        names = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Name)]
        bound = set(re.findall(r"(?:class|def|import|as|,|\() *(\w+)", block)) | {
            node.id for node in names if isinstance(node.ctx, ast.Store)
        }
        missing = {node.id for node in names} - bound - set(dir(builtins))
        incomplete += [block] if missing else []
    assert [block.count("HumanInTheLoopMiddleware(") for block in incomplete] == [1]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "bash")], ids=lambda page: page.name)
def test_the_shell_commands_of_a_page_run(page: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    forking = tmp_path_factory.mktemp("commands")
    write_command(forking / "hexamem", COMMANDS / "hexamem", "hexamem.cli.app", *WRITE_PATH)
    (tmp_path / "chat.jsonl").write_text("\n".join(json.dumps(line) for line in CHAT), encoding="utf-8")
    done = run(["bash", "-euc", "\n".join(blocks(page, "bash"))], tmp_path, forking)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.embedded
def test_the_installed_command_runs_in_an_interpreter_of_its_own_and_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text("\n".join(json.dumps(line) for line in CHAT), encoding="utf-8")
    done = run(["bash", "-c", "hexamem ingest chat.jsonl --user alice | true; exit ${PIPESTATUS[0]}"], tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (141, 1), done.stderr
    assert "there was no memory" in done.stderr
    with Memory.open(tmp_path / ".hexamem", settings=Settings(background=False)) as memory:
        assert [step.content for step in memory.user("alice").steps()] == [line["content"] for line in CHAT]


# Run before and after the cells of a notebook: pictures are drawn without a window, and each must be fit to be drawn.
BEFORE = "import matplotlib\nmatplotlib.use('Agg')\n"
AFTER = """
for number in plt.get_fignums():
    plt.figure(number).canvas.draw()
print('pictures:', len(plt.get_fignums()))
"""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_a_notebook_runs_from_top_to_bottom_and_shows_pictures(notebook: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notebooks"
    shutil.copytree(notebook.parent, folder, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"))
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    done = run_program(
        BEFORE + code + AFTER, folder=folder, loaded=("matplotlib.pyplot", "langchain.agents", *WRITE_PATH)
    )
    assert done.returncode == 0, done.stderr
    assert code.count("plt.show()") >= 1
    assert f"pictures: {code.count('plt.show()')}" in done.stdout


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_the_stored_outputs_of_a_notebook_are_small_and_free_of_errors(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    outputs = [output for cell in json.loads(text)["cells"] for output in cell.get("outputs", [])]
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert len(text) < 100_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_of_the_project_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
