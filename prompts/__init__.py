"""Prompt templates, one Markdown file an agent, and their loader."""
