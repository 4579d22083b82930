"""What a scripted model replies when it is asked to write memory: it reads the prompt as a model would, by simple rules.

Each numbered step that says "FACT name: fact", "EVENT date: what", "LIKES thing", "RECIPE name: a; b", "PASTE title: text"
or "CODE what: secret" is proposed to its manager, with the line as quote; an agent ends after that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .scripted_server import Reply, Request

STEP = re.compile(r"^\[(\d+)\] .*?$\n((?:\| .*\n?)+)", re.M)
KINDS = ("core", "episodic", "semantic", "procedural", "resource", "vault")
WORD = dict(zip(("LIKES", "EVENT", "FACT", "RECIPE", "PASTE", "CODE"), KINDS, strict=True))


def steps_in(request: Request) -> list[tuple[int, str]]:
    """The numbered steps of the prompt with their text."""
    prompt = next(one["content"] for one in request.messages if one["role"] == "user")  # a repair turn may follow
    shown = prompt[prompt.rindex("<steps>") :]
    return [(int(number), re.sub(r"^\| ", "", text, flags=re.M).strip()) for number, text in STEP.findall(shown)]


def operation(kind: str, number: int, line: str) -> dict[str, Any]:
    """One good operation for a line."""
    head, _, rest = line.partition(" ")[2].partition(": ")
    own: dict[str, dict[str, Any]] = {
        "core": {"label": "likes", "value": f"likes {head}", "valid_from": None, "valid_to": None},
        "episodic": {
            "occurred_at": head, "actor": "user", "event_type": "event", "summary": f"{rest} on {head}", "details": None
        },
        "semantic": {
            "name": head, "summary": f"{head} {rest}", "details": None, "tree_path": [], "valid_from": None, "valid_to": None
        },
        "procedural": {"entry_type": "recipe", "summary": f"How {head} is made", "steps": rest.split("; "), "tree_path": []},
        "resource": {
            "title": head, "summary": "a text", "resource_type": "text", "tree_path": [],
            "first_words": " ".join(rest.split()[:3]), "last_words": " ".join(rest.split()[-3:]),
        },
        "vault": {"entry_type": "code", "caption": f"code of the {head}", "sensitivity": "high", "secret": rest},
    }  # fmt: skip
    return {"step": number, "quote": line, "operation": "add", "target": None, "merged": [], **own[kind]}


def change(kind: str, number: int, line: str, **changes: Any) -> dict[str, Any]:
    """The same operation in the form of mode ``single_call``."""
    own = operation(kind, number, line)
    if kind == "resource":
        parts = [own["first_words"], own["last_words"]]
    else:
        parts = own.get("steps") or ([own["secret"]] if kind == "vault" else [])
    first = {"core": "label", "episodic": "actor", "semantic": "name", "resource": "title", "vault": "entry_type"}
    return {
        "type": kind, "op": "add", "targets": [], "step": number, "quote": line, "about": own.get(first.get(kind, "")),
        "text": own.get("value") or own.get("caption") or own["summary"], "attribute": None,
        "when": own.get("occurred_at"), "parts": parts, **changes,
    }  # fmt: skip


def called(operation: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool call that proposes an operation."""
    left_out = {"operation", "merged"} | ({"target"} if operation["operation"] == "add" else set())
    given = {name: value for name, value in operation.items() if name not in left_out}
    if operation["operation"] == "merge":
        given["merged"] = operation["merged"]
    return operation["operation"], given


def operations(request: Request, kind: str) -> list[dict[str, Any]]:
    """All good operations of a kind for the steps of a prompt."""
    return [
        operation(kind, number, line)
        for number, text in steps_in(request)
        for line in text.splitlines()
        if WORD.get(line.split(" ", 1)[0]) == kind
    ]


def step_line(
    step: int, scope: str | None = None, events: Iterable[str] = ("Report",), means: Mapping[str, str] | None = None
) -> str:
    """The labels of a step as a model writes them."""
    meanings = "; ".join(f"{words} = {meaning}" for words, meaning in (means or {}).items())
    return f"{step} | {scope or ''} | {', '.join(events)} | {meanings}"


def answer(request: Request) -> Reply:
    """A good reply to whatever the write path asks."""
    steps = steps_in(request)
    if request.name == "RoutingReply":
        found: dict[str, list[int]] = {}
        for number, text in steps:
            for line in text.splitlines():
                if (kind := WORD.get(line.split(" ", 1)[0])) is not None:
                    found.setdefault(kind, []).append(number)
        return Reply(content={"managers": [{"manager": k, "steps": v, "task": f"keep {k}"} for k, v in found.items()]})
    if request.manager is not None:
        found = [] if request.results else operations(request, request.manager)
        return Reply(content="done", plain=True, calls=[called(one) for one in found])
    labels = {"steps": [step_line(number, "daily life") for number, _ in steps], "gists": [], "pages": []}
    if request.name == "BatchLabels":
        return Reply(content=labels)
    assert request.name == "SingleReply", request.name
    changes = [change(kind, at["step"], at["quote"]) for kind in WORD.values() for at in operations(request, kind)]
    return Reply(content={**labels, "operations": changes})
