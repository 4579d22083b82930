"""Row-level security on PostgreSQL: a second wall between users, behind the condition in every statement.

Each transaction sets for which user it runs. The policies of the tables show it the rows of that user alone, also to a
statement without a condition, and refuse rows of others. A transaction that sets nothing sees no row of any user, but
the table of users, in which it finds its own. PostgreSQL does not apply policies to superusers and roles with BYPASSRLS.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, String, cast, func, select, text

from hexamem.stores.ledger.schema import USER_TABLES, users

__all__ = ["ALL_USERS", "NOBODY", "UNSET", "is_bypassed", "policy_statements", "set_user", "with_user_set"]

ALL_USERS, NOBODY, UNSET = "-1", "0", ""
_SETTING = "hexamem.user"  # the id of the transaction's user
_SET = select(func.set_config(_SETTING, text(":user"), True))
_BYPASSED = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")


def policy_statements() -> list[str]:
    """The statements that protect the tables, once they are created."""
    statements = []
    for table, column, without in [*((table, "user_id", NOBODY) for table in USER_TABLES), (users, "id", ALL_USERS)]:
        # A subquery is computed once for each statement, not for each row.
        user = f"(SELECT coalesce(nullif(current_setting('{_SETTING}', true), ''), '{without}')::integer)"
        statements += [
            f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY",  # for the owner of the table too
            f"CREATE POLICY of_one_user ON {table.name} USING ({column} = {user} OR {user} = {ALL_USERS})",
        ]
    return statements


def set_user(connection: Connection, user: str) -> None:
    """Run the rest of the transaction for the user of this id, or for ``ALL_USERS``, ``NOBODY`` or ``UNSET``."""
    connection.execute(_SET, {"user": user})


def with_user_set(statement: Select[Any]) -> Select[Any]:
    """A select of one row of ``users`` that sets this user too, without another round trip."""
    return statement.add_columns(func.set_config(_SETTING, cast(users.c.id, String), True))


def is_bypassed(connection: Connection) -> bool:
    """Whether PostgreSQL applies no policy to the connection's role."""
    return bool(connection.execute(_BYPASSED).scalar())
