"""Shared engines: a Chroma server and PostgreSQL that stop and start again, workers that are killed, and the command line."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from hexamem import Memory, Settings, UserMemory
from hexamem.background import JobContext, JobOutcome
from hexamem.errors import HexamemError, LedgerServerError
from hexamem.memory_types import utc_now
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.secrets import KEY_VARIABLE, new_key

from .commands import hexamem, write_lines
from .ledger_databases import NewDatabase, new_database  # noqa: F401
from .servers import POSTGRES, TOKEN, ChromaServer, chroma_client, postgres

QUIET = Settings(background=False, labels="off", mode="off")


@pytest.fixture
def chroma_server(tmp_path: Path) -> Iterator[ChromaServer]:
    """A Chroma server that asks for a token."""
    server = ChromaServer(tmp_path / "vectors")
    yield server
    server.close()


@contextmanager
def under_load(users: list[UserMemory]) -> Iterator[tuple[list[str], list[Exception]]]:
    """Each user stores numbered messages and recalls, in a thread, until the block ends; each call that fails is repeated
    with the same message id. Yields what was acknowledged, and the errors."""
    ended = threading.Event()
    acknowledged: list[str] = []
    errors: list[Exception] = []

    def run(user: UserMemory) -> None:
        number = 0
        while not ended.is_set():
            text = f"{user.name} saw heron number {number}."
            try:
                user.remember([{"role": "user", "content": text, "id": f"{user.name}-{number}"}], thread_id="talk")
                acknowledged.append(text)
                number += 1
                user.recall("Which heron was seen?")
            except Exception as error:  # noqa: BLE001 - given to the test
                errors.append(error)
                time.sleep(0.05)

    threads = [threading.Thread(target=run, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    try:
        yield acknowledged, errors
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def stored(users: list[UserMemory]) -> list[str]:
    return sorted(step.content for user in users for step in user.steps())


def test_recalls_go_on_by_keywords_while_the_chroma_server_is_down_under_load(
    tmp_path: Path, chroma_server: ChromaServer
) -> None:
    client = chroma_client(chroma_server.port)
    with Memory.open(tmp_path / "home", embedder="static", chroma=client, settings=QUIET) as memory:
        users = [memory.user(name) for name in ("ann", "ben")]
        users[0].remember("We moved to Porto in March.", thread_id="talk")
        assert users[0].recall("Where did we move?", strategy="dense").hits
        with under_load(users) as (acknowledged, errors):
            wait_for(lambda: len(acknowledged) > 3)
            chroma_server.stop()
            users[0].remember("The dog is called Rex.", thread_id="talk")
            for strategy in ("dense", "rrf", "learned"):
                recall = users[0].recall("Porto in March", strategy=strategy)
                assert recall.hits[0].text == "We moved to Porto in March."
                assert "Chroma server" in " ".join(recall.degraded)
                assert (
                    users[0].recall("What is the dog called?", strategy=strategy).hits[0].text
                    == "The dog is called Rex."
                )
            before = len(acknowledged)
            wait_for(lambda: len(acknowledged) > before + 3)
            chroma_server.start()
            wait_for(lambda: len(acknowledged) > before + 6)
        assert errors == []
        recall = users[0].recall("What is the dog called?", strategy="dense")
        assert (recall.hits[0].text, recall.degraded) == ("The dog is called Rex.", ())
        assert memory.flush()
        texts = [*acknowledged, "The dog is called Rex.", "We moved to Porto in March."]
        assert stored(users) == sorted(texts)
        assert sum(memory.vectors.count(user.key, "steps") for user in users) == len(texts)


def test_a_chroma_server_that_hangs_or_refuses_the_token_counts_as_down(
    tmp_path: Path, chroma_server: ChromaServer
) -> None:
    client = chroma_client(chroma_server.port)
    session = client._server._session
    with Memory.open(tmp_path / "home", embedder="static", chroma=client, settings=QUIET) as memory:
        alice = memory.user("alice")
        alice.remember("We moved to Porto in March.", thread_id="talk")
        assert alice.recall("Where did we move?", strategy="dense").degraded == ()
        limit, session.timeout = session.timeout, 0.5
        chroma_server.send(signal.SIGSTOP)
        try:
            recall = alice.recall("Porto in March", strategy="dense")
        finally:
            chroma_server.send(signal.SIGCONT)
            session.timeout = limit
        assert limit.read == 60
        assert recall.hits
        assert "cannot be reached" in " ".join(recall.degraded)
        chroma_server.token = "another"
        recall = alice.recall("Porto in March", strategy="dense")
        assert recall.hits
        assert "401" in " ".join(recall.degraded)
        assert "refuses the client's token" in " ".join(recall.degraded)
        chroma_server.token = TOKEN
        assert alice.recall("Where did we move?", strategy="dense").degraded == ()


def test_two_homes_of_the_command_line_share_a_ledger_and_each_has_its_vectors_on_the_server(
    tmp_path: Path, new_database: NewDatabase, chroma_server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = write_lines(tmp_path / "talk.jsonl", [{"role": "user", "content": "We moved to Porto in March."}])
    ledger, port = new_database(), chroma_server.port
    monkeypatch.setenv("HEXAMEM_CHROMA_TOKEN", TOKEN)

    def run(home: str, *words: object) -> Any:
        return hexamem(*words, "--home", tmp_path / home, "--ledger", ledger, "--chroma", f"127.0.0.1:{port}")

    assert run("first", "ingest", talk, "--user", "alice").code == 0
    for home in ("first", "second"):
        hits = run(home, "recall", "Where did we move?", "--user", "alice", "-s", "dense", "--json").json["hits"]
        assert hits[0]["text"] == "We moved to Porto in March."
    collections = {each.name for each in chroma_client(port).list_collections()}
    assert len({name.split(".")[1] for name in collections}) == 2
    assert not (tmp_path / "first" / "ledger.sqlite3").exists()
    assert "row-level security" not in run("first", "doctor").out
    monkeypatch.setenv("HEXAMEM_CHROMA_TOKEN", "wrong")
    assert "refuses the token (401): set HEXAMEM_CHROMA_TOKEN" in run("first", "users").error
    monkeypatch.setenv("HEXAMEM_CHROMA_TOKEN", TOKEN)
    chroma_server.stop()
    assert "what answers there failed (502)" in run("first", "users").error
    chroma_server.close()
    assert "no Chroma server answers" in run("first", "users").error
    assert (
        "is no address" in hexamem("users", "--ledger", ledger, "--chroma", "a:b:c", "--home", tmp_path / "first").error
    )


class OwnPostgres:
    """A PostgreSQL that no other test uses, since these stop it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = postgres("start", folder)

    def run(self, action: str) -> None:
        """Crash, start, restart or stop it."""
        postgres(action, self.folder)


