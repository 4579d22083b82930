"""The prompts of the managers, composed of the text of the type and the rules that all types share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hexamem.agents.managers.forms import ItemOperation
from hexamem.prompts import Prompt, PromptLoader, load_prompt

__all__ = ["RULES", "manager_prompt", "own_text"]

RULES, _AGENT = "manager_rules", "manager_agent"


def own_text(form: type[ItemOperation], prompts: PromptLoader = load_prompt) -> str:
    """The system text of the prompt of a type: of a shipped one, or the text of a Markdown file of the host application."""
    source = form.prompt or form.agent()
    return Path(source).read_text(encoding="utf-8").strip() if source.endswith(".md") else prompts(source).system


def manager_prompt(form: type[ItemOperation], prompts: PromptLoader = load_prompt) -> Prompt:
    """The prompt of a manager: the text of its type, the shared rules, and the use of the tools."""
    agent = prompts(_AGENT)
    parts = (own_text(form, prompts), prompts(RULES).system, agent.system)
    return replace(agent.with_system("\n\n".join(parts)), name=form.agent())
