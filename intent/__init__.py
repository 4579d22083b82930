"""Contextual intent: label vocabularies, scope tracking, coreference, label density (STITCH)."""
