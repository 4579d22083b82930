"""Fixtures of many tests: memories in temporary homes, and the real conversations where they are available."""

from __future__ import annotations

import base64
import gc
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import settings as hypothesis_settings

from hexamem import Memory, Settings, UserMemory
from hexamem.stores import memory_use
from hexamem.stores.secrets import cipher

from . import servers
from .fork_server import FOLDER

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

# Programs that tests start cache the bytecode of their imports: compiling takes longer than most tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Where pytest has loaded readline, its workers get the size of a terminal that does not exist.
for _size in ("COLUMNS", "LINES"):
    os.environ.pop(_size, None)


# No deadlines: a busy machine is no failure. A property test tries the same examples in each run, so that a change does
# not fail on code that it did not touch; HEXAMEM_TEST_RANDOM=1 tries new ones.
hypothesis_settings.register_profile("hexamem", deadline=None, derandomize="HEXAMEM_TEST_RANDOM" not in os.environ)
hypothesis_settings.load_profile("hexamem")

# Keep freed memory in the process: allocating it again for each of some thousand homes takes half of the system time.
memory_use._MAX_FREE = 32 << 20

# A cheap key derivation; only the test of the shipped cost uses SHIPPED_COST.
SHIPPED_COST = cipher.seal.__kwdefaults__["log_n"]
cipher.seal.__kwdefaults__["log_n"] = 14

_IN_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30
# The slowest files, slowest first: a slow file that starts last would leave the other workers idle.
_LONG = (
    "test_durability",
    "test_faults",
    "test_documentation",
    "test_cli",
    "test_write_modes",
    "test_redact",
    "test_vault",
    "test_model_labeler",
    "test_langgraph_server",
    "test_vectors",
    "test_structured_call",
    "test_chat",
    "test_isolation",
    "test_lexical",
    "test_research",
    "test_research_model",
    "test_export",
    "test_bad_input",
    "test_recall",
    "test_forgetting",
    "test_background",
    "test_caches",
)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Set the socket of ``fork_server``; put homes into memory where there is room and no ``--basetemp``.

    Hexamem waits for the disk at every write, several times per test. No test needs the disk: the writes of a killed
    process survive in memory too, and that writes are synchronised is asserted on SQLite's own settings.
    """
    if hasattr(config, "workerinput"):
        config.args[:] = _rotated(config.args, config.workerinput)
        return
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="hexamem-server-")
    config.add_cleanup(lambda: shutil.rmtree(os.environ[FOLDER], ignore_errors=True))
    os.environ["SSL_CERT_FILE"] = str(_certificate(Path(os.environ[FOLDER])))
    if servers.SHARED in os.environ:
        servers.start_servers(config, _IN_MEMORY if _IN_MEMORY.is_dir() else Path(os.environ[FOLDER]))
    if config.option.basetemp or not _IN_MEMORY.is_dir():
        return
    if min(shutil.disk_usage(_IN_MEMORY).free, psutil.virtual_memory().available) < _ROOM:
        return
    folder = tempfile.mkdtemp(prefix="hexamem-tests-", dir=_IN_MEMORY)
    config.option.basetemp = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def _certificate(folder: Path) -> Path:
    """The only authority that a client trusts: no test uses TLS, and each client would load more than a hundred."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody")])
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1)
    )
    file = folder / "certificate.pem"
    file.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return file


