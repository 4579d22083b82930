"""Type-check the package as it is installed: build the wheel, install it into a fresh environment, run mypy there.

Type checkers do not follow this project's kind of editable install, and only the wheel shows whether every package
is really in it. Every module is imported as well. Run: ``python scripts/check_types.py`` (needs the ``dev`` extra).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
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


def main() -> None:
    """Build, install, import, check."""
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
        variables = {**os.environ, "MYPYPATH": ""}
        run(
            sys.executable, "-m", "mypy", "--python-executable", python, "--config-file", ROOT / "pyproject.toml",
            "--cache-dir", ROOT / ".mypy_cache", "-p", "hexamem", cwd=place, env=variables,
        )  # fmt: skip


if __name__ == "__main__":
    main()
