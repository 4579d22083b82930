"""Contextual intent: label vocabularies, scope tracking, event and entity classifiers, label density (STITCH)."""

from hexamem.intent.contract import RECENT, Embed, LabelBatch, LabeledStep, Labeler, StepView
from hexamem.intent.embedded_labeler import EmbeddedLabeler
from hexamem.intent.query import QueryFilter

__all__ = [
    "RECENT",
    "Embed",
    "EmbeddedLabeler",
    "LabelBatch",
    "LabeledStep",
    "Labeler",
    "QueryFilter",
    "StepView",
]
