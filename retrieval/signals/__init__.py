"""Signals of the learned ranking: what is measured of each candidate for a question, one idea a file."""
