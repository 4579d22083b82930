"""Mistakes of a host: each is refused by one line that names the value and what to do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hexamem import (
    Memory,
    MemoryMiddleware,
    MiddlewareSettings,
    PromptSettings,
    Settings,
    chat_graph,
    ingest_graph,
    memory_graph,
    memory_tools,
    research_graph,
)
from hexamem.errors import ConfigError, InvalidInputError


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda: Settings(find_secret=False), "did you mean 'find_secrets'?"),  # type: ignore[call-arg]
        (lambda: MiddlewareSettings(tool=()), "did you mean 'tools'?"),  # type: ignore[call-arg]
        (lambda: PromptSettings(zzz=3), "the settings are tokens, core,"),  # type: ignore[call-arg]
    ],
)
def test_a_misspelled_setting_is_refused_with_the_nearest_name(make: Callable[[], object], hint: str) -> None:
    with pytest.raises(ConfigError, match="there is no such setting") as refused:
        make()
    assert hint in str(refused.value)


@pytest.mark.parametrize(
    "build", [memory_graph, ingest_graph, research_graph, chat_graph, memory_tools, MemoryMiddleware]
)
def test_a_folder_or_a_users_memory_is_refused_where_a_memory_is_needed(
    build: Callable[[Any], object], tmp_path: Path
) -> None:
    with Memory.open(tmp_path, embedder="static", settings=Settings(background=False)) as memory:
        for wrong in (str(tmp_path), memory.user("ann"), None):
            with pytest.raises(ConfigError, match=r"give the Memory that Memory\.open returns"):
                build(wrong)


def test_a_home_that_is_no_path_is_refused() -> None:
    for wrong in (None, 5, b"home", "a\0b"):
        with pytest.raises(InvalidInputError, match="give the path of a folder"):
            Memory.open(wrong)  # type: ignore[arg-type]


@pytest.mark.embedded
def test_an_export_never_replaces_a_file_of_the_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "link").symlink_to(home)
    with Memory.open(home, embedder="static", settings=Settings(background=False)) as memory:
        ann = memory.user("ann")
        ann.remember("I live in Porto.")
        before = {name: (home / name).stat().st_ino for name in os.listdir(home)}
        for target in (home / "ledger.sqlite3", home / "vault.key", home / "new.jsonl", tmp_path / "link" / "x.jsonl"):
            with pytest.raises(InvalidInputError, match="inside the home folder"):
                ann.export(target)
        assert {name: (home / name).stat().st_ino for name in os.listdir(home)} == before
        assert ann.export(tmp_path / "ann.jsonl")["steps"] == 1
