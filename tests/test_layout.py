"""The layout: packages as mapped, arrows pointing down, files of one idea, the wheel complete."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hexamem import Memory, UserLabels, UserMemory
from hexamem.learning import UserExperience
from hexamem.run_recorder import RunRecorder

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["setuptools"]["packages"]
MAPPING = PROJECT["tool"]["setuptools"]["package-dir"]
NOT_PACKAGES = {"tests", "notebooks", "benchmarks", "docs", "scripts", "build", "dist"}

# Who may import whom: each package only from those before it.
LAYERS = [
    {"errors"},
    {"memory_types"},
    {"config"},
    {"models", "stores"},
    {"intent"},
    {"retrieval"},
    {"agents", "experience"},
    {"graphs"},
    {"arguments", "background", "calls", "home"},
    {"labels", "model_tier", "redactions"},
    {"distilling", "files", "paging", "recalling"},
    {"experience_runs", "ingesting", "researching"},
    {"reflecting"},
    {"run_recorder"},
    {"exploring"},
    {"learning"},
    {"user_base"},
    {"user_privacy", "user_reading", "user_writing"},
    {"user"},
    {"memory"},
    {"aligning", "chat_replies", "doctor", "hiding", "prompting"},
    {"forgotten_messages", "subgraphs"},
    {"tools", "middleware", "chatting", "served", "cli", "evals", "testing"},
    {"__main__"},
]
UPWARD = {"hexamem/user_base.py imports memory, which stands above it"}  # the type of UserMemory.memory


def folder_of(package: str) -> Path:
    head = ".".join(package.split(".")[:2])
    return (
        ROOT
        / MAPPING[head if head in MAPPING else "hexamem"]
        / Path(*package.split(".")[2 if head in MAPPING else 1 :])
    )


def modules() -> list[Path]:
    return [path for package in PACKAGES for path in sorted(folder_of(package).glob("*.py"))]


def test_every_mapped_package_is_a_folder_with_an_init() -> None:
    assert [p for p in PACKAGES if not (folder_of(p) / "__init__.py").is_file()] == []


def test_every_folder_with_an_init_is_a_mapped_package() -> None:
    folders = {
        path.parent.resolve()
        for path in ROOT.rglob("__init__.py")
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
        and path.relative_to(ROOT).parts[0] not in NOT_PACKAGES
    }
    assert folders == {folder_of(package).resolve() for package in PACKAGES}


def test_the_root_is_no_package() -> None:
    assert not (ROOT / "__init__.py").exists()


def unit_of(path: Path) -> str:
    """The layer's name for a module: its package, or its own name in hexamem/."""
    relative = path.relative_to(ROOT)
    if relative.parts[0] != "hexamem":
        return relative.parts[0]
    return relative.parts[1].removesuffix(".py")


class Module(NamedTuple):
    """What a module says it is, and the units that it imports when it is loaded, from its imports."""

    docstring: str | None
    units: frozenset[str]


@cache
def parsed(path: Path) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.relative_to(ROOT)}:{node.lineno} imports relatively: write from hexamem.…"
            module = str(node.module)
            names.update([f"hexamem.{alias.name}" for alias in node.names] if module == "hexamem" else [module])
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return Module(
        ast.get_docstring(tree), frozenset(name.split(".")[1] for name in names if name.startswith("hexamem."))
    )


def test_imports_point_down() -> None:
    rank = {unit: level for level, layer in enumerate(LAYERS) for unit in layer}
    assert {unit_of(path) for path in modules()} - rank.keys() <= {"__init__", "prompts"}, "of no layer yet"
    upward = {
        f"{path.relative_to(ROOT)} imports {other}, which stands above it"
        for path in modules()
        if (unit := unit_of(path)) not in ("__init__", "prompts")
        for other in parsed(path).units
        if other in rank and other != unit and rank[other] > rank[unit]
    }
    assert upward == UPWARD


def test_no_object_reaches_into_another() -> None:
    reached = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted((ROOT / "hexamem").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("_")
        if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert reached == []


def test_every_module_says_what_it_is() -> None:
    named = {path: parsed(path).docstring for path in modules()}
    assert len(named) > len(PACKAGES)
    assert [str(path.relative_to(ROOT)) for path, docstring in named.items() if not docstring] == []


def test_no_file_names_a_path_of_some_machine() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    pattern = re.compile(r"/(work|home|root|Users)/[a-z]")
    texts = {
        name: (ROOT / name).read_text(encoding="utf-8") for name in files if name.endswith((".py", ".md", ".toml"))
    }
    here = str(Path(__file__).relative_to(ROOT))
    assert [name for name, text in texts.items() if pattern.search(text) and name != here] == []


def test_every_method_that_reads_or_writes_has_an_async_twin_of_its_signature() -> None:
    inside = {"callback", "write_recalls", "wrote", "drop_caches", "read", "recall_without", "thread_lock"}
    for owner in (Memory, UserMemory, UserLabels, UserExperience, RunRecorder):
        methods = {
            name: member
            for name, member in inspect.getmembers(owner, inspect.isroutine)
            if not name.startswith("_") and not inspect.iscoroutinefunction(member) and name not in inside
        }
        for name, method in methods.items():
            twin = getattr(owner, f"a{name}")
            assert inspect.iscoroutinefunction(twin)
            assert inspect.signature(twin) == inspect.signature(method)


def test_every_public_name_of_the_face_can_be_loaded() -> None:
    import hexamem

    assert {name: getattr(hexamem, name) for name in hexamem.__all__}
