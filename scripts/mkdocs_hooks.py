"""What mkdocs needs to know of this project; named in ``mkdocs.yml``.

1. mkdocstrings reads a package from one folder, but the folders here are mapped by ``pyproject.toml`` (``hexamem.stores`` is
   ``stores/``). So the modules are put together in a temporary folder, and their docstrings' reST roles become Markdown.
2. A link from a page to a file outside ``docs/`` works in the checkout and leads nowhere on the site: it becomes the path.
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.plugins import event_priority

ROOT = Path(__file__).resolve().parents[1]
ROLE = re.compile(r":(?:meth|class|func|mod|attr|exc|data):`~?\.?([^`]+)`")
LITERAL_BLOCK = re.compile(r"(?<=\w)::(?=\n)")
LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#\s]+)(?:#[^)]*)?\)")

_packages: list[tempfile.TemporaryDirectory[str]] = []


@event_priority(100)  # before mkdocstrings reads its paths
def on_config(config: Any) -> None:
    """Put the package together, once a process, and tell mkdocstrings where it is."""
    if not _packages:
        _packages.append(tempfile.TemporaryDirectory(prefix="hexamem-docs-"))
        put_together(Path(_packages[0].name))
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [_packages[0].name]


def on_shutdown() -> None:
    """Take the temporary folder away."""
    while _packages:
        _packages.pop().cleanup()


def put_together(target: Path) -> None:
    """Write every module of the packages that ``pyproject.toml`` names into one tree under ``target``."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    for package in setuptools["packages"]:
        parts = package.split(".")
        head = next(n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in setuptools["package-dir"])
        source = ROOT.joinpath(setuptools["package-dir"][".".join(parts[:head])], *parts[head:])
        folder = target.joinpath(*parts)
        folder.mkdir(parents=True, exist_ok=True)
        for module in source.glob("*.py"):
            text = LITERAL_BLOCK.sub(":", ROLE.sub(r"`\1`", module.read_text(encoding="utf-8")))
            (folder / module.name).write_text(text, encoding="utf-8")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Turn links that leave ``docs/`` into the text and the path."""
    here = PurePosixPath("docs") / PurePosixPath(page.file.src_uri).parent

    def shown(link: re.Match[str]) -> str:
        path = (ROOT / here / link[2]).resolve()
        if path.is_relative_to(ROOT / "docs") or not path.is_relative_to(ROOT):
            return link[0]  # mkdocs looks after it
        return f"{link[1]} (`{path.relative_to(ROOT).as_posix()}`)"

    return LINK.sub(shown, markdown)
