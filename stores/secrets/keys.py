"""Where the vault key comes from: the environment, the system keyring when asked for, or a key file of mode 600.

The key never appears in an error, a ``repr`` or a log; errors name its source and what is wrong with it. Losing the
key loses the vault's secrets (and nothing else), so a caller whose ledger already holds secrets passes
``create=False``: a missing key is then an error, not a fresh key that opens nothing.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from hexamem.errors import HomeNotWritableError, SecretKeyError
from hexamem.stores.secrets.cipher import KEY_BYTES, key_id_of

__all__ = ["KEY_FILE_NAME", "KEY_VARIABLE", "VaultKey", "load_key", "new_key"]

KEY_VARIABLE = "HEXAMEM_VAULT_KEY"
KEY_FILE_NAME = "vault.key"
_KEYRING_SERVICE = "hexamem"
_HOW_TO_MAKE = "make one with: python -c 'import base64, os; print(base64.b64encode(os.urandom(32)).decode())'"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultKey:
    """A loaded key. ``origin`` names its source; ``created`` is true when this call created it.

    ``key`` is left out of ``repr``; pass it to :class:`~hexamem.stores.secrets.cipher.Cipher` and store it nowhere else.
    """

    key: bytes = field(repr=False)
    origin: str
    created: bool = False

    @property
    def key_id(self) -> str:
        """The public name of the key, as each ciphertext contains it."""
        return key_id_of(self.key)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a VaultKey cannot be pickled; load it again from its source")


def new_key() -> bytes:
    """32 bytes from the system's random source."""
    return os.urandom(KEY_BYTES)


def load_key(
    home: Path | None,
    *,
    env: str = KEY_VARIABLE,
    keyring: bool = False,
    create: bool = True,
    environ: Mapping[str, str] | None = None,
) -> VaultKey:
    """The vault's key: from the variable ``env``, else from the keyring with ``keyring``, else from ``home/vault.key``.

    Args:
        home: the folder of the key file; None when there is no folder (the key must then come from elsewhere).
        env: the variable that holds 32 bytes in base64 (standard or URL-safe).
        keyring: use the system keyring (extra ``keyring``) instead of the key file.
        create: create the key on first use; False when secrets exist already.
        environ: used in place of ``os.environ``.

    Raises:
        SecretKeyError: the key is missing and may not be created, is not base64 of 32 bytes, lies in a file that others
            can read, or the keyring cannot be used. The message names the source and what to do.
        HomeNotWritableError: the key file cannot be created.
    """
    value = (os.environ if environ is None else environ).get(env)
    if value is not None:
        return VaultKey(key=_decode(value, f"environment variable {env}"), origin=f"environment variable {env}")
    if keyring:
        return _from_keyring("default" if home is None else str(home.expanduser().resolve()), create=create)
    if home is None:
        raise SecretKeyError(f"there is no vault key: set {env} to 32 bytes in base64; {_HOW_TO_MAKE}")
    return _from_file(home.expanduser() / KEY_FILE_NAME, env=env, create=create)


def _decode(text: str, source: str) -> bytes:
    text = "".join(text.split())
    if not text:
        raise SecretKeyError(f"{source} is empty: it must hold {KEY_BYTES} bytes in base64; {_HOW_TO_MAKE}")
    standard = text.translate(str.maketrans("-_", "+/"))
    try:
        key = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise SecretKeyError(f"{source} is not base64: it must hold {KEY_BYTES} bytes; {_HOW_TO_MAKE}") from None
    if len(key) != KEY_BYTES:
        raise SecretKeyError(f"{source} decodes to {len(key)} bytes, {KEY_BYTES} are needed; {_HOW_TO_MAKE}")
    return key


def _encode(key: bytes) -> str:
    return base64.b64encode(key).decode("ascii")


def _from_file(path: Path, *, env: str, create: bool) -> VaultKey:
    created = False
    if not path.exists():
        if not create:
            raise SecretKeyError(
                f"the vault key file {path} is missing, and secrets were encrypted before: restore it from your "
                f"backup, or set {env} to the key. If it is lost, so are those secrets: set {env} to a new key for "
                f"further ones; {_HOW_TO_MAKE}"
            )
        created = _create_file(path, new_key())
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            _check_mode(path, status)
            raw = file.read(4096)
    except OSError as error:
        raise SecretKeyError(f"the vault key file {path} cannot be read: {error.strerror}") from None
    source = f"the vault key file {path}"
    return VaultKey(key=_decode(raw.decode("ascii", "replace"), source), origin=str(path), created=created)


def _check_mode(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SecretKeyError(f"the vault key {path} is not a regular file")
    mode = stat.S_IMODE(status.st_mode)
    if os.name == "posix" and mode & 0o077:
        # Not repaired: others may have read the key, which only the owner can judge.
        raise SecretKeyError(
            f"the vault key file {path} has mode {mode:03o}, so others can read it: run chmod 600 {path}, and make a "
            f"new key if someone else may have read this one"
        )


def _create_file(path: Path, key: bytes) -> bool:
    """Write the file whole and durable or not at all; False when another process was first (its key is used)."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=".vault-key-", dir=path.parent)  # mode 600
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(_encode(key) + "\n")
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(temporary, path)  # unlike a rename, a link never replaces the key of another process
            except FileExistsError:
                return False
        finally:
            os.unlink(temporary)
        if os.name == "posix":
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise HomeNotWritableError(
            f"the vault key file {path} cannot be created: {error.strerror}; make the folder writable or set a key"
        ) from None
    return True


def _from_keyring(account: str, *, create: bool) -> VaultKey:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise SecretKeyError("the vault key is to be read from the system keyring: pip install keyring") from None
    source = f"keyring entry {_KEYRING_SERVICE!r} / {account!r}"
    try:
        stored = keyring.get_password(_KEYRING_SERVICE, account)
        if stored is not None:
            return VaultKey(key=_decode(stored, source), origin=source)
        if not create:
            raise SecretKeyError(f"{source} is missing, and secrets were encrypted before: restore it from your backup")
        key = new_key()
        keyring.set_password(_KEYRING_SERVICE, account, _encode(key))
        # Some backends accept a password and drop it (keyring's null backend): the key is read back at once.
        if keyring.get_password(_KEYRING_SERVICE, account) != _encode(key):
            raise SecretKeyError(f"{source} was written but does not read back: choose another keyring backend")
    except KeyringError as error:
        raise SecretKeyError(f"{source} cannot be used: {type(error).__name__}; unlock it or use a key file") from None
    return VaultKey(key=key, origin=source, created=True)
