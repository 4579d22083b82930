"""Runs the notebooks in a kernel, as Jupyter does, and keeps what they show: ``python notebooks/refresh.py [NAME…]``.

Needs the extra: ``pip install ".[notebooks]"``. Pictures are kept small; a notebook that fails stays as it was.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).resolve().parent
_LARGEST = 100_000  # characters of a notebook with what it shows


def refresh(path: Path) -> int:
    """Run one notebook and write it with its outputs.

    Returns:
        How many characters it has now.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
        ValueError: it came out larger than a repository should keep.
    """
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(FOLDER)}}, record_timing=False).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                output["data"] = {"image/png": _smaller(output["data"]["image/png"])}
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    text = str(nbformat.writes(notebook))  # type: ignore[no-untyped-call]
    if len(text) > _LARGEST:
        raise ValueError(
            f"{path.name} has {len(text):,} characters with its outputs, at most {_LARGEST:,}: draw smaller"
        )
    path.write_text(text + "\n", encoding="utf-8")
    return len(text)


def _smaller(png: str) -> str:
    """A picture of few colours in a third of the room; base64 in and out."""
    written = io.BytesIO()
    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    picture.quantize(48, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return base64.b64encode(written.getvalue()).decode()


def main() -> None:
    """Run those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of file names, such as 03; all when left out")
    names = parser.parse_args().names
    os.environ["PYTHONWARNINGS"] = "ignore"  # of the kernel: what it warns of is not what a reader looks for
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or any(path.name.startswith(name) for name in names):
            print(f"{path.name}: {refresh(path):,} characters", flush=True)


if __name__ == "__main__":
    main()
