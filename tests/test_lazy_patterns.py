"""Patterns that are compiled when first used: each is sound, and none is handed to a function that cannot take it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from hexamem import lazy_re

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    "agents", "experience", "graphs", "hexamem", "intent", "memory_types", "models", "retrieval", "stores", "tools",
)  # fmt: skip
FUNCTIONS = {"search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}


def sources() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def is_lazy(path: Path) -> bool:
    return "import lazy_re as re" in path.read_text(encoding="utf-8")


def module_of(path: Path) -> ModuleType:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return import_module(".".join(parts if parts[0] == "hexamem" else ("hexamem", *parts)).removesuffix(".__init__"))


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes that run when a module is imported: not what stands inside functions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from at_import(child)


def calls_re(node: ast.AST, names: set[str]) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in names
    )


LAZY = [path for path in sources() if is_lazy(path)]


def test_a_lazy_pattern_finds_what_a_compiled_one_does() -> None:
    pattern = lazy_re.compile(r"(?P<word>\w+)\s*(\d)?", lazy_re.IGNORECASE)
    compiled = re.compile(r"(?P<word>\w+)\s*(\d)?", re.IGNORECASE)
    text = "Anna 3 goes to Oslo 7"
    assert [one.groups() for one in pattern.finditer(text)] == [one.groups() for one in compiled.finditer(text)]
    assert pattern.sub("-", text, count=2) == compiled.sub("-", text, count=2)
    assert (pattern.flags, pattern.groups, pattern.groupindex) == (compiled.flags, 2, compiled.groupindex)


def test_a_lazy_pattern_tells_its_text_before_it_is_compiled() -> None:
    assert lazy_re.compile("(never closed").pattern == "(never closed"


def test_a_mistake_in_a_lazy_pattern_is_raised_at_its_first_use() -> None:
    with pytest.raises(re.error, match="unterminated subpattern"):
        lazy_re.compile("(never closed").search("text")


def test_what_no_pattern_has_is_no_attribute_of_a_lazy_one() -> None:
    assert not hasattr(lazy_re.compile("a"), "compile")


def test_no_pattern_of_the_rules_is_compiled_on_import() -> None:
    eager = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources()
        if not is_lazy(path) and path.name not in ("lazy_re.py", "rewrite.py")
        for node in at_import(ast.parse(path.read_text(encoding="utf-8")))
        if calls_re(node, {"compile"})
    ]
    assert eager == [], "write `from .. import lazy_re as re` there instead of `import re`"


def lazy_in(value: object, depth: int = 4) -> Iterator[lazy_re.LazyPattern[str]]:
    """The lazy patterns that a value of a module holds, in tables too."""
    if isinstance(value, lazy_re.LazyPattern):
        yield value
    elif isinstance(value, dict | list | tuple) and depth:
        for one in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from lazy_in(one, depth - 1)


def test_opening_a_memory_compiles_hardly_any_pattern() -> None:
    code = (
        "import gc, hexamem.memory; from hexamem.lazy_re import LazyPattern\n"
        "made = [one for one in gc.get_objects() if isinstance(one, LazyPattern)]\n"
        "slot, used = LazyPattern.__dict__['search'], 0\n"
        "for one in made:\n"
        "    try: slot.__get__(one); used += 1\n"
        "    except AttributeError: pass\n"
        "print(len(made), used)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    made, used = map(int, done.stdout.split())
    assert made > 300
    assert used < made / 20


def test_every_lazy_pattern_is_sound() -> None:
    patterns = [pattern for path in LAZY for value in vars(module_of(path)).values() for pattern in lazy_in(value)]
    for pattern in patterns:
        re.compile(pattern.pattern, pattern._flags)
    assert len(patterns) > len(LAZY)


def test_lazy_patterns_are_used_by_their_methods() -> None:
    wrong = []
    for path in LAZY:
        held = vars(module_of(path))
        wrong += [
            f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if calls_re(node, FUNCTIONS)
            and isinstance(node.args[0], ast.Name)
            and isinstance(held.get(node.args[0].id), lazy_re.LazyPattern)
        ]
    assert wrong == [], "the functions of `re` cannot take a lazy pattern: write PATTERN.search(text)"
