"""Row-level security on PostgreSQL: a second wall between users, behind the condition in every statement.

Each transaction sets for which user it runs. The policies of the tables show it the rows of that user alone, also to a
statement without a condition, and refuse rows of others. A transaction that sets nothing sees no row of any user, but
the table of users, in which it finds its own. PostgreSQL does not apply policies to superusers and roles with BYPASSRLS.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, String, cast, func, select, text

from hexamem.stores.ledger.schema import USER_TABLES, users

__all__ = [
    "ALL_USERS",
    "NOBODY",
    "POLICY",
    "UNSET",
    "Unprotected",
    "find_unprotected",
    "is_bypassed",
    "policy_statements",
    "set_user",
    "with_user_set",
]

ALL_USERS, NOBODY, UNSET = "-1", "0", ""
_SETTING = "hexamem.user"  # the id of the transaction's user
_SET = select(func.set_config(_SETTING, text(":user"), True))
_BYPASSED = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")


POLICY = "of_one_user"
_COLUMNS = {**{table.name: ("user_id", NOBODY) for table in USER_TABLES}, users.name: ("id", ALL_USERS)}
"""Table → the column with its user, and for which user a transaction runs that sets none."""
_OURS = f"policy.polname = '{POLICY}' AND policy.polcmd = '*' AND policy.polroles = '{{0}}'"  # of every role
_APPLIES = "(SELECT bool_or(role = 0 OR pg_has_role(role, 'USAGE')) FROM unnest(policy.polroles) AS role)"
_UNPROTECTED = text(f"""
    SELECT found.relname AS name, pg_has_role(found.relowner, 'USAGE') AS owned,
        NOT (found.relrowsecurity AND found.relforcerowsecurity AND coalesce(bool_or({_OURS}), false)) AS lacking,
        coalesce(array_agg(policy.polname::text) FILTER (WHERE NOT ({_OURS}) AND {_APPLIES}), '{{}}') AS others
    FROM unnest(CAST(:names AS text[])) AS wanted JOIN pg_class AS found ON found.oid = to_regclass(wanted)
        LEFT JOIN pg_policy AS policy ON policy.polrelid = found.oid AND policy.polpermissive
    GROUP BY found.oid, found.relname, found.relowner, found.relrowsecurity, found.relforcerowsecurity
    ORDER BY found.relname
""")


class Unprotected(NamedTuple):
    """A table whose rows are not separated by row-level security.

    Attributes:
        owned: whether the connection's role may change that.
        lacking: whether it is not enabled, not forced, or has no policy.
        others: further policies for the connection's role, which sees the rows that any one of them allows.
    """

    name: str
    owned: bool
    lacking: bool
    others: tuple[str, ...]


def find_unprotected(connection: Connection) -> list[Unprotected]:
    """The tables of the ledger that are not protected as it made them, by name."""
    rows = connection.execute(_UNPROTECTED, {"names": list(_COLUMNS)}).all()
    found = [Unprotected(row.name, row.owned, row.lacking, tuple(sorted(row.others))) for row in rows]
    return [table for table in found if table.lacking or table.others]


def policy_statements(tables: Iterable[str] = _COLUMNS) -> list[str]:
    """The statements that protect the tables, once they are created."""
    statements = []
    for table in tables:
        column, without = _COLUMNS[table]
        # A subquery is computed once for each statement, not for each row.
        user = f"(SELECT coalesce(nullif(current_setting('{_SETTING}', true), ''), '{without}')::integer)"
        statements += [
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",  # for the owner of the table too
            f"CREATE POLICY {POLICY} ON {table} USING ({column} = {user} OR {user} = {ALL_USERS})",
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