@pytest.fixture
def server() -> Iterator[OwnPostgres]:
    """A PostgreSQL of the test's own."""
    if POSTGRES not in os.environ:
        pytest.skip(f"needs PostgreSQL: set {POSTGRES}, e.g. to what scripts/postgres_for_tests.sh prints")
    with pytest.MonkeyPatch.context() as environment, tempfile.TemporaryDirectory(prefix="hexamem-pg-") as folder:
        environment.setenv(KEY_VARIABLE, b64encode(new_key()).decode())
        Path(folder).chmod(0o755)  # for root the server runs as another user
        started = OwnPostgres(Path(folder))
        yield started
        started.run("stop")


def test_a_login_that_postgresql_refuses_is_not_called_a_server_that_cannot_be_reached(
    tmp_path: Path, server: OwnPostgres
) -> None:
    [folder] = server.folder.glob("hexamem-postgres-*")
    rules = folder / "data" / "pg_hba.conf"
    rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
    engine = create_engine(server.url.replace("//hexamem@", "//postgres@"))
    with engine.begin() as admin:
        admin.execute(text("CREATE ROLE guarded LOGIN PASSWORD 'right'"))
        admin.execute(text("SELECT pg_reload_conf()"))
    engine.dispose()
    for url, why in (
        (server.url.replace("//hexamem@", "//guarded:quite-wrong@"), "password"),
        (server.url.replace("//hexamem@", "//nobody@"), "nobody"),
        (server.url.replace("/hexamem?", "/nothing?"), "nothing"),
    ):
        with pytest.raises(LedgerServerError, match=f"refused the login .*{why}.*check the user, password") as raised:
            Memory.open(tmp_path / "home", embedder="static", ledger_url=url, settings=QUIET)
        assert "quite-wrong" not in str(raised.value)
    server.run("crash")
    with pytest.raises(LedgerServerError, match="cannot be reached"):
        Memory.open(tmp_path / "home", embedder="static", ledger_url=server.url, settings=QUIET)


def test_a_restart_of_postgresql_under_load_loses_nothing_and_is_one_clear_error(
    tmp_path: Path, server: OwnPostgres
) -> None:
    with Memory.open(tmp_path / "home", embedder="static", ledger_url=server.url, settings=QUIET) as memory:
        users = [memory.user(name) for name in ("ann", "ben")]
        with under_load(users) as (acknowledged, errors):
            for _ in range(2):
                before = len(acknowledged)
                wait_for(lambda before=before: len(acknowledged) > before + 3)  # type: ignore[misc]
                server.run("restart")
            before = len(acknowledged)
            wait_for(lambda: len(acknowledged) > before + 3)
        assert {type(error) for error in errors} <= {LedgerServerError}
        assert all("repeat it when the server is back" in str(error) for error in errors)
        assert stored(users) == sorted(acknowledged)
        server.run("restart")
        assert users[0].recall("heron number 0").hits  # no connection of the pool is alive
        server.run("restart")
        users[0].remember("The first write after a restart works.", thread_id="talk")
        assert memory.flush()