def _rotated(args: list[str], worker: dict[str, object]) -> list[str]:
    """All test files, in another order for each worker; other arguments unchanged.

    Without cached bytecode each worker would compile every file; this way each compiles some and finds the others.
    """
    folder = Path(__file__).resolve().parent
    if [Path(arg).resolve() for arg in args] != [folder]:
        return args
    number, workers = int(str(worker["workerid"]).removeprefix("gw")), int(str(worker["workercount"]))
    files = sorted(map(str, folder.glob("test_*.py")))
    first = len(files) * number // workers
    return files[first:] + files[:first]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude the imported modules from garbage collection, and collect less often than by default."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow files first, in each worker's part of the list: each worker starts with an equal run of consecutive tests."""
    if servers.SHARED in os.environ:
        skip = pytest.mark.skip(reason="of a home whose ledger and vectors are files; this run has them on servers")
        for item in items:
            if item.get_closest_marker("embedded"):
                item.add_marker(skip)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path.stem, []).append(item)
    long = [files.pop(name) for name in _LONG if name in files]
    rest = [item for name in sorted(files) for item in files[name]]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        ordered += [item for of_file in long[worker::workers] for item in of_file]
        room = max(0, len(items) * (worker + 1) // workers - len(ordered))
        ordered += rest[:room]
        del rest[:room]
    items[:] = ordered + rest


@pytest.fixture(scope="session", autouse=True)
def _on_servers() -> Iterator[servers.Homes | None]:
    """In shared mode, where memories are opened; see :mod:`.servers`."""
    if servers.SHARED not in os.environ:
        yield None
        return
    with servers.shared_mode() as homes:
        yield homes


@pytest.fixture(scope="module", autouse=True)
def _dropped(_on_servers: servers.Homes | None) -> Iterator[None]:
    """Drops from the servers what a module stored."""
    yield
    if _on_servers is not None:
        _on_servers.drop_closed()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory in a new home, without the background thread, so that a test decides when jobs run."""
    with Memory.open(tmp_path / "home", embedder="static", settings=Settings(background=False)) as opened:
        yield opened


@pytest.fixture
def alice(memory: Memory) -> UserMemory:
    """A user of it."""
    return memory.user("alice")


@pytest.fixture
def plain_memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory in a new home that neither labels nor learns: for tests that need neither, since both take time."""
    settings = Settings(background=False, labels="off", mode="off")
    with Memory.open(tmp_path / "home", embedder="static", settings=settings) as opened:
        yield opened


_newcomers = itertools.count(1)


@pytest.fixture(scope="module")
def shared_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One memory for a whole module, without labels: opening one takes longer than most tests."""
    home = tmp_path_factory.mktemp("shared") / "home"
    with Memory.open(home, settings=Settings(background=False, labels="off")) as opened:
        yield opened


@pytest.fixture
def newcomer(shared_memory: Memory) -> UserMemory:
    """A new user of it."""
    return shared_memory.user(f"newcomer {next(_newcomers)}")


@pytest.fixture(scope="module")
def static_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory for a whole module, with the small embedder and without labels."""
    settings = Settings(background=False, labels="off")
    with Memory.open(tmp_path_factory.mktemp("static") / "home", embedder="static", settings=settings) as opened:
        yield opened


@pytest.fixture
def ann(static_memory: Memory) -> UserMemory:
    """A new user of it, in Dublin's time zone."""
    return static_memory.user(f"ann {next(_newcomers)}", timezone="Europe/Dublin")


@pytest.fixture(scope="module")
def labelling_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The same with labels, as :func:`memory` has them."""
    with Memory.open(tmp_path_factory.mktemp("labelling") / "home", settings=Settings(background=False)) as opened:
        yield opened


@pytest.fixture
def labelled_newcomer(labelling_memory: Memory) -> UserMemory:
    """A new user of it."""
    return labelling_memory.user(f"newcomer {next(_newcomers)}")


@pytest.fixture
def shared_data() -> Path:
    """The folder of real conversations beside the checkout; skips the test where it is missing."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the real conversations in {SHARED}")
    return SHARED


Traces = Callable[..., list[str]]


def _forms(text: str) -> dict[str, bytes]:
    """The encodings in which a text may occur in a file."""
    data = text.encode()
    escaped = json.dumps(text)[1:-1]
    forms = {
        "UTF-8": data,
        "UTF-16 LE": text.encode("utf-16-le"),
        "UTF-16 BE": text.encode("utf-16-be"),
        "JSON": escaped.encode(),
        "JSON in JSON": json.dumps(escaped)[1:-1].encode(),
        "hex": data.hex().encode(),
        "URL": quote(text).encode(),
    }
    for offset in range(3):  # preceding bytes shift base64; its first and last characters mix with neighbours
        whole = base64.b64encode(b"\0" * offset + data).rstrip(b"=")
        inner = whole[(0, 2, 3)[offset] : len(whole) - (1 if (len(data) + offset) % 3 else 0)]
        forms[f"base64 +{offset}"] = inner
    return forms


@pytest.fixture
def traces() -> Traces:
    """Searches every file below a folder for texts; returns ``file (encoding of text)`` for each occurrence."""

    def look(folder: Path, *texts: str) -> list[str]:
        wanted = {text: _forms(text) for text in texts}
        found = []
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            found += [f"{name} (name, {text})" for text in texts if text in path.name]
            data = path.read_bytes() if path.is_file() else b""
            data = data.replace(b"\0" * 4096, b"\0" * 8)  # files of vectors are mostly empty; no form has two zeros
            for text, forms in wanted.items():
                there = {bytes_ for bytes_ in set(forms.values()) if bytes_ in data}  # several forms are often the same
                found += [f"{name} ({form} of {text})" for form, bytes_ in forms.items() if bytes_ in there]
        return found

    return look
