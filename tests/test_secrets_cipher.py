"""Encrypting secrets, sealing exports, and where the vault key comes from. No error may show a key or a plaintext."""

from __future__ import annotations

import base64
import os
import pickle
import stat
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.errors import CorruptFileError, HexamemError, HomeNotWritableError, InvalidInputError, SecretKeyError
from hexamem.stores.secrets import (
    KEY_FILE_NAME,
    KEY_VARIABLE,
    Cipher,
    VaultKey,
    key_id_of,
    load_key,
    new_key,
    seal,
    unseal,
)

from .conftest import SHIPPED_COST

KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))
ENCODED = base64.b64encode(KEY).decode()
PLAINTEXT = "hunter2-Zq9!"
NO_ENVIRONMENT: dict[str, str] = {}

TEXTS = st.text(st.characters(codec=None), max_size=200)


def raised(call: Callable[[], object]) -> tuple[HexamemError, str]:
    """The error and all that its traceback would print, causes and contexts included."""
    try:
        call()
    except HexamemError as error:
        return error, "".join(traceback.format_exception(error)) + repr(error) + repr(error.args)
    raise AssertionError("nothing was raised")


@given(TEXTS, st.text(min_size=1, max_size=40))
def test_what_was_encrypted_decrypts_in_its_own_context(plaintext: str, context: str) -> None:
    cipher = Cipher(KEY)
    assert cipher.decrypt(cipher.encrypt(plaintext, context=context), context=context) == plaintext


def test_each_encryption_is_different_and_holds_no_plaintext() -> None:
    made = {Cipher(KEY).encrypt(PLAINTEXT, context="u/s") for _ in range(50)}
    assert len(made) == 50
    assert not any(PLAINTEXT.encode() in c for c in made)
    assert len({len(c) for c in made}) == 1
    assert len(next(iter(made))) == len(PLAINTEXT) + 37


def test_a_ciphertext_moved_to_another_secret_does_not_decrypt() -> None:
    moved = Cipher(KEY).encrypt(PLAINTEXT, context="alice/secret-1")
    for context in ("alice/secret-2", "bob/secret-1", "alice/secret-1 "):
        error, shown = raised(lambda context=context: Cipher(KEY).decrypt(moved, context=context))
        assert isinstance(error, CorruptFileError)
        assert PLAINTEXT not in shown


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_ciphertext_with_any_byte_altered_does_not_decrypt(at: int, change: int) -> None:
    altered = bytearray(Cipher(KEY).encrypt(PLAINTEXT, context="u/s"))
    altered[at % len(altered)] ^= change
    error, shown = raised(lambda: Cipher(KEY).decrypt(bytes(altered), context="u/s"))
    assert isinstance(error, (CorruptFileError, SecretKeyError))
    assert PLAINTEXT not in shown


@pytest.mark.parametrize("length", [0, 1, 9, 20, 36])
def test_a_ciphertext_that_was_cut_off_says_so(length: int) -> None:
    cut = Cipher(KEY).encrypt(PLAINTEXT, context="u/s")[:length]
    with pytest.raises(CorruptFileError, match="cut off"):
        Cipher(KEY).decrypt(cut, context="u/s")


def test_another_key_is_refused_and_the_needed_one_named() -> None:
    made = Cipher(KEY).encrypt(PLAINTEXT, context="u/s")
    with pytest.raises(SecretKeyError) as caught:
        Cipher(OTHER_KEY).decrypt(made, context="u/s")
    assert key_id_of(KEY) in str(caught.value)
    assert key_id_of(OTHER_KEY) in str(caught.value)


def test_an_unknown_version_is_named() -> None:
    made = bytearray(Cipher(KEY).encrypt(PLAINTEXT, context="u/s"))
    made[0] = 9
    with pytest.raises(CorruptFileError, match="version 9"):
        Cipher(KEY).decrypt(bytes(made), context="u/s")


def test_an_empty_context_is_refused() -> None:
    cipher = Cipher(KEY)
    made = cipher.encrypt(PLAINTEXT, context="u/s")
    calls: list[Callable[[], object]] = [
        lambda: cipher.encrypt(PLAINTEXT, context=""),
        lambda: cipher.decrypt(made, context=""),
        lambda: cipher.digest(PLAINTEXT, ""),
    ]
    for call in calls:
        error, shown = raised(call)
        assert isinstance(error, InvalidInputError)
        assert PLAINTEXT not in shown


def test_a_digest_recognises_the_same_secret_of_the_same_user_under_the_same_key() -> None:
    digest = Cipher(KEY).digest(PLAINTEXT, "alice")
    assert Cipher(KEY).digest(PLAINTEXT, "alice") == digest
    others = {
        Cipher(KEY).digest(PLAINTEXT + " ", "alice"),
        Cipher(KEY).digest(PLAINTEXT, "bob"),
        Cipher(OTHER_KEY).digest(PLAINTEXT, "alice"),
        Cipher(KEY).digest("ealice", "alic") if PLAINTEXT != "ealice" else b"",
    }
    assert digest not in others
    assert len(others) == 4
    assert len(digest) == 32


