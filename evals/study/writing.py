"""A study as files: ``study.md`` for people, ``study.json`` for programs, and a PNG a drawing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hexamem.errors import HomeNotWritableError
from hexamem.evals.study.plots import NO_PLOTS, draw, plots_possible
from hexamem.evals.study.sections import Section, StudyTable, shown

__all__ = ["study_data", "study_markdown", "write_study"]


def write_study(sections: Sequence[Section], facts: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write everything into a folder, which is made if it is not there.

    Args:
        facts: on the run as a whole: data sets, embedder, settings.

    Returns:
        The files. Without matplotlib there are no plots, and ``study.md`` says so.

    Raises:
        HomeNotWritableError: the folder or a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        drawn: dict[str, Path] = {}
        if plots_possible():
            for section in sections:
                for drawing in section.drawings:
                    drawn[drawing.name] = draw(drawing, folder / f"{drawing.name}.png")
        markdown, data = folder / "study.md", folder / "study.json"
        markdown.write_text(study_markdown(sections, facts, drawn), "utf-8")
        text = json.dumps(study_data(sections, facts), indent=1, ensure_ascii=False, allow_nan=False)
        data.write_text(text + "\n", "utf-8")
    except OSError as error:
        raise HomeNotWritableError(f"--out {folder} cannot be written ({error.strerror})") from None
    return [markdown, data, *drawn.values()]


def study_data(sections: Sequence[Section], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The study for programs."""
    found = {one.name: {**one.data, "remarks": list(one.remarks)} for one in sections}
    return {"facts": dict(facts), "experiments": found}


def study_markdown(
    sections: Sequence[Section], facts: Mapping[str, Any], drawn: Mapping[str, Path] | None = None
) -> str:
    """The study for people."""
    lines = ["# Study of query-aware retrieval", ""]
    lines += [f"- {name}: {_told(value)}" for name, value in facts.items()]
    if drawn is not None and not drawn and any(section.drawings for section in sections):
        lines += ["", f"No plots: {NO_PLOTS}"]
    for section in sections:
        lines += ["", f"## {section.title}", "", section.about]
        for table in section.tables:
            lines += ["", *_table(table)]
        for drawing in section.drawings:
            if drawn and drawing.name in drawn:
                lines += ["", f"![{drawing.title}]({drawn[drawing.name].name})"]
        if section.remarks:
            lines += ["", *(f"- {remark}" for remark in section.remarks)]
    return "\n".join(lines) + "\n"


def _told(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_told(inner)}" for name, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _table(table: StudyTable) -> list[str]:
    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return [
        f"**{table.title}**",
        "",
        line(table.columns),
        "|" + "|".join("---" if number == 0 else "---:" for number in range(len(table.columns))) + "|",
        *(line([shown(cell) for cell in row]) for row in table.rows),
    ]
