"""The databases in which a ledger may lie, as fixtures: the same tests run on SQLite and on PostgreSQL.

PostgreSQL is used where ``HEXAMEM_TEST_POSTGRES`` holds the URL of a server (``scripts/postgres_for_tests.sh`` starts
one); its tests are skipped, visibly, otherwise. Each ledger gets a schema of its own there.
"""

from __future__ import annotations

import itertools
import os
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from hexamem import Memory, Settings, UserMemory
from hexamem.stores.ledger import Ledger
from hexamem.stores.secrets import KEY_VARIABLE, new_key

__all__ = ["NewDatabase", "each_ledger", "each_memory", "each_user", "new_database"]

NewDatabase = Callable[[], str]
"""Makes an empty database and returns its URL."""

_numbers = itertools.count(1)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewDatabase]:
    """Makes databases of one kind, and sets the key of a shared ledger; they are gone after the module."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(KEY_VARIABLE, b64encode(new_key()).decode())
        if request.param == "sqlite":
            folder = tmp_path_factory.mktemp("databases")
            yield lambda: f"sqlite:///{folder}/{next(_numbers)}.sqlite3"
            return
        server = os.environ.get("HEXAMEM_TEST_POSTGRES")
        if not server:
            pytest.skip(
                "needs PostgreSQL: set HEXAMEM_TEST_POSTGRES, e.g. to what scripts/postgres_for_tests.sh prints"
            )
        engine = create_engine(server)
        made: list[str] = []

        def new() -> str:
            name = f"hexamem_test_{os.getpid()}_{next(_numbers)}"
            with engine.begin() as connection:
                connection.execute(text(f"CREATE SCHEMA {name}"))
            made.append(name)
            own = make_url(server).update_query_dict({"options": f"-csearch_path={name}"})
            return own.render_as_string(hide_password=False)

        yield new
        with engine.begin() as connection:
            for name in made:
                connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
        engine.dispose()


@pytest.fixture(scope="module")
def each_ledger(new_database: NewDatabase) -> Iterator[Ledger]:
    """A ledger on each kind of database, shared by a module: a test takes users of its own."""
    ledger = Ledger(new_database())
    yield ledger
    ledger.close()


@pytest.fixture(scope="module")
def each_memory(new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory on each kind of database, shared by a module: a test takes users of its own."""
    home: Path = tmp_path_factory.mktemp("home")
    with Memory.open(home, embedder="static", ledger_url=new_database(), settings=Settings(background=False)) as memory:
        yield memory


@pytest.fixture
def each_user(each_memory: Memory) -> UserMemory:
    """A user with nothing stored, on each kind of database."""
    return each_memory.user(f"user {next(_numbers)}")
