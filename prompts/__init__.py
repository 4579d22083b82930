"""Prompt templates, one Markdown file an agent, and their loader."""

from __future__ import annotations

from hexamem.prompts.loader import Prompt, PromptFolder, PromptLoader, load_prompt, parse_prompt, prompt_names

__all__ = ["Prompt", "PromptFolder", "PromptLoader", "load_prompt", "parse_prompt", "prompt_names"]