def test_context_and_plaintext_of_a_digest_do_not_run_into_each_other() -> None:
    assert Cipher(KEY).digest("bc", "a") != Cipher(KEY).digest("c", "ab")


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_a_key_of_the_wrong_length_is_refused_without_being_shown(length: int) -> None:
    key = b"Kx" * 40
    error, shown = raised(lambda: Cipher(key[:length]))
    assert isinstance(error, SecretKeyError)
    assert str(length) in str(error)
    assert "KxKx" not in shown


def test_neither_cipher_nor_key_shows_or_pickles_the_key() -> None:
    loaded = VaultKey(key=KEY, origin="a test")
    shown = repr(Cipher(KEY)) + repr(loaded) + str(loaded)
    assert ENCODED not in shown
    assert KEY.hex() not in shown
    assert repr(KEY) not in shown
    for value in (Cipher(KEY), loaded):
        with pytest.raises(TypeError):
            pickle.dumps(value)


def test_a_key_id_tells_keys_apart_and_is_no_part_of_the_key() -> None:
    assert key_id_of(KEY) != key_id_of(OTHER_KEY)
    assert len(key_id_of(KEY)) == 16
    assert key_id_of(KEY) not in KEY.hex()


# Sealing with a passphrase; log_n=14 is quick, as it is in all other tests (conftest).


def test_to_try_a_passphrase_costs_128_mebibytes_as_shipped() -> None:
    sealed = seal(PLAINTEXT, "correct horse", log_n=SHIPPED_COST)
    assert 2 ** (sealed[4] + 10) == 128 << 20
    assert unseal(sealed, "correct horse") == PLAINTEXT


@pytest.mark.parametrize("plaintext", ["", "x", PLAINTEXT, "密码 🔑\n", "\ud800", "y" * 100_000])
def test_what_was_sealed_opens_with_its_passphrase(plaintext: str) -> None:
    assert unseal(seal(plaintext, "correct horse", log_n=14), "correct horse") == plaintext


def test_a_sealed_text_opens_however_the_passphrase_is_composed_in_unicode() -> None:
    assert unseal(seal(PLAINTEXT, "caf\u00e9", log_n=14), "cafe\u0301") == PLAINTEXT


def test_a_wrong_passphrase_is_refused_without_showing_either() -> None:
    sealed = seal(PLAINTEXT, "correct horse", log_n=14)
    error, shown = raised(lambda: unseal(sealed, "wrong donkey"))
    assert isinstance(error, SecretKeyError)
    assert not any(word in shown.replace('unseal(sealed, "wrong donkey")', "") for word in ("correct horse", PLAINTEXT))


def test_a_sealed_text_that_was_altered_does_not_open() -> None:
    sealed = bytearray(seal(PLAINTEXT, "correct horse", log_n=14))
    sealed[-1] ^= 1
    with pytest.raises(SecretKeyError):
        unseal(bytes(sealed), "correct horse")


def test_the_cost_in_the_header_is_bounded_before_memory_is_taken() -> None:
    sealed = bytearray(seal(PLAINTEXT, "correct horse", log_n=14))
    sealed[4] = 40
    with pytest.raises(CorruptFileError, match=r"N=2\*\*40"):
        unseal(bytes(sealed), "correct horse")


@pytest.mark.parametrize("junk", [b"", b"HXS1", b"PK\x03\x04" + b"x" * 100])
def test_what_is_no_sealed_text_is_refused(junk: bytes) -> None:
    with pytest.raises(CorruptFileError):
        unseal(junk, "correct horse")


def test_an_empty_passphrase_and_a_cost_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="passphrase"):
        seal(PLAINTEXT, "", log_n=14)
    with pytest.raises(InvalidInputError, match="log_n"):
        seal(PLAINTEXT, "correct horse", log_n=30)


# Where the key comes from.


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_the_environment_comes_first(tmp_path: Path, encode: Callable[[bytes], bytes]) -> None:
    key = bytes([255, 254, 253, 251] * 8)
    loaded = load_key(tmp_path, environ={KEY_VARIABLE: encode(key).decode().rstrip("=") + "\n"})
    assert loaded.key == key
    assert KEY_VARIABLE in loaded.origin
    assert not (tmp_path / KEY_FILE_NAME).exists()


def test_the_variable_is_read_from_the_process_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, ENCODED)
    assert load_key(None).key == KEY


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("not base64 at all!", "is not base64"),
        ("schlüssel" * 4, "is not base64"),
        (base64.b64encode(b"Kx" * 8).decode(), "16 bytes"),
        (base64.b64encode(b"Kx" * 32).decode(), "64 bytes"),
    ],
)
def test_a_malformed_variable_is_refused_and_not_shown(tmp_path: Path, value: str, says: str) -> None:
    error, shown = raised(lambda: load_key(tmp_path, environ={KEY_VARIABLE: value}))
    assert isinstance(error, SecretKeyError)
    assert says in str(error)
    assert KEY_VARIABLE in str(error)
    assert not value.strip() or value not in shown
    assert not (tmp_path / KEY_FILE_NAME).exists()


