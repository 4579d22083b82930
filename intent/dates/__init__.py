"""Dates as people say them: ``spans`` are what is meant, the word files read it, ``relative`` resolves it by a day."""
