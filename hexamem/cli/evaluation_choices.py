"""What ``hexamem eval`` measures on, and which of its options go with what."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from hexamem.errors import InvalidInputError

__all__ = ["OF_FILE", "DataSet", "FamilyChoice", "FormChoice", "SizeName", "SplitChoice", "check_options"]


class DataSet(StrEnum):
    """What can be measured on; all but ``ruler`` and ``synthetic`` are files, and all but ``writepath`` ask questions."""

    locomo = "locomo"
    came = "came"
    longmemeval = "longmemeval"
    hotpotqa = "hotpotqa"
    narrativeqa = "narrativeqa"
    ruler = "ruler"
    synthetic = "synthetic"
    writepath = "writepath"
    study = "study"


class SizeName(StrEnum):
    """The lengths of a made-up trajectory."""

    S = "S"
    M = "M"
    L = "L"


class FamilyChoice(StrEnum):
    """What a made-up trajectory may be about."""

    travel = "travel"
    project = "project"
    debate = "debate"


class SplitChoice(StrEnum):
    """The two sets of sentences."""

    dev = "dev"
    test = "test"


class FormChoice(StrEnum):
    """How a long text comes to the memory."""

    conversation = "conversation"
    documents = "documents"


OF_FILE = (DataSet.hotpotqa, DataSet.narrativeqa)
"""Files so large that a part of their questions is read."""
_ANSWERED = (DataSet.locomo, DataSet.came, DataSet.longmemeval, *OF_FILE)
_ALLOWED = {
    **dict.fromkeys(("--size", "--family", "--split", "--export"), (DataSet.synthetic,)),
    "--seed": (DataSet.synthetic, DataSet.ruler, DataSet.hotpotqa, DataSet.study),
    "--count": (DataSet.synthetic, DataSet.ruler, DataSet.study),
    **dict.fromkeys(("--out", "--experiment", "--samples", "--conversations"), (DataSet.study,)),
    "--questions": (*_ANSWERED, DataSet.study),
    "--tokens": (DataSet.ruler, DataSet.hotpotqa),
    **dict.fromkeys(("--task", "--form", "-k"), (DataSet.ruler,)),
}


def check_options(dataset: DataSet, answers: bool, given: Mapping[str, object]) -> None:
    """Refuse options that mean nothing here."""
    for option, value in given.items():
        if value is None:
            continue
        allowed = _ALLOWED.get(option, _ANSWERED)
        if dataset not in allowed:
            *others, last = (one.value for one in allowed)
            named = f"{', '.join(others)} and {last}" if others else f"{last} alone"
            raise InvalidInputError(f"{option} is for {named}; leave it out with {dataset.value}")
        if option == "--judge" and not answers:
            raise InvalidInputError("--judge judges answers; give --answers with it")
        if option == "--questions" and not answers and dataset not in (*OF_FILE, DataSet.study):
            raise InvalidInputError(
                f"--questions goes with --answers; {dataset.value} is measured on all its questions"
            )
