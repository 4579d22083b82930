"""What many tests share: a memory in a temporary home, and the real conversations where they are at hand."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from hexamem import Memory, Settings, UserMemory

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory in a new home, without the background thread, so that a test decides what runs when."""
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as opened:
        yield opened


@pytest.fixture
def alice(memory: Memory) -> UserMemory:
    """A user of it."""
    return memory.user("alice")


@pytest.fixture
def shared_data() -> Path:
    """The real conversations beside the checkout; the test is skipped, visibly, where they are not."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the real conversations in {SHARED}")
    return SHARED


Traces = Callable[..., list[str]]


def _forms(text: str) -> dict[str, bytes]:
    """The ways in which a text may lie in a file."""
    data = text.encode()
    escaped = json.dumps(text)[1:-1]
    forms = {
        "UTF-8": data,
        "UTF-16 LE": text.encode("utf-16-le"),
        "UTF-16 BE": text.encode("utf-16-be"),
        "JSON": escaped.encode(),
        "JSON in JSON": json.dumps(escaped)[1:-1].encode(),
        "hex": data.hex().encode(),
        "URL": quote(text).encode(),
    }
    for offset in range(3):  # what stands before it shifts base64; its first and last characters mix with neighbours
        whole = base64.b64encode(b"\0" * offset + data).rstrip(b"=")
        inner = whole[(0, 2, 3)[offset] : len(whole) - (1 if (len(data) + offset) % 3 else 0)]
        forms[f"base64 +{offset}"] = inner
    return forms


@pytest.fixture
def traces() -> Traces:
    """Looks for texts in every file below a folder; gives ``file (form of text)`` for each form that is there."""

    def look(folder: Path, *texts: str) -> list[str]:
        wanted = {text: _forms(text) for text in texts}
        found = []
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            found += [f"{name} (name, {text})" for text in texts if text in path.name]
            data = path.read_bytes() if path.is_file() else b""
            for text, forms in wanted.items():
                found += [f"{name} ({form} of {text})" for form, bytes_ in forms.items() if bytes_ in data]
        return found

    return look
