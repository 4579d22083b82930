"""Encryption of vault secrets: AES-256-GCM bound to user and secret, and sealing with a passphrase for exports.

A ciphertext is ``version (1) | key id (8) | nonce (12) | ciphertext and tag``. The header and the context are
authenticated, so a ciphertext that is altered, or moved to another user or secret, does not decrypt. A sealed blob is
``"HXS1" | log2 N (1) | r (1) | p (1) | salt (16) | nonce (12) | ciphertext and tag``.

No error, ``repr`` or traceback chain of this module holds plaintext or key material.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from hexamem.errors import CorruptFileError, InvalidInputError, SecretKeyError

__all__ = ["KEY_BYTES", "Cipher", "key_id_of", "seal", "unseal"]

KEY_BYTES = 32
_VERSION = 1
_KEY_ID_BYTES = 8
_NONCE_BYTES = 12
_TAG_BYTES = 16
_HEADER_BYTES = 1 + _KEY_ID_BYTES

_SEAL_MAGIC = b"HXS1"
_SALT_BYTES = 16
_SCRYPT_LOG_N, _SCRYPT_R, _SCRYPT_P = 17, 8, 1  # OWASP's first choice: 128 MiB, about 0.4 s
_SCRYPT_MAX_LOG_N = 20  # a hostile file must not make us allocate more than 1 GiB
_SEAL_HEADER_BYTES = len(_SEAL_MAGIC) + 3 + _SALT_BYTES + _NONCE_BYTES


def _derive(key: bytes, purpose: bytes) -> bytes:
    # A key for each purpose: a digest must reveal nothing about the encryption key.
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=b"hexamem vault 1: " + purpose).derive(key)


def _check_key(key: bytes) -> None:
    if not isinstance(key, bytes):
        raise SecretKeyError(f"the vault key must be {KEY_BYTES} bytes, got {type(key).__name__}")
    if len(key) != KEY_BYTES:
        raise SecretKeyError(f"the vault key must be {KEY_BYTES} bytes long, got {len(key)}")


def key_id_of(key: bytes) -> str:
    """The public name of a key: 16 hexadecimal characters that reveal nothing else of it.

    Raises:
        SecretKeyError: the key is not 32 bytes.
    """
    _check_key(key)
    return _derive(key, b"key id")[:_KEY_ID_BYTES].hex()


class Cipher:
    """Encrypts, decrypts and recognizes secrets with one 32-byte key.

    ``context`` names the place of a secret (user id and secret id, or the user id alone for :meth:`digest`); it is
    authenticated, not stored, so the same context must be given to decrypt. Instances are immutable, safe to share
    between threads, and refuse to be pickled.

    Raises:
        SecretKeyError: the key is not 32 bytes.
    """

    __slots__ = ("_aead", "_digest_key", "_key_id")

    overhead = _HEADER_BYTES + _NONCE_BYTES + _TAG_BYTES
    """Bytes that a ciphertext has beyond those of its plaintext in UTF-8."""

    def __init__(self, key: bytes) -> None:
        _check_key(key)
        self._aead = AESGCM(_derive(key, b"encryption"))
        self._digest_key = _derive(key, b"digest")
        self._key_id = bytes.fromhex(key_id_of(key))

    @property
    def key_id(self) -> str:
        """The public name of the key (see :func:`key_id_of`)."""
        return self._key_id.hex()

    def __repr__(self) -> str:
        return f"Cipher(key_id={self.key_id!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Cipher holds the vault key and cannot be pickled; open it again from its key")

    def encrypt(self, plaintext: str, *, context: str) -> bytes:
        """Encrypt under a fresh random nonce: ``len(utf-8 plaintext) + 37`` bytes, different at every call.

        Raises:
            InvalidInputError: the context is empty.
        """
        header = bytes([_VERSION]) + self._key_id
        nonce = os.urandom(_NONCE_BYTES)
        return header + nonce + self._aead.encrypt(nonce, _utf8(plaintext), header + _context(context))

    def decrypt(self, ciphertext: bytes, *, context: str) -> str:
        """The plaintext of :meth:`encrypt`.

        Raises:
            SecretKeyError: another key encrypted it; the message names the key that is needed.
            CorruptFileError: it was altered or cut, belongs to another context, or has an unknown version.
            InvalidInputError: the context is empty.
        """
        associated = _context(context)
        if len(ciphertext) < self.overhead:
            raise CorruptFileError(f"the vault ciphertext for {context!r} has {len(ciphertext)} bytes: it was cut off")
        if ciphertext[0] != _VERSION:
            raise CorruptFileError(
                f"the vault ciphertext for {context!r} has version {ciphertext[0]}; this release reads {_VERSION}"
            )
        header, rest = ciphertext[:_HEADER_BYTES], ciphertext[_HEADER_BYTES:]
        if header[1:] != self._key_id:
            raise SecretKeyError(
                f"the secret for {context!r} was encrypted with vault key {header[1:].hex()}, "
                f"but the key that is loaded is {self.key_id}; load the key that made it"
            )
        try:
            plain = self._aead.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], header + associated)
        except InvalidTag:
            raise CorruptFileError(
                f"the vault ciphertext for {context!r} does not authenticate: it was altered, or it belongs elsewhere"
            ) from None
        return plain.decode("utf-8", "surrogatepass")

    def digest(self, plaintext: str, context: str) -> bytes:
        """32 bytes that are equal for equal (plaintext, context): HMAC-SHA-256 under a key of its own.

        Recognizes a repeated secret without storing it. Without the key it cannot be tested by guessing.

        Raises:
            InvalidInputError: the context is empty.
        """
        return hmac.digest(self._digest_key, _scope(context) + _utf8(plaintext), hashlib.sha256)

    def digests(self, plaintexts: Iterable[bytes], context: str) -> Iterator[bytes]:
        """The digest of each of many plaintexts, given in UTF-8: as :meth:`digest`, in less than half the time of separate calls.

        Raises:
            InvalidInputError: the context is empty.
        """
        begun = HMAC(self._digest_key, SHA256())
        begun.update(_scope(context))
        for plaintext in plaintexts:
            code = begun.copy()
            code.update(plaintext)
            yield code.finalize()


def seal(plaintext: str, passphrase: str, *, log_n: int = _SCRYPT_LOG_N) -> bytes:
    """Encrypt a text with a passphrase: scrypt (N = 2**log_n, r = 8, p = 1) and AES-256-GCM. Self-contained.

    Args:
        plaintext: any text.
        passphrase: compared after Unicode NFKC, so that it opens on another keyboard or system.
        log_n: the cost, 14 to 20: memory is ``2**(log_n + 10)`` bytes, time doubles with each step.

    Raises:
        InvalidInputError: the passphrase is empty or the cost is out of range.
    """
    if not 14 <= log_n <= _SCRYPT_MAX_LOG_N:
        raise InvalidInputError(f"log_n is {log_n}: use 14 to {_SCRYPT_MAX_LOG_N}")
    salt, nonce = os.urandom(_SALT_BYTES), os.urandom(_NONCE_BYTES)
    header = _SEAL_MAGIC + bytes([log_n, _SCRYPT_R, _SCRYPT_P]) + salt + nonce
    key = _stretch(passphrase, salt, log_n, _SCRYPT_R, _SCRYPT_P)
    return header + AESGCM(key).encrypt(nonce, _utf8(plaintext), header)


def unseal(sealed: bytes, passphrase: str) -> str:
    """The plaintext of :func:`seal`.

    Raises:
        SecretKeyError: the passphrase is not the one it was sealed with, or the content was altered.
        CorruptFileError: this is no sealed text, it was cut off, or it asks for a cost that is refused.
        InvalidInputError: the passphrase is empty.
    """
    if sealed[: len(_SEAL_MAGIC)] != _SEAL_MAGIC or len(sealed) < _SEAL_HEADER_BYTES + _TAG_BYTES:
        raise CorruptFileError(f"{len(sealed)} bytes do not start as a sealed text (HXS1), or were cut off")
    log_n, r, p = sealed[4:7]
    if not (14 <= log_n <= _SCRYPT_MAX_LOG_N and r == _SCRYPT_R and p == _SCRYPT_P):
        raise CorruptFileError(f"the sealed text asks for scrypt N=2**{log_n}, r={r}, p={p}, which is refused")
    header = sealed[:_SEAL_HEADER_BYTES]
    salt, nonce = header[7 : 7 + _SALT_BYTES], header[-_NONCE_BYTES:]
    key = _stretch(passphrase, salt, log_n, r, p)
    try:
        plain = AESGCM(key).decrypt(nonce, sealed[_SEAL_HEADER_BYTES:], header)
    except InvalidTag:
        raise SecretKeyError(
            "the sealed text does not open: this is not the passphrase it was sealed with, or it was altered since"
        ) from None
    return plain.decode("utf-8", "surrogatepass")


def _stretch(passphrase: str, salt: bytes, log_n: int, r: int, p: int) -> bytes:
    if not passphrase:
        raise InvalidInputError("the passphrase is empty")
    material = unicodedata.normalize("NFKC", passphrase).encode("utf-8", "surrogatepass")
    return Scrypt(salt=salt, length=KEY_BYTES, n=1 << log_n, r=r, p=p).derive(material)


def _scope(context: str) -> bytes:
    """The prefix of a plaintext to digest: its length distinguishes ("ab", "c") from ("a", "bc")."""
    scope = _context(context)
    return len(scope).to_bytes(8, "big") + scope


def _context(context: str) -> bytes:
    if not context:
        raise InvalidInputError("the context of a secret is empty: give its user id and secret id")
    return _utf8(context)


def _utf8(text: str) -> bytes:
    # surrogatepass: a lone surrogate in a message must neither fail nor put its text into a UnicodeEncodeError.
    return text.encode("utf-8", "surrogatepass")
