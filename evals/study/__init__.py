"""The study: experiments that tell what query-aware retrieval is worth, and what each of its parts adds.

Conversations are stored once, every question is asked once of every ranking, and the features of its candidates are
recorded; each experiment computes tables from those records. ``hexamem eval study`` runs them.
"""

from hexamem.evals.study.data_sets import StudySet, made_up_sets, study_sets
from hexamem.evals.study.experiments import EXPERIMENTS
from hexamem.evals.study.running import run_study, study_data, study_markdown, write_study

__all__ = [
    "EXPERIMENTS",
    "StudySet",
    "made_up_sets",
    "run_study",
    "study_data",
    "study_markdown",
    "study_sets",
    "write_study",
]
