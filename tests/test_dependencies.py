"""Every third-party import of the installed packages is declared, extras are imported where they are used, and the page is complete."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .test_layout import PROJECT, ROOT, modules

IMPORTED_AS = {
    "beautifulsoup4": {"bs4"},
    "pydantic": {"pydantic", "pydantic_core"},
    "python-dateutil": {"dateutil"},
    "python-docx": {"docx"},
    "recognizers-text-date-time": {"recognizers_date_time", "recognizers_text"},
    "scikit-learn": {"sklearn"},
}
NOT_IMPORTED = {"tzdata", "psycopg"}  # read by zoneinfo, and by SQLAlchemy from the URL of a ledger
OF_USERS = ("keyring", "postgres", "files", "minilm", "evals")


class Import(NamedTuple):
    """One import of a third-party package; ``early`` if it happens as the module is loaded."""

    module: str
    file: Path
    early: bool


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~!; ]", line)[0] for line in requirements}


def imported(names: set[str]) -> dict[str, str]:
    """Top-level module → the requirement that brings it."""
    return {module: name for name in names for module in IMPORTED_AS.get(name, {name.lower().replace("-", "_")})}


RUNTIME = names_of(PROJECT["project"]["dependencies"])
EXTRAS = {name: names_of(lines) for name, lines in PROJECT["project"]["optional-dependencies"].items()}
OPTIONAL = set().union(*(EXTRAS[name] for name in OF_USERS))


def imports_in(file: Path) -> Iterator[Import]:
    def walk(node: ast.AST, early: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            lazy = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            lazy |= isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            if isinstance(child, ast.Import):
                found = [alias.name for alias in child.names]
            else:
                found = [child.module or ""] if isinstance(child, ast.ImportFrom) and not child.level else []
            for module in {name.partition(".")[0] for name in found} - sys.stdlib_module_names - {"hexamem", ""}:
                yield Import(module, file.relative_to(ROOT), early)
            yield from walk(child, early and not lazy)

    return walk(ast.parse(file.read_text(encoding="utf-8")), True)


IMPORTS = [found for file in modules() for found in imports_in(file)]


def test_every_import_is_declared_and_every_declared_package_is_imported() -> None:
    declared = imported(RUNTIME | OPTIONAL)
    assert not {found for found in IMPORTS if found.module not in declared}
    assert {declared[found.module] for found in IMPORTS} == (RUNTIME | OPTIONAL) - NOT_IMPORTED


def test_no_module_needs_an_extra_to_be_loaded() -> None:
    extras = imported(OPTIONAL - RUNTIME)
    assert not {found for found in IMPORTS if found.early and found.module in extras}


def test_the_page_names_every_dependency_and_every_extra() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w-]+)`", page))
    assert RUNTIME | OPTIONAL | set(EXTRAS) <= named
