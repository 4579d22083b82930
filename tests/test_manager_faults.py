"""Two hundred replies of each fault to each manager: nothing raises, and what is proposed holds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from hexamem.agents.contract import Instruction
from hexamem.agents.managers.forms import FORMS, reply_form
from hexamem.agents.managers.reading import Reading, salvaged_operations

from .manager_script import operation
from .test_model_managers import KNOWN, batch_of

LINES = {
    "core": "LIKES green tea",
    "episodic": "EVENT 2025-03-09: piano exam in the town hall",
    "semantic": "FACT Orla: is a vet in Sligo",
    "procedural": "RECIPE soda bread: mix flour and soda; bake for 40 minutes",
    "resource": "PASTE poem: The wind was loud, the sea was grey, and nobody came home that day.",
    "vault": "CODE garage: swordfish#77",
}
ODD: tuple[Any, ...] = (
    None, "", "x" * 10_000, -1, 10**12, 2.5, True, [], {}, [[]], "semantic1", "item_orla", "2025-99-99", "{{vault:x|y}}",
    "</steps>", "\u0000", "他说的", "swordfish#77",
)  # fmt: skip
Fault = Callable[[random.Random, list[Any]], Any]


def odd_values(draw: random.Random, given: list[Any]) -> Any:
    for one in given:
        for name in draw.sample(list(one), 3):
            one[name] = draw.choice(ODD)
    return {"operations": given}


def fields_left_out(draw: random.Random, given: list[Any]) -> Any:
    for one in given:
        for name in draw.sample(list(one), 3):
            del one[name]
    return {"operations": given}


def fields_added(draw: random.Random, given: list[Any]) -> Any:
    for one in given:
        one[draw.choice(["id", "user", "status", "sources", "secret", "x" * 300])] = draw.choice(ODD)
    return {"operations": given, draw.choice(["more", "steps"]): draw.choice(ODD)}


def hundreds(draw: random.Random, given: list[Any]) -> Any:
    return {"operations": [dict(draw.choice(given)) for _ in range(draw.randrange(20, 500))]}


def other_shapes(draw: random.Random, given: list[Any]) -> Any:
    return draw.choice([given, given[0], {"operations": given[0]}, {"operation": given}, *ODD])


def invented_quotes(draw: random.Random, given: list[Any]) -> Any:
    for one in given:
        one["quote"] = draw.choice(["Ahmed paid 999 euros in Zurich", "x" * 5_000, "the", "。", one["quote"][::-1]])
        one["step"] = draw.choice([0, 1, 2, 7, -1])
    return {"operations": given}


def wild_targets(draw: random.Random, given: list[Any]) -> Any:
    for one in given:
        one["operation"] = draw.choice(["add", "update", "supersede", "merge", "remove", "noop", "DROP"])
        one["target"] = draw.choice([None, "semantic1", "semantic9", "item_orla", "core1", "x" * 400])
        one["merged"] = draw.choice([[], ["semantic1", "semantic2"], ["semantic1"] * 50, None, "semantic2"])
    return {"operations": given}


def broken_off(draw: random.Random, given: list[Any]) -> Any:
    whole = json.dumps({"operations": given})
    try:
        return json.loads(whole[: draw.randrange(len(whole))] + draw.choice(["]}", "}]}", '"}]}', ""]))
    except ValueError:
        return whole[: draw.randrange(len(whole))]


FAULTS: tuple[Fault, ...] = (
    odd_values, fields_left_out, fields_added, hundreds, other_shapes, invented_quotes, wild_targets, broken_off,
)  # fmt: skip


@pytest.mark.parametrize("kind", FORMS)
def test_no_reply_to_a_manager_raises_or_proposes_what_does_not_hold(kind: Any) -> None:
    form, line = FORMS[kind], LINES[kind]
    batch = batch_of(line, "Good evening")
    said = {step.step.id: step.step.content for step in batch.steps}
    proposed = 0
    for fault in FAULTS:
        draw = random.Random(f"{kind} {fault.__name__}")
        for _ in range(200):
            data = json.loads(json.dumps(fault(draw, [operation(kind, 1, line) for _ in range(2)])))
            try:
                operations = list(reply_form(form).model_validate(data).operations)  # type: ignore[attr-defined]
            except ValueError:
                listed = data.get("operations") if isinstance(data, dict) else data
                operations = salvaged_operations(listed, form)
            reading = Reading(form=form, batch=batch, instruction=Instruction(kind=kind), nearest=KNOWN)
            assert all(len(told) < 400 for told in reading.all_problems(operations))
            made = reading.proposals(operations, None, kind)[0].proposals
            assert len(made) <= len(operations)
            assert len(made) <= reading.most
            for one in made:
                proposed += 1
                assert one.kind == kind
                assert (one.target is None) == (one.operation == "add")
                assert one.target is None or one.target in KNOWN
                for evidence in one.evidence:
                    assert evidence.quote in said[evidence.step_id]
                told = json.dumps(one.values, default=str)
                assert "Zurich" not in told
                assert kind != "vault" or "swordfish#77" not in told
    assert proposed > 100  # replies that are partly sound are not lost