def test_the_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    first = load_key(tmp_path / "home", environ=NO_ENVIRONMENT)
    second = load_key(tmp_path / "home", environ=NO_ENVIRONMENT)
    assert (first.created, second.created) == (True, False)
    assert first.key == second.key
    assert stat.S_IMODE((tmp_path / "home" / KEY_FILE_NAME).stat().st_mode) == 0o600
    assert [p.name for p in (tmp_path / "home").iterdir()] == [KEY_FILE_NAME]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_key_file_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    encoded = base64.b64encode(load_key(tmp_path, environ=NO_ENVIRONMENT).key).decode()
    (tmp_path / KEY_FILE_NAME).chmod(mode)
    error, shown = raised(lambda: load_key(tmp_path, environ=NO_ENVIRONMENT))
    assert f"{mode:03o}" in str(error)
    assert "chmod 600" in str(error)
    assert encoded not in shown


@pytest.mark.parametrize("content", ["", "too short", "A" * 60, "é" * 44])
def test_a_damaged_key_file_is_refused_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / KEY_FILE_NAME
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    error, _ = raised(lambda: load_key(tmp_path, environ=NO_ENVIRONMENT))
    assert isinstance(error, SecretKeyError)
    assert str(path) in str(error)
    assert path.read_text(encoding="utf-8") == content


def test_a_missing_key_file_is_an_error_when_secrets_exist_already(tmp_path: Path) -> None:
    with pytest.raises(SecretKeyError, match="backup"):
        load_key(tmp_path, create=False, environ=NO_ENVIRONMENT)
    assert list(tmp_path.iterdir()) == []


def test_without_a_home_the_key_must_come_from_elsewhere() -> None:
    with pytest.raises(SecretKeyError, match=KEY_VARIABLE):
        load_key(None, environ=NO_ENVIRONMENT)


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    with pytest.raises(HomeNotWritableError, match=KEY_FILE_NAME):
        load_key(tmp_path / "file" / "home", environ=NO_ENVIRONMENT)


def test_threads_that_start_together_agree_on_one_key(tmp_path: Path) -> None:
    keys: list[bytes] = []
    start = threading.Barrier(8)

    def load() -> None:
        start.wait()
        keys.append(load_key(tmp_path, environ=NO_ENVIRONMENT).key)

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1


def test_new_keys_differ() -> None:
    assert len({new_key() for _ in range(20)}) == 20


@pytest.fixture
def keyring_entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[tuple[str, str], str]]:
    """A keyring kept in a dictionary, behind keyring's own backend interface."""
    keyring: ModuleType = pytest.importorskip("keyring")
    from keyring.backend import KeyringBackend

    entries: dict[tuple[str, str], str] = {}

    class InMemory(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return entries.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            entries[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del entries[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(InMemory())
    yield entries
    keyring.set_keyring(before)


def test_the_keyring_is_used_when_asked_for(tmp_path: Path, keyring_entries: dict[tuple[str, str], str]) -> None:
    first = load_key(tmp_path, keyring=True, environ=NO_ENVIRONMENT)
    second = load_key(tmp_path, keyring=True, environ=NO_ENVIRONMENT)
    assert (first.created, second.created) == (True, False)
    assert first.key == second.key
    assert list(keyring_entries.values()) == [base64.b64encode(first.key).decode()]
    assert not (tmp_path / KEY_FILE_NAME).exists()
    assert load_key(tmp_path, keyring=True, environ={KEY_VARIABLE: ENCODED}).key == KEY


def test_a_missing_keyring_entry_is_an_error_when_secrets_exist_already(
    tmp_path: Path, keyring_entries: dict[tuple[str, str], str]
) -> None:
    with pytest.raises(SecretKeyError, match="missing"):
        load_key(tmp_path, keyring=True, create=False, environ=NO_ENVIRONMENT)
    assert keyring_entries == {}


def test_a_keyring_that_forgets_is_found_out(tmp_path: Path) -> None:
    keyring: ModuleType = pytest.importorskip("keyring")
    from keyring.backends import null

    before = keyring.get_keyring()
    keyring.set_keyring(null.Keyring())
    try:
        with pytest.raises(SecretKeyError, match="does not read back"):
            load_key(tmp_path, keyring=True, environ=NO_ENVIRONMENT)
    finally:
        keyring.set_keyring(before)


def test_a_keyring_that_cannot_be_used_names_the_remedy(tmp_path: Path) -> None:
    keyring: ModuleType = pytest.importorskip("keyring")
    from keyring.backends import fail

    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    try:
        with pytest.raises(SecretKeyError, match="key file"):
            load_key(tmp_path, keyring=True, environ=NO_ENVIRONMENT)
    finally:
        keyring.set_keyring(before)


def test_asking_for_a_keyring_that_is_not_installed_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(SecretKeyError, match=r"pip install keyring"):
        load_key(tmp_path, keyring=True, environ=NO_ENVIRONMENT)
