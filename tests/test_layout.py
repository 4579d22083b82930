"""The layout: packages as mapped, imports that point down, are declared and load no extra; what every module and method has."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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
    {"errors", "once"},
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
    {"run_recorder"},
    {"exploring"},
    {"learning"},
    {"user_base"},
    {"user_reading", "user_writing"},
    {"user"},
    {"memory"},
    {"aligning", "doctor", "hiding", "prompting"},
    {"forgotten_messages", "subgraphs"},
    {"tools", "middleware", "chatting", "served", "cli", "evals", "testing"},
    {"__main__"},
]
UPWARD = {"hexamem/user_base.py imports memory, which stands above it"}  # the type of UserMemory.memory


IMPORTED_AS = {
    "beautifulsoup4": {"bs4"},
    "pydantic": {"pydantic", "pydantic_core"},
    "python-dateutil": {"dateutil"},
    "python-docx": {"docx"},
    "python-stdnum": {"stdnum"},
    "recognizers-text-date-time": {"recognizers_date_time", "recognizers_text"},
    "scikit-learn": {"sklearn"},
}
NOT_IMPORTED = {"tzdata"}  # read by zoneinfo
OF_USERS = ("keyring", "postgres", "files", "minilm", "evals")


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~!; ]", line)[0] for line in requirements}


def imported(names: set[str]) -> dict[str, str]:
    """Top-level module → the requirement that brings it."""
    return {module: name for name in names for module in IMPORTED_AS.get(name, {name.lower().replace("-", "_")})}


RUNTIME = names_of(PROJECT["project"]["dependencies"])
EXTRAS = {name: names_of(lines) for name, lines in PROJECT["project"]["optional-dependencies"].items()}
OPTIONAL = set().union(*(EXTRAS[name] for name in OF_USERS))


def folder_of(package: str) -> Path:
    head = ".".join(package.split(".")[:2])
    mapped = head in MAPPING
    return ROOT / MAPPING[head if mapped else "hexamem"] / Path(*package.split(".")[2 if mapped else 1 :])


@cache
def modules() -> dict[Path, ast.Module]:
    """Every module that is installed, parsed."""
    files = [path for package in PACKAGES for path in sorted(folder_of(package).glob("*.py"))]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def place(path: Path, node: ast.AST | None = None) -> str:
    return f"{path.relative_to(ROOT)}{f':{node.lineno}' if node is not None else ''}"  # type: ignore[attr-defined]


def unit_of(path: Path) -> str:
    """The layer's name for a module: its package, or its own name in hexamem/."""
    first, *rest = path.relative_to(ROOT).parts
    return rest[0].removesuffix(".py") if first == "hexamem" else first


def imports_in(node: ast.AST, early: bool = True) -> Iterator[tuple[str, ast.AST, bool]]:
    """Each imported module; whether that happens as the importing one is loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, child, early) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            below = child.module == "hexamem" and not child.level
            names = (
                [f"hexamem.{alias.name}" for alias in child.names] if below else ["." * child.level + f"{child.module}"]
            )
            yield from ((name, child, early) for name in names)
        lazy = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        lazy |= isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        yield from imports_in(child, early and not lazy)


@cache
def imports() -> list[tuple[Path, str, ast.AST, bool]]:
    return [(path, *found) for path, tree in modules().items() for found in imports_in(tree)]


def test_the_mapped_packages_are_the_folders_with_an_init_and_the_root_is_none() -> None:
    folders = {
        path.parent.resolve()
        for path in ROOT.rglob("__init__.py")
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
        and path.relative_to(ROOT).parts[0] not in NOT_PACKAGES
    }
    assert folders == {folder_of(package).resolve() for package in PACKAGES}


def test_imports_are_absolute_and_point_down() -> None:
    rank = {unit: level for level, layer in enumerate(LAYERS) for unit in layer}
    assert {unit_of(path) for path in modules()} - rank.keys() <= {"__init__", "prompts"}, "of no layer yet"
    assert [place(path, node) for path, name, node, _ in imports() if name.startswith(".")] == []
    upward = set()
    for path, name, _, _ in imports():
        unit, other = unit_of(path), name.split(".")[1] if name.startswith("hexamem.") else ""
        if rank.get(other, -1) > rank.get(unit, len(LAYERS)) and other != unit:
            upward.add(f"{place(path)} imports {other}, which stands above it")
    assert upward == UPWARD


def test_every_import_is_declared_and_no_module_needs_an_extra_to_be_loaded() -> None:
    declared, extras = imported(RUNTIME | OPTIONAL), imported(OPTIONAL - RUNTIME)
    third_party = [
        (name.split(".")[0], place(path, node), early)
        for path, name, node, early in imports()
        if name.split(".")[0] not in sys.stdlib_module_names | {"hexamem", ""}
    ]
    assert [where for name, where, _ in third_party if name not in declared] == []
    assert {declared[name] for name, *_ in third_party} == (RUNTIME | OPTIONAL) - NOT_IMPORTED
    assert [where for name, where, early in third_party if early and name in extras] == []
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`([\w-]+)`", page)) >= RUNTIME | OPTIONAL | set(EXTRAS)


def test_no_object_reaches_into_another_and_every_module_has_a_docstring() -> None:
    reached = [
        f"{place(path, node)} {ast.unparse(node)}"
        for path, tree in modules().items()
        if path.relative_to(ROOT).parts[0] == "hexamem"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("_")
        if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert reached == []
    assert [place(path) for path, tree in modules().items() if not ast.get_docstring(tree)] == []


def test_no_file_names_a_path_of_some_machine() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    pattern = re.compile(r"/(work|home|root|Users)/[a-z]")
    files = {name for name in listed.split("\n") if name.endswith((".py", ".md", ".toml"))} - {
        str(Path(__file__).relative_to(ROOT))
    }
    assert [name for name in files if pattern.search((ROOT / name).read_text(encoding="utf-8"))] == []


def test_every_method_that_reads_or_writes_has_an_async_twin_of_its_signature() -> None:
    inside = {
        "callback",
        "write_recalls",
        "write_recalls_in_background",
        "wrote",
        "drop_caches",
        "read",
        "recall_without",
        "thread_lock",
    }
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
