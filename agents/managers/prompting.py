"""The prompts of the managers: what each type states, and the rules that all share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hexamem.agents.managers.forms import ItemOperation
from hexamem.prompts import Prompt, PromptLoader, load_prompt

__all__ = ["RULES", "manager_prompt", "own_text", "system_text"]

RULES, _AGENT = "manager_rules", "manager_agent"


def system_text(prompt: Prompt) -> str:
    """The system text of a prompt."""
    return "\n\n".join(text for role, text in prompt.sections if role == "system")


def own_text(form: type[ItemOperation], prompts: PromptLoader = load_prompt) -> str:
    """What the prompt of a type states: of a shipped one, or of a Markdown file of the host's."""
    source = form.prompt or form.agent()
    return Path(source).read_text(encoding="utf-8").strip() if source.endswith(".md") else system_text(prompts(source))


def manager_prompt(form: type[ItemOperation], prompts: PromptLoader = load_prompt) -> Prompt:
    """The prompt of a manager: what its type states, the rules that all share, and how to use the tools."""
    agent = prompts(_AGENT)
    parts = (own_text(form, prompts), system_text(prompts(RULES)), system_text(agent))
    return replace(agent.with_system("\n\n".join(parts)), name=form.agent())
