"""Coreference before storage: ``cues`` find references, the others look for what they mean, ``resolver`` puts it in."""
