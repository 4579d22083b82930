"""Type-check the package in the tree, then build the wheel and import every module of it as installed.

The packages lie beside ``hexamem`` and install below it, which type checkers do not resolve: they see the tree through a
folder of links in which it looks as installed. Run: ``python scripts/check_types.py`` (needs the ``dev`` extra);
``--tree`` leaves out the wheel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMPORT_ALL = """
import importlib, pkgutil, hexamem
names = ["hexamem", *(m.name for m in pkgutil.walk_packages(hexamem.__path__, "hexamem."))]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(f"{len(names)} modules imported from {hexamem.__file__}")
"""


def run(*command: str | Path, **options: object) -> None:
    """Run a command, show it, and stop on failure."""
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)  # type: ignore[call-overload]


def check_tree() -> None:
    """Run mypy over the tree, through links under which each folder has the name that it is installed by."""
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-dir"]
    with tempfile.TemporaryDirectory() as links:
        package = Path(links) / "hexamem"
        package.mkdir()
        for path in (ROOT / "hexamem").iterdir():
            (package / path.name).symlink_to(path)
        for name, folder in folders.items():
            if name.count(".") == 1:
                (package / name.removeprefix("hexamem.")).symlink_to(ROOT / folder)
        run(
            sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache",
            "hexamem", cwd=links, env={**os.environ, "MYPYPATH": ""},
        )  # fmt: skip


def import_wheel() -> None:
    """Build the wheel, install it into a fresh environment and import every module: only it shows which are in it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.rmtree(ROOT / "build", ignore_errors=True)  # what an earlier build left would go into the wheel
        run(sys.executable, "-m", "build", "--wheel", "--outdir", place, ROOT, stdout=subprocess.DEVNULL)
        shutil.rmtree(ROOT / "build", ignore_errors=True)
        wheel = next(place.glob("*.whl"))
        environment = place / "venv"
        run(sys.executable, "-m", "venv", environment)
        python = environment / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", wheel)
        # The dependencies come from the environment that runs this script, which resolved them already.
        site = next((environment / "lib").glob("python*/site-packages"))
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        run(python, "-c", IMPORT_ALL, cwd=place)


def main() -> None:
    """Check the tree, then the wheel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", action="store_true", help="leave out the wheel")
    arguments = parser.parse_args()
    check_tree()
    if not arguments.tree:
        import_wheel()


if __name__ == "__main__":
    main()
