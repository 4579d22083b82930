"""Contextual intent: label vocabularies, scope tracking, coreference, label density (STITCH)."""

from .contract import RECENT, Embed, LabelBatch, LabeledStep, Labeler, StepView
from .query import QueryFilter, query_filter, vote
from .references.resolver import Resolution, ResolvedSpan, Resolver
from .rule_labeler import RuleLabeler, views
from .settings import IntentSettings
from .summaries import Gist, canonical_summary, updated_gist

__all__ = [
    "RECENT",
    "Embed",
    "Gist",
    "IntentSettings",
    "LabelBatch",
    "LabeledStep",
    "Labeler",
    "QueryFilter",
    "Resolution",
    "ResolvedSpan",
    "Resolver",
    "RuleLabeler",
    "StepView",
    "canonical_summary",
    "query_filter",
    "updated_gist",
    "views",
    "vote",
]
