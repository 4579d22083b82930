"""A short message is compared and stored in one transaction: once an id, without secrets, and each user apart."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from hexamem import UserMemory
from hexamem.stores.ledger.schema import secrets, steps

from .ledger_databases import each_memory, each_user, new_database  # noqa: F401

SECRET = "hunter2Zebra!9"


def said(user: UserMemory) -> list[str]:
    with user.memory.ledger.read(user.name) as tx:
        return [row.content for row in tx.all(select(steps.c.content).where(steps.c.user_id == tx.user_id))]


def kept(user: UserMemory) -> int:
    with user.memory.ledger.read(user.name) as tx:
        row = tx.first(select(func.count()).select_from(secrets).where(secrets.c.user_id == tx.user_id))
    assert row is not None
    return int(row[0])


def test_a_message_that_several_hand_over_at_once_is_stored_once_with_its_secret(each_user: UserMemory) -> None:  # noqa: F811
    message = {"role": "user", "content": f"my password is {SECRET}", "id": "m1"}
    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda _: each_user.remember([message], thread_id="t"), range(12)))
    assert len({one.step_ids for one in told}) == 1
    assert sum(not one.repeated for one in told) == 1
    assert len({one.secrets for one in told}) == kept(each_user) == 1
    assert said(each_user) == [f"my password is {told[0].secrets[0]}"]


@pytest.mark.parametrize(
    "again",
    ["⟦⟧", "⟦⟧, you know", "先试试⟦⟧吧", "did “⟦⟧” work for you?", "⟦⟧, you know" + " and so on" * 1_000],
    ids=["alone", "short", "Chinese", "quoted", "long"],
)
def test_a_known_secret_said_again_without_a_cue_is_taken_out(each_user: UserMemory, again: str) -> None:  # noqa: F811
    [reference] = each_user.remember(f"my password is {SECRET}").secrets
    assert each_user.remember(again.replace("⟦⟧", SECRET)).secrets == (reference,)
    assert said(each_user)[1:] == [again.replace("⟦⟧", reference)]
    assert kept(each_user) == 1


def test_what_is_a_secret_of_one_user_is_none_of_anothers(each_user: UserMemory) -> None:  # noqa: F811
    each_user.remember(f"my password is {SECRET}")
    other = each_user.memory.user(f"{each_user.name}, another")
    assert other.remember(f"{SECRET} is a band").secrets == ()
    assert said(other) == [f"{SECRET} is a band"]
