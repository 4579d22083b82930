"""The errors Hexamem raises: each message names the value, the place and the rule, and says what to do.

Everything derives from :class:`HexamemError`, so one ``except`` serves a host, and each class also derives from
the built-in error that a caller would expect (``ValueError``, ``KeyError``, ``OSError``), so code that knows
nothing of Hexamem still handles it properly.
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "CorruptFileError",
    "EmbedderMismatchError",
    "HexamemError",
    "HomeInUseError",
    "HomeNotWritableError",
    "InvalidInputError",
    "LedgerServerError",
    "MissingUserError",
    "ModelFileError",
    "NotFoundError",
    "SecretKeyError",
    "StorageFullError",
    "StoreClosedError",
    "UndoRefusedError",
    "VectorServerError",
]


class HexamemError(Exception):
    """Base class of every error that Hexamem raises on purpose."""

    def __str__(self) -> str:
        # KeyError would print the repr of its message.
        return str(self.args[0]) if self.args else self.__class__.__name__


class ConfigError(HexamemError, ValueError):
    """A setting has a value that cannot work; raised when it is set, before anything is opened."""


class InvalidInputError(HexamemError, ValueError):
    """An argument of a call is not acceptable; nothing was stored."""


class MissingUserError(InvalidInputError):
    """A call came without a user. A missing user never means "all users"."""


class NotFoundError(HexamemError, KeyError):
    """The named record does not exist for this user. The message never reveals whether another user has it."""


class UndoRefusedError(HexamemError, RuntimeError):
    """An operation cannot be undone because later ones build on it.

    Attributes:
        blockers: ids of the later operations, oldest first.
    """

    def __init__(self, message: str, blockers: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.blockers = blockers


class HomeInUseError(HexamemError, OSError):
    """Another process holds the home folder."""


class HomeNotWritableError(HexamemError, OSError):
    """The home folder cannot be created or written."""


class StorageFullError(HexamemError, OSError):
    """The disk has no room left; what was acknowledged before is intact, this call stored nothing."""


class StoreClosedError(HexamemError, RuntimeError):
    """The memory was closed before this call."""


class EmbedderMismatchError(HexamemError, RuntimeError):
    """Stored vectors were made by another embedder than the one that is open."""


class VectorServerError(HexamemError, ConnectionError):
    """The server of the vectors cannot be reached; the ledger has all records, and the vectors follow when it is back."""


class LedgerServerError(HexamemError, ConnectionError):
    """The server of the ledger cannot be reached, or refuses the login.

    A write may have been stored or not: repeat it, with its message ids.
    """


class SecretKeyError(HexamemError, RuntimeError):
    """The vault's key is missing, malformed, or not the one that encrypted the secret."""


class ModelFileError(HexamemError, RuntimeError):
    """A model that ships with the package is missing or damaged; the message names the file and what to do."""


class CorruptFileError(HexamemError, ValueError):
    """A file to be read is damaged or not in the announced form; the message names file and line."""
