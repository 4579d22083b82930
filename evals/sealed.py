"""The sealed files of the corpus, which training and tuning must not read.

``evals/corpus/README.md`` lists them under "Sealed": a paragraph, then one file a line. Whatever reads the corpus in order to
train goes through :func:`refuse_sealed` or :func:`open_files`.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["CORPUS", "open_files", "refuse_sealed", "sealed_files"]

CORPUS = Path(__file__).resolve().parent / "corpus"
_ENTRY = re.compile(r"- `(?P<path>[^`\s]+\.jsonl?)`")


def sealed_files(corpus: Path = CORPUS) -> frozenset[Path]:
    """The sealed files, as resolved paths.

    Raises:
        ValueError: the list is missing or empty, a line of it is no entry, or a file in it does not exist. A list that is read
            in part would leave files open.
    """
    readme = corpus / "README.md"
    section = readme.read_text(encoding="utf-8").partition("\n## Sealed\n")[2].partition("\n## ")[0]
    lines = [line for line in section.strip().partition("\n\n")[2].splitlines() if line.strip()]
    if not lines:
        raise ValueError(
            f"{readme} lists no sealed file: its section 'Sealed' is a paragraph, an empty line, and the list"
        )
    entries = {line: _ENTRY.fullmatch(line) for line in lines}
    for line, entry in entries.items():
        if entry is None or not (corpus / entry["path"]).is_file():
            raise ValueError(
                f"{readme}, section 'Sealed': {line!r} names no file of the corpus; write each as - `folder/name.json`"
            )
    return frozenset((corpus / entry["path"]).resolve() for entry in entries.values() if entry is not None)


def refuse_sealed(*paths: Path, corpus: Path = CORPUS) -> None:
    """Check files before they are read in order to train or to tune; files outside the corpus are never sealed.

    Raises:
        PermissionError: one of them is sealed.
        ValueError: as :func:`sealed_files`.
    """
    closed = sealed_files(corpus)
    for path in paths:
        if path.resolve() in closed:
            raise PermissionError(
                f"{path} is sealed (see {corpus / 'README.md'}): training and tuning must not read it"
            )


def open_files(folder: str, pattern: str = "*.json", corpus: Path = CORPUS) -> list[Path]:
    """The files of a folder of the corpus that may be read in order to train, by name."""
    closed = sealed_files(corpus)
    return [path for path in sorted((corpus / folder).glob(pattern)) if path.resolve() not in closed]