def test_the_doctor_names_tables_without_row_level_security_which_their_owner_creates_again_by_opening_the_ledger(
    tmp_path: Path, server: OwnPostgres
) -> None:
    def doctor(role: str) -> Any:
        ledger = server.url.replace("//hexamem@", f"//{role}@")
        return hexamem("doctor", "--home", tmp_path / "home", "--ledger", ledger, "--json")

    def ledger_finding(done: Any) -> dict[str, Any]:
        [found] = [each for each in json.loads(done.out)["findings"] if each["name"] == "ledger"]
        return {**found, "code": done.code}

    for _ in range(2):  # the second time there is a home, without a file of the ledger
        assert ledger_finding(doctor("hexamem"))["code"] == 0
    engine = create_engine(server.url.replace("//hexamem@", "//postgres@"))
    with engine.begin() as admin:
        for statement in (
            "CREATE ROLE clerk LOGIN",
            "GRANT ALL ON ALL TABLES IN SCHEMA public TO clerk",
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO clerk",
            "DROP POLICY of_one_user ON steps",
            "ALTER TABLE items NO FORCE ROW LEVEL SECURITY",
            "ALTER TABLE users DISABLE ROW LEVEL SECURITY",
            "CREATE POLICY of_reports ON items TO postgres USING (true)",
        ):
            admin.execute(text(statement))
    found = ledger_finding(doctor("clerk"))
    assert (found["code"], "policy: items, steps, users: open" in found["detail"]) == (1, True)
    assert "hexamem doctor --ledger" in found["detail"]
    done = doctor("hexamem")
    assert (ledger_finding(done)["code"], "created: items, steps, users" in done.out) == (0, True)
    assert ledger_finding(doctor("clerk"))["code"] == 0
    with engine.begin() as admin:
        admin.execute(text("CREATE POLICY everything ON steps USING (true)"))
    assert "DROP POLICY everything ON steps" in ledger_finding(doctor("hexamem"))["detail"]
    engine.dispose()


def test_a_job_whose_result_could_not_be_written_runs_again_at_once_in_the_same_home(
    tmp_path: Path, server: OwnPostgres
) -> None:
    ran: list[int] = []

    def handler(job: JobContext) -> JobOutcome:
        ran.append(job.attempt)
        if len(ran) == 1:
            server.run("crash")
        return JobOutcome.done()

    with Memory.open(tmp_path / "home", embedder="static", ledger_url=server.url, settings=QUIET) as memory:
        memory.handlers.register("note", handler)
        memory.user("ann").remember("hello")
        with memory.ledger.write("ann") as tx:
            enqueue(tx, "note", {})
        with pytest.raises(HexamemError):
            memory.flush()
        server.run("start")
        assert memory.flush()
    assert ran == [1, 2]


WORKER = """
    import sys, time
    from hexamem import Memory, Settings

    home, url = sys.argv[1:]
    settings = Settings(labels="off", mode="off")
    with Memory.open(home, embedder="static", ledger_url=url, settings=settings) as memory:
        def handler(job):
            print(job.payload["n"], flush=True)
            time.sleep(600)

        memory.handlers.register("note", handler)
        time.sleep(600)
"""


def test_the_jobs_of_a_killed_worker_are_taken_by_another(tmp_path: Path, new_database: NewDatabase) -> None:
    url = new_database()
    done: list[tuple[int, int]] = []

    def handler(job: JobContext) -> JobOutcome:
        done.append((job.payload["n"], job.attempt))
        return JobOutcome.done()

    with Memory.open(tmp_path / "one", embedder="static", ledger_url=url, settings=QUIET) as memory:
        users = [memory.user(f"user {number}") for number in range(4)]
        for number, user in enumerate(users):
            user.remember(f"heron {number}", thread_id="talk")
            with memory.ledger.write(user.name) as tx:
                enqueue(tx, "note", {"n": number})
        command = [sys.executable, "-c", textwrap.dedent(WORKER), str(tmp_path / "two"), url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            taken = int(worker.stdout.readline())
            memory.handlers.register("note", handler)
            memory.flush()
            assert sorted(done) == [(number, 1) for number in range(4) if number != taken]
            worker.kill()
        memory.flush()
        assert len(done) == 3  # its lease has not ended
        memory.runner.clock = lambda: utc_now() + timedelta(hours=1)
        assert memory.flush()
        assert done[3:] == [(taken, 2)]
        assert stored(users) == [f"heron {number}" for number in range(4)]
