"""Thematic scopes by rules: which goal each step serves; the map of the rooms is at the top of ``tracker``."""
